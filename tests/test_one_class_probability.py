"""OneClassSVM(probability=True): against LIBSVM's marks and probabilities, and the guarantee that
the more probable side is that of predict."""

import ctypes
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import needs
from command import run
from maxmargin import OneClassSVM, calibration, io
from maxmargin.io import dump_svmlight
from test_models_libsvm import libsvm_predict, libsvm_train, rows

svmutil = needs.package("libsvm.svmutil")
svm = needs.package("libsvm.svm")


def cloud(n=100, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2))


def marks_of(model):
    """The marks that LIBSVM writes to its file; None where it writes none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        svmutil.svm_save_model(str(path), model)
        lines = [line.split() for line in path.read_text().splitlines()]
    found = [line[1:] for line in lines if line[0] == "prob_density_marks"]
    return np.array(found[0], float) if found else None


def libsvm_probabilities(model, X):
    """LIBSVM's probabilities of lying inside and outside."""
    found, buffer = [], (ctypes.c_double * 2)()
    for x in rows(X):
        nodes, _ = svm.gen_svm_nodearray(x)
        svm.libsvm.svm_predict_probability(model, nodes, buffer)
        found.append(list(buffer))
    return np.array(found)


@pytest.mark.parametrize(("n", "nu"), [(50, 0.5), (47, 0.3), (200, 0.1), (33, 0.4), (101, 0.77)])
def test_marks_are_libsvms(n, nu):
    X = cloud(n)
    theirs = libsvm_train(f"-s 2 -b 1 -g 0.5 -n {nu}", X, np.ones(n))
    values = libsvm_predict(theirs, X)[1][:, 0]
    found = calibration.density_marks(values, np.ones(n))
    np.testing.assert_allclose(found, marks_of(theirs), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(("n", "nu"), [(30, 0.1), (40, 0.99)])
def test_too_few_on_one_side(n, nu, capfd):
    X = cloud(n)
    theirs = libsvm_train(f"-s 2 -b 1 -g 0.5 -n {nu} -e 1e-9", X, np.ones(n))
    values = libsvm_predict(theirs, X)[1][:, 0]
    assert min((values < 0).sum(), (values >= 0).sum()) < 5
    assert marks_of(theirs) is None
    assert "too few" in capfd.readouterr().err
    assert len(calibration.density_marks(values, np.ones(n))) == 0
    with pytest.warns(UserWarning, match=rf"at least five.*: \d+ of {n} are outliers"):
        model = OneClassSVM(nu=nu, gamma=0.5, probability=True).fit(X)
    with pytest.raises(NotFittedError, match="larger nu"):
        model.predict_proba(X)


def test_weighted_marks_are_those_of_copies():
    rng = np.random.default_rng(0)
    for n in (20, 33, 50):
        values, weight = rng.normal(size=n), rng.integers(1, 4, n)
        expected = calibration.density_marks(np.repeat(values, weight), np.ones(weight.sum()))
        found = calibration.density_marks(values, weight.astype(float))
        np.testing.assert_array_equal(found, expected)


def test_a_value_on_a_mark_has_passed_it():
    """As in LIBSVM, but for the last mark, where its probability is 0."""
    marks = np.arange(10.0)
    found = calibration.inside_probability(np.concatenate([marks, marks - 0.5]), marks)
    expected = [*np.arange(1, 10) / 10, 0.999, 0.001, *np.arange(1, 10) / 10]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_probabilities_of_their_models(nu, tmp_path):
    """All eleven probabilities occur; only where theirs is 1/2, ours leans to the label."""
    X, new = cloud(200), 1.3 * cloud(800, seed=1)
    svmutil.svm_save_model(
        str(tmp_path / "a"), libsvm_train(f"-s 2 -b 1 -g 0.5 -n {nu}", X, np.ones(200))
    )
    theirs, ours = svmutil.svm_load_model(str(tmp_path / "a")), io.load(tmp_path / "a")
    p, expected = ours.predict_proba(new), libsvm_probabilities(theirs, new)[:, ::-1]
    assert len(np.unique(expected[:, 1].round(4))) == 11
    tie = expected[:, 0] == 0.5
    np.testing.assert_allclose(p, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(p[~tie], expected[~tie], rtol=0, atol=1e-12)
    assert tie.any()
    np.testing.assert_array_equal(2 * p.argmax(axis=1) - 1, ours.predict(new))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)


def test_theirs_predicts_from_our_files(tmp_path):
    X, new = cloud(200), 1.3 * cloud(300, seed=1)
    model = OneClassSVM(nu=0.3, gamma=0.5, probability=True).fit(X)
    io.save_libsvm(model, tmp_path / "m.model")
    theirs = svmutil.svm_load_model(str(tmp_path / "m.model"))
    found = libsvm_probabilities(theirs, new)
    np.testing.assert_allclose(found[:, ::-1], model.predict_proba(new), rtol=0, atol=1e-6)
    again = io.load(tmp_path / "m.model")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    io.save(model, tmp_path / "m.mm")
    again = io.load(tmp_path / "m.mm")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


@pytest.mark.parametrize("seed", range(30))
def test_the_more_probable_side_is_that_of_predict(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(20, 80)), 2))
    X = np.round(X) if seed % 3 == 0 else X
    kernel = ["rbf", "linear", "poly", "sigmoid"][seed % 4]
    model = OneClassSVM(kernel=kernel, nu=float(rng.uniform(0.3, 0.7)), probability=True)
    weight = rng.integers(0, 3, len(X)) if seed % 5 == 0 else None
    try:
        model.fit(X, sample_weight=weight)
    except UserWarning:  # too few on a side
        return
    asked = np.concatenate([X, 2 * rng.normal(size=(50, 2)), 0 * X])
    p = model.predict_proba(asked)
    np.testing.assert_array_equal(2 * p.argmax(axis=1) - 1, model.predict(asked))
    assert p.min() >= 0.001 * (1 - 1e-12)
    order = np.argsort(model.decision_function(asked))
    assert (np.diff(p[order, 1]) >= -1e-12).all()


