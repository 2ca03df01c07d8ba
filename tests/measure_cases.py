"""The losses of performance measures by their definitions: every labeling or ranking of a few
samples as an offset and a vector t. Nothing here is shared with maxmargin.
"""

from itertools import combinations, permutations, product

import numpy as np
from scipy.optimize import linprog
from sklearn.metrics import average_precision_score

NAMES = (
    "error",
    "f1",
    "precision_at_k",
    "recall_at_k",
    "auc",
    "prbep",
    "average_precision",
)
SMALL = [(1, 1), (1, 4), (4, 1), (2, 3), (2, 4), (3, 3), (4, 3)]


def sample(p, q, seed, ties=False):
    """Labels and scores of p positive and q negative samples, in any order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, -1], [p, q]))
    s = rng.normal(scale=2, size=p + q) + 0.5 * y
    return y, np.round(s) if ties else s


# ---- the definitions, over everything that can be predicted --------------------------------------


def worst(planes, s, free=False):
    """The greatest of the functions offset + t.s, or its least value over all intercepts."""
    offsets, T = np.array([offset for offset, _ in planes]), np.array([t for _, t in planes])
    values, sums = offsets + T @ s, T.sum(axis=1)
    if not free:
        return values.max()
    # minimise z with z >= value + sum b
    found = linprog(
        [1, 0], np.column_stack([-np.ones(len(sums)), sums]), -values, bounds=(None,) * 2
    )
    assert found.success
    return found.fun


def labelings(y, measure):
    """offset and t of every labeling."""
    n = len(y)
    for hat in product([-1, 1], repeat=n):
        hat = np.array(hat)
        wrong, right = np.sum(hat != y), np.sum((hat > 0) & (y > 0))
        lost = wrong / n if measure == "error" else wrong / (2 * right + wrong)
        yield n * lost, (hat - y) / 2


def best_k(y, measure, k):
    """offset and t of every choice of k samples: they are compared with those left out."""
    n, p = len(y), np.sum(y > 0)
    of = p if measure == "recall_at_k" else k
    for rows in combinations(range(n), k):
        hat = np.full(n, -1)
        hat[list(rows)] = 1
        missed, taken = (y > 0) & (hat < 0), (y < 0) & (hat > 0)
        swaps = min(k, p) - np.sum((y > 0) & (hat > 0))
        t = swaps * (taken / max(taken.sum(), 1) - missed / max(missed.sum(), 1))
        yield n * swaps / of, t


def rankings(y, measure):
    """offset and t of every ranking, best sample first."""
    n, up, down = len(y), np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    for order in permutations(range(n)):
        place = np.argsort(order)
        t, swapped = np.zeros(n), 0
        for i, j in product(up, down):
            if place[j] < place[i]:
                swapped += 1
                t[[i, j]] += [-1, 1]
        pairs = len(up) * len(down)
        lost = swapped / pairs if measure == "auc" else 1 - average_precision_score(y, -place)
        yield n * lost, t * n / pairs


def planes(measure, y, k):
    """offset and t of everything that can be predicted."""
    if measure in ("error", "f1"):
        return list(labelings(y, measure))
    if measure in ("auc", "average_precision"):
        return list(rankings(y, measure))
    return list(best_k(y, measure, int(np.sum(y > 0)) if measure == "prbep" else k))


def definition(measure, y, s, k, free):
    """The loss by its definition."""
    return worst(planes(measure, y, k), s, free and measure in ("error", "f1"))
