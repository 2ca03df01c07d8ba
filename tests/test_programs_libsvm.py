"""svm-train and svm-predict beside LIBSVM's own programs, through files as scripts do it.

Both train with the same options and a tight -e. Then

* a model file, theirs or ours, gives the same labels in their svm-predict, in our svm-predict and
  in our predict;
* our objective is not above theirs, and theirs is above ours by its tolerance at most (both by the
  formulas, from the model files);
* functions agree, and so do labels wherever a function is further from 0 than that.

Options are binary fractions: Debian's svm-train rounds them to float32.

The free support vectors of a one-class model lie on its boundary: their values are rounding errors,
and their labels the signs of these.
"""

import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import data
from command import answer, heart, house, run
from maxmargin.cli.app import app
from programs import LIBSVM, functions, objective, read_libsvm, real, write, write_kernel

pytestmark = LIBSVM
KERNELS = {
    0: "-t 0",
    1: "-t 1 -d 3 -g 0.25 -r 0.5",
    2: "-t 2 -g 0.125",
    3: "-t 3 -g 0.015625 -r 0.125",
    4: "-t 4",
}
SOLVERS = {0: "-c 2", 1: "-n 0.25", 2: "-n 0.1875", 3: "-c 2 -p 0.0625", 4: "-c 2 -n 0.375"}
ROUNDING = 1e-11
THEIR_TOLERANCE, OUR_TOLERANCE = 1e-6, 1e-9


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def numbers_of(options):
    """The options' values as `objective` takes them."""
    words = options.split()
    given = {
        name: float(words[words.index(flag) + 1])
        for flag, name in (("-c", "C"), ("-n", "nu"), ("-p", "epsilon"))
        if flag in words
    }
    weights = {
        int(flag[2:]): float(value) for flag, value in pairwise(words) if flag.startswith("-w")
    }
    return {**given, "weights": weights}


def both_train(place, options):
    """Models of both programs from train.svm; ours with a tolerance that makes it the referee."""
    real("svm-train", *options.split(), "-e", THEIR_TOLERANCE, "train.svm", "theirs.model")
    run("svm-train", *options.split(), "-e", OUR_TOLERANCE, "-q", "train.svm", "ours.model")


def predictions(model, commands=("svm-predict", "predict")):
    """What their program and ours predict for test.svm from the model file."""
    real("svm-predict", "test.svm", model, "theirs.txt")
    found = {"theirs": np.loadtxt("theirs.txt")}
    for command in commands:
        run(command, "-q", "test.svm", model, "ours.txt")
        found[command] = np.loadtxt("ours.txt")
    return found


def check_objectives(models, X, y, options):
    """A violation of -e in each row costs at most the sum of the rows' upper bounds times -e, of
    all pairs.
    """
    given = numbers_of(options)
    theirs, ours = (objective(models[name], X, y, **given) for name in ("theirs", "ours"))
    # not positive semidefinite: no convex problem, and each may end in another stationary point
    if "-t 3" in options:
        assert ours == pytest.approx(theirs, rel=1e-5)
        return
    bound = X.shape[0] * max(1, len(models["ours"].head.get("label", [])) - 1)
    bound *= given.get("C", 1.0) * max(given["weights"].values(), default=1.0)
    assert ours <= theirs + OUR_TOLERANCE * bound + 1e-12 * abs(theirs)
    assert theirs <= ours + THEIR_TOLERANCE * bound + 1e-12 * abs(ours)


def check(place, options, X, y, X_test):
    """All that is said at the top; X are the training rows, or their kernel matrix."""
    both_train(place, options)
    models = {name: read_libsvm(place / f"{name}.model", X.shape[1]) for name in ("theirs", "ours")}
    values = {name: functions(model, X_test, X) for name, model in models.items()}
    least = {
        name: np.min([np.abs(f.values) for f in found], axis=0) for name, found in values.items()
    }
    found = {name: predictions(f"{name}.model") for name in models}
    regression = "label" not in models["ours"].head and "-s 2" not in options
    for name in models:
        goal = found[name].pop("theirs")
        for command, labels in found[name].items():
            if regression:
                np.testing.assert_allclose(
                    labels, goal, atol=1e-5 * np.abs(goal).max(), err_msg=command
                )
                np.testing.assert_allclose(
                    labels, values[name][0].values, atol=1e-10 * np.abs(goal).max(), err_msg=command
                )
            else:
                clear = least[name] > ROUNDING
                assert clear.all() or "-s 2" in options
                np.testing.assert_array_equal(labels[clear], goal[clear], f"{command} of {name}")
    check_objectives(models, X, y, options)
    near = 1e-3 if "-t 3" in options else 1e-4
    same = {f.labels: f.values for f in values["ours"]}
    for f in values["theirs"]:
        mine = same[f.labels] if f.labels in same else -same[f.labels[::-1]]
        np.testing.assert_allclose(mine, f.values, atol=near * max(1.0, np.abs(f.values).max()))
    if not regression:
        clear = least["theirs"] > near * max(
            1.0, *(np.abs(f.values).max() for f in values["theirs"])
        )
        assert np.mean(clear) > 0.6
        np.testing.assert_array_equal(
            found["ours"]["predict"][clear], found["theirs"]["predict"][clear]
        )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_problem_and_kernel(place, solver, kernel):
    X, y = write("all.svm", *(heart if solver < 3 else house)(place / "all.svm", n=200))
    X[149] = 0.0  # the last kernel value is zero in all rows
    options = f"-s {solver} {SOLVERS[solver]} {KERNELS[kernel]}"
    if kernel == 4:
        K = X @ X[:150].T
        write_kernel(place / "train.svm", K[:150], y[:150])
        write_kernel(place / "test.svm", K, y)
        return check(place, options, K[:150], y[:150], K)
    write("train.svm", X[:150], y[:150])
    write("test.svm", X, y)
    return check(place, options, X[:150], y[:150], X)


