"""Fit every data set of MAXMARGIN_DATA beside scikit-learn: seconds, ratio, objective, peak memory, as a Markdown table.

Each fit runs in a process of its own, after memory was touched and freed (on virtual machines the first touch of a page can cost more
than the fit); the two libraries take turns, the medians are shown. Objectives are computed by maxmargin's certificate formulas for both,
from the core's float64 decision values. Usage: ``MAXMARGIN_DATA=folder python benchmarks/compare.py [--repeats 3] [names ...]``.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

CASES = {
    "covtype10k": ("SVC", {"C": 10.0, "gamma": 1.0}),
    "magic": ("SVC", {"C": 10.0, "gamma": 0.1}),
    "a9a": ("SVC", {"C": 1.0, "gamma": 0.05}),
    "skin": ("SVC", {"C": 10.0, "gamma": 1.0}),
    "mnist10k": ("SVC", {"C": 10.0, "gamma": 0.02}),
    "letter": ("SVC", {"C": 10.0, "gamma": 0.1}),
    "housing": ("SVR", {"C": 10.0, "gamma": 0.1}),
}
CACHE = 1000  # megabytes, for both


def load(name):
    """X and y from the folder's own loader."""
    spec = importlib.util.spec_from_file_location("data_load", Path(os.environ["MAXMARGIN_DATA"]) / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name)


def transplant(theirs, kind, parameters, X, y):
    """Our estimator with scikit-learn's solution in it, to be certified by our code."""
    import maxmargin

    ours = getattr(maxmargin, kind)(**parameters, max_iter=0, time_limit=0.0).fit(X, y)
    for name in ("support_", "support_vectors_", "dual_coef_", "_dual_coef_", "intercept_", "_intercept_"):
        setattr(ours, name, getattr(theirs, name))
    ours._n_support = theirs.n_support_
    return ours


def peak_memory():
    """Peak resident memory of this process in megabytes (Linux)."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def fit_once(library, name):
    """Fit in this process and print what was seen."""
    import warnings

    import sklearn.svm

    import maxmargin

    warnings.simplefilter("ignore")
    X, y = load(name)
    kind, parameters = CASES[name]
    model = getattr(maxmargin if library == "maxmargin" else sklearn.svm, kind)(**parameters, cache_size=CACHE)
    before = peak_memory()
    began = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - began
    memory = peak_memory() - before
    judged = model if library == "maxmargin" else transplant(model, kind, parameters, X, y)
    judged._certified_values = judged._decision_values  # the core's float64 values: the independent ones take minutes at this size
    found = judged.certify(X, y)
    data = X.data.nbytes if sparse.issparse(X) else X.nbytes
    print(
        json.dumps(
            {"seconds": seconds, "memory": memory, "data": data / 2**20, "primal": found.primal, "dual": found.dual, "rows": X.shape[0]}
        )
    )


def run(library, name):
    """One fit in a fresh process."""
    np.ones(2**28)  # 2 GB touched and freed
    command = [sys.executable, __file__, "--child", library, name]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", default=list(CASES))
    arguments = parser.parse_args()
    if arguments.child:
        return fit_once(*arguments.child)
    if not (Path(os.environ.get("MAXMARGIN_DATA", "")) / "load.py").is_file():
        sys.exit("Set MAXMARGIN_DATA to a folder with the data sets and a load.py whose load(name) returns X and y.")
    print("| data | rows | maxmargin s | scikit-learn s | ratio | primal, relative to scikit-learn's | MB above data, ours |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.names:
        seen = {"maxmargin": [], "scikit-learn": []}
        for _ in range(arguments.repeats):
            for library, results in seen.items():
                results.append(run(library, name))
        ours, theirs = (float(np.median([r["seconds"] for r in seen[library]])) for library in seen)
        mine, other = seen["maxmargin"][0], seen["scikit-learn"][0]
        change = (mine["primal"] - other["primal"]) / abs(other["primal"])
        memory = max(r["memory"] for r in seen["maxmargin"])
        row = [name, f"{mine['rows']:,}", f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}", f"{change:+.1e}", f"{memory:.0f}"]
        print(f"| {' | '.join(row)} |", flush=True)
    return None


if __name__ == "__main__":
    main()
