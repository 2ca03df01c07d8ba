"""How much work a fit of ours did, and the least that any certified fit must do, in a process of
its own.

The floor is the time to compute K(X, support vectors) once, in float32, multiplied by one column of
coefficients and not stored: every certificate needs that product. Kernel rows computed are the
kernel values that an untimed fit asked the core for, divided by n. Usage: ``python floor.py
DATA.npz JOB.json OUT``.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from child import read
from peers import ours
from scipy import sparse

from maxmargin.core.choose import HOST as core
from maxmargin.kernel.kernels import Kind

ROUNDS = 3


def counted(function: Any, a: int, b: int, count: list[float]) -> Any:
    """The core's function, adding rows times columns to the count; a and b are the places of its
    index arguments, after their points."""

    def call(*arguments: Any, **named: Any) -> Any:
        sizes = [
            arguments[k - 1].shape[0] if arguments[k] is None else len(arguments[k]) for k in (a, b)
        ]
        count[0] += float(sizes[0]) * sizes[1]
        return function(*arguments, **named)

    return call


def kernel_tuple(parameters: dict[str, Any]) -> tuple[int, float, float, int]:
    """The core's kernel."""
    kind = {"rbf": Kind.RBF, "poly": Kind.POLY, "linear": Kind.LINEAR}[
        parameters.get("kernel", "rbf")
    ]
    return (
        int(kind),
        float(parameters.get("gamma", 1.0)),
        float(parameters.get("coef0", 0.0)),
        int(parameters.get("degree", 3)),
    )


def floor_seconds(X: Any, support: np.ndarray, parameters: dict[str, Any]) -> float:
    """Median seconds of K(X, X[support]) times one column."""
    data = (
        sparse.csr_matrix(X, dtype=np.float32)
        if sparse.issparse(X)
        else np.ascontiguousarray(X, dtype=np.float32)
    )
    points, index = core.points(data), support.astype(np.int64)
    coef = np.random.default_rng(0).standard_normal((len(index), 1))
    seconds = []
    for _ in range(ROUNDS + 1):
        out = np.zeros((1, X.shape[0]))
        began = time.perf_counter()
        core.kernel_product(kernel_tuple(parameters), points, index, coef, points, None, out)
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds[1:]))


def main() -> None:
    job = json.loads(Path(sys.argv[2]).read_text())
    warnings.simplefilter("ignore")
    with np.load(sys.argv[1]) as file:
        X, y = read(file, "X", job["form"], job["dtype"]), file["y"]
    count = [0.0]
    core.kernel_block = counted(core.kernel_block, 2, 4, count)
    core.kernel_product = counted(core.kernel_product, 2, 5, count)
    model = ours.fit((X, y), job["problem"], job["parameters"])
    found = {
        "rows": count[0] / X.shape[0],
        "support": len(model.support_),
        "floor": floor_seconds(X, model.support_, job["parameters"]),
    }
    Path(sys.argv[3]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
