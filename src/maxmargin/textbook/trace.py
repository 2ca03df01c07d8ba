"""The trace of an algorithm: its state at each step, to plot, step through and check.

For the soft margin with multipliers a, labels t and y(x_i) = sum_j a_j t_j k(x_j, x_i) + b:

    |w|^2      sum_ij a_i a_j t_i t_j k(x_i, x_j)
    primal     1/2 |w|^2 + C sum_i max(0, 1 - t_i y(x_i))
    dual       sum_i a_i - 1/2 |w|^2
    gap        primal - dual, zero exactly at the optimum
    violation  the largest breach of   a_i < C => t_i y(x_i) >= 1   and   a_i > 0 => t_i y(x_i) <= 1
               (``straka``, "Sequential Minimal Optimization Algorithm";
               ``boyd_graber`` (6) to (8))

An algorithm keeps a step every ``trace`` iterations; ``trace=0`` keeps none and costs nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from maxmargin.textbook.checks import Array
from maxmargin.textbook.kernels import Function
from maxmargin.textbook.models import KernelModel, Model
from maxmargin.textbook.pair import Pair


class Step(NamedTuple):
    """The state after an iteration.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.smo(X, y)
    >>> step = trace.steps[-1]
    >>> step.variables.round(4)
    array([0. , 0.5, 0.5, 0. ])
    >>> bool(step.primal - step.dual < 1e-3)
    True
    """

    iteration: int
    chosen: tuple[int, ...]
    """Which points (or coordinates) the iteration moved."""
    variables: Array
    """The multipliers a of a dual method, the weights w of a primal one."""
    b: float = 0.0
    primal: float = np.nan
    dual: float = np.nan
    """NaN for a method without a dual."""
    violation: float = np.nan
    pair: Pair | None = None
    """What the slide computes for the pair that moved; None for a method without pairs."""

    @property
    def gap(self) -> float:
        """primal - dual."""
        return self.primal - self.dual

    def __str__(self) -> str:
        numbers = {name: getattr(self, name) for name in ("primal", "dual", "gap", "violation")}
        known = (f"{name} {value:.6g}" for name, value in numbers.items() if not np.isnan(value))
        moved = f", moved {', '.join(map(str, self.chosen))}" if self.chosen else ""
        head = f"step {self.iteration}{moved}: {', '.join((*known, f'b {self.b:.6g}'))}"
        return head if self.pair is None else f"{head}\n{self.pair}"


@dataclass
class Trace:
    """The steps that were kept, in order.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.smo(X, y)
    >>> trace.column("dual").round(4)
    array([0. , 0.5])
    """

    name: str = ""
    every: int = 1
    """Iterations between two kept steps; 0 keeps none."""
    X: Array | None = None
    y: Array | None = None
    """The data, for pictures."""
    model_at: Callable[[Step], Model] | None = None
    """The model of a step."""
    steps: list[Step] = field(default_factory=list)
    kernel_share: float = 1.0
    """Share of the kernel matrix's rows that the algorithm computed."""

    def __post_init__(self) -> None:
        """Raise an error for a negative number of iterations."""
        if self.every < 0:
            raise ValueError(
                f"trace={self.every}: give the number of iterations between two kept steps, or 0 "
                "to keep none."
            )

    def due(self, iteration: int) -> bool:
        """Whether to keep this iteration."""
        return self.every > 0 and iteration % self.every == 0

    def keep(self, step: Step) -> None:
        """Keep a step, once."""
        if self.every and not (self.steps and self.steps[-1].iteration == step.iteration):
            self.steps.append(step)

    def column(self, name: str) -> Array:
        """One quantity along the steps.

        It is "iteration", "primal", "dual", "gap", "violation", "b" or "variables" (a row for each
        step).
        """
        return np.array([getattr(step, name) for step in self.steps])

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        if not self.steps:
            return f"Trace({self.name}: no steps kept)"
        last = self.steps[-1]
        rest = "" if np.isnan(last.dual) else f", dual {last.dual:.6g}, gap {last.gap:.2g}"
        return (
            f"Trace({self.name}: {len(self.steps)} steps to iteration {last.iteration}, primal "
            f"{last.primal:.6g}{rest})"
        )


def dual_trace(name: str, every: int, X: Array, t: Array, kernel: Function) -> Trace:
    """The trace of a method whose variables are the multipliers a of a kernel model."""
    return Trace(name, every, X, t, lambda step: KernelModel(X, step.variables * t, step.b, kernel))


def soft_margin_step(
    iteration: int, pair: Pair | None, values: Array, t: Array, a: Array, b: float, C: float
) -> Step:
    """The state of a dual method for the soft margin, as above; values are y(x_i)."""
    squared_norm = float((a * t) @ (values - b))
    margins = t * values
    hinge = float(np.maximum(0.0, 1.0 - margins).sum())
    primal = 0.5 * squared_norm + (C * hinge if np.isfinite(C) else 0.0)
    dual, violation = float(a.sum()) - 0.5 * squared_norm, kkt_violation(a, margins, C)
    chosen = () if pair is None else (pair.i, pair.j)
    return Step(iteration, chosen, a.copy(), b, primal, dual, violation, pair)


def kkt_violation(a: Array, margins: Array, C: float) -> float:
    """The largest breach of a_i < C => margin >= 1 and a_i > 0 => margin <= 1."""
    grow = np.where(a < C, 1.0 - margins, 0.0)
    shrink = np.where(a > 0, margins - 1.0, 0.0)
    return float(max(grow.max(), shrink.max(), 0.0))
