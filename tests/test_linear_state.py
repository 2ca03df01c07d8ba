"""Linear estimators around a fit: solvers, starts, progress, warnings, what is kept,
certificates."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from helpers import assert_close, assert_same_bits, binary, three
from maxmargin import LinearSVC
from maxmargin.estimators import _linear
from maxmargin.estimators._chunks import chunk_design, read_all
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.model import assemble
from maxmargin.linear.training import Choice, Solver, choose

X, y = binary(80)
A, z = three(90)


def test_who_begins():
    design = ArrayDesign(X)
    assert LinearSVC()._choose(design) == Choice(choose(design))
    assert LinearSVC(dual=True)._choose(design) == Choice(Solver.COORDINATE)
    assert LinearSVC(dual=False)._choose(design) == Choice(Solver.NEWTON)
    assert LinearSVC(solver="newton", dual=True)._choose(design) == Choice(
        Solver.NEWTON, binding=True
    )
    assert LinearSVC(solver="coordinate")._choose(design) == Choice(Solver.COORDINATE, binding=True)
    for solver in ("newton", "coordinate"):
        assert LinearSVC(solver=solver).fit(X, y).solver_ == solver


def test_a_seed_orders_the_visits_of_coordinate_descent():
    def fitted(seed):
        with pytest.warns(ConvergenceWarning):
            return (
                LinearSVC(solver="coordinate", max_iter=2, tol=1e-9, random_state=seed)
                .fit(X, y)
                .coef_
            )

    assert_same_bits(fitted(None), fitted(None))
    assert_same_bits(fitted(3), fitted(3))
    assert not np.array_equal(fitted(3), fitted(4))


def test_where_a_warm_start_begins():
    model = LinearSVC()
    assert model.set_params(warm_start=True)._starts(90, 3) is None, "nothing is fitted"
    model.fit(A, z)
    for n in (90, 100):
        starts = model._starts(n, 3)
        for k, start in enumerate(starts):
            assert_same_bits(start.w, model.coef_[k])
            assert start.bias == model.intercept_[k]
            assert_same_bits(start.t, np.append(model.dual_coef_.toarray()[k], np.zeros(n - 90)))
            assert start.n_iter == 0
    assert model._starts(89, 3) is None, "samples are gone"
    assert model._starts(90, 2) is None
    assert model._starts(90, 4) is None
    model.n_features_in_ = 5
    assert model._starts(90, 3) is None
    model.n_features_in_ = 4
    assert model.set_params(warm_start=False)._starts(90, 3) is None
    again = LinearSVC(warm_start=True, solver="newton", tol=1e-6).fit(A, z)
    cold = again.n_iter_
    assert again.fit(A, z).n_iter_ < cold


def test_one_line_for_each_problem(caplog):
    with caplog.at_level("INFO", logger="maxmargin"):
        model = LinearSVC(verbose=1).fit(A, z)
    lines = [line for line in caplog.messages if line.endswith(": optimal")]
    counts = np.diff(model.dual_coef_.indptr)
    parts = model.certificate_.parts
    assert len(lines) == 3
    for k, line in enumerate(lines):
        assert line.startswith(f"LinearSVC {k + 1}/3: ")
        assert (
            f", gap {parts[k].gap:.3g}, violation {parts[k].kkt_violation:.3g}, {counts[k]} "
            "support vectors, " in line
        )
    caplog.clear()
    with caplog.at_level("INFO", logger="maxmargin"):
        LinearSVC(verbose=1).fit(X, y)
    (line,) = [line for line in caplog.messages if line.endswith(": optimal")]
    assert line.startswith("LinearSVC: ")


def test_what_is_said_of_problems_that_did_not_converge():
    with pytest.warns(ConvergenceWarning) as caught:
        model = LinearSVC(max_iter=1, tol=1e-9).fit(A, z)
    (warning,) = caught
    gap = max(part.relative_gap for part in model.certificate_.parts)
    assert str(warning.message).startswith("LinearSVC failed to converge (3 of 3 problems): ")
    assert str(warning.message).endswith(f" Relative gap {gap:.3g} (tol=1e-09).")
    assert warning.filename == __file__
    assert model.n_iter_ == 1
    with pytest.warns(ConvergenceWarning, match="LinearSVC failed to converge: "):
        LinearSVC(max_iter=1, tol=1e-9).fit(X, y)


def test_what_is_kept():
    model = LinearSVC().fit(A, z)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    assert sparse.issparse(model.dual_coef_)
    assert model.dual_coef_.shape == (3, 90)
    assert model.n_iter_ == max(part.n_iter for part in model.certificate_.parts)
    assert_close(A @ model.coef_.T + model.intercept_, model.decision_function(A), 1e-12)
    plain = LinearSVC(fit_intercept=False).fit(A, z)
    assert plain.intercept_ == 0.0
    assert isinstance(plain.intercept_, float)
    assert_close(A @ plain.coef_.T, plain.decision_function(A), 1e-12)
    thin = LinearSVC().fit(A, z).sparsify()
    assert_same_bits(thin.decision_function(A), model.decision_function(A))
    record = thin.model_
    assert (record.weights().shape, record.intercepts().shape) == ((3, 4), (3,))
    assert record.label_order is None


def test_objectives_beyond_float64():
    with pytest.raises(ValueError, match="samples whose values are too large to be squared"):
        LinearSVC().fit(X * 1e200, y)
    good = {"w": np.ones(2), "bias": 0.0, "t": np.zeros(3)}
    for change, gap in (
        ({"w": np.array([1.0, np.nan])}, 0.0),
        ({"bias": np.inf}, 0.0),
        ({}, np.inf),
        ({}, np.nan),
    ):
        trained = SimpleNamespace(
            solution=SimpleNamespace(**{**good, **change}), certificate=SimpleNamespace(gap=gap)
        )
        with pytest.raises(ValueError, match="The objective exceeds the range of float64"):
            assemble([trained], True)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_certify_recomputes_the_certificate(wrap):
    model = LinearSVC().fit(wrap(A), z)
    found = model.certify(wrap(A), z)
    assert len(found.parts) == 3
    for mine, again in zip(model.certificate_.parts, found.parts, strict=True):
        assert again.status == mine.status == "optimal"
        assert again.n_iter == mine.n_iter
        assert again.primal == pytest.approx(mine.primal, rel=1e-9)
        assert 0 <= again.audit_error < 1e-12
    with pytest.raises(ValueError, match="another number of samples or classes was given"):
        model.certify(wrap(A[:-1]), z[:-1])
    model.coef_[1] *= 1.5
    assert [part.status for part in model.certify(wrap(A), z).parts] == [
        "optimal",
        "refuted",
        "optimal",
    ]


def test_the_first_pass_over_chunks():
    S = sparse.csr_matrix(X)
    targets, weights, shape = read_all(lambda: [(X[:30], y[:30]), (S[30:], y[30:].tolist())])
    assert targets.tolist() == y.tolist()
    assert weights is None
    assert shape == (80, 4)
    targets, weights, shape = read_all(
        lambda: [(X[:30], y[:30], np.arange(30)), (X[30:], y[30:], np.arange(50))]
    )
    assert weights.tolist() == [*range(30), *range(50)]
    assert weights.dtype == np.float64
    for chunks, text in (
        ([(X, y), [X, y]], r"chunk 1 is not \(X, y\) or \(X, y, sample_weight\) but list"),
        ([(X, y, y, y)], "chunk 0 is no"),
        ([(X, y), (X[:, :3], y)], "chunk 1 has 3 features, the ones before 4"),
        ([(X, y, y), (X, y, y[:7])], "chunk 1 has 80 samples and 7 weights"),
        ([(X, y, y), (X, y[:-1], y)], "chunk 1 has 80 samples and 79 targets"),
        ([(X, y, y), (X, y)], "some chunks have sample weights and some have none"),
        ([], "no chunks: the reader must return an iterable"),
    ):
        with pytest.raises(ValueError, match=text):
            read_all(lambda chunks=chunks: chunks)
    with pytest.raises(
        TypeError, match="read must be a function that returns the chunks at each call, got list"
    ):
        read_all([(X, y)])


def test_chunks_are_checked_whenever_they_are_read():
    chunks = [(X[:30].tolist(), None), (sparse.csr_matrix(X[30:50]), None), (X[50:], None)]
    design = chunk_design(lambda: chunks, (80, 4))
    assert_close(design.values(np.array([1.0, 2.0, 3.0, 4.0])), X @ [1, 2, 3, 4], 1e-12)
    chunks[1] = (np.array([[np.nan] * 4] * 20), None)
    with pytest.raises(ValueError, match="X of chunk 1 contains NaN"):
        design.values(np.ones(4))


def test_seeds_and_monitors_of_fits():
    with LinearSVC()._watched() as (monitor, seed):
        assert seed == 0
        assert not monitor.verbose
    for state in (0, 7):
        with LinearSVC(
            random_state=state, verbose=1, max_iter=3, on_interrupt="keep"
        )._watched() as (monitor, seed):
            assert seed == np.random.RandomState(state).randint(2**31 - 1)
            assert (monitor.verbose, monitor.max_iter, monitor.keep, monitor.title) == (
                True,
                3,
                True,
                "LinearSVC",
            )


def test_the_solver_that_ended_the_work_is_named(monkeypatch):
    real = _linear.train_many

    def handed_on(*given):
        first, *rest = real(*given)
        return [first, *(one._replace(solver=Solver.NEWTON) for one in rest)]

    monkeypatch.setattr(_linear, "train_many", handed_on)
    assert LinearSVC(dual=True).fit(A, z).solver_ == "newton"
    assert LinearSVC(dual=True).fit(X, y).solver_ == "coordinate"


def test_a_fit_forgets_the_order_of_labels_in_a_file():
    model = LinearSVC().fit(X, y)
    model.model_ = replace(model.model_, label_order=np.array([1, 0]))
    assert model.fit(X, y).model_.label_order is None
    assert LinearSVC().__sklearn_tags__().input_tags.sparse


def test_altered_or_other_data_are_refused():
    model = LinearSVC(penalty="l1").fit(A, z).sparsify()
    with pytest.raises(ValueError, match="X has 3 features, but LinearSVC is expecting 4 features"):
        model.decision_function(A[:, :3])
    good = model.coef_
    model.coef_ = good * np.nan
    with pytest.raises(ValueError, match="The internal representation of LinearSVC was altered"):
        model.decision_function(A)
    model.coef_ = good.copy()
    model.coef_.indices[0] = 9
    with pytest.raises(ValueError, match="indices"):
        model.certify(A, z)
    model.coef_ = good
    model.dual_coef_ = model.dual_coef_ * np.inf
    with pytest.raises(ValueError, match="was altered"):
        model.certify(A, z)
