"""Plots: measured as points, predicted as lines, axes with units.

plot_rank, plot_blocksize                              of answers
plot_model, plot_model_map, plot_model_scatter, plot_model_errors   of stored models
draw_model                                             all that there is to see of a model, in one figure
"""

from .answers import plot_blocksize, plot_rank
from .figure import draw_model, drawable
from .models import plot_model, plot_model_errors, plot_model_map, plot_model_scatter

__all__ = [
    "draw_model",
    "drawable",
    "plot_blocksize",
    "plot_model",
    "plot_model_errors",
    "plot_model_map",
    "plot_model_scatter",
    "plot_rank",
]
