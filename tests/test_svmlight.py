"""svmlight text: what is written reads back bit for bit, what scikit-learn reads reads the same,
all else is an error with its place."""

import bz2
import gzip
import importlib.util
import io
import itertools
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import needs
from helpers import assert_same_bits, in_subprocess
from maxmargin.io import dump_svmlight, lines, load_svmlight, svmlight_chunks

SPECIAL = [
    5e-324,
    -5e-324,
    np.finfo(float).tiny,
    np.nextafter(np.finfo(float).tiny, 0),
    np.finfo(float).max,
    -np.finfo(float).max,
    np.nextafter(1.0, 2),
    np.nextafter(1.0, 0),
    0.1 + 0.2,
    1 / 3,
    2.0**53 + 2,
    9007199254740993.0,
    1e22,
    1e23,
    123456789012345678.0,
    -1e-7,
    1e300,
    1e-300,
]


def read(tmp_path, text, **options):
    """X (an array) and y of a text."""
    (tmp_path / "a.svm").write_bytes(text if isinstance(text, bytes) else text.encode())
    X, y = load_svmlight(tmp_path / "a.svm", **options)
    return X.toarray(), y


# ---- round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("zero_based", [False, True])
def test_round_trip_is_exact(tmp_path, zero_based):
    values = np.array(SPECIAL)
    X = sparse.csr_matrix(np.vstack([values, -values, np.zeros_like(values), values[::-1]]))
    y = np.array([5e-324, -0.0, 1 / 3, -1e300])
    dump_svmlight(X, y, tmp_path / "a.svm", zero_based=zero_based)
    back, z = load_svmlight(tmp_path / "a.svm", n_features=X.shape[1], zero_based=zero_based)
    assert_same_bits(back.data.view(np.int64), X.data.view(np.int64))
    assert_same_bits(z.view(np.int64), y.view(np.int64))
    assert_same_bits(back.indices, X.indices)
    assert_same_bits(back.indptr, X.indptr)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_any_double_survives(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("numbers") / "a.svm"
    X = sparse.csr_matrix((np.array(numbers), np.arange(len(numbers)), [0, len(numbers)]))
    dump_svmlight(X, [numbers[0]], path)
    back, y = load_svmlight(path, n_features=len(numbers))
    assert_same_bits(back.data.view(np.int64), X.data.view(np.int64))
    assert_same_bits(y.view(np.int64), np.array(numbers[:1]).view(np.int64))


@settings(max_examples=200, deadline=None)
@given(
    st.from_regex(
        r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True
    )
)
def test_numbers_are_those_of_python(tmp_path_factory, written):
    """Every decimal form, also those nobody writes, rounds as Python's float does.

    Infinite ones are errors.
    """
    path = tmp_path_factory.mktemp("numbers") / "a.svm"
    path.write_text(f"{written} 1:{written}\n")
    if np.isinf(float(written)):
        with pytest.raises(ValueError, match="too large for a float64"):
            load_svmlight(path)
        return
    X, y = load_svmlight(path)
    goal = np.array([float(written)])
    assert_same_bits(X.data.view(np.int64), goal.view(np.int64))
    assert_same_bits(y.view(np.int64), goal.view(np.int64))


def test_zeros(tmp_path):
    """Stored zeros are entries; an array's zeros are not."""
    stored = sparse.csr_matrix(
        (np.array([0.0, -0.0, 2.0]), np.array([0, 1, 3]), [0, 3]), shape=(1, 4)
    )
    dump_svmlight(stored, [1.0], tmp_path / "a.svm")
    assert (tmp_path / "a.svm").read_text() == "1 1:0 2:-0 4:2\n"
    back, _ = load_svmlight(tmp_path / "a.svm")
    assert_same_bits(np.signbit(back.data), np.array([False, True, False]))
    dump_svmlight([[0.0, -0.0, 0.0, 2.0]], [1.0], tmp_path / "a.svm")
    assert (tmp_path / "a.svm").read_text() == "1 4:2\n"


def test_the_input_is_not_changed(tmp_path):
    data, indices, indptr = (
        np.array([1.0, 2.0, 3.0]),
        np.array([2, 0, 2], np.int32),
        np.array([0, 3], np.int32),
    )
    X = sparse.csr_matrix((data.copy(), indices.copy(), indptr.copy()), shape=(1, 3))
    dump_svmlight(X, [1], tmp_path / "a.svm")
    assert (tmp_path / "a.svm").read_text() == "1 1:2 3:4\n"
    for kept, given_ in ((X.data, data), (X.indices, indices), (X.indptr, indptr)):
        assert_same_bits(kept, given_)


def test_queries_and_comment(tmp_path):
    queries = np.array([3, -(2**63), 2**63 - 1])
    dump_svmlight(np.eye(3), [1, 2, 3], tmp_path / "a.svm", query_id=queries, comment="two\nlines")
    assert (
        (tmp_path / "a.svm")
        .read_text()
        .startswith("# two\n# lines\n1 qid:3 1:1\n2 qid:-9223372036854775808 2:1\n")
    )
    X, y, found = load_svmlight(tmp_path / "a.svm", query_id=True)
    assert_same_bits(found, queries)
    assert_same_bits(y, np.array([1.0, 2.0, 3.0]))
    assert (X.toarray() == np.eye(3)).all()
    assert (
        load_svmlight_file(str(tmp_path / "a.svm"), query_id=True)[2].tolist() == queries.tolist()
    )


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.eye(2), [1], {}, "X has 2 rows but y has shape"),
        (np.eye(2), [1, np.nan], {}, "NaN or infinite"),
        ([[np.inf]], [1], {}, "NaN or infinite"),
        (np.eye(2), ["a", "b"], {}, "y must hold numbers"),
        (np.eye(2), [1, 2], {"query_id": [1]}, "query_id has shape"),
        (np.eye(2), [1, 2], {"query_id": [1.5, 2]}, "query_id must hold whole numbers"),
        (np.eye(2) * 1j, [1, 2], {}, "complex"),
    ],
)
def test_what_cannot_be_written(tmp_path, X, y, options, message):
    (tmp_path / "a.svm").write_text("the old one")
    with pytest.raises(ValueError, match=message):
        dump_svmlight(X, y, tmp_path / "a.svm", **options)
    assert (tmp_path / "a.svm").read_text() == "the old one"
    assert len(list(tmp_path.iterdir())) == 1


