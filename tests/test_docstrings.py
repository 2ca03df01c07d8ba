"""The examples of every docstring run and print what they say; every public name has some."""

import doctest
import importlib
import inspect
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

import maxmargin

matplotlib.use("Agg")
PACKAGE = Path(maxmargin.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text()
)
EXPORTING = ("maxmargin", *(f"maxmargin.{name}" for name in maxmargin._LAZY))


def public(path):
    """The public names of a module; those of a module among them, too."""
    for name in importlib.import_module(path).__all__:
        value = getattr(importlib.import_module(path), name)
        if not inspect.ismodule(value):
            yield path, name
            continue
        for inner, one in vars(value).items():
            if inspect.isfunction(one) and one.__module__ == value.__name__ and inner[0] != "_":
                yield value.__name__, inner


PUBLIC = [one for module in EXPORTING for one in public(module)]


def test_examples_are_found():
    assert {"maxmargin.compression", "maxmargin.model_selection.svc_cv"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [
        one for one in doctest.DocTestFinder().find(importlib.import_module(name)) if one.examples
    ]
    assert found, "examples stand outside docstrings"
    said, long_lines_are_folded = [], doctest.NORMALIZE_WHITESPACE
    for one in found:
        runner = doctest.DocTestRunner(verbose=False, optionflags=long_lines_are_folded)
        runner.run(one, out=said.append)
        plt.close("all")
    assert not said, "".join(said)


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_every_public_name_has_examples(module, name):
    text = getattr(importlib.import_module(module), name).__doc__ or ""
    assert ">>> " in text, "an Examples section is missing"
    assert "doctest: +SKIP" not in text
