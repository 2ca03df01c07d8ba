"""Options of the commands, each held to what Python does with the same data."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, KFold

from command import answer, heart, house, run
from helpers import child_environment
from maxmargin import SVC, SVR, LinearSVC, compact
from maxmargin.cli import searching
from maxmargin.io import load, load_svmlight
from maxmargin.model_selection.search import Search


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder to work in, with a file for classification and one for regression."""
    monkeypatch.chdir(tmp_path)
    heart("heart.svm", n=120)
    house("house.svm", n=80)
    return tmp_path


# ---- train ---------------------------------------------------------------------------------------


def test_time_limit():
    result = run("train", "heart.svm", "m.mm", "--time-limit", "0", "--quiet")
    assert result.stderr.startswith("warning: ")
    model = load("m.mm")
    assert model.certificate_.status == "time_limit"
    assert model.predict(load_svmlight("heart.svm")[0]).shape == (120,)
    assert (
        answer("train", "heart.svm", "m.mm", "--time-limit", "300")["certificate"]["status"]
        == "optimal"
    )
    assert load("m.mm").time_limit == 300
    assert (
        "'time_limit' parameter"
        in run("train", "heart.svm", "m.mm", "--time-limit", "-1", code=1).stderr
    )


def test_tol():
    X, y = load_svmlight("heart.svm")
    weights = {}
    for tol in (0.3, 1e-8):
        run("train", "heart.svm", "m.mm", "--problem", "linear-svc", "--tol", tol)
        weights[tol] = load("m.mm").coef_
        np.testing.assert_array_equal(
            weights[tol], LinearSVC(tol=tol, random_state=0).fit(X, y.astype(int)).coef_
        )
    assert np.abs(weights[0.3] - weights[1e-8]).max() > 0
    assert "'tol' parameter" in run("train", "heart.svm", "m.mm", "--tol", "0", code=1).stderr


def test_penalty():
    X, y = load_svmlight("heart.svm")
    run("train", "heart.svm", "m.mm", "--problem", "linear-svc", "--penalty", "l1", "-C", "0.02")
    coef = load("m.mm").coef_
    np.testing.assert_array_equal(
        coef, LinearSVC(penalty="l1", C=0.02, random_state=0).fit(X, y.astype(int)).coef_
    )
    assert 0 < np.count_nonzero(coef) < coef.size
    error = run(
        "train", "heart.svm", "m.mm", "--problem", "linear-svc", "--penalty", "lasso", code=1
    ).stderr
    assert "Did you mean 'l1'?" in error
    assert "svc has no parameter penalty" in " ".join(
        run("train", "heart.svm", "--penalty", "l1", code=2).stderr.replace("│", "").split()
    )


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["train", "heart.svm", "--problem", "SVC"], "svc"),
        (["train", "heart.svm", "--problem", "oneclass"], "one-class"),
        (["train", "heart.svm", "--set", "cachesize=10"], "cache_size"),
        (["train", "heart.svm", "--format", "LIBSVM"], "libsvm"),
        (["train", "heart.svm", "--kernel", "gaussian"], "rbf"),
        (["train", "heart.svm", "--data-format", "svm-light"], "svmlight"),
        (["tune", "heart.svm", "--vary", "degre=1,2"], "degree"),
        (
            ["tune", "heart.svm", "-C", "1", "--gamma", "1", "--scoring", "balanced accuracy"],
            "balanced_accuracy",
        ),
        (["scale", "heart.svm", "out", "--output-format", "CSV"], "csv"),
        (["bench", "heart.svm", "--problem", "linear_svc"], "linear-svc"),
    ],
)
def test_did_you_mean(line, meant):
    text = run(*line, code=None)
    assert text.exit_code in (1, 2)
    assert f"Did you mean '{meant}'?" in " ".join(text.stderr.replace("│", " ").split())


# ---- tune, convert -------------------------------------------------------------------------------


def test_scoring():
    X, y = load_svmlight("house.svm")
    line = [
        "tune",
        "house.svm",
        "--problem",
        "svr",
        "-C",
        "0.01,1,100",
        "--gamma",
        "0.5",
        "--cv",
        "3",
    ]
    best = {}
    for scoring in ("neg_mean_squared_error", "neg_median_absolute_error"):
        found = answer(*line, "--scoring", scoring)
        goal = GridSearchCV(
            SVR(gamma=0.5),
            {"C": [0.01, 1, 100]},
            scoring=scoring,
            cv=KFold(3, shuffle=True, random_state=0),
        ).fit(X, y)
        assert found["best_score"] == pytest.approx(goal.best_score_)
        assert [row["score"] for row in found["results"]] == pytest.approx(
            sorted(goal.cv_results_["mean_test_score"], reverse=True)
        )
        best[scoring] = found["best_score"]
    assert len(set(best.values())) == 2
    balanced = answer(
        "tune",
        "heart.svm",
        "-C",
        "1",
        "--gamma",
        "1e-9",
        "--cv",
        "2",
        "--scoring",
        "balanced_accuracy",
    )
    # one class for all
    assert balanced["best_score"] == pytest.approx(balanced_accuracy_score([0, 1], [0, 0]))


