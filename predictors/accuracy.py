"""Holds predictions against measurements: errors and yields."""

import numpy as np

from .prediction import FloatArray


def relative_errors(predicted: FloatArray, measured: FloatArray) -> FloatArray:
    """(predicted - measured) / measured, elementwise."""
    return np.asarray((predicted - measured) / measured)


def symmetric_factors(predicted: FloatArray, measured: FloatArray) -> FloatArray:
    """max(predicted / measured, measured / predicted), elementwise."""
    return np.asarray(np.maximum(predicted / measured, measured / predicted))


def yield_of_choice(predicted: FloatArray, measured: FloatArray) -> float:
    """Performance with the predicted choice over that with the best measured one.

    Parameters
    ----------
    predicted, measured : arrays of shape (n_choices,), seconds

    Examples
    --------
    >>> import numpy as np
    >>> yield_of_choice(np.array([1.0, 1.1]), np.array([1.25, 1.0]))
    0.8
    """
    return float(measured.min() / measured[np.argmin(predicted)])
