"""Paths of stages that lead to the transductive machine, from that of the labelled samples alone.

=============  =====================  ======================  =====================================
path           weight s               temperature T           from
=============  =====================  ======================  =====================================
switching      2^-10, ..., 1/2, 1     0                       SVM-light (Joachims 1999), SVMlin
annealing      1                      5, ..., 0.05, then 0    deterministic annealing (Sindhwani,
                                                              Keerthi & Chapelle 2006)
continuation   0.01, ..., 1           1, ..., 0.1, then 0     both at once
=============  =====================  ======================  =====================================

Each is a sequence of problems that grow harder: J is nearly convex at a small weight or a high
temperature. None always finds the lowest objective. On the data of decision 31 continuation comes
closest on average, annealing is alone to find some clusters with very few labels, and switching is
the quickest.
"""

from enum import Enum
from typing import NamedTuple

import numpy as np

from maxmargin.semi_supervised.descent import Stage


class Settings(NamedTuple):
    """The stages (decision 31)."""

    doublings: int = 10
    """How often the weight doubles along the path of switching."""
    hottest: float = 5.0
    coldest: float = 0.05
    """The first and the last temperature of annealing, in units of the hinge loss."""
    coolings: int = 12
    """Stages between them, both included."""
    lightest: float = 0.01
    """The first weight of continuation."""
    warmest: float = 1.0
    coolest: float = 0.1
    """The first and the last temperature of continuation."""
    stages: int = 10
    """Stages of continuation before the last."""


SETTINGS = Settings()
LAST = Stage(1.0, 0.0)


class Path(Enum):
    """The paths; the value is the name for the user."""

    SWITCHING = "switching"
    ANNEALING = "annealing"
    CONTINUATION = "continuation"

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Its stages, the last of which is the problem itself."""
        return STAGES[self]


def _geometric(first: float, last: float, count: int) -> list[float]:
    return [float(value) for value in np.geomspace(first, last, count)]


STAGES: dict[Path, tuple[Stage, ...]] = {
    Path.SWITCHING: tuple(Stage(2.0**-k, 0.0) for k in range(SETTINGS.doublings, -1, -1)),
    Path.ANNEALING: (
        *(Stage(1.0, T) for T in _geometric(SETTINGS.hottest, SETTINGS.coldest, SETTINGS.coolings)),
        LAST,
    ),
    Path.CONTINUATION: (
        *map(
            Stage,
            _geometric(SETTINGS.lightest, 1.0, SETTINGS.stages),
            _geometric(SETTINGS.warmest, SETTINGS.coolest, SETTINGS.stages),
        ),
        LAST,
    ),
}
