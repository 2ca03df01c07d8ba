"""Fitted models of two commits, bit for bit, on more than 200 configurations: for changes that must
not change results.

    tools/compare_models.py OLD NEW      two checkouts, each with its .venv
    tools/compare_models.py OLD NEW --only SVR

Each checkout fits in a process of its own; what a user can see of a model (decision values, labels,
coefficients, intercepts, support vectors, certificate, steps) is compared by its bytes. Exit code 1
if anything differs.
"""

import argparse
import hashlib
import itertools
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SEEN = (
    "dual_coef_",
    "intercept_",
    "support_",
    "support_vectors_",
    "n_support_",
    "coef_",
    "offset_",
    "epsilon_",
    "n_iter_",
    "intercept_interval_",
)
NUMBERS = ("primal", "dual", "gap", "relative_gap", "kkt_violation", "audit_error", "n_iter")


def data(kind: str) -> tuple[Any, Any, Any]:
    """X, labels and targets by name: rows x features, sparse or dense, how many classes."""
    import numpy as np
    from scipy import sparse

    shape, form, classes = kind.split()
    n, d = map(int, shape.split("x"))
    draw = np.random.RandomState(n + 7 * d + int(classes))
    X = draw.normal(size=(n, d))
    if form == "sparse":
        X[draw.uniform(size=X.shape) < 0.8] = 0.0
    z = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, d // 2] + 0.3 * draw.normal(size=n)
    y = np.searchsorted(np.quantile(z, np.arange(1, int(classes)) / int(classes)), z)
    if form == "float32":
        X = X.astype(np.float32)
    return sparse.csr_matrix(X) if form == "sparse" else X, y, z


SHAPES = (
    "60x3 dense 2",
    "300x8 float32 3",
    "1500x6 dense 2",
    "1300x20 sparse 3",
    "4000x5 dense 2",
    "3500x40 sparse 4",
)
LINEAR_SHAPES = ("60x3 dense 2", "1500x20 dense 3", "3000x300 sparse 2", "30000x10 float32 2")


