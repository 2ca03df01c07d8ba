"""Model files hold AutoSVC's preparation of tables: medians, indicators, categories."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import Pipeline

import needs
from helpers import assert_close, assert_same_bits, binary
from maxmargin import SVC, LinearSVC, io
from maxmargin.model_selection import AutoSVC, AutoSVR
from maxmargin.model_selection.tables import TablePreparation
from test_models_crafted import packed, parts, refused
from test_models_export import run_onnx, runtime  # noqa: F401


def numbers(rng, n):
    return rng.normal(size=(n, 3)) * [1, 10, 1000]


def gaps(rng, n):
    X = numbers(rng, n)
    X[rng.random((n, 3)) < [0.0, 0.3, 0.1]] = np.nan
    X[0], X[1, 1:] = 1.0, np.nan
    return X


def words(rng, n):
    X = np.empty((n, 2), object)
    X[:, 0] = rng.choice(["ant", "bee", "cät", ""], n)
    X[:, 1] = rng.choice(["x", None, "y"], n)
    return X


def mixed(rng, n):
    return np.column_stack([gaps(rng, n).astype(object), words(rng, n)])


def all_rare(rng, n):
    X = mixed(rng, n)
    X[:, -1] = [f"id{k}" for k in rng.permutation(n)]
    return X


def many(rng, n):
    """More values than features are made of, many of them not rare."""
    X = np.empty((n, 1), object)
    X[:, 0] = [f"w{k}" for k in rng.integers(0, 150, n)]
    return X


def empty_column(rng, n):
    X = gaps(rng, n)
    X[:, 1] = np.nan
    return X


def rows(rng, n):
    X = sparse.random(n, 6, 0.4, random_state=0, format="csr")
    X.data[rng.random(X.nnz) < 0.2] = np.nan
    return X


TABLES = [numbers, gaps, words, mixed, all_rare, many, empty_column, rows]


def fitted(make, n=400):
    rng = np.random.default_rng(5)
    X, y = make(rng, n), rng.integers(0, 2, n)
    table = TablePreparation().fit(X)
    return Pipeline([("prepare", table), ("svm", SVC().fit(table.transform(X), y))]), X


def strange(X):
    """Other samples: with values that were never seen, and missing ones where none were."""
    X = X[::-1][:50].copy()
    if sparse.issparse(X):
        return X
    X[::7] = np.nan if X.dtype.kind == "f" else None
    if X.dtype.kind == "O":
        X[::5, -1] = "never seen"
    return X


@pytest.mark.parametrize("make", TABLES)
def test_round_trip(make, tmp_path):
    model, X = fitted(make)
    io.save(model, tmp_path / "m.mm")
    loaded = io.load(tmp_path / "m.mm")
    for points in (X, strange(X)):
        ours, theirs = loaded[0].transform(points), model[0].transform(points)
        assert sparse.issparse(ours) == sparse.issparse(theirs)
        if sparse.issparse(ours):
            ours, theirs = ours.toarray(), theirs.toarray()
        assert_same_bits(ours, theirs)
        assert_same_bits(loaded.decision_function(points), model.decision_function(points))
    assert loaded[0].describe() == model[0].describe()
    io.save(loaded, tmp_path / "again.mm")
    assert (tmp_path / "m.mm").read_bytes() == (tmp_path / "again.mm").read_bytes()


def test_frames_and_auto(tmp_path):
    pandas = needs.package("pandas")
    rng = np.random.default_rng(0)
    n = 60
    frame = pandas.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 10, n)),
            "city": rng.choice(["a", "b", "c"], n),
            "member": rng.random(n) < 0.3,
            "since": pandas.Timestamp("2020-01-01")
            + pandas.to_timedelta(rng.integers(0, 999, n), "D"),
        }
    )
    y = np.where(frame["age"].fillna(40) + 9 * (frame["city"] == "a") > 43, "yes", "no")
    for auto, target in (
        (AutoSVC(time_budget=1.5), y),
        (AutoSVR(time_budget=1.5), (y == "yes") * 1.0),
    ):
        auto.fit(frame, target)
        io.save(auto, tmp_path / "auto.mm")
        loaded = io.load(tmp_path / "auto.mm")
        assert type(loaded) is Pipeline
        assert_same_bits(loaded.predict(frame), auto.predict(frame))
        assert loaded.feature_names_in_.tolist() == list(frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])
    with pytest.raises(
        ValueError, match=r"2 columns of the table hold categories \('city', 'member'"
    ):
        io.to_c(auto)


def test_exports_fill_numbers(runtime):  # noqa: F811
    model, X = fitted(numbers)
    points = strange(X)
    assert np.isnan(points).any()
    found = run_onnx(runtime, model, points)
    assert_close(found["decision"], model.decision_function(points), 1e-10)
    np.testing.assert_array_equal(found["label"], model.predict(points))
    assert "if (v != v) v = PREPARE0[i];" in io.to_javascript(model)
    with pytest.raises(ValueError, match="2 columns of the table hold missing values"):
        io.to_onnx(fitted(gaps)[0])


def test_numbers_become_weights(tmp_path):
    X, y = binary()
    X = X * 100 + 50
    table = TablePreparation().fit(X)
    model = Pipeline([("p", table), ("svm", LinearSVC().fit(table.transform(X), y))])
    io.save_liblinear(model, tmp_path / "m.model")
    assert_close(
        io.load(tmp_path / "m.model").decision_function(X), model.decision_function(X), 1e-9
    )


# ---- untrusted files -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "m.mm"
    io.save(fitted(mixed, 40)[0], path)
    return path.read_bytes()


def entry(value, *names):
    """The place of an entry of tagged dicts: the pair that holds it."""
    for name in names:
        pair = next(pair for pair in value["dict"] if pair[0] == name)
        value = pair[1]
    return pair


CRAFTED = {
    "no numbers": (("attributes", "is_number_"), None),
    "other names": (("attributes", "columns_"), ["a"]),
    "numbers as names": (("attributes", "columns_"), [1, 2, 3, 4, 5]),
    "another width": (("attributes", "n_features_in_"), 4),
    "a huge width": (("attributes", "n_features_out_"), 2**60),
    "no imputer": (("imputer",), None),
    "no medians": (("imputer", "medians"), None),
    "words as gaps": (("imputer", "gaps"), ["a"]),
    "no encoder": (("encoder",), None),
    "a frequency of 0": (("encoder", "min_frequency"), 0),
    "a frequency of 10^9": (("encoder", "min_frequency"), 10**9),
    "a negative number of categories": (("encoder", "max_categories"), -1),
    "one category": (("encoder", "max_categories"), 1),
    "no columns": (("encoder", "columns"), []),
    "columns of text": (("encoder", "columns"), ["words", "words"]),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_files_are_refused(name, small, tmp_path):
    header, members = parts(small)
    step = header["model"]["steps"][0][1]
    path, value = CRAFTED[name]
    entry(step["state"], *path)[1] = value
    assert refused(packed(header, members), tmp_path)


@pytest.mark.parametrize(
    ("key", "value"), [("scaler", None), ("state", None), ("state", {"dict": []}), ("class", "X")]
)
def test_crafted_steps_are_refused(key, value, small, tmp_path):
    header, members = parts(small)
    header["model"]["steps"][0][1][key] = value
    assert refused(packed(header, members), tmp_path)
