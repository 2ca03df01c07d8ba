"""What is mutated, and by which tests it is judged."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "maxmargin"

MUTATED = (
    "calibration.py",
    "certificate.py",
    "columns.py",
    "core/cpu.py",
    "designs.py",
    "estimators/_*.py",
    "kernels.py",
    "linear_*.py",
    "losses.py",
    "monitor.py",
    "multiclass.py",
    "problems.py",
    "rounding.py",
    "rows.py",
    "shared.py",
    "solution.py",
    "solvers/*.py",
    "solvers/linear/*.py",
    "sources/*.py",
    "training.py",
    "verdict.py",
)
"""Solvers, certificates, kernels, linear models and the Python around them."""

NOT_JUDGES = (
    "test_architecture.py",
    "test_cli*.py",
    "test_doc*.py",
    "regressions/test_hangs_and_threads.py",
    "test_linear_real.py",
    "test_memory.py",
    "test_models*.py",
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


def sources() -> list[Path]:
    """The files that are mutated."""
    return sorted({path for pattern in MUTATED for path in PACKAGE.glob(pattern)})


def judges() -> list[Path]:
    """The test modules that judge, those of single parts first."""
    folder = ROOT / "tests"
    left_out = {path for pattern in NOT_JUDGES for path in folder.glob(pattern)}
    return [path for path in (*sorted(folder.glob("test_*.py")), *sorted(folder.glob("regressions/test_*.py"))) if path not in left_out]


def functions(tree: ast.Module) -> dict[ast.AST, str]:
    """The qualified name of the function or class that each node belongs to, "" at the top level."""
    found: dict[ast.AST, str] = {}

    def visit(node: ast.AST, name: str) -> None:
        found[node] = name
        for child in ast.iter_child_nodes(node):
            inner = isinstance(child, ast.FunctionDef | ast.ClassDef)
            visit(child, f"{name}.{child.name}".lstrip(".") if inner else name)

    visit(tree, "")
    return found