@pytest.mark.parametrize(
    "options",
    [
        "-g 0.125",
        "-c 5 -g 0.25 -h 0 -m 50",
        "-s 1 -n 0.25",
        "-t 0 -w2 3 -w4 0.5",
        "-t 1 -d 2 -g 0.125 -r 1",
        "-t 3 -g 0.015625",
        "-t 0 -s 1 -n 0.25",
    ],
)
@pytest.mark.parametrize("labels", [(1, 2, 3, 4), (4, 2, -3, 0)])
def test_several_classes(place, options, labels):
    """Labels in any order.

    LIBSVM numbers classes as they come in the file, and of equal votes the first wins.
    """
    X, y = heart(place / "all.svm", n=260, classes=4)
    X, y = write("test.svm", X, np.array(labels)[y - 1])
    write("train.svm", X[:180], y[:180])
    check(place, options, X[:180], y[:180], X)


@pytest.mark.parametrize("options", ["-g 0.125 -w1 5 -w-1 0.5", "-t 0 -w-1 3", "-c 100 -g 0.5"])
def test_weights(place, options):
    X, y = write("test.svm", *heart(place / "all.svm", n=220))
    write("train.svm", X[:150], y[:150])
    check(place, options, X[:150], y[:150], X)


@pytest.mark.parametrize("options", ["-t 0", "-t 1 -d 2", "-t 2", "-t 3 -g 0.0625"])
def test_features_the_model_has_not(place, options):
    """A test file may have more features than the training file, or fewer."""
    X, y = write("all.svm", *heart(place / "all.svm", n=200))
    write("train.svm", X[:150, :11], y[:150])
    both_train(place, options + " -g 0.125" * ("-g" not in options and "-t 0" not in options))
    for test in (X, X[:, :7]):
        write("test.svm", test, y)
        for model in ("theirs.model", "ours.model"):
            found = predictions(model, ("svm-predict",))
            np.testing.assert_array_equal(found["svm-predict"], found["theirs"])


@pytest.mark.parametrize(
    ("options", "classes"),
    [("-s 0", 2), ("-s 1 -n 0.3", 2), ("-s 0 -c 5", 4), ("-s 3", 0), ("-s 4", 0)],
)
def test_probabilities(place, options, classes):
    """Their probabilities survive our hands, we predict the same from either model, and ours are as
    good as theirs.
    """
    X, y = (
        house(place / "all.svm")
        if classes == 0
        else heart(place / "all.svm", n=400, classes=classes)
    )
    write("test.svm", X[150:], y[150:])
    write("train.svm", X[:150], y[:150])
    real("svm-train", *options.split(), "-b", 1, "-q", "train.svm", "theirs.model")
    found = predictions("theirs.model")
    for command in ("svm-predict", "predict"):
        np.testing.assert_allclose(
            found[command], found["theirs"], rtol=0, atol=1e-10 * (classes == 0)
        )
    run("svm-train", *options.split(), "-b", 1, "-q", "train.svm", "ours.model")
    run("convert", "theirs.model", "converted.model")
    losses = {}
    for model in ("theirs.model", "converted.model", "ours.model"):
        lines = real("svm-predict", "-b", 1, "test.svm", model, "by_them").stdout.splitlines()
        ours = run("svm-predict", "-b", 1, "test.svm", model, "by_us").stdout.splitlines()
        if classes == 0:
            np.testing.assert_allclose(
                np.loadtxt("by_us"), np.loadtxt("by_them"), rtol=1e-5, atol=1e-5
            )
            assert ours[:2] == lines[:2]
            losses[model] = float(lines[1].partition("sigma=")[2])
            continue
        (_, theirs), (labels, mine) = (table_of(place / name) for name in ("by_them", "by_us"))
        for label, p in mine.items():
            # theirs stop at 0.005 / classes
            np.testing.assert_allclose(
                p, theirs[label], rtol=0, atol=1e-5 if classes == 2 else 0.005
            )
        sure = (
            np.ptp(np.sort(np.array([mine[label] for label in labels]), axis=0)[-2:], axis=0) > 0.02
        )
        np.testing.assert_array_equal(mine["labels"][sure], theirs["labels"][sure])
        assert sure.mean() > 0.8
        right = np.array([mine[str(int(label))][k] for k, label in enumerate(y[150:])])
        losses[model] = -np.mean(np.log(np.maximum(right, 1e-12)))
    assert losses["ours.model"] <= 1.15 * losses["theirs.model"] + 0.02