@pytest.mark.parametrize(
    ("given", "shared"),
    [
        (["-C", "10,0.1,1", "--gamma", "1,0.01"], "SVCCV"),
        (["-C", "1,1", "--set", "gamma=0.5"], "SVCCV"),
        (["-C", "1,10", "--kernel", "linear"], "SVCCV"),
        (["--problem", "nu-svc", "--vary", "nu=0.5,0.3", "--gamma", "0.1"], "NuSVCCV"),
        (["--problem", "svr", "-C", "1", "--gamma", "1", "--vary", "epsilon=0.5,0.1"], "SVRCV"),
        (["--problem", "nu-svr", "-C", "1,9", "--gamma", "1"], "NuSVRCV"),
        (["-C", "1", "--set", "gamma=scale"], None),
        (["-C", "1,inf", "--gamma", "100"], None),
        (["-C", "1", "--gamma", "1", "--vary", "kernel=rbf,laplacian"], None),
        (["-C", "1", "--gamma", "0.1,1", "--kernel", "linear"], None),
        (["--problem", "linear-svc", "-C", "1,0.1"], None),
    ],
)
def test_tune_shares_kernel_values_where_it_can(given, shared, monkeypatch):
    """Both ways of searching give the same table, in the order and with the values given."""
    used, ways = [], searching.shared_search

    def spied(*arguments):
        used.append(ways(*arguments))
        return used[-1]

    line = ["tune", "heart.svm", *given, "--cv", "3", "--set", "tol=1e-6"]
    monkeypatch.setattr(searching, "shared_search", spied)
    found = answer(*line, "--jobs", "2")
    assert [one and type(one).__name__ for one in used] == [shared]
    monkeypatch.setattr(searching, "shared_search", lambda *_: None)
    goal = answer(*line)
    assert found["best_parameters"] == goal["best_parameters"]
    for key in ("score", "deviation"):
        assert [row[key] for row in found["results"]] == pytest.approx(
            [row[key] for row in goal["results"]], abs=1e-7
        )
    assert [row["parameters"] for row in found["results"]] == [
        row["parameters"] for row in goal["results"]
    ]


def test_a_search_that_ends_early_keeps_what_is_done(monkeypatch):
    line = ["tune", "heart.svm", "-C", "0.1,1,10", "--gamma", "0.01,0.1,1", "--cv", "3"]
    assert "before the first of 27 fits" in run(*line, "--time-limit", "0", code=1).stderr
    every = {str(row["parameters"]): row["score"] for row in answer(*line)["results"]}
    follow, chains = Search._follow, []

    def first_three(self, chain, *rest):
        chains.append(chain)
        if len(chains) == 4:
            self.monitor.interrupted.set()  # as Ctrl-C does
        follow(self, chain, *rest)

    monkeypatch.setattr(Search, "_follow", first_three)
    text = run(*line, "--jobs", "1", "--json", "--model", "early.mm", "--picture", "early.png")
    found = json.loads(text.stdout)
    assert found["fits_done"] == "9 of 27"
    assert "the search ended early: 9 of 27 fits are done" in text.stderr
    assert {str(row["parameters"]): row["score"] for row in found["results"]} == {
        key: score for key, score in every.items() if "'gamma': 0.1}" in key
    }
    assert load("early.mm").gamma == 0.1


def test_limits_of_a_search_that_cannot_be_kept_are_refused():
    line = ["tune", "heart.svm", "--problem", "linear-svc", "-C", "1"]
    assert "--time-limit and --refine need a kernel machine" in " ".join(
        run(*line, "--time-limit", "5", code=2).stderr.replace("│", " ").split()
    )
    assert "--jobs must not be 0" in run(*line, "--jobs", "0", code=2).stderr


