"""LIBSVM's model files, against LIBSVM itself.

It predicts the same from our files, and we from its files.
"""

import ctypes
import gzip
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import data
import needs
from helpers import assert_close, binary, three
from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM, io
from maxmargin.estimators.libsvm_layout import libsvm_sign
from models import KERNEL, OTHER_KERNEL, outputs

svmutil = needs.package("libsvm.svmutil")
svm = needs.package("libsvm.svm")


def rows(X):
    """What LIBSVM's Python module is given: a dictionary for each row, features from 1."""
    X = sparse.csr_matrix(X)
    return [
        dict(zip((X.indices[a:b] + 1).tolist(), X.data[a:b].tolist(), strict=True))
        for a, b in zip(X.indptr, X.indptr[1:], strict=False)
    ]


def kernel_rows(K):
    """The same for a matrix of kernel values, numbered."""
    return [{0: i + 1, **dict(enumerate(row.tolist(), 1))} for i, row in enumerate(K)]


def libsvm_train(options, X, y):
    x = kernel_rows(X) if "-t 4" in options else rows(X)
    problem = svmutil.svm_problem(list(map(float, y)), x, isKernel="-t 4" in options)
    model = svmutil.svm_train(problem, svmutil.svm_parameter(options + " -q"))
    model.problem = problem  # the model points into it
    return model