@pytest.mark.parametrize("problem", ["svr", "nu-svr"])
def test_noise_of_a_regression(place, problem):
    """train --probability writes the scale of the errors, which svm-predict -b 1 prints."""
    X, y = house(place / "all.svm")
    write("test.svm", X[150:], y[150:])
    write("train.svm", X[:150], y[:150])
    run("train", "train.svm", "m.model", "--problem", problem, "--probability")
    lines = real("svm-predict", "-b", 1, "test.svm", "m.model", "by_them").stdout.splitlines()
    scale = float(lines[1].partition("sigma=")[2])
    errors = np.abs(np.loadtxt("by_them") - np.round(y[150:], 3))
    assert scale == pytest.approx(np.mean(errors), rel=0.25)  # of samples that it has not seen
    ours = run("svm-predict", "-b", 1, "test.svm", "m.model", "by_us").stdout.splitlines()
    assert ours[:2] == lines[:2]
    run("convert", "m.model", "again.model")
    assert real("svm-predict", "-b", 1, "test.svm", "again.model", "by_them").stdout == "\n".join(
        [*lines, ""]
    )


@pytest.mark.parametrize("labels", [(1, -1), (2, 7, 5)])
def test_probabilities_of_certain_pairs(place, labels):
    """Sigmoids so steep that they are 0 and 1: theirs stay 1e-7 away from both, and so do ours."""
    k = len(labels)
    pairs = k * (k - 1) // 2
    head = (
        "svm_type c_svc\nkernel_type linear\n"
        f"nr_class {k}\ntotal_sv {k}\nrho {' '.join(['0.25'] * pairs)}\n"
    )
    head += (
        f"label {' '.join(map(str, labels))}\n"
        f"probA {' '.join(['-1e6'] * pairs)}\n"
        f"probB {' '.join(['0'] * pairs)}\n"
    )
    vectors = "".join(f"{' '.join(['1'] * (k - 1))} {j}:1\n" for j in range(1, k + 1))
    (place / "m.model").write_text(f"{head}nr_sv {' '.join(['1'] * k)}\nSV\n{vectors}")
    (place / "test.svm").write_text("1 1:5\n1 2:-5 3:-4\n1 2:9\n")
    real("svm-predict", "-b", 1, "test.svm", "m.model", "by_them")
    run("svm-predict", "-q", "-b", 1, "test.svm", "m.model", "by_us")
    theirs, ours = (np.loadtxt(name, skiprows=1) for name in ("by_them", "by_us"))
    np.testing.assert_allclose(
        ours, theirs, rtol=1e-6 if k == 2 else 1e-2, atol=1e-12 if k == 2 else 2e-3
    )
    if k == 2:
        assert set(np.round(ours[:, 1:].ravel(), 12)) == {1e-7, 1 - 1e-7}


def table_of(path):
    """The classes and columns of a file that svm-predict -b 1 wrote."""
    labels = path.read_text().split("\n")[0].split()[1:]
    table = np.loadtxt(path, skiprows=1)
    return labels, dict(zip(["labels", *labels], table.T, strict=True))


@pytest.mark.parametrize(
    ("name", "rows", "options"),
    [
        ("a9a", 3000, "-s 0 -c 1 -g 0.0625"),
        ("a9a", 2000, "-s 2 -n 0.125 -g 0.0625"),
        ("letter", 3000, "-s 0 -c 10 -g 0.125"),
        ("letter", 2000, "-s 1 -n 0.0625 -g 0.125"),
        ("housing", 2000, "-s 3 -c 10 -g 0.125"),
        ("housing", 1500, "-s 4 -c 1 -n 0.375 -g 0.125"),
    ],
)
def test_real_data(place, name, rows, options):
    X, y = data.load(name, rows)
    X = data.as_dense(X)
    X = X if name == "a9a" else StandardScaler().fit_transform(X)
    y = StandardScaler().fit_transform(y[:, None])[:, 0] if name == "housing" else y
    half = rows // 2
    X, y = np.round(X, 3), np.round(y, 3)
    write("train.svm", X[:half], y[:half])
    write("test.svm", X[half:], y[half:])
    check(place, options, X[:half], y[:half], X[half:])


