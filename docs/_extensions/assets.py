"""Files of the site beside its pages: the lab, as ``maxmargin lab`` serves it, and MathJax."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "src" / "maxmargin" / "lab" / "index.html"
MATHJAX = "tex-svg.js"
"""MathJax with all it needs in one file: formulas are drawn as paths, without fonts."""


def mathjax() -> Path:
    """The file in the package that brings it."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "static" / "mathjax" / MATHJAX


def copy(app: Any, error: Exception | None) -> None:
    """After the build."""
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / "lab").mkdir(exist_ok=True)
        shutil.copy2(LAB, Path(app.outdir) / "lab" / "index.html")
        shutil.copy2(mathjax(), Path(app.outdir) / "_static" / MATHJAX)


def setup(app: Any) -> dict[str, bool]:
    """Connect to the end of the build."""
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True}
