"""train and tune --scale: the model keeps the scaling, and every command applies it."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from command import answer, run
from maxmargin import SVC, SVR, LinearSVC, io
from maxmargin.io import dump_svmlight


@pytest.fixture
def wine(tmp_path, monkeypatch):
    """Features of very different sizes, as a table with names and as svmlight text."""
    monkeypatch.chdir(tmp_path)
    X, y = load_wine(return_X_y=True)
    names = [f"f{k}" for k in range(X.shape[1])]
    rows = (
        [*map(repr, row), f"w{label}"] for row, label in zip(X.tolist(), y.tolist(), strict=True)
    )
    lines = [",".join([*names, "kind"]), *(",".join(row) for row in rows)]
    (tmp_path / "wine.csv").write_text("\n".join(lines) + "\n")
    dump_svmlight(X, y, tmp_path / "wine.svm")
    return X, y


SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler}


@pytest.mark.parametrize("scale", SCALERS)
def test_train_and_predict(scale, wine):
    X, y = wine
    report = answer("train", "wine.csv", "m.mm", "--scale", scale, "--probability", "--cv", 3)
    expected = make_pipeline(SCALERS[scale](), SVC(probability=True, random_state=0)).fit(X, y)
    assert report["scaling"] == f"{SCALERS[scale].__name__}(), which the model applies itself"
    assert report["training_accuracy"] == expected.score(X, y)
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    right = sum(int((expected.fit(X[a], y[a]).predict(X[b]) == y[b]).sum()) for a, b in folds)
    assert report["cross_validation"]["correct"] == f"{right} of {len(y)}"
    expected.fit(X, y)
    found = answer("predict", "wine.csv", "m.mm", "--probability")
    assert found["predictions"] == [f"w{label}" for label in expected.predict(X)]
    np.testing.assert_allclose(found["probabilities"], expected.predict_proba(X), rtol=1e-12)
    seen = answer("inspect", "m.mm")
    assert seen["scaling"] == report["scaling"]
    assert seen["names"][0] == "f0"
    assert seen["target"] == "kind"
    assert seen["probabilities"] is True
    assert seen["estimator"] == "SVC"
    assert "scaling" in run("inspect", "m.mm").stdout


def test_columns_are_found_by_name(wine, tmp_path):
    run("train", "wine.csv", "m.mm", "--scale", "standard", "--quiet")
    head, *rows = [line.split(",") for line in (tmp_path / "wine.csv").read_text().split()]
    order = np.random.default_rng(0).permutation(len(head))
    shuffled = [",".join(np.array(row)[order]) for row in [head, *rows]]
    (tmp_path / "other.csv").write_text("\n".join(shuffled) + "\n")
    assert answer("predict", "other.csv", "m.mm") == answer("predict", "wine.csv", "m.mm")


def test_svmlight_data_are_not_shifted(wine):
    X, y = wine
    for scale, scaler in (
        ("standard", StandardScaler(with_mean=False)),
        ("minmax", MaxAbsScaler()),
    ):
        run("train", "wine.svm", "m.mm", "--scale", scale, "--quiet")
        expected = make_pipeline(scaler, SVC(random_state=0)).fit(X, y)
        assert answer("predict", "wine.svm", "m.mm")["predictions"] == expected.predict(X).tolist()
        run("svm-predict", "wine.svm", "m.mm", "out")
        assert [int(line) for line in Path("out").read_text().split()] == expected.predict(
            X
        ).tolist()


def test_sparse_rows_for_a_model_of_a_table(wine, tmp_path):
    """A scaler that shifts takes no sparse rows: they are made dense for it."""
    X, y = wine
    table = np.column_stack([X, y])
    np.save(tmp_path / "t.npy", table)
    for problem in ("svc", "linear-svc"):
        run("train", "t.npy", "m.mm", "--scale", "minmax", "-p", problem, "--quiet")
        found = [answer("predict", name, "m.mm")["predictions"] for name in ("wine.svm", "t.npy")]
        assert found[0] == found[1]


def test_weights_count_in_the_scaling(wine, tmp_path):
    """A row of weight 2 is two rows, and one of weight 0 is none, in the scaling, too."""
    X, y = wine
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    np.save(tmp_path / "w.npy", np.column_stack([X, weight, y]))
    copies = np.repeat(np.arange(len(y)), weight)
    np.save(tmp_path / "c.npy", np.column_stack([X, y])[copies])
    for scale in SCALERS:
        run("train", "w.npy", "w.mm", "--scale", scale, "--weight", 14, "--quiet")
        run("train", "c.npy", "c.mm", "--scale", scale, "--quiet")
        a, b = io.load("w.mm"), io.load("c.mm")
        np.testing.assert_allclose(a[0].scale_, b[0].scale_, rtol=1e-12)
        np.testing.assert_allclose(
            a.decision_function(X), b.decision_function(X), rtol=1e-3, atol=1e-3
        )


def test_formats(wine):
    X, y = wine
    told = run("train", "wine.svm", "m.model", "--scale", "minmax", code=2).stderr
    assert "hold no scaling" in " ".join(told.replace("│", " ").split())
    run("train", "wine.svm", "m.model", "--scale", "minmax", "-k", "linear", "--quiet")
    expected = make_pipeline(MaxAbsScaler(), SVC(kernel="linear", random_state=0)).fit(X, y)
    found = answer("predict", "wine.svm", "m.model", "--decision")
    assert found["predictions"] == expected.predict(X).tolist()
    np.testing.assert_allclose(found["decision_values"], expected.decision_function(X), rtol=1e-6)
    run("train", "wine.svm", "l.model", "--scale", "standard", "-p", "linear-svc", "--quiet")
    linear = make_pipeline(StandardScaler(with_mean=False), LinearSVC(random_state=0)).fit(X, y)
    found = answer("predict", "wine.svm", "l.model", "--decision")["decision_values"]
    np.testing.assert_allclose(found, linear.decision_function(X), rtol=1e-8)
    told = run("train", "wine.svm", "k.mm", "--scale", "minmax", "-k", "precomputed", code=2).stderr
    assert "needs features" in " ".join(told.split())
    assert "standard, minmax" in run("train", "wine.csv", "--scale", "max", code=2).stderr


def test_convert_and_plot(wine):
    run("train", "wine.csv", "m.mm", "--scale", "standard", "--probability", "--quiet")
    assert answer("convert", "m.mm", "m.js")["scaling"].startswith("StandardScaler")
    assert "function probability" in Path("m.js").read_text()
    answer("convert", "m.mm", "s.mm", "--max-support-vectors", 30)
    small = io.load("s.mm")
    assert len(small[-1].support_vectors_) <= 30
    assert small[0].feature_names_in_[0] == "f0"
    for kind in ("classes", "kernel-matrix"):
        answer("plot", "wine.csv", "m.mm", "m.png", "--kind", kind, "--most", 50)
    told = run("convert", "m.mm", "m.model", code=1).stderr
    assert "hold no scaling" in told


def test_predict_says_how_to_get_probabilities(wine):
    run("train", "wine.csv", "m.mm", "--scale", "standard", "--quiet")
    told = run("predict", "wine.csv", "m.mm", "--probability", code=1).stderr
    assert "train it with --probability" in told


def test_intervals_are_of_scaled_features(wine, tmp_path):
    X = wine[0]
    np.save(tmp_path / "t.npy", X)
    line = ["train", "t.npy", "m.mm", "-p", "svr", "--scale", "standard", "--probability"]
    run(*line, "--quiet")
    found = answer("predict", "t.npy", "m.mm", "--interval", 0.9)["intervals"]
    scaler = StandardScaler().fit(X[:, :-1])
    expected = SVR(interval=True).fit(scaler.transform(X[:, :-1]), X[:, -1])
    ends = expected.predict_interval(scaler.transform(X[:, :-1]), 0.9)
    np.testing.assert_allclose(found, ends, rtol=1e-6)


def test_tune_scales_inside_the_folds(wine):
    X, y = wine
    grid = {"svc__C": [1.0, 10.0], "svc__gamma": [0.01, 0.1]}
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    pipeline = make_pipeline(StandardScaler(), SVC(random_state=0, tol=1e-6))
    theirs = GridSearchCV(pipeline, grid, cv=folds).fit(X, y)
    line = ["tune", "wine.csv", "-C", "1,10", "-g", "0.01,0.1", "--scale", "standard", "--cv", 4]
    ours = answer(*line, "--set", "tol=1e-6", "--model", "m.mm", "--jobs", 1)
    results = theirs.cv_results_
    scores = results["mean_test_score"]
    expected = {str(one): score for one, score in zip(results["params"], scores, strict=True)}
    for row in ours["results"]:
        name = str({f"svc__{key}": float(value) for key, value in row["parameters"].items()})
        assert row["score"] == pytest.approx(expected[name], abs=1e-12)
    best = {f"svc__{key}": value for key, value in ours["best_parameters"].items()}
    assert best == theirs.best_params_
    assert ours["scaling"] == "standard"
    kept = io.load("m.mm")
    assert type(kept[0]) is StandardScaler
    assert theirs.best_params_["svc__C"] == kept[-1].C


def test_tune_refines(wine):
    line = ["tune", "wine.csv", "-C", "1,100", "-g", "0.001,0.1", "--scale", "minmax", "--cv", 3]
    plain, refined = answer(*line), answer(*line, "--refine", "--picture", "g.png")
    assert len(plain["results"]) == 4
    tried = [tuple(row["parameters"].values()) for row in refined["results"]]
    assert len(tried) == len(set(tried)) == 7
    assert refined["best_score"] >= plain["best_score"]
    C, gamma = plain["best_parameters"].values()
    middle = (10.0, pytest.approx(0.01))
    assert any(row == middle for row in tried)
    assert (C, gamma) in tried
    told = run("tune", "wine.csv", "-p", "linear-svc", "--refine", code=2).stderr
    assert "--refine" in told


def test_tune_of_linear_models_scales_too(wine):
    X, y = wine
    line = ["tune", "wine.csv", "-p", "linear-svc", "-C", "0.1,1", "--scale", "minmax", "--cv", 3]
    ours = answer(*line, "--model", "m.mm")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    pipeline = make_pipeline(MinMaxScaler(), LinearSVC(random_state=0))
    theirs = GridSearchCV(pipeline, {"linearsvc__C": [0.1, 1.0]}, cv=folds).fit(X, y)
    assert ours["best_score"] == pytest.approx(theirs.best_score_)
    assert {tuple(row["parameters"]) for row in ours["results"]} == {("C",)}
    assert type(io.load("m.mm")[0]) is MinMaxScaler


def test_train_tunes_first(wine):
    """The same parameters as maxmargin tune finds, and the same model as with them."""
    line = ["wine.csv", "--scale", "standard", "--cv", 3]
    found = answer("train", *line[:1], "a.mm", *line[1:], "--tune", "--probability", "--jobs", 1)
    best = answer("tune", *line)
    chosen = {name: found["tuned"][name] for name in ("C", "gamma")}
    assert chosen == best["best_parameters"]
    assert found["tuned"]["score"] == best["best_score"]
    options = [f"-C {chosen['C']}", f"--gamma {chosen['gamma']}"]
    given = " ".join(options).split()
    run("train", "wine.csv", "b.mm", "--scale", "standard", "--probability", *given, "--quiet")
    said = [answer("predict", "wine.csv", name, "--probability") for name in ("a.mm", "b.mm")]
    assert said[0] == said[1]
    kept = answer("train", "wine.csv", "c.mm", "--tune", "--gamma", 0.001, "--cv", 3)["tuned"]
    assert set(kept) == {"C", "score", "folds"}
    told = run("train", "wine.csv", "--tune", *given, code=2).stderr
    assert "nothing varies" in told
    assert "--tune" in run("train", "wine.csv", "--jobs", 1, code=2).stderr


def test_reports_are_json(wine):
    text = run("train", "wine.csv", "m.mm", "--scale", "standard", "--json").stdout
    assert json.loads(text)["certificate"]["status"] == "optimal"
