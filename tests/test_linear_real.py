"""LIBLINEAR's models on real data, every loss and penalty that it has: the same objective; ours is
certified and never the larger.

The rows are limited to keep this short; MAXMARGIN_ROWS=1000000 takes all of them.
"""

import os

import numpy as np
import pytest
from scipy import sparse

import data
import needs
from maxmargin import LinearSVC, LinearSVR

ROWS = int(os.environ.get("MAXMARGIN_ROWS", "3000"))
CLASSIFICATION = ("breast_cancer", "text", "a9a", "magic", "mnist10k")
REGRESSION = ("diabetes", "housing")
LOSSES = {
    1: "squared_hinge",
    2: "squared_hinge",
    3: "hinge",
    5: "squared_hinge",
    11: "squared",
    12: "squared",
    13: "plain",
}


def text(n):
    """Rows of 80 words of a power law, of unit length; labels of a random plane with noise."""
    d, random = min(50_000, 5 * n), np.random.default_rng(0)
    columns = np.minimum((d ** random.random((n, 80))).astype(int), d - 1)
    X = sparse.csr_matrix(
        (np.ones(80 * n), columns.ravel(), np.arange(0, 80 * n + 1, 80)), shape=(n, d)
    )
    X.sum_duplicates()
    X = sparse.csr_matrix(sparse.diags(1 / np.sqrt(X.multiply(X).sum(axis=1).A1)) @ X)
    score = X @ random.normal(size=d)
    return X, np.where(score + 0.3 * score.std() * random.normal(size=n) > 0, 1, -1)


def loaded(name):
    """Sparse data and their targets.

    Digits are told from all others, one at a time, by the caller.
    """
    X, y = text(min(ROWS, 200_000)) if name == "text" else data.load(name, rows=ROWS)
    return sparse.csr_matrix(X, dtype=float), y


def train(s, C, X, y, epsilon=0.1):
    """w and b of LIBLINEAR at its tightest, b a constant feature whose weight is penalised."""
    util = needs.package("liblinear.liblinearutil")
    model = util.train(
        util.problem(y, X, bias=1), util.parameter(f"-s {s} -c {C} -e 1e-9 -B 1 -p {epsilon} -q")
    )
    w, b = model.get_decfun()
    side = model.get_labels()[0] if s < 10 else 1
    return side * np.array(w), side * b


def objective(s, C, X, y, w, b, epsilon=0.1):
    """LIBLINEAR's, written out."""
    f = X @ w + b
    miss = np.maximum(0, 1 - y * f) if s < 10 else np.maximum(0, np.abs(y - f) - epsilon)
    loss = C * np.sum(miss if LOSSES[s] in ("hinge", "plain") else miss**2)
    return loss + (np.abs(w).sum() + abs(b) if s == 5 else 0.5 * (w @ w + b * b))


@pytest.mark.parametrize("s", [1, 2, 3, 5])
@pytest.mark.parametrize("name", CLASSIFICATION)
def test_classification(name, s):
    X, y = loaded(name)
    # LIBLINEAR gives up after 1,000 passes: a small C; its l1 solver ends above
    C, reached = (0.01, 1e-3 if s == 5 else 1e-6)
    for positive in np.unique(y)[1:] if len(np.unique(y)) == 2 else np.unique(y)[:2]:
        sign = np.where(y == positive, 1.0, -1.0)
        penalty = "l1" if s == 5 else "l2"
        ours = LinearSVC(
            loss=LOSSES[s], penalty=penalty, C=C, intercept="regularised", tol=1e-8, max_iter=10_000
        ).fit(X, sign)
        mine = objective(s, C, X, sign, ours.coef_[0], float(ours.intercept_[0]))
        theirs = objective(s, C, X, sign, *train(s, C, X, sign))
        assert mine == pytest.approx(ours.certificate_.primal, rel=1e-9)
        assert mine <= theirs * (1 + 1e-8)
        assert mine == pytest.approx(theirs, rel=reached)


@pytest.mark.parametrize("s", [11, 12, 13])
@pytest.mark.parametrize("name", REGRESSION)
def test_regression(name, s):
    X, y = loaded(name)
    y = (y - y.mean()) / y.std()
    loss = "epsilon_insensitive" if s == 13 else "squared_epsilon_insensitive"
    ours = LinearSVR(loss=loss, C=0.01, epsilon=0.1, intercept="regularised", tol=1e-8).fit(X, y)
    mine = objective(s, 0.01, X, y, np.ravel(ours.coef_), float(np.ravel(ours.intercept_)[0]))
    theirs = objective(s, 0.01, X, y, *train(s, 0.01, X, y))
    assert mine <= theirs * (1 + 1e-8)
    assert mine == pytest.approx(theirs, rel=1e-6)
