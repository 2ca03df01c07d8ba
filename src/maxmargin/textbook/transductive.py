"""The transductive SVM: labels for the unlabelled points, switched in pairs (Joachims 1999).

``fan`` names semi-supervised machines. Besides the points x_i with labels t_i there are points u_j
without. Their labels s_j are part of the problem, and p of them are +1:

    minimise over w, b and s   1/2 |w|^2 + C sum_i xi_i + C* sum_j xi*_j
    with                       xi_i  = max(0, 1 - t_i (w'x_i + b))
                               xi*_j = max(0, 1 - s_j (w'u_j + b)),   s_j = -1 or +1

For fixed labels this is a soft margin with a price for each point. In the labels it is not convex,
and the algorithm finds a stationary point only:

    1. Train on the labelled points. The p unlabelled points with the largest w'u_j + b become +1.
    2. Begin with a small C*: the labelled points decide. Train on all points.
    3. While a pair with s_m = +1, s_k = -1 has slacks above 0 and xi*_m + xi*_k > 2: switch both
       labels and train again.
    4. Double C* until it has its full value; return to 3 each time.

A switch lowers the objective. Where a slack is above 0, the other label's is max(0, 2 - slack), so
the pair pays 4 - xi*_m - xi*_k or less, which is below xi*_m + xi*_k. Both slacks must be above 0:
a point with none could pay any amount under the other label. A switch keeps p, and there are
finitely many labellings, so step 3 ends. Without p, all labels could become equal. (The paper has a
C* of its own for each class, in the ratio of p to the rest, while C* is small.)
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, points
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.quadratic_program import solve, tidy, units
from maxmargin.textbook.soft_margin import (
    bias_of_free,
    check_C,
    soft_margin_program,
    soft_margin_qp,
)
from maxmargin.textbook.trace import Step, Trace

DOUBLINGS = 10
"""C* begins at its full value divided by 2 to this power."""
CLOSE = 1e-6
"""A pair must be above 2 by this much: the quadratic program is solved to 1e-10."""


def transductive(
    X: ArrayLike,
    y: ArrayLike,
    U: ArrayLike,
    C: float = 1.0,
    C_star: float = 1.0,
    positive: int | None = None,
    kernel: Function = linear,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """Label switching.

    Parameters
    ----------
    X, y : the labelled points and their labels -1 and +1.
    U : the unlabelled points.
    C, C_star : the price of a unit of slack, of labelled and of unlabelled points.
    positive : p, how many unlabelled points get the label +1; None for the share of y.
    kernel : a function of ``textbook.kernels``.
    trace : 0 to keep no trace.

    Returns
    -------
    model, trace
        The variables of a step are the labels of U, its primal is the objective at the C* of its
        time. ``chosen`` is the pair that was switched; it is empty when C* was raised.

    See Also
    --------
    maxmargin.TransductiveSVC : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y, U = [[0.0], [5.0]], [-1, 1], [[0.5], [1.0], [2.0], [4.0], [4.5], [5.5]]
    >>> model, trace = textbook.transductive(X, y, U)
    >>> trace.steps[-1].variables
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    X, t = points(X, y)
    U = matrix(U)
    check_C(C)
    check_C(C_star)
    p = round(len(U) * float(np.mean(t > 0))) if positive is None else positive
    if not 0 < p < len(U):
        raise ValueError(
            f"positive={p}: from 1 to {len(U) - 1} of the {len(U)} unlabelled points must get +1."
        )
    both = np.vstack([X, U])
    K = gram(kernel, both)
    models: list[KernelModel] = []
    kept = Trace("label switching", trace, X, t, lambda step: models[step.iteration])

    def train(s: Array, price: float) -> tuple[KernelModel, Array, float]:
        """Model, slacks of U and objective: a soft margin on all points, each with its price."""
        r, prices = np.concatenate([t, s]), np.repeat([C, price], [len(t), len(U)])
        a = tidy(solve(soft_margin_program(K, r, prices), units(K, C)), prices)
        b = bias_of_free(K, r, a, prices)
        slack = np.maximum(0.0, 1.0 - r * (K @ (a * r) + b))
        objective = 0.5 * float((a * r) @ K @ (a * r)) + float(prices @ slack)
        return KernelModel(both, a * r, b, kernel), slack[len(t) :], objective

    def keep(s: Array, chosen: tuple[int, ...], model: KernelModel, objective: float) -> None:
        models.append(model)
        kept.keep(Step(len(models) - 1, chosen, s.copy(), model.b, objective))

    labelled_only, first = soft_margin_qp(X, t, C, kernel)
    s = -np.ones(len(U))
    s[np.argsort(-labelled_only.decision_function(U), kind="stable")[:p]] = 1.0
    keep(s, (), labelled_only, first.steps[0].primal)
    for price in C_star * 2.0 ** np.arange(-DOUBLINGS, 1):
        model = _switch(s, float(price), train, keep)
    return model, kept


def _switch(
    s: Array,
    price: float,
    train: Callable[[Array, float], tuple[KernelModel, Array, float]],
    keep: Callable[[Array, tuple[int, ...], KernelModel, float], None],
) -> KernelModel:
    """Step 3 at one price: switch the worst pair until none is left; s changes in place."""
    model, slack, objective = train(s, price)
    keep(s, (), model, objective)
    while True:
        m = int(np.argmax(np.where(s > 0, slack, -1.0)))
        k = int(np.argmax(np.where(s < 0, slack, -1.0)))
        if min(slack[m], slack[k]) <= 0.0 or slack[m] + slack[k] <= 2.0 + CLOSE:
            return model
        s[m], s[k] = -1.0, 1.0
        model, slack, objective = train(s, price)
        keep(s, (m, k), model, objective)