def test_max_support_vectors():
    run("train", "heart.svm", "m.mm", "-C", "10")
    X, model = load_svmlight("heart.svm")[0], load("m.mm")
    assert len(model.support_) > 20
    run("convert", "m.mm", "small.mm", "--max-support-vectors", "20")
    small = load("small.mm")
    assert len(small.support_) == 20
    np.testing.assert_array_equal(
        small.decision_function(X), compact(model, max_support_vectors=20).decision_function(X)
    )
    run("convert", "m.mm", "x.mm", "--max-support-vectors", "0", code=1)
    assert not Path("x.mm").exists()


# ---- formats of data -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", [["scale", "heart.svm"], ["subset", "heart.svm", "50"]], ids=["scale", "subset"]
)
@pytest.mark.parametrize("kind", ["csv", "tsv", "npy", "npz", "parquet", "svmlight"])
def test_output_format_and_data_format(command, kind):
    """A name that says nothing, or something else: the options say what is in the file."""
    run(*command, "plain.svm")
    goal, y = load_svmlight("plain.svm", n_features=13)
    run(*command, "data.txt", "--output-format", kind)
    options = ["--target", "-1"] if kind == "npy" else []
    run("convert", "data.txt", "back.svm", "--data-format", kind, *options)
    back, z = load_svmlight("back.svm", n_features=13)
    np.testing.assert_array_equal(back.toarray(), goal.toarray())
    np.testing.assert_array_equal(z, y)
    run(*command, "named.csv", "--output-format", kind)  # the option counts, not the name
    assert Path("named.csv").read_bytes()[:4] == Path("data.txt").read_bytes()[:4]


def test_data_format_is_believed():
    Path("a.csv").write_bytes(Path("heart.svm").read_bytes())
    run("train", "a.csv", "m.mm", "--data-format", "svmlight")
    assert load("m.mm").n_features_in_ == 13
    assert "a.csv" in run(
        "train", "heart.svm", "m.mm", "--data-format", "npz", code=1
    ).stderr.replace("heart.svm", "a.csv")


def test_one_based_and_zero_based():
    Path("a.svm").write_text("1 1:1 2:3\n-1 1:2 2:1\n1 1:1 2:4\n-1 1:3 2:1\n")
    for option, width in ((None, 2), ("--one-based", 2), ("--zero-based", 3)):
        run("train", "a.svm", "m.mm", *([] if option is None else [option]))
        assert load("m.mm").n_features_in_ == width
    Path("a.svm").write_text("1 0:1 1:3\n-1 0:2 1:1\n")
    for option in (None, "--zero-based"):
        run("train", "a.svm", "m.mm", *([] if option is None else [option]))
        assert load("m.mm").n_features_in_ == 2
    error = run("train", "a.svm", "m.mm", "--one-based", code=1).stderr
    assert error.startswith("error: a.svm")
    assert "0" in error


# ---- Ctrl-C --------------------------------------------------------------------------------------


def test_ctrl_c_ends_with_130_and_writes_nothing():
    """A fit that would take very long.

    The data come through a pipe, so that the command is known to run when the signal comes.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 8)), rng.integers(0, 2, 4000)
    rows = [
        " ".join([str(label), *(f"{k + 1}:{value:.4f}" for k, value in enumerate(row))])
        for row, label in zip(X, y, strict=True)
    ]
    os.mkfifo("pipe")
    Path("m.mm").write_text("precious")
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from maxmargin.cli import main; main()"
    )
    line = [
        sys.executable,
        "-c",
        code,
        "train",
        "pipe",
        "m.mm",
        "--data-format",
        "svmlight",
        "-C",
        "1e9",
        "--tol",
        "1e-12",
        "--cv",
        "10",
    ]
    child = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=child_environment()
    )
    try:
        writer = threading.Thread(
            target=lambda: Path("pipe").write_text("\n".join(rows) + "\n"), daemon=True
        )
        writer.start()
        writer.join(60)
        child.send_signal(signal.SIGINT)
        out, error = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 130, error.decode()
    assert out == b""
    assert error == b"interrupted\n"
    assert Path("m.mm").read_text() == "precious"


def test_ctrl_c_at_any_other_place_is_130_as_well(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    for line in (
        ["train", "heart.svm", "m.mm"],
        ["tune", "heart.svm"],
        ["check", "heart.svm"],
        ["svm-train", "heart.svm", "m.model"],
    ):
        with monkeypatch.context() as patch:
            patch.setattr(SVC, "fit", interrupted)
            patch.setattr(Search, "run", interrupted)
            patch.setattr("maxmargin.cli.check.examine", interrupted)
            assert run(*line, code=130).stderr == "interrupted\n"
    assert not Path("m.mm").exists()
