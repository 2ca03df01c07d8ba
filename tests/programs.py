"""The real programs of LIBSVM and LIBLINEAR, and a referee: model files read by hand, functions and
primal objectives by the formulas.

Debian calls LIBLINEAR's programs liblinear-train and liblinear-predict. Data have three decimals,
which every program writes exactly.
"""

import subprocess
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

import needs
from maxmargin.io import dump_svmlight

LIBSVM = needs.programs(
    "svm-train", "svm-predict", "svm-scale", "svm-checkdata", debian="libsvm-tools"
)
LIBLINEAR = needs.programs("liblinear-train", "liblinear-predict", debian="liblinear-tools")


def real(*line, code=0):
    """Run a real program; its streams as text."""
    done = subprocess.run([str(word) for word in line], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, (
        f"{line}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    )
    return done


def write(path, X, y):
    """A file of rounded rows; the rows as they were written."""
    X, y = np.round(X, 3), np.round(y, 3)
    dump_svmlight(X, y, path)
    return X, y


def write_kernel(path, K, y):
    """A precomputed kernel as LIBSVM wants it: 0:i 1:K(i,1) 2:K(i,2) ..."""
    rows = (" ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1)) for row in K.tolist())
    path.write_text(
        "".join(
            f"{label:g} 0:{i} {row}\n"
            for i, (label, row) in enumerate(zip(y, rows, strict=True), 1)
        )
    )


# ---- LIBSVM --------------------------------------------------------------------------------------


class Model(NamedTuple):
    """A model file of LIBSVM: its head, coefficients (a row for each support vector), vectors (or
    rows of a given kernel, from 0)."""

    head: dict[str, list[str]]
    coef: np.ndarray
    vectors: np.ndarray

    def number(self, name):
        return float(self.head[name][0])


def read_libsvm(path, width):
    head, text = path.read_text().split("SV\n", 1)
    head = {words[0]: words[1:] for words in map(str.split, head.splitlines())}
    count = int(head["nr_class"][0]) - 1
    lines = [line.split() for line in text.splitlines()]
    coef, X = (
        np.array([[float(word) for word in line[:count]] for line in lines]),
        np.zeros((len(lines), width + 1)),
    )
    for row, line in zip(X, lines, strict=True):
        for item in line[count:]:
            index, value = item.split(":")
            row[int(index)] = float(value)
    return Model(
        head, coef, X[:, 0].astype(int) - 1 if head["kernel_type"] == ["precomputed"] else X[:, 1:]
    )


def kernel(model, A, B):
    """Kernel values of rows of A with rows of B."""
    kind, products = model.head["kernel_type"][0], A @ B.T
    if kind == "linear":
        return products
    gamma = model.number("gamma")
    if kind == "rbf":
        return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))
    inner = gamma * products + model.number("coef0")
    return inner ** model.number("degree") if kind == "polynomial" else np.tanh(inner)


class Function(NamedTuple):
    """One of a model's functions: the two labels it tells apart, its values, its squared norm, and
    rho."""

    labels: tuple[int, ...]
    values: np.ndarray
    norm: float
    rho: float


def functions(model, X, train=None):
    """The functions of a model at the rows of X.

    With a given kernel these are kernel values, and `train` those of the training rows.
    """
    if model.vectors.ndim == 1:
        K, G = X[:, model.vectors], train[np.ix_(model.vectors, model.vectors)]
    else:
        K, G = kernel(model, X, model.vectors), kernel(model, model.vectors, model.vectors)
    labels = [int(label) for label in model.head.get("label", [])]
    groups = np.repeat(
        np.arange(max(1, len(labels))),
        [int(n) for n in model.head.get("nr_sv", model.head["total_sv"])],
    )
    found = []
    for rho, (i, j) in zip(
        map(float, model.head["rho"]),
        combinations(range(len(labels)), 2) if labels else [(0, 1)],
        strict=True,
    ):
        beta = np.where(
            groups == i, model.coef[:, j - 1], np.where(groups == j, model.coef[:, i], 0.0)
        )
        found.append(
            Function((labels[i], labels[j]) if labels else (), K @ beta - rho, beta @ G @ beta, rho)
        )
    return found


def objective(model, X, y, C=1.0, nu=0.5, epsilon=0.1, weights=None):
    """The primal objective of a model file at the training rows, of all pairs together; what the
    file does not hold, the tube of nu-SVR and the scale of nu-SVC, at its best."""
    total = 0.0
    for labels, f, norm, rho in functions(model, X, X):
        if labels:
            here = np.isin(y, labels)
            z = np.where(y[here] == labels[0], 1.0, -1.0)
            loss = np.maximum(0, 1 - z * f[here])
            if model.head["svm_type"] == ["c_svc"]:
                cost = np.array([C * (weights or {}).get(int(label), 1.0) for label in y[here]])
                total += norm / 2 + cost @ loss
            else:  # t^2 norm / 2 - nu l t + t sum(loss), the least over t
                total -= (nu * here.sum() - loss.sum()) ** 2 / (2 * norm)
        elif model.head["svm_type"] == ["one_class"]:
            total += norm / 2 - nu * len(f) * rho + np.maximum(0, -f).sum()
        else:
            away = np.abs(y - f)
            tubes = [epsilon] if model.head["svm_type"] == ["epsilon_svr"] else away
            price = nu * len(f) if model.head["svm_type"] == ["nu_svr"] else 0.0
            total += norm / 2 + C * min(
                price * tube + np.maximum(0, away - tube).sum() for tube in tubes
            )
    return total


# ---- LIBLINEAR -----------------------------------------------------------------------------------


class Linear(NamedTuple):
    """A model file of LIBLINEAR: its head, and
    f(x) = x . weights + intercept, a column for each function."""

    head: dict[str, list[str]]
    weights: np.ndarray
    intercept: np.ndarray

    def __call__(self, X):
        """Values at the rows of X, whose features beyond the file's do not count."""
        return X[:, : len(self.weights)] @ self.weights + self.intercept

    def lead(self, X):
        """How far each row is from another label."""
        f = self(X)
        return (
            np.abs(f[:, 0])
            if f.shape[1] == 1
            else np.diff(np.sort(f, axis=1)[:, -2:], axis=1)[:, 0]
        )


def read_liblinear(path):
    head, text = path.read_text().split("w\n", 1)
    head = {words[0]: words[1:] for words in map(str.split, head.splitlines())}
    table, bias, width = (
        np.array([line.split() for line in text.splitlines()], float),
        float(head["bias"][0]),
        int(head["nr_feature"][0]),
    )
    return Linear(
        head, table[:width], bias * table[width] if bias >= 0 else np.zeros(table.shape[1])
    )


def linear_numbers(options):
    """The options of LIBLINEAR's train as `linear_objective` takes them."""
    pairs, names = (
        list(pairwise(options.split())),
        {"-s": "s", "-c": "C", "-B": "B", "-p": "epsilon"},
    )
    given = {names[flag]: float(value) for flag, value in pairs if flag in names}
    if "-R" in options:  # an intercept that costs nothing
        given["B"] = np.inf
    return {
        "s": 1,
        **given,
        "weights": {int(flag[2:]): float(value) for flag, value in pairs if flag.startswith("-w")},
    }


def linear_objective(model, X, y, s, C=1.0, B=-1.0, epsilon=0.1, weights=None):
    """The primal objective of a linear model file; the intercept is a weight of the feature B."""
    f = model(X)
    w = np.vstack([model.weights, model.intercept / B if B > 0 else 0 * model.intercept])
    penalty = np.abs(w).sum(axis=0) if s == 5 else (w**2).sum(axis=0) / 2
    if s >= 11:
        loss = np.maximum(0, np.abs(y - f[:, 0]) - epsilon)
        return penalty[0] + C * np.sum(loss if s == 13 else loss**2)
    labels = np.array(model.head["label"], int)
    cost = np.array([C * (weights or {}).get(int(label), 1.0) for label in y])
    own = y[:, None] == labels
    if s == 4:
        loss = np.max(f + ~own, axis=1) - f[own]
        return penalty.sum() + cost @ loss
    own = own[:, : f.shape[1]]
    loss = np.maximum(0, 1 - np.where(own, 1, -1) * f)
    return np.sum(penalty + cost @ (loss if s == 3 else loss**2))
