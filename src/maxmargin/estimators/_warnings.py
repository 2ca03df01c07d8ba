"""Warnings that point at the user's line, whatever the number of frames of this package,
scikit-learn and joblib in between.
"""

import sys
import warnings

INSIDE = ("maxmargin", "sklearn", "joblib")
"""Packages whose lines are not the user's."""


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the first line outside INSIDE."""
    level, frame = 2, sys._getframe(1)
    while (
        frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
