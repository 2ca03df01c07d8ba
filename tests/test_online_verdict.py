"""What PegasosSVC says about itself, its limits, and its coefficients where alpha is tiny."""

import time

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from helpers import binary, in_subprocess, three
from maxmargin import LinearSVC, PegasosSVC
from maxmargin.linear.equations import cholesky_solve
from maxmargin.linear.losses import Bias, LinearProblem, classification
from maxmargin.online import epochs
from maxmargin.online.certificate import Fitted


@pytest.mark.parametrize(
    "options",
    [{}, {"kernel": "rbf"}, {"kernel": "rbf", "budget": 50, "tol": 0.5}, {"fit_intercept": False}],
)
@pytest.mark.parametrize("make", [binary, three])
def test_certify_recomputes_the_certificate(make, options):
    X, y = make(150)
    weight = np.random.default_rng(0).integers(0, 3, size=150)
    model = PegasosSVC(**{"alpha": 0.05, "random_state": 0, **options}).fit(
        X, y, sample_weight=weight
    )
    again = model.certify(X, y, sample_weight=weight)
    assert again.status == model.certificate_.status in ("optimal", "approximate")
    for name in ("primal", "dual", "gap", "relative_gap", "kkt_violation"):
        assert getattr(again, name) == pytest.approx(
            getattr(model.certificate_, name), rel=1e-6, abs=1e-9
        )
    assert again.audit_error < 1e-9
    assert model.certify(X, y).status == "refuted", "without the weights it is another problem"


def test_certify_of_kernel_values():
    X, y = binary(100)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = PegasosSVC(alpha=0.05, kernel="precomputed", random_state=0).fit(K, y)
    assert model.certify(K, y).primal == pytest.approx(model.certificate_.primal, rel=1e-9)


def test_certify_refutes_an_altered_model():
    X, y = binary(150)
    model = PegasosSVC(alpha=0.05, random_state=0).fit(X, y)
    model.intercept_ = model.intercept_ + 0.5
    assert model.certify(X, y).status == "refuted"
    with pytest.raises(ValueError, match="another number of samples"):
        model.certify(X[:100], y[:100])
    with pytest.raises(ValueError, match="other labels"):
        model.certify(X, y + 1)
    chunks = PegasosSVC(alpha=0.05).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="needs a model of fit"):
        chunks.certify(X, y)


def test_optimal_only_where_every_sample_is_near():
    """Where the gap is within tol of the loss of a constant, it is approximate unless it is within
    tol of the objective too.
    """
    X, y = make_classification(500, flip_y=0.4, random_state=0)
    constant, said = 2 * min(y.mean(), 1 - y.mean()), set()
    for tol in (0.5, 0.2, 0.05, 0.01):
        for alpha in (0.01, 10.0):
            model = PegasosSVC(alpha=alpha, tol=tol, random_state=0).fit(X, y)
            found = model.certificate_
            assert found.gap <= tol * constant
            near = found.relative_gap <= tol and found.kkt_violation <= np.sqrt(tol)
            assert found.status == ("optimal" if near else "approximate")
            assert model.fit_status_ == 0
            assert model.certify(X, y).status == found.status
            said.add(found.status)
    assert said == {"optimal", "approximate"}


def test_a_rare_class_is_not_left_to_a_constant():
    """The tolerance is relative to the loss of a constant, which is small where a class is rare."""
    X, y = make_classification(2000, weights=[0.99], class_sep=3, flip_y=0, random_state=0)
    model = PegasosSVC(random_state=0).fit(X, y)
    assert model.certificate_.gap <= 0.05 * 2 * y.mean()
    assert np.mean(model.predict(X[y == 1])) > 0.8


SCALED = {
    "iris": load_iris,
    "breast cancer": load_breast_cancer,
    "wine": load_wine,
    "digits": load_digits,
}


@pytest.mark.parametrize("name", SCALED)
def test_the_defaults_converge_on_easy_data(name):
    X, y = SCALED[name](return_X_y=True)
    if name != "iris":
        X = StandardScaler().fit_transform(X)
    model = PegasosSVC(random_state=0).fit(X, y)  # without a warning
    assert model.certificate_.status in ("approximate", "optimal")
    assert model.n_iter_ < 700
    exact = LinearSVC(loss="hinge", C=1 / (model.alpha * len(y))).fit(X, y)
    assert model.score(X, y) > exact.score(X, y) - 0.02


@pytest.mark.parametrize("n", [60, 1100])
def test_an_indefinite_matrix_is_not_called_optimal(n):
    """Two rows show it, wherever they are: the dual then bounds nothing."""
    K, y = np.eye(n), np.arange(n) % 2
    K[-1, -3] = K[-3, -1] = -50.0
    model = PegasosSVC(alpha=1.0, kernel="precomputed", tol=0.5, random_state=0).fit(K, y)
    assert model.certificate_.status == "stationary"
    assert model.certificate_.convexity == "indefinite"
    assert model.certify(K, y).status == "stationary"


# ---- limits --------------------------------------------------------------------------------------


def test_tiny_alpha_keeps_its_time_limit():
    """Almost every step is projected and folds the walk.

    Once a pass took time quadratic in the samples, whatever the limit.
    """
    random = np.random.default_rng(0)
    X = random.normal(size=(40_000, 10))
    y = X[:, 0] + random.normal(size=40_000) > 0
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = PegasosSVC(alpha=1e-9, time_limit=0.05, random_state=0).fit(X, y)
    assert time.perf_counter() - began < 5
    assert 0 < model.t_ < 40_000
    assert model.certificate_.n_iter == model.t_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [1e-9, 1e-4])
