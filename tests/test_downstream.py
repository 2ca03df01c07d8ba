"""What `make downstream` concludes from the tests of other packages."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "downstream"
LISTED = "test_sklearn_svm_converters.py::TestSklearnSVM::test_convert_nusvc_binary_ptrue"


@pytest.fixture
def driver(monkeypatch, tmp_path):
    """run.py as a module; its page goes to tmp_path."""
    monkeypatch.syspath_prepend(FOLDER)
    specification = importlib.util.spec_from_file_location("downstream_run", FOLDER / "run.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.delitem(sys.modules, "packages")
    monkeypatch.setattr(module, "SOURCES", tmp_path)
    monkeypatch.setattr(module, "PAGE", tmp_path / "page.md")
    return module


def run(driver, without, patched, fits=1):
    """The exit status of a run in which every package has these outcomes."""
    driver.outcomes = lambda package, *options: (patched, fits) if options else (without, 0)
    return driver.main([])


def test_a_difference_with_a_reason_is_let_through(driver, capsys):
    assert run(driver, {LISTED: True, "t.py::a": True}, {LISTED: False, "t.py::a": True}) == 0
    shown = capsys.readouterr().out
    page = driver.PAGE.read_text()
    assert page in shown
    assert "| tslearn 0.10.0 | 2 | 2 | 1 | 1 | 1 |" in page
    assert f"| `{LISTED}` | fits with `probability=True`" in page


@pytest.mark.parametrize(
    ("without", "patched", "fits", "complaint"),
    [
        ({"t.py::a": True}, {"t.py::a": False}, 1, "NOT KNOWN: t.py::a"),
        ({"t.py::a": True, "t.py::b": True}, {"t.py::b": True}, 1, "NOT KNOWN: t.py::a"),
        ({LISTED: True}, {LISTED: True}, 1, f"NO LONGER: {LISTED}"),
        ({"t.py::a": True}, {"t.py::a": True}, 0, "NOT USED: no test of tslearn"),
    ],
    ids=["fails", "absent", "listed but passes", "no fit of ours"],
)
def test_anything_else_fails(driver, capsys, without, patched, fits, complaint):
    assert run(driver, without, patched, fits) == 1
    assert complaint in capsys.readouterr().out


def test_what_fails_both_ways_does_not_count(driver):
    result = driver.Result(driver.PACKAGES[0], {"t.py::a": False}, {"t.py::a": False}, 1)
    assert result.different == []
    assert driver.complaints([result]) == []


def test_outcomes_are_read_from_a_run_of_pytest(driver, monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "HERE", tmp_path)
    (tmp_path / "conftest.py").write_text(
        "def pytest_terminal_summary(terminalreporter):\n    terminalreporter.write_line('12 fits "
        "by maxmargin')\n"
    )
    (tmp_path / "test_some.py").write_text(
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert 1 - 1\n"
        "@pytest.fixture\n"
        "def broken(): yield; raise ValueError\n"
        "def test_error(broken): pass\n"
    )
    package = driver.Package("some", "1", ("test_some.py",), "here")
    expected = {"good": True, "bad": False, "error": False}
    expected = {f"test_some.py::test_{name}": passed for name, passed in expected.items()}
    assert driver.outcomes(package) == (expected, 12)
