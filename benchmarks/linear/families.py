"""Generated sparse and dense sets for linear models: some for choosing, others for judging.

A constant or a rule of the linear solvers may be chosen on CHOOSING only. Figures in documents come
from JUDGING, whose sets differ from the others in seeds, exponents, lengths and shapes.

texts     words drawn by a power law (rank^-exponent), their counts scaled as asked; labels are the
          sign of a sparse random direction, a share of them flipped
marks     0/1 rows of a few groups of exclusive features, as one-hot codes are
dense     Gaussian features of unequal scales
grams     hashed n-grams of the words of this repository's documents or sources; a label says which
          of the two a piece of text is from (the judging set: which kind of source)
"""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

ROOT = Path(__file__).resolve().parents[2]


class Set(NamedTuple):
    """A generated set: its name and how it is made."""

    name: str
    make: Callable[[], tuple[Any, np.ndarray]]


def _labels(rng: np.random.Generator, f: np.ndarray, noise: float) -> np.ndarray:
    y = np.where(f > np.median(f), 1, -1)
    return np.where(rng.random(len(y)) < noise, -y, y)


def texts(
    n: int,
    d: int,
    length: int,
    exponent: float,
    noise: float = 0.05,
    scaling: str = "unit",
    seed: int = 0,
) -> tuple[Any, np.ndarray]:
    """Documents: rows of unit length, of tf-idf of unit length, or of raw counts."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, d + 1) ** -float(exponent)
    ends = np.cumsum(share / share.sum())
    lengths = np.maximum(1, rng.poisson(length, n))
    words = np.searchsorted(ends, rng.random(lengths.sum())).astype(np.int32)
    words = np.minimum(words, d - 1)
    indptr = np.append(0, np.cumsum(lengths))
    X = sparse.csr_matrix((np.ones(len(words)), words, indptr), shape=(n, d))
    X.sum_duplicates()
    if scaling == "tfidf":
        often = np.bincount(X.indices, minlength=d)
        X = sparse.csr_matrix(X @ sparse.diags(np.log((1 + n) / (1 + often)) + 1))
    direction = rng.normal(size=d) * (rng.random(d) < 0.3)
    y = _labels(rng, X @ direction, noise)
    if scaling != "counts":
        lengths2 = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X = sparse.csr_matrix(sparse.diags(1 / lengths2) @ X)
    X.sort_indices()
    return X, y


def marks(n: int, d: int, groups: int, noise: float = 0.1, seed: int = 0) -> tuple[Any, np.ndarray]:
    """One-hot rows: a feature of each group, some of them far more often than others."""
    rng = np.random.default_rng(seed)
    edges = np.linspace(0, d, groups + 1).astype(int)
    columns = [
        low + np.minimum((rng.random(n) ** 3 * (high - low)).astype(int), high - low - 1)
        for low, high in pairwise(edges)
    ]
    indices = np.column_stack(columns).astype(np.int32).ravel()
    indptr = np.arange(n + 1) * groups
    X = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n, d))
    return X, _labels(rng, X @ rng.normal(size=d), noise)


def dense(n: int, d: int, noise: float = 0.1, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Gaussian features that share a few directions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 3)) @ rng.normal(size=(3, d))
    X *= 10 ** rng.uniform(-1, 0.5, d)
    X /= X.std()
    return X, _labels(rng, X @ (rng.normal(size=d) / X.std(axis=0)), noise)


def grams(kinds: tuple[str, str], d: int, piece: int, longest: int) -> tuple[Any, np.ndarray]:
    """Pieces of this repository's files of two kinds (globs), as hashed n-grams of words."""
    from sklearn.feature_extraction.text import HashingVectorizer

    pieces: list[str] = []
    y: list[int] = []
    for label, kind in zip((-1, 1), kinds, strict=True):
        for path in sorted(ROOT.glob(kind)):
            lines = path.read_text(errors="ignore").splitlines()
            found = ["\n".join(lines[k : k + piece]) for k in range(0, len(lines), piece)]
            pieces += found
            y += [label] * len(found)
    X = HashingVectorizer(n_features=d, ngram_range=(1, longest)).transform(pieces)
    X = sparse.csr_matrix(X)
    X.sort_indices()
    kept = np.flatnonzero(np.diff(X.indptr))
    return X[kept], np.array(y)[kept]


CHOOSING = [
    Set("texts 20,000 x 30,000", lambda: texts(20_000, 30_000, 60, 1.1, 0.02, seed=1)),
    Set("texts 30,000 x 3,000", lambda: texts(30_000, 3_000, 40, 0.8, 0.1, seed=2)),
    Set("texts 4,000 x 40,000 tfidf", lambda: texts(4_000, 40_000, 80, 1.2, 0.02, "tfidf", 3)),
    Set("counts 20,000 x 10,000", lambda: texts(20_000, 10_000, 30, 1.0, 0.05, "counts", 4)),
    Set("texts 80,000 x 20,000", lambda: texts(80_000, 20_000, 60, 1.0, 0.05, "tfidf", 5)),
    Set("marks 30,000 x 200", lambda: marks(30_000, 200, 14, 0.1, 6)),
    Set("marks 30,000 x 5,000", lambda: marks(30_000, 5_000, 20, 0.05, 7)),
    Set("docs and sources, 1-grams", lambda: grams(("docs/**/*.md", "src/**/*.py"), 2**16, 6, 1)),
    Set("dense 6,000 x 40", lambda: dense(6_000, 40, 0.1, 8)),
]
"""Sets for choosing methods and constants."""

JUDGING = [
    Set("texts 40,000 x 60,000", lambda: texts(40_000, 60_000, 50, 1.05, 0.05, seed=101)),
    Set("texts 12,500 x 50,000", lambda: texts(12_500, 50_000, 75, 1.15, 0.05, "tfidf", 102)),
    Set("texts 5,000 x 50,000", lambda: texts(5_000, 50_000, 120, 0.9, 0.01, seed=103)),
    Set("texts 60,000 x 2,000", lambda: texts(60_000, 2_000, 25, 0.9, 0.15, "tfidf", 104)),
    Set("counts 30,000 x 30,000", lambda: texts(30_000, 30_000, 20, 1.2, 0.05, "counts", 105)),
    Set("marks 50,000 x 300", lambda: marks(50_000, 300, 22, 0.15, 106)),
    Set("marks 40,000 x 8,000", lambda: marks(40_000, 8_000, 12, 0.05, 107)),
    Set("sources and tests, 2-grams", lambda: grams(("src/**/*.py", "tests/*.py"), 2**18, 4, 2)),
    Set("dense 12,000 x 25", lambda: dense(12_000, 25, 0.15, 108)),
]
"""Sets for judging: no constant is chosen on them."""
