"""Least squares support vector machines (Suykens and Vandewalle, 1999): one linear system.

    minimise  1/2 |w|^2 + sum_i C_i r_i^2        r_i = z_i - f(x_i),  f(x) = w.phi(x) + bias

with C_i = C weight_i: the squared losses of the other machines, C xi^2. A label is a target +1 or
-1. Every sample is a support vector, b_i = 2 C_i r_i, and the optimality conditions are equations:

    [ K + diag(1 / (2 C))  1 ] [ b    ]   [ z ]
    [ 1'                   0 ] [ bias ] = [ 0 ]

One factor serves all targets: those of every class (least_squares_systems.py).

**Leave-one-out.** With P the matrix that maps z to b, the machine without sample i has

    z_i - f(x_i) = b_i / P_ii

exactly (Cawley and Talbot, 2004), where P_ii = 2 C_i (1 - h_i) and h_i is the leverage. Sample i is
left out with its whole weight, and so are its copies, whose leverages add up: a sample of weight 2
is two samples here too.

**Refinement.** b += P (z - K b - bias - b / (2 C)) until rounding ends it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel.definiteness import convexity_of
from maxmargin.kernel.evaluation import kernel_diagonal
from maxmargin.kernel.formulations import Decision
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.least_squares_systems import System, refuse_size, system_of
from maxmargin.kernel.problems import DualProblem
from maxmargin.kernel.solution import Level, Solution
from maxmargin.kernel.training import Constant, Task, Trained, bound_suffices, judged
from maxmargin.kernel.workspace import KernelWorkspace


class Settings(NamedTuple):
    """What is rounding."""

    refinements: int = 4
    """Steps of refinement, at most."""
    enough: float = 1e-14
    """Residual of the equations, relative to their greatest term, that is rounding."""
    alone: float = 1e-14
    """1 less a leverage of at most this: no other sample says anything about this one."""


SETTINGS = Settings()


class Solved(NamedTuple):
    """The solution for several targets, a column each."""

    B: Floats
    bias: Floats
    part: Floats
    """K B."""
    held_out: Floats
    """f(x_i) of the machine without sample i; NaN where no other sample is left."""
    n_iter: int
    """Solves with the factor."""


def solve(system: System, Z: Floats, key: Integers | None = None) -> Solved:
    """Solve the equations for targets Z, with iterative refinement; copies have the same key."""
    C, p = system.C[:, None], (system.C / system.C.sum())[:, None]
    B, n_iter, before = system.apply(Z), 1, np.inf
    while True:
        part = system.product(B)
        bias = (p * (Z - part)).sum(axis=0)
        R = Z - part - bias - B / (2 * C)
        size = max(float(np.abs(part).max(initial=0.0)), float(np.abs(Z).max(initial=0.0)))
        worst = float(np.abs(R).max(initial=0.0))
        small = worst <= SETTINGS.enough * size or not 2 * worst < before
        if small or n_iter > SETTINGS.refinements:
            break
        B, before, n_iter = B + system.apply(R), worst, n_iter + 1
    rest = _without_copies(system.rest, Z, key)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        held_out = np.where(rest > SETTINGS.alone, Z - B / (2 * C) / rest, np.nan)
    return Solved(B, bias, part, held_out, n_iter)


def _without_copies(rest: Floats, Z: Floats, key: Integers | None) -> Floats:
    """1 - h_i, less the leverages of the copies: samples with the same key and targets."""
    if key is None or len(np.unique(key)) == len(key):
        return rest
    columns = [np.unique(z, return_inverse=True)[1] for z in (key, *Z.T)]
    _, copy = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    total, count = np.bincount(copy, rest), np.bincount(copy)
    found: Floats = np.where(count > 1, total - (count - 1), total)[copy]
    return found


def train(
    tasks: Sequence[Task | Constant], workspace: KernelWorkspace, key: Integers
) -> list[Trained]:
    """Train every task; those that are not constant share the factor and the weights.

    Samples that are copies have the same key.
    """
    solving = [task for task in tasks if isinstance(task, Task)]
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        found = iter(_trained(solving, workspace, key) if solving else [])
    return [task.train() if isinstance(task, Constant) else next(found) for task in tasks]


def _trained(tasks: Sequence[Task], workspace: KernelWorkspace, key: Integers) -> list[Trained]:
    if workspace.samples.kernel.kind is Kind.CALLABLE:
        refuse_size(workspace.source.n_rows, 2)
        workspace = workspace.of_values()  # a function is called once for each pair
    problems = [task.formulation.build(workspace.source) for task in tasks]
    system = system_of(workspace, 0.5 / problems[0].ridge)
    solved = solve(system, -np.column_stack([problem.linear for problem in problems]), key)
    decisions = [
        Decision(solved.B[:, k].copy(), float(bias), (float(bias), float(bias)))
        for k, bias in enumerate(solved.bias)
    ]
    source, tol = workspace.source, tasks[0].tol
    if not all(bound_suffices(source, decision, tol) for decision in decisions):
        better = source.by_differences()
        if better is not None:  # distances with more digits
            return _trained(tasks, workspace.on(better), key)
    return [
        _judged(task, problem, workspace, system, solved, decision, k)
        for k, (task, problem, decision) in enumerate(zip(tasks, problems, decisions, strict=True))
    ]


def _judged(
    task: Task,
    problem: DualProblem,
    workspace: KernelWorkspace,
    system: System,
    solved: Solved,
    decision: Decision,
    k: int,
) -> Trained:
    """One of the machines with its certificate, and its values without each sample."""
    samples = workspace.samples
    rounding = max(samples.rounding, workspace.source.precision)
    indefinite = not system.definite
    convexity = convexity_of(samples, decision.coef, rounding, indefinite)
    greatest = float(kernel_diagonal(samples.kernel, samples.own).max(initial=0.0))
    levels = (Level(decision.intercept, *decision.interval),)
    solution = Solution(
        None, decision.coef, solved.part[:, k], levels, solved.n_iter, indefinite, greatest
    )
    trained = judged(task, problem, workspace, solution, decision, convexity)
    workspace.monitor.say(str(trained.certificate), final=True)
    return trained._replace(held_out=solved.held_out[:, k].copy())
