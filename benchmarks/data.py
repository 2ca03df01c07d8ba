"""The data sets, from the folder MAXMARGIN_DATA or else from OpenML, and the files that
measurements read them from.

OpenML's sets are prepared as the folder's are: covtype10k and skin binary, features of covtype10k
in [0, 1], pixels / 255, skin, magic, letter and housing standardised, housing in 100,000 dollars
with one column for each value of its category, rows with gaps left out. OpenML has no covtype10k:
10,000 random rows of covertype stand in, whose seconds are like but not equal. Synthetic sets are
made on the spot.
"""

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
from cases import Case
from linear.cases import LinearCase
from scipy import sparse
from synthetic import SYNTHETIC, mixed

PREDICT_ROWS = 5000
HELP = (
    "Set MAXMARGIN_DATA to a folder with the data sets and a load.py whose load(name) returns X "
    "and y, or connect to openml.org."
)


def load(name: str) -> tuple[Any, np.ndarray]:
    """X (float64 array or CSR) and y."""
    if name in SYNTHETIC:
        return SYNTHETIC[name]()
    if name == "mix50k":
        return mixed(*load("covtype10k"))
    folder = os.environ.get("MAXMARGIN_DATA")
    if not folder:
        return _from_openml(name)
    path = Path(folder) / "load.py"
    if not path.is_file():
        raise SystemExit(f"There is no load.py in MAXMARGIN_DATA={folder}. {HELP}")
    spec = importlib.util.spec_from_file_location("data_load", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name)


# ---- OpenML --------------------------------------------------------------------------------------

OPENML = {
    "covtype10k": ("covertype", 3),
    "magic": ("MagicTelescope", 1),
    "a9a": ("a9a", 1),
    "mnist10k": ("mnist_784", 1),
    "letter": ("letter", 1),
    "skin": ("skin-segmentation", 1),
    "housing": ("california_housing", 1),
}


def _from_openml(name: str) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import fetch_openml

    known, version = OPENML[name]
    try:
        found = fetch_openml(known, version=version, as_frame=name != "a9a", parser="auto")
    except Exception as error:
        raise SystemExit(
            f"{known} could not be fetched from OpenML ({type(error).__name__}: {error}). {HELP}"
        ) from None
    return prepare(name, found.data, found.target)


def _standard(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(0)) / X.std(0)


def _one_hot(frame: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of a frame, one column for each value of a category, and which rows have no gap."""
    columns = []
    for column in frame.columns:
        values = frame[column]
        if values.dtype.kind in "fiu":
            columns.append(values.to_numpy(float))
        else:
            columns += [(values == value).to_numpy(float) for value in sorted(values.unique())]
    X = np.column_stack(columns)
    return X, np.isfinite(X).all(1)


def prepare(name: str, data: Any, target: Any) -> tuple[Any, np.ndarray]:
    """OpenML's data and target in the form of the folder's."""
    if name == "a9a":
        return sparse.csr_matrix(data, dtype=np.float64), np.where(
            np.asarray(target, float) > 0, 1, -1
        )
    X, whole = _one_hot(data)
    if name == "housing":
        return _standard(X[whole]), np.asarray(target, float)[whole] / 1e5
    label = np.unique(np.asarray(target).astype(str), return_inverse=True)[1]
    if name == "covtype10k":
        label = np.where(np.asarray(target).astype(str) == "2", 1, -1)
        rows = np.random.default_rng(0).permutation(len(X))[:10000]
        X, label = X[rows], label[rows]
        width = np.ptp(X, axis=0)
        return (X - X.min(0)) / np.where(width == 0, 1, width), label
    if name == "mnist10k":
        return X[-10000:] / 255, label[-10000:]
    return _standard(X), label


# ---- files for the measurements ------------------------------------------------------------------


class Arrays:
    """Training data and rows to predict of a case, and the file that holds them.

    Labels are 0, 1, ... in every library.
    """

    def __init__(self, case: Case | LinearCase, folder: Path, loaded: dict[str, Any]) -> None:
        if case.data not in loaded:
            loaded.clear()  # one data set at a time
            loaded[case.data] = load(case.data)
        X, y = loaded[case.data]
        order = np.random.default_rng(0).permutation(X.shape[0])
        rows = np.sort(order[: case.n]) if case.n and case.n < X.shape[0] else slice(None)
        self.X, self.Z = X[rows], X[np.sort(order[-PREDICT_ROWS:])]
        self.y = (
            y[rows] if case.problem.endswith("SVR") else np.unique(y[rows], return_inverse=True)[1]
        )
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{case.data}-{self.X.shape[0]}.npz"
        np.savez(
            self.path,
            y=self.y,
            warm=self._warm_rows(),
            **_parts("X", self.X),
            **_parts("Z", self.Z),
        )

    def _warm_rows(self) -> np.ndarray:
        """Some 400 rows with every class in equal numbers, for a first small fit."""
        classes = np.unique(self.y) if self.y.dtype.kind in "iu" else [None]
        each = max(2, 400 // len(classes))
        chosen = [
            np.flatnonzero(self.y == c)[:each] if c is not None else np.arange(len(self.y))[:each]
            for c in classes
        ]
        return np.sort(np.concatenate(chosen))


def _parts(name: str, X: Any) -> dict[str, np.ndarray]:
    if not sparse.issparse(X):
        return {name: X}
    return {
        f"{name}.data": X.data,
        f"{name}.indices": X.indices,
        f"{name}.indptr": X.indptr,
        f"{name}.shape": np.array(X.shape),
    }