# ---- beside scikit-learn -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_same_as_scikit_learn(tmp_path, seed):
    rng = np.random.default_rng(seed)
    X = sparse.random(
        60,
        40,
        0.2,
        "csr",
        random_state=seed,
        data_rvs=lambda k: rng.normal(size=k) * 10.0 ** rng.integers(-20, 20, k),
    )
    y = rng.normal(size=60)
    zero_based = bool(seed % 2)
    dump_svmlight_file(
        X, y, str(tmp_path / "a.svm"), zero_based=zero_based, comment="made by a test"
    )
    theirs, their_y = load_svmlight_file(
        str(tmp_path / "a.svm"), n_features=40, zero_based=zero_based
    )
    ours, our_y = load_svmlight(tmp_path / "a.svm", n_features=40, zero_based=zero_based)
    assert_same_bits(ours.toarray(), theirs.toarray())
    assert_same_bits(our_y, their_y)
    dump_svmlight(X, y, tmp_path / "b.svm", zero_based=zero_based)
    back, z = load_svmlight_file(str(tmp_path / "b.svm"), n_features=40, zero_based=zero_based)
    assert_same_bits(back.toarray(), X.toarray())
    assert_same_bits(z, y)


VALID = [
    "1 1:2\n-1 2:3\n",
    "+1 1:2.5 10:-5.2 16:1.5 # and a comment\n2.0 6:1.0 13:-3\n# comment\n3 21:27\n4 "
    "2:1.234567890123456e10 # double precision value\n",
    "1 1:1 \t 2:2  \n",
    "1\n2 1:1\n3\n",
    "1.5 1:1e5 2:1E-5 3:+7 4:.5 5:5.\n",
    "  1 1:1\n",
    "1 0:1 5:2\n2 3:1\n",
    "3 qid:1 1:0.53 2:0.12\n2 qid:72048431380967004 1:0.13\n",
    "1 1:0 2:1\n",
]


