"""Put maxmargin's classes in scikit-learn's place, and back.

As a pytest plugin (``pytest -p maxmargin.sklearn_patch --pyargs sklearn.svm``) it does so before
any test module is imported, and says at the end how many fits went through our classes.
"""

import sys
import warnings
from typing import Any

NAMES = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR")

DEFINITIONS = "sklearn.svm._classes"
"""Where scikit-learn defines its classes: left alone, because pickles of fitted models name it."""

_originals: dict[str, Any] = {}


def _rebind(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Replace the classes wherever a module of scikit-learn holds them."""
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        if name == DEFINITIONS or (name != "sklearn" and not name.startswith("sklearn.")):
            continue
        for cls in NAMES:
            if vars(module).get(cls) is old[cls]:
                setattr(module, cls, new[cls])


def _ours() -> dict[str, Any]:
    import maxmargin
    from maxmargin.estimators import liblinear

    return {name: getattr(liblinear, name, None) or getattr(maxmargin, name) for name in NAMES}


def patch_sklearn() -> None:
    """Replace the estimators of ``sklearn.svm`` by those of maxmargin.

    These are ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM``, ``LinearSVC`` and
    ``LinearSVR``.

    The linear two keep scikit-learn's model, in which the intercept is penalised
    (``intercept="regularised"``); ``maxmargin.LinearSVC`` and ``LinearSVR`` do not penalise it
    unless asked to.

    Names imported from scikit-learn by your own modules before the call keep the old classes; those
    of the script or notebook that runs are named in a warning. Calling it twice changes nothing.

    See Also
    --------
    unpatch_sklearn : undo it.

    Examples
    --------
    >>> import maxmargin
    >>> maxmargin.patch_sklearn()
    >>> from sklearn.svm import SVC
    >>> SVC is maxmargin.SVC
    True
    >>> maxmargin.unpatch_sklearn()
    """
    import sklearn.svm

    if not _originals:
        _originals.update({name: getattr(sklearn.svm, name) for name in NAMES})
        _rebind(_originals, _ours())
        script = vars(sys.modules["__main__"])
        early = [name for name in NAMES if script.get(name) is _originals[name]]
        if early:
            warnings.warn(
                f"{', '.join(early)} {'was' if len(early) == 1 else 'were'} imported before "
                "scikit-learn was patched "
                "and will not be maxmargin's: call patch_sklearn() first, then import.",
                UserWarning,
                stacklevel=2,
            )


def unpatch_sklearn() -> None:
    """Undo ``patch_sklearn``.

    Examples
    --------
    >>> import maxmargin
    >>> maxmargin.patch_sklearn()
    >>> maxmargin.unpatch_sklearn()
    >>> from sklearn.svm import SVC
    >>> SVC is maxmargin.SVC
    False
    """
    if _originals:
        _rebind(_ours(), _originals)
        _originals.clear()


# ---- pytest plugin -------------------------------------------------------------------------------

_fits = 0


def pytest_configure(config: Any) -> None:
    """Patch before test modules are imported, and count fits to prove that ours were used."""
    global _fits
    patch_sklearn()
    for cls in _ours().values():
        original = cls.fit

        def counted(self: Any, *args: Any, _original: Any = original, **kwargs: Any) -> Any:
            global _fits
            _fits += 1
            return _original(self, *args, **kwargs)

        counted.__doc__ = original.__doc__
        counted.__wrapped__ = original  # type: ignore[attr-defined]
        cls.fit = counted


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many fits were ours."""
    terminalreporter.write_line(f"maxmargin.sklearn_patch: {_fits} fits by maxmargin")
