"""The libraries: a table of how each is installed and what it takes, and what their adapters share.

An adapter is a module beside this one with the functions

    version()                       the library's version
    prepare(X, y)                   the training data in the library's own form (not timed)
    fit(data, problem, parameters)  a fitted model (timed)
    rows(Z)                         points to predict in the library's own form (not timed)
    predict(model, Z)               predictions (timed)
    decide(model, Z)                values of the decision functions, one column each
    solution(model)                 a Solution

``parameters`` are scikit-learn's. Adapters are imported in the library's own environment, which
need not have maxmargin; this module needs only NumPy. Decision functions are f(x) = sum_i coef_i
k(x_i, x) + intercept: for two classes one, positive for class 1; for more one for each pair (i, j),
i < j, in the order (0,1), (0,2), ..., positive for class i.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np

CACHE = 2000  # megabytes, for every library


class Library(NamedTuple):
    """How a library is installed and what it takes."""

    name: str
    adapter: str
    requirements: tuple[str, ...] = ()
    """For pip, in an environment of its own; none: the library is in ours."""
    dtypes: tuple[str, ...] = ("float64",)
    """All are tried, the fastest whose answer agrees is kept."""
    sparse_forms: tuple[str, ...] = ("dense",)
    """The forms in which it is given sparse data; all are tried."""
    lacks: tuple[str, ...] = ()
    """Problems it does not offer."""


OURS = Library("maxmargin", "ours", sparse_forms=("csr",))
SKLEARN = "scikit-learn"

PEERS = [
    Library(
        "aoclda",
        "aoclda",
        ("aoclda", "scipy"),
        dtypes=("float32", "float64"),
        lacks=("OneClassSVM",),
    ),
    Library(
        "scikit-learn-intelex",
        "sklearnex",
        ("scikit-learn-intelex",),
        ("float32", "float64"),
        ("csr", "dense"),
        lacks=("OneClassSVM",),
    ),
    Library(SKLEARN, "scikit_learn", sparse_forms=("csr", "dense")),
    # CSR takes it twenty times as long
    Library("thundersvm-cpu", "thundersvm", ("thundersvm-cpu",), ("float32",)),
    Library("libsvm-official", "libsvm", ("libsvm-official",), sparse_forms=("csr",)),
]


class Solution(NamedTuple):
    """Decision functions as a library found them."""

    support: np.ndarray
    """Indices of training rows."""
    coef: np.ndarray
    """One row for each decision function."""
    intercept: np.ndarray
    iterations: int | None
    """As the library counts them."""


def estimator(module: Any, problem: str, parameters: dict[str, Any]) -> Any:
    """A library's estimator of that name."""
    return getattr(module, problem)(**parameters, cache_size=CACHE)


def pair_order(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each pair of a library that numbers its classes in the order ``labels`` belongs, and
    with which sign.
    """
    classes = len(labels)
    place = {pair: k for k, pair in enumerate(itertools.combinations(range(classes), 2))}
    pairs = [(labels[p], labels[q]) for p, q in itertools.combinations(range(classes), 2)]
    sign = np.array([1.0 if a < b else -1.0 for a, b in pairs])
    return np.array(
        [place[min(pair), max(pair)] for pair in pairs]
    ), -sign if classes == 2 else sign


def in_order(columns: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """One-vs-one columns of such a library, in our order and sign."""
    place, sign = pair_order(labels)
    out = np.empty_like(columns, dtype=float)
    out[:, place] = columns * sign
    return out


def unpack(packed: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """One row for each pair from the layout that LIBSVM introduced.

    There a support vector of the p-th class has its coefficient against the q-th class in row q - 1
    if q > p, else in row q; support vectors are sorted by class.
    """
    ends = np.concatenate([[0], np.cumsum(n_support)])
    members = [slice(begin, end) for begin, end in itertools.pairwise(ends)]
    rows = []
    for p, q in itertools.combinations(range(len(n_support)), 2):
        row = np.zeros(packed.shape[1])
        row[members[p]], row[members[q]] = packed[q - 1, members[p]], packed[p, members[q]]
        rows.append(row)
    return np.array(rows)
