"""Data that come in chunks: the model of the whole, errors that name the chunk, svmlight files in
blocks."""

import gzip
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import needs
from helpers import assert_close, assert_same_bits, binary, in_subprocess
from maxmargin import LinearSVC, LinearSVR
from maxmargin.io import svmlight_chunks

X, label = binary(200, 6)
Z = X[:, 0] - 2 * X[:, 1] + 0.2 * np.random.default_rng(0).normal(size=200)
WEIGHT = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], size=200)
ENDS = {"even": [50, 100, 150], "uneven": [1, 3, 120, 199], "one": []}
STORAGES = {
    "dense": np.asarray,
    "sparse": sparse.csr_matrix,
    "float32": lambda A: A.astype(np.float32),
    "Fortran": np.asfortranarray,
}


def reader(A, z, weight=None, ends=(50, 100, 150)):
    """A function that yields the pieces of the data, as often as it is called."""
    bounds = [0, *ends, A.shape[0]]

    def read():
        for begin, end in itertools.pairwise(bounds):
            some = slice(begin, end)
            yield (A[some], z[some]) if weight is None else (A[some], z[some], weight[some])

    return read


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_chunks_model_is_that_of_the_whole(ends, weight, storage):
    A = STORAGES[storage](X)
    three = np.digitize(Z, [-1.0, 1.0])
    for model, z in (
        (LinearSVC(loss="hinge"), label),
        (LinearSVC(), three),
        (LinearSVR(epsilon=0.1), Z),
    ):
        whole = type(model)(**model.get_params()).fit(A, z, weight)
        parts = type(model)(**model.get_params()).fit_chunks(reader(A, z, weight, ends))
        assert_close(parts.predict(X), whole.predict(X), tol=1e-9)
        assert_close(parts.coef_, whole.coef_, tol=1e-9)
        assert_close(parts.intercept_, whole.intercept_, tol=1e-9)
        assert parts.certificate_.status == "optimal"
        assert parts.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-10)
        assert parts.certify(A, z, weight).status == "optimal"
        assert parts.n_features_in_ == 6
        assert parts.solver_ == "newton"


def test_names_of_an_earlier_fit_are_forgotten():
    pandas = needs.package("pandas")
    model = LinearSVC().fit(pandas.DataFrame(X, columns=list("abcdef")), label)
    model.fit_chunks(reader(X, label))
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(X).shape == (200,)


def test_text_labels_and_named_classes():
    names = np.array(["no", "yes"])[label]
    assert LinearSVC().fit_chunks(reader(X, names)).classes_.tolist() == ["no", "yes"]
    model = LinearSVC().fit_chunks(reader(X, names), classes=["yes", "no", "perhaps"])
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    assert set(model.predict(X)) == {"no", "yes"}
    with pytest.raises(ValueError, match=r"labels \['yes'\] that are not in classes"):
        LinearSVC().fit_chunks(reader(X, names), classes=["no", "perhaps"])
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        LinearSVC().fit_chunks(reader(X, np.zeros(200, int)))


def _used_up():
    once = reader(X, label)()
    return lambda: once


def _changing(second):
    """A reader whose passes after the first yield something else."""
    passes = []

    def read():
        passes.append(1)
        return reader(X, label)() if len(passes) == 1 else second()

    return read


def _spoilt(k, replacement):
    """A reader whose chunk k is another one."""

    def read():
        for j, chunk in enumerate(reader(X, label)()):
            yield replacement if j == k else chunk

    return read


