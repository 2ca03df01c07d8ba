"""Kernel machines as records: from a fitted estimator and back."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm

from helpers import CLASSIFIERS, FIVE, assert_same_bits, binary, target, three
from maxmargin import SVC, SVR, Kernel, LinearSVC, NuSVC, NuSVR, OneClassSVM, io
from maxmargin.estimators.records import problem_of, record_of, restore
from maxmargin.kernel.model import Problem, imported

X, y = binary(40)
A, z = three(45)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_a_machine_and_back(cls, kernel):
    labels = target(cls, X, y)
    model = cls(kernel=kernel, gamma=0.01, coef0=0.5, degree=2).fit(X, labels)
    machine = record_of(model)
    assert machine.problem is problem_of(model)
    assert machine.problem.classifies is (cls in CLASSIFIERS)
    assert (machine.n_features, machine.n_samples) == (4, 40)
    assert_same_bits(machine.intercept, model.intercept_)
    again = restore(machine)
    assert type(again) is cls
    assert_same_bits(values_of(again), values_of(model))
    assert again.kernel_ == model.kernel_
    assert again.get_params()["kernel"] == kernel
    assert (again.shape_fit_, again.n_features_in_) == ((40, 4), 4)
    np.testing.assert_array_equal(again.support_, model.support_)
    np.testing.assert_array_equal(again.n_support_, model.n_support_)
    assert_same_bits(again.dual_coef_, model.dual_coef_)
    assert_same_bits(again.intercept_, model.intercept_)
    assert_same_bits(again.intercept_interval_, model.intercept_interval_)
    assert again.certificate_ == model.certificate_
    assert again.fit_status_ == 0
    assert np.all(again.n_iter_ == model.n_iter_)
    if cls in CLASSIFIERS:
        assert again.class_weight_.tolist() == [1.0, 1.0]
        assert not again.model_.pairs
    if cls is OneClassSVM:
        assert_same_bits(again.offset_, model.offset_)
    file = restore(replace(machine, rows=None, n_samples=0))
    assert file.support_.tolist() == list(range(len(model.support_)))
    assert file.shape_fit_ == (len(model.support_), 4)
    assert record_of(file).rows is None
    assert record_of(file).n_samples == 0
    assert file.set_params(**({"nu": model.nu} if hasattr(model, "nu") else {})).certify(
        X, labels
    ).status in ("optimal", "stationary", "approximate")


def values_of(model):
    return model.predict(X) if isinstance(model, SVR | NuSVR) else model.decision_function(X)


@pytest.mark.parametrize("kernel", [Kernel.rbf(0.5), Kernel.sigmoid(0.1)])
def test_a_machine_of_another_program(kernel):
    coef, intercept = np.array([[1.0, -1.0]]), np.array([0.25])
    machine = imported(Problem.EPSILON_SVR, kernel, np.eye(2), 2, coef, intercept, np.array([2]))
    assert machine.intervals.tolist() == [[0.25, 0.25]]
    assert machine.scales.tolist() == [1.0]
    assert machine.certificate.status == "imported"
    assert machine.certificate.convexity == ("proved" if kernel.kind.name == "RBF" else "unknown")
    model = restore(machine)
    assert (model.fit_status_, model.n_iter_) == (0, 0)
    assert model.support_.tolist() == [0, 1]


@pytest.mark.parametrize("options", [{}, {"multiclass": "ovr"}])
def test_machines_of_several_classes(options):
    model = SVC(**options).fit(A, z)
    machine = record_of(model)
    assert machine.pairs is not bool(options)
    again = restore(machine, **options)
    assert again.model_.pairs is not bool(options)
    assert_same_bits(again.decision_function(A), model.decision_function(A))
    np.testing.assert_array_equal(again.predict(A), model.predict(A))
    assert len(again.certificate_.parts) == 3
    thin = restore(record_of(SVC(**options).fit(sparse.csr_matrix(A), z)), **options)
    assert sparse.issparse(thin.dual_coef_)
    given = restore(record_of(SVC(kernel="precomputed", **options).fit(A @ A.T, z)), **options)
    assert (given.n_features_in_, given.shape_fit_[0]) == (45, 45)
    assert given.support_vectors_.shape == (0, 0)


def test_what_is_no_machine():
    with pytest.raises(
        TypeError,
        match="LinearSVC is not a kernel machine: use one of SVC, NuSVC, OneClassSVM, SVR, NuSVR",
    ):
        record_of(LinearSVC())
    assert problem_of(LinearSVC()) is None
    kinds = [problem_of(cls()) for cls in (SVC, NuSVC, OneClassSVM, SVR, NuSVR)]
    assert kinds == [
        Problem.C_SVC,
        Problem.NU_SVC,
        Problem.ONE_CLASS,
        Problem.EPSILON_SVR,
        Problem.NU_SVR,
    ]


@pytest.mark.parametrize("cls", FIVE)
def test_attributes_can_be_assigned_as_in_scikit_learn(cls):
    """What scikit-learn keeps as an attribute has a setter, what it computes has none."""
    labels = target(cls, X, y)
    model, theirs = cls().fit(X, labels), getattr(svm, cls.__name__)().fit(X, labels)
    before = values_of(model)
    kept = {name for name in vars(theirs) if name.endswith("_") and hasattr(model, name)}
    assert kept >= {"dual_coef_", "intercept_", "support_", "support_vectors_", "_dual_coef_"}
    for name in sorted(kept | {"_n_support", "_probA", "_probB", "certificate_"}):
        setattr(model, name, getattr(model, name))
    assert_same_bits(values_of(model), before)
    for name in ("coef_", "n_support_", "probA_", "probB_"):
        for one in (model, theirs):
            if hasattr(type(one), name):
                with pytest.raises(AttributeError):
                    setattr(one, name, np.zeros(1))


def test_an_assigned_offset_changes_scores_alone():
    model, theirs = OneClassSVM(nu=0.3).fit(X), svm.OneClassSVM(nu=0.3).fit(X)
    for one in (model, theirs):
        offset, f, labels = one.offset_, one.decision_function(X), one.predict(X)
        one.offset_ = offset + 1.5
        np.testing.assert_array_equal(one.offset_, offset + 1.5)
        assert_same_bits(one.score_samples(X), f + (offset + 1.5))
        assert_same_bits(one.decision_function(X), f)
        np.testing.assert_array_equal(one.predict(X), labels)
        one.offset_ -= 1.0
        np.testing.assert_array_equal(one.offset_, offset + 1.5 - 1.0)
    copy = pickle.loads(pickle.dumps(model))
    for one in (copy, io.to_sklearn(model)):
        np.testing.assert_array_equal(one.offset_, model.offset_)
    offset = -model.intercept_
    assert model.offset_ != offset
    assert_same_bits(model.fit(X).offset_, offset)


def test_an_assigned_tube_is_certified():
    model = NuSVR(C=2.0).fit(X, X[:, 0])
    model.epsilon_ = found = model.epsilon_ + 0.25
    assert model.epsilon_ == found
    again = model.certify(X, X[:, 0])
    assert again.primal > model.certificate_.primal * 1.01
