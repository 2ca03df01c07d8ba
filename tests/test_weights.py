"""Sample weights of any scale: the same model where the scale does not matter, else a solution or a
clear error."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from helpers import binary
from maxmargin import SVC, SVR, Kernel, NormaSVC, NuSVC, NuSVR, OneClassSVM, PegasosSVC
from maxmargin.kernel import certificate as kernel_certificate
from maxmargin.kernel import evaluation

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Z = X[:, 0] + 0.1 * rng.normal(size=60)
Y = (Z > 0).astype(int)
WEIGHT = rng.uniform(0.5, 1.0, 60)


def fitted(model, weight, y=Y):
    data = (
        [X] if isinstance(model, OneClassSVM) else [X, y if isinstance(model, SVC | NuSVC) else Z]
    )
    model.fit(*data, sample_weight=weight)
    return model, model.certify(*data, sample_weight=weight)


@pytest.mark.parametrize("exponent", [-1000, -300, 50, 500, 1000, 1023])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_nu_classification_does_not_see_the_scale(exponent, class_weight):
    plain, _ = fitted(NuSVC(class_weight=class_weight), WEIGHT)
    model, again = fitted(NuSVC(class_weight=class_weight), np.ldexp(WEIGHT, exponent))
    assert (model.certificate_.status, again.status) == ("optimal", "optimal")
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("exponent", [-1000, -600, 50, 500, 1000])
def test_one_class_is_proportional_to_its_weights(exponent):
    """Objectives are proportional to the square.

    Beyond float64 they are infinite or 0, the verdict is not.
    """
    plain, _ = fitted(OneClassSVM(), WEIGHT)
    model, again = fitted(OneClassSVM(), np.ldexp(WEIGHT, exponent))
    assert (model.certificate_.status, again.status) == ("optimal", "optimal")
    np.testing.assert_array_equal(
        model.decision_function(X), np.ldexp(plain.decision_function(X), exponent)
    )
    assert model.certificate_.relative_gap == plain.certificate_.relative_gap
    with np.errstate(over="ignore"):
        assert again.primal == np.ldexp(plain.certify(X, sample_weight=WEIGHT).primal, 2 * exponent)


@pytest.mark.parametrize("scale", [1e17, 1e100, 1e300, 1.7e308])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_huge_weights_of_separable_classes_give_the_hard_margin(loss, scale):
    """The model is right.

    Losses of rounding, times the weights, outweigh its objective, so it may not be called optimal.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model, again = fitted(SVC(loss=loss, gamma=5.0), np.full(60, scale))
    assert model.certificate_.status in ("optimal", "stalled")
    assert again.status == model.certificate_.status
    hard = SVC(C=np.inf, gamma=5.0).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), hard.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e100, 1e300])
@pytest.mark.parametrize(
    "model",
    [SVC(kernel="linear"), SVR(), SVR(loss="squared_epsilon_insensitive"), NuSVR()],
    ids=repr,
)
def test_huge_weights_are_stalled_where_float64_does_not_suffice(model, scale):
    """No other warning, no exception, and "degenerate" is for nu-SVC."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, again = fitted(model, scale * WEIGHT, y=np.roll(Y, 7))
    assert (model.certificate_.status, again.status) == ("stalled", "stalled")
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("model", "scale", "message"),
    [
        (SVC(C=10), 1e308, "C=10, and the greatest weight is 1e[+]308. Divide the weights"),
        (SVC(C=10, loss="squared_hinge"), 1e308, "beyond float64"),
        (SVR(C=10), 1e308, "beyond float64"),
        (NuSVR(C=10), 1e308, "beyond float64"),
        (NuSVR(), 1e308, "sum of the sample weights is beyond float64"),
        (OneClassSVM(), 1e308, "add up to more than float64 holds"),
        (
            SVC(C=1e-200),
            1e-200,
            "too small for float64: C=1e-200, and the least positive weight is 1e-200",
        ),
        (SVC(C=1e-15, loss="squared_hinge"), 1e-295, "too small for float64"),
        (SVR(C=1e-15, loss="squared_epsilon_insensitive"), 1e-295, "too small for float64"),
        (
            SVC(class_weight={0: 1.0, 1: 100.0}),
            1e307,
            "sample_weight times class_weight is beyond float64",
        ),
        (
            NuSVC(class_weight={0: 1.0, 1: 100.0}),
            1e307,
            "sample_weight times class_weight is beyond float64",
        ),
    ],
    ids=str,
)
def test_weights_beyond_float64_are_refused(model, scale, message):
    with pytest.raises(ValueError, match=message):
        fitted(model, np.full(60, scale))


def test_bounds_at_the_ends_of_float64_are_accepted():
    fitted(SVC(C=1e-323), np.ones(60))
    fitted(SVC(C=1e-300, loss="squared_hinge"), np.ones(60))


# ---- nu ------------------------------------------------------------------------------------------


def test_the_nu_of_nu_classification_is_certified():
    """The model of another nu satisfies every condition but the sum of its variables."""
    model = NuSVC(nu=0.4).fit(X, Y)
    assert model.certify(X, Y).status == "optimal"
    for nu in (0.399, 0.5):
        model.nu = nu
        assert model.certify(X, Y).status == "refuted"


def test_coefficients_at_the_bound_that_nu_gives():
    weight, b = np.array([1.0, 2.0, 1.0]), np.array([0.5, -1.0, 0.5])
    np.testing.assert_array_equal(kernel_certificate.bounds_of_nu(weight, b, 1.0), [0.5, 1.0, 0.5])
    np.testing.assert_array_equal(kernel_certificate.bounds_of_nu(weight, b, 0.5), [1.0, 2.0, 1.0])
    near = kernel_certificate.bounds_of_nu(weight, b * [1, 1 - 1e-12, 1], 1.0)
    np.testing.assert_array_equal(near, np.abs(b * [1, 1 - 1e-12, 1]))
    np.testing.assert_array_equal(
        kernel_certificate.bounds_of_nu(weight, b * [1, 0.5, 1], None), [0.5, 1.0, 0.5]
    )


# ---- k(x, x) -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [
        Kernel.linear(),
        Kernel.poly(3, 0.3, 1.0),
        Kernel.rbf(2.0),
        Kernel.callable(lambda A, B: A @ B.T),
    ],
    ids=lambda k: k.kind.name.lower(),
)
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, np.float32, sparse.csr_matrix])
def test_the_diagonal_of_a_kernel(kernel, form):
    data = form(rng.normal(size=(150, 4)))
    whole = evaluation.kernel_values(kernel, data, data)
    np.testing.assert_allclose(
        evaluation.kernel_diagonal(kernel, data), np.abs(whole.diagonal()), rtol=1e-6
    )
    given = evaluation.kernel_diagonal(Kernel.precomputed(), whole)
    np.testing.assert_array_equal(given, np.abs(whole.diagonal()))


@pytest.mark.parametrize("make", [SVC, SVR, PegasosSVC, NormaSVC])
def test_values_of_samples_without_weight_do_not_matter(make):
    """Not even where their squares overflow: gamma is that of the samples that count."""
    X, y = binary(40)
    model = make(
        kernel="rbf", **({"alpha": 0.5, "shuffle": False} if make in (PegasosSVC, NormaSVC) else {})
    )
    gamma = model.fit(X[1:], y[1:]).kernel_.gamma
    X[0] = 1e200
    assert model.fit(X, y, sample_weight=np.arange(40) > 0).kernel_.gamma == pytest.approx(
        gamma, rel=1e-12
    )
