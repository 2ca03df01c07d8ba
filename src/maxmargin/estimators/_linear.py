"""What the linear estimators share: parameters, choice of the solver, warm start, certification."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from maxmargin import certificate
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators import _outcome, _state
from maxmargin.estimators._chunks import Read, read_all
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._samples import TakesSamples
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.objectives import LinearSolution
from maxmargin.linear.training import Choice, Solver, Task, TrainedLinear, choose
from maxmargin.linear.verification import certify_again
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.training import train_many


class BaseLinear(TakesSamples):
    """Parameters and fitted state common to the linear estimators."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "dual": ["boolean", StrOptions({"auto"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "intercept": [StrOptions({"free", "regularised"})],
        "solver": [StrOptions({"auto", "newton", "coordinate"})],
        "time_limit": [None, Interval(Real, 0, None, closed="left")],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "warm_start": ["boolean"],
    }

    def __sklearn_tags__(self) -> Any:
        """Sparse data are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ---- input -----------------------------------------------------------------------------------

    def _first_pass(self, read: Read) -> tuple[NDArray[Any], Floats | None, tuple[int, int]]:
        """Targets, weights and shape of data in chunks, which have no names of features."""
        found = read_all(read)
        self.n_features_in_ = found[2][1]
        self.__dict__.pop("feature_names_in_", None)
        return found

    # ---- the problem -----------------------------------------------------------------------------

    def _bias(self) -> tuple[Bias, float]:
        """What becomes of the intercept, and the column that penalises it."""
        if not self.fit_intercept:
            return Bias.NONE, 1.0
        if self.intercept == "regularised":
            return Bias.PENALISED, float(self.intercept_scaling)
        if self.intercept_scaling != 1:
            raise ValueError(
                f"intercept_scaling={self.intercept_scaling:g} has no effect on an intercept that "
                "is not penalised. Use "
                "intercept='regularised' for LIBLINEAR's model, or leave intercept_scaling at 1."
            )
        return Bias.FREE, 1.0

    def _choose(self, design: Design) -> Choice:
        """The solver that the parameters name, or one that suits the data.

        ``dual`` only says which solver begins.
        """
        if self.solver != "auto":
            return Choice(Solver(self.solver), binding=True)
        if isinstance(self.dual, str):
            return Choice(choose(design))
        return Choice(Solver.COORDINATE if self.dual else Solver.NEWTON)

    @contextmanager
    def _watched(self) -> Iterator[tuple[Monitor, int]]:
        """The monitor and the seed of a fit.

        Ctrl-C raises afterwards unless the model is to be kept.
        """
        seed = (
            int(check_random_state(self.random_state).randint(2**31 - 1))
            if self.random_state is not None
            else 0
        )
        with self._monitor() as monitor, np.errstate(over="ignore", invalid="ignore"):
            yield monitor, seed
        _outcome.raise_interrupt(self, monitor)

    def _run(
        self,
        problems: Sequence[LinearProblem],
        design: Design,
        choice: Choice,
        starts: list[LinearSolution] | None,
    ) -> list[TrainedLinear]:
        """Train every problem; keep certificate and counts; warn of what fell short."""
        if not np.isfinite(design.largest_square):
            raise ValueError(
                "X has samples whose values are too large to be squared in float64: scale them "
                "(StandardScaler)."
            )
        tol = float(self.tol)
        tasks = [
            Task(problem, tol, choice, None if starts is None else starts[k])
            for k, problem in enumerate(problems)
        ]
        with self._watched() as (monitor, seed):
            trained = train_many(tasks, LinearWorkspace(design, monitor, seed))
            trained = [
                self._finished(t, problem, design)
                for t, problem in zip(trained, problems, strict=True)
            ]
        for k, (found, known, _) in enumerate(trained if monitor.verbose else ()):
            part = monitor.part(1.0, f" {k + 1}/{len(trained)}" if len(trained) > 1 else "")
            support = int(np.count_nonzero(found.t))
            part.report(found.n_iter, known.gap, known.kkt_violation, support, f": {known.status}")
        after = [t.solver for t in trained if t.solver is not choice.solver]
        solver, n_iter = (
            after[0] if after else choice.solver,
            max(t.solution.n_iter for t in trained),
        )
        self._conclude([t.certificate for t in trained], solver, n_iter)
        return trained

    def _finished(
        self, trained: TrainedLinear, problem: LinearProblem, design: Design
    ) -> TrainedLinear:
        """The solution that is kept: the one that was found, unless a subclass changes it."""
        return trained

    def _conclude(self, parts: list[Certificate], solver: Solver, n_iter: int) -> None:
        """Keep certificate and counts, warn of what fell short."""
        self.__dict__.pop("label_order_", None)  # of a file that the model was read from
        self.solver_ = solver.value
        self.n_iter_ = int(n_iter)
        self.certificate_ = certificate.worst(parts)
        _outcome.warn_of(parts, self._describe)

    def _describe(self, status: Status, found: Sequence[Certificate], count: str) -> str | None:
        """The warning for problems that ended with a status, with the gap that fell short."""
        gap = max(part.relative_gap for part in found)
        return (
            f"{type(self).__name__} failed to converge{count}: {status.message} Relative gap "
            f"{gap:.3g} (tol={self.tol:g})."
        )

    def _keep(self, trained: Sequence[TrainedLinear]) -> None:
        """Keep weights, intercepts and duals, a row for each problem."""
        coef = np.array([t.solution.w for t in trained])
        intercept = np.array([t.solution.bias for t in trained])
        if not (
            np.isfinite(coef).all()
            and np.isfinite(intercept).all()
            and all(np.isfinite(t.certificate.gap) for t in trained)
        ):
            raise ValueError(
                "The objective exceeds the range of float64: the squares of the data, or the "
                "losses times C and the sample weights, are "
                "too large. Scale the data (StandardScaler), lower C, or divide the weights."
            )
        self.coef_: Any = coef
        self.intercept_: Any = intercept if self.fit_intercept else 0.0
        self.dual_coef_: Any = sparse.vstack(
            [sparse.csr_matrix(t.solution.t) for t in trained], format="csr"
        )

    def _models(self) -> tuple[Floats, Floats]:
        """Weights and intercepts, a row for each problem."""
        if sparse.issparse(self.coef_):
            self.coef_.check_format(full_check=True)
        coef = np.atleast_2d(self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_)
        return coef, np.broadcast_to(np.asarray(self.intercept_, dtype=np.float64), len(coef))

    def _starts(self, n: int, count: int) -> list[LinearSolution] | None:
        """The solutions of the last fit; None if ``warm_start`` cannot use them.

        The numbers of problems and features must be the same; samples may have been appended.
        """
        if (
            not self.warm_start
            or not hasattr(self, "coef_")
            or self.dual_coef_.shape[1] > n
            or self.dual_coef_.shape[0] != count
        ):
            return None
        _state.check_duals(self)
        coef, intercept = self._models()
        if coef.shape[1] != self.n_features_in_:
            return None
        t = np.zeros((count, n))
        t[:, : self.dual_coef_.shape[1]] = self.dual_coef_.toarray()
        nothing = np.empty(0)
        return [
            LinearSolution(coef[k], float(intercept[k]), t[k], nothing, nothing, None, 0)
            for k in range(count)
        ]

    def _scores(self, X: Any) -> Floats:
        """Values of every linear function, one column each; the same bits for any split of X."""
        check_is_fitted(self)
        _state.check_linear(self)
        X = self._validate_X(X, reset=False)
        coef, intercept = self._models()
        return ArrayDesign(X).values_of_all(np.ascontiguousarray(coef)) + intercept

    # ---- certification ---------------------------------------------------------------------------

    def _check_duals(self) -> None:
        """Refuse to certify without dual variables, and with altered ones."""
        check_is_fitted(self)
        _state.check_duals(self)
        if self.certificate_.status is Status.IMPORTED:
            raise ValueError(
                "The model was read from a file, which holds no dual variables: they are what "
                "certifies a model. Fit it again."
            )

    def _certify(self, problems: Sequence[LinearProblem], X: Any) -> Certificate:
        """Recompute everything from the data in float64."""
        self._check_duals()
        parts = self.certificate_.parts or (self.certificate_,)
        if self.dual_coef_.shape != (len(problems), X.shape[0]):
            raise ValueError(
                "certify needs the data the model was fitted on: another number of samples or "
                "classes was given."
            )
        coef, intercept = self._models()
        found, design = [], ArrayDesign(X)
        for k, problem in enumerate(problems):
            t, nothing = self.dual_coef_[[k]].toarray()[0], np.empty(0)
            solution = LinearSolution(coef[k], float(intercept[k]), t, nothing, nothing, None, 0)
            found.append(certify_again(parts[k], problem, solution, design, self.tol))
        return certificate.worst(found)