def configurations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(estimator, data, parameters) of every comparison."""
    kernels: list[dict[str, Any]] = [
        {},
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
        {"kernel": "laplacian", "gamma": 0.3},
        {"kernel": "cosine"},
        {"kernel": "precomputed"},
        {"kernel": "sigmoid", "gamma": 0.01},
    ]
    for shape in SHAPES:
        for kernel in kernels:
            yield "SVC", shape, kernel
        for C, kernel in itertools.product((0.01, 100.0), kernels[:2]):
            yield "SVC", shape, {**kernel, "C": C, "time_limit": 20}
        yield "SVC", shape, {"class_weight": "balanced", "weights": True}
        yield "SVC", shape, {"multiclass": "ovr"}
        yield "SVC", shape, {"loss": "squared_hinge"}
        yield "SVC", shape, {"max_iter": 50}
        yield "SVC", shape, {"C": 10.0, "tol": 1e-8}
        yield "NuSVC", shape, {"nu": 0.3}
        yield "NuSVC", shape, {"nu": 0.2, "kernel": "linear"}
        yield "NuSVC", shape, {"nu": 0.4, "weights": True}
        yield "SVR", shape, {"C": 10.0}
        yield "SVR", shape, {"kernel": "linear", "epsilon": 0.0}
        yield "SVR", shape, {"loss": "squared_epsilon_insensitive", "weights": True}
        yield "SVR", shape, {"kernel": "precomputed"}
        yield "NuSVR", shape, {"nu": 0.3, "C": 5.0}
        yield "NuSVR", shape, {"nu": 0.6, "kernel": "linear"}
        yield "OneClassSVM", shape, {"nu": 0.1}
        yield "OneClassSVM", shape, {"nu": 0.5, "kernel": "linear", "weights": True}
    yield "SVC", "60x3 dense 2", {"C": float("inf"), "gamma": 30.0}
    yield "SVR", "60x3 dense 2", {"C": float("inf"), "gamma": 30.0}
    for shape in SHAPES[:3]:
        yield "SVC", shape, {"loss": "squared_hinge", "solver": "newton"}
        yield "SVR", shape, {"loss": "squared_epsilon_insensitive", "solver": "newton"}
    for shape in LINEAR_SHAPES:
        for loss, intercept in itertools.product(
            ("hinge", "squared_hinge"), ("free", "regularised")
        ):
            yield "LinearSVC", shape, {"loss": loss, "intercept": intercept}
        for solver in ("newton", "coordinate"):
            yield "LinearSVC", shape, {"solver": solver, "weights": True, "C": 10.0}
        yield "LinearSVC", shape, {"penalty": "l1"}
        yield "LinearSVC", shape, {"multi_class": "crammer_singer", "time_limit": 20}
        yield "LinearSVR", shape, {"epsilon": 0.1}
        yield "LinearSVR", shape, {"loss": "squared_epsilon_insensitive", "fit_intercept": False}
        yield "LinearOneClassSVM", shape, {"nu": 0.2}
        yield "PegasosSVC", shape, {"random_state": 0}
        yield "NormaSVC", shape.replace("30000", "2000"), {"random_state": 0}
    for shape in SHAPES[:3]:
        yield "PegasosSVC", shape, {"kernel": "rbf", "random_state": 0, "max_iter": 20}
        yield (
            "PegasosSVC",
            shape,
            {"kernel": "rbf", "random_state": 0, "max_iter": 5, "budget": 50, "tol": None},
        )
        yield "NormaSVC", shape, {"kernel": "rbf", "random_state": 0}


def fingerprint(values: Any) -> str:
    """A hash of the bytes and the shape."""
    import numpy as np
    from scipy import sparse

    if sparse.issparse(values):
        values = values.toarray()
    array = np.ascontiguousarray(values)
    return f"{array.shape} {hashlib.sha256(array.tobytes()).hexdigest()[:16]}"


def fitted(name: str, shape: str, parameters: dict[str, Any]) -> dict[str, str]:
    """What can be seen of one model."""
    import numpy as np

    import maxmargin

    X, y, z = data(shape)
    parameters = dict(parameters)
    weighted = parameters.pop("weights", False)
    weight = np.random.RandomState(3).uniform(0.2, 3.0, len(y)) if weighted else None
    if parameters.get("kernel") == "precomputed":
        if len(y) > 1500:
            return {}
        dense = X.toarray() if hasattr(X, "toarray") else X
        X = np.exp(-0.1 * ((dense[:, None, :] - dense[None, :, :]) ** 2).sum(axis=2))
    model = getattr(maxmargin, name)(**parameters)
    target = z if name.endswith("SVR") else y
    try:
        if "OneClass" in name:
            model.fit(X, sample_weight=weight)
        else:
            model.fit(X, target, sample_weight=weight)
    except (ValueError, TypeError) as error:
        return {"error": str(error)}
    found = {name: fingerprint(getattr(model, name)) for name in SEEN if hasattr(model, name)}
    found["predict"] = fingerprint(model.predict(X))
    if hasattr(model, "decision_function"):
        found["decision_function"] = fingerprint(model.decision_function(X))
    if hasattr(model, "certificate_"):
        found["status"] = model.certificate_.status
        found.update({number: repr(getattr(model.certificate_, number)) for number in NUMBERS})
    return found


def child(only: str) -> None:
    """Fit every configuration and print what can be seen, a line each."""
    warnings.simplefilter("ignore")
    for name, shape, parameters in configurations():
        if only in name:
            found = fitted(name, shape, parameters)
            print(json.dumps([f"{name} {shape} {parameters}", found]), flush=True)


def models_of(checkout: Path, only: str) -> Iterator[tuple[str, dict[str, str]]]:
    """What a checkout says, as it says it."""
    python, script = checkout / ".venv/bin/python", Path(__file__).resolve()
    command = [str(python), str(script), "--child", "--only", only]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=checkout) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield tuple(json.loads(line))
    if process.returncode:
        raise SystemExit(f"{checkout}: exit code {process.returncode}")


def main() -> int:
    """Compare and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", nargs="*", type=Path, metavar="OLD NEW")
    parser.add_argument("--only", default="", help="estimators whose name holds this")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.only)
        return 0
    if len(arguments.checkouts) != 2:
        parser.error("two checkouts are needed")
    old, new = (models_of(path.resolve(), arguments.only) for path in arguments.checkouts)
    count = different = 0
    for (title, before), (_, after) in zip(old, new, strict=True):
        count += 1
        keys = sorted(before.keys() | after.keys())
        changed = [key for key in keys if before.get(key) != after.get(key)]
        if changed:
            different += 1
            print(f"{title}:")
            for key in changed:
                print(f"    {key}: {before.get(key)} -> {after.get(key)}")
    print(f"{count} configurations, {count - different} with the same bits, {different} different")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
