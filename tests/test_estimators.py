"""The estimators: scikit-learn's checks without an exception, its attributes, weights, warm starts,
stopping, progress."""

import logging
import pickle
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from helpers import FIVE, assert_close, binary, in_subprocess, target, threads, three, values
from maxmargin import SVC, SVR, Kernel, NuSVC, OneClassSVM, monitor
from maxmargin.kernel.problems import largest_nu

X, label = binary(120)
rng = np.random.default_rng(0)


@pytest.mark.parametrize("estimator", FIVE)
def test_parameters_and_attributes_are_scikit_learns(estimator):
    ours, theirs = estimator(), getattr(svm, estimator.__name__)()
    missing = set(theirs.get_params()) - set(ours.get_params())
    assert not missing
    for name, value in theirs.get_params().items():
        if name != "probability":  # deprecated there
            assert getattr(ours, name) == value, name
    z = target(estimator, X, label)
    for data in (X, sparse.csr_matrix(X)):
        ours.fit(data, z)
        theirs.fit(data, z)
        # probA_, probB_ there
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            public = [
                name
                for name in dir(theirs)
                if name.endswith("_") and name[0] != "_" and hasattr(theirs, name)
            ]
            attributes = {name: getattr(theirs, name) for name in public}
        for name, other in attributes.items():
            if name != "n_iter_":
                mine = getattr(ours, name)
                assert sparse.issparse(mine) == sparse.issparse(other), name
                assert np.shape(mine) == np.shape(other), name
                if hasattr(other, "dtype"):
                    assert mine.dtype == other.dtype, name
                if name in ("support_", "classes_", "class_weight_", "shape_fit_"):
                    assert np.array_equal(mine, other), name
        assert ours.n_support_.sum() == len(theirs.support_)
        if hasattr(ours, "classes_"):  # with one count scikit-learn 1.6 gives four times the number
            assert np.array_equal(ours.n_support_, theirs.n_support_)
        assert_close(values(ours, data), values(theirs, data), tol=1e-2)
        assert type(ours.n_iter_) is type(theirs.n_iter_)


def test_not_fitted():
    for estimator in FIVE:
        with pytest.raises(NotFittedError):
            estimator().predict(X)
        assert not hasattr(estimator(), "n_support_")


@pytest.mark.parametrize("estimator", FIVE)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_weights_are_copies(estimator, storage):
    """Weight k is k copies, weight 0 is absence: also for nu, gamma="scale" and the intercept."""
    weight = rng.integers(0, 4, size=120)
    z = target(estimator, X, label)
    weighted = estimator().fit(storage(X), z, sample_weight=weight)
    copied = estimator().fit(storage(np.repeat(X, weight, axis=0)), np.repeat(z, weight))
    assert_close(values(weighted, storage(X)), values(copied, storage(X)), tol=1e-9)
    assert weighted.certificate_.primal == pytest.approx(copied.certificate_.primal, rel=1e-9)
    assert not np.isin(np.flatnonzero(weight == 0), weighted.support_).any()
    assert weighted.certify(storage(X), z, weight).status == "optimal"


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("estimator", [SVC, NuSVC])
def test_class_weight(estimator, multiclass):
    A, y = three(90)
    plain = estimator(multiclass=multiclass).fit(A, y)
    heavy = estimator(multiclass=multiclass, class_weight={0: 1.5, 1: 1.0, 2: 1.0}).fit(A, y)
    assert np.mean(heavy.predict(A) == 0) > np.mean(plain.predict(A) == 0)
    assert heavy.class_weight_.tolist() == [1.5, 1.0, 1.0]
    per_sample = estimator(multiclass=multiclass).fit(
        A, y, sample_weight=np.where(y == 0, 1.5, 1.0)
    )
    if estimator is SVC:
        heavy.set_params(gamma=0.2).fit(A, y)
        per_sample.set_params(gamma=0.2).fit(A, y, np.where(y == 0, 1.5, 1.0))
        assert_close(heavy.decision_function(A), per_sample.decision_function(A), tol=1e-8)


