"""The examples of every docstring run and print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

import maxmargin

PACKAGE = Path(maxmargin.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text()
)


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
    assert not said, "".join(said)
