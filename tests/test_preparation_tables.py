"""Model files hold AutoSVC's preparation of tables: medians, indicators, categories."""

import json
import subprocess

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import needs
from helpers import assert_close, assert_same_bits, binary
from maxmargin import SVC, LinearSVC, io
from maxmargin.model_selection import AutoSVC, AutoSVR
from maxmargin.model_selection.table_columns import read_table
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


def fitted(make, n=400, **options):
    rng = np.random.default_rng(5)
    X, y = make(rng, n), rng.integers(0, 2, n)
    table = TablePreparation().fit(X)
    machine = SVC(**options).fit(table.transform(X), y)
    return Pipeline([("prepare", table), ("svm", machine)]), X


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
        (AutoSVC(time_budget=60), y),
        (AutoSVR(time_budget=60), (y == "yes") * 1.0),
    ):
        auto.fit(frame, target)
        io.save(auto, tmp_path / "auto.mm")
        loaded = io.load(tmp_path / "auto.mm")
        assert type(loaded) is Pipeline
        assert_same_bits(loaded.predict(frame), auto.predict(frame))
        assert loaded.feature_names_in_.tolist() == list(frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])


# ---- exports -------------------------------------------------------------------------------------


def columns_of(model, points):
    """The numbers of a table and its words, with None for missing ones."""
    if sparse.issparse(points):
        return points.toarray(), np.empty((points.shape[0], 0), object)
    table = read_table(points, model[0].is_number_)
    return table.numbers, table.categories


def assert_same(model, points, decision, label, probability):
    assert_close(np.ravel(decision), model.decision_function(points), 1e-10)
    np.testing.assert_array_equal(label, model.predict(points))
    assert_close(np.asarray(probability, float), model.predict_proba(points), 1e-10)


@pytest.mark.parametrize("make", TABLES)
def test_onnx(make, runtime):  # noqa: F811
    model, X = fitted(make, probability=True)
    for points in (X, strange(X)):
        found = run_onnx(runtime, model, None, given=inputs_of(model, points))
        assert_same(model, points, found["decision"], found["label"], found["probability"])


def inputs_of(model, points):
    """The inputs of the graph: a missing word is empty, or unknown where empty words are known."""
    numbers, words = columns_of(model, points)
    for k in range(words.shape[1]):
        missing = "unknown" if "" in model[0].encoder_.categories_[k] else ""
        words[:, k] = [missing if word is None else word for word in words[:, k]]
    return {name: part for name, part in (("X", numbers), ("categories", words)) if part.shape[1]}


