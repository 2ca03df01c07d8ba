"""Data sets that are made, not loaded: the same numbers on every machine with the same NumPy.

dense1m      1,000,000 x 50, normal with decaying scales, one label in ten wrong
text         200,000 x 50,000, 80 words a row from a power law, tf-idf, unit rows, noisy labels
regression   200,000 x 100, normal, a linear target with heavy-tailed noise
one_hot      50,000 x 300, 30 categories of ten values each, drawn from power laws, noisy labels

and, for fits of middle size, with their shapes in the name, MIDDLE:

waves        normal, labels of a sum of sines and a product
clusters     normal clouds of unequal spread, each of one class, some labels wrong
skewed       logarithms of mixed log-normal features with gaps, labels of a plane and a product
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse


def dense(n: int = 1_000_000, d: int = 50, wrong: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Points on both sides of a plane, some labels wrong."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.geomspace(2.0, 0.2, d)
    score = X @ rng.standard_normal(d)
    score += 0.3 * score.std() * rng.standard_normal(n)
    return X, np.where((score > 0) ^ (rng.random(n) < wrong), 1, -1)


def text(n: int = 200_000, d: int = 50_000, k: int = 80) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Words of a power law as tf-idf, labels of a random plane with noise."""
    rng = np.random.default_rng(0)
    p = 1 / np.arange(1, d + 1)
    p /= p.sum()
    columns = np.searchsorted(np.cumsum(p), rng.random((n, k))).clip(0, d - 1)
    X = sparse.csr_matrix(
        (np.ones(n * k), columns.ravel(), np.arange(0, n * k + 1, k)), shape=(n, d)
    )
    X.sum_duplicates()
    found = np.bincount(X.indices, minlength=d)
    X.data = (1 + np.log(X.data)) * np.log(n / (1 + found))[X.indices]
    X.data /= np.sqrt(np.repeat(np.add.reduceat(X.data**2, X.indptr[:-1]), np.diff(X.indptr)))
    score = X @ rng.standard_normal(d)
    noisy = score - np.median(score) + 0.3 * score.std() * rng.standard_normal(n)
    return X, np.where(noisy > 0, 1, -1)


def regression(n: int = 200_000, d: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """A linear target, Student noise of three degrees of freedom."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal(d) / np.sqrt(d) + 0.5 + 0.3 * rng.standard_t(3, n)


def one_hot(n: int = 50_000, features: int = 30) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Categories, some of which depend on a hidden group; labels of sums and pairs, with noise."""
    rng = np.random.default_rng(0)
    p = 1 / np.arange(1, 11)
    drawn = np.searchsorted(np.cumsum(p / p.sum()), rng.random((n, features))).clip(0, 9)
    group = rng.integers(0, 10, (n, 1))
    value = np.where(rng.random((n, features)) < 0.3, group, drawn)
    columns = (value + 10 * np.arange(features)).ravel()
    X = sparse.csr_matrix(
        (np.ones(n * features), columns, np.arange(0, n * features + 1, features)),
        shape=(n, 10 * features),
    )
    score = X @ rng.standard_normal(10 * features)
    score += 3.0 * np.sin(value[:, 0] * value[:, 1] + value[:, 2])
    noisy = score - np.median(score) + 0.5 * score.std() * rng.standard_normal(n)
    return X, np.where(noisy > 0, 1, -1)


def mixed(X: np.ndarray, y: np.ndarray, n: int = 50_000) -> tuple[np.ndarray, np.ndarray]:
    """More points of a set's kind: each between one of its points and a near neighbour."""
    from sklearn.neighbors import NearestNeighbors

    rng = np.random.default_rng(0)
    near = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X, return_distance=False)
    i = rng.integers(0, len(X), n)
    j = near[i, rng.integers(1, 6, n)]
    share = 0.5 * rng.random((n, 1))
    return (1 - share) * X[i] + share * X[j], y[i]


def waves(n: int, d: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A wavy boundary in four of the features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = np.sin(1.5 * X[:, :4]).sum(1) + 0.5 * X[:, 0] * X[:, -1]
    return X, np.where(score + noise * rng.normal(size=n) > 0, 1, -1)


def clusters(n: int, d: int, k: int, spread: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of k clouds; three labels in a hundred are wrong."""
    rng = np.random.default_rng(seed)
    middle, label = rng.normal(size=(k, d)) * 4 / np.sqrt(d), rng.integers(0, 2, k)
    cloud = rng.integers(0, k, n)
    X = middle[cloud] + spread * rng.normal(size=(n, d)) * rng.uniform(0.3, 1.5, d)
    y = np.where((label[cloud] == 1) ^ (rng.random(n) < 0.03), 1, -1)
    return (X - X.mean(0)) / X.std(0), y


def skewed(n: int, d: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Long-tailed features, four in ten of their entries 0."""
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) / np.sqrt(d)))
    X = np.log1p(X) * (rng.random((n, d)) < 0.6)
    score = X @ rng.normal(size=d) + 0.3 * X[:, :2].prod(1)
    score += noise * score.std() * rng.normal(size=n)
    return (X - X.mean(0)) / X.std(0), np.where(score > np.median(score), 1, -1)


MIDDLE: dict[str, tuple[Callable[[], tuple[np.ndarray, np.ndarray]], float, float]] = {
    "waves 4,000 x 8": (lambda: waves(4000, 8, 0.4, 101), 1.0, 0.15),
    "waves 2,200 x 5": (lambda: waves(2200, 5, 0.3, 102), 100.0, 0.2),
    "waves 10,000 x 7": (lambda: waves(10_000, 7, 0.6, 103), 10.0, 0.2),
    "clusters 3,500 x 40": (lambda: clusters(3500, 40, 16, 0.7, 104), 10.0, 1 / 40),
    "clusters 7,000 x 80": (lambda: clusters(7000, 80, 25, 0.7, 105), 1.0, 2 / 80),
    "clusters 6,000 x 15": (lambda: clusters(6000, 15, 30, 0.5, 106), 100.0, 1 / 15),
    "skewed 5,500 x 45": (lambda: skewed(5500, 45, 0.3, 107), 1.0, 2 / 45),
    "skewed 9,000 x 30": (lambda: skewed(9000, 30, 0.2, 108), 10.0, 1 / 30),
    "skewed 3,000 x 25": (lambda: skewed(3000, 25, 0.5, 109), 1.0, 1 / 25),
}
"""Sets, C and gamma. They judge: no constant is chosen on them."""

SYNTHETIC: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "dense1m": dense,
    "text": text,
    "regression": regression,
    "one_hot": one_hot,
    **{name: make for name, (make, *_) in MIDDLE.items()},
}
