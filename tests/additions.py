"""What docs/architecture.md adds to the library, step by step: the page includes this code, and
tests/test_docs_additions.py runs it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import maxmargin
from maxmargin.core import _cpu
from maxmargin.io.files import open_read
from maxmargin.io.table_columns import Data
from maxmargin.kernel.problems import feasible_start, fold
from maxmargin.kernel.solution import Solution, gradient, levels, margin

PACKAGE = Path(maxmargin.__file__).parent


class Edit(NamedTuple):
    """A change of a file: `old`, which occurs once, becomes `new`."""

    file: str
    old: str
    new: str


# ---- a kernel: Cauchy's, 1 / (1 + gamma |x - z|^2) -----------------------------------------------

CAUCHY = [
    Edit("kernel/kernels.py", "CALLABLE = 9\n", "CALLABLE = 9\n    CAUCHY = 11\n"),
    Edit("kernel/kernels.py", "PARAMETERS = {\n", 'PARAMETERS = {\n    Kind.CAUCHY: ("gamma",),\n'),
    Edit("kernel/kernels.py", "NAMES = {\n", 'NAMES = {\n    "cauchy": Kind.CAUCHY,\n'),
    Edit(
        "kernel/kernels.py",
        "if self.kind in (Kind.LINEAR, Kind.RBF,",
        "if self.kind in (Kind.CAUCHY, Kind.LINEAR, Kind.RBF,",
    ),
    Edit(
        "kernel/evaluation.py",
        "    if kernel.kind is Kind.RBF:\n",
        "    if kernel.kind is Kind.CAUCHY:\n"
        "        return np.asarray(1 / (1 + gamma * _squared_distances(A, B)))\n"
        "    if kernel.kind is Kind.RBF:\n",
    ),
    Edit(
        "kernel/evaluation.py",
        "if kernel.kind in (Kind.RBF, Kind.LAPLACIAN, Kind.CHI2, Kind.COSINE):",
        "if kernel.kind in (Kind.CAUCHY, Kind.RBF, Kind.LAPLACIAN, Kind.CHI2, Kind.COSINE):",
    ),
    Edit(
        "kernel/sources/native.py",
        "        if kernel.kind is not Kind.RBF:\n            affine",
        "        if kernel.kind is Kind.CAUCHY:\n"
        "            return rounding.exponent_error(kernel.gamma, terms, length), False\n"
        "        if kernel.kind is not Kind.RBF:\n            affine",
    ),
    Edit("core/types.h", "rbf_by_differences = 7", "rbf_by_differences = 7, cauchy = 11"),
    Edit(
        "core/maps.h",
        "// use(map) with the map of the kernel\n",
        """template <class T>
struct Cauchy {
  using Op = Dot;
  static constexpr bool bounded = true;
  T gamma;
  explicit Cauchy(const Kernel& k) : gamma(T(k.gamma)) {}
  Vec<T> operator()(Vec<T> raw, T norm_a, Vec<T> norm_b) const {
    const Vec<T> squared = (norm_b + norm_a) - T(2) * raw;
    return T(1) / (T(1) + gamma * squared);
  }
};

// use(map) with the map of the kernel
""",
    ),
    Edit(
        "core/maps.h",
        "    case Kind::linear:",
        "    case Kind::cauchy: return use(Cauchy<T>(kernel));\n    case Kind::linear:",
    ),
    Edit("core/holder.h", "kind <= int(Kind::rbf_by_differences)", "kind <= int(Kind::cauchy)"),
]

CAUCHY_REFERENCE = Edit(
    "core/reference.py",
    "        dot = P @ Q.T\n",
    "        if kind == int(Kind.CAUCHY):\n"
    "            return 1 / (1 + gamma * ((P[:, None] - Q[None]) ** 2).sum(axis=2))\n"
    "        dot = P @ Q.T\n",
)


# ---- a backend: the one in tests/numpy_backend.py, as core/reference.py --------------------------

REFERENCE = [
    Edit(
        "core/choose.py",
        "from maxmargin.core.cpu import CPU",
        "from maxmargin.core.reference import NumpyBackend",
    ),
    Edit("core/choose.py", "CPU()", "NumpyBackend()"),
]


# ---- a solver: pair steps on the whole kernel matrix ---------------------------------------------


def solve(problem, workspace, tol, start=None):
    """Sequential minimal optimisation on the whole kernel matrix, in float64."""
    source, monitor = workspace.source, workspace.monitor
    backend, K = source.backend, source.block(None, None, np.float64)
    Q = backend.gather(K, problem.row, problem.row)
    b = problem.start.copy() if start is None else feasible_start(problem, start)
    n_iter, ended = 0, None
    while True:
        F = K @ fold(problem, b, len(K))
        variables = problem.variables(b, gradient(problem, b, F))
        unit = margin(levels(variables, backend)) if problem.in_margin_units else 1.0
        found = backend.pair_steps(Q, variables, tol / 2 * max(unit, 0.0), most=10_000)
        n_iter += found.taken
        ended = monitor.stop(n_iter)
        if ended is not None or found.taken == 0:
            diagonal = float(np.abs(K.diagonal()).max())
            return Solution(ended, b, F, levels(variables, backend), n_iter, False, diagonal)


# ---- a file format: data as JSON -----------------------------------------------------------------


def read_json(path, options):
    """{"X": rows of numbers, "y": targets}"""
    with open_read(path) as file:
        found = json.load(file)
    X, y = np.array(found["X"], dtype=np.float64), np.array(found["y"])
    return Data(X, y, None, "json", options.source)


def write_json(data, file):
    """The same, sparse data with all their zeros."""
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    file.write(json.dumps({"X": X.tolist(), "y": data.y.tolist()}).encode())


# ---- a copy of the package with the changes ------------------------------------------------------


def changed_copy(folder, edits, new_files=()):
    """A copy of the package with some edits and new files."""
    package = Path(folder) / "maxmargin"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_cpu.__file__, package / "core")
    for name, text in new_files:
        (package / name).write_text(text)
    for file, old, new in edits:
        text = (package / file).read_text()
        assert text.count(old) == 1, f"{file} has {text.count(old)} times {old!r}"
        (package / file).write_text(text.replace(old, new))
    return package


def run_on_copy(package, code):
    """What a program prints that imports the copy instead of the installed package."""
    first = (
        "import sys\n"
        "sys.meta_path[:] = [f for f in sys.meta_path"
        " if not type(f).__module__.startswith('_editable_')]\n"
        f"sys.path.insert(0, {str(package.parent)!r})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", first + code],
        text=True,
        capture_output=True,
        timeout=300,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
