"""Latent variables: choose the parts, train, choose again (Yu and Joachims 2009).

``fan`` names machines with latent variables. Here a sample is a bag of parts, and which part makes
a bag positive is not known (multiple instances, Andrews et al. 2003):

    f(B) = max over x in B of w'x + b,    Y_B = +1 if some part is positive, -1 if none is

    minimise over w, b   1/2 |w|^2 + C sum_B max(0, 1 - Y_B f(B))

The loss of a negative bag is convex: a maximum of planes. That of a positive bag is not, because
of -f(B). The concave-convex procedure replaces f(B) by w'h + b for a fixed part h of the bag, its
witness. This lies below f(B), so the loss can only be overestimated, and it is exact at the old w
if h is the best part there:

    1. Choose h_B = argmax over x in B of w'x for every positive bag.
    2. Solve the convex problem
           minimise over w, b, xi >= 0   1/2 |w|^2 + C sum_B xi_B
           with   w'h_B + b >= 1 - xi_B      for positive bags
                  w'x + b <= -1 + xi_B       for every part x of a negative bag
    3. Repeat until no witness changes.

The objective falls in both steps. The end is a stationary point; another start may find a lower
one. The first w here is the difference between the means of the positive and the negative bags.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, signs
from maxmargin.textbook.models import LinearModel
from maxmargin.textbook.quadratic_program import QuadraticProgram, solve
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


def latent_svm(
    bags: Sequence[ArrayLike], y: ArrayLike, C: float = 1.0, max_iter: int = 100, trace: int = 1
) -> tuple[LinearModel, Trace]:
    """Bags of parts by the concave-convex procedure.

    Parameters
    ----------
    bags : a matrix for each sample, with a row for each of its parts.
    y : the labels of the bags, -1 and +1.
    C : the price of a unit of slack.
    max_iter : stop after this many rounds in any case.
    trace : keep the state after every `trace` rounds, 0 for never.

    Returns
    -------
    model, trace
        The model is for parts; a bag has the largest of their values. ``chosen`` of a step are the
        witnesses: the row of each positive bag that it was trained with.

    See Also
    --------
    maxmargin.MISVC : for real work.
    maxmargin.LatentSVM : classes made of parts.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> bags = [[[0.0], [3.0]], [[4.0], [1.0]], [[0.0], [1.0]], [[1.0]]]
    >>> model, trace = textbook.latent_svm(bags, [1, 1, -1, -1])
    >>> trace.steps[-1].chosen  # the second part of the first bag, the first of the second
    (1, 0)
    >>> model.w.round(3), round(model.b, 3)
    (array([1.]), -2.0)
    """
    parts, t = [matrix(bag) for bag in bags], signs(y)
    check_C(C)
    if len(parts) != len(t) or any(len(bag) == 0 for bag in parts):
        raise ValueError(
            f"Give as many bags as labels, each with a part; there are {len(parts)} bags of "
            f"{sorted({len(bag) for bag in parts})} parts and {len(t)} labels."
        )
    positive = [bag for bag, label in zip(parts, t, strict=True) if label > 0]
    negative = [bag for bag, label in zip(parts, t, strict=True) if label < 0]
    w = np.mean(np.vstack(positive), axis=0) - np.mean(np.vstack(negative), axis=0)
    chosen, kept = witnesses(positive, w), Trace("latent alternation", trace)
    for iteration in range(1, max_iter + 1):
        model = trained(positive, negative, chosen, C)
        following = witnesses(positive, model.w)
        done = following == chosen or iteration == max_iter
        if done or kept.due(iteration):
            objective = latent_objective(model, parts, t, C)
            kept.keep(Step(iteration, chosen, model.w, model.b, objective))
        if done:
            break
        chosen = following
    return model, kept


def witnesses(positive: list[Array], w: Array) -> tuple[int, ...]:
    """Step 1: the best part of each positive bag."""
    return tuple(int(np.argmax(bag @ w)) for bag in positive)


def trained(
    positive: list[Array], negative: list[Array], chosen: tuple[int, ...], C: float
) -> LinearModel:
    """Step 2, as a quadratic program in (w, b, xi)."""
    rows = np.vstack([*(bag[h] for bag, h in zip(positive, chosen, strict=True)), *negative])
    m, d = len(positive) + len(negative), rows.shape[1]
    bag = np.repeat(np.arange(m), [1] * len(positive) + [len(bag) for bag in negative])
    sign = np.where(bag < len(positive), 1.0, -1.0)
    # sign (w'x + b) + xi_bag >= 1
    margins = np.column_stack([sign[:, None] * rows, sign, np.eye(m)[bag]])
    G = -np.vstack([margins, np.eye(d + 1 + m)[d + 1 :]])
    h = np.repeat([-1.0, 0.0], [len(rows), m])
    P, q = np.diag(np.repeat([1.0, 0.0], [d, 1 + m])), np.repeat([0.0, C], [d + 1, m])
    nothing = np.zeros((0, d + 1 + m)), np.zeros(0)
    x = solve(QuadraticProgram(P, q, G, h, *nothing))
    return LinearModel(x[:d], float(x[d]))


def latent_objective(model: LinearModel, bags: list[Array], t: Array, C: float) -> float:
    """1/2 |w|^2 + C sum_B max(0, 1 - Y_B f(B))."""
    f = np.array([model.decision_function(bag).max() for bag in bags])
    return float(0.5 * model.w @ model.w + C * np.maximum(0.0, 1.0 - t * f).sum())
