"""Data files of every kind: the same X, y and names, found out or told.

What cannot be read is an error that says where.
"""

import bz2
import gzip
import io

import numpy as np
import pytest
from scipy import sparse

from maxmargin.io import files, table_formats
from maxmargin.io.table_columns import Data
from maxmargin.io.table_roles import Options
from maxmargin.io.tables import format_of, read_table
from maxmargin.io.tables_write import write_table

pytestmark = pytest.mark.filterwarnings("ignore:.* is taken as the target")
rng = np.random.default_rng(0)
X = np.where(rng.random((20, 4)) < 0.3, 0.0, rng.normal(size=(20, 4)))
Y = rng.integers(0, 3, 20)
NAMES = ["a", "b", "c d", "e,f"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "npy", "npz", "parquet", "svmlight"])
@pytest.mark.parametrize("packed", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_round_trip(tmp_path, kind, packed, target):
    y = Y if target == "classes" else rng.normal(size=20)
    path = tmp_path / f"data.{'svm' if kind == 'svmlight' else kind}{packed}"
    assert write_table(Data(X, y, NAMES, "", ""), path) == kind
    for options in (Options(), Options(format=kind)):
        data = read_table(path, options)
        A = data.X.toarray() if sparse.issparse(data.X) else data.X
        np.testing.assert_array_equal(A, X)
        np.testing.assert_array_equal(data.y, y)
        assert data.format == kind
        assert data.names == (NAMES if kind in ("csv", "tsv", "npz", "parquet") else None)


@pytest.mark.parametrize("kind", ["csv", "tsv", "npy", "npz", "svmlight", "parquet"])
def test_the_content_says_what_it_is(tmp_path, kind):
    write_table(Data(X, Y, None, "", ""), tmp_path / "data", kind)
    assert format_of(tmp_path / "data") == kind
    (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / "data").read_bytes()))
    assert format_of(tmp_path / "packed") == kind


def test_sparse_and_words(tmp_path):
    words = np.array(["x", "y"])[Y % 2]
    write_table(Data(sparse.csr_matrix(X), words, None, "", ""), tmp_path / "a.npz")
    data = read_table(tmp_path / "a.npz")
    assert sparse.issparse(data.X)
    np.testing.assert_array_equal(data.X.toarray(), X)
    assert data.y.tolist() == words.tolist()
    with pytest.raises(ValueError, match=r"write \.npz"):
        write_table(Data(X, words, None, "", ""), tmp_path / "a.npy")
    assert not (tmp_path / "a.npy").exists()
    with pytest.raises(ValueError, match="must hold numbers"):
        write_table(Data(X, words, None, "", ""), tmp_path / "a.svm")


CSV = "one,label,three\n1,cat,2\n3,dog,4\n"


