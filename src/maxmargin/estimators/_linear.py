"""What the linear estimators share: parameters, choice of the solver, warm start, certification."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from maxmargin import certificate
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators import _outcome
from maxmargin.estimators._chunks import Read, read_all
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._record import checked, field, fitted
from maxmargin.estimators._samples import TakesSamples
from maxmargin.linear import model
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.model import LinearModel
from maxmargin.linear.objectives import LinearSolution
from maxmargin.linear.together import train_together
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

    model_: LinearModel
    _watcher: Monitor | None = None
    """Limits that a fit shares with others of a search; None for a fit of its own."""
    _one_row: ClassVar[bool] = False
    """Whether coef_ is a vector, as scikit-learn's regressors have it."""

    intercept_ = field("intercept")
    dual_coef_ = field("duals")
    certificate_ = field("certificate")

    @property
    def coef_(self) -> Any:
        """Weights of the features."""
        coef = fitted(self).coef
        return coef[0] if self._one_row and isinstance(coef, np.ndarray) and coef.ndim else coef

    @coef_.setter
    def coef_(self, value: Any) -> None:
        is_row = isinstance(value, np.ndarray) and value.ndim == 1
        self.model_ = replace(fitted(self), coef=value[None, :] if is_row else value)

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

    def _choose(self, design: Design, squared: bool = False) -> Choice:
        """The solver that the parameters name, or one that suits the data.

        ``dual`` only says which solver begins.
        """
        if self.solver != "auto":
            return Choice(Solver(self.solver), binding=True)
        if isinstance(self.dual, str):
            return Choice(choose(design, squared))
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
        watcher = self._monitor() if self._watcher is None else nullcontext(self._watcher)
        with watcher as monitor, np.errstate(over="ignore", invalid="ignore"):
            yield monitor, seed
        _outcome.raise_interrupt(self, monitor)

    def _run(
        self,
        problems: Sequence[LinearProblem],
        design: Design,
        choice: Choice,
        classes: NDArray[Any] | None = None,
        held_out: Sequence[LinearProblem] = (),
        learn: Callable[[list[TrainedLinear]], None] | None = None,
    ) -> Self:
        """Train every problem and keep the record.

        Problems without a fold start from the first solution; ``learn`` is given theirs.
        """
        if not np.isfinite(design.largest_square):
            raise ValueError(
                "X has samples whose values are too large to be squared in float64: scale them "
                "(StandardScaler)."
            )
        starts = None
        if choice.solver is not Solver.LASSO:
            starts = self._starts(design.shape[0], len(problems))
        tol = float(self.tol)
        with self._watched() as (monitor, seed):
            workspace = LinearWorkspace(design, monitor, seed)
            trained = self._trained(problems, choice, starts, workspace)
            rest = [Task(one, tol, choice, trained[0].solution) for one in held_out]
            folds = train_many(rest, workspace) if rest else []
        for k, (found, known, _) in enumerate(trained if monitor.verbose else ()):
            part = monitor.part(1.0, f" {k + 1}/{len(trained)}" if len(trained) > 1 else "")
            support = int(np.count_nonzero(found.t))
            part.report(found.n_iter, known.gap, known.kkt_violation, support, f": {known.status}")
        after = [t.solver for t in trained if t.solver is not choice.solver]
        self._conclude(
            model.assemble(trained, self.fit_intercept, classes),
            after[0] if after else choice.solver,
            max(t.solution.n_iter for t in trained),
        )
        if learn is not None:
            learn(folds)
        return self

    def _trained(
        self,
        problems: Sequence[LinearProblem],
        choice: Choice,
        starts: list[LinearSolution] | None,
        workspace: LinearWorkspace,
    ) -> list[TrainedLinear]:
        """Train every problem: together where that pays, else by itself."""
        tol = float(self.tol)
        found: list[TrainedLinear | None] = [None] * len(problems)
        if starts is None:
            found = train_together(problems, workspace, choice, tol)
        left = [k for k, one in enumerate(found) if one is None]
        tasks = [
            Task(problems[k], tol, choice, None if starts is None else starts[k]) for k in left
        ]
        others = iter(zip(tasks, train_many(tasks, workspace) if tasks else (), strict=True))
        return [one or self._finished(next(others), workspace.design) for one in found]

    def _finished(self, done: tuple[Task, TrainedLinear], design: Design) -> TrainedLinear:
        """The solution that is kept: the one that was found, unless a subclass changes it."""
        return done[1]

    def _conclude(self, found: LinearModel, solver: Solver, n_iter: int) -> Self:
        """Keep the record, the solver and its steps; warn of what fell short."""
        self.model_, self.solver_, self.n_iter_ = found, solver.value, int(n_iter)
        _outcome.warn_of(found.certificates, self._describe)
        return self

    def _describe(self, status: Status, found: Sequence[Certificate], count: str) -> str | None:
        """The warning for problems that ended with a status, with the gap that fell short."""
        gap = max(part.relative_gap for part in found)
        return (
            f"{type(self).__name__} failed to converge{count}: {status.message} Relative gap "
            f"{gap:.3g} (tol={self.tol:g})."
        )

    def _starts(self, n: int, count: int) -> list[LinearSolution] | None:
        """The solutions of the last fit; None if ``warm_start`` cannot use them.

        The numbers of problems and features must be the same; samples may have been appended.
        """
        if not self.warm_start or not hasattr(self, "model_"):
            return None
        last: LinearModel = self.model_
        rows, columns = last.duals.shape
        if columns > n or rows != count or last.n_features != self.n_features_in_:
            return None
        model.check_duals(last, type(self).__name__)
        return [model.solution(last, k, n) for k in range(count)]

    def _check_state(self) -> None:
        model.check(fitted(self), type(self).__name__)

    def _scores(self, X: Any) -> Floats:
        """Values of every linear function, one column each."""
        return model.decision_values(checked(self), self._validate_X(X, reset=False))

    # ---- certification ---------------------------------------------------------------------------

    def _with_duals(self) -> LinearModel:
        """The record; refused without dual variables, and with altered ones."""
        check_is_fitted(self)
        model.check_duals(self.model_, type(self).__name__)
        if self.certificate_.status is Status.IMPORTED:
            raise ValueError(
                "The model was read from a file, which holds no dual variables: they are what "
                "certifies a model. Fit it again."
            )
        return self.model_

    def _certify(self, problems: Sequence[LinearProblem], X: Any) -> Certificate:
        """Recompute everything from the data in float64."""
        last, n = self._with_duals(), X.shape[0]
        if last.duals.shape != (len(problems), n):
            raise ValueError(
                "certify needs the data the model was fitted on: another number of samples or "
                "classes was given."
            )
        design, parts = ArrayDesign(X), last.certificates
        return certificate.worst(
            [
                certify_again(parts[k], problem, model.solution(last, k, n), design, self.tol)
                for k, problem in enumerate(problems)
            ]
        )