@pytest.mark.parametrize("copies", [False, True])
def test_coefficients_of_samples_keep_up_with_rescalings(alpha, copies):
    """The coefficients of the samples add up to the weights, however often these were rescaled."""
    X, y = binary(400)
    weight = np.random.default_rng(0).integers(1, 4, size=400) if copies else None
    model = PegasosSVC(
        alpha=alpha, max_iter=3, tol=None, warm_start=True, random_state=0, fit_intercept=False
    )
    for _ in range(2):
        model.fit(X, y, sample_weight=weight)
        coefs, iterates = model.model_.sample_coefs[0], model.model_.state
        assert np.abs(X.T @ coefs[:, 0] - iterates.v[0]).max() <= 1e-9 * np.abs(iterates.v[0]).max()
        assert np.abs(X.T @ coefs[:, 1] - iterates.u[0]).max() <= 1e-9 * np.abs(iterates.u[0]).max()
    assert model.certify(X, y, weight).gap == pytest.approx(model.certificate_.gap, rel=1e-6)


# ---- what rounding may do ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_what_rounding_may_add_to_a_gap(kernel):
    """The terms of decision values and of the length of the dual point, each wrong by its last
    digit.
    """
    X, y = binary(60)
    model = PegasosSVC(alpha=0.05, kernel=kernel, gamma=0.3, random_state=0).fit(X, y)
    t, square, largest, eps = np.random.default_rng(0).normal(size=60), 7.0, 3.0, 2.0**-52
    C = np.random.default_rng(1).uniform(1, 2, size=60)
    problem = LinearProblem(classification(np.where(y == 1, 1.0, -1.0), C, False), Bias.FREE)
    lengths = {"linear": np.sqrt(largest * np.sum(model.coef_**2))} if kernel == "linear" else {}
    terms = lengths.get(kernel, largest * np.abs(getattr(model, "dual_coef_", 0.0)).sum())
    length = eps * np.sqrt(largest) * np.abs(t).sum()
    expected = (
        eps * (terms + abs(model.intercept_[0])) * C.sum()
        + length * np.sqrt(square)
        + 0.5 * length**2
    )
    fitted = model._fitted(model.model_)
    assert fitted.rounding_error(problem, 0, t, square, largest) == pytest.approx(
        expected, rel=1e-12
    )
    huge = 1e150 * t
    length *= 1e150
    expected = (
        eps * (terms + abs(model.intercept_[0])) * C.sum()
        + length * np.sqrt(square)
        + 0.5 * length**2
    )
    fitted = model._fitted(model.model_)
    assert fitted.rounding_error(problem, 0, huge, square, largest) == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_fit_is_judged_by_the_numbers_of_certify_where_rounding_may_decide(kernel, monkeypatch):
    X, y = three(60)
    asked = []
    real = Fitted.evaluate
    monkeypatch.setattr(Fitted, "evaluate", lambda *a: asked.append(1) or real(*a))
    for tol, times in ((0.3, 0), (None, 0), (1e-13, 1)):
        asked.clear()
        model = PegasosSVC(
            alpha=0.05, kernel=kernel, gamma=0.3, tol=tol, max_iter=30, random_state=0
        ).fit(X, y)
        assert len(asked) == times
        assert 0 <= model.certificate_.audit_error < 1e-12
        again = model.certify(X, y)
        for mine, theirs in zip(model.certificate_.parts, again.parts, strict=True):
            for name in ("primal", "dual", "gap", "kkt_violation"):
                value, other = getattr(mine, name), getattr(theirs, name)
                assert (
                    value == other if times else value == pytest.approx(other, rel=1e-9, abs=1e-12)
                )
            assert mine.n_iter == model.t_


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "rbf", "gamma": 0.3}, {"kernel": "precomputed"}]
)
def test_the_audit_sees_decision_values_that_are_wrong(options, monkeypatch):
    """The samples at both ends of the data are among those that are evaluated again."""
    X, y = binary(60)
    X = (
        np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        if "precomputed" in options.values()
        else X
    )
    real = epochs.evaluate
    for row in (0, 59):

        def wrong(*given, row=row, **more):
            model, found = real(*given, **more)
            for one in found:
                one.f[row] += 0.25
            return model, found

        monkeypatch.setattr(epochs, "evaluate", wrong)
        model = PegasosSVC(alpha=0.1, tol=0.5, random_state=0, **options).fit(X, y)
        assert model.certificate_.audit_error == pytest.approx(0.25, rel=1e-6)


# ---- memory --------------------------------------------------------------------------------------

STARVED = """
import resource
import numpy as np
from maxmargin import LinearSVC
X = np.random.default_rng(0).normal(size=(3000, 20))
y = X[:, 0] > 0.3
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + 2**24
resource.setrlimit(resource.RLIMIT_AS, (size, size))
try:
    print(LinearSVC().fit(X, y).certificate_.status)
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.memory
def test_blas_without_room_for_its_buffers():
    """Cholesky's factor once looped forever under a limit of the address space."""
    assert in_subprocess(STARVED, timeout=60).strip() in ("MemoryError", "optimal")


def test_a_matrix_without_a_factor_ends_the_work():
    A = np.array([[1.0, 1e300], [1e300, 1.0]])
    assert cholesky_solve(A, np.ones(2)).tolist() == [0.0, 0.0]
