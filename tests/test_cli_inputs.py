"""Odd data files and command lines: read rightly or refused with the file, the place and the
remedy; never read wrongly."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from command import answer, heart, house, run
from maxmargin.io import load_svmlight


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def features_of(name):
    """What is read from a file, as another program reads what is converted."""
    run("convert", name, "read.npz")
    return (
        np.load("read.npz")["X"]
        if "X" in np.load("read.npz")
        else sparse.load_npz("read.npz").toarray()
    )


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_matrices_are_read_as_they_say(kind):
    A = np.arange(16.0).reshape(4, 4) * (np.arange(16).reshape(4, 4) % 3 > 0)
    sparse.save_npz("a.npz", sparse.csr_matrix(A).asformat(kind))
    np.testing.assert_array_equal(features_of("a.npz"), A)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.array([[1.0, 2j], [3, 4]])}, "type complex128"),
        ({"X": np.array([[1.0, np.nan], [3, 4]])}, "1 values that are not finite numbers"),
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
    assert (
        "a.csv, line 3, column 2: the target is missing or infinite"
        in run("train", "a.csv", code=1).stderr
    )


def test_no_option_is_ignored():
    heart("a.svm", n=40)
    assert "C is given twice" in run("train", "a.svm", "-C", "2", "--set", "C=1", code=2).stderr
    assert (
        "tol is given twice"
        in run("train", "a.svm", "--set", "tol=1", "--set", "tol=2", code=2).stderr
    )
    assert "C cannot both vary" in run("tune", "a.svm", "-C", "2", "--set", "C=1", code=2).stderr
    assert (
        "gamma cannot both vary"
        in run("tune", "a.svm", "--vary", "gamma=1,2", "--set", "gamma=1", code=2).stderr
    )
    found = answer(
        "tune", "a.svm", "-C", "1,2", "--set", "gamma=0.5", "--cv", "2", "--model", "m.mm"
    )
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
    Path("wide.csv").write_text(
        ",".join([f"[red]{k}" for k in range(30)] + ["target"])
        + "\n"
        + "1," * 30
        + "0\n"
        + "2," * 30
        + "1\n"
    )
    run("train", "wide.csv", "w.mm")
    assert "[red]9 and 20 more" in run("inspect", "w.mm").stdout


# ---- text that is not as it should be ------------------------------------------------------------

TABLE = "a,b,target\n0.5,2,x\n3,4,y\n"


@pytest.mark.parametrize("delimiter", [";", "\t", ","])
def test_the_first_line_says_what_separates_fields(delimiter):
    for name in ("a.csv", "a"):
        Path(name).write_text(TABLE.replace(",", delimiter))
        np.testing.assert_array_equal(features_of(name), [[0.5, 2], [3, 4]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,größe,target\n".encode("latin-1"), "line 1: this is not UTF-8 text: convert the file"),
        (TABLE.encode() + b"1,2,\xff\n", "line 4: this is not UTF-8 text"),
        (TABLE.encode("utf-16"), "line 1: this is not UTF-8 text"),
        (TABLE.encode() + b'1,"2,x\n', "line 4: unexpected end of data: is a quotation mark open"),
        (TABLE.replace(",", " ").encode(), "separated by commas, semicolons or tabs"),
        (
            TABLE.replace(",", ";").replace("0.5", "0,5").encode(),
            "line 2, column 1: 'a' has '0,5': write decimals with a point",
        ),
        (TABLE.replace("0.5", "").encode(), "line 2, column 1: 'a' has no value here"),
    ],
)
def test_text_that_is_no_table(content, message):
    Path("a.csv").write_bytes(content)
    error = run("train", "a.csv", code=1).stderr
    assert error.startswith("error: a.csv")
    assert message in error


@pytest.mark.parametrize("packed", [gzip, bz2, lzma])
@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a"])
def test_a_compressed_file_that_is_cut_off(packed, name):
    np.save("x.npy", np.random.default_rng(0).normal(size=(200, 3)))
    whole = (
        Path("x.npy").read_bytes() if name == "a.npy" else TABLE.encode() + b"0.1,0.2,x\n" * 20_000
    )
    Path(name).write_bytes(packed.compress(whole)[:-20])
    assert (
        "cannot be decompressed; it is damaged or cut off"
        in run("train", name, "m.mm", code=1).stderr
    )


# ---- models and pictures -------------------------------------------------------------------------


def test_cross_validation_of_a_precomputed_kernel():
    X, y = heart("a.svm", n=60)
    np.savez("k.npz", X=X @ X.T, y=y)
    given = answer("train", "k.npz", "k.mm", "--kernel", "precomputed", "--cv", "3")
    linear = answer("train", "a.svm", "l.mm", "--kernel", "linear", "--cv", "3")
    assert given["cross_validation"] == linear["cross_validation"]


def test_a_model_is_not_written_under_the_name_of_something_else():
    heart("a.svm", n=40)
    run("train", "a.svm", "m.mm")
    for name in ("b.csv", "b.svm.gz", "b.npz", "b.pkl", "b.joblib", "b.xyz", "b", "b.mm.gz"):
        assert "another kind of file" in run("train", "a.svm", name, code=2).stderr
        assert "another kind of file" in run("convert", "m.mm", name, code=2).stderr
        assert (
            "another kind of file"
            in run("tune", "a.svm", "-C", "1", "--gamma", "1", "--model", name, code=2).stderr
        )
    assert "joblib.dump" in run("convert", "m.mm", "b.pkl", code=2).stderr
    assert "another kind of file" in run("train", "a.svm", "b.onnx", code=2).stderr
    run("convert", "m.mm", "b.model.gz")
    assert gzip.decompress(Path("b.model.gz").read_bytes()).startswith(b"svm_type c_svc\n")
    run("train", "a.svm", "b.csv", "--format", "mm")
    assert answer("inspect", "b.csv")["estimator"] == "SVC"


def test_pictures_that_cannot_be_drawn():
    heart("a.svm", n=40)
    house("h.svm", n=40)
    run("train", "a.svm", "m.mm")
    run("train", "h.svm", "r.mm", "--problem", "svr")
    run("train", "a.svm", "o.mm", "--problem", "one-class")
    assert (
        "use tube, kernel-matrix"
        in run("plot", "h.svm", "r.mm", "p.png", "--kind", "outliers", code=1).stderr
    )
    assert (
        "use tube, kernel-matrix"
        in run("plot", "h.svm", "r.mm", "p.png", "--kind", "decision", code=1).stderr
    )
    assert (
        "use decision, classes, kernel-matrix"
        in run("plot", "a.svm", "m.mm", "p.png", "--kind", "tube", code=1).stderr
    )
    for features in ("1", "1,1", "1,2,3"):
        assert (
            "two different names"
            in run("plot", "a.svm", "m.mm", "p.png", "--features", features, code=1).stderr
        )
        assert (
            "two different names"
            in run("plot", "a.svm", "o.mm", "p.png", "--features", features, code=1).stderr
        )
    assert "ends in .png" in run("plot", "a.svm", "m.mm", "p.xyz", code=2).stderr
    assert "ends in .png" in run("tune", "a.svm", "--picture", "p.xyz", code=2).stderr
    assert not list(Path().glob("*p.*"))


# ---- nothing is left out silently ----------------------------------------------------------------


def test_queries_stay_with_their_rows():
    text = "".join(f"{k % 2} qid:{k // 3 + 1} 1:{k + 1} 2:{-k}\n" for k in range(12))
    Path("a.svm").write_text(text)
    run("convert", "a.svm", "b.svm")
    np.testing.assert_array_equal(load_svmlight("b.svm", query_id=True)[2], np.arange(12) // 3 + 1)
    run("subset", "a.svm", "6", "c.svm", "--rest", "d.svm")
    run("scale", "c.svm", "e.svm")
    rows, _, some = load_svmlight("c.svm", query_id=True)
    np.testing.assert_array_equal(some, (rows.toarray()[:, 0] - 1) // 3 + 1)
    np.testing.assert_array_equal(load_svmlight("e.svm", query_id=True)[2], some)
    assert "has queries (qid)" in run("convert", "a.svm", "b.csv", code=1).stderr
    run("convert", "a.svm", "z.svm", "--write-zero-based")


def test_options_of_other_formats():
    Path("a.csv").write_text(TABLE)
    np.save("a.npy", np.eye(3))
    assert "only the indices of svmlight" in run("train", "a.csv", "--zero-based", code=1).stderr
    assert "is for CSV and TSV files" in run("train", "a.npy", "--no-header", code=1).stderr
    heart("a.svm", n=10)
    assert "is for CSV and TSV files" in run("train", "a.svm", "--header", code=1).stderr


def test_data_are_not_written_as_a_model_nor_larger_than_memory():
    heart("a.svm", n=10)
    for name in ("b.mm", "b.model", "b.onnx"):
        assert "is the name of a model" in run("convert", "a.svm", name, code=2).stderr
    Path("wide.svm").write_text("1 999999999:1\n-1 1:2\n")
    for name in ("b.csv", "b.npy", "b.parquet"):
        assert (
            "2 x 999999999 values would be written"
            in run("convert", "wide.svm", name, code=1).stderr
        )
    assert not Path("b.csv").exists()


def test_classes_weights_and_folds_that_are_not_there():
    Path("a.csv").write_text(TABLE.replace("y\n", "x\n"))
    assert "all targets of a.csv are 'x'" in run("train", "a.csv", code=1).stderr
    assert "all targets of a.csv are 'x'" in run("tune", "a.csv", code=1).stderr
    Path("a.csv").write_text(TABLE.replace("x", "1").replace("y", "2.5"))
    assert (
        "targets like 2.5, which are not classes: --problem svr?"
        in run("train", "a.csv", code=1).stderr
    )
    heart("a.svm", n=40)
    assert (
        "name 7, the classes of a.svm are -1, 1"
        in run("train", "a.svm", "--class-weight", "1=2,7=3", code=1).stderr
    )
    assert "60 folds need" in run("tune", "a.svm", "--cv", "60", code=1).stderr
    assert (
        "35 folds need at least 35 samples of each class"
        in run("tune", "a.svm", "--cv", "35", code=1).stderr
    )
