"""Plots of support vector machines, with scikit-learn's display interface.

``XDisplay.from_estimator(...)`` draws; then ``.ax_`` and ``.figure_`` hold the plot. The displays
draw any fitted model with the usual methods, including those of scikit-learn and
``maxmargin.textbook``. They need matplotlib: ``pip install 'maxmargin[plots]'``.
"""

from maxmargin.plots.classes import ClassesDisplay
from maxmargin.plots.convergence import ConvergenceDisplay
from maxmargin.plots.decision import DecisionDisplay
from maxmargin.plots.display import Display
from maxmargin.plots.effect import EffectDisplay
from maxmargin.plots.grid import GridSearchDisplay
from maxmargin.plots.interval import IntervalDisplay
from maxmargin.plots.kernel_matrix import KernelMatrixDisplay
from maxmargin.plots.loss import LossDisplay
from maxmargin.plots.outliers import OutlierDisplay
from maxmargin.plots.path import PathDisplay
from maxmargin.plots.plane import Plane
from maxmargin.plots.reliability import ReliabilityDisplay
from maxmargin.plots.surface import SurfaceDisplay
from maxmargin.plots.tube import TubeDisplay

__all__ = [
    "ClassesDisplay",
    "ConvergenceDisplay",
    "DecisionDisplay",
    "Display",
    "EffectDisplay",
    "GridSearchDisplay",
    "IntervalDisplay",
    "KernelMatrixDisplay",
    "LossDisplay",
    "OutlierDisplay",
    "PathDisplay",
    "Plane",
    "ReliabilityDisplay",
    "SurfaceDisplay",
    "TubeDisplay",
]
