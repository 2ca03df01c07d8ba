"""An independent check of linear models, in float64: both objectives of losses.py, their gap and
the optimality conditions.

It shares no code with the solvers and their core: products with the data are those of NumPy and
SciPy, and the losses are written out here again. For feasible duals t, P(w, b) - D(t) bounds how
far the model is from the optimum.

The gap is a sum over the samples (and |w - X't|^2 / 2): a sample below its tube by s, or above
its lower end by e, adds

    gap_i = (up_i - t_i) s + t_i e        and likewise at the upper end,

the products of complementary slackness. The violation of a sample is gap_i / up_i: s and e in units
of f, each weighted by how far the dual is from the bound where it costs nothing. A dual at a bound
up to rounding is there, and a model with gap 0 has violation 0. Where the loss is squared, the
violation is the distance of f from the value that belongs to the dual, |s - t / (2 up)|.
"""

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.certificate import Certificate, certificate_of, certificate_of_worst
from maxmargin.core.arrays import Floats, Integers

BLOCK_ENTRIES = 2**22
"""Values of the data in memory at a time."""
BLOCK_SAMPLES = 2**17
"""Samples of a block."""

Tube = tuple[Floats, Floats, Floats, Floats, bool]
"""low, high, up, down, squared: the losses of linear models, as in losses.py."""


def _tube(
    f: Floats, tube: Tube, t: Floats, origin: float = 0.0
) -> tuple[float, float, Floats, Floats]:
    """Sums of the losses and of their negative conjugates, and the largest violations.

    Violations are those of conditions and of bounds, in each block of samples. Conjugates are those
    of tubes measured from ``origin``: far from 0 their sum would be rounding.
    """
    low, high, up, down, squared = tube
    blocks = [slice(begin, begin + BLOCK_SAMPLES) for begin in range(0, len(f), BLOCK_SAMPLES)]
    parts = [
        _tube_block(f[k], (low[k], high[k], up[k], down[k], squared), t[k], origin) for k in blocks
    ]
    losses, conjugates, kkt, box = zip(*parts, strict=True)
    return float(sum(losses)), float(sum(conjugates)), np.array(kkt), np.array(box)


def _tube_block(
    f: Floats, tube: Tube, t: Floats, origin: float
) -> tuple[float, float, float, float]:
    low, high, up, down, squared = tube
    below, above = np.where(up > 0, low - f, -np.inf), np.where(down > 0, f - high, -np.inf)
    slack_below, slack_above = np.maximum(below, 0.0), np.maximum(above, 0.0)
    power = 2 if squared else 1
    losses = float(np.sum(up * slack_below**power + down * slack_above**power))
    positive, negative = np.maximum(t, 0.0), np.maximum(-t, 0.0)
    conjugates = float(np.sum((low[t > 0] - origin) * t[t > 0]))
    conjugates += float(np.sum((high[t < 0] - origin) * t[t < 0]))
    if squared:
        squares = float(np.sum(positive[up > 0] ** 2 / (4 * up[up > 0])))
        conjugates -= squares + float(np.sum(negative[down > 0] ** 2 / (4 * down[down > 0])))
        cost = np.where(up > 0, up, 1.0), np.where(down > 0, down, 1.0)
        kkt = np.maximum(
            np.where(up > 0, np.abs(slack_below - positive / (2 * cost[0])), 0.0),
            np.where(down > 0, np.abs(slack_above - negative / (2 * cost[1])), 0.0),
        )
        outside = np.maximum(np.where(up > 0, 0.0, positive), np.where(down > 0, 0.0, negative))
        return losses, conjugates, float(kkt.max()), float(outside.max())
    kkt = _weighted(below, positive, up) + _weighted(above, negative, down)
    outside = np.maximum(positive - up, negative - down)
    return losses, conjugates, float(kkt.max()), float(outside.max())


def _weighted(short: Floats, size: Floats, bound: Floats) -> Floats:
    """The violation at one end of the tube, from the distance to it and the size of the dual."""
    share = np.clip(np.divide(size, bound, out=np.zeros_like(size), where=bound > 0), 0.0, 1.0)
    short = np.where(bound > 0, short, 0.0)
    found: Floats = (1 - share) * np.maximum(short, 0.0) + share * np.maximum(-short, 0.0)
    return found