HOLE = X[100:150].copy()
HOLE[7, 3] = np.nan
WRONG = {
    "no chunks": lambda: (list, "no chunks"),
    "used up": lambda: (_used_up(), r"changed between two passes: 0 samples, 200 before"),
    "fewer": lambda: (
        _changing(reader(X[:150], label[:150], ends=(70,))),
        r"changed between two passes: 150 samples, 200 before",
    ),
    "more": lambda: (
        _changing(reader(np.vstack([X, X]), np.r_[label, label], ends=(200,))),
        "changed between two passes: 400 x 6 so far",
    ),
    "narrower": lambda: (
        _changing(reader(X[:, :5], label)),
        "changed between two passes: 50 x 5 so far",
    ),
    "features": lambda: (
        _spoilt(2, (X[:50, :4], label[:50])),
        "chunk 2 has 4 features, the ones before 6",
    ),
    "targets": lambda: (_spoilt(1, (X[:50], label[:49])), "chunk 1 has 50 samples and 49 targets"),
    "NaN": lambda: (_spoilt(2, (HOLE, label[100:150])), "chunk 2 contains NaN"),
    "some weights": lambda: (
        _spoilt(1, (X[:50], label[:50], np.ones(50))),
        "some chunks have sample weights and some have none",
    ),
    "short weights": lambda: (
        lambda: ((*chunk, np.ones(3)) for chunk in reader(X, label)()),
        "chunk 0 has 50 samples and 3 weights",
    ),
    "no y": lambda: (lambda: iter([X[:50], X[50:]]), r"chunk 0 is not \(X, y\)"),
    "single": lambda: (lambda: iter([(X[:50],)]), r"chunk 0 is not \(X, y\)"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("estimator", [LinearSVC, LinearSVR])
def test_errors(estimator, case):
    read, message = WRONG[case]()
    model = estimator()
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit_chunks(read)
    assert vars(model) == before


def test_what_chunks_cannot_do():
    with pytest.raises(ValueError, match="fit_chunks reads the data"):
        LinearSVC(solver="coordinate").fit_chunks(reader(X, label))
    with pytest.raises(ValueError, match="fit_chunks reads the data"):
        LinearSVR(solver="coordinate").fit_chunks(reader(X, Z))
    with pytest.raises(TypeError, match="read must be a function"):
        LinearSVC().fit_chunks([(X, label)])
    hole = Z.copy()
    hole[120] = np.nan
    with pytest.raises(ValueError, match="y of chunk 2 contains NaN"):
        LinearSVR().fit_chunks(reader(X, hole))
    with pytest.raises(ValueError, match="negative"):
        LinearSVC().fit_chunks(reader(X, label, WEIGHT - 1))


# ---- svmlight files ------------------------------------------------------------------------------

S = sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X))


@pytest.fixture
def path(tmp_path):
    dump_svmlight_file(S, Z, str(tmp_path / "data.svm"), zero_based=False)
    return tmp_path / "data.svm"


def joined(chunks):
    """X and y of all chunks, and how many there were."""
    parts = list(chunks())
    return (
        sparse.vstack([A for A, _ in parts], format="csr"),
        np.concatenate([z for _, z in parts]),
        len(parts),
    )