@pytest.mark.parametrize("text", VALID)
@pytest.mark.parametrize("end", ["\n", "\r\n", "none"])
def test_valid_files_read_as_in_scikit_learn(tmp_path, text, end):
    text = text.rstrip("\n") if end == "none" else text.replace("\n", end)
    (tmp_path / "a.svm").write_bytes(text.encode())
    theirs, their_y = load_svmlight_file(str(tmp_path / "a.svm"))
    ours, our_y = load_svmlight(tmp_path / "a.svm")
    assert ours.shape == theirs.shape
    assert_same_bits(ours.toarray(), theirs.toarray())
    assert_same_bits(our_y, their_y)


# ---- line ends, compression, blocks --------------------------------------------------------------

TEXT = "# heading\n1 1:0.5 3:-2\n\n-1 2:1e-3 # why not\n1\n   \n-1 1:7 2:8 3:9\n"
GOAL = [[0.5, 0, -2], [0, 1e-3, 0], [0, 0, 0], [7, 8, 9]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("block_bytes", [1, 5, 17, 2**20])
def test_line_ends(tmp_path, end, last, bom, block_bytes):
    text = TEXT.replace("\n", end) if last else TEXT.rstrip("\n").replace("\n", end)
    (tmp_path / "a.svm").write_bytes(bom + text.encode())
    X, y, _ = svmlight_chunks(tmp_path / "a.svm", block_bytes=block_bytes).whole()
    assert X.toarray().tolist() == GOAL
    assert y.tolist() == [1, -1, 1, -1]
    parts = list(svmlight_chunks(tmp_path / "a.svm", block_bytes=block_bytes)())
    assert sparse.vstack([A for A, _ in parts]).toarray().tolist() == GOAL


def _zst(text):
    return needs.package("zstandard").ZstdCompressor().compress(text)


PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": _zst}


@pytest.mark.parametrize("suffix", PACK)
def test_compressed(tmp_path, suffix):
    """By what the file is, not by its name; damaged ones are errors."""
    packed = PACK[suffix](TEXT.encode())
    (tmp_path / "named.svm").write_bytes(packed)
    assert load_svmlight(tmp_path / "named.svm")[0].toarray().tolist() == GOAL
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    dump_svmlight(X, np.arange(300), tmp_path / f"a.svm{suffix}")
    assert_same_bits(load_svmlight(tmp_path / f"a.svm{suffix}")[0].toarray(), X)
    whole = (tmp_path / f"a.svm{suffix}").read_bytes()
    (tmp_path / "cut.svm").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut\.svm.*(damaged or cut off|column)"):
        load_svmlight(tmp_path / "cut.svm")


def test_standard_input(monkeypatch):
    for packed in (TEXT.encode(), gzip.compress(TEXT.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
        assert load_svmlight("-")[0].toarray().tolist() == GOAL
    with pytest.raises(ValueError, match="cannot be read twice"):
        next(svmlight_chunks("-")())


def test_threads_and_blocks_agree(tmp_path):
    """A file long enough for several threads, in blocks of several sizes."""
    rng = np.random.default_rng(0)
    X = sparse.random(
        20_000, 300, 0.05, "csr", random_state=0, data_rvs=lambda k: rng.normal(size=k)
    )
    y = rng.normal(size=20_000)
    dump_svmlight(X, y, tmp_path / "a.svm")
    assert (tmp_path / "a.svm").stat().st_size > 2**22
    for block_bytes in (10_007, 1_000_003, 2**26):
        back, z, _ = svmlight_chunks(
            tmp_path / "a.svm", n_features=300, block_bytes=block_bytes
        ).whole()
        assert_same_bits(back.data, X.data)
        assert_same_bits(back.indices, X.indices)
        assert_same_bits(z, y)
        A = sparse.vstack(
            [
                A
                for A, _ in svmlight_chunks(
                    tmp_path / "a.svm", n_features=300, block_bytes=block_bytes
                )()
            ]
        )
        assert (X != A).nnz == 0


@pytest.mark.parametrize("where", [0, 1, 2])
def test_the_base_is_decided_on_the_whole_file(tmp_path, where):
    rows = ["1 1:1", "2 2:2", "3 4:4"]
    rows.insert(where, "9 0:9")
    X, _ = read(tmp_path, "\n".join(rows))
    assert X.shape == (4, 5)
    assert X[where, 0] == 9
    assert read(tmp_path, "\n".join(rows[:where] + rows[where + 1 :]))[0].shape == (3, 4)
    with pytest.raises(ValueError, match="index 0, but with zero_based=False"):
        read(tmp_path, "\n".join(rows), zero_based=False)


# ---- errors --------------------------------------------------------------------------------------

BAD = {
    "nan": ("1 1:nan", 5, "a number was expected right after ':'"),
    "inf": ("1 1:-inf", 5, "words"),
    "hexadecimal": ("1 1:0x1", 6, "unexpected character after the value"),
    "blank before the colon": ("1 1 : 2", 4, "':' was expected"),
    "blank after the colon": ("1 1: 2", 5, "a number was expected"),
    "plus before the index": ("1 +1:2", 3, "an index was expected"),
    "negative index": ("1 -1:2", 3, "an index was expected"),
    "fraction as index": ("1 1.5:2", 4, "':' was expected"),
    "index as a power": ("1 1e3:2", 4, "':' was expected"),
    "twice": ("1 3:1 3:2", 7, "not greater than the one before"),
    "unsorted": ("1 3:1 2:2", 7, "not greater than the one before"),
    "2^31": ("1 2147483648:1", 3, "greater than 2147483646"),
    "2^63": ("1 9223372036854775808:1", 3, "raise max_features"),
    "300 digits": ("1 " + "9" * 300 + ":1", 3, "raise max_features"),
    "comma": ("1 1:0,5", 6, "the decimal mark is a point"),
    "comma in the target": ("1,5 1:1", 2, "unexpected character after the target"),
    "several targets": ("1,2 1:1", 2, "unexpected character after the target"),
    "Arabic digits": ("1 \u0661:1", 3, "digits only"),
    "full-width digits": ("1 1:\uff15", 5, "a number was expected"),
    "no target": ("a 1:1", 1, "the target"),
    "nan target": ("nan 1:1", 1, "the target"),
    "huge": ("1 1:1e999", 5, "too large for a float64"),
    "huge target": ("-1e400 1:1", 1, "too large for a float64"),
    "no value": ("1 1:", 5, "found the end of the line"),
    "no colon": ("1 1", 4, "found the end of the line"),
    "names": ("1 age:30", 3, "feature names"),
    "sign only": ("1 1:-", 5, "a number was expected"),
    "point only": ("1 1:.", 5, "a number was expected"),
    "no exponent": ("1 1:1e", 6, "unexpected character after the value"),
    "NUL": ("1 1:1\0", 6, "unexpected character"),
    "bad qid": ("1 qid:x 1:1", 7, "after qid:"),
    "qid too large": ("1 qid:9223372036854775808 1:1", 7, "64 bits"),
    "late qid": ("1 1:1 qid:3", 7, "an index was expected"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("block_bytes", [3, 2**20])
def test_errors_have_a_place(tmp_path, case, end, block_bytes):
    line, column, message = BAD[case]
    before = ["# a comment", "", "1 qid:1 1:1" if "qid" in case and case != "late qid" else "1 1:1"]
    after = ["1 2:2", ""]
    (tmp_path / "a.svm").write_bytes(end.join([*before, line, *after]).encode())
    with pytest.raises(ValueError, match=rf"a\.svm, line 4, column {column}: ") as error:
        svmlight_chunks(tmp_path / "a.svm", block_bytes=block_bytes).whole()
    assert message in str(error.value)


@pytest.mark.parametrize("case", BAD)
def test_errors_at_the_very_end(tmp_path, case):
    """No final line end, nothing after the text: nothing is read beyond it."""
    line, column, _ = BAD[case]
    (tmp_path / "a.svm").write_bytes(line.encode())
    with pytest.raises(ValueError, match=rf"line 1, column {column}: "):
        load_svmlight(tmp_path / "a.svm")


def test_every_prefix_is_read_or_refused(tmp_path):
    text = b"1 qid:3 1:0.25 7:-1e-3 # x\r\n-2.5 qid:4 2:1\n"
    refused = []
    for end in range(len(text) + 1):
        (tmp_path / "a.svm").write_bytes(text[:end])
        try:
            X, y = load_svmlight(tmp_path / "a.svm", n_features=9)
        except ValueError as error:
            refused.append(str(error))
        else:
            assert X.shape == (len(y), 9)
    assert len(refused) > 10
    assert all("a.svm" in message for message in refused)


@pytest.mark.parametrize("rows", [("1 1:1", "2 qid:1 1:1"), ("1 qid:1 1:1", "2 1:1")])
@pytest.mark.parametrize("block_bytes", [1, 100])
def test_queries_everywhere_or_nowhere(tmp_path, rows, block_bytes):
    (tmp_path / "a.svm").write_text("\n".join(rows))
    with pytest.raises(ValueError, match=r"line 2, column 3: some lines have a qid"):
        svmlight_chunks(tmp_path / "a.svm", block_bytes=block_bytes).whole()


def test_limits(tmp_path, monkeypatch):
    (tmp_path / "wide.svm").write_text("1 2147483646:1")
    assert load_svmlight(tmp_path / "wide.svm")[0].shape == (1, 2**31 - 2)
    with pytest.raises(ValueError, match="greater than 100"):
        read(tmp_path, "1 101:1", max_features=100)
    with pytest.raises(ValueError, match="UTF-16"):
        read(tmp_path, "1 1:1\n".encode("utf-16"))
    monkeypatch.setattr(lines, "LONGEST_LINE", 1000)
    (tmp_path / "a.svm").write_text("1 " + "1" * 5000)
    with pytest.raises(ValueError, match="a line of more than 1000 bytes"):
        svmlight_chunks(tmp_path / "a.svm", block_bytes=100).whole()


def test_the_line_of_an_error_in_a_late_block(tmp_path):
    good = "1 1:1 2:2 3:3 4:4 5:5\n" * 50_000
    (tmp_path / "a.svm").write_text(good + "1 1:1 x\n" + good)
    for block_bytes in (1000, 2**26):
        with pytest.raises(ValueError, match="line 50001, column 7"):
            svmlight_chunks(tmp_path / "a.svm", block_bytes=block_bytes).whole()


@pytest.mark.memory
def test_a_bomb_is_refused_in_little_memory(tmp_path):
    """A quarter of a gigabyte of blanks without a line end, packed into 250 kB: refused before it
    is unpacked."""
    (tmp_path / "bomb.svm").write_bytes(gzip.compress(b" " * 2**20) * 256)
    code = f"""
        from helpers import peak_memory
        from maxmargin.io import load_svmlight
        try:
            load_svmlight({str(tmp_path / "bomb.svm")!r})
        except ValueError as error:
            assert "a line of more than" in str(error), error
        else:
            raise AssertionError("read")
        print(peak_memory())
        """
    assert int(in_subprocess(code)) < 2**19 + 2**18, "kilobytes"


def test_the_examples_agree_with_pairs_of_lines(tmp_path):
    """Any two lines of the corpus, one good and one bad, give the error of the bad one."""
    for text, (line, column, _) in itertools.product(VALID[:3], BAD.values()):
        count = text.count("\n")
        (tmp_path / "a.svm").write_bytes((text + line).encode())
        with pytest.raises(ValueError, match=rf"line {count + 1}, column \d+") as error:
            load_svmlight(tmp_path / "a.svm")
        assert f"column {column}:" in str(error.value) or "some lines have a qid" in str(
            error.value
        )


FUZZ = Path(__file__).parent / "fuzz"


@pytest.mark.parametrize(
    "path", sorted((FUZZ / "corpus" / "svmlight").iterdir()), ids=lambda path: path.name
)
def test_what_the_fuzzer_found(path, tmp_path):
    spec = importlib.util.spec_from_file_location("svmlight_target", FUZZ / "svmlight_target.py")
    target = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(target)
    target.MEMORY = tmp_path
    target.one_input(path.read_bytes())
    assert not list(tmp_path.iterdir()), "files of the fuzzer stay behind"


def test_links_stay_links_and_pipes_are_written_to(tmp_path):
    """A file is written aside and then put in its place.

    A pipe or device must not be replaced by a file.
    """
    import os
    import threading

    from maxmargin.io.files import atomic_write

    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "link").symlink_to("old")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "old").read_bytes() == b"new"
    os.mkfifo(tmp_path / "pipe")
    seen = []
    reader = threading.Thread(target=lambda: seen.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    with atomic_write(tmp_path / "pipe") as file:
        file.write(b"through")
    reader.join(10)
    assert seen == [b"through"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "old", "pipe"]