@pytest.mark.parametrize(
    ("text", "options", "X_goal", "y_goal", "names"),
    [
        (CSV, {}, [[1, 2], [3, 4]], ["cat", "dog"], ["one", "three"]),
        (CSV.replace("\n", "\r\n"), {}, [[1, 2], [3, 4]], ["cat", "dog"], ["one", "three"]),
        ("\ufeff" + CSV, {}, [[1, 2], [3, 4]], ["cat", "dog"], ["one", "three"]),
        (CSV, {"target": "label"}, [[1, 2], [3, 4]], ["cat", "dog"], ["one", "three"]),
        (CSV, {"target": "2"}, [[1, 2], [3, 4]], ["cat", "dog"], ["one", "three"]),
        (CSV, {"target": -2}, [[1, 2], [3, 4]], ["cat", "dog"], ["one", "three"]),
        ("1,2,0\n3,4,1\n", {}, [[1, 2], [3, 4]], [0, 1], None),
        ("1,2,0\n3,4,1\n", {"target": 1}, [[2, 0], [4, 1]], [1, 3], None),
        ("1,2,0\n3,4,1\n", {"target": "none"}, [[1, 2, 0], [3, 4, 1]], None, None),
        ("1,2,0\n3,4,1\n", {"n_features": 3}, [[1, 2, 0], [3, 4, 1]], None, None),
        ("1,2,0\n3,4,1\n", {"header": True}, [[3, 4]], [1], ["1", "2"]),
        ("1,2,0.5\n3,4,1\n", {}, [[1, 2], [3, 4]], [0.5, 1], None),
        ('"a, b",y\n1,2\n', {}, [[1]], [2], ["a, b"]),
    ],
)
def test_tables_of_text(tmp_path, text, options, X_goal, y_goal, names):
    (tmp_path / "a.csv").write_bytes(text.encode())
    data = read_table(tmp_path / "a.csv", Options(**options))
    assert data.X.tolist() == X_goal
    assert (None if data.y is None else data.y.tolist()) == y_goal
    assert data.names == names


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "has no samples"),
        ("a,b\n", {}, "a header but no samples"),
        ("1,2\n3\n", {}, "line 2: 1 fields, the first line has 2"),
        (
            "a,b\n1,2\n,3\n",
            {},
            r"line 3, column 1: 'a' has no value here \(1 missing in this column\): fill "
            r".*--ignore a",
        ),
        ("a,b\n1,2\nNaN,3\n", {}, r"line 3, column 1: 'a' has no value here"),
        ("a,b\n1,2\n1_0,3\n", {}, r"line 3, column 1: 'a' has '1_0', which is not a number"),
        (
            "a,b\nred,2\nblue,3\n",
            {},
            r"'a' holds words \('red', 'blue'; 2 different ones\).*--ignore a\); is it the target "
            r"\(--target a\)",
        ),
        ("a,b\n1,2\n", {"target": "c"}, "has no column 'c': its columns are a, b"),
        ("1,2\n", {"target": "c"}, "give the column's number"),
        ("1,2\n", {"target": "7"}, "has 2 columns"),
        ("y\n1\n", {}, "no column besides the target"),
        ('a,b\n"1,2\n', {}, "unexpected end of data"),
        (b"a,b\n\xff,2\n", {}, "line 2: this is not UTF-8 text"),
    ],
)
def test_bad_tables(tmp_path, text, options, message):
    (tmp_path / "a.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message) as error:
        read_table(tmp_path / "a.csv", Options(**options))
    assert "a.csv" in str(error.value)


def test_bad_arrays(tmp_path):
    np.save(tmp_path / "flat.npy", np.arange(3.0))
    with pytest.raises(ValueError, match="rows and columns are needed"):
        read_table(tmp_path / "flat.npy")
    np.save(tmp_path / "objects.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        read_table(tmp_path / "objects.npy")
    np.savez(tmp_path / "other.npz", Z=np.eye(2))
    with pytest.raises(ValueError, match="an array X was expected"):
        read_table(tmp_path / "other.npz")
    np.savez(tmp_path / "short.npz", X=np.eye(2), y=np.ones(3))
    with pytest.raises(ValueError, match="y has shape"):
        read_table(tmp_path / "short.npz")
    broken = {
        "data": np.ones(2),
        "indices": np.array([0, 99]),
        "indptr": np.array([0, 1, 2]),
        "shape": np.array([2, 2]),
    }
    np.savez(tmp_path / "broken.npz", **broken)
    with pytest.raises(ValueError, match=r"broken\.npz"):
        read_table(tmp_path / "broken.npz")
    for name in ("cut.npz", "cut.npy", "cut.parquet"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 nothing")
        with pytest.raises(ValueError, match=name):
            read_table(tmp_path / name)
    with pytest.raises(ValueError, match="must be one of svmlight"):
        read_table(tmp_path / "cut.npy", Options(format="xml"))
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "nowhere.csv")


def test_compressed_by_content(tmp_path):
    packed = bz2.compress(CSV.encode())
    (tmp_path / "a.csv").write_bytes(packed)
    assert read_table(tmp_path / "a.csv").names == ["one", "three"]
    buffer = io.BytesIO()
    np.save(buffer, np.eye(3))
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(buffer.getvalue()))
    assert (
        read_table(tmp_path / "a.npy.gz", Options(target="none")).X.tolist() == np.eye(3).tolist()
    )


@pytest.mark.parametrize(
    "text",
    [
        "a,b,target\n1,2,0\n3,4.5,1\n",
        "\n\na,b,target\n\n1,2,0\r\n3,4.5,1\n\n",
        '"a\nb",b,target\n1,2,0\n3,"4.5",1\n',
        "1;2;0\n3;4.5;1\n",
        " 1 , 2e-3 ,0.5\n+3,-4.5,1\n",
    ],
)
def test_the_fast_way_of_numbers_is_the_slow_way(tmp_path, monkeypatch, text):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    assert table_formats._all_numbers(text, ";" if ";" in text else ",", 99, 3) is None
    fast = read_table(path)
    monkeypatch.setattr(table_formats, "_all_numbers", lambda *_: None)
    slow = read_table(path)
    assert fast.X.shape == (2, 2)
    np.testing.assert_array_equal(fast.X, slow.X)
    np.testing.assert_array_equal(fast.y, slow.y)
    assert fast.y.dtype == slow.y.dtype
    assert (fast.names, fast.target) == (slow.names, slow.target)


@pytest.mark.parametrize("cell", ["1_0", "nan", "1e999", "0x10", "", "one"])
def test_what_is_no_number_is_none_in_either_way(tmp_path, cell):
    path = tmp_path / "a.csv"
    path.write_text(f"1,2,0\n3,{cell},1\n")
    with pytest.raises(ValueError, match="line 2, column 2"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "samples", "names"),
    [
        # words under words are the classes of two samples, not a header
        ("5.1,3.5,setosa\n6.2,2.2,virginica\n", 2, None),
        ("a,b,species\n5.1,3.5,setosa\n", 1, ["a", "b"]),
        ("2019,2020,price\n1,2,3\n", 1, ["2019", "2020"]),
        (",b,price\n1,2,3\n", 1, ["", "b"]),
        ("1,2,3\n4,5,6\n", 2, None),
    ],
)
def test_a_header_is_found_out(tmp_path, text, samples, names):
    (tmp_path / "a.csv").write_text(text)
    data = read_table(tmp_path / "a.csv")
    assert data.X.shape == (samples, 2)
    assert data.names == names


def test_a_missing_value_in_the_first_line_is_no_header(tmp_path):
    for cell in ("", "NA", "?"):
        (tmp_path / "a.csv").write_text(f"1,{cell},0\n2,3,1\n")
        with pytest.raises(
            ValueError, match=r"line 1, column 2: this column has no value here .*--ignore 2"
        ):
            read_table(tmp_path / "a.csv")


def test_a_file_that_would_fill_the_memory(tmp_path, monkeypatch):
    """Compressed tables are read in pieces, and refused before they take more than half of the free
    memory.
    """
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b,c\n" + b"1,2,3\n" * 2**19))
    assert read_table(path).X.shape[0] == 2**19
    monkeypatch.setattr(files, "PIECE", 2**16)
    monkeypatch.setattr(files, "free_memory", lambda: 2**21)
    with pytest.raises(ValueError, match=r"a.csv.gz holds more than .* half of the free memory"):
        read_table(path)
