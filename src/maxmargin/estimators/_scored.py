"""What the estimators share that the cutting-plane method trains for a loss of all scores."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples

from maxmargin.certificate import Certificate, worst
from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_blas_thread
from maxmargin.estimators import _outcome
from maxmargin.estimators._base import BaseSVM, shared_constraints
from maxmargin.estimators._data import like, refuse_batch_dependence, symmetric
from maxmargin.estimators._record import checked, field, fitted, known_field
from maxmargin.estimators._targets import validate_weight
from maxmargin.kernel.definiteness import convexity_on
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.model import kept_vectors
from maxmargin.kernel.sources import take
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.objectives import ROUNDING
from maxmargin.monitor import Monitor
from maxmargin.status import Convexity, Status
from maxmargin.structured import certificate
from maxmargin.structured.cutting_plane import PlaneSolution, solve
from maxmargin.structured.model import PlaneModel, check, decision_values
from maxmargin.structured.risks import Goal, Plane, ScoreLoss, ScoreRisk
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
    polish_up_to: int = 2**12
    """Values of X up to which a problem is solved to rounding, whatever the tolerance."""


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


class Begin(NamedTuple):
    """Where the solver begins."""

    w: Floats | None
    planes: tuple[Plane, ...] = ()
    """Planes below the risk that are known."""


class Trained(NamedTuple):
    """A function, its intercept and its certificate."""

    solution: PlaneSolution
    intercept: float
    certificate: Certificate


class PlaneMachine(BaseSVM):
    """Functions of the samples, of weights of the features or of support vectors."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **shared_constraints(*SHARED),
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

    def _train(self, data: PlaneData, loss: ScoreLoss) -> PlaneSolution:
        """Minimise 1/2 |w|^2 + C loss, and keep the record; its intercept is 0."""
        return self._train_all(data, [Goal(loss)])[0]

    def _train_all(
        self, data: PlaneData, goals: Sequence[Goal], classes: NDArray[Any] | None = None
    ) -> list[PlaneSolution]:
        """The same for each goal, with a function and an intercept each."""
        C, tol, found = float(self.C), float(self.tol), []
        quiet = np.errstate(over="ignore", invalid="ignore")
        with self._monitor() as monitor, one_blas_thread(), quiet:
            refuse_batch_dependence(data.kernel, data.samples)
            space, convexity = (
                self._space(data, monitor),
                convexity_on(data.kernel, data.samples, len(data.used)),
            )
            starts = self._starts(space, data, len(goals))
            for k, goal in enumerate(goals):
                label = f" {k + 1}/{len(goals)}" if len(goals) > 1 else ""
                part, risk = monitor.part(1 / (len(goals) - k), label), ScoreRisk(space, goal.loss)
                begin = self._begin(space, goal.loss, part, starts[k])
                one = solve(risk, C, self._stop_at(data), part, begin.w, begin.planes, tol)
                judged = certificate.certify(risk, C, one, tol, convexity=convexity)
                found.append(Trained(one, goal.intercept(space.scores(one.w)), judged))
        _outcome.raise_interrupt(self, monitor)
        self.model_ = record_of(space, data, found, classes)
        self.n_iter_ = max(one.solution.n_iter for one in found)
        _outcome.warn_of([one.certificate for one in found], self._describe)
        return [one.solution for one in found]

    def _begin(
        self,
        space: LinearSpace | KernelSpace,
        loss: ScoreLoss,
        monitor: Monitor,
        start: Floats | None,
    ) -> Begin:
        """Where the solver begins: at the weights of the last fit, if there are any."""
        return Begin(start)

    def _stop_at(self, data: PlaneData) -> float:
        """The relative gap to stop at: small problems are solved to rounding."""
        n, width = len(data.used), 0 if data.kernel.kind is Kind.CALLABLE else data.X.shape[1]
        small = n * max(width, 1) <= SETTINGS.polish_up_to
        return min(float(self.tol), ROUNDING) if small else float(self.tol)

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

    def _starts(
        self, space: LinearSpace | KernelSpace, data: PlaneData, count: int
    ) -> Sequence[Floats | None]:
        """The weights of the last fit, where warm_start can use them."""
        nothing = [None] * count
        if not self.warm_start or not hasattr(self, "model_"):
            return nothing
        last = checked(self)
        if last.vectors is None:
            same = isinstance(space, LinearSpace) and last.coef.shape == (count, space.size)
            return list(last.coef.copy()) if same else nothing
        same = isinstance(space, KernelSpace) and len(last.coef) == count
        if not same or last.rows.max(initial=-1) >= _num_samples(data.X):
            return nothing
        return [_element(space, data, last, coef) for coef in last.coef]

    def _describe(self, status: Status, found: Sequence[Certificate], count: str) -> str | None:
        """The warning for a fit that fell short."""
        if found[0].convexity is Convexity.INDEFINITE:
            return (
                f"{type(self).__name__} ended with a model that is not known to be near an "
                "optimum: the kernel is not positive semidefinite on these data, and planes prove "
                "nothing then. Use another kernel, or other numbers for it."
            )
        if status is Status.STATIONARY:
            return None
        gap = max(part.relative_gap for part in found)
        return (
            f"{type(self).__name__} failed to converge{count}: {status.message} Relative gap "
            f"{gap:.3g} (tol={self.tol:g})."
        )

    # ---- use -------------------------------------------------------------------------------------

    def _decision_values(self, X: Any) -> Floats:
        """Values of every function, one column each."""
        record: PlaneModel = checked(self)
        X = self._validate_X(X, reset=False)
        return decision_values(record, X if record.vectors is None else like(X, record.vectors)).T

    def _certify(self, data: PlaneData, *losses: ScoreLoss) -> Certificate:
        """Recompute the certificate on the training data."""
        record: PlaneModel = checked(self)
        if _num_samples(data.X) != record.n_samples or len(losses) != len(record.coef):
            raise ValueError(
                f"certify needs the data the model was fitted on: {record.n_samples} samples, got "
                f"{_num_samples(data.X)}."
            )
        space = self._space(data, Monitor())
        return worst(
            [self._certify_one(space, data, record, k, loss) for k, loss in enumerate(losses)]
        )

    def _certify_one(
        self,
        space: LinearSpace | KernelSpace,
        data: PlaneData,
        record: PlaneModel,
        k: int,
        loss: ScoreLoss,
    ) -> Certificate:
        """The certificate of function k."""
        C, tol, known = float(self.C), float(self.tol), record.certificates[k]
        w, slope = (_element(space, data, record, part[k]) for part in (record.coef, record.slope))
        plane = Plane(float(record.offset[k]), slope)
        return certificate.certify_again(ScoreRisk(space, loss), C, w, plane, tol, known)