def linear(
    f: Floats,
    tube: Tube,
    w: Floats,
    bias: float,
    t: Floats,
    Xt: Floats,
    m: float,
    total: float,
    free: bool,
    power: int = 2,
) -> Certificate:
    """A linear model w, bias with decision values f, and duals t with X't.

    losses.py states the objectives. ``m`` is the weight of bias^2 / 2, ``free`` tells whether the
    sum of the duals must be ``total``. With ``power`` 1 the penalty is the sum of |w_k| (and
    sqrt(m) |bias|), and the duals must satisfy |X't| <= 1 (and |sum t| <= sqrt(m)): what is too
    long is shortened.
    """
    if power == 1:
        of_bias = abs(float(t.sum())) / np.sqrt(m) if m > 0 else 0.0
        t = t / max(1.0, float(np.abs(Xt).max(initial=0.0)), of_bias)
    # With a fixed sum of the duals D does not depend on the origin of the targets.
    origin = bias if free else 0.0
    losses, conjugates, kkt, box = _tube(f, tube, t, origin)
    conjugates += origin * total
    excess = float(t.sum()) - total
    if power == 1:
        primal = float(np.abs(w).sum()) + float(np.sqrt(m)) * abs(bias) + total * bias + losses
        dual = conjugates
    else:
        primal = 0.5 * float(w @ w) + 0.5 * m * bias * bias + total * bias + losses
        dual = conjugates - 0.5 * float(Xt @ Xt) - (0.5 * excess * excess / m if m > 0 else 0.0)
    return certificate_of(primal, dual, primal - dual, kkt, box, abs(excess) if free else 0.0)


def squared_hinges(
    f: Floats,
    sign: Floats,
    C: Floats,
    w: Floats,
    bias: Floats,
    t: Floats,
    Xt: Floats,
    m: float,
    free: bool,
) -> list[Certificate]:
    """``linear`` for the squared hinges of several problems, a row of each array but C for each.

    The samples of a problem have the signs of its row, and all problems the weights C > 0.
    """
    slack, size = np.maximum(0.0, 1 - sign * f), sign * t
    total, of_w, of_Xt = t.sum(axis=1), np.sum(w * w, axis=1), np.sum(Xt * Xt, axis=1)
    primal = 0.5 * of_w + 0.5 * m * bias * bias + (slack * slack) @ C
    dual = size.sum(axis=1) - (t * t) @ (0.25 / C) - 0.5 * of_Xt
    dual -= bias * total if free else 0.5 * total * total / m if m > 0 else 0.0
    kkt, box = np.abs(slack - size * (0.5 / C)).max(axis=1), -size.min(axis=1)
    columns = primal, dual, kkt, box, np.abs(total) if free else np.zeros(len(f))
    values = zip(*(column.tolist() for column in columns), strict=True)
    return [certificate_of_worst(p, d, p - d, *violations) for p, d, *violations in values]


def from_norms(
    f: Floats, tube: Tube, t: Floats, square: float, dual_square: float, free: bool
) -> Certificate:
    """A model in any space, from |w|^2 and |X't|^2; its bias is not penalised."""
    losses, conjugates, kkt, box = _tube(f, tube, t)
    primal, dual = 0.5 * square + losses, conjugates - 0.5 * dual_square
    return certificate_of(
        primal, dual, primal - dual, kkt, box, abs(float(t.sum())) if free else 0.0
    )


def crammer_singer(
    F: Floats,
    label: Integers,
    C: Floats,
    W: Floats,
    bias: Floats,
    t: Floats,
    Xt: Floats,
    m: float,
    free: bool,
) -> Certificate:
    """All classes in one linear problem: P = 1/2 |W|^2 + m/2 |bias|^2 +
    sum_i C_i max_k (1 - [k = y_i] + F_ik - F_i,y_i).

    The duals t (a row for each sample) have t_ik <= C_i [k = y_i] and rows that sum to 0, columns
    too where the biases are ``free``; D = sum_i t_i,y_i - 1/2 |X't|^2 - 1/(2m) |sum_i t_i|^2.
    """
    rows = np.arange(len(label))
    margins = 1.0 + F - F[rows, label][:, None]
    margins[rows, label] = 0.0
    worst_margin = margins.max(axis=1)
    primal = 0.5 * float(np.sum(W * W)) + 0.5 * m * float(bias @ bias) + float(C @ worst_margin)
    sums = t.sum(axis=0)
    penalty = 0.5 * float(sums @ sums) / m if m > 0 else 0.0
    dual = float(t[rows, label].sum()) - 0.5 * float(np.sum(Xt * Xt)) - penalty
    upper = np.zeros_like(t)
    upper[rows, label] = C
    complementary = np.maximum(upper - t, 0.0) * (worst_margin[:, None] - margins)
    products = np.sum(complementary, axis=1)
    kkt = np.divide(products, C, out=np.zeros_like(C), where=C > 0)
    equality = max(
        float(np.abs(t.sum(axis=1)).max(initial=0.0)),
        float(np.abs(sums).max(initial=0.0)) if free else 0.0,
    )
    return certificate_of(
        primal, dual, primal - dual, kkt, (t - upper).max(axis=1, initial=0.0), equality
    )


def linear_products(X: Any, w: Floats, t: Floats) -> tuple[Floats, Floats]:
    """X w and X't in float64, in blocks of rows."""
    Xw, Xt = np.empty(X.shape[0]), np.zeros(X.shape[1])
    step = max(1, BLOCK_ENTRIES // max(1, X.shape[1] if not sparse.issparse(X) else 64))
    for begin in range(0, X.shape[0], step):
        part = X[begin : begin + step].astype(np.float64, copy=False)
        Xw[begin : begin + step] = part @ w
        Xt += part.T @ t[begin : begin + step]
    return Xw, Xt
