"""One measurement, in a process of its own: ``python child.py ADAPTER DATA.npz JOB.json OUT``, by
the python of the library's environment.

A small fit comes first (imports, thread pools, instruction levels), then the timed fit. A fit
shorter than SHORT is repeated until LONG_ENOUGH has passed and the median is kept. An alarm whose
default action ends the process stops a fit that takes too long, also inside compiled code. Written
are OUT.json (seconds, memory) and OUT.npz (the solution and decision values).
"""

import importlib
import json
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

SHORT, LONG_ENOUGH = 0.05, 0.3  # seconds
COMPARED = 1000  # rows whose decision values are handed back


def read(file: Any, name: str, form: str, dtype: str) -> Any:
    """X or Z in the form and precision asked for."""
    if name in file:
        return np.ascontiguousarray(file[name], dtype=dtype)
    X = sparse.csr_matrix(
        tuple(file[f"{name}.{part}"] for part in ("data", "indices", "indptr")),
        shape=tuple(file[f"{name}.shape"]),
    )
    X = X.astype(dtype)
    return X if form == "csr" else X.toarray()


def peak_memory() -> float:
    """Peak resident memory of this process in megabytes (Linux)."""
    line = next(
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )
    return int(line.split()[1]) / 1024


def forget_peak() -> None:
    """Let the peak begin at what is resident now, where the kernel allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def timed(call: Callable[[], Any], limit: float) -> tuple[Any, float, int]:
    """Result, median seconds and number of calls."""
    seconds: list[float] = []
    signal.setitimer(signal.ITIMER_REAL, limit)
    while not seconds or (seconds[0] < SHORT and sum(seconds) < LONG_ENOUGH):
        began = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - began)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return result, float(np.median(seconds)), len(seconds)


def main() -> None:
    adapter = importlib.import_module(f"peers.{sys.argv[1]}")
    job, out = json.loads(Path(sys.argv[3]).read_text()), Path(sys.argv[4])
    warnings.simplefilter("ignore")
    with np.load(sys.argv[2]) as file:
        X, Z = (read(file, name, job["form"], job["dtype"]) for name in "XZ")
        y, warm = file["y"], file["warm"]
    easy = {**job["parameters"], "tol": 1e-2} | ({"C": 1.0} if "C" in job["parameters"] else {})
    small = adapter.fit(adapter.prepare(X[warm], y[warm]), job["problem"], easy)
    adapter.predict(small, adapter.rows(Z[:100]))
    data = adapter.prepare(X, y)
    forget_peak()
    before = peak_memory()
    model, seconds, fits = timed(
        lambda: adapter.fit(data, job["problem"], job["parameters"]), job["timeout"]
    )
    found = {
        "fit": seconds,
        "fits": fits,
        "memory": peak_memory() - before,
        "version": adapter.version(),
    }
    if hasattr(model, "certificate_"):
        found["status"] = model.certificate_.status
    if job["predicts"]:
        some = adapter.rows(Z)
        found["predict"] = timed(lambda: adapter.predict(model, some), job["timeout"])[1]
    solution = adapter.solution(model)
    found["iterations"] = solution.iterations
    decision = adapter.decide(model, adapter.rows(Z[:COMPARED]))
    np.savez(
        out.with_suffix(".npz"),
        support=solution.support,
        coef=solution.coef,
        intercept=solution.intercept,
        decision=decision,
    )
    out.with_suffix(".json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
