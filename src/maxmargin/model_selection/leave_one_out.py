"""The leave-one-out error of a fitted SVC or SVR.

Let f be the decision function of all samples, f^i that of all but x_i, b_i the coefficient of x_i.

**exact**: if b_i = 0, then f satisfies the optimality conditions of the problem without x_i, and
f^i = f. So only support vectors are left out one by one: their problems share the stored kernel
values and start from the solution, with b_i taken out and the sum constraint repaired. Where the
intercept is not unique, because no support vector is strictly inside its bounds, any sample may be
an end of its interval, and all are left out.

**span** (Vapnik and Chapelle 2000; Chapelle, Vapnik, Bousquet and Mukherjee 2002): if no variable
moves onto or off a bound when x_i is left out,

    f^i(x_i) = f(x_i) - b_i S_i^2

with S_i the distance of phi(x_i) from the affine hull of the other free support vectors
(kernel/span.py).

**xi-alpha** (Joachims 2000): where R^2 is the range of the kernel values,

    y_i f^i(x_i) >= y_i f(x_i) - 2 a_i R^2

so the samples for which the right-hand side is positive are no errors. Proof: let g = f - f^i and
d = b - b^i, with d_i = b_i. Optimality of both gives g_k d_k <= 0 for k != i. The d_k add up to 0,
so |w - w^i|^2 = d' K d = d' g <= b_i g_i. If y_i g_k <= 0 for some k != i, then

    y_i g_i <= y_i (g_i - g_k) <= |phi(x_i) - phi(x_k)| sqrt(a_i y_i g_i) <= sqrt(2 R^2 a_i y_i g_i)

Otherwise the free support vectors of y_i's class move to their bounds C_k and those of the other
class to 0, and -y_i d_k >= 0 for all k, with sum a_i. That is impossible if

    sum of C_k - a_k over the former + sum of a_k over the latter > a_i

Joachims asks for stable machines instead. Samples without this room count as errors here.

A squared loss adds 1 / (2 C_i) to the diagonal of K. In that kernel nothing is at a bound, and
f(x_i) above stands for f(x_i) + b_i / (2 C_i).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Mask
from maxmargin.estimators import SVC, SVR
from maxmargin.estimators._data import symmetric
from maxmargin.estimators._targets import validate_weight
from maxmargin.estimators.records import unwrapped
from maxmargin.kernel import labels, prediction
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.sources import pick
from maxmargin.model_selection import removal, span
from maxmargin.model_selection.parts import Machine, parts_of
from maxmargin.model_selection.shared import KernelStore, budget
from maxmargin.monitor import Monitor
from maxmargin.status import Status

METHODS = ("exact", "span", "xi-alpha")


class LeaveOneOut(NamedTuple):
    """The leave-one-out error and where it comes from.

    Attributes
    ----------
    error : float
        The share of samples that are wrongly labelled when left out, or the mean absolute error of
        a regression; weighted by ``sample_weight``. NaN for a regression that ``time_limit`` cut
        short.
    decision_values : ndarray of shape (n_samples,) or (n_samples, n_functions)
        The decision value of each sample left out: exact, estimated by the span, or for "xi-alpha"
        the bound. NaN where ``time_limit`` came first.
    refitted : ndarray of bool of shape (n_samples,)
        Which samples were left out by a fit; the others keep their decision values, or have those
        of a closed form.
    upper_bound : bool
        Whether ``error`` is an upper bound of the leave-one-out error and not the error itself or
        an estimate: "xi-alpha" of an optimal model, and "exact" cut short, where samples that are
        not done count as errors.
    certificate : Certificate or None
        The worst of the fits without one sample; None if there are none.

    See Also
    --------
    leave_one_out : makes it.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.model_selection import leave_one_out
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = leave_one_out(SVC(C=10).fit(X, y), X, y)
    >>> found.upper_bound, found.decision_values.shape
    (False, (150, 3))
    """

    error: float
    decision_values: Floats
    refitted: Mask
    upper_bound: bool
    certificate: Certificate | None = None

    def __repr__(self) -> str:
        """One line to read."""
        kind = "error at most" if self.upper_bound else "error"
        refitted, n = int(self.refitted.sum()), len(self.refitted)
        return f"<LeaveOneOut {kind} {self.error:.4g}: {refitted} of {n} samples left out by a fit>"


def leave_one_out(
    model: Any,
    X: Any,
    y: Any,
    method: str = "exact",
    sample_weight: Any = None,
    *,
    time_limit: float | None = None,
    verbose: Any = 0,
) -> LeaveOneOut:
    """The leave-one-out error of a fitted SVC or SVR, without fitting it n times.

    The kernel and the class weights stay those of the model: ``gamma="scale"`` and
    ``class_weight="balanced"`` are not computed again without each sample. A sample that counts
    several times is left out with all its copies.

    Parameters
    ----------
    model : SVC or SVR
        A fitted model; a search or a pipeline that holds one, whose preparation stays as it is.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        What the model was fitted on; the square kernel matrix for ``kernel="precomputed"``.
    y : array-like of shape (n_samples,)
        What the model was fitted on.
    method : {"exact", "span", "xi-alpha"}, default="exact"
        Fit again without each support vector; estimate by the span of the support vectors, two
        classes or regression; or Joachims' upper bound, two classes.
    sample_weight : array-like of shape (n_samples,), default=None
        What the model was fitted with.
    time_limit : float or None, default=None
        Seconds after which "exact" ends with what is done.
    verbose : bool or int, default=0
        Show a progress line with the time left.

    Returns
    -------
    LeaveOneOut
        The error, and the decision value of each sample left out.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.model_selection import leave_one_out
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = leave_one_out(SVC(C=10).fit(X, y), X, y)
    >>> round(found.error, 4), int(found.refitted.sum())
    (0.0267, 27)
    """
    model, X = unwrapped(model, X)
    X, y, weight = _checked(model, X, y, method, sample_weight)
    machine: Machine = model
    workspace = KernelStore(X, budget()).workspace(machine.kernel_)
    parts = parts_of(machine, y, weight)
    values = prediction.decision_values(machine.model_, X).T
    if method == "exact":
        monitor = Monitor(machine.max_iter, time_limit, int(verbose), "leave_one_out")
        with monitor:
            found = removal.leave_out(machine, parts, workspace, values, monitor)
        return _exact(machine, y, weight, found)
    if len(parts) > 1:
        raise ValueError(
            f"method={method!r} is for two classes, and the model has "
            f"{len(machine.classes_)}: use method='exact'."
        )
    form = span.by_span if method == "span" else span.by_range
    values = form(machine, parts[0], workspace, values[0])[None]
    wrong = _losses(machine, y, values)
    if method == "xi-alpha":  # a bound of 0 proves nothing
        wrong[parts[0].rows] = parts[0].target * values[0, parts[0].rows] <= 0
    proved = method == "xi-alpha" and machine.certificate_.status is Status.OPTIMAL
    error, nothing = float(np.average(wrong, weights=weight)), np.zeros(len(weight), bool)
    return LeaveOneOut(error, values[0], nothing, proved)


def _exact(machine: Machine, y: Any, weight: Floats, found: removal.Removals) -> LeaveOneOut:
    """The record of an exact error, or of what is done of it."""
    removal.warn_unsolved(machine, found.certificate)
    losses, done = _losses(machine, y, found.values), found.done
    early = not done.all()
    if early:
        removal.warn_early(done)
        losses[~done] = 1.0 if is_classifier(machine) else np.nan
    decision = machine._decision_of(found.values.T) if is_classifier(machine) else found.values[0]
    decision[~done] = np.nan
    error = float(np.average(losses, weights=weight))
    upper = early and is_classifier(machine)
    return LeaveOneOut(error, decision, found.refitted, upper, found.certificate)


def _losses(machine: Machine, y: Any, values: Floats) -> Floats:
    """Whether each label is wrong, or the absolute error."""
    if not is_classifier(machine):
        residuals: Floats = np.abs(machine._targets(y) - values[0])
        return residuals
    position = labels.winners(machine.model_, values, machine.break_ties)
    wrong: Floats = (machine.classes_[position] != np.ravel(y)).astype(np.float64)
    return wrong


def _checked(
    model: Any, X: Any, y: Any, method: str, sample_weight: Any
) -> tuple[Any, NDArray[Any], Floats]:
    """Samples, targets and weights; ValueError where the model was not fitted on them."""
    if not isinstance(model, SVC | SVR):
        raise ValueError(
            f"leave_one_out needs a fitted SVC or SVR, got {type(model).__name__}. Other models "
            "need cross_val_predict with cv=LeaveOneOut(): with nu, all bounds change with every "
            "sample left out."
        )
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    if method == "xi-alpha" and not is_classifier(model):
        raise ValueError("method='xi-alpha' is for classifiers: use 'exact' or 'span'.")
    check_is_fitted(model)
    X, y = model._validate_Xy(X, y, reset=False)
    weight, record = validate_weight(sample_weight, _num_samples(X)), model.model_
    labels_known = not is_classifier(model) or np.isin(y, model.classes_).all()
    if record.rows is None or record.n_samples != len(weight) or not labels_known:
        raise ValueError(
            "leave_one_out needs the data the model was fitted on: the model does not know its "
            "rows, or other labels or another number of samples were given."
        )
    compared = record.kernel.kind not in (Kind.PRECOMPUTED, Kind.CALLABLE)
    if compared and not _same(pick(X, record.rows), record.vectors):
        raise ValueError(
            "leave_one_out needs the data the model was fitted on: its support vectors are not "
            "rows of X."
        )
    return symmetric(model._kernel_kind(), X), np.asarray(y), weight


def _same(a: Any, b: Any) -> bool:
    """Whether two matrices are equal."""
    if sparse.issparse(a) != sparse.issparse(b) or a.shape != b.shape:
        return False
    return (a != b).nnz == 0 if sparse.issparse(a) else bool(np.array_equal(a, b))
