"""What estimators share around a fit: kernels, tags, limits, fitted attributes, classes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from helpers import (
    CLASSIFIERS,
    FIVE,
    assert_close,
    assert_same_bits,
    binary,
    settings,
    target,
    three,
)
from maxmargin import SVC, Kernel, OneClassSVM
from maxmargin.estimators import _base, _classifier
from maxmargin.estimators.libsvm_layout import libsvm_sign
from maxmargin.kernel import certification, evaluation
from maxmargin.kernel.formulations import Decision, Formulation
from maxmargin.kernel.labels import winners
from maxmargin.kernel.model import Problem, assemble
from maxmargin.kernel.multiclass import BinaryTask
from maxmargin.kernel.sources import make_source
from maxmargin.kernel.training import SETTINGS, Constant, Method, unsolved
from maxmargin.status import Status

X, y = binary(40)
A, z = three(45)
rng = np.random.default_rng(2)


# ---- kernels and tags ----------------------------------------------------------------------------


def test_numbers_beside_a_kernel_record_are_refused():
    for options, names in (
        ({"gamma": "auto"}, "gamma"),
        ({"coef0": 1.0}, "coef0"),
        ({"degree": 2}, "degree"),
        ({"degree": 2, "gamma": 0.1, "coef0": 1.0}, "gamma, coef0, degree"),
    ):
        with pytest.raises(
            ValueError,
            match=rf"carries its own numbers; {names} given to the estimator would be ignored",
        ):
            SVC(kernel=Kernel.rbf(0.5), **options).fit(X, y)
    assert SVC(kernel=Kernel.rbf(0.5)).fit(X, y).kernel_ == Kernel.rbf(0.5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernels_of_a_fit_as_records():
    assert SVC(kernel="poly", degree=2, gamma=0.5, coef0=1.5).fit(X, y).kernel_ == Kernel.poly(
        2, 0.5, 1.5
    )
    assert SVC(kernel="sigmoid", gamma=0.01, coef0=0.5, degree=7).fit(
        X, y
    ).kernel_ == Kernel.sigmoid(0.01, 0.5)
    assert SVC(kernel="linear", gamma=9.0).fit(X, y).kernel_ == Kernel.linear()
    assert SVC(gamma="auto").fit(X, y).kernel_ == Kernel.rbf(0.25)
    assert SVC(kernel=rbf_kernel).fit(X, y).kernel_ == Kernel.callable(rbf_kernel)


def test_what_estimators_say_they_take():
    for kernel, pairwise, sparse_, positive in (
        ("rbf", False, True, False),
        ("precomputed", True, False, False),
        ("chi2", False, True, True),
        (Kernel.chi2(0.1), False, True, True),
        (Kernel.precomputed(), True, False, False),
        (rbf_kernel, False, True, False),
        (17, False, True, False),
        (["rbf"], False, True, False),
    ):
        tags = SVC(kernel=kernel).__sklearn_tags__().input_tags
        assert (tags.pairwise, tags.sparse, tags.positive_only) == (pairwise, sparse_, positive)


def test_data_that_a_kernel_cannot_take():
    with pytest.raises(TypeError, match="Sparse precomputed kernels are not supported"):
        SVC(kernel="precomputed").fit(sparse.eye(4, format="csr"), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"must be a square matrix\. Input is a 40x4 matrix"):
        SVC(kernel="precomputed").fit(X, y)
    for negative in (-np.eye(4), sparse.csr_matrix(-np.eye(4))):
        with pytest.raises(ValueError, match="chi2 kernel needs non-negative"):
            SVC(kernel="chi2").fit(negative, [0, 1, 0, 1])
    SVC(kernel="chi2", gamma=1.0).fit(sparse.csr_matrix((4, 2)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="SVC requires y to be passed, but the target y is None"):
        SVC(kernel=rbf_kernel).fit(X, None)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[40, 39\]"):
        SVC(kernel=rbf_kernel).fit(X, y[:-1])
    dense, given = SVC().fit(X, y), SVC(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="cannot use sparse input in 'SVC' trained on dense data"):
        dense.predict(sparse.csr_matrix(X))
    with pytest.raises(TypeError, match="Sparse precomputed kernels are not supported"):
        given.predict(sparse.csr_matrix(X @ X.T))
    with pytest.raises(ValueError, match="39"):
        given.predict((X @ X.T)[:, :39])
    fitted = SVC().fit(sparse.csr_matrix(X), y)
    assert_close(fitted.decision_function(X), dense.decision_function(X), 1e-6)


@pytest.mark.parametrize("cls", FIVE)
def test_weights_of_features_are_of_linear_kernels_only(cls):
    labels = target(cls, X, y)
    with pytest.raises(AttributeError, match="coef_ is only available when using a linear kernel"):
        _ = cls(kernel="rbf").fit(X, labels).coef_
    dense = cls(kernel="linear").fit(X, labels)
    assert isinstance(dense.coef_, np.ndarray)
    with pytest.raises(ValueError, match="read-only"):
        dense.coef_[0, 0] = 1.0
    thin = cls(kernel="linear").fit(sparse.csr_matrix(X), labels)
    assert sparse.issparse(thin.coef_)
    assert sparse.issparse(thin.dual_coef_)
    assert_close(thin.coef_.toarray(), dense.coef_, 1e-4)
    sign = -1.0 if cls in CLASSIFIERS else 1.0
    assert_same_bits(sign * dense._dual_coef_, dense.dual_coef_)
    assert_same_bits(sign * dense._intercept_, dense.intercept_)
    values = X @ dense.coef_[0] + (
        dense.intercept_[0] if cls is not OneClassSVM else -dense.offset_[0]
    )
    if hasattr(dense, "decision_function"):
        assert_close(dense.decision_function(X), values, 1e-9)


def test_what_a_kernel_function_leaves_as_it_is():
    """Sparse data for a kernel function are its own affair: coefficients are dense."""

    def product(P, Q):
        return (P @ Q.T).toarray()

    model = SVC(kernel=product).fit(sparse.csr_matrix(X), y)
    assert isinstance(model.dual_coef_, np.ndarray)
    assert sparse.issparse(model.support_vectors_)
    for kernel, gamma in (("rbf", 0.5), ("chi2", 0.5), ("precomputed", 0.0), (rbf_kernel, 0.0)):
        data = X @ X.T if kernel == "precomputed" else np.abs(X)
        assert SVC(kernel=kernel, gamma=0.5).fit(data, y)._gamma == gamma


def test_attributes_of_a_model_that_is_not_fitted():
    with pytest.raises(AttributeError, match="SVC instance is not fitted yet"):
        _ = SVC().n_support_
    assert SVC().fit(X, y).n_support_.sum() == len(SVC().fit(X, y).support_)


def test_coefficients_that_are_not_finite_are_refused():
    rows, label = np.arange(2), np.zeros(2, np.int64)
    for coef, intercept in (([1.0, np.nan], 0.0), ([1.0, 0.0], np.inf)):
        decision = Decision(np.array(coef), intercept, (0.0, 0.0))
        trained = unsolved(2, Status.OPTIMAL)._replace(decision=decision)
        with pytest.raises(ValueError, match="dual coefficients or intercepts are not finite"):
            assemble(Problem.EPSILON_SVR, Kernel.rbf(1.0), X[:2], label, [(rows, trained)])


def test_whatever_ends_a_fit_early_leaves_the_model_as_it_was():
    model = SVC().fit(X, y)
    before = dict(model.__dict__)

    def interrupted():
        with _base.all_or_nothing(model):
            model.fit(A, z)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert model.__dict__ == before


def test_newton_needs_a_squared_loss_and_a_finite_C():
    assert _base.method_for("auto", False, 1.0, "squared_hinge") is Method.BLOCK
    assert _base.method_for("block", True, np.inf, "squared_hinge") is Method.BLOCK
    assert _base.method_for("newton", True, 1.0, "squared_hinge") is Method.NEWTON
    with pytest.raises(
        ValueError, match="C=inf is the limit without loss: use loss='squared_hinge'"
    ):
        _base.method_for("newton", True, np.inf, "squared_hinge")
    with pytest.raises(ValueError, match="the loss is not squared: use loss='squared_hinge'"):
        _base.method_for("newton", False, 1.0, "squared_hinge")


def test_certify_evaluates_in_long_double_what_a_fit_would(monkeypatch):
    used = []
    for name in ("extended_products", "kernel_products"):
        real = getattr(evaluation, name)
        monkeypatch.setattr(
            evaluation,
            name,
            lambda *a, name=name, real=real, **k: used.append(name) or real(*a, **k),
        )
    model = SVC(kernel="poly").fit(X, y)
    count = len(model.support_)
    work = 40 * evaluation.products_per_row(model.kernel_, model.support_vectors_, count)
    for room, name in ((work, "extended_products"), (work - 1, "kernel_products")):
        settings(monkeypatch, evaluation, long_double_products=room)
        used.clear()
        model.certify(X, y)
        assert used[0] == name
    monkeypatch.setattr(certification, "needs_more_digits", lambda model, tol: True)
    used.clear()
    model.certify(X, y)
    assert used[0] == "extended_products"
    used.clear()
    SVC(kernel=rbf_kernel).fit(X, y).certify(X, y)
    assert "extended_products" not in used, "kernels that are not functions of dot products"


@pytest.mark.parametrize("C", [1.0, 1e-3])
def test_digits_that_decision_values_need(C):
    model = SVC(kernel="poly", C=C).fit(X, y)
    record = model.model_
    assert not certification.needs_more_digits(record, model.tol)
    error = make_source(record.kernel, record.vectors).value_error
    edge = error * np.abs(record.coef).sum() / (SETTINGS.rounding_share * record.unit)
    assert certification.needs_more_digits(record, 0.99 * edge)
    assert not certification.needs_more_digits(record, 1.01 * edge)


# ---- classes -------------------------------------------------------------------------------------


def test_too_many_pairs_for_the_memory(monkeypatch):
    monkeypatch.setattr(_classifier, "free_memory", lambda: 2**22)
    model = SVC()
    model._refuse_too_many(46)  # 1035 pairs of 4 KiB, but few classes
    model._refuse_too_many(100)
    with pytest.raises(
        MemoryError,
        match=r"^101 classes make 5050 one-vs-one problems, which take at least 0 GiB; 0 are free",
    ):
        model._refuse_too_many(101)
    model.set_params(multiclass="ovr")._refuse_too_many(101)
    monkeypatch.setattr(_classifier, "free_memory", lambda: 5050 * 4096)
    SVC()._refuse_too_many(101)
    with pytest.raises(MemoryError, match="Use multiclass='ovr', which trains 102"):
        SVC()._refuse_too_many(102)


def test_weights_beyond_float64():
    assert _classifier._effective(np.array([1.0, 2.0]), np.array([3.0, 0.5])).tolist() == [3.0, 1.0]
    with pytest.raises(ValueError, match=r"beyond float64: the greatest are 1e\+300 and 1e\+20"):
        _classifier._effective(np.array([1.0, 1e300]), np.array([1.0, 1e20]))


def test_problems_of_one_class_are_constant():
    for sign, value in (([1.0, 1.0], 1.0), ([-1.0], -1.0)):
        task = BinaryTask(np.arange(len(sign)), np.array(sign))
        problem = SVC()._problem_of(task, np.ones(len(sign)), np.ones(len(sign)))
        assert isinstance(problem, Constant)
        found = problem.train()
        assert found.decision.intercept == value
        assert found.decision.interval == (value, value)
        assert found.decision.coef.tolist() == [0.0] * len(sign)
        assert found.status.converged
        nothing = dict.fromkeys(
            ("primal", "dual", "gap", "relative_gap", "kkt_violation", "audit_error", "n_iter"), 0
        )
        assert found.certificate.status == "optimal"
        assert {name: getattr(found.certificate, name) for name in nothing} == nothing
    both = BinaryTask(np.arange(2), np.array([1.0, -1.0]))
    assert isinstance(SVC()._problem_of(both, np.ones(2), np.ones(2)), Formulation)


def test_combinations_that_have_no_meaning():
    with pytest.raises(ValueError, match="decision_function_shape='ovo' needs multiclass='ovo'"):
        SVC(multiclass="ovr", decision_function_shape="ovo").fit(A, z)
    with pytest.raises(
        ValueError, match="break_ties must be False when decision_function_shape is 'ovo'"
    ):
        SVC(break_ties=True, decision_function_shape="ovo").fit(A, z).predict(A)
    with pytest.raises(ValueError, match=r"same class \(\[1\]\); at least two are needed"):
        SVC().fit(X, y, sample_weight=y)
    assert [libsvm_sign(SVC().fit(*some).model_) for some in ((X, y), (A, z))] == [-1.0, 1.0]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("options", [{}, {"multiclass": "ovr"}])
def test_shapes_of_what_is_kept(options, kernel):
    for data, labels, rows, functions in ((X, y, 1, 1), (A, z, 2 + len(options), 3)):
        model = SVC(kernel=kernel, **options).fit(data, labels)
        count = len(model.support_)
        assert model.dual_coef_.shape == (rows, count)
        assert model.intercept_.shape == (functions,)
        assert model.n_iter_.shape == (functions,)
        assert model.n_iter_.tolist() == [
            part.n_iter for part in model.certificate_.parts or (model.certificate_,)
        ]
        assert model.intercept_interval_.shape == (functions, 2)
        assert model.shape_fit_ == data.shape
        assert model.fit_status_ == 0
        np.testing.assert_array_equal(model.n_support_, np.bincount(labels[model.support_]))
        assert (np.diff(labels[model.support_]) >= 0).all(), "sorted by class"
        assert_same_bits(model.support_vectors_, data[model.support_])
        assert (model.probA_.shape, model.probB_.shape) == ((0,), (0,))
        assert model._gamma == model.kernel_.gamma


def test_an_order_of_labels_breaks_ties_unless_confidence_does():
    """A circle of three classes that beat each other: one vote each."""
    model = SVC().fit(A, z).model_
    values = np.array([[1.0], [-1.5], [1.0]])  # 0 beats 1, 2 beats 0, 1 beats 2
    assert winners(model, values).tolist() == [0]
    model = replace(model, label_order=np.array([1, 2, 0]))
    assert winners(model, values).tolist() == [1]
    assert winners(model, np.array([[1.0], [1.0], [1.0]])).tolist() == [0], "no tie"
    assert winners(model, values, break_ties=True).tolist() == [2]