def _element(
    space: LinearSpace | KernelSpace, data: PlaneData, record: PlaneModel, coef: Floats
) -> Floats:
    """An element of the space from a row of coefficients as the record keeps them."""
    if isinstance(space, LinearSpace):
        return coef
    all_samples = np.zeros(_num_samples(data.X))
    all_samples[record.rows] = coef
    return space.element(all_samples[data.used])


def record_of(
    space: LinearSpace | KernelSpace,
    data: PlaneData,
    found: Sequence[Trained],
    classes: NDArray[Any] | None,
) -> PlaneModel:
    """The record of the functions that were found."""
    planes = [one.solution.combined for one in found]
    coef, slope = np.array([one.solution.w for one in found]), np.array([p.slope for p in planes])
    intercept, offset = np.array([one.intercept for one in found]), [p.offset for p in planes]
    vectors = rows = None
    if isinstance(space, KernelSpace):
        coef, slope = coef[:, : space.half], slope[:, : space.half]
        support = np.flatnonzero((coef != 0).any(axis=0) | (slope != 0).any(axis=0))
        coef, slope = (
            np.ascontiguousarray(coef[:, support]),
            np.ascontiguousarray(slope[:, support]),
        )
        rows = data.used[support]
        vectors, rows = kept_vectors(data.kernel, data.X, rows), rows.astype(np.int32)
    return PlaneModel(
        data.kernel,
        coef,
        intercept,
        np.array(offset),
        slope,
        worst([one.certificate for one in found]),
        0 if data.kernel.kind is Kind.CALLABLE else data.X.shape[1],
        classes,
        vectors,
        rows,
        _num_samples(data.X),
    )
