"""What predictions choose, held against what measurements would have chosen.

Where several predictions are equal (flop counts are, for all variants), the choice is by chance, and
its expectation counts.
"""

import numpy as np

from ..prediction import FloatArray
from ..ranking import tie_classes


def best_found(predicted: FloatArray, measured: FloatArray, errors: FloatArray, noise_floor: float) -> float:
    """The probability that the predicted best choice is of the measured best tie class.

    Parameters
    ----------
    predicted, measured, errors : arrays of shape (n_choices,), seconds
        Errors are standard errors of what was measured.
    noise_floor : float
        Relative.

    Examples
    --------
    >>> import numpy as np
    >>> best_found(np.array([1.0, 1.0, 2.0]), np.array([1.0, 1.5, 2.0]), np.zeros(3), 0.02)
    0.5
    """
    order = np.argsort(measured)
    classes = np.empty(len(measured), dtype=int)
    classes[order] = tie_classes(measured[order].tolist(), errors[order].tolist(), noise_floor)
    return float(np.mean(classes[predicted == predicted.min()] == 1))


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
    return float(np.mean(measured.min() / measured[predicted == predicted.min()]))


def kendall_tau(predicted: FloatArray, measured: FloatArray, noise_floor: float) -> float | None:
    """Kendall's tau-b of two orders, over the pairs whose measured times differ by more than noise; None without any.

    Examples
    --------
    >>> import numpy as np
    >>> kendall_tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.001, 0.5]), 0.01)
    -1.0
    """
    first, second = np.triu_indices(len(measured), 1)
    apart = np.abs(np.log(measured[first] / measured[second])) > noise_floor
    if not apart.any():
        return None
    signs = np.sign(measured[first] - measured[second])[apart]
    found = np.sign(predicted[first] - predicted[second])[apart]
    untied = np.count_nonzero(found)
    return float(np.sum(signs * found) / np.sqrt(len(signs) * untied)) if untied else 0.0
