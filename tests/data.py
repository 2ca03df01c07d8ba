"""Data sets for comparisons: those scikit-learn ships, and the real ones of the folder
MAXMARGIN_DATA: a test that loads one of these is skipped where that is not set."""

import importlib.util
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import needs

BUNDLED = ("iris", "wine", "breast_cancer", "digits", "diabetes", "friedman")
REAL = ("a9a", "covtype10k", "housing", "letter", "magic", "mnist10k", "skin")
NAMES = (*BUNDLED, *REAL)


def load(name, rows=None):
    """X (an array or CSR) and y; at most `rows` rows, drawn at random."""
    X, y = _bundled(name) if name in BUNDLED else _real(name)
    if rows is not None and X.shape[0] > rows:
        some = np.random.default_rng(0).choice(X.shape[0], rows, replace=False)
        X, y = X[some], y[some]
    return X, y


def _bundled(name):
    if name == "friedman":
        X, y = datasets.make_friedman1(300, noise=1.0, random_state=0)
    else:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return (MinMaxScaler() if name == "digits" else StandardScaler()).fit_transform(X), y


def _real(name):
    spec = importlib.util.spec_from_file_location(
        "maxmargin_data_load", Path(needs.data_sets()) / "load.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name)


def binary_target(y):
    """Two classes: the upper half of the values against the lower."""
    return (y > np.median(y)).astype(int) if len(np.unique(y)) > 2 else (y == y.max()).astype(int)


def as_dense(X):
    """The data as an array."""
    return X.toarray() if sparse.issparse(X) else X