def test_balanced_counts_weights():
    keep = np.r_[np.flatnonzero(label == 0), np.flatnonzero(label == 1)[:10]]
    A, y = X[keep], label[keep]
    model = SVC(class_weight="balanced").fit(A, y)
    assert np.allclose(
        model.class_weight_, svm.SVC(class_weight="balanced").fit(A, y).class_weight_
    )
    weight = rng.integers(1, 4, size=len(y))
    copied = SVC(class_weight="balanced").fit(np.repeat(A, weight, axis=0), np.repeat(y, weight))
    weighted = SVC(class_weight="balanced").fit(A, y, weight)
    assert_close(weighted.decision_function(A), copied.decision_function(A), tol=1e-9)
    NuSVC(nu=0.9, class_weight="balanced").fit(A, y)  # balanced classes make every nu feasible


def test_infeasible_nu_before_any_kernel_work():
    y = np.r_[np.zeros(100, int), np.ones(20, int)]

    def forbidden(A, B):
        raise AssertionError("the kernel was called")

    with pytest.raises(
        ValueError,
        match=r"specified nu is infeasible: nu=0.5, "
        r"but the largest feasible nu for these classes is 0\.333333",
    ):
        NuSVC(nu=0.5, kernel=forbidden).fit(X, y)
    assert largest_nu(np.where(y == 0, -1.0, 1.0), np.ones(120)) == pytest.approx(1 / 3)
    NuSVC(nu=1 / 3).fit(X, y)
    with pytest.warns(UserWarning, match="class_weight makes nu=0.5 infeasible"):
        NuSVC(nu=0.5, class_weight={0: 1.0, 1: 1e-3}).fit(X, label)
    with pytest.raises(ValueError, match="specified nu is infeasible"):
        NuSVC(nu=0.5, class_weight={0: 1.0, 1: 1.0001}).fit(X, y)
    NuSVC(nu=1.0, class_weight="balanced", gamma=2.0).fit(X, y)


def test_too_small_nu():
    """Overlapping classes and a linear kernel: the reduced hulls meet, only w = 0 remains."""
    A, y = rng.normal(size=(100, 2)), np.arange(100) % 2
    with pytest.warns(ConvergenceWarning, match=r"nu is too small.*Raise nu"):
        model = NuSVC(kernel="linear", nu=0.1).fit(A, y)
    assert model.certificate_.status == model.certify(A, y).status == "degenerate"
    assert np.all(model.decision_function(A) == 0)
    assert model.fit_status_ == 1
    assert len(model.support_) == 0