def test_weights_storage_and_the_machine_itself():
    X, new = cloud(120), cloud(40, seed=1)
    model = OneClassSVM(nu=0.3, gamma=0.5, probability=True)
    weight = np.random.default_rng(2).integers(0, 3, len(X))
    expected = clone(model).fit(X, sample_weight=weight)
    copied = clone(model).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(copied.model_.marks, expected.model_.marks, atol=1e-9)
    thin = clone(model).fit(sparse.csr_matrix(X), sample_weight=weight)
    np.testing.assert_allclose(thin.model_.marks, expected.model_.marks, atol=1e-9)
    plain = OneClassSVM(nu=0.3, gamma=0.5).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(plain.decision_function(new), expected.decision_function(new))
    assert not hasattr(plain, "predict_proba")
    with pytest.raises(NotFittedError, match="was fitted with probability=False"):
        plain.set_params(probability=True).predict_proba(new)


def test_marks_that_do_not_ascend(tmp_path):
    X = cloud(60)
    model = OneClassSVM(nu=0.4, probability=True).fit(X)
    wrong = replace(model.model_, marks=model.model_.marks[::-1].copy())
    io.save_libsvm(model, tmp_path / "m")
    text = (tmp_path / "m").read_text()
    line = next(line for line in text.splitlines() if line.startswith("prob_density"))
    words = line.split()
    (tmp_path / "m").write_text(text.replace(line, " ".join([words[0], *words[:0:-1]])))
    with pytest.raises(ValueError, match=r"line 7: .*must ascend"):
        io.load(tmp_path / "m")
    model.model_ = wrong
    with pytest.raises(ValueError, match="marks is wrong"):
        io.save(model, tmp_path / "m.mm")


def test_commands(tmp_path, monkeypatch):
    """svm-train and svm-predict -b 1 with LIBSVM's heading, train and predict --probability."""
    monkeypatch.chdir(tmp_path)
    X = np.round(cloud(150), 3)
    dump_svmlight(X, np.ones(150), "train.svm")
    run("svm-train", "-q", "-s", "2", "-n", "0.3", "-b", "1", "train.svm", "m.model")
    model = io.load("m.model")
    run("svm-predict", "-q", "-b", "1", "train.svm", "m.model", "out")
    head, *lines = Path("out").read_text().splitlines()
    assert head == "label normal outlier"
    table = np.array([line.split() for line in lines], float)
    np.testing.assert_array_equal(table[:, 0], model.predict(X))
    theirs = svmutil.svm_load_model("m.model")
    np.testing.assert_allclose(table[:, 1:], libsvm_probabilities(theirs, X), atol=1e-12)
    run("train", "train.svm", "m.mm", "--problem", "one-class", "--probability", "--nu", "0.3")
    run("predict", "train.svm", "m.mm", "out", "--probability")
    table = np.loadtxt("out")
    np.testing.assert_array_equal(table[:, 1:], io.load("m.mm").predict_proba(X))
    run("svm-train", "-q", "-s", "2", "train.svm", "plain.model")
    run("svm-predict", "-b", "1", "train.svm", "plain.model", "out", code=1)
