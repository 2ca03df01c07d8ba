"""LIBLINEAR's model files, against LIBLINEAR itself.

It predicts the same from our files, and we from its files.
"""

import ctypes

import numpy as np
import pytest
from scipy import sparse

import data
import needs
from helpers import assert_close, binary, three
from maxmargin import SVC, LinearOneClassSVM, LinearSVC, LinearSVR, io
from models import LINEAR, outputs

liblinear = needs.package("liblinear.liblinearutil")
core = needs.package("liblinear.liblinear")


def predict(model, X):
    """Labels (or values) and decision values.

    LIBLINEAR's Python module has too short a buffer for -s 4 with two classes.
    """
    functions = model.nr_class if model.nr_class > 2 or model.param.solver_type == 4 else 1
    X = sparse.csr_matrix(X)
    labels, values, buffer = [], [], (ctypes.c_double * functions)()
    for a, b in zip(X.indptr, X.indptr[1:], strict=False):
        row = dict(zip((X.indices[a:b] + 1).tolist(), X.data[a:b].tolist(), strict=True))
        nodes, _ = core.gen_feature_nodearray(row, model.nr_feature)
        if model.bias >= 0:
            nodes[-2] = core.feature_node(model.nr_feature + 1, model.bias)
        labels.append(core.liblinear.predict_values(model, nodes, buffer))
        values.append(list(buffer))
    return np.array(labels), np.array(values)


def train(options, X, y):
    problem = liblinear.problem(
        list(map(float, y)), sparse.csr_matrix(X), bias=float(options.split("-B ")[1].split()[0])
    )
    return liblinear.train(problem, liblinear.parameter(options + " -q"))


@pytest.mark.parametrize("bias", [-1, 1, 2.5])
@pytest.mark.parametrize("labels", [(1, -1), (-1, 1), (7, -3, 12)])
@pytest.mark.parametrize("s", [1, 2, 3, 4, 5])
def test_their_classifiers(s, labels, bias, tmp_path):
    X, y = binary() if len(labels) == 2 else three()
    theirs = train(f"-s {s} -c 0.5 -B {bias}", X, np.array(labels)[y])
    liblinear.save_model(str(tmp_path / "m"), theirs)
    ours = io.load(tmp_path / "m")
    assert type(ours) is LinearSVC
    expected, values = predict(theirs, X)
    np.testing.assert_array_equal(ours.predict(X), expected)
    order = theirs.get_labels()
    mine = ours.decision_function(X)
    if mine.ndim == 1:
        theirs_f = values[:, 0] if s != 4 else values[:, 0] - values[:, 1]
        assert_close(mine if order[0] == ours.classes_[1] else -mine, theirs_f, 1e-12)
    else:
        assert_close(
            mine[:, [ours.classes_.tolist().index(label) for label in order]], values, 1e-12
        )
    with pytest.raises(ValueError, match="no dual variables"):
        ours.certify(X, np.array(labels)[y])


@pytest.mark.parametrize("bias", [-1, 1])
@pytest.mark.parametrize("s", [11, 12, 13])
def test_their_regressors(s, bias, tmp_path):
    X, y = binary()
    theirs = train(f"-s {s} -c 0.5 -B {bias}", X, X[:, 0] + 0.3 * y)
    liblinear.save_model(str(tmp_path / "m"), theirs)
    ours = io.load(tmp_path / "m")
    assert type(ours) is LinearSVR
    assert_close(ours.predict(X), predict(theirs, X)[0], 1e-12)


def test_their_one_class(tmp_path):
    X, y = binary()
    theirs = train("-s 21 -n 0.2 -B -1", X + 3, y)
    liblinear.save_model(str(tmp_path / "m"), theirs)
    ours = io.load(tmp_path / "m")
    assert type(ours) is LinearOneClassSVM
    expected, values = predict(theirs, X + 3)
    assert_close(ours.decision_function(X + 3), values[:, 0], 1e-12)
    clear = np.abs(values[:, 0]) > 1e-9
    np.testing.assert_array_equal(ours.predict(X + 3)[clear], expected[clear])


@pytest.mark.parametrize("s", [0, 6, 7])
def test_logistic_regression_is_refused(s, tmp_path):
    X, y = binary()
    liblinear.save_model(str(tmp_path / "m"), train(f"-s {s} -B 1", X, y))
    with pytest.raises(ValueError, match=r"line 1: .*logistic regression"):
        io.load(tmp_path / "m")


@pytest.mark.parametrize("name", LINEAR)
def test_our_models(name, tmp_path):
    model, X = LINEAR[name]()
    io.save_liblinear(model, tmp_path / "m")
    theirs = liblinear.load_model(str(tmp_path / "m"))
    labels, values = predict(theirs, X)
    if "LinearSVR" in name:
        assert_close(model.predict(X), labels, 1e-12)
    else:
        clear = np.abs(values[:, 0]) > 1e-9
        np.testing.assert_array_equal(model.predict(X)[clear], labels[clear])
        if values.shape[1] == 1:
            assert_close(model.decision_function(X), values[:, 0], 1e-12)
    again = io.load(tmp_path / "m")
    for a, b in zip(outputs(model, X), outputs(again, X), strict=True):
        np.testing.assert_array_equal(a, b)
    io.save_liblinear(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_refused(tmp_path):
    X, y = three()
    with pytest.raises(ValueError, match="LIBLINEAR writes labels as integers"):
        io.save_liblinear(LinearSVC().fit(X, np.array(["a", "b", "c"])[y]), tmp_path / "m")
    with pytest.raises(TypeError, match="not a linear model"):
        io.save_liblinear(SVC(kernel="linear").fit(X, y), tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "options"), [("a9a", "-s 3 -B 1"), ("letter", "-s 2 -B 1"), ("housing", "-s 13 -B 1")]
)
def test_real_data(name, options, tmp_path):
    X, y = data.load(name, 3000)
    train_X, test = X[:2000], X[2000:]
    theirs = train(options, train_X, y[:2000])
    liblinear.save_model(str(tmp_path / "theirs"), theirs)
    loaded, expected = io.load(tmp_path / "theirs"), predict(theirs, test)[0]
    ours = (LinearSVR() if name == "housing" else LinearSVC()).fit(train_X, y[:2000])
    io.save_liblinear(ours, tmp_path / "ours")
    found = predict(liblinear.load_model(str(tmp_path / "ours")), test)[0]
    if name == "housing":
        assert_close(loaded.predict(test), expected, 1e-12)
        assert_close(ours.predict(test), found, 1e-12)
    else:
        np.testing.assert_array_equal(loaded.predict(test), expected)
        np.testing.assert_array_equal(ours.predict(test), found)
