"""The commands of our own: what they write and say, for people and for machines, and how they
fail."""

import gzip
import os
import sys
import threading

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from command import answer, heart, house, process, run
from maxmargin import SVC, SVR, LinearSVC, OneClassSVM, cli
from maxmargin.io import dump_svmlight, load, load_svmlight

COMMANDS = (
    "train",
    "predict",
    "inspect",
    "scale",
    "tune",
    "check",
    "convert",
    "plot",
    "subset",
    "bench",
    "demo",
    "lab",
)
LIKE_THEIRS = ("svm-train", "svm-predict", "svm-scale", "linear-train", "linear-predict")
LIKE_THEIRS += ("svm_learn", "svm_classify", "svm_rank_learn", "svm_rank_classify")
LIKE_THEIRS += ("svm_perf_learn", "svm_perf_classify")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to work in, with a file for classification and one for regression."""
    monkeypatch.chdir(tmp_path)
    heart(tmp_path / "heart.svm", n=120)
    house(tmp_path / "house.svm", n=100)
    return tmp_path


# ---- train, predict, inspect ---------------------------------------------------------------------

MODELS = {
    "svc": (["-C", "10", "--gamma", "0.1"], SVC(C=10, gamma=0.1), "heart"),
    "svc poly": (
        ["--kernel", "poly", "-d", "2", "--coef0", "1"],
        SVC(kernel="poly", degree=2, coef0=1),
        "heart",
    ),
    "weights": (["--class-weight", "1=3,-1=1"], SVC(class_weight={1: 3, -1: 1}), "heart"),
    "balanced": (
        ["--class-weight", "balanced", "--loss", "squared_hinge"],
        SVC(class_weight="balanced", loss="squared_hinge"),
        "heart",
    ),
    "set": (
        ["--set", "multiclass=ovr", "--set", "shrinking=False"],
        SVC(multiclass="ovr", shrinking=False),
        "heart",
    ),
    "linear": (
        ["--problem", "linear-svc", "--loss", "hinge", "-C", "0.5"],
        LinearSVC(loss="hinge", C=0.5, random_state=0),
        "heart",
    ),
    "svr": (["--problem", "svr", "-e", "0.05", "-C", "3"], SVR(epsilon=0.05, C=3), "house"),
    "one-class": (["--problem", "one-class", "--nu", "0.2"], OneClassSVM(nu=0.2), "heart"),
}


@pytest.mark.parametrize("case", MODELS)
def test_train_and_predict(place, case):
    options, goal, name = MODELS[case]
    report = answer("train", f"{name}.svm", "m.mm", *options)
    X, y = load_svmlight(place / f"{name}.svm")
    goal.fit(X, y if name == "house" else y.astype(int))
    assert report["certificate"]["status"] == "optimal"
    assert report["model"] == "m.mm"
    run("predict", f"{name}.svm", "m.mm", "out.txt", "--quiet")
    np.testing.assert_array_equal(np.loadtxt("out.txt"), goal.predict(X))
    assert type(load("m.mm")) is type(goal)
    said = answer("predict", f"{name}.svm", "m.mm")
    np.testing.assert_array_equal(said["predictions"], goal.predict(X))
    if name == "house":
        assert said["mean_squared_error"] == pytest.approx(np.mean((goal.predict(X) - y) ** 2))
        assert report["training_r2"] == pytest.approx(goal.score(X, y))
    elif case != "one-class":
        assert said["accuracy"] == report["training_accuracy"] == goal.score(X, y)


def test_decision_values(place):
    run("train", "heart.svm", "m.mm")
    X, y = load_svmlight("heart.svm")
    goal = SVC().fit(X, y)
    run("predict", "heart.svm", "m.mm", "out.txt", "--decision")
    rows = np.loadtxt("out.txt")
    np.testing.assert_array_equal(rows[:, 1], goal.decision_function(X))
    np.testing.assert_array_equal(
        answer("predict", "heart.svm", "m.mm", "--decision")["decision_values"], rows[:, 1:]
    )
    run("train", "house.svm", "r.mm", "--problem", "svr")
    assert "no decision values" in run("predict", "house.svm", "r.mm", "--decision", code=1).stderr


def test_default_names_and_reports(place):
    result = run("train", "heart.svm")
    assert (place / "heart.svm.mm").is_file()
    for word in (
        "certificate",
        "optimal",
        "training accuracy",
        "support vectors",
        "heart.svm: 120 x 13",
    ):
        assert word in result.stdout
    assert run("train", "heart.svm", "--quiet").stdout == ""
    result = run("predict", "heart.svm", "heart.svm.mm")
    assert len(result.stdout.splitlines()) == 120
    assert "accuracy" in result.stderr
    shown = answer("inspect", "heart.svm.mm")
    assert shown["estimator"] == "SVC"
    assert shown["classes"] == [-1, 1]
    assert shown["features"] == 13
    assert (
        sum(value for key, value in shown["support_vectors"].items() if key != "total")
        == shown["support_vectors"]["total"]
    )
    assert "rbf" in shown["kernel"].lower()
    assert "optimal" in run("inspect", "heart.svm.mm").stdout


@pytest.mark.parametrize(
    "problem",
    [
        "svc",
        "svr",
        "one-class",
        "linear-svc",
        "linear-svr",
        "linear-one-class",
        "norma",
        "norma-novelty",
    ],
)
def test_inspect_every_kind_of_model(place, problem):
    name = "house" if problem.endswith("svr") else "heart"
    run("train", f"{name}.svm", "m.mm", "--problem", problem)
    shown, model = answer("inspect", "m.mm"), load("m.mm")
    assert shown["estimator"] == type(model).__name__
    if hasattr(model, "support_vectors_"):
        assert shown["support_vectors"]["total"] == model.support_vectors_.shape[0]
    else:
        assert shown["non_zero_weights"].endswith(f"of {model.coef_.size:,}")


def test_cross_validation(place):
    X, y = load_svmlight("heart.svm")
    found = answer("train", "heart.svm", "m.mm", "--cv", "4", "--seed", "3")["cross_validation"]
    right = sum(
        int(np.sum(SVC().fit(X[a], y[a]).predict(X[b]) == y[b]))
        for a, b in StratifiedKFold(4, shuffle=True, random_state=3).split(X, y)
    )
    assert found["accuracy"] == right / len(y)
    assert (
        answer("train", "house.svm", "m.mm", "--problem", "svr", "--cv", "3")["cross_validation"][
            "mean_squared_error"
        ]
        > 0
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["train", "nowhere.svm"], 1, "error: no file nowhere.svm"),
        (["train", "heart.svm", "--problem", "forest"], 2, "must be one of svc"),
        (
            ["train", "heart.svm", "--problem", "linear-svc", "--gamma", "1"],
            2,
            "has no parameter gamma",
        ),
        (["train", "heart.svm", "--set", "colour=red"], 2, "has no parameter colour"),
        (["train", "heart.svm", "--set", "colour"], 2, "name=value"),
        (["train", "heart.svm", "-C", "-1"], 1, "error: The 'C' parameter"),
        (["train", "heart.svm", "-C", "many"], 2, "Invalid value for '-C'"),
        (["train", "heart.svm", "--probability", "-p", "pegasos"], 2, "pegasos learns no prob"),
        (["train", "heart.svm", "--scale", "wide"], 2, "--scale must be one of"),
        (["train", "heart.svm", "--cv", "1"], 2, "at least 2"),
        (["train", "heart.svm", "--cv", "100"], 1, "use fewer folds"),
        (["train", "heart.svm", "--format", "xml"], 2, "--format must be one of"),
        (["train", "heart.svm", "no/where.mm"], 1, "no folder no"),
        (["train", "heart.svm", "--target", "price"], 1, "cannot be chosen"),
        (["train", "-"], 2, "name the model file"),
        (["train", "heart.svm", "--class-weight", "3"], 2, "label=weight"),
        (["train"], 2, "Missing argument"),
        (["train", "heart.svm", "--colour"], 2, "No such option"),
        (
            ["train", "bad.svm"],
            1,
            "error: bad.svm, line 2, column 5: a number was expected right after ':'",
        ),
        (["predict", "heart.svm", "nowhere.mm"], 1, "no file nowhere.mm"),
        (["predict", "house.svm", "m.mm"], 1, "has 13 features, the model was trained on"),
        (["inspect", "heart.svm"], 1, "heart.svm"),
        (["fly"], 2, "No such command"),
    ],
)
def test_errors_are_one_line(place, arguments, code, message):
    (place / "bad.svm").write_text("1 1:1\n2 1:nan\n")
    dump_svmlight(np.eye(3), [1, -1, 1], "small.svm")
    if "m.mm" in arguments:
        run("train", "small.svm", "m.mm")
        arguments = ["heart.svm" if a == "house.svm" else a for a in arguments]
    before = sorted(path.name for path in place.iterdir())
    result = run(*arguments, code=code)
    text = " ".join(result.stderr.replace("│", " ").split())
    assert message in text
    assert "Traceback" not in text
    if code == 1:
        assert len(result.stderr.splitlines()) == 1
    assert sorted(path.name for path in place.iterdir()) == before, "nothing is written on failure"


def test_nothing_is_overwritten_on_failure(place):
    (place / "m.mm").write_text("precious")
    (place / "one.svm").write_text("1 1:1\n1 1:2\n")
    run("train", "one.svm", "m.mm", code=1)
    assert (place / "m.mm").read_text() == "precious"


def test_warnings_are_one_line(place):
    result = run("train", "heart.svm", "m.mm", "--set", "max_iter=1", "--quiet")
    assert result.stderr.startswith("warning: ")
    assert "ConvergenceWarning" not in result.stderr


def test_help_has_examples():
    for command in (*COMMANDS, *LIKE_THEIRS):
        text = run(command, "--help").stdout
        assert "Examples:" in text
        assert f"maxmargin {command}" in text
    assert all(command in run("--help").stdout for command in COMMANDS)
    assert run("--version").stdout.startswith("maxmargin 0.")


# ---- tables, pipes -------------------------------------------------------------------------------


def test_csv_with_words(place):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    names = np.where(X[:, 0] + 0.1 * rng.normal(size=60) > 0, "yes", "no")
    rows = [f"{a!r},{name},{b!r},{c!r}" for (a, b, c), name in zip(X.tolist(), names, strict=True)]
    (place / "churn.csv").write_text("age,churned,income,height\n" + "\n".join(rows) + "\n")
    report = answer("train", "churn.csv", "churn.mm", "--target", "churned")
    goal = SVC().fit(X, names)
    assert report["training_accuracy"] == goal.score(X, names)
    assert (
        answer("predict", "churn.csv", "churn.mm", "--target", "churned")["predictions"]
        == goal.predict(X).tolist()
    )
    (place / "new.csv").write_text(
        "age,income,height\n" + "\n".join(f"{a!r},{b!r},{c!r}" for a, b, c in X.tolist()) + "\n"
    )
    said = answer("predict", "new.csv", "churn.mm")
    assert said["predictions"] == goal.predict(X).tolist()
    assert "accuracy" not in said
    assert "has no column 'price'" in run("train", "churn.csv", "--target", "price", code=1).stderr
    error = run("train", "churn.csv", "--target", "age", code=1).stderr
    assert "line 2, column 2: 'churned' holds words" in error
    assert "or leave the column out (--ignore churned)" in error
    assert "is it the target (--target churned)?" in run("train", "churn.csv", code=1).stderr
    assert run("predict", "churn.csv", "churn.mm", "--target", "churned").stdout.split()[0] in (
        "yes",
        "no",
    )


def test_pipes(place):
    """As users do: data from a pipe, also compressed; predictions to a pipe, nothing else there; no
    bar, no colours."""
    text = (place / "heart.svm").read_bytes()
    done = process("train", "-", "m.mm", stdin=gzip.compress(text))
    assert b"certificate" in done.stdout
    assert b"\x1b" not in done.stdout + done.stderr
    assert done.stderr == b""
    done = process("predict", "-", "m.mm", stdin=text)
    goal = load("m.mm").predict(load_svmlight("heart.svm")[0])
    assert done.stdout.split() == [b"%d" % label for label in goal]
    assert b"accuracy" in done.stderr
    assert process("train", "-", "n.mm", stdin=b"1 1:x\n", code=1).stderr.startswith(
        b"error: standard input, line 1, column 5"
    )
    assert (
        b"problem standard input has a header"
        in process("check", "-", stdin=b"a,b\n", code=1).stdout
    )
    assert not (place / "n.mm").exists()


# ---- the others ----------------------------------------------------------------------------------


def test_scale(place):
    X, y = load_svmlight("heart.svm")
    dense = X.toarray() * np.arange(1, 14) + 5
    dense[:, 3] = 7.0
    dump_svmlight(dense, y, "raw.svm")
    run("scale", "raw.svm", "scaled.svm", "--save", "ranges.txt")
    scaled = load_svmlight("scaled.svm", n_features=13)[0].toarray()
    least, greatest = dense.min(axis=0), dense.max(axis=0)
    varied = greatest > least
    goal = np.where(varied, -1 + 2 * (dense - least) / np.where(varied, greatest - least, 1), 0)
    np.testing.assert_allclose(scaled, goal, atol=1e-14)
    assert scaled[:, varied].min() == -1
    assert scaled[:, varied].max() == 1
    dump_svmlight(dense[:10] + 1, y[:10], "test.svm")
    run("scale", "test.svm", "out.csv", "--restore", "ranges.txt")
    lines = (place / "out.csv").read_text().splitlines()
    np.testing.assert_allclose(
        np.array([line.split(",")[:-1] for line in lines[1:]], float),
        np.where(
            varied, -1 + 2 * (dense[:10] + 1 - least) / np.where(varied, greatest - least, 1), 0
        ),
    )
    assert answer("scale", "raw.svm", "again.svm", "--lower", "0")["varying"] == 12
    run("scale", "raw.svm", "--restore", "ranges.txt", "--lower", "0", code=2)
    (place / "ranges.txt").write_text("x\n-1 1\n1 2 three\n")
    assert "ranges.txt, line 3" in run("scale", "raw.svm", "--restore", "ranges.txt", code=1).stderr
    for text in ("", "x\n", "y\n1 2\n", "z\n", "x\n-1 1\n999999999999 1 2\n", "x\n-1 1\n0 1 2\n"):
        (place / "ranges.txt").write_text(text)
        assert "ranges.txt" in run("scale", "raw.svm", "--restore", "ranges.txt", code=1).stderr


def test_check(place):
    (place / "bad.svm").write_text(
        "1 1:1\n2 1:nan\n3 2:1 1:1\n# fine\n1 qid:3 1:1\n-1 1:5 2:2\n1 : 2\n"
    )
    found = answer("check", "bad.svm", code=1)
    assert [(p["line"], p["column"]) for p in found["problems"]] == [(2, 5), (3, 7), (5, 3), (7, 3)]
    assert found["samples"] == 2
    assert [p["line"] for p in answer("check", "bad.svm", "--most", "2", code=1)["problems"]] == [
        2,
        3,
    ]
    text = run("check", "bad.svm", code=1).stdout
    assert "line 2, column 5" in text
    X, y = load_svmlight("heart.svm")
    dense = X.toarray()
    dense[:, 0], dense[:, 1] = 3.0, dense[:, 1] * 1e5
    dense[7] = dense[9]
    y[:115], y[115:] = 1, 2
    dump_svmlight(dense, y, "odd.svm")
    found = answer("check", "odd.svm")
    assert found["problems"] == []
    assert found["constant_features"] == ["1"]
    assert found["unscaled"]
    assert found["duplicates"] == 1
    assert found["balance"] == {"1.0": 115, "2.0": 5} or found["balance"] == {"1": 115, "2": 5}
    assert len(found["advice"]) == 4
    assert found["contradictions"] is None
    assert "no problems" in run("check", "odd.svm").stdout
    dense[119] = dense[0]
    dump_svmlight(dense, y, "odd.svm")
    assert any(
        "2 samples are copies of others" in line for line in answer("check", "odd.svm")["advice"]
    )
    (place / "bad.csv").write_text("a,b\n1,2\n3,\n")
    assert [(p["line"], p["column"]) for p in answer("check", "bad.csv", code=1)["problems"]] == [
        (3, 2)
    ]
    run("check", "nowhere.svm", code=1)


def test_check_finds_every_problem_of_a_long_file(place):
    rng = np.random.default_rng(0)
    rows = [f"1 1:{k} 2:{k}.5 3:7" for k in range(200_000)]
    wrong = sorted(rng.choice(len(rows), 40, replace=False).tolist())
    for k in wrong:
        rows[k] = "1 1:1 x"
    (place / "long.svm").write_text("\r\n".join(rows))
    found = answer("check", "long.svm", code=1)
    assert [(p["line"], p["column"]) for p in found["problems"]] == [(k + 1, 7) for k in wrong]
    assert found["samples"] == 200_000 - 40


def test_tune(place):
    found = answer(
        "tune",
        "heart.svm",
        "-C",
        "0.1,1,10",
        "--gamma",
        "log10:-2,0,1",
        "--cv",
        "3",
        "--picture",
        "grid.png",
        "--model",
        "best.mm",
    )
    X, y = load_svmlight("heart.svm")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    goal = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1.0]}, cv=folds).fit(X, y)
    assert found["best_parameters"] == goal.best_params_
    assert found["best_score"] == pytest.approx(goal.best_score_)
    assert len(found["results"]) == 9
    assert (place / "grid.png").read_bytes().startswith(b"\x89PNG")
    np.testing.assert_array_equal(load("best.mm").predict(X), goal.predict(X))
    text = run(
        "tune",
        "house.svm",
        "--problem",
        "svr",
        "-C",
        "1",
        "--gamma",
        "0.1",
        "--vary",
        "epsilon=0.01,0.1",
        "--cv",
        "2",
    ).stdout
    assert "epsilon" in text
    run("tune", "heart.svm", "-C", "log3:1,2,3", code=2)
    run("tune", "heart.svm", "--vary", "colour=1", code=2)


def test_convert(place):
    run("train", "heart.svm", "m.mm")
    X, y = load_svmlight("heart.svm")
    goal = load("m.mm").decision_function(X)
    run("convert", "m.mm", "libsvm.model")
    assert (place / "libsvm.model").read_text().startswith("svm_type c_svc")
    assert answer("convert", "libsvm.model", "back.mm")["to"] == "mm"
    np.testing.assert_allclose(load("back.mm").decision_function(X), goal, rtol=1e-12, atol=1e-12)
    run("convert", "m.mm", "model.js")
    assert (place / "model.js").stat().st_size > 100
    for name in ("d.csv", "d.tsv", "d.npy", "d.npz", "d.parquet", "d.svm.gz", "d.csv.xz"):
        run("convert", "heart.svm", name)
        run("convert", name, "back.svm")
        back, z = load_svmlight("back.svm", n_features=13)
        np.testing.assert_array_equal(back.toarray(), X.toarray())
        np.testing.assert_array_equal(z, y)
    run("convert", "m.mm", "x.mm", "--target", "a", code=2)
    run("convert", "heart.svm", "x.svm", "--tolerance", "1", code=2)
    run("convert", "heart.svm", "x.svm", "--to", "xml", code=1)


def test_plot(place):
    for name, options, kind in (
        ("heart", [], "decision"),
        ("house", ["--problem", "svr"], "tube"),
        ("heart", ["--problem", "one-class"], "outliers"),
    ):
        run("train", f"{name}.svm", "m.mm", *options)
        assert answer("plot", f"{name}.svm", "m.mm", "p.png")["kind"] == kind
        assert (place / "p.png").read_bytes().startswith(b"\x89PNG")
    heart(place / "three.svm", n=90, classes=3)
    run("train", "three.svm", "m.mm")
    assert answer("plot", "three.svm", "m.mm", "p.svg", "--features", "1,2", "--most", "50") == {
        "kind": "classes",
        "points": 50,
        "picture": "p.svg",
    }
    run("plot", "three.svm", "m.mm", "p.svg", "--features", "1,99", code=2)
    run("plot", "three.svm", "m.mm", "p.svg", "--kind", "cake", code=2)


def test_subset(place):
    X, y = load_svmlight("heart.svm")
    run("subset", "heart.svm", "30", "some.svm", "--rest", "others.svm", "--seed", "1")
    A, a = load_svmlight("some.svm", n_features=13)
    B, b = load_svmlight("others.svm", n_features=13)
    assert len(a) == 30
    assert abs(np.mean(a == 1) - np.mean(y == 1)) < 1 / 30
    rows = {row.tobytes() for row in X.toarray()}
    assert {row.tobytes() for row in np.vstack([A.toarray(), B.toarray()])} == rows
    assert len(a) + len(b) == 120
    assert len(run("subset", "heart.svm", "5").stdout.splitlines()) == 5
    assert "use --random" in run("subset", "house.svm", "5", code=1).stderr
    run("subset", "house.svm", "5", "x.svm", "--random")
    assert "has 120" in run("subset", "heart.svm", "500", code=1).stderr


def test_bench_and_demo(place):
    found = answer("bench", "heart.svm", "--set", "C=2", "--rounds", "1")
    assert found["same_predictions"] == 1.0
    assert found["seconds"]["maxmargin"]["fit"] > 0
    assert "ratio" in run("bench", "house.svm", "--problem", "linear-svr", "--rounds", "1").stdout
    files = answer("demo", "tour")["files"]
    assert {path.name for path in (place / "tour").iterdir()} == set(files)
    assert sum(name.endswith(".png") for name in files) == 4


def test_without_typer(monkeypatch):
    monkeypatch.delitem(sys.modules, "maxmargin.cli.app")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"pip install 'maxmargin\[cli\]'"):
        cli.main()


def test_what_is_no_file_says_what_it_is(place):
    for command, message in [
        (["train", ".", "m.mm"], ". is a folder: name a file"),
        (["train", "nothing.svm", "m.mm"], "no file nothing.svm"),
        (["predict", "heart.svm", "."], ". is a folder: name a file"),
        (["demo", "heart.svm"], "heart.svm is a file: name a folder"),
    ]:
        assert message in run(*command, code=1).stderr
    run("train", "heart.svm", "heart.mm")
    (place / "packed.mm").write_bytes(gzip.compress((place / "heart.mm").read_bytes()))
    assert "compressed model file" in run("predict", "heart.svm", "packed.mm", code=1).stderr


def test_a_pipe_is_read_like_a_file(place):
    os.mkfifo(place / "pipe")
    writer = threading.Thread(
        target=lambda: (place / "pipe").write_bytes((place / "heart.svm").read_bytes())
    )
    writer.start()
    run("train", "pipe", "from_pipe.mm")
    writer.join()
    run("train", "heart.svm", "from_file.mm")
    assert (place / "from_pipe.mm").read_bytes() == (place / "from_file.mm").read_bytes()