# ---- what they print -----------------------------------------------------------------------------


def form(text):
    """The lines with # for each number."""
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "#", text).splitlines()


def test_what_is_printed(place):
    """The lines that scripts read: the same, or of the same form where folds are drawn at
    random."""
    write("two.svm", *heart(place / "two.svm", n=150))
    write("real.svm", *house(place / "real.svm", n=120))
    for file, options in (
        ("two.svm", "-s 0"),
        ("two.svm", "-s 1"),
        ("two.svm", "-s 2"),
        ("real.svm", "-s 3"),
        ("real.svm", "-s 4"),
    ):
        real("svm-train", *options.split(), file, "m")
        for more in ([], ["-q"]):
            theirs = real("svm-predict", *more, file, "m", "theirs.txt").stdout
            assert run("svm-predict", *more, file, "m", "ours.txt").stdout == theirs
        theirs = real("svm-train", *options.split(), "-q", "-v", 5, file).stdout
        ours = run("svm-train", *options.split(), "-q", "-v", 5, file).stdout
        assert form(ours) == form(theirs)
        for mine, other in zip(ours.splitlines(), theirs.splitlines(), strict=True):
            a, b = (float(line.split("= ")[1].rstrip("%")) for line in (mine, other))
            assert a == pytest.approx(b, abs=5 if "Accuracy" in mine else 0.1)


def test_cross_validation_of_a_given_kernel(place):
    X, y = write("two.svm", *heart(place / "two.svm", n=150))
    write_kernel(place / "kernel.svm", X @ X.T, y)
    plain = run("svm-train", "-t", 0, "-q", "-v", 5, "two.svm").stdout
    assert run("svm-train", "-t", 4, "-q", "-v", 5, "kernel.svm").stdout == plain
    found = answer("train", "--kernel", "precomputed", "--cv", 5, "kernel.svm")["cross_validation"][
        "accuracy"
    ]
    assert plain == f"Cross Validation Accuracy = {100 * found:.6g}%\n"
    run("tune", "--kernel", "precomputed", "-C", "0.1,1", "--model", "best.mm", "kernel.svm")
    run("predict", "-q", "kernel.svm", "kernel.svm.mm", "out.txt")
    real("svm-train", "-t", 4, "-q", "kernel.svm", "theirs.model")
    real("svm-predict", "-q", "kernel.svm", "theirs.model", "theirs.txt")
    np.testing.assert_array_equal(np.loadtxt("out.txt"), np.loadtxt("theirs.txt"))


@pytest.mark.parametrize(
    "line",
    [
        "svm-train",
        "svm-train -s 9 two.svm",
        "svm-train -z 1 two.svm",
        "svm-train -c 0 two.svm",
        "svm-train -v 1 two.svm",
        "svm-train -s 1 -n 2 two.svm",
        "svm-train nowhere",
        "svm-train bad.svm",
        "svm-predict two.svm",
        "svm-predict two.svm nowhere out",
    ],
)
def test_both_fail(place, line):
    """A script that looks at the exit code sees both fail."""
    write("two.svm", *heart(place / "two.svm", n=50))
    (place / "bad.svm").write_text("1 1:0.5\n-1 x:2\n")
    real(*line.split(), code=1)
    assert CliRunner().invoke(app, line.split()).exit_code in (1, 2)


@pytest.mark.parametrize(
    "options", ["-w9 2", "-t 0 -g 0.5", "-s 1 -c 3", "-s 3 -n 0.25 -w1 2", "-t 2 -d 4 -r 1"]
)
def test_both_accept(place, options):
    """Options without an effect; of a weight of no class LIBSVM warns, too."""
    write("two.svm", *heart(place / "two.svm", n=50))
    theirs = real("svm-train", "-q", *options.split(), "two.svm").stderr
    ours = run("svm-train", "-q", *options.split(), "two.svm").stderr
    assert "has no effect" in ours
    assert ("class label 9" in theirs) == ("class 9" in ours)


@pytest.mark.parametrize(
    "text", ["1 1:0.5\n-1 2:1\n", "1 1:0.5\n-1 x:2\n", "1 2:1 1:2\n", "one 1:2\n", "1 1:nan\n"]
)
def test_check(place, text):
    """check and svm-checkdata accept and refuse the same files."""
    (place / "a.svm").write_text(text)
    code = int(text != "1 1:0.5\n-1 2:1\n")
    real("svm-checkdata", "a.svm", code=code)
    run("check", "a.svm", code=code)