def libsvm_predict(model, X, precomputed=False):
    """Labels (or values) and decision values; svm_predict of its Python module writes past a buffer
    for nu-SVC of several classes."""
    pairs = max(1, model.get_nr_class() * (model.get_nr_class() - 1) // 2)
    labels, values, buffer = [], [], (ctypes.c_double * pairs)()
    for x in kernel_rows(X) if precomputed else rows(X):
        nodes, _ = svm.gen_svm_nodearray(x, isKernel=precomputed)
        labels.append(svm.libsvm.svm_predict_values(model, nodes, buffer))
        values.append(list(buffer))
    return np.array(labels), np.array(values)


def saved(model, path):
    """The model as it is after LIBSVM has written it, with 8 digits for support vectors, and read
    it again.
    """
    svmutil.svm_save_model(str(path), model)
    return svmutil.svm_load_model(str(path))


def heart(n=140, seed=0, classes=2):
    """Data like heart_scale: 13 features in [-1, 1], some of them 0."""
    draw = np.random.default_rng(seed)
    X = np.clip(draw.normal(size=(n, 13)) * 0.5, -1, 1)
    X[draw.random(X.shape) < 0.2] = 0.0
    score = X @ draw.normal(size=13) + 0.4 * draw.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


# ---- theirs to ours ------------------------------------------------------------------------------

KERNELS = {
    0: "-t 0",
    1: "-t 1 -d 3 -g 0.2 -r 0.5",
    2: "-t 2 -g 0.1",
    3: "-t 3 -g 0.02 -r -0.1",
    4: "-t 4",
}
LABELS = {2: (1, -1), 4: (7, -3, 12, 0)}


@pytest.mark.parametrize("classes", LABELS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("problem", [0, 1])
def test_their_classifiers(problem, kernel, classes, tmp_path):
    X, y = heart(classes=classes)
    y = np.array(LABELS[classes])[y]
    K = X @ X.T if kernel == 4 else X
    theirs = libsvm_train(f"-s {problem} -c 2 -n 0.2 {KERNELS[kernel]}", K, y)
    theirs = saved(theirs, tmp_path / "m")
    ours = io.load_libsvm(tmp_path / "m", n_features=K.shape[1])
    assert type(ours) is (SVC, NuSVC)[problem]
    labels, values = libsvm_predict(theirs, K, kernel == 4)
    np.testing.assert_array_equal(ours.predict(K), labels)
    order = theirs.get_labels()
    mine, k = libsvm_sign(ours.model_) * ours._decision_values(K), 0
    sorted_labels = sorted(order)
    pairs = [(a, b) for a in range(classes) for b in range(a + 1, classes)]
    for i in range(classes):
        for j in range(i + 1, classes):
            a, b = sorted_labels.index(order[i]), sorted_labels.index(order[j])
            column = mine[:, pairs.index((min(a, b), max(a, b)))]
            assert_close(column if a < b else -column, values[:, k], 1e-10)
            k += 1
    # and back: the same file but for the order of two classes
    io.save_libsvm(ours, tmp_path / "again")
    again_labels, _ = libsvm_predict(
        svmutil.svm_load_model(str(tmp_path / "again")), K, kernel == 4
    )
    np.testing.assert_array_equal(again_labels, labels)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("problem", [2, 3, 4])
def test_their_other_models(problem, kernel, tmp_path):
    X, _ = heart()
    y = X[:, 0] + np.sin(3 * X[:, 1])
    K = X @ X.T if kernel == 4 else X
    theirs = libsvm_train(f"-s {problem} -c 2 -n 0.3 -p 0.05 {KERNELS[kernel]}", K, y)
    theirs = saved(theirs, tmp_path / "m")
    ours = io.load(tmp_path / "m", n_features=K.shape[1])
    assert type(ours) is {2: OneClassSVM, 3: SVR, 4: NuSVR}[problem]
    labels, values = libsvm_predict(theirs, K, kernel == 4)
    if problem == 2:
        assert_close(ours.decision_function(K), values[:, 0], 1e-10)
        clear = np.abs(values[:, 0]) > 1e-9
        np.testing.assert_array_equal(ours.predict(K)[clear], labels[clear])
    else:
        assert_close(ours.predict(K), labels, 1e-10)


@pytest.mark.parametrize("s", range(5))
def test_certify_their_models(s, tmp_path):
    X, y = heart(150)
    y = y if s < 2 else X[:, 0] + np.sin(3 * X[:, 1])
    theirs = libsvm_train(f"-s {s} -c 2 -n 0.3 -p 0.05 -g 0.1 -e 1e-5", X, y)
    theirs = saved(theirs, tmp_path / "m")
    ours = io.load_libsvm(tmp_path / "m", n_features=13)
    assert ours.certificate_.status == "imported"
    assert "nothing" in str(ours.certificate_)
    parameters = {
        name: value
        for name, value in {"C": 2.0, "nu": 0.3, "epsilon": 0.05}.items()
        if name in ours.get_params()
    }
    ours.set_params(**parameters)
    found = ours.certify(X, y)
    assert found.status == "optimal"
    assert found.relative_gap < 1e-3
    if "C" in parameters:
        assert ours.set_params(C=1.0).certify(X, y).status == "refuted"
    with pytest.raises(ValueError, match="is not among the samples"):
        ours.certify(1.5 * X, y)


def test_a_fit_forgets_that_the_model_was_imported(tmp_path):
    X, y = three()
    io.save_libsvm(SVC().fit(X, y), tmp_path / "m")
    model = io.load_libsvm(tmp_path / "m").set_params(warm_start=True).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certify(X, y).status == "optimal"


@pytest.mark.parametrize("classes", LABELS)
def test_probabilities_survive(classes, tmp_path):
    X, y = heart(classes=classes)
    before = saved(libsvm_train("-s 0 -b 1", X, np.array(LABELS[classes])[y]), tmp_path / "a")
    ours = io.load_libsvm(tmp_path / "a")
    assert ours.probA_.shape == ours.probB_.shape == (classes * (classes - 1) // 2,)
    io.save_libsvm(ours, tmp_path / "b")
    after = svmutil.svm_load_model(str(tmp_path / "b"))
    x = rows(X)
    first, second = (
        np.array(svmutil.svm_predict([0.0] * len(x), x, model, "-b 1 -q")[2])
        for model in (before, after)
    )
    assert after.get_labels() == before.get_labels()
    np.testing.assert_allclose(second, first, rtol=0, atol=1e-12)
    if classes > 2:
        # the order of the file; without it that of classes_
        ours.model_ = replace(ours.model_, label_order=None)
        io.save_libsvm(ours, tmp_path / "b")
        after = svmutil.svm_load_model(str(tmp_path / "b"))
        second = np.array(svmutil.svm_predict([0.0] * len(x), x, after, "-b 1 -q")[2])
        assert after.get_labels() == sorted(LABELS[classes]) != before.get_labels()
        turned = first[:, [before.get_labels().index(label) for label in after.get_labels()]]
        # LIBSVM iterates until 0.005 / classes
        np.testing.assert_allclose(second, turned, rtol=0, atol=0.01)
    io.save(ours, tmp_path / "d.mm")
    np.testing.assert_array_equal(io.load(tmp_path / "d.mm").probB_, ours.probB_)


def test_probabilities_of_regression_and_one_class(tmp_path):
    X, _ = heart()
    for options, words in (("-s 3 -b 1", ["probA"]), ("-s 2 -b 1", ["prob_density_marks"])):
        theirs = libsvm_train(options, X, X[:, 0])
        svmutil.svm_save_model(str(tmp_path / "a"), theirs)
        io.save_libsvm(io.load_libsvm(tmp_path / "a"), tmp_path / "b")
        for word in words:
            lines = [
                next(
                    (
                        line.split()[1:]
                        for line in (tmp_path / f).read_text().splitlines()
                        if line.startswith(word)
                    ),
                    None,
                )
                for f in "ab"
            ]
            assert lines[0] is not None
            np.testing.assert_array_equal(*(np.array(line, float) for line in lines))


# ---- ours to theirs ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNEL)
def test_our_models(name, tmp_path):
    model, X = KERNEL[name]()
    io.save_libsvm(model, tmp_path / "m")
    theirs = svmutil.svm_load_model(str(tmp_path / "m"))
    labels, values = libsvm_predict(theirs, X, "precomputed" in name)
    if hasattr(model, "decision_function"):
        assert_close(values, libsvm_sign(model.model_) * model._decision_values(X), 1e-10)
        clear = np.abs(values).min(axis=1) > 1e-9
        if hasattr(model, "break_ties") and model.break_ties:
            clear &= (
                np.sort(model.decision_function(X), axis=1)[:, -1] >= 2
            ).ravel()  # no equal votes
        np.testing.assert_array_equal(model.predict(X)[clear], labels[clear])
    else:
        assert_close(model.predict(X), labels, 1e-10)
    # and back to us: every number survives
    again = io.load(tmp_path / "m")
    assert again.n_features_in_ == X.shape[1]
    for a, b in zip(outputs(model, X)[:1], outputs(again, X)[:1], strict=True):
        assert_close(a, b, 1e-10)
    np.testing.assert_array_equal(np.sort(again.intercept_), np.sort(model.intercept_))
    io.save_libsvm(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_every_digit_survives(tmp_path):
    X = np.array([[5e-324, 1.0], [1e300, -1.0], [np.nextafter(1.0, 2), 0.1], [-0.0, 1 / 3]])
    model = SVC(kernel="linear", C=1e-3).fit(X[:, 1:], [0, 1, 0, 1])
    vectors = np.vstack([X, X])[: len(model.support_)].copy()
    model.model_ = replace(model.model_, vectors=vectors, n_features=2)
    model.n_features_in_ = 2
    model.shape_fit_ = (4, 2)
    io.save_libsvm(model, tmp_path / "m")
    np.testing.assert_array_equal(
        io.load_libsvm(tmp_path / "m").support_vectors_.toarray(), model.support_vectors_
    )


def test_floats_that_are_whole_are_labels(tmp_path):
    X, y = binary()
    io.save_libsvm(SVC().fit(X, 2.0 * y - 1), tmp_path / "m")
    assert io.load(tmp_path / "m").classes_.tolist() == [-1, 1]


@pytest.mark.parametrize("name", sorted(set(OTHER_KERNEL) - {"SVC-record"}))
def test_what_libsvm_cannot_say(name, tmp_path):
    model, _ = OTHER_KERNEL[name]()
    with pytest.raises(ValueError, match="LIBSVM"):
        io.save_libsvm(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_labels_that_are_no_whole_numbers(tmp_path):
    X, y = binary()
    for labels in ([0, 2**31], [False, True]):
        with pytest.raises(ValueError, match="integers"):
            io.save_libsvm(SVC().fit(X, np.array(labels)[y]), tmp_path / "m")
    with pytest.raises(TypeError, match="kernel machine"):
        io.save_libsvm("model", tmp_path / "m")


def test_compressed(tmp_path):
    X, y = binary()
    model = SVC().fit(X, y)
    io.save_libsvm(model, tmp_path / "m")
    io.save_libsvm(model, tmp_path / "m.gz")
    assert gzip.decompress((tmp_path / "m.gz").read_bytes()) == (tmp_path / "m").read_bytes()
    np.testing.assert_array_equal(io.load(tmp_path / "m.gz").predict(X), model.predict(X))


# ---- real data -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "n", "ours", "options"), [
    ("a9a", 500, SVC(C=1.0, gamma=0.05), "-s 0 -c 1 -g 0.05"),
    ("letter", 800, SVC(C=10.0, gamma=0.1), "-s 0 -c 10 -g 0.1"),
    ("housing", 500, SVR(C=1.0, gamma=0.1), "-s 3 -c 1 -g 0.1 -p 0.1"),
])  # fmt: skip
def test_real_data(name, n, ours, options, tmp_path):
    X, y = data.load(name, n + 300)
    train, test = (X[:n], y[:n]), X[n:]
    ours.fit(*train)
    io.save_libsvm(ours, tmp_path / "ours")
    labels, values = libsvm_predict(svmutil.svm_load_model(str(tmp_path / "ours")), test)
    theirs = libsvm_train(options, *train)
    theirs = saved(theirs, tmp_path / "theirs")
    loaded = io.load(tmp_path / "theirs", n_features=X.shape[1])
    their_labels, _ = libsvm_predict(theirs, test)
    if name == "housing":
        assert_close(ours.predict(test), labels, 1e-10)
        assert_close(loaded.predict(test), their_labels, 1e-10)
    else:
        # with two labels LIBSVM's first is 1, and decision values are positive for it, as ours
        assert_close(ours._decision_values(test), values, 1e-10)
        np.testing.assert_array_equal(ours.predict(test), labels)
        np.testing.assert_array_equal(loaded.predict(test), their_labels)
