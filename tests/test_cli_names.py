"""Columns by their names: a model is never given a column for another, and no file that is needed
is written over."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import answer, heart, run
from maxmargin import SVC, LinearSVC
from maxmargin.io import load, load_svmlight


@pytest.fixture
def frame(tmp_path, monkeypatch):
    """A table with names of its own; the rule of its classes does not treat the features alike.

    It is saved as a.csv.
    """
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    table = pd.DataFrame(X, columns=["age", "income", "height"])
    table["churned"] = np.where(X[:, 0] - 0.5 * X[:, 1] ** 2 > -0.3, "yes", "no")
    table.to_csv("a.csv", index=False)
    return table


def labels_of(*arguments):
    return answer("predict", *arguments)["predictions"]


def test_features_are_found_by_name(frame):
    run("train", "a.csv", "m.mm")
    goal = SVC().fit(frame.iloc[:, :3], frame["churned"])
    assert load("m.mm").feature_names_in_.tolist() == ["age", "income", "height"]
    assert answer("inspect", "m.mm")["names"] == ["age", "income", "height"]
    for order in (
        ["height", "age", "churned", "income"],
        ["income", "height", "age"],
        ["churned", "height", "income", "age"],
    ):
        for name in ("b.csv", "b.tsv", "b.parquet"):
            if name == "b.parquet":
                frame[order].to_parquet(name)
            else:
                frame[order].to_csv(name, index=False, sep="\t" if name == "b.tsv" else ",")
            assert labels_of(name, "m.mm") == goal.predict(frame.iloc[:, :3]).tolist()
    np.savez(
        "b.npz",
        X=frame[["height", "income", "age"]].to_numpy(),
        names=np.array(["height", "income", "age"]),
    )
    assert labels_of("b.npz", "m.mm") == goal.predict(frame.iloc[:, :3]).tolist()
    frame[["height", "churned", "age", "income"]].to_csv("b.csv", index=False)
    assert run("predict", "b.csv", "m.mm").stderr.count("accuracy") == 1
    run("plot", "b.csv", "m.mm", "b.png", "--features", "age,income")


def test_columns_of_other_names_are_refused(frame):
    run("train", "a.csv", "m.mm", "--quiet")
    frame.rename(columns={"age": "Age"}).to_csv("b.csv", index=False)
    assert "has no column 'age'" in run("predict", "b.csv", "m.mm", code=1).stderr
    # as many columns as features, one of them the target
    frame.drop(columns="income").assign(churned=1).to_csv("b.csv", index=False)
    assert "has no column 'income'" in run("predict", "b.csv", "m.mm", code=1).stderr
    frame.iloc[:, :3].to_csv("b.csv", index=False)
    for name in ("a.csv", "b.csv"):
        error = run("predict", name, "m.mm", "--target", "age", code=1).stderr
        assert f"'age' of {name} cannot be the target: it is a feature of the model" in error
    np.savez("b.npz", X=np.zeros((2, 3)), names=np.array(["age", "income", "x"]))
    assert "has no column 'height'" in run("predict", "b.npz", "m.mm", code=1).stderr


def test_data_without_names_are_taken_in_order_with_a_warning(frame):
    run("train", "a.csv", "m.mm", "--quiet")
    goal = SVC().fit(frame.iloc[:, :3], frame["churned"]).predict(frame.iloc[:, :3]).tolist()
    frame.iloc[:, :3].to_csv("b.csv", index=False, header=False)
    result = run("predict", "b.csv", "m.mm", "--json")
    assert json.loads(result.stdout)["predictions"] == goal
    assert (
        "has no column names: its columns are taken in the model's order: age, income, "
        "height" in result.stderr
    )
    assert "warning" not in run("predict", "a.csv", "m.mm").stderr


def test_sparse_rows_for_a_model_of_dense_data(frame):
    coded = frame.assign(churned=(frame["churned"] == "yes") * 1)
    coded.to_csv("b.csv", index=False)
    run("convert", "b.csv", "b.svm")
    for options, goal in (([], SVC()), (["--problem", "linear-svc"], LinearSVC(random_state=0))):
        run("train", "b.csv", "m.mm", *options)
        goal.fit(frame.iloc[:, :3], coded["churned"])
        assert labels_of("b.svm", "m.mm") == goal.predict(frame.iloc[:, :3]).tolist()


def test_a_name_is_that_of_one_column(frame):
    Path("twice.csv").write_text("a,a,target\n1,2,x\n3,4,y\n")
    assert "two columns called 'a'" in run("convert", "twice.csv", "b.parquet", code=1).stderr
    np.savez("b.npz", X=np.eye(2), y=[0, 1], names=["target", "x"])
    assert "a feature is called 'target'" in run("convert", "b.npz", "b.parquet", code=1).stderr
    np.savez("b.npz", X=np.eye(2), y=[0, 1], names=["a"])
    assert "2 columns and 1 names" in run("check", "b.npz", code=1).stdout


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_the_target_keeps_its_name(frame, ending):
    run("scale", "a.csv", f"b.{ending}", "--target", "churned")
    run("subset", f"b.{ending}", "50", f"c.{ending}", "--target", "churned")
    run("convert", f"c.{ending}", "d.csv", "--target", "churned")
    assert pd.read_csv("d.csv").columns.tolist() == frame.columns.tolist()


def test_what_is_needed_is_not_written_over(frame):
    before = Path("a.csv").read_bytes()
    run("train", "a.csv", "m.mm", "--quiet")
    model = Path("m.mm").read_bytes()
    lines = (
        ["train", "a.csv", "a.csv"],
        ["predict", "a.csv", "m.mm", "a.csv"],
        ["predict", "a.csv", "m.mm", "./m.mm"],
        ["plot", "a.csv", "m.mm", "m.mm"],
        ["convert", "m.mm", "m.mm", "--to", "c"],
        ["scale", "a.csv", "b.csv", "--save", "b.csv"],
        ["scale", "a.csv", "a.csv"],
        ["subset", "a.csv", "10", "b.csv", "--rest", "b.csv"],
        ["tune", "a.csv", "-C", "1", "--gamma", "1", "--model", "a.csv"],
    )
    for line in lines:
        assert "would be overwritten" in run(*line, code=1).stderr, line
    assert (Path("a.csv").read_bytes(), Path("m.mm").read_bytes()) == (before, model)
    assert "is a folder" in run("train", "a.csv", ".", code=1).stderr
    heart("h.svm", n=30)
    assert "would be overwritten" in run("svm-train", "h.svm", "h.svm", code=1).stderr
    assert "would be overwritten" in run("linear-train", "h.svm", "h.svm", code=1).stderr


def test_ranges_are_restored_by_name(frame):
    run("scale", "a.csv", "b.csv", "--save", "ranges.txt", "--target", "churned")
    frame[["height", "churned", "age", "income"]].to_csv("c.csv", index=False)
    run("scale", "c.csv", "d.csv", "--restore", "ranges.txt")
    assert Path("d.csv").read_text() == Path("b.csv").read_text()
    frame.drop(columns="age").to_csv("c.csv", index=False)
    assert (
        "has no column 'age'"
        in run("scale", "c.csv", "d.csv", "--restore", "ranges.txt", code=1).stderr
    )
    coded = frame.assign(churned=(frame["churned"] == "yes") * 1)
    coded.to_csv("c.csv", index=False)
    run("convert", "c.csv", "c.svm")
    # no names: by number, as svm-scale does
    run("scale", "c.svm", "d.svm", "--restore", "ranges.txt")
    np.testing.assert_array_equal(
        load_svmlight("d.svm")[0].toarray(), pd.read_csv("b.csv").iloc[:, :3]
    )
    text = Path("ranges.txt").read_text()
    for wrong, message in (
        ("# [1]", "line 7: a list of names"),
        ('# ["a"]', "3 and 1 names"),
        ("# x", "line 7: a list of names"),
    ):
        Path("odd.txt").write_text(
            "\n".join([*text.splitlines()[:-2], '# "churned"', wrong]) + "\n"
        )
        assert message in run("scale", "a.csv", "d.csv", "--restore", "odd.txt", code=1).stderr
