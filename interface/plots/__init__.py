"""Plots: measured as points, predicted as lines, axes with units.

plot_rank, plot_sweep, plot_blocksize, plot_tradeoff, plot_contraction   of answers
draw_rank, draw_blocksize, draw_accuracy, draw_contraction               figures of them
draw_profile                                           what each call of an algorithm takes
plot_model, plot_model_map, plot_model_scatter, plot_model_errors   of stored models
draw_model                                             all that there is to see of a model, in one figure
"""

from .accuracy import draw_accuracy
from .answers import (
    draw_blocksize,
    draw_contraction,
    draw_rank,
    plot_blocksize,
    plot_contraction,
    plot_rank,
    plot_sweep,
    plot_tradeoff,
)
from .figure import draw_model, drawable
from .models import plot_model, plot_model_errors, plot_model_map, plot_model_scatter
from .profiles import draw_profile

__all__ = [
    "draw_accuracy",
    "draw_blocksize",
    "draw_contraction",
    "draw_model",
    "draw_profile",
    "draw_rank",
    "drawable",
    "plot_blocksize",
    "plot_contraction",
    "plot_model",
    "plot_model_errors",
    "plot_model_map",
    "plot_model_scatter",
    "plot_rank",
    "plot_sweep",
    "plot_tradeoff",
]
