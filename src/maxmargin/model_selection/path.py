"""The path of C: the model of every C, fitted one after the other on shared kernel values.

The kernel values of the samples are computed once and stored if memory allows. C ascends, and each
fit starts from the solution before (search.py says how it is scaled). Each model is certified as
a lone fit is.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import _num_samples

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators import SVC, SVR
from maxmargin.estimators._data import symmetric
from maxmargin.estimators._machine import KernelMachine
from maxmargin.estimators._targets import finite_weight
from maxmargin.kernel.sources import take
from maxmargin.model_selection import grids
from maxmargin.model_selection.kernel_search import warm_starts
from maxmargin.model_selection.parts import ROUNDING, Machine, parts_of
from maxmargin.model_selection.search import Parameters
from maxmargin.model_selection.shared import Fold, FoldModel, KernelStore, budget, evaluate


@dataclass(frozen=True, eq=False, repr=False)
class CPath:
    """The models along C.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
        The values of C, ascending.
    models : tuple of SVC or SVR
        The fitted model of each C.
    dual_coef : ndarray of shape (n_Cs, n_functions, n_samples)
        The coefficient of each sample in each decision function: y_i a_i for two classes, 0 where
        the sample is no support vector.
    n_support : ndarray of shape (n_Cs,)
        Number of support vectors.
    n_bound : ndarray of shape (n_Cs,)
        Number of support vectors at their bound in some decision function; 0 for a squared loss,
        which has no bound.
    norms : ndarray of shape (n_Cs, n_functions)
        |w| of each decision function. The margin is 1 / |w| wide on each side.
    errors : ndarray of shape (n_Cs,)
        On the training samples: the share of wrong labels for SVC, the mean absolute error for
        SVR; weighted by ``sample_weight``.

    See Also
    --------
    svc_path, svr_path : make it.
    maxmargin.plots.PathDisplay : draws it.

    Examples
    --------
    >>> from maxmargin.model_selection import svc_path
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = svc_path(X, y, [1, 10, 100])
    >>> path.Cs
    array([  1.,  10., 100.])
    >>> path.dual_coef.shape
    (3, 3, 150)
    >>> [one.status for one in path.certificates]
    ['optimal', 'optimal', 'optimal']
    """

    Cs: Floats
    models: tuple[Any, ...]
    dual_coef: Floats
    n_support: NDArray[np.int64]
    n_bound: NDArray[np.int64]
    norms: Floats
    errors: Floats

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What is known about each model."""
        return tuple(one.certificate_ for one in self.models)

    @property
    def objectives(self) -> Floats:
        """The primal objective of each model, 1/2 |w|^2 + C sum of losses."""
        return np.array([one.certificate_.primal for one in self.models])

    def __repr__(self) -> str:
        """One line to read."""
        kind, ends = type(self.models[0]).__name__, (self.Cs[0], self.Cs[-1])
        statuses = ", ".join(sorted({str(one.status) for one in self.certificates}))
        return f"<CPath of {len(self.Cs)} {kind}, C from {ends[0]:g} to {ends[1]:g}: {statuses}>"


def svc_path(
    X: Any, y: Any, Cs: Any = 30, *, estimator: Any = None, sample_weight: Any = None
) -> CPath:
    """Fit SVC for every C, each starting from the one before on shared kernel values.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training vectors; the square kernel matrix for ``kernel="precomputed"``.
    y : array-like of shape (n_samples,)
        Class labels.
    Cs : int or array-like, default=30
        Values of C, or how many between 1e-2 and 1e4.
    estimator : SVC or None, default=None
        Everything but C; None is ``SVC()``. Its ``time_limit`` holds for each fit.
    sample_weight : array-like of shape (n_samples,), default=None
        How many times each sample counts.

    Returns
    -------
    CPath
        The models and their numbers.

    Examples
    --------
    >>> from maxmargin.model_selection import svc_path
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> svc_path(X, y, [1, 10, 100])
    <CPath of 3 SVC, C from 1 to 100: optimal>
    """
    return _path(SVC, X, y, Cs, estimator, sample_weight)