def test_onnx_names_the_columns(runtime):  # noqa: F811
    pandas = needs.package("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"age": rng.normal(size=80), "city": rng.choice(["a", "b"], 80)})
    frame["paid"] = frame["age"] * 2
    auto = AutoSVC(time_budget=60).fit(frame, rng.integers(0, 2, 80))
    session = runtime.InferenceSession(
        io.to_onnx(auto).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    named = session.get_modelmeta().custom_metadata_map
    assert named == {"X": '["age", "paid"]', "categories": '["city"]'}
    given = {"X": frame[["age", "paid"]].to_numpy(), "categories": frame[["city"]].to_numpy(object)}
    label, p = session.run(["label", "probability"], given)
    np.testing.assert_array_equal(label, auto.predict(frame))
    assert_close(p, auto.predict_proba(frame), 1e-10)


def test_onnx_has_no_missing_words():
    needs.package("onnx")
    X = np.array([["", 1.0], [None, 2.0], ["a", 3.0], ["", 4.0], [None, 5.0], ["a", 6.0]], object)
    table = TablePreparation().fit(X)
    model = Pipeline([("p", table), ("svm", SVC().fit(table.transform(X), [0, 1] * 3))])
    with pytest.raises(ValueError, match="Column '0' has empty words and missing values"):
        io.to_onnx(model)
    assert "maxmargin_predict" in io.to_c(model)


C_MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#ifdef MAXMARGIN_WORDS
#define POINT x, words
#else
#define MAXMARGIN_WORDS 1
#define POINT x
#define WITHOUT_WORDS
#endif
static char line[1 << 16];
int main(void) {
  double x[MAXMARGIN_INPUTS + 1], f[MAXMARGIN_FUNCTIONS], p[MAXMARGIN_CLASSES];
  const char *words[MAXMARGIN_WORDS];
  (void)words;
  while (fgets(line, sizeof line, stdin)) {
    char *at = line;
    for (int i = 0; i < MAXMARGIN_INPUTS; i++) x[i] = strtod(at, &at), at++;
#ifndef WITHOUT_WORDS
    for (int i = 0; i < MAXMARGIN_WORDS; i++) {
      char *end = at;
      while (*end != '\t' && *end != '\n') end++;
      *end = 0;
      words[i] = *at == '-' ? NULL : at + 1;
      at = end + 1;
    }
#endif
    maxmargin_decision(POINT, f);
    maxmargin_probability(POINT, p);
    printf("%.17g %.17g %.17g %lld\n", f[0], p[0], p[1], maxmargin_predict(POINT));
  }
  return 0;
}
"""


@needs.programs("cc", debian="gcc")
@pytest.mark.parametrize("make", TABLES)
def test_c(make, tmp_path):
    model, X = fitted(make, probability=True)
    points = strange(X)
    numbers, words = columns_of(model, points)
    (tmp_path / "m.c").write_text(io.to_c(model) + C_MAIN)
    command = ["cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "m.c", "-o", "m", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    cells = [
        [*map(repr, row), *("-" if word is None else f"+{word}" for word in more)]
        for row, more in zip(numbers.tolist(), words.tolist(), strict=True)
    ]
    done = subprocess.run(
        [str(tmp_path / "m")],
        input="".join("\t".join(row) + "\n" for row in cells),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found = np.array([line.split() for line in done.stdout.splitlines()], float)
    assert_same(model, points, found[:, 0], found[:, 3], found[:, 1:3])


SCRIPT = """
const m = require("./m.js");
const X = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(X.map((x) => [m.decision(x)[0], m.predict(x), m.probability(x)])));
"""


@needs.programs("node", debian="nodejs")
@pytest.mark.parametrize("make", TABLES)
def test_javascript(make, tmp_path):
    model, X = fitted(make, probability=True)
    points = strange(X)
    (tmp_path / "m.js").write_text(io.to_javascript(model))
    (tmp_path / "run.js").write_text(SCRIPT)
    plain = points.toarray() if sparse.issparse(points) else points
    given = [[None if value != value else value for value in row] for row in plain.tolist()]
    done = subprocess.run(
        ["node", "run.js"],
        cwd=tmp_path,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    decision, label, p = map(list, zip(*json.loads(done.stdout), strict=True))
    assert_same(model, points, decision, label, p)


def test_words_of_javascript_are_those_of_python(tmp_path):
    """Booleans, numbers in a column of words, and names that objects of JavaScript have."""
    X = np.array([[True, "constructor"], [False, 3], [True, "toString"], [False, None]] * 3, object)
    table = TablePreparation().fit(X)
    model = Pipeline([("p", table), ("svm", SVC().fit(table.transform(X), [0, 1, 1, 0] * 3))])
    source = io.to_javascript(model)
    assert '["3", 2], ["constructor", 3], ["toString", 4]' in source
    assert '["False", 0], ["True", 1]' in source


def test_exports_fill_numbers(runtime):  # noqa: F811
    model, X = fitted(numbers)
    points = strange(X)
    assert np.isnan(points).any()
    found = run_onnx(runtime, model, points)
    assert_close(found["decision"], model.decision_function(points), 1e-10)
    np.testing.assert_array_equal(found["label"], model.predict(points))
    assert "if (v != v) v = PREPARE0[i];" in io.to_c(model)
    assert "if (v == null || v !== v) v = PREPARE0[i];" in io.to_javascript(model)


def test_formats_of_numbers_refuse_other_features(tmp_path):
    for make, what in ((gaps, "2 columns of the table hold missing"), (mixed, "2 .* categories")):
        with pytest.raises(ValueError, match=f"{what}.* and so do exports"):
            io.save_libsvm(fitted(make)[0], tmp_path / "m.model")
    model = Pipeline([*fitted(mixed)[0].steps])
    model.steps.insert(1, ("scale", StandardScaler()))
    with pytest.raises(ValueError, match="no scaler after the preparation of a table"):
        io.to_c(model)


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
