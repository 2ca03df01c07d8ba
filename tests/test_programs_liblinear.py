"""linear-train and linear-predict beside LIBLINEAR's own programs, through files as scripts do it.

Both train with the same options, at the tightest -e that both can reach. Then

* a model file, theirs or ours, gives the same labels in their predict, in our linear-predict and in
  our predict;
* our objective is not above theirs, by the formulas from the model files; theirs is not above ours
  by more than its tolerance unless LIBLINEAR itself warned that it stopped at its limit of
  iterations;
* where it did not stop there, labels and values agree, but for rows between two labels: Crammer and
  Singer's optimum has some of them among the training rows, exactly.
"""

import re

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import data
from command import heart, house, run
from maxmargin.cli.app import app
from maxmargin.io import load_svmlight
from programs import LIBLINEAR, linear_numbers, linear_objective, read_liblinear, real, write

pytestmark = LIBLINEAR
CLASSIFIERS = (1, 2, 3, 4, 5)
REGRESSORS = (11, 12, 13)
THEIR_TOLERANCE, OUR_TOLERANCE = 1e-8, 1e-10


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def predictions(model):
    """What their program and ours predict for test.svm from the model file."""
    real("liblinear-predict", "test.svm", model, "theirs.txt")
    found = {"theirs": np.loadtxt("theirs.txt")}
    for command in ("linear-predict", "predict"):
        run(command, "-q", "test.svm", model, "ours.txt")
        found[command] = np.loadtxt("ours.txt")
    return found


def check(place, options, X, y):
    """Check everything listed at the top; return whether LIBLINEAR converged."""
    done = real(
        "liblinear-train", *options.split(), "-e", THEIR_TOLERANCE, "train.svm", "theirs.model"
    )
    finished = "max number of" not in done.stdout + done.stderr
    run("linear-train", *options.split(), "-e", OUR_TOLERANCE, "-q", "train.svm", "ours.model")
    found, given = (
        {name: predictions(f"{name}.model") for name in ("theirs", "ours")},
        linear_numbers(options),
    )
    models, test = (
        {name: read_liblinear(place / f"{name}.model") for name in found},
        load_svmlight("test.svm")[0].toarray(),
    )
    for name, labels in found.items():
        for command in ("linear-predict", "predict"):
            same(models[name], test, labels[command], labels["theirs"], 1e-12)
    theirs, ours = (linear_objective(models[name], X, y, **given) for name in ("theirs", "ours"))
    assert ours <= theirs * (1 + OUR_TOLERANCE)
    if finished:
        assert theirs <= ours * (1 + 1e-7)
        same(models["theirs"], test, found["ours"]["predict"], found["theirs"]["predict"], 1e-5)
    return finished


def same(model, X, found, goal, near):
    """Equal labels where the model tells them apart by more than this, or equal values."""
    if "label" not in model.head:
        np.testing.assert_allclose(found, goal, rtol=0, atol=near * np.abs(goal).max())
        return
    clear = model.lead(X) > near
    assert np.mean(clear) > 0.9
    np.testing.assert_array_equal(found[clear], goal[clear])


def split(X, y):
    """Files for training and for testing; the training rows."""
    X, y = write("test.svm", X, y)
    n = len(y) * 3 // 4
    return write("train.svm", X[:n], y[:n])


@pytest.mark.parametrize("more", ["", "-c 4 -B 1", "-c 0.5 -B 2"])
@pytest.mark.parametrize("labels", [(1, -1), (-1, 1), (4, 2, -3)])
@pytest.mark.parametrize("solver", CLASSIFIERS)
def test_classifiers(place, solver, labels, more):
    X, y = heart(place / "all.svm", n=200, classes=len(labels))
    check(
        place, f"-s {solver} {more}", *split(X, y if len(labels) == 2 else np.array(labels)[y - 1])
    )


@pytest.mark.parametrize("solver", CLASSIFIERS)
def test_weights(place, solver):
    check(place, f"-s {solver} -B 1 -w1 3 -w-1 0.5", *split(*heart(place / "all.svm", n=200)))


def test_weights_of_several_classes(place):
    """Crammer and Singer weigh rows, as we do.

    The others weigh a class where it stands against the rest, which is refused.
    """
    X, y = split(*heart(place / "all.svm", n=200, classes=3))
    check(place, "-s 4 -B 1 -w1 3 -w2 0.5", X, y)
    for solver in (1, 2, 3, 5):
        assert (
            "part of the rest"
            in run("linear-train", "-s", solver, "-w1", 3, "train.svm", code=1).stderr
        )


@pytest.mark.parametrize("more", ["", "-c 0.05 -B 1 -p 0.05", "-c 3 -B 2 -p 0.2", "-p 0"])
@pytest.mark.parametrize("solver", REGRESSORS)
def test_regressors(place, solver, more):
    check(place, f"-s {solver} {more}", *split(*house(place / "all.svm")))