def test_hard_margin():
    A = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [4.0, 5.0]])
    model = SVC(kernel="linear", C=np.inf).fit(A, [0, 0, 1, 1])
    assert model.coef_ == pytest.approx(np.array([[2 / 3, 0.0]]), abs=1e-9)
    assert model.intercept_ == pytest.approx([-1.0])
    with pytest.raises(ValueError, match="no hyperplane separates"):
        SVC(kernel="linear", C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    big = rng.normal(size=(3000, 2))
    with pytest.raises(ValueError, match="no hyperplane separates"):
        SVC(kernel="linear", C=np.inf).fit(big, np.arange(3000) % 2)
    side = (big @ [1.0, 2.0] > 0).astype(int)
    big += 0.05 * np.where(side == 1, 1, -1)[:, None] * [1.0, 2.0]
    model = SVC(kernel="linear", C=np.inf).fit(big, side)
    assert model.certificate_.status == "optimal"
    assert np.min(np.where(side == 1, 1, -1) * model.decision_function(big)) > 0.99


def test_no_tube_fits():
    with pytest.raises(ValueError, match="no function of this kernel does that"):
        SVR(kernel="linear", C=np.inf, epsilon=0.1).fit(
            rng.normal(size=(60, 1)), rng.normal(size=60)
        )


def test_squared_loss_always_has_a_minimum():
    """Huge kernel values drown the ridge in rounding.

    The problem is still bounded, and no error speaks of C=inf.
    """
    A = 50 * rng.normal(size=(1500, 20)) * (rng.random((1500, 20)) < 0.3)
    z = A[:, 0] + rng.normal(size=1500)
    A[750:] = A[:750]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVR(
            kernel="poly",
            degree=2,
            coef0=1.0,
            gamma=1.0,
            C=2.2,
            loss="squared_epsilon_insensitive",
            time_limit=3,
        ).fit(A, z)
    assert np.isfinite(model.predict(A)).all()


@pytest.mark.parametrize("n", [150, 2500])
def test_squared_losses(n):
    """The squared losses are the plain ones on K + I / (2C) without bounds."""
    A = rng.normal(size=(n, 3))
    y, z = (A[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int), np.sin(A[:, 0])
    model = SVC(loss="squared_hinge", gamma=0.5, C=2.0).fit(A, y)
    slack = np.maximum(0, 1 - np.where(y == 1, 1, -1) * model.decision_function(A))
    coef = np.zeros(n)
    coef[model.support_] = model.dual_coef_[0]
    assert np.abs(np.abs(coef) - 2 * 2.0 * slack).max() < 4e-3 * 2 * 2.0
    assert model.certificate_.status == "optimal"
    tube = SVR(loss="squared_epsilon_insensitive", gamma=0.5, C=2.0, epsilon=0.05).fit(A, z)
    outside = np.maximum(0, np.abs(z - tube.predict(A)) - 0.05)
    coef = np.zeros(n)
    coef[tube.support_] = tube.dual_coef_[0]
    assert np.abs(np.abs(coef) - 2 * 2.0 * outside).max() < 4e-3 * 2 * 2.0


@pytest.mark.parametrize("estimator", FIVE)
def test_warm_start(estimator):
    z = target(estimator, X, label)
    cold = estimator().fit(X, z)
    model = estimator(warm_start=True).fit(X, z)
    again = model.n_iter_ if np.isscalar(model.n_iter_) else model.n_iter_.sum()
    model.fit(X, z)
    assert np.sum(model.n_iter_) <= max(1, again // 5), "a second fit starts from the first"
    assert_close(values(model, X), values(cold, X), tol=1e-9)
    if "C" in model.get_params():
        for C in (10.0, 0.1):
            assert_close(
                values(model.set_params(C=C).fit(X, z), X),
                values(estimator(C=C).fit(X, z), X),
                tol=1e-8,
            )
        model.set_params(C=1.0).fit(X, z)
    more, fresh = (
        model.fit(np.vstack([X, X[:30] + 0.1]), np.r_[z, z[:30]]),
        estimator().fit(np.vstack([X, X[:30] + 0.1]), np.r_[z, z[:30]]),
    )
    assert_close(values(more, X), values(fresh, X), tol=1e-8)


@pytest.mark.parametrize("estimator", FIVE)
def test_warm_start_continues_after_a_stop(estimator):
    """Stopped after four fifths of the steps, a fit has about one fifth left to do.

    One that began again would have all of them.
    """
    draw = np.random.default_rng(0)
    A = draw.normal(size=(1500, 4))
    z = target(estimator, A, (A[:, 0] * A[:, 1] + 0.1 * draw.normal(size=1500) > 0).astype(int))
    whole = int(np.sum(estimator(tol=1e-8).fit(A, z).n_iter_))
    model = estimator(tol=1e-8, warm_start=True, max_iter=4 * whole // 5)
    with pytest.warns(ConvergenceWarning):
        model.fit(A, z)
    assert model.certificate_.status == "max_iter"
    model.set_params(max_iter=-1).fit(A, z)
    assert model.certificate_.status == "optimal"
    assert np.sum(model.n_iter_) < whole // 2


def test_time_limit_is_shared_by_the_problems(monkeypatch):
    """Every pair of classes gets its share: the first ones do not use up the time of the last. In
    CPU time, which a busy machine does not take away."""
    monkeypatch.setattr(monitor, "time", SimpleNamespace(perf_counter=time.process_time))
    draw = np.random.default_rng(0)
    A = draw.normal(size=(6000, 4))
    y = np.digitize(A[:, 0] * A[:, 1] + 0.5 * draw.normal(size=6000), [-0.6, 0.0, 0.6])
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = SVC(C=1e5, time_limit=3.0).fit(A, y)
    steps = [part.n_iter for part in model.certificate_.parts]
    assert min(steps) > 0
    assert set(model.predict(A)) == {0, 1, 2, 3}


def test_many_classes_within_the_time():
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = SVC(time_limit=0.3).fit(rng.normal(size=(600, 2)), np.arange(600) % 150)
    assert time.perf_counter() - began < 10
    assert model.decision_function(X[:3, :2]).shape == (3, 150)


def test_warm_start_of_weighted_one_class():
    weight = np.full(120, 1000.0)
    model = OneClassSVM(warm_start=True).fit(X, sample_weight=weight)
    first = model.n_iter_
    assert model.fit(X, sample_weight=weight).n_iter_ <= first // 5


def test_warnings_point_at_the_caller():
    with pytest.warns(ConvergenceWarning) as caught:
        SVC(max_iter=1).fit(X, label)
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning) as caught:
        SVR(max_iter=1).fit(X, X[:, 0])
    assert caught[0].filename == __file__


def test_warm_start_with_other_classes_starts_cold():
    model = SVC(warm_start=True).fit(X, label)
    model.fit(X, np.arange(120) % 3)
    assert_close(
        model.decision_function(X), SVC().fit(X, np.arange(120) % 3).decision_function(X), tol=1e-9
    )
    model.fit(X[:20], label[:20])
    assert model.certificate_.status == "optimal"


@pytest.mark.parametrize("estimator", FIVE)
def test_same_bits_for_any_threads_and_batches(estimator):
    A = rng.normal(size=(1300, 8))
    z = target(estimator, A, (A[:, 0] > 0).astype(int))
    with threads(1):
        one = estimator().fit(A, z)
        first = values(one, A)
    with threads(3):
        two = estimator().fit(A, z)
        assert np.array_equal(values(two, A), first)
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    assert np.array_equal(one.intercept_, two.intercept_)
    for size in (1, 7, 64, 500):
        assert np.array_equal(
            np.concatenate([values(two, A[i : i + size]) for i in range(0, 200, size)])[:200],
            first[:200],
        )


def test_same_bits_for_many_classes():
    A, y = rng.normal(size=(800, 5)), np.arange(800) % 7
    with threads(3):
        two = SVC().fit(A, y)
    with threads(1):
        one = SVC().fit(A, y)
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    assert np.array_equal(
        one.decision_function(A),
        two.decision_function(A[:400]).tolist() + two.decision_function(A[400:]).tolist(),
    )


def test_pickle_clone_and_search():
    model = SVC(kernel=Kernel.laplacian(gamma=0.3), C=2.0).fit(X, label)
    assert np.array_equal(
        pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X)
    )
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0], "kernel": ["rbf", "linear"]}, cv=3).fit(X, label)
    assert search.best_score_ > 0.8
    assert "SVC(C=2.0" in repr(model)


