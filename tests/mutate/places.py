"""What is mutated, and by which tests it is judged."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "maxmargin"

MUTATED = (
    "audit.py",
    "boundary.py",
    "calibration.py",
    "certificate.py",
    "core/cpu.py",
    "core/memory.py",
    "core/panels.py",
    "core/threads.py",
    "estimators/_*.py",
    "kernel/*.py",
    "kernel/sources/*.py",
    "linear/*.py",
    "monitor.py",
    "online/*.py",
    "sigmoid.py",
    "status.py",
    "training.py",
    "verdict.py",
)
"""Solvers, certificates, kernels, linear models and the Python around them."""

NOT_JUDGES = (
    "test_architecture.py",
    "test_cli*.py",
    "test_ctrl_c.py",
    "test_doc*.py",
    "test_downstream.py",
    "test_examples.py",
    "regressions/test_hangs_and_threads.py",
    "test_hunt.py",
    "test_linear_real.py",
    "test_memory.py",
    "test_models_corpus.py",
    "test_models_export.py",
    "test_mutate.py",
    "test_notebooks.py",
    "test_plots*.py",
    "test_programs*.py",
    "test_readme.py",
    "test_sklearn_suite.py",
    "test_svmlight.py",
    "test_tables.py",
    "test_textbook.py",
)
"""Tests that run the code in other processes, take long, or look at other parts."""


SETTINGS = "Settings"
"""The class that holds a solver's settings, one frozen record in each solver's file: the size of a
block, a share, patience. A setting decides how fast a solution is found and may have any value, so
it is not mutated. What a solution is worth is decided by the certificate, whose constants are."""


def sources() -> list[Path]:
    """The files that are mutated."""
    return sorted({path for pattern in MUTATED for path in PACKAGE.glob(pattern)})


def judges() -> list[Path]:
    """The test modules that judge, those of single parts first."""
    folder = ROOT / "tests"
    left_out = {path for pattern in NOT_JUDGES for path in folder.glob(pattern)}
    return [
        path
        for path in (
            *sorted(folder.glob("test_*.py")),
            *sorted(folder.glob("regressions/test_*.py")),
        )
        if path not in left_out
    ]


def functions(tree: ast.Module) -> dict[ast.AST, str]:
    """The qualified name of the function, class or module constant that each node belongs to, ""
    for the rest.
    """
    found: dict[ast.AST, str] = {}

    def visit(node: ast.AST, name: str) -> None:
        found[node] = name
        for child in ast.iter_child_nodes(node):
            inner = isinstance(child, ast.FunctionDef | ast.ClassDef)
            visit(child, f"{name}.{child.name}".lstrip(".") if inner else name)

    visit(tree, "")
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            found.update(dict.fromkeys(ast.walk(statement), constant_name(statement)))
    return found


def constant_name(statement: ast.Assign | ast.AnnAssign) -> str:
    """The name that a statement at the top level gives a value; the first of several."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    return ast.unparse(target.elts[0] if isinstance(target, ast.Tuple) else target)
