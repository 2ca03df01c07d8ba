"""Squared hinges of small data solved together: as good as each by itself, judged as strictly."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from helpers import threads
from maxmargin import LinearSVC
from maxmargin.core.choose import HOST
from maxmargin.estimators import _linear
from maxmargin.linear import certificate, together
from maxmargin.linear.losses import Bias, Hinges
from maxmargin.linear.verification import evaluate

SMALL = {
    "iris": load_iris,
    "wine": load_wine,
    "digits": load_digits,
    "breast cancer": load_breast_cancer,
}
NUMBERS = (
    *("primal", "dual", "gap", "relative_gap"),
    *("kkt_violation", "box_violation", "equality_violation"),
)
BIASES = ({}, {"intercept": "regularised", "intercept_scaling": 2.0}, {"fit_intercept": False})


def data(name, scaled=True):
    X, y = SMALL[name](return_X_y=True)
    return StandardScaler().fit_transform(X) if scaled else X, y


@pytest.fixture
def served(monkeypatch):
    """How many problems of each fit were solved together."""
    counts, train = [], together.train_together

    def counted(*arguments):
        found = train(*arguments)
        counts.append(sum(one is not None for one in found))
        return found

    monkeypatch.setattr(_linear, "train_together", counted)
    return counts


def apart(monkeypatch, model, X, y, *weight):
    """A fit with every problem by itself."""
    with monkeypatch.context() as patch:
        patch.setattr(together, "_suits", lambda problems, design: False)
        return model.fit(X, y, *weight)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", SMALL)
def test_the_optimum_is_that_of_each_problem_by_itself(name, C, bias, served, monkeypatch):
    X, y = data(name)
    model = LinearSVC(C=C, tol=1e-9, **bias).fit(X, y)
    assert served == [1 if name == "breast cancer" else len(model.classes_)]
    alone = apart(monkeypatch, LinearSVC(C=C, tol=1e-9, **bias), X, y)
    one, other = model.certificate_, alone.certificate_
    assert one.status == other.status == "optimal"
    assert one.primal == pytest.approx(other.primal, rel=2e-9)
    f = alone.decision_function(X)
    assert np.abs(model.decision_function(X) - f).max() <= 1e-3 * np.abs(f).max()
    assert model.solver_ == alone.solver_


@pytest.mark.parametrize("bias", BIASES)
def test_certify_finds_the_same(bias, served):
    X, y = data("wine", scaled=False)
    model = LinearSVC(**bias).fit(X, y)
    again = model.certify(X, y)
    assert served == [3]
    assert again.status == model.certificate_.status == "optimal"
    for one, other in zip(model.certificate_.parts, again.parts, strict=True):
        assert one.primal == pytest.approx(other.primal, rel=1e-12)
        assert one.dual == pytest.approx(other.dual, rel=1e-12)


def test_certificates_are_those_of_one_problem():
    """For any w and t, whatever the bias."""
    draw = np.random.default_rng(3)
    X, C = draw.normal(size=(20, 4)), draw.uniform(0.5, 2.0, 20)
    sign = np.where(draw.uniform(size=(3, 20)) < 0.4, 1.0, -1.0)
    w, b, t = draw.normal(size=(3, 4)), draw.normal(size=3), sign * draw.uniform(size=(3, 20))
    f, Xt = w @ X.T + b[:, None], t @ X
    for bias in Bias:
        problems = Hinges(sign, C, True, bias, 2.0)
        free = bias is Bias.FREE
        found = certificate.squared_hinges(f, sign, C, w, b, t, Xt, problems.m, free)
        for k, known in enumerate(found):
            solution = together.LinearSolution(w[k], b[k], t[k], f[k], Xt[k], None, 0)
            expected = evaluate(problems[k], solution)
            for name in NUMBERS:
                value = getattr(expected, name)
                assert getattr(known, name) == pytest.approx(value, rel=1e-12, abs=1e-14), name


def test_weights_equal_copies(served):
    X, y = data("iris")
    times = np.arange(len(y)) % 3 + 1
    weighted = LinearSVC().fit(X, y, times)
    copied = LinearSVC().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert served == [3, 3]
    assert weighted.coef_ == pytest.approx(copied.coef_, abs=1e-9)


def test_the_bits_do_not_depend_on_threads(served):
    X, y = data("digits")
    models = []
    for count in (1, 2):
        with threads(count):
            models.append(LinearSVC().fit(X, y))
    one, two = models
    assert served == [10, 10]
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert (one.dual_coef_ != two.dual_coef_).nnz == 0


def test_many_classes_take_several_calls(served, monkeypatch):
    X, y = data("digits")
    calls, solve = [], HOST.squared_hinges

    def counted(X, sign, *rest):
        calls.append(len(sign))
        return solve(X, sign, *rest)

    whole = LinearSVC().fit(X, y)
    monkeypatch.setattr(type(HOST), "squared_hinges", staticmethod(counted))
    few = together.SETTINGS._replace(multiply_adds=4.5 * X.size * (X.shape[1] + 16))
    monkeypatch.setattr(together, "SETTINGS", few)
    with threads(1):
        model = LinearSVC().fit(X, y)
    assert calls == [4, 4, 2]
    assert served == [10, 10]
    assert model.coef_.tobytes() == whole.coef_.tobytes()


def test_decision_values_of_the_core_are_compared(served, monkeypatch):
    """A core whose decision values are not those of its weights is not believed."""
    X, y = data("iris")
    solve = HOST.squared_hinges

    def wrong(*arguments):
        u, f, ends = solve(*arguments)
        f[1, 7] += 1e-6
        return u, f, ends

    monkeypatch.setattr(type(HOST), "squared_hinges", staticmethod(wrong))
    assert LinearSVC().fit(X, y).certificate_.status == "optimal"
    assert served == [2]


def test_a_worse_model_is_not_optimal(served, monkeypatch):
    X, y = data("iris")
    solve = HOST.squared_hinges

    def wrong(X, sign, *rest):
        u, f, ends = solve(X, sign, *rest)
        u[:, -1] += 0.1
        return u, f + 0.1, ends

    monkeypatch.setattr(type(HOST), "squared_hinges", staticmethod(wrong))
    assert LinearSVC().fit(X, y).certificate_.status == "optimal"
    assert served == [0]


@pytest.mark.parametrize(
    "options",
    [{"loss": "hinge"}, {"penalty": "l1"}, {"dual": True}, {"time_limit": 60.0}],
)
def test_others_are_trained_as_before(options, served):
    X, y = data("wine")
    assert LinearSVC(**options).fit(X, y).certificate_.status == "optimal"
    assert served == [0]


def test_data_of_other_kinds_are_trained_as_before(served):
    X, y = data("wine")
    weight = np.where(np.arange(len(y)) < 3, 0.0, 1.0)
    for other, w in ((sparse.csr_matrix(X), None), (X, weight), (np.tile(X, 10), None)):
        assert LinearSVC().fit(other, y, w).certificate_.status == "optimal"
    assert served == [0, 0, 0]


def test_few_steps_end_early(served):
    X, y = data("wine")
    with pytest.warns(match="max_iter"):
        model = LinearSVC(max_iter=2, tol=1e-9).fit(X, y)
    assert model.certificate_.status == "max_iter"
    assert served == [0]
