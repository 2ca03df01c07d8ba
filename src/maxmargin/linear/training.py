"""From a linear problem to a trained linear model with its certificate.

Which solver, several problems side by side, the audit.
"""

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from maxmargin.certificate import Certificate
from maxmargin.core.threads import one_blas_thread
from maxmargin.linear import crammer_singer, dual_coordinate, lasso, semismooth
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.classes import ClassesProblem, CrammerSinger
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import Bias, LinearProblem, Penalty
from maxmargin.linear.objectives import ROUNDING, LinearSolution
from maxmargin.linear.verification import certify, certify_classes, evaluate
from maxmargin.linear.workspace import LinearWorkspace, is_small
from maxmargin.status import Status


class Settings(NamedTuple):
    """When a solver is replaced, and what is polished (decision 15)."""

    polish_classes_up_to: int = 2**13
    """Values of X times classes up to which Crammer and Singer's problem is solved to rounding:
    it takes many epochs where Newton's method takes one step."""
    epochs: int = 40
    features_per_epoch: int = 5
    """Coordinate descent yields to Newton's method after ``epochs``, and one more for every
    ``features_per_epoch`` features: by then it has cost about as much."""


SETTINGS = Settings()


class Solver(Enum):
    """Which solver: the value is its name for the user."""

    NEWTON = "newton"
    COORDINATE = "coordinate"
    LASSO = "lasso"
    CRAMMER_SINGER = "crammer_singer"


Solve = Callable[[LinearProblem, LinearWorkspace, float, LinearSolution | None], LinearSolution]


SOLVERS: dict[Solver, Solve] = {
    Solver.NEWTON: semismooth.solve,
    Solver.COORDINATE: dual_coordinate.solve,
    Solver.LASSO: lasso.solve,
}


def choose(design: Design) -> Solver:
    """The solver for data of this kind.

    Newton's method where a Hessian is small or the data come in chunks.
    """
    if design.shape[1] <= semismooth.SETTINGS.factor_up_to or not isinstance(design, ArrayDesign):
        return Solver.NEWTON
    return Solver.COORDINATE


class TrainedLinear(NamedTuple):
    """A linear model and what is known about it."""

    solution: LinearSolution
    certificate: Certificate
    solver: Solver
    """Which solver found it."""


class Choice(NamedTuple):
    """Which solver begins, and whether another may take over where it makes no progress."""

    solver: Solver
    binding: bool = False


class Task(NamedTuple):
    """One problem to be solved, how, and where to begin."""

    problem: LinearProblem
    tol: float
    choice: Choice
    start: LinearSolution | None = None

    def train(self, workspace: LinearWorkspace) -> TrainedLinear:
        """Solve and certify it."""
        with one_blas_thread():
            return _train(self, workspace)

    def unsolved(self, workspace: LinearWorkspace, status: Status) -> None:
        """Every problem is begun.

        A first step takes little time, and without one there is no model.
        """
        return


def _train(task: Task, workspace: LinearWorkspace) -> TrainedLinear:
    """Solve one problem; where its solver makes no progress, another takes over."""
    design, monitor = workspace.design, workspace.monitor
    solver, other = task.choice.solver, _other(task.choice, design)
    first = monitor
    if (
        other is Solver.NEWTON
    ):  # which is the quicker one here, as a rule: coordinate descent may cost as much, and no more
        first = monitor.part(1.0)
        first.max_iter = min(
            monitor.max_iter, SETTINGS.epochs + design.shape[1] // SETTINGS.features_per_epoch
        )
    found = _solved(task, workspace.share(first, 1, 1), solver)
    status = found.certificate.status
    slow = status is Status.MAX_ITER and first.max_iter < monitor.max_iter
    if other is None or not (slow or status is Status.STALLED):
        return found
    after = _solved(task, workspace, other)
    steps = found.solution.n_iter + after.solution.n_iter
    best = after if after.certificate.gap <= found.certificate.gap or slow else found
    return best._replace(
        solution=best.solution._replace(n_iter=steps),
        certificate=replace(best.certificate, n_iter=steps),
    )


def _other(choice: Choice, design: Design) -> Solver | None:
    """The solver that may take over.

    Dual where the first is primal, and Newton's method where its Hessian is small.
    """
    if choice.binding or choice.solver is Solver.LASSO or not isinstance(design, ArrayDesign):
        return None
    if choice.solver is Solver.NEWTON:
        return Solver.COORDINATE
    return Solver.NEWTON if choose(design) is Solver.NEWTON else None


def _solved(task: Task, workspace: LinearWorkspace, solver: Solver) -> TrainedLinear:
    """What one solver makes of a problem."""
    design = workspace.design
    found = SOLVERS[solver](task.problem, workspace, task.tol, task.start)
    if found.ended is None and is_small(design):
        found = _polished(task.problem, workspace, found)
    return TrainedLinear(*certify(task.problem, found, design, task.tol), solver)


def _polished(
    problem: LinearProblem, workspace: LinearWorkspace, found: LinearSolution
) -> LinearSolution:
    """A solution to rounding, with the middle of the biases where there are several."""
    last = (lasso if problem.penalty is Penalty.L1 else semismooth).solve(
        problem, workspace, 0.0, found
    )
    if evaluate(problem, last).gap <= evaluate(problem, found).gap:
        found = last._replace(ended=None, n_iter=found.n_iter + last.n_iter)
    if problem.bias is Bias.NONE or problem.tube.squared:
        return found
    bias = best_bias(problem, found.f - found.bias, found.bias)
    return found._replace(bias=bias, f=found.f + (bias - found.bias))


class TrainedClasses(NamedTuple):
    """The machine of all classes and what is known about it."""

    solution: CrammerSinger
    certificate: Certificate


class ClassesTask(NamedTuple):
    """All classes in one problem."""

    problem: ClassesProblem
    tol: float

    def train(self, workspace: LinearWorkspace) -> TrainedClasses:
        """Solve and certify it; a small problem to rounding."""
        design = workspace.design
        assert isinstance(design, ArrayDesign)
        small = design.entries * self.problem.n_classes <= SETTINGS.polish_classes_up_to
        with one_blas_thread():
            found = crammer_singer.solve(self.problem, workspace, ROUNDING if small else self.tol)
        return TrainedClasses(found, certify_classes(self.problem, found, design, self.tol))

    def unsolved(self, workspace: LinearWorkspace, status: Status) -> None:
        """Every problem is begun."""
        return
