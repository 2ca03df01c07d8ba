"""Odd data files and command lines: read rightly or refused with the file, the place and the remedy; never read wrongly."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from command import answer, heart, run


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def features_of(name):
    """What is read from a file, as another program reads what is converted."""
    run("convert", name, "read.npz")
    return np.load("read.npz")["X"] if "X" in np.load("read.npz") else sparse.load_npz("read.npz").toarray()


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_matrices_are_read_as_they_say(kind):
    A = np.arange(16.0).reshape(4, 4) * (np.arange(16).reshape(4, 4) % 3 > 0)
    sparse.save_npz("a.npz", sparse.csr_matrix(A).asformat(kind))
    np.testing.assert_array_equal(features_of("a.npz"), A)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.array([[1.0, 2j], [3, 4]])}, "type complex128"),
        ({"X": np.array([[1.0, np.nan], [3, 4]])}, "1 values that are no finite numbers"),
        ({"X": np.ones(4)}, "shape (4,)"),
        ({"X": np.ones((0, 4))}, "shape (0, 4)"),
        ({"X": np.ones((2, 2)), "y": [1.0, np.nan]}, "row 2: the target is missing or infinite"),
        ({"X": np.ones((2, 2)), "y": [1.0, np.inf]}, "row 2: the target is missing or infinite"),
        ({"X": np.ones((2, 2)).astype("M8[s]")}, "type datetime64"),
    ],
)
def test_arrays_that_are_no_data(arrays, message):
    np.savez("a.npz", **arrays)
    error = run("train", "a.npz", "m.mm", code=1).stderr
    assert "a.npz" in error
    assert message in error


def test_a_missing_target_has_a_place():
    Path("a.csv").write_text("a,target\n1,0\n2,nan\n")
    assert "a.csv, line 3: the target is missing or infinite" in run("train", "a.csv", code=1).stderr


def test_no_option_is_ignored():
    heart("a.svm", n=40)
    assert "C is given twice" in run("train", "a.svm", "-C", "2", "--set", "C=1", code=2).stderr
    assert "tol is given twice" in run("train", "a.svm", "--set", "tol=1", "--set", "tol=2", code=2).stderr
    assert "C cannot both vary" in run("tune", "a.svm", "-C", "2", "--set", "C=1", code=2).stderr
    assert "gamma cannot both vary" in run("tune", "a.svm", "--vary", "gamma=1,2", "--set", "gamma=1", code=2).stderr
    found = answer("tune", "a.svm", "-C", "1,2", "--set", "gamma=0.5", "--cv", "2", "--model", "m.mm")
    assert [set(row["parameters"]) for row in found["results"]] == [{"C"}, {"C"}]
    assert answer("inspect", "m.mm")["parameters"]["gamma"] == 0.5


@pytest.mark.parametrize(
    "line",
    [
        ["train", "none.svm"],
        ["predict", "none.svm", "none.mm"],
        ["inspect", "none.mm"],
        ["scale", "none.svm", "b.svm"],
        ["tune", "none.svm"],
        ["check", "none.svm"],
        ["convert", "none.svm", "b.csv"],
        ["plot", "none.svm", "none.mm", "b.png"],
        ["subset", "none.svm", "3", "b.svm"],
        ["bench", "none.svm"],
    ],
)
def test_failures_are_json_as_well(line):
    result = run(*line, "--json", code=1)
    assert "no file none" in json.loads(result.stdout)["error"]
    assert result.stderr.startswith("error: no file none")


def test_reports_are_lines():
    """Neither filled up with blanks nor folded: grep and cut read them."""
    heart("a.svm", n=40)
    lines = run("train", "a.svm", "m.mm").stdout.splitlines()
    assert all(line == line.rstrip() for line in lines)
    (certificate,) = (line for line in lines if line.startswith("certificate"))
    assert certificate.endswith("steps")
    assert len(certificate) > 80
    Path("wide.csv").write_text(",".join([f"[red]{k}" for k in range(30)] + ["target"]) + "\n" + "1," * 30 + "0\n" + "2," * 30 + "1\n")
    run("train", "wide.csv", "w.mm")
    assert "[red]19 and 10 more" in run("inspect", "w.mm").stdout