def svr_path(
    X: Any, y: Any, Cs: Any = 30, *, estimator: Any = None, sample_weight: Any = None
) -> CPath:
    """Fit SVR for every C, each starting from the one before on shared kernel values.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training vectors; the square kernel matrix for ``kernel="precomputed"``.
    y : array-like of shape (n_samples,)
        Targets.
    Cs : int or array-like, default=30
        Values of C, or how many between 1e-2 and 1e4.
    estimator : SVR or None, default=None
        Everything but C; None is ``SVR()``. Its ``time_limit`` holds for each fit.
    sample_weight : array-like of shape (n_samples,), default=None
        How many times each sample counts.

    Returns
    -------
    CPath
        The models and their numbers.

    See Also
    --------
    svc_path : for classification.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.model_selection import svr_path
    >>> X = np.linspace(0, 5, 60).reshape(-1, 1)
    >>> path = svr_path(X, np.sin(X[:, 0]), [0.1, 1, 10])
    >>> bool(path.errors[0] > path.errors[-1])
    True
    """
    return _path(SVR, X, y, Cs, estimator, sample_weight)


def _path(
    kind: type[KernelMachine], X: Any, y: Any, Cs: Any, estimator: Any, sample_weight: Any
) -> CPath:
    machine = kind() if estimator is None else clone(estimator)
    if not isinstance(machine, kind):
        given = type(machine).__name__
        raise ValueError(f"estimator must be an {kind.__name__}, got {given}.")
    machine._validate_params()
    costs, fold = grids.costs(Cs), everything_of(machine, X, y, sample_weight)
    fits: list[FoldModel] = []
    last: tuple[Parameters, FoldModel] | None = None
    for C in costs:
        one, now = clone(machine).set_params(C=float(C)), {"C": float(C)}
        starts = None if last is None else warm_starts(*last, now, len(fold.train))
        with one._monitor() as monitor:
            fits.append(fold.fit(one, X, y, sample_weight, monitor, starts))
        last = now, fits[-1]
    evaluate(fits, fold.train)
    return _record(costs, fits, fold, y, finite_weight(sample_weight, len(fold.train)))


def everything_of(machine: KernelMachine, X: Any, y: Any, sample_weight: Any) -> Fold:
    """All samples as a fold, with the kernel that a fit of the machine on them has."""
    X, _ = clone(machine)._validate_Xy(X, y, reset=True)
    weight, kind = finite_weight(sample_weight, _num_samples(X)), machine._kernel_kind()
    X, counted = symmetric(kind, X), np.flatnonzero(weight > 0)
    kernel = machine._resolve_kernel(take(kind, X, counted), weight[counted])
    workspace = KernelStore(X, budget()).workspace(kernel)
    return Fold(workspace, workspace, np.arange(_num_samples(X)))


def _record(costs: Floats, fits: list[FoldModel], fold: Fold, y: Any, weight: Floats) -> CPath:
    """The numbers of the fitted models."""
    n, models = len(fold.train), tuple(one.machine for one in fits)
    shape = len(fits), len(models[0].model_.intercept)
    dual_coef, norms = np.zeros((*shape, n)), np.zeros(shape)
    for k, one in enumerate(fits):
        record = one.machine.model_
        dual_coef[k][:, record.rows] = record.columns()
        kernel_part = one.values(fold.train) - record.intercept[:, None]
        norms[k] = np.sqrt(np.maximum((dual_coef[k] * kernel_part).sum(axis=1), 0.0))
    return CPath(
        costs,
        models,
        dual_coef,
        np.count_nonzero(dual_coef.any(axis=1), axis=1),
        np.array([_count_bound(*one, y, weight) for one in zip(models, dual_coef, strict=True)]),
        norms,
        np.array([_error(one, y, weight) for one in fits]),
    )


def _count_bound(machine: Machine, dual_coef: Floats, y: Any, weight: Floats) -> int:
    """How many samples are at the bound of some decision function."""
    there = np.zeros(len(weight), bool)
    for coef, part in zip(dual_coef, parts_of(machine, y, weight), strict=True):
        bounds = part.bounds(machine)
        there[part.rows] |= np.abs(coef[part.rows]) >= bounds * (1 - ROUNDING)
    return int(there.sum())


def _error(fitted: FoldModel, y: Any, weight: Floats) -> float:
    """The training error."""
    found = fitted.predict(fitted.fold.train)
    if is_classifier(fitted.machine):
        return float(np.average(found != np.ravel(y), weights=weight))
    return float(np.average(np.abs(found - fitted.machine._targets(y)), weights=weight))
