"""From a linear problem to a trained linear model with its certificate: the choice of the solver,
what takes over if it makes no progress, and the polishing of tiny problems.
"""

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from maxmargin.certificate import Certificate
from maxmargin.core.threads import one_blas_thread
from maxmargin.linear import crammer_singer, dual_coordinate, lasso, newton_system, semismooth
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.classes import ClassesProblem, CrammerSinger
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import Bias, LinearProblem, Penalty
from maxmargin.linear.objectives import EPS, ROUNDING, LinearSolution
from maxmargin.linear.verification import certify, certify_classes, evaluate
from maxmargin.linear.workspace import LinearWorkspace, is_tiny
from maxmargin.status import Status


class Settings(NamedTuple):
    """When a solver is replaced, and what is polished (decision 15)."""

    polish_classes_up_to: int = 2**13
    """Values of X times classes up to which Crammer and Singer's problem is solved to rounding:
    it takes many epochs where Newton's method takes one step."""
    last_digits: int = 4
    """Units in the last place of the objective within which the gap of a squared loss is left as
    it is (decision 37)."""
    newton_samples: float = 0.5
    """Samples per feature from which on Newton's method, by conjugate gradients, beats coordinate
    descent on squared losses (decision 37)."""
    epochs: int = 40
    """Epochs after which Newton's method takes over from coordinate descent, if its Hessian is
    small: by then coordinate descent has cost about as much as Newton's method would."""
    features_per_epoch: int = 5
    """Features that grant one more epoch."""


SETTINGS = Settings()


class Solver(Enum):
    """The solvers; the value is the name for the user."""

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


def choose(design: Design, squared: bool = False) -> Solver:
    """The solver for these data.

    It is Newton's method if its Hessian is small, if the data come in chunks, or for squared losses
    if there are enough samples for each feature: conjugate gradients take few products then.
    """
    n, d = design.shape
    if d <= newton_system.SETTINGS.factor_up_to or not isinstance(design, ArrayDesign):
        return Solver.NEWTON
    many = n >= SETTINGS.newton_samples * d
    return Solver.NEWTON if squared and many else Solver.COORDINATE


class TrainedLinear(NamedTuple):
    """A linear model, its certificate and its solver."""

    solution: LinearSolution
    certificate: Certificate
    solver: Solver
    """Which solver found it."""


class Choice(NamedTuple):
    """Which solver begins, and whether it is the only one allowed."""

    solver: Solver
    binding: bool = False


class Task(NamedTuple):
    """One problem to solve: tolerance, solver and start."""

    problem: LinearProblem
    tol: float
    choice: Choice
    start: LinearSolution | None = None

    def train(self, workspace: LinearWorkspace) -> TrainedLinear:
        """Solve and certify it."""
        with one_blas_thread():
            return _train(self, workspace)

    def unsolved(self, workspace: LinearWorkspace, status: Status) -> None:
        """Every problem is started: a first step takes little time and gives a model."""
        return


def _train(task: Task, workspace: LinearWorkspace) -> TrainedLinear:
    """Solve one problem; if its solver makes no progress, another one takes over."""
    design, monitor = workspace.design, workspace.monitor
    solver = task.choice.solver
    other = _other(task.choice, design, task.problem.tube.squared)
    first = monitor
    if other is Solver.NEWTON:
        # Newton's method is usually faster here: coordinate descent may cost as much, not more.
        epochs = SETTINGS.epochs + design.shape[1] // SETTINGS.features_per_epoch
        first = monitor.part(1.0)
        first.max_iter = min(monitor.max_iter, epochs)
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


def _other(choice: Choice, design: Design, squared: bool = False) -> Solver | None:
    """The solver that may take over.

    It is coordinate descent after Newton's method, and Newton's method after coordinate descent if
    its Hessian is small.
    """
    if choice.binding or choice.solver is Solver.LASSO or not isinstance(design, ArrayDesign):
        return None
    if choice.solver is Solver.NEWTON:
        return Solver.COORDINATE
    return Solver.NEWTON if choose(design, squared) is Solver.NEWTON else None


def _solved(task: Task, workspace: LinearWorkspace, solver: Solver) -> TrainedLinear:
    """Solve with one solver, polish if the problem is tiny, and certify."""
    design = workspace.design
    found = SOLVERS[solver](task.problem, workspace, task.tol, task.start)
    if found.ended is None and is_tiny(task.problem, design):
        found = _polished(task.problem, workspace, found)
    return TrainedLinear(*certify(task.problem, found, design, task.tol), solver)


def _polished(
    problem: LinearProblem, workspace: LinearWorkspace, found: LinearSolution
) -> LinearSolution:
    """The solution to rounding, with the middle of the best biases if there are several."""
    known = evaluate(problem, found)
    if problem.tube.squared and abs(known.relative_gap) <= SETTINGS.last_digits * EPS:
        return found
    last = (lasso if problem.penalty is Penalty.L1 else semismooth).solve(
        problem, workspace, 0.0, found
    )
    if evaluate(problem, last).gap <= known.gap:
        found = last._replace(ended=None, n_iter=found.n_iter + last.n_iter)
    if problem.bias is Bias.NONE or problem.tube.squared:
        return found
    bias = best_bias(problem, found.f - found.bias, found.bias)
    return found._replace(bias=bias, f=found.f + (bias - found.bias))


class TrainedClasses(NamedTuple):
    """The model of all classes and its certificate."""

    solution: CrammerSinger
    certificate: Certificate


class ClassesTask(NamedTuple):
    """All classes in one problem."""

    problem: ClassesProblem
    tol: float

    def train(self, workspace: LinearWorkspace) -> TrainedClasses:
        """Solve and certify it; solve a small problem to rounding."""
        design = workspace.design
        assert isinstance(design, ArrayDesign)
        small = design.entries * self.problem.n_classes <= SETTINGS.polish_classes_up_to
        with one_blas_thread():
            found = crammer_singer.solve(self.problem, workspace, ROUNDING if small else self.tol)
        return TrainedClasses(found, certify_classes(self.problem, found, design, self.tol))

    def unsolved(self, workspace: LinearWorkspace, status: Status) -> None:
        """Every problem is started."""
        return
