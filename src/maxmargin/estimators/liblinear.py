"""LinearSVC and LinearSVR whose intercept is penalised unless said otherwise: LIBLINEAR's models,
for code written for scikit-learn.

``patch_sklearn`` puts these in scikit-learn's place. They have the same names, so that messages and
repr are the expected ones, and live in a module of their own, so that pickles find them.
"""

from types import FunctionType
from typing import Any

from maxmargin.estimators import linear, linear_regression


def _init_with(base: type, **defaults: Any) -> Any:
    """The __init__ of a class with other defaults.

    scikit-learn reads parameters and their defaults off its signature.
    """
    init: Any = base.__init__  # type: ignore[misc]
    new = FunctionType(
        init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__
    )
    new.__kwdefaults__ = {**init.__kwdefaults__, **defaults}
    new.__annotations__, new.__qualname__, new.__module__ = (
        init.__annotations__,
        init.__qualname__,
        __name__,
    )
    return new


class LinearSVC(linear.LinearSVC):
    """Linear support vector classification with scikit-learn's model.

    It is ``maxmargin.LinearSVC`` with ``intercept="regularised"``.
    """

    __init__ = _init_with(linear.LinearSVC, intercept="regularised")


class LinearSVR(linear_regression.LinearSVR):
    """Linear support vector regression with scikit-learn's model.

    It is ``maxmargin.LinearSVR`` with ``intercept="regularised"``.
    """

    __init__ = _init_with(linear_regression.LinearSVR, intercept="regularised")