def test_where_liblinear_stops_early(place):
    """Its coordinate descent of -s 13 has slow cases.

    It warns after 1000 rounds, above the least objective, which ours reaches.
    """
    X, y = split(*house(place / "all.svm"))
    assert not check(place, "-s 13 -c 3 -B 1", X, y)
    theirs, ours = (
        linear_objective(read_liblinear(place / f"{name}.model"), X, y, 13, 3.0, 1.0)
        for name in ("theirs", "ours")
    )
    assert theirs > ours * (1 + 1e-6)


@pytest.mark.parametrize("solver", [0, 6, 7])
def test_logistic_regression(place, solver):
    """No support vector machine: neither trained nor read."""
    split(*heart(place / "all.svm", n=100))
    real("liblinear-train", "-s", solver, "train.svm", "theirs.model")
    assert (
        f"-s {solver} is logistic regression"
        in run("linear-train", "-s", solver, "train.svm", code=1).stderr
    )
    for command in ("linear-predict", "predict"):
        assert (
            "logistic regression"
            in run(command, "test.svm", "theirs.model", "out.txt", code=1).stderr
        )
    assert not (place / "out.txt").exists()


def test_features_the_model_has_not(place):
    """A test file may have more features than the training file, or fewer."""
    X, y = write("all.svm", *heart(place / "all.svm", n=200))
    write("train.svm", X[:, :11], y)
    real("liblinear-train", "-B", 1, "train.svm", "theirs.model")
    run("linear-train", "-B", 1, "-q", "train.svm", "ours.model")
    for test in (X, X[:, :7]):
        write("test.svm", test, y)
        for model in ("theirs.model", "ours.model"):
            real("liblinear-predict", "test.svm", model, "theirs.txt")
            run("linear-predict", "-q", "test.svm", model, "ours.txt")
            np.testing.assert_array_equal(np.loadtxt("ours.txt"), np.loadtxt("theirs.txt"))


@pytest.mark.parametrize(
    ("name", "rows", "options"),
    [
        ("a9a", 4000, "-s 1 -c 0.5 -B 1"),
        ("a9a", 4000, "-s 3 -c 0.1"),
        ("a9a", 4000, "-s 5 -B 1"),
        ("letter", 4000, "-s 2 -B 1"),
        ("letter", 1000, "-s 4 -c 0.1"),
        ("housing", 4000, "-s 11 -B 1"),
        ("housing", 4000, "-s 13 -c 0.1 -B 1"),
    ],
)
def test_real_data(place, name, rows, options):
    X, y = data.load(name, rows)
    X = data.as_dense(X)
    X = X if name == "a9a" else StandardScaler().fit_transform(X)
    check(
        place,
        options,
        *split(X, StandardScaler().fit_transform(y[:, None])[:, 0] if name == "housing" else y),
    )


# ---- what they print -----------------------------------------------------------------------------


def form(text):
    """The lines with # for each number."""
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "#", text).splitlines()


def test_what_is_printed(place):
    """The lines that scripts read: the same, or of the same form where folds are drawn at
    random."""
    write("two.svm", *heart(place / "two.svm", n=150))
    write("real.svm", *house(place / "real.svm", n=120))
    for file, options in (("two.svm", "-s 2"), ("real.svm", "-s 11")):
        real("liblinear-train", *options.split(), file, "m")
        for more in ([], ["-q"]):
            theirs = real("liblinear-predict", *more, file, "m", "theirs.txt").stdout
            assert run("linear-predict", *more, file, "m", "ours.txt").stdout == theirs
        theirs = real("liblinear-train", *options.split(), "-q", "-v", 5, file).stdout
        assert form(run("linear-train", *options.split(), "-q", "-v", 5, file).stdout) == form(
            theirs
        )
    for more in ([], ["-c", "0.3"], ["-v", "3"]):
        theirs = real("liblinear-train", "-C", "-s", 2, *more, "two.svm").stdout
        assert (
            form(run("linear-train", "-C", "-s", 2, *more, "two.svm").stdout) == form(theirs)[-1:]
        )


def test_the_search_begins_at_c(place):
    write("two.svm", *heart(place / "two.svm", n=150))
    found = run("linear-train", "-C", "-s", 2, "-c", "600", "two.svm").stdout
    assert found.startswith("Best C = 600 ")
    assert (
        "-C starts at the value of -c"
        in run("linear-train", "-C", "-s", 2, "-c", "2000", "two.svm", code=2).stderr
    )


@pytest.mark.parametrize(
    "options",
    [
        "",
        "-s 99 two.svm",
        "-z 1 two.svm",
        "-c 0 two.svm",
        "-v 1 two.svm",
        "-C -s 3 two.svm",
        "nowhere",
        "bad.svm",
    ],
)
def test_both_fail(place, options):
    """A script that looks at the exit code sees both fail."""
    write("two.svm", *heart(place / "two.svm", n=50))
    (place / "bad.svm").write_text("1 1:0.5\n-1 x:2\n")
    real("liblinear-train", *options.split(), code=1)
    assert CliRunner().invoke(app, ["linear-train", *options.split()]).exit_code in (1, 2)
