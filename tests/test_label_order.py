"""The order of the labels in files of LIBSVM and LIBLINEAR: that of their own programs, in every
direction, and ties broken by it.

Both write labels as they occur in the training file, but always 1 before -1.
"""

import numpy as np
import pytest

from command import heart, run
from maxmargin import SVC, LinearSVC, io
from programs import LIBLINEAR, LIBSVM, functions, read_liblinear, read_libsvm, real, write

ORDERS = [(1, -1), (-1, 1), (7, 3), (3, 7), (4, 2, -3, 0), (0, 5, 9)]
"""Labels in the order of the training file."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def data_with(order, place, n=60):
    """Rows whose labels occur in this order."""
    X, y = heart(place / "all.svm", n=n, classes=max(3, len(order)))
    k = len(order)
    y = (y - 1) % k
    first = [int(np.flatnonzero(y == c)[0]) for c in range(k)]
    rest = np.setdiff1d(np.arange(n), first)
    rows = np.concatenate([first, rest])
    return write("train.svm", X[rows], np.array(order)[y[rows]])


def label_line(path):
    return next(line for line in (path.read_text().splitlines()) if line.startswith("label"))


@LIBSVM
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_libsvm_files(place, order):
    """svm-train writes their order and signs.

    Their file keeps both through our hands, and through a .mm file.
    """
    X, _ = data_with(order, place)
    real("svm-train", "-q", "-g", 0.125, "-e", 1e-6, "train.svm", "theirs.model")
    run("svm-train", "-q", "-g", 0.125, "-e", 1e-8, "train.svm", "ours.model")
    run("convert", "-q", "theirs.model", "model.mm")
    run("convert", "-q", "model.mm", "back.model")
    goal = read_libsvm(place / "theirs.model", X.shape[1])
    expected = functions(goal, X, X)
    for name in ("ours.model", "back.model"):
        assert label_line(place / name) == label_line(place / "theirs.model")
        for mine, f in zip(
            functions(read_libsvm(place / name, X.shape[1]), X, X), expected, strict=True
        ):
            assert mine.labels == f.labels
            np.testing.assert_allclose(
                mine.values, f.values, atol=1e-4 * max(1.0, np.abs(f.values).max())
            )


@LIBSVM
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_libsvm_probabilities(place, order):
    """svm-predict -b 1 heads and orders its columns as theirs does, from their file, from ours, and
    from a .mm file of either.
    """
    data_with(order, place)
    real("svm-train", "-q", "-b", 1, "train.svm", "theirs.model")
    run("svm-train", "-q", "-b", 1, "train.svm", "ours.model")
    for name in ("theirs", "ours"):
        real("svm-predict", "-b", 1, "train.svm", f"{name}.model", "by_them")
        run("convert", "-q", f"{name}.model", f"{name}.mm")
        for model in (f"{name}.model", f"{name}.mm"):
            run("svm-predict", "-q", "-b", 1, "train.svm", model, "by_us")
            heads = [(place / file).read_text().partition("\n")[0] for file in ("by_them", "by_us")]
            assert (
                heads[0]
                == heads[1]
                == label_line(place / "theirs.model").replace("label", "labels")
            )
            tables = [np.loadtxt(file, skiprows=1)[:, 1:] for file in ("by_them", "by_us")]
            # theirs stop at 0.005 / classes
            np.testing.assert_allclose(
                tables[1], tables[0], atol=1e-5 if len(order) == 2 else 0.005
            )


@LIBLINEAR
@pytest.mark.parametrize("solver", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_liblinear_files(place, order, solver):
    """linear-train writes their name of the solver, their order and their signs, and their files
    keep all three through our hands.
    """
    data_with(order, place)
    real("liblinear-train", "-q", "-s", solver, "-B", 1, "-e", 1e-6, "train.svm", "theirs.model")
    run("linear-train", "-q", "-s", solver, "-B", 1, "-e", 1e-8, "train.svm", "ours.model")
    run("convert", "-q", "theirs.model", "model.mm")
    run("convert", "-q", "model.mm", "back.model")
    goal = read_liblinear(place / "theirs.model")
    for name in ("ours.model", "back.model"):
        found = read_liblinear(place / name)
        for word in ("solver_type", "label"):
            assert found.head[word] == goal.head[word]
        # their -s 3 stops at its limit of iterations
        for mine, w in zip(found.weights.T, goal.weights.T, strict=True):
            assert mine @ w > 0.99 * np.linalg.norm(mine) * np.linalg.norm(w)


@LIBLINEAR
@pytest.mark.parametrize("solver", [11, 12, 13])
def test_names_of_liblinears_regressors(place, solver):
    data_with((1, -1), place)
    real("liblinear-train", "-q", "-s", solver, "train.svm", "theirs.model")
    run("linear-train", "-q", "-s", solver, "train.svm", "ours.model")
    run("convert", "-q", "theirs.model", "back.model")
    first = (place / "theirs.model").read_text().partition("\n")[0]
    assert {
        (place / name).read_text().partition("\n")[0] for name in ("ours.model", "back.model")
    } == {first}


def empty_rows(place, labels):
    """A file of rows of zeros, at which functions without an intercept are 0."""
    (place / "test.svm").write_text("".join(f"{label} 1:0\n" for label in labels))


@LIBLINEAR
@pytest.mark.parametrize("solver", [1, 4])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_ties_of_liblinear(place, order, solver):
    """A row of zeros and no intercept.

    All values are 0, and LIBLINEAR takes the second of two labels, or the first of several.
    """
    data_with(order, place)
    empty_rows(place, order)
    real("liblinear-train", "-q", "-s", solver, "train.svm", "theirs.model")
    run("linear-train", "-q", "-s", solver, "train.svm", "ours.model")
    for name in ("theirs.model", "ours.model"):
        real("liblinear-predict", "test.svm", name, "by_them")
        run("convert", "-q", name, "copy.mm")
        for model in (name, "copy.mm"):
            run("linear-predict", "-q", "test.svm", model, "by_us")
            np.testing.assert_array_equal(np.loadtxt("by_us"), np.loadtxt("by_them"))


@LIBSVM
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_ties_of_libsvm(place, order):
    """All decision values are 0: each pair votes for its second label in the file."""
    k = len(order)
    pairs, ones = k * (k - 1) // 2, " ".join(["1"] * (k - 1))
    head = (
        "svm_type c_svc\nkernel_type linear\n"
        f"nr_class {k}\ntotal_sv {k}\nrho {' '.join(['0'] * pairs)}\n"
    )
    lines = "".join(f"{ones} {j}:1\n" for j in range(1, k + 1))
    (place / "tied.model").write_text(
        f"{head}label {' '.join(map(str, order))}\nnr_sv {' '.join(['1'] * k)}\nSV\n{lines}"
    )
    empty_rows(place, order)
    real("svm-predict", "test.svm", "tied.model", "by_them")
    run("convert", "-q", "tied.model", "copy.mm")
    for model in ("tied.model", "copy.mm"):
        run("svm-predict", "-q", "test.svm", model, "by_us")
        np.testing.assert_array_equal(np.loadtxt("by_us"), np.loadtxt("by_them"))


def test_exports_break_ties_as_predict_does(place):
    """The rule of ties that C, JavaScript and ONNX get is the model's own."""
    from maxmargin.io.formula import Rule, formula_of

    for order, rule in (((7, 3), Rule.ABOVE), ((3, 7), Rule.FROM)):
        data_with(order, place)
        run("svm-train", "-q", "-t", 0, "train.svm", "m")
        assert formula_of(io.load("m")).rule is rule
        zero = np.zeros((1, io.load("m").n_features_in_))
        for solver in (1, 4):
            run("linear-train", "-q", "-s", solver, "train.svm", "m")
            model = io.load("m")
            assert model.predict(zero)[0] == order[1]
            assert (formula_of(model).rule is Rule.FROM) == (model.predict(zero)[0] == 7)


@pytest.mark.parametrize(
    ("labels", "line"), [((-1, 1), "label 1 -1"), ((0, 1), "label 0 1"), ((3, 1, 2), "label 1 2 3")]
)
def test_models_fitted_in_python(place, labels, line):
    """They do not know the order of the rows.

    1 before -1 as LIBSVM always has it, others as in classes_.
    """
    X, y = data_with(labels, place)
    io.save_libsvm(SVC().fit(X, y), "m")
    assert label_line(place / "m") == line
    np.testing.assert_array_equal(io.load("m").predict(X), SVC().fit(X, y).predict(X))
    io.save_liblinear(LinearSVC().fit(X, y), "m")
    assert label_line(place / "m") == {"label 0 1": "label 1 0"}.get(line, line)


def order_of(model):
    return model.model_.label_order


def test_a_new_fit_forgets_the_order_of_the_file(place):
    for command, cls in (("svm-train", SVC), ("linear-train", LinearSVC)):
        X, y = data_with((9, 4), place)
        run(command, "-q", "train.svm", "m")
        model = io.load("m")
        assert type(model) is cls
        assert order_of(model).tolist() == [1, 0]
        model.fit(X, y)
        assert order_of(model) is None
