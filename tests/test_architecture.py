"""Imports point one way: estimators -> training -> online -> kernel -> linear -> verdict ->
core."""

import ast
from pathlib import Path

import pytest

import maxmargin

ROOT = Path(maxmargin.__file__).parent
LAYERS = [
    {"core", "suggestions"},
    {"status", "boundary"},
    {"monitor", "certificate", "audit", "integrity", "isotonic", "sigmoid"},
    {"verdict", "workspace", "intervals"},
    {"linear"},
    {"kernel"},
    {"online", "calibration", "semi_supervised", "structured"},
    {"metrics", "training"},
    {"estimators"},
    {"compression", "model_selection"},
    {"sklearn_patch", "plots", "io"},
    {"textbook"},
    {"cli"},
    {"__init__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(ROOT.rglob("*.py"))


def part(path):
    """The top-level module or folder a file belongs to."""
    inside = path.relative_to(ROOT)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def imported(path):
    """Names below maxmargin that a file imports at its top level."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "maxmargin"
        ):
            rest = node.module.split(".")[1:]
            found |= {rest[0]} if rest else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.split(".")[1]
                for alias in node.names
                if alias.name.startswith("maxmargin.")
            }
    return found


def modules_of(path):
    """Modules below maxmargin, without that prefix, that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "maxmargin"
        ):
            base = node.module.split(".")[1:]
            for alias in node.names:
                whole = [*base, alias.name]
                place = ROOT.joinpath(*whole)
                found.add(
                    ".".join(
                        whole
                        if place.with_suffix(".py").exists()
                        or place.is_dir()
                        or alias.name == "_cpu"
                        else base
                    )
                )
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    here = part(path)
    for name in imported(path):
        assert name == here or LEVEL[name] < LEVEL[here], f"{here} must not import {name}"


def test_every_part_has_a_layer():
    assert {part(path) for path in FILES} <= set(LEVEL)


def test_certificate_shares_no_code_with_the_solver():
    allowed = {
        "certificate.py": {"core.arrays", "status"},
        "linear/certificate.py": {"core.arrays", "certificate"},
        "kernel/certificate.py": {"core.arrays", "certificate", "kernel.tube"},
        "kernel/tube.py": {"core.arrays"},
        "kernel/evaluation.py": {
            "core.arrays",
            "core.threads",
            "kernel.empty_columns",
            "kernel.kernels",
        },
    }
    for name, modules in allowed.items():
        assert modules_of(ROOT / name) <= modules, name


def test_core_imports_nothing_of_ours():
    for path in (ROOT / "core").glob("*.py"):
        assert imported(path) <= {"core"}


@pytest.mark.parametrize(
    "path", [p for p in FILES if part(p) != "core"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_only_the_core_names_a_machine(path):
    """Solvers, caches and sources are given a backend; choose.py is the one place that picks it."""
    assert not modules_of(path) & {"core.cpu", "core._cpu"}


WITH_THE_DATA = [
    ROOT / "kernel" / f"{name}.py"
    for name in (
        "block",
        "bordered",
        "cache",
        "newton",
        "newton_systems",
        "primal_newton",
        "solution",
        "squared_primal",
        "state",
        "subsample",
        "working_set",
    )
]
NOT_ARRAYS = {
    "bool_",
    "dtype",
    "errstate",
    "finfo",
    "float32",
    "float64",
    "inf",
    "int64",
    "linalg.LinAlgError",
    "random.Generator",
    "random.default_rng",
}
"""Types, numbers and errors of NumPy, and draws, which are made on the host."""


def numpy_names(tree):
    """What code takes from NumPy: its functions and types, those of submodules by two names."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Attribute(ast.Name("np"), "linalg" | "random" as part), name):
                yield f"{part}.{name}"
            case ast.Attribute(ast.Name("np"), name) if name not in ("linalg", "random"):
                yield name


def test_functions_of_numpy_are_found():
    code = (
        "np.linalg.solve(a, np.where(b)[0].T)\nxp.sum(np.inf, np.random.default_rng(0).choice(3))"
    )
    found = set(numpy_names(ast.parse(code)))
    assert found == {"linalg.solve", "where", "inf", "random.default_rng"}


@pytest.mark.parametrize("path", WITH_THE_DATA, ids=lambda p: p.name)
def test_arrays_that_live_with_the_data_are_not_numpys(path):
    """Solvers take their functions from source.backend.xp; see core/backend.py."""
    assert set(numpy_names(ast.parse(path.read_text()))) <= NOT_ARRAYS


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_functions_are_documented(path):
    """Every file and every public name has a docstring."""
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path.name}: {node.name}"


def printed(tree):
    """Where the built-in print writes to anything but a file that the call names, and where
    standard output is written to.
    """
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "print"
        ):
            if not any(keyword.arg == "file" for keyword in node.keywords):
                yield node.lineno
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in (
            "sys.stdout",
            "sys.__stdout__",
        ):
            yield node.lineno


def test_a_print_is_found():
    code = "print(1)\nprint(2, file=sys.stderr)\nconsole.print(3)\nsys.stdout.write('4')"
    assert list(printed(ast.parse(code))) == [1, 4]


WRITERS = {ROOT / "io" / "files.py"}
"""Files of the library that write to standard output where the user names it, as "-"."""


@pytest.mark.parametrize(
    "path", [p for p in FILES if part(p) != "cli"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_nothing_is_printed(path):
    """Only commands write to standard output unasked; the library logs, or warns."""
    if path in WRITERS:
        assert list(printed(ast.parse(path.read_text()))), "no longer needed in WRITERS"
        return
    assert not list(printed(ast.parse(path.read_text())))


def says_optimal(path):
    """Whether a file names the status "optimal" other than to compare with it."""
    tree = ast.parse(path.read_text())
    compared = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.Compare)
        for node in ast.walk(test)
    }
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "OPTIMAL")
        or (isinstance(node, ast.Constant) and node.value == "optimal")
        for node in ast.walk(tree)
        if id(node) not in compared
    )


def test_one_place_says_optimal():
    """A result is called optimal by verdict.py and nowhere else."""
    places = {str(path.relative_to(ROOT)) for path in FILES if says_optimal(path)}
    assert places - {"status.py"} == {"verdict.py"}


# ---- the records of fitted models ----------------------------------------------------------------

NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
TAKES_RECORDS = [path for path in FILES if part(path) in {"io", "cli", "compression"}]


def private_attributes(tree):
    """Attributes that begin with one underscore, read by dot or by name, of other objects than
    ``self``, ``cls``, modules, and scikit-learn's estimators and scorers.
    """
    own = {"self", "cls", "sklearn_model", "score"}
    modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name, owner = node.attr, ast.unparse(node.value)
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("getattr", "setattr", "hasattr", "delattr")
            and isinstance(node.args[1], ast.Constant)
        ):
            name, owner = node.args[1].value, ast.unparse(node.args[0])
        else:
            continue
        private = name.startswith("_") and not name.startswith("__")
        if private and name not in NAMED_TUPLES and owner not in own | modules:
            yield f"{owner}.{name}"


def test_a_private_attribute_is_found():
    code = "import a\na._x\nself._y\nmodel._z\ngetattr(m, '_w', 0)\nm.__dict__\nm._replace()\nm.u_"
    assert sorted(private_attributes(ast.parse(code))) == ["m._w", "model._z"]


@pytest.mark.parametrize("path", TAKES_RECORDS, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_commands_take_the_record_of_a_model(path):
    """They read no private attribute of an estimator."""
    assert list(private_attributes(ast.parse(path.read_text()))) == []


# ---- sizes ---------------------------------------------------------------------------------------

PROJECT = Path(__file__).parent.parent
PYTHON = sorted(
    path
    for folder in ("src", "benchmarks", "examples", "tools")
    for path in (PROJECT / folder).rglob("*.py")
)
WRITTEN = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "examples", "tools")
    for path in (PROJECT / folder).rglob("*")
    if path.suffix == ".py" or (folder == "src" and path.suffix in (".pyi", ".h", ".cpp"))
)
LONGEST_LINE, LONGEST_FILE, LONGEST_FUNCTION = 100, 400, 60
"""Characters of a line; lines of a file; lines of a function without signature and docstring."""


def lengths(tree):
    """The name of each function and the number of lines of its statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node) is not None and len(node.body) > 1
            yield node.name, node.end_lineno - node.body[int(documented)].lineno + 1


def test_the_lines_of_a_function_are_counted():
    code = 'def f(\n    a,\n):\n    """One\n    two."""\n    a += 1\n    return a\n'
    assert list(lengths(ast.parse(code))) == [("f", 2)]


def test_lines_are_short():
    long = [
        f"{path.relative_to(PROJECT)}:{number}"
        for path in WRITTEN
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert not long


def test_files_and_functions_are_short():
    """A file has one job, and a function fits on a screen."""
    long = []
    for path in PYTHON:
        text = path.read_text()
        long += [str(path)] * (len(text.splitlines()) >= LONGEST_FILE)
        long += [
            f"{path.relative_to(PROJECT)}: {name}"
            for name, length in lengths(ast.parse(text))
            if length >= LONGEST_FUNCTION
        ]
    assert not long
