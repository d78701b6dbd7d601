"""Axes: made if none are given, and scaled so that sizes can be read."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure

_WIDE = 8  # ratio of the sizes from which a logarithmic axis reads better
_MARGIN = 0.03


def new_axes() -> "Axes":
    """The axes of a figure of their own."""
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def new_figure() -> "Figure":
    """A figure of its own."""
    import matplotlib.pyplot as plt

    return plt.figure(layout="constrained")


def scale_sizes(axis: "XAxis | YAxis", name: str, bounds: Sequence[int], logarithmic: bool = True) -> None:
    """Labels an axis of sizes and limits it to the bounds; logarithmic, if wished, where they are far apart."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = min(bounds), max(bounds)
    margin, ratio = _MARGIN * (high - low) or 1, (high / low) ** _MARGIN
    limits = (low - margin, high + margin)
    if logarithmic and high >= _WIDE * low:
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})
        axis.set_major_locator(FixedLocator([2**i for i in range(54) if low <= 2**i <= high]))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:.0f}"))
        limits = (low / ratio, high * ratio)
    axis.axes.set(**{f"{axis.axis_name}lim": limits})
    axis.set_label_text(f"size {name}")


def marker_size(count: int, largest: float) -> float:
    """Diameter of the markers of so many points: the more, the smaller, so that they can be told apart."""
    return largest * min(1.0, max(1 / 3, 10 / math.sqrt(max(count, 1))))
