"""What the estimators share that the cutting-plane method trains for a loss of all scores."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators import _outcome
from maxmargin.estimators._base import BaseSVM
from maxmargin.estimators._data import like, refuse_batch_dependence, symmetric
from maxmargin.estimators._record import checked, field, fitted, known_field
from maxmargin.estimators._targets import validate_weight
from maxmargin.kernel.definiteness import convexity_of
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.model import kept_vectors
from maxmargin.kernel.sources import take
from maxmargin.kernel.workspace import KernelWorkspace, Samples
from maxmargin.linear.designs import ArrayDesign
from maxmargin.monitor import Monitor
from maxmargin.status import Convexity, Status
from maxmargin.structured import certificate
from maxmargin.structured.cutting_plane import PlaneSolution, solve
from maxmargin.structured.model import PlaneModel, check, decision_values
from maxmargin.structured.risks import ScoreLoss, ScoreRisk
from maxmargin.structured.spaces import KernelSpace, LinearSpace

SHARED = (
    "kernel",
    "degree",
    "gamma",
    "coef0",
    "tol",
    "verbose",
    "max_iter",
    "time_limit",
    "on_interrupt",
    "warm_start",
)
"""Parameters with the same meaning as for the kernel machines."""


class Settings(NamedTuple):
    """Constants of the fits."""

    stored: int = 4096
    """Samples up to which all kernel values are kept in memory, 128 MB of them: every call of the
    risk needs them all."""


SETTINGS = Settings()


class PlaneData(NamedTuple):
    """The data of a fit."""

    X: Any
    kernel: Kernel
    used: Integers
    """The samples of positive weight."""
    samples: Any
    """These samples of X."""
    weight: Floats
    """Their weights."""


class PlaneMachine(BaseSVM):
    """One function of the samples, of weights of the features or of support vectors."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: BaseSVM._parameter_constraints[name] for name in SHARED},
        "C": [Interval(Real, 0.0, None, closed="neither")],
    }

    model_: PlaneModel
    certificate_ = field("certificate")
    intercept_ = field("intercept")
    support_ = known_field("rows")
    support_vectors_ = known_field("vectors")
    _kernel = field("kernel")

    @property
    def coef_(self) -> Any:
        """Weights of the features; with a linear kernel only."""
        record: PlaneModel = fitted(self)
        if record.vectors is not None:
            raise AttributeError("coef_ is only available when using a linear kernel")
        return record.coef

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the support vectors; there are none with a linear kernel."""
        record: PlaneModel = fitted(self)
        if record.vectors is None:
            raise AttributeError("a linear model has weights of features, coef_")
        return record.coef

    @property
    def _n_support(self) -> NDArray[np.int32]:
        return np.array([len(self.support_)], dtype=np.int32)

    def _check_state(self) -> None:
        check(fitted(self), type(self).__name__)

    def _linear_coef(self) -> Any:
        return self.coef_

    # ---- fitting ---------------------------------------------------------------------------------

    def _prepared(self, X: Any, sample_weight: Any) -> PlaneData:
        """The samples of positive weight."""
        weight = validate_weight(sample_weight, _num_samples(X))
        X = symmetric(self._kernel_kind(), X)
        used = np.flatnonzero(weight > 0)
        samples = take(self._kernel_kind(), X, used)
        kernel = self._resolve_kernel(samples, weight[used])
        return PlaneData(X, kernel, used, samples, weight[used])

    def _train(
        self, data: PlaneData, loss: ScoreLoss, classes: NDArray[Any] | None = None
    ) -> PlaneSolution:
        """Minimise 1/2 |w|^2 + C loss, and keep the record; its intercept is 0."""
        with self._monitor() as monitor, np.errstate(over="ignore", invalid="ignore"):
            refuse_batch_dependence(data.kernel, data.samples)
            space, convexity = self._space(data, monitor), self._convexity(data)
            risk, start = ScoreRisk(space, loss), self._start(space, data)
            found = solve(risk, float(self.C), float(self.tol), monitor, start)
            judged = certificate.certify(
                risk, float(self.C), found, float(self.tol), convexity=convexity
            )
        _outcome.raise_interrupt(self, monitor)
        self.model_ = _record(space, data, found, judged, classes)
        self.n_iter_ = found.n_iter
        _outcome.warn_of([judged], self._describe)
        return found

    def _space(self, data: PlaneData, monitor: Monitor) -> LinearSpace | KernelSpace:
        """Weights of the features, or functions of the kernel."""
        if data.kernel.kind is Kind.LINEAR:
            design = ArrayDesign(data.samples)
            if not np.isfinite(design.largest_square):
                raise ValueError(
                    "X has samples whose values are too large to be squared in float64: scale "
                    "them (StandardScaler)."
                )
            return LinearSpace(design)
        workspace = KernelWorkspace.of(data.kernel, data.samples, monitor)
        few = len(data.used) <= SETTINGS.stored
        return KernelSpace(workspace.whole() if few else workspace.source)

    def _convexity(self, data: PlaneData) -> Convexity:
        """What is known about the kernel; refused where it is not positive semidefinite."""
        if data.kernel.positive_semidefinite:
            return Convexity.PROVED
        precise = float(np.finfo(np.float64).eps)
        given = data.samples.dtype if data.kernel.kind is Kind.PRECOMPUTED else np.float64
        rounding = max(precise, float(np.finfo(given).eps))
        found = convexity_of(Samples(data.kernel, data.samples), np.ones(len(data.used)), rounding)
        if found is Convexity.INDEFINITE:
            raise ValueError(
                f"{type(self).__name__} needs a positive semidefinite kernel, and {data.kernel!r} "
                "is not on these data: use another kernel, or other numbers for it."
            )
        return found

    def _start(self, space: LinearSpace | KernelSpace, data: PlaneData) -> Floats | None:
        """The weights of the last fit, where warm_start can use them."""
        if not self.warm_start or not hasattr(self, "model_"):
            return None
        last = checked(self)
        if last.vectors is None:
            same = isinstance(space, LinearSpace) and last.coef.size == space.size
            return last.coef.ravel().copy() if same else None
        if isinstance(space, LinearSpace) or last.rows.max(initial=-1) >= _num_samples(data.X):
            return None
        return _element(space, data, last, last.coef)

    def _describe(self, status: Status, found: Sequence[Certificate], count: str) -> str | None:
        """The warning for a fit that fell short."""
        return (
            f"{type(self).__name__} failed to converge: {status.message} Relative gap "
            f"{found[0].relative_gap:.3g} (tol={self.tol:g})."
        )

    # ---- use -------------------------------------------------------------------------------------

    def _decision_values(self, X: Any) -> Floats:
        """The function at the samples X."""
        record: PlaneModel = checked(self)
        X = self._validate_X(X, reset=False)
        X = X if record.vectors is None else like(X, record.vectors)
        found: Floats = decision_values(record, X)[0]
        return found

    def _certify(self, data: PlaneData, loss: ScoreLoss) -> Certificate:
        """Recompute the certificate on the training data."""
        record: PlaneModel = checked(self)
        if _num_samples(data.X) != record.n_samples:
            raise ValueError(
                f"certify needs the data the model was fitted on: {record.n_samples} samples, got "
                f"{_num_samples(data.X)}."
            )
        C, tol = float(self.C), float(self.tol)
        space = self._space(data, Monitor())
        risk = ScoreRisk(space, loss)
        w, slope = (_element(space, data, record, part) for part in (record.coef, record.slope))
        known = record.certificate
        found = PlaneSolution(
            w,
            known.primal,
            known.dual,
            0.0,
            slope[None, :],
            np.array([record.offset]),
            np.array([C]),
            None,
            known.n_iter,
            (),
        )
        return certificate.certify(
            risk, C, found, tol, before=known.status, convexity=known.convexity
        )


def _element(
    space: LinearSpace | KernelSpace, data: PlaneData, record: PlaneModel, coef: Floats
) -> Floats:
    """An element of the space from coefficients as the record keeps them."""
    if isinstance(space, LinearSpace):
        return coef.ravel()
    all_samples = np.zeros(_num_samples(data.X))
    all_samples[record.rows] = coef[0]
    return space.element(all_samples[data.used])


def _record(
    space: LinearSpace | KernelSpace,
    data: PlaneData,
    found: PlaneSolution,
    judged: Certificate,
    classes: NDArray[Any] | None,
) -> PlaneModel:
    """The record of a solution."""
    plane, zero, n = found.combined, np.zeros(1), _num_samples(data.X)
    if isinstance(space, LinearSpace):
        return PlaneModel(
            data.kernel,
            found.w[None, :],
            zero,
            plane.offset,
            plane.slope[None, :],
            judged,
            data.X.shape[1],
            classes,
            n_samples=n,
        )
    coef, slope = space.coefficients(found.w), space.coefficients(plane.slope)
    support = np.flatnonzero((coef != 0) | (slope != 0))
    rows = data.used[support]
    return PlaneModel(
        data.kernel,
        coef[None, support],
        zero,
        plane.offset,
        slope[None, support],
        judged,
        0 if data.kernel.kind is Kind.CALLABLE else data.X.shape[1],
        classes,
        kept_vectors(data.kernel, data.X, rows),
        rows.astype(np.int32),
        n,
    )
