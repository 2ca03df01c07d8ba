"""Kernel machines around a fit: weights of 0, warm starts, certification, warnings."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from helpers import FIVE, assert_close, assert_same_bits, binary, target, three
from maxmargin import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM, PegasosSVC, boundary
from maxmargin.estimators import _classifier
from maxmargin.estimators._base import SCALE

X, y = binary(50)
z = X[:, 0] + np.sin(3 * X[:, 1])
A, label = three(60)
SINGLE = (SVR, NuSVR, OneClassSVM)


def fit(model, X, z, weight=None):
    given = () if isinstance(model, OneClassSVM) else (z,)
    return model.fit(X, *given, sample_weight=weight)


def certify(model, X, z, weight=None):
    given = () if isinstance(model, OneClassSVM) else (z,)
    return model.certify(X, *given, sample_weight=weight)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
@pytest.mark.parametrize("cls", SINGLE)
def test_samples_without_weight_are_left_out(cls, kernel):
    weight = np.random.default_rng(0).uniform(0.5, 2, size=50) * (np.arange(50) % 3 > 0)
    used = np.flatnonzero(weight)
    K = rbf_kernel(X, gamma=0.3) if kernel == "precomputed" else X
    part = K[np.ix_(used, used)] if kernel == "precomputed" else X[used]
    model = fit(cls(kernel=kernel, gamma=0.3), K, z, weight)
    alone = fit(cls(kernel=kernel, gamma=0.3), part, z[used], weight[used])
    np.testing.assert_array_equal(model.support_, used[alone.support_])
    assert_same_bits(model.dual_coef_, alone.dual_coef_)
    assert_same_bits(model.intercept_, alone.intercept_)
    assert model.n_support_.tolist() == [len(model.support_)]
    assert model.n_iter_ == model.certificate_.n_iter == alone.n_iter_
    assert model.shape_fit_ == K.shape
    found = certify(model, K, z, weight)
    assert found.status == "optimal"
    assert found.n_iter == model.n_iter_
    for name in ("primal", "dual"):
        assert getattr(found, name) == pytest.approx(getattr(model.certificate_, name), rel=1e-6)
    assert 0 <= found.audit_error < 1e-6
    assert certify(model, K, z, weight + 1).status == "refuted"
    with pytest.raises(
        ValueError, match="certify needs the data the model was fitted on: 50 samples, got 49"
    ):
        certify(model, K[:49], z[:49])


@pytest.mark.parametrize("cls", FIVE)
def test_a_warm_start_of_the_same_data_has_little_to_do(cls):
    """Also with samples of zero weight; without its support vectors it starts from scratch."""
    given = target(cls, X, z if cls in SINGLE else y)
    model = cls(warm_start=True, tol=1e-4)
    weight = (np.arange(50) % 5 > 0) * 1.5

    def again(rows=slice(None)):
        arguments = (X[rows],) if cls is OneClassSVM else (X[rows], given[rows])
        model.fit(*arguments, sample_weight=weight[rows])
        return int(np.max(model.n_iter_)), model.certificate_.primal

    steps, primal = again()
    fewer, same = again()
    assert fewer <= 0.5 * steps
    assert same == pytest.approx(primal, rel=1e-3)
    last = int(model.support_.max())
    assert model._starts(last + 1) is not None
    assert model._starts(last) is None
    model.set_params(warm_start=False)
    assert model._starts(50) is None
    assert again()[0] == steps
    model.set_params(warm_start=True).model_ = replace(model.model_, rows=None)
    assert model._starts(50) is None
    assert cls(warm_start=True)._starts(50) is None


def test_objects_have_a_length_but_no_shape():
    words = [f"{value:.3f}" for value in X[:, 0]]

    def kernel(P, Q):
        return rbf_kernel(np.array(P, float)[:, None], np.array(Q, float)[:, None])

    model = SVC(kernel=kernel).fit(words, y)
    assert model.shape_fit_ == (50,)
    assert model.support_vectors_ == [words[i] for i in model.support_]
    assert not model._sparse
    assert_close(
        model.decision_function(words),
        SVC(gamma=1.0)
        .fit(np.array(words, float)[:, None], y)
        .decision_function(np.array(words, float)[:, None]),
        1e-6,
    )


def test_what_is_said_of_pairs_that_did_not_converge():
    with pytest.warns(ConvergenceWarning) as caught:
        model = SVC(max_iter=1).fit(A, label)
    (warning,) = caught
    parts = model.certificate_.parts
    violation, gap = (
        max(part.kkt_violation for part in parts),
        max(part.relative_gap for part in parts),
    )
    said = str(warning.message)
    assert said.startswith(f"Solver terminated early (max_iter=1).  {SCALE} ")
    assert said.endswith(
        f" (3 of 3 problems) KKT violation {violation:.3g} (tol=0.001), relative gap "
        f"{gap:.3g} (10 tol=0.01)."
    )
    assert model.fit_status_ == 1
    easy = np.vstack([A, A[label == 2] + 100])
    names = np.append(label, np.full(20, 3))
    with pytest.warns(ConvergenceWarning, match=r" \([345] of 6 problems\) KKT") as caught:
        SVC(kernel="linear", max_iter=3, tol=1e-6).fit(easy, names)
    with pytest.warns(ConvergenceWarning) as caught:
        limited = SVR(time_limit=0.0).fit(X, z)
    assert "problems)" not in str(caught[0].message)
    assert "terminated early" not in str(caught[0].message)
    assert limited.certificate_.status == "time_limit"


def test_what_is_said_of_a_kernel_that_is_not_convex():
    K = np.eye(20)
    K[0, 2] = K[2, 0] = -5.0
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = SVC(kernel="precomputed").fit(K, np.arange(20) % 2)
    assert model.fit_status_ == 0
    assert model.certificate_.status == "stationary"


def test_a_warm_start_without_support_vectors():
    model = SVR(epsilon=10.0, warm_start=True).fit(X, z)
    assert len(model.support_) == 0
    assert model.fit(X, z).certificate_.status == "optimal"


def test_by_how_much_an_offset_must_fall():
    f, dual, upper = np.array([-0.5, 0.1, -2.0, 0.3]), np.array([0.5, 0.0, 1.0, 0.2]), np.ones(4)
    assert boundary.outward(f, dual, upper, 0.0, np.zeros(4)) == 0.5, (
        "the one at its bound may lie outside"
    )
    assert boundary.outward(f, dual, upper, -3e13, np.zeros(4)) == pytest.approx(3.5)
    assert boundary.outward(f, dual, upper, 0.0, np.array([1e14, 5e14, 0, 0])) == pytest.approx(4.9)
    assert boundary.outward(np.abs(f), dual, upper, 0.0, np.zeros(4)) == 0.0
    assert boundary.outward(f, upper, upper, 0.0, np.zeros(4)) == 0.0


# ---- classifiers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [SVC, NuSVC])
def test_samples_without_weight_are_left_out_of_classes(cls):
    weight = np.random.default_rng(0).uniform(0.5, 2, size=60) * (np.arange(60) % 5 > 0)
    used = np.flatnonzero(weight)
    for options in ({}, {"class_weight": "balanced"}):
        model = cls(gamma=0.3, nu=0.2, **options) if cls is NuSVC else cls(gamma=0.3, **options)
        alone = type(model)(**model.get_params()).fit(
            A[used], label[used], sample_weight=weight[used]
        )
        model.fit(A, label, sample_weight=weight)
        np.testing.assert_array_equal(model.support_, used[alone.support_])
        assert_same_bits(model.dual_coef_, alone.dual_coef_)
        assert_same_bits(model.class_weight_, alone.class_weight_)
        assert model.n_iter_.tolist() == alone.n_iter_.tolist()
        found = model.certify(A, label, sample_weight=weight)
        assert found.status == "optimal"
        assert found.primal == pytest.approx(
            alone.certify(A[used], label[used], sample_weight=weight[used]).primal, rel=1e-9
        )


def test_balanced_classes_count_samples_by_their_weights():
    weight = np.random.default_rng(1).uniform(0, 0.5, size=60)
    mass = np.bincount(label, weights=weight)
    model = SVC(class_weight="balanced").fit(A, label, sample_weight=weight)
    np.testing.assert_allclose(model.class_weight_, mass.sum() / (3 * mass), rtol=1e-12)


def test_a_warm_start_of_other_classes_begins_anew():
    cold = SVC(tol=1e-4).fit(X, 6 - y).n_iter_
    model = SVC(tol=1e-4, warm_start=True).fit(X, y)
    assert model.fit(X, 6 - y).n_iter_.tolist() == cold.tolist(), "5 and 6, in the other order"
    four = np.arange(60) % 4
    model = SVC(warm_start=True).fit(A, four)
    rest = SVC(multiclass="ovr").fit(A, four)
    model.set_params(multiclass="ovr").fit(A, four)
    assert model.n_iter_.tolist() == rest.n_iter_.tolist()


def test_fits_that_are_refused(monkeypatch):
    with pytest.raises(
        ValueError, match=r"the greatest are 1e\+300 and 1e\+20\. Divide the sample weights"
    ):
        SVC(class_weight={0: 1e20}).fit(X, y, sample_weight=np.full(50, 1e300))
    with pytest.raises(
        ValueError, match=r"the greatest are 1e\+307 and 1000\. Divide the sample weights"
    ):
        SVC(class_weight={0: 1e3}).fit(X, y).certify(X, y, sample_weight=np.full(50, 1e307))
    with pytest.raises(ValueError, match="negative values"):
        SVC().fit(X, y, sample_weight=np.where(np.arange(50) == 3, -1.0, 1.0))
    monkeypatch.setattr(_classifier, "free_memory", lambda: 0)
    with pytest.raises(MemoryError, match="101 classes make 5050"):
        SVC().fit(np.arange(303.0)[:, None], np.arange(303) % 101)


def test_certify_needs_the_samples_of_the_fit():
    model = SVC().fit(A, label)
    for data, labels in (
        (A[:-1], label[:-1]),
        (A, label + 1),
        (A, np.where(label == 1, 7, label)),
        (A, label - 0.5),
    ):
        with pytest.raises(
            ValueError, match="other labels or another number of samples were given"
        ):
            model.certify(data, labels)


@pytest.mark.parametrize("cls", [*FIVE, LinearSVC, PegasosSVC])
def test_certify_leaves_the_model_as_it_was(cls):
    """Samples with another number of features are refused, and do not become the model's."""
    given = target(cls, X, z if cls in SINGLE else y)
    model = cls(tol=0.5) if cls is PegasosSVC else cls()
    arguments = (X,) if cls is OneClassSVM else (X, given)
    model.fit(*arguments)
    before = dict(vars(model))
    model.certify(*arguments)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
        model.certify(X[:, :3], *arguments[1:])
    assert vars(model).keys() == before.keys()
    assert model.n_features_in_ == 4