def test_verbose_goes_to_logging(caplog, capfd):
    with caplog.at_level(logging.INFO, logger="maxmargin"):
        SVC(verbose=1).fit(X, label)
    assert "SVC: " in caplog.text
    assert "support vectors" in caplog.text
    assert "gap" in caplog.text
    assert capfd.readouterr().out == ""


def test_verbose_without_logging_goes_to_standard_error():
    code = """
        import contextlib, io, numpy as np
        from maxmargin import SVC
        X = np.random.default_rng(0).normal(size=(50, 2))
        with contextlib.redirect_stderr(io.StringIO()) as told:
            SVC(verbose=1).fit(X, X[:, 0] > 0)
        assert told.getvalue().startswith("SVC: "), told.getvalue()
        assert "support vectors" in told.getvalue(), told.getvalue()
        assert told.getvalue().count("\\n") == 1, told.getvalue()
        """
    assert in_subprocess(code) == "", "nothing on standard output"


def test_large_problem_refines_to_a_tight_tolerance():
    """Float32 rows and refinement reach 1e-9 where float32 alone cannot."""
    A = rng.normal(size=(1500, 5))
    y = (A[:, 0] * A[:, 1] + 0.3 * rng.normal(size=1500) > 0).astype(int)
    model = SVC(C=10.0, tol=1e-9).fit(A, y)
    assert model.certificate_.status == "optimal"
    assert model.certify(A, y).kkt_violation <= 1e-9
    assert model.certificate_.relative_gap < 1e-9
