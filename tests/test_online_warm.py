"""What online fits keep and hand on: warm starts, centres, coefficients of samples, doubts."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from helpers import assert_same_bits, binary, three
from maxmargin import Kernel, NormaSVC, PegasosSVC
from maxmargin.online import budget, certificate, epochs, pegasos_linear
from maxmargin.online.certificate import Fitted
from maxmargin.status import Status

X, y = binary(60)
A, z = three(60)
SHORT = {"tol": None, "max_iter": 2, "shuffle": False, "alpha": 0.05}


def test_coefficients_of_samples_are_kept_for_warm_starts_only():
    assert PegasosSVC(**SHORT).fit(X, y).model_.sample_coefs is None
    model = PegasosSVC(warm_start=True, **SHORT).fit(X, y)
    assert model.model_.sample_coefs.shape == (1, 60, 2)
    fresh = PegasosSVC(**SHORT).fit(X, y)
    again = model.set_params(warm_start=False).fit(X, y)
    assert again.certificate_ == fresh.certificate_
    assert_same_bits(again.coef_, fresh.coef_)


def test_a_warm_start_on_other_samples():
    model = PegasosSVC(warm_start=True, **SHORT).fit(X, y)
    centre = model.model_.centre
    np.testing.assert_allclose(centre, X.mean(axis=0), atol=1e-12)
    model.fit(X[:40] + 5, y[:40])
    assert_same_bits(model.model_.centre, centre)
    assert (model.t_, model.certificate_.n_iter) == (120 + 80, 80)
    assert model.certificate_.dual <= model.certificate_.primal
    assert model.certify(X[:40] + 5, y[:40]).primal == pytest.approx(
        model.certificate_.primal, rel=1e-9
    )
    again = model.set_params(warm_start=False).fit(X + 5, y)
    np.testing.assert_allclose(again.model_.centre, X.mean(axis=0) + 5, atol=1e-12)


def test_weights_move_the_centre():
    weight = np.arange(60) % 3 + 0.5
    for model in (
        PegasosSVC(**SHORT).fit(X, y, sample_weight=weight),
        PegasosSVC().partial_fit(X, y, [0, 1], weight),
    ):
        np.testing.assert_allclose(model.model_.centre, weight @ X / weight.sum(), atol=1e-12)


def test_another_kernel_than_in_the_last_fit():
    model = PegasosSVC(kernel="rbf", **SHORT).fit(X, y)
    assert model.set_params(kernel="linear").fit(X, y).kernel_ == Kernel.linear()


def test_one_epoch_in_several_blocks(monkeypatch):
    """max_iter counts epochs: one is not over after the first block."""
    settings = pegasos_linear.SETTINGS._replace(check_work=50)
    monkeypatch.setattr(pegasos_linear, "SETTINGS", settings)
    monkeypatch.setattr(budget, "SETTINGS", budget.SETTINGS._replace(block=16))
    for options in ({}, {"kernel": "rbf"}):
        model = PegasosSVC(**{**SHORT, "max_iter": 1}, **options)
        assert (model.fit(X, y).t_, model.n_iter_) == (60, 1)
        assert PegasosSVC(max_iter=1, alpha=1e-4, **options).partial_fit(10 * X, y, [0, 1]).t_ == 60
    assert (
        NormaSVC(max_iter=1).fit(X, y).t_,
        NormaSVC(max_iter=1).partial_fit(X, y, [0, 1]).t_,
    ) == (60, 60)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_short_functions_are_certified_as_they_are(kernel):
    """A large alpha makes |w| small: nothing is rounded up to 1."""
    data = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2)) if kernel == "precomputed" else X
    model = PegasosSVC(alpha=20.0, kernel=kernel, gamma=1.0, tol=0.2, random_state=0).fit(data, y)
    found = model.certify(data, y)
    for name in ("primal", "dual", "gap", "kkt_violation"):
        assert getattr(found, name) == pytest.approx(
            getattr(model.certificate_, name), rel=1e-7, abs=1e-12
        )
    assert found.status == model.certificate_.status


def test_a_gap_that_rounding_may_have_taken_is_not_called_small(monkeypatch):
    monkeypatch.setattr(Fitted, "rounding_error", lambda *a: 1e9)
    with pytest.warns(ConvergenceWarning) as caught:
        model = PegasosSVC(alpha=0.1, tol=0.5, random_state=0).fit(X, y)
    assert str(caught[0].message).startswith(Status.STALLED.message)
    assert (model.certificate_.status, model.fit_status_) == ("stalled", 1)
    assert model.certificate_.gap < 0.5, "the gap that is shown is the one that was found"


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_doubt_of_a_ten_millionth_of_the_tolerance_is_looked_into(factor, monkeypatch):
    asked, sizes = [], []
    real = Fitted.evaluate
    share = 2 * min(y.mean(), 1 - y.mean())

    def doubt(self, problem, k, t, square, largest):
        sizes.append(largest)
        return factor * 1e-7 * 0.3 * share / 0.1

    monkeypatch.setattr(Fitted, "rounding_error", doubt)
    monkeypatch.setattr(Fitted, "evaluate", lambda *a: asked.append(1) or real(*a))
    PegasosSVC(alpha=0.1, tol=0.3, random_state=0).fit(0.1 * X, y)
    assert len(asked) == (factor > 1)
    assert sizes == [pytest.approx(0.01 * (X**2).sum(axis=1).max())]


def test_convexity_is_asked_of_the_samples_in_use(monkeypatch):
    asked = []
    real = certificate.convexity_of
    monkeypatch.setattr(
        certificate,
        "convexity_of",
        lambda kernel, used, *rest: asked.append(used) or real(kernel, used, *rest),
    )
    model = PegasosSVC(
        kernel="sigmoid", gamma=0.01, alpha=0.1, tol=None, max_iter=5, random_state=0
    )
    model.fit(A, z, sample_weight=np.arange(60) % 4 > 0)
    used = (model.model_.duals.toarray() != 0).any(axis=0)
    assert asked[0].tolist() == used.astype(float).tolist()
    assert 0 < used.sum() < 60
    PegasosSVC(kernel="rbf", **SHORT).fit(X, y)
    assert len(asked) == 1, "nobody asks about a kernel that is known to be convex"


def test_the_best_of_two_dual_points(monkeypatch):
    """Those of the average and of the last iterate: the bound is the greater one."""
    found = []
    real = epochs._scaled_dual
    monkeypatch.setattr(epochs, "_scaled_dual", lambda *a: found.append(real(*a)) or found[-1])
    model = PegasosSVC(**{**SHORT, "max_iter": 5}).fit(A, z)
    assert len(found) == 6
    for k, part in enumerate(model.certificate_.parts):
        best = max(found[2 * k : 2 * k + 2], key=lambda one: one[0])
        assert part.dual == pytest.approx(0.05 * best[0], rel=1e-9)
        np.testing.assert_allclose(model.model_.duals.toarray()[k], best[1], atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 0.3}])
def test_the_average_of_chunks_that_did_not_ask_for_it(options):
    once, twice = (
        PegasosSVC(shuffle=False, average=average, **options).partial_fit(A, z, [0, 1, 2])
        for average in (True, False)
    )
    assert not np.allclose(once.decision_function(A), twice.decision_function(A))
    twice.set_params(average=True)
    assert_same_bits(
        twice.partial_fit(A, z).decision_function(A), once.partial_fit(A, z).decision_function(A)
    )
