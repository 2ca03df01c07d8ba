"""Which column is what: targets by their names, columns that are left out, sample weights; and
cells that are not numbers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from command import answer, heart, house, run
from maxmargin import SVC, SVR, OneClassSVM
from maxmargin.io import load
from maxmargin.io.table_cells import TableError
from maxmargin.io.table_roles import Options
from maxmargin.io.tables import read_table

FEATURES = ["age", "income"]


@pytest.fixture
def frame(tmp_path, monkeypatch):
    """People: an id, two features, a weight, and whether they left, which depends on the features.

    They are saved as a.csv.
    """
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(90, 2)), columns=FEATURES)
    table.insert(0, "id", np.arange(1000, 1090))
    table["w"] = rng.integers(0, 4, 90)
    table["churned"] = np.where(
        table["age"] - 0.5 * table["income"] ** 2 + 0.3 * rng.normal(size=90) > -0.3, "yes", "no"
    )
    table.to_csv("a.csv", index=False)
    return table


def trained(*options):
    return run("train", "a.csv", "m.mm", "--ignore", "id,w", "--target", "churned", *options)


# ---- targets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_stray_column_is_never_the_target(frame, ending):
    trained()
    assert answer("inspect", "m.mm")["target"] == "churned"
    goal = load("m.mm").predict(frame[FEATURES])
    without = frame[["id", *FEATURES]]
    if ending == "parquet":
        without.to_parquet("b.parquet")
    else:
        without.to_csv(f"b.{ending}", index=False, sep="\t" if ending == "tsv" else ",")
    result = run("predict", f"b.{ending}", "m.mm", "--json")
    said = json.loads(result.stdout)
    assert said["predictions"] == goal.tolist()
    assert "accuracy" not in said
    assert (
        f"warning: b.{ending}: 'id' is not a feature of the model, nor its target 'churned', and "
        "is left out" in result.stderr
    )
    assert "(--ignore silences this" in result.stderr
    result = run("predict", f"b.{ending}", "m.mm", "--ignore", "id", "--quiet")
    assert result.stderr == ""


def test_the_target_is_found_by_the_name_the_model_remembers(frame):
    trained()
    result = run("predict", "a.csv", "m.mm", "--ignore", "id", "--ignore", "w", "--json")
    assert json.loads(result.stdout)["accuracy"] == np.mean(
        load("m.mm").predict(frame[FEATURES]) == frame["churned"]
    )
    assert result.stderr == ""
    frame.rename(columns={"churned": "left"}).to_csv("b.csv", index=False)
    result = run("predict", "b.csv", "m.mm", "--ignore", "id,w", "--json")
    assert "accuracy" not in json.loads(result.stdout)
    assert "'left' is not a feature of the model" in result.stderr
    assert "accuracy" in answer("predict", "b.csv", "m.mm", "--ignore", "id,w", "--target", "left")
    frame.rename(columns={"churned": "Label"}).to_csv("b.csv", index=False)  # a usual name
    assert "accuracy" in answer("predict", "b.csv", "m.mm", "--ignore", "id,w")


def test_a_target_by_its_place_is_a_guess_that_warns(frame):
    result = run("train", "a.csv", "m.mm", "--ignore", "id,w", "--quiet")
    assert result.stderr == (
        "warning: a.csv: column 'churned', the last one, is taken as the target; --target churned "
        "confirms this, --target none means no target\n"
    )
    assert trained("--quiet").stderr == ""
    frame[[*FEATURES, "churned"]].to_csv("b.csv", index=False, header=False)
    assert (
        "column 3, the last one, is taken as the target; --target 3"
        in run("train", "b.csv", "n.mm").stderr
    )
    assert run("train", "b.csv", "n.mm", "--target", "-1").stderr == ""
    assert "the last one, is taken as the target" in run("predict", "b.csv", "n.mm").stderr
    # as many columns as features: no target
    frame[FEATURES].to_csv("b.csv", index=False, header=False)
    assert run("predict", "b.csv", "n.mm", "--quiet").stderr == ""
    frame.rename(columns={"churned": "target"}).to_csv("b.csv", index=False)
    assert run("train", "b.csv", "n.mm", "--ignore", "id,w").stderr == ""


def test_targets_that_are_no_classes_of_the_model(frame):
    trained()
    frame.assign(churned=["maybe", *frame["churned"].tolist()[1:]]).to_csv("b.csv", index=False)
    result = run("predict", "b.csv", "m.mm", "--ignore", "id,w")
    assert (
        "b.csv has targets that are not classes of the model: 'maybe'; they count as errors"
        in result.stderr
    )
    assert "accuracy" in result.stderr
    frame.assign(churned="maybe").to_csv("b.csv", index=False)
    error = run("predict", "b.csv", "m.mm", "--ignore", "id,w", code=1).stderr
    assert (
        "not classes of the model: 'maybe': is 'churned' the target? --target names another column"
        in error
    )


def test_ranges_remember_the_target(frame):
    run(
        "scale",
        "a.csv",
        "b.csv",
        "--save",
        "ranges.txt",
        "--target",
        "churned",
        "--ignore",
        "id",
        "--weight",
        "w",
    )
    assert pd.read_csv("b.csv").columns.tolist() == [*FEATURES, "w", "churned"]
    np.testing.assert_array_equal(pd.read_csv("b.csv")["w"], frame["w"])
    frame[["churned", "income", "age", "w"]].to_csv("c.csv", index=False)
    run("scale", "c.csv", "d.csv", "--restore", "ranges.txt", "--weight", "w")
    assert Path("d.csv").read_text() == Path("b.csv").read_text()


# ---- columns that are left out -------------------------------------------------------------------


def test_ignored_columns_are_named_or_counted(frame):
    goal = SVC().fit(frame[FEATURES].to_numpy(), frame["churned"])
    lines = (
        ["--ignore", "id,w"],
        ["--ignore", "id", "--ignore", "w"],
        ["--ignore", "1,-2"],
        ["--ignore", " w , 1"],
    )
    for options in lines:
        run("train", "a.csv", "m.mm", "--target", "churned", *options)
        model = load("m.mm")
        assert model.feature_names_in_.tolist() == FEATURES
        np.testing.assert_array_equal(model.dual_coef_, goal.dual_coef_)
    # a name with a comma is a name first
    frame.rename(columns={"id": "id,w"}).to_csv("b.csv", index=False)
    run("train", "b.csv", "m.mm", "--target", "churned", "--ignore", "id,w")
    assert load("m.mm").feature_names_in_.tolist() == ["age", "income", "w"]
    for command in (
        ["check", "a.csv"],
        ["bench", "a.csv", "--rounds", "1"],
        ["tune", "a.csv", "-C", "1", "--gamma", "1", "--cv", "2"],
    ):
        run(*command, "--ignore", "id,w", "--target", "churned")
    run("convert", "a.csv", "c.csv", "--ignore", "id", "--target", "churned")
    assert pd.read_csv("c.csv").columns.tolist() == ["age", "income", "w", "churned"]
    run("subset", "a.csv", "20", "c.csv", "--ignore", "id", "--weight", "w", "--target", "churned")
    assert pd.read_csv("c.csv").columns.tolist() == ["age", "income", "w", "churned"]
    trained()
    run("plot", "a.csv", "m.mm", "p.png", "--ignore", "id,w")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--ignore", "ID"],
            "has no column 'ID': its columns are id, age, income, w, churned. Did you mean 'id'?",
        ),
        (["--ignore", "9"], "there is no column 9: a.csv has 5 columns"),
        (
            ["--ignore", "churned", "--target", "churned"],
            "column 'churned' of a.csv is the target and cannot be ignored",
        ),
        (
            ["--ignore", "w", "--weight", "w"],
            "column 'w' of a.csv holds the weights and cannot be ignored",
        ),
        (
            ["--weight", "churned", "--target", "churned"],
            "cannot be both the target and the weights",
        ),
        (["--weight", "weights"], "has no column 'weights'"),
        (["--ignore", "id,age,income,w"], "no column besides the target"),
    ],
)
def test_columns_that_cannot_be(frame, options, message):
    assert message in run("train", "a.csv", "m.mm", *options, code=1).stderr


def test_files_without_columns_to_choose_from(frame):
    heart("h.svm", n=20)
    np.savez("h.npz", X=np.eye(4), y=[0, 1, 0, 1])
    for name in ("h.svm", "h.npz"):
        for option in ("--ignore", "--weight"):
            assert (
                "can be ignored or hold weights"
                in run("train", name, "m.mm", option, "1", code=1).stderr
            )
    assert (
        "only CSV, TSV and Parquet files hold"
        in run("scale", "a.csv", "b.npz", "--weight", "w", "--ignore", "id", code=1).stderr
    )


# ---- weights -------------------------------------------------------------------------------------


def test_weights_are_those_of_the_fit_and_of_the_scores(frame):
    X, y, w = frame[FEATURES].to_numpy(), frame["churned"].to_numpy(), frame["w"].to_numpy(float)
    options = ["--target", "churned", "--ignore", "id", "--weight", "w"]
    report = answer("train", "a.csv", "m.mm", *options, "--cv", "3", "-C", "2", "--gamma", "1")
    goal = SVC(C=2, gamma=1).fit(X, y, w)
    model = load("m.mm")
    np.testing.assert_array_equal(
        model.decision_function(frame[FEATURES]), goal.decision_function(X)
    )
    assert model.feature_names_in_.tolist() == FEATURES
    assert report["weights"] == f"w: sum {w.sum():g}, {int((w > 0).sum())} positive"
    assert report["training_accuracy"] == pytest.approx(goal.score(X, y, w))
    right = np.zeros(len(y))
    for inside, outside in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        right[outside] = (
            SVC(C=2, gamma=1).fit(X[inside], y[inside], w[inside]).predict(X[outside]) == y[outside]
        )
    assert report["cross_validation"]["accuracy"] == pytest.approx(np.average(right, weights=w))
    assert report["cross_validation"]["accuracy"] != pytest.approx(np.mean(right))
    assert answer("predict", "a.csv", "m.mm", "--ignore", "id", "--weight", "w")[
        "accuracy"
    ] == pytest.approx(goal.score(X, y, w))


def test_weights_of_a_regression_and_of_a_one_class_model(frame):
    X, z, w = frame[["income"]].to_numpy(), frame["age"].to_numpy(), frame["w"].to_numpy(float)
    options = ["--target", "age", "--ignore", "id,churned", "--weight", "w"]
    report = answer("train", "a.csv", "m.mm", "--problem", "svr", *options)
    goal = SVR().fit(X, z, w)
    assert report["training_r2"] == pytest.approx(goal.score(X, z, w))
    assert report["training_mean_squared_error"] == pytest.approx(
        np.average((goal.predict(X) - z) ** 2, weights=w)
    )
    run(
        "train",
        "a.csv",
        "o.mm",
        "--problem",
        "one-class",
        "--target",
        "none",
        "--ignore",
        "id,churned",
        "--weight",
        "w",
    )
    goal = OneClassSVM().fit(frame[FEATURES].to_numpy(), sample_weight=w)
    np.testing.assert_array_equal(
        load("o.mm").decision_function(frame[FEATURES]),
        goal.decision_function(frame[FEATURES].to_numpy()),
    )


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
def test_weights_of_a_search(frame, scoring):
    X, y, w = frame[FEATURES].to_numpy(), frame["churned"].to_numpy(), frame["w"].to_numpy(float)
    options = [
        "--target",
        "churned",
        "--ignore",
        "id",
        "--weight",
        "w",
        "--gamma",
        "1",
        "--cv",
        "3",
        "--model",
        "best.mm",
    ]
    found = answer(
        "tune",
        "a.csv",
        "-C",
        "0.1,10",
        *options,
        *([] if scoring is None else ["--scoring", scoring]),
    )
    from sklearn.metrics import accuracy_score, get_scorer

    score = accuracy_score if scoring is None else get_scorer(scoring)._score_func
    for row in found["results"]:
        goal = [
            score(
                y[b],
                SVC(**row["parameters"]).fit(X[a], y[a], w[a]).predict(X[b]),
                sample_weight=w[b],
            )
            for a, b in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
        ]
        assert row["score"] == pytest.approx(np.mean(goal))
    goal = SVC(**found["best_parameters"]).fit(X, y, w)
    np.testing.assert_array_equal(
        load("best.mm").decision_function(frame[FEATURES]), goal.decision_function(X)
    )


def test_weights_that_cannot_be_honoured_are_refused(frame):
    options = [
        "--target",
        "age",
        "--ignore",
        "id,churned",
        "--weight",
        "w",
        "--problem",
        "svr",
        "-C",
        "1",
        "--gamma",
        "1",
    ]
    assert (
        "--scoring neg_max_error takes no sample weights"
        in run("tune", "a.csv", *options, "--scoring", "neg_max_error", code=1).stderr
    )
    frame.assign(w=[-1, -2, *frame["w"][2:]]).to_csv("b.csv", index=False)
    error = run(
        "train", "b.csv", "m.mm", "--target", "churned", "--ignore", "id", "--weight", "w", code=1
    ).stderr
    assert "b.csv, line 2, column 4: 'w' has a negative weight (2 such rows)" in error
    frame.assign(w=["many", *frame["w"][1:]]).to_csv("b.csv", index=False)
    assert (
        "'w' has 'many', which is not a number"
        in run("train", "b.csv", "m.mm", "--ignore", "id", "--weight", "w", code=1).stderr
    )


# ---- cells ---------------------------------------------------------------------------------------

ODD = (
    "age,city,height,target\n1,Oslo,1.5,a\n,Bern,2.5,b\n3,Rome,tall,a\n4,Oslo,inf,b\n"
    "5,Bern\n6,Rome,1,\n7,Oslo,2,a\n8,Bern,3,b\n"
)


def test_check_finds_the_bad_cells_of_all_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("odd.csv").write_text(ODD)
    found = answer("check", "odd.csv", code=1)
    places = [(problem["line"], problem["column"]) for problem in found["problems"]]
    assert places == [(2, 2), (3, 1), (4, 3), (5, 3), (6, 0), (7, 4)]
    said = [problem["message"] for problem in found["problems"]]
    assert "'city' holds words ('Oslo', 'Bern', 'Rome'; 3 different ones)" in said[0]
    assert (
        "'age' has no value here (1 missing in this column): fill them, leave those rows out, or "
        "the column (--ignore age)" in said[1]
    )
    assert "'height' has 'tall', which is not a number (1 such values)" in said[2]
    assert "'height' has 'inf', which is not finite" in said[3]
    assert "2 fields, the first line has 4" in said[4]
    assert "the target is missing" in said[5]
    # what has no problem
    assert (found["samples"], found["features"], found["balance"]) == (3, 2, {"a": 2, "b": 1})
    assert found["complete"]
    text = run("check", "odd.csv", code=1).stdout
    assert "problem line 3, column 1: 'age' has no value here" in text
    assert "problem line 6: 2 fields" in text
    short = answer("check", "odd.csv", "--most", "2", code=1)
    assert [p["line"] for p in short["problems"]] == [2, 3]
    assert not short["complete"]
    error = run("train", "odd.csv", code=1).stderr
    assert error.startswith("error: odd.csv, line 2, column 2: 'city' holds words")
    assert error.endswith("; 5 more problems (maxmargin check)\n")
    assert len(answer("check", "odd.csv", "--ignore", "city", code=1)["problems"]) == 5


def test_remedies_are_ones_that_help(tmp_path, monkeypatch):
    """A column of the model cannot be left out; what is not the target is not asked for."""
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("age,city,target\n1,2,a\n2,3,b\n")
    run("train", "a.csv", "m.mm")
    Path("a.csv").write_text("age,city,target\n1,Oslo,a\n,Bern,b\n3,Rome,a\n")
    said = [problem["message"] for problem in answer("check", "a.csv", code=1)["problems"]]
    assert said[0].endswith(
        "or leave the column out (--ignore city); is it the target (--target city)?"
    )
    assert said[1].endswith("fill them, leave those rows out, or the column (--ignore age)")
    said = [
        problem["message"]
        for problem in answer("check", "a.csv", "--target", "target", code=1)["problems"]
    ]
    assert said[0].endswith("or leave the column out (--ignore city)")
    error = run("predict", "a.csv", "m.mm", code=1).stderr
    assert "one column of 0 and 1 for each" in error
    assert "--ignore" not in error


def test_missing_values_of_parquet_have_a_place(tmp_path):
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1, 2, 3], "target": ["x", "y", None]})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(TableError) as caught:
        read_table(tmp_path / "a.parquet", Options())
    assert [str(problem).partition(" (")[0] for problem in caught.value.problems] == [
        "row 2, column 1: 'a' has no value here",
        "row 3, column 3: the target is missing or infinite",
    ]
    assert caught.value.data.X.tolist() == [[1.0, 1.0]]


# ---- pictures of other points --------------------------------------------------------------------


def test_points_that_the_model_was_not_fitted_to_are_no_support_vectors(tmp_path, monkeypatch):
    from maxmargin.plots import OutlierDisplay, TubeDisplay

    monkeypatch.chdir(tmp_path)
    (X, z), (A, t) = house("a.svm", n=60), house("b.svm", n=30, seed=1)
    model = SVR(epsilon=0.2).fit(X, z)
    shown = TubeDisplay.from_estimator(model, X, z)
    assert legend_of(shown)[-1] == f"support vectors ({len(model.support_)})"
    shown = TubeDisplay.from_estimator(model, A, t)
    outside = np.flatnonzero(np.abs(model.predict(A) - t) >= 0.2 * (1 - 1e-3))
    assert legend_of(shown)[-1] == f"on or outside the tube ({len(outside)})"
    np.testing.assert_array_equal(shown.support, outside)
    assert len(outside) > 0
    novelty = OneClassSVM(nu=0.2).fit(X)
    assert (
        legend_of(OutlierDisplay.from_estimator(novelty, X))[-1]
        == f"support vectors ({len(novelty.support_)})"
    )
    assert not any(
        "support" in text for text in legend_of(OutlierDisplay.from_estimator(novelty, A))
    )


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]