@pytest.mark.parametrize("zero_based", [True, False, "auto"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("block_bytes", [1, 100, 1000, 2**26])
def test_blocks_are_the_whole(path, block_bytes, dtype, zero_based):
    whole, z = load_svmlight_file(str(path), zero_based=zero_based, dtype=dtype)
    chunks = svmlight_chunks(path, block_bytes=block_bytes, zero_based=zero_based, dtype=dtype)
    for _ in range(2):
        A, y, count = joined(chunks)
        assert A.shape == whole.shape
        assert A.dtype == dtype
        assert (whole != A).nnz == 0
        assert_same_bits(y, z)
        assert count == 200 if block_bytes == 1 else count <= 1 + path.stat().st_size // block_bytes
    assert chunks.layout == (200, whole.shape[1], zero_based is True)


def test_line_ends_comments_compression(path, tmp_path):
    goal = joined(svmlight_chunks(path))[0]
    text = path.read_text().rstrip("\n")
    commented = (
        "# a comment that is longer than a block\n\n"
        + text.replace("\n", " # and one here\n# a whole line\n")
        + "\n# the end"
    )
    variants = {"bare.svm": text, "dos.svm": text.replace("\n", "\r\n"), "comments.svm": commented}
    for name, content in variants.items():
        (tmp_path / name).write_bytes(content.encode())
        A, y, _ = joined(svmlight_chunks(tmp_path / name, block_bytes=37))
        assert (goal != A).nnz == 0
        assert_same_bits(y, load_svmlight_file(str(path))[1])
    (tmp_path / "data.svm.gz").write_bytes(gzip.compress(path.read_bytes()))
    A, _, count = joined(svmlight_chunks(str(tmp_path / "data.svm.gz"), block_bytes=500))
    assert (goal != A).nnz == 0
    assert count > 5


def test_the_base_is_that_of_the_whole_file(tmp_path):
    """Index 0 in the last line only, and the greatest index in another: no block alone can tell."""
    (tmp_path / "a.svm").write_text("1 1:2 7:1\n-1 2:1\n1 0:3\n")
    A, _, _ = joined(svmlight_chunks(tmp_path / "a.svm", block_bytes=1))
    assert A.toarray().tolist() == [
        [0, 2, 0, 0, 0, 0, 0, 1],
        [0, 0, 1, 0, 0, 0, 0, 0],
        [3, 0, 0, 0, 0, 0, 0, 0],
    ]
    assert svmlight_chunks(tmp_path / "a.svm", n_features=12).layout.n_features == 12
    assert joined(svmlight_chunks(tmp_path / "a.svm", n_features=12))[0].shape == (3, 12)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "empty.svm has no samples"),
        ("# nothing\n\n", {}, "empty.svm has no samples"),
        ("1\n-1\n", {}, "2 samples without any feature"),
        ("1 1:2 7:1\n", {"n_features": 3}, "has 7 features, more than n_features=3"),
        ("1 0:2 7:1\n", {"zero_based": False}, "index 0"),
        ("1 1:2\n-1 one:2\n", {}, r"empty.svm, line 2, column 4: an index was expected"),
        ("1 1:2\n", {"block_bytes": 0}, "block_bytes must be an integer >= 1, got 0"),
        ("1 1:2\n", {"n_features": 0}, "n_features must be an integer >= 1 or None, got 0"),
        ("1 1:2\n", {"zero_based": "no"}, "zero_based must be True, False or 'auto', got 'no'"),
        ("1 1:2\n", {"dtype": int}, "dtype must be float64 or float32, got int64"),
    ],
)
def test_bad_files(tmp_path, text, options, message):
    (tmp_path / "empty.svm").write_text(text)
    with pytest.raises(ValueError, match=message):
        list(svmlight_chunks(tmp_path / "empty.svm", **options)())
    with pytest.raises(FileNotFoundError, match=r"other\.svm"):
        svmlight_chunks(tmp_path / "other.svm")


def test_fit_from_a_file(path):
    model = LinearSVR(epsilon=0.1).fit_chunks(svmlight_chunks(path, block_bytes=1500))
    goal = LinearSVR(epsilon=0.1).fit(S, load_svmlight_file(str(path))[1])
    assert_close(model.predict(S), goal.predict(S), tol=1e-9)


@pytest.mark.memory
def test_memory_is_that_of_a_block(tmp_path):
    """A file of 8 MB in blocks of 1 MB: no copy of the whole is made."""
    line = b" ".join(b"%d:%.4f" % (k, 1 / k) for k in range(1, 41))
    with open(tmp_path / "long.svm", "wb") as file:
        for k in range(20_000):
            file.write(b"%d %s\n" % (k % 2, line))
    code = f"""
        from helpers import peak_memory
        from maxmargin import LinearSVC
        from maxmargin.io import svmlight_chunks
        read = svmlight_chunks({str(tmp_path / "long.svm")!r}, block_bytes=2**20)
        next(read())
        before = peak_memory()
        print(sum(X.shape[0] for X, _ in read()), peak_memory() - before)
        """
    rows, grown = map(int, in_subprocess(code).split())
    assert rows == 20_000
    assert grown < 10_000, "kilobytes"


def test_the_examples_of_the_docs_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parent.parent / "docs" / "linear.md"
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(block, names)
    assert capsys.readouterr().out
