"""A library on some rungs of its ladder, in a process of its own: ``python -m linear.child ADAPTER
DATA.npz JOB.json OUT.json``.

A small fit comes first, then each rung from loose to tight (child.timed: short fits are repeated,
an alarm ends a fit that takes too long). After each rung OUT.json is written again, so that the
measurements survive the alarm. The climb ends when the objective reaches the job's goal, when all
rungs together took more than the job's patience, or, for peers, after STUCK expensive rungs in a
row without progress.
"""

import importlib
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from child import forget_peak, peak_memory, read, timed
from scipy import sparse

from linear.objective import lower_bound, objective

STUCK, NEARER, CHEAP = 4, 0.99, 0.3


def climb(
    adapter: Any,
    data: Any,
    job: dict[str, Any],
    X: Any,
    y: np.ndarray,
    found: dict[str, Any],
    out: Path,
) -> None:
    """Every rung, until the goal or until it no longer pays."""
    goal, nearest, idle, spent = job["goal"], np.inf, 0, 0.0
    for rung in job["rungs"]:
        options = {**job["options"], **rung}
        model, seconds, fits = timed(
            lambda options=options: adapter.fit(data, job, options), job["limit"]
        )
        coef, intercept, iterations = adapter.solution(model)
        value = objective(job["parameters"], job["model"], X, y, coef, intercept)
        status = model.certificate_.status if hasattr(model, "certificate_") else None
        solver = getattr(model, "solver_", None)
        entry = {
            "seconds": seconds,
            "fits": fits,
            "objective": value,
            "iterations": iterations,
            "status": status,
            "solver": solver,
        }
        if job["mine"]:
            entry["bound"] = lower_bound(
                job["parameters"], job["model"], X, y, adapter.duals(model)
            )
        found["rungs"].append(entry)
        found["memory"] = peak_memory() - found["before"]
        out.write_text(json.dumps(found))
        spent += seconds
        distance = np.inf if goal is None else value - goal
        idle = 0 if goal is None or distance < NEARER * nearest else idle + 1
        nearest = min(nearest, distance)
        if (
            distance <= 0
            or spent > job["patience"]
            or (idle >= STUCK and seconds > CHEAP and not job["mine"])
        ):
            return


def main() -> None:
    adapter = importlib.import_module(f"peers.{sys.argv[1]}")
    job, out = json.loads(Path(sys.argv[3]).read_text()), Path(sys.argv[4])
    warnings.simplefilter("ignore")
    with np.load(sys.argv[2]) as file:
        X, y, warm = read(file, "X", job["form"], "float64"), file["y"], file["warm"]
    if job["form"] == "csr":
        X = sparse.csr_matrix(X)
    adapter.fit(adapter.prepare(X[warm], y[warm], job), job, {**job["options"], **job["rungs"][0]})
    forget_peak()
    before, began = peak_memory(), time.perf_counter()
    data = adapter.prepare(X, y, job)
    found = {
        "rungs": [],
        "convert": time.perf_counter() - began,
        "before": before,
        "version": adapter.version(),
    }
    climb(adapter, data, job, X, y, found, out)


if __name__ == "__main__":
    main()
