"""Linear models: scikit-learn's checks, stopping, progress, warm starts, certificates, hard data, C
by cross-validation."""

import logging
import pickle
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

import needs
from helpers import assert_close, assert_same_bits, binary, in_subprocess, three
from maxmargin import SVC, LinearOneClassSVM, LinearSVC, LinearSVCCV, LinearSVR
from maxmargin.linear import workspace

X, label = binary(120)
Z = X[:, 0] - X[:, 1] + 0.2 * np.random.default_rng(0).normal(size=120)
FOUR = {
    "hinge": LinearSVC(loss="hinge"),
    "squared_hinge": LinearSVC(),
    "tube": LinearSVR(epsilon=0.1),
    "one-class": LinearOneClassSVM(nu=0.211),
}
ITEMS = pytest.mark.parametrize("model", FOUR.values(), ids=FOUR)
SOLVERS = pytest.mark.parametrize("solver", ["newton", "coordinate"])


def fresh(model, **changes):
    """An unfitted copy with other parameters."""
    return clone(model).set_params(**changes)


def data(model, n=120):
    """X and the target for one of FOUR, as many samples as wanted."""
    draw = np.random.default_rng(1)
    A = X if n == 120 else draw.normal(size=(n, 30))
    f = Z if n == 120 else A[:, 0] - A[:, 1] + draw.normal(size=n)
    if isinstance(model, LinearOneClassSVM):
        return A + 2.0, None
    return A, f if isinstance(model, LinearSVR) else (f > 0).astype(int)


def values(model, A):
    """Decision values or predictions."""
    return model.decision_function(A) if hasattr(model, "decision_function") else model.predict(A)


# ---- budgets, interruption, progress -------------------------------------------------------------


@SOLVERS
@ITEMS
def test_max_iter(model, solver):
    A, z = data(model, 6000)
    model = fresh(model, solver=solver, tol=1e-10, max_iter=2)
    message = (
        rf"{type(model).__name__} failed to converge: The tolerance was not reached: raise "
        r"max_iter.*Relative gap .*\(tol=1e-10\)"
    )
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model.fit(A, z)
    assert caught[0].filename == __file__
    assert model.certificate_.status == "max_iter"
    assert model.n_iter_ == 2
    assert model.certificate_.relative_gap > 1e-10
    assert np.isfinite(values(model, A)).all()
    assert model.certify(A, z).status == "max_iter"


@SOLVERS
@ITEMS
def test_time_limit(model, solver):
    A, z = data(model, 6000)
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time_limit seconds passed"):
        model = fresh(model, solver=solver, time_limit=0.0).fit(A, z)
    assert time.perf_counter() - began < 5
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.n_iter == 0


def test_the_warning_counts_problems_and_no_step_is_allowed():
    A, y = three(90)
    with pytest.warns(ConvergenceWarning, match=r"\(3 of 3 problems\)"):
        model = LinearSVC(max_iter=0).fit(A, y)
    assert model.n_iter_ == 0
    assert len(model.certificate_.parts) == 3


def test_interrupt_keeps_or_raises():
    shown = in_subprocess("""
        import os, signal, threading, time, warnings
        import numpy as np
        from maxmargin import LinearSVC
        warnings.simplefilter("ignore")
        draw = np.random.default_rng(0)
        X = draw.normal(size=(5000, 60))
        y = (X[:, 0] + draw.normal(size=5000) > 0).astype(int)

        def read():
            time.sleep(0.05)  # no data are too small to be interrupted
            yield X, y

        for solver in ("newton", "coordinate"):
            for choice in ("keep", "raise"):
                model = LinearSVC(loss="hinge", C=1e6, tol=1e-15, max_iter=10**7)
                model.set_params(solver=solver, on_interrupt=choice)
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
                try:
                    model.fit_chunks(read) if solver == "newton" else model.fit(X, y)
                    print(model.certificate_.status)
                except KeyboardInterrupt:
                    print("raised", hasattr(model, "classes_"))
        """)
    assert shown.split() == ["interrupted", "raised", "False"] * 2


@SOLVERS
@ITEMS
def test_verbose_goes_to_logging(model, solver, caplog, capfd):
    A, z = data(model)
    with caplog.at_level(logging.INFO, logger="maxmargin"):
        fitted = fresh(model, solver=solver, verbose=1, max_iter=10**5).fit(A, z)
    assert f"{type(model).__name__}: {fitted.n_iter_:,} steps, gap " in caplog.text
    assert "support vectors" in caplog.text
    assert caplog.text.rstrip().endswith(": optimal")
    assert capfd.readouterr().out == ""


def test_verbose_names_the_problems(caplog):
    with caplog.at_level(logging.INFO, logger="maxmargin"):
        LinearSVC(verbose=1).fit(*three(90))
    for k in (1, 2, 3):
        assert f"LinearSVC {k}/3: " in caplog.text


# ---- warm starts, pickles, sparse coefficients ---------------------------------------------------


@SOLVERS
@ITEMS
def test_warm_start(model, solver):
    A, z = data(model, 5000)
    assert A.size > workspace.SETTINGS.polish_up_to
    model = fresh(model, solver=solver, tol=1e-4, max_iter=10**5)
    cold = fresh(model).fit(A, z)
    model.set_params(warm_start=True).fit(A, z)
    assert model.n_iter_ == cold.n_iter_
    assert model.fit(A, z).n_iter_ <= max(1, cold.n_iter_ // 5)
    if "C" in model.get_params():
        for C in (1.2, 0.9):
            cold = fresh(model, C=C).fit(A, z)
            model.set_params(C=C).fit(A, z)
            assert model.n_iter_ < cold.n_iter_
            assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-4)
        model.set_params(C=1.0).fit(A, z)
    more, w = np.vstack([A, A[:50] + 0.1]), None if z is None else np.r_[z, z[:50]]
    cold = fresh(model).fit(more, w)
    model.fit(more, w)
    assert model.n_iter_ < cold.n_iter_
    assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-4)


def test_warm_start_with_other_data_starts_cold():
    model = LinearSVC(warm_start=True).fit(X, label)
    for A, y in ((X, np.arange(120) % 3), (X[:20], label[:20]), (X[:, :2].copy(), label)):
        assert_close(
            model.fit(A, y).decision_function(A),
            LinearSVC().fit(A, y).decision_function(A),
            tol=1e-9,
        )


def test_warm_start_continues_after_a_stop():
    A, y = data(LinearSVC(), 6000)
    cold = LinearSVC(loss="hinge", tol=1e-6, solver="newton").fit(A, y)
    model = LinearSVC(
        loss="hinge", tol=1e-6, max_iter=cold.n_iter_ - 2, warm_start=True, solver="newton"
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(A, y)
    assert model.set_params(max_iter=1000).fit(A, y).certificate_.status == "optimal"
    assert model.n_iter_ <= cold.n_iter_ // 2


@ITEMS
def test_pickle_and_clone(model):
    A, z = data(model)
    fitted = fresh(model).fit(A, z)
    again = pickle.loads(pickle.dumps(fitted))
    assert_same_bits(values(again, A), values(fitted, A))
    assert again.certificate_ == fitted.certificate_
    assert clone(fitted).get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        values(clone(fitted), A)


def test_sparsify():
    A, y = three(90)
    model = LinearSVC(loss="hinge").fit(A, y)
    before = model.decision_function(A)
    model.sparsify()
    assert sparse.issparse(model.coef_)
    assert_close(model.decision_function(A), before, tol=1e-14)
    assert model.certify(A, y).status == "optimal"
    assert_close(model.set_params(warm_start=True).fit(A, y).decision_function(A), before, tol=1e-9)


def test_names_of_features():
    pandas = needs.package("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = LinearSVC().fit(frame, label)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("bacd")])


def test_labels_may_be_words():
    words = np.array(["no", "yes"])[label]
    model = LinearSVC().fit(X, words)
    assert model.classes_.tolist() == ["no", "yes"]
    assert_same_bits(
        model.predict(X), np.array(["no", "yes"])[LinearSVC().fit(X, label).predict(X)]
    )
    assert model.certify(X, words).status == "optimal"


# ---- certificates --------------------------------------------------------------------------------


@SOLVERS
@ITEMS
def test_certify(model, solver):
    A, z = data(model)
    fitted = fresh(model, solver=solver, max_iter=10**5).fit(A, z)
    for storage in (np.asarray, sparse.csr_matrix):
        again = fitted.certify(storage(A), z)
        assert again.status == "optimal"
        assert again.primal == pytest.approx(fitted.certificate_.primal, rel=1e-10)
        assert again.gap <= 1e-8 * max(1.0, abs(again.primal))
        assert again.equality_violation <= 1e-9 * fitted.dual_coef_.toarray().__abs__().sum()
        assert again.box_violation <= 1e-12
    other = A + 0.3 * np.random.default_rng(5).normal(size=A.shape)
    assert fitted.certify(other, z).status == "refuted"
    if z is not None:
        assert fitted.certify(A, z[::-1].copy()).status == "refuted"
    with pytest.raises(ValueError, match="another number of samples"):
        fitted.certify(A[:50], None if z is None else z[:50])


def test_certify_wants_the_same_labels_and_a_fit():
    with pytest.raises(ValueError, match="other labels were given"):
        LinearSVC().fit(X, label).certify(X, label + 1)
    with pytest.raises(NotFittedError):
        LinearSVC().certify(X, label)


def test_attributes():
    A, y = three(90)
    model = LinearSVC(class_weight={0: 2.0}).fit(A, y)
    assert (model.coef_.shape, model.intercept_.shape, model.dual_coef_.shape) == (
        (3, 4),
        (3,),
        (3, 90),
    )
    assert_close(model.dual_coef_ @ A, model.coef_, tol=1e-9)
    assert model.class_weight_.tolist() == [2.0, 1.0, 1.0]
    assert type(model.n_iter_) is int
    assert LinearSVC(fit_intercept=False).fit(A, y).intercept_ == 0.0
    assert LinearSVR().fit(X, Z).coef_.shape == (4,)
    novelty = LinearOneClassSVM().fit(X + 2)
    assert_close(
        novelty.score_samples(X) - novelty.offset_, novelty.decision_function(X), tol=1e-15
    )
    assert LinearSVC().fit(X, label).solver_ == "newton"
    wide = sparse.random(50, 5000, 0.02, format="csr", random_state=0)
    assert LinearSVC().fit(wide, np.arange(50) % 2).solver_ == "coordinate"
    assert LinearSVC(dual=True).fit(wide, np.arange(50) % 2).solver_ == "coordinate"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearSVC(intercept_scaling=2.0), "intercept_scaling=2 has no effect"),
        (
            LinearSVC(loss="hinge", dual=False),
            "penalty='l2' and loss='hinge' is not supported when dual=False",
        ),
        (LinearSVC(penalty="l1", loss="hinge"), "The l1 penalty needs loss='squared_hinge'"),
        (LinearSVC(C=0.0), "'C' parameter"),
        (LinearSVC(C=np.inf), "'C' parameter"),
        (LinearSVC(solver="saga"), "'solver' parameter"),
        (LinearSVC(intercept="none"), "'intercept' parameter"),
        (LinearSVR(epsilon=-0.1), "'epsilon' parameter"),
        (LinearSVR(loss="hinge"), "'loss' parameter"),
        (LinearSVC(class_weight={0: -1.0}), "class_weight must be finite and >= 0"),
    ],
)
def test_wrong_parameters(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, label)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(120), "negative"),
        (np.ones(3), "incompatible shapes"),
        (np.zeros(120), "zero"),
        (label * 1.0, "same class"),
    ],
)
def test_wrong_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        LinearSVC().fit(X, label, sample_weight=weight)


# ---- hard data -----------------------------------------------------------------------------------

LINE = np.linspace(-1.0, 1.0, 40)[:, None]
HARD = {
    "constant feature": np.hstack([X, np.full((120, 1), 7.0)]),
    "all zero rows": np.where(np.arange(120)[:, None] % 5 == 0, 0.0, X),
    "all zero": np.zeros((120, 3)),
    "one feature": X[:, :1].copy(),
    "duplicated columns": np.hstack([X, X, X]),
    "offset 1e6": X + 1e6,
    "tiny": X * 1e-6,
    "huge": X * 1e6,
    "mixed scales": X * [1e-6, 1e6, 1.0, 1e3],
    "wide": np.hstack([X, np.random.default_rng(0).normal(size=(120, 300))]),
}


@pytest.mark.parametrize("case", HARD)
@ITEMS
def test_hard_data(model, case):
    """The gap is at rounding or at the tolerance, whatever the data.

    The certificate is confirmed from the data.
    """
    A, z = HARD[case], data(model)[1]
    for storage in (np.asarray, sparse.csr_matrix):
        fitted = fresh(model).fit(storage(A), z)
        assert fitted.certificate_.status == "optimal"
        assert fitted.certify(storage(A), z).status == "optimal"
        assert np.isfinite(values(fitted, storage(A))).all()


def test_separable_with_a_large_C():
    """The hard margin: both losses tend to the maximal margin."""
    A = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [4.0, 5.0]])
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(loss=loss, C=1e8).fit(A, [0, 0, 1, 1])
        assert model.coef_ == pytest.approx(np.array([[2 / 3, 0.0]]), abs=1e-6)
        assert model.intercept_ == pytest.approx([-1.0], abs=1e-6)
        assert model.certificate_.status == "optimal"
    B = X.copy()
    side = (X @ [1.0, 2.0, 0.0, 0.0] > 0).astype(int)
    B += 0.05 * np.where(side == 1, 1, -1)[:, None] * [1.0, 2.0, 0.0, 0.0]
    goal = SVC(kernel="linear", C=np.inf).fit(B, side).decision_function(B)
    assert_close(LinearSVC(loss="hinge", C=1e8).fit(B, side).decision_function(B), goal, tol=1e-5)


def test_few_samples():
    """One sample of each class: the plane half way between them."""
    for n_features in (1, 3, 2000):
        A = np.zeros((2, n_features))
        A[1, 0] = 4.0
        model = LinearSVC(loss="hinge", C=10.0).fit(A, ["a", "b"])
        assert model.decision_function([[2.0] + [0.0] * (n_features - 1)]) == pytest.approx(
            [0.0], abs=1e-9
        )
        assert model.coef_[0, 0] == pytest.approx(0.5)
    model = LinearSVC().fit(np.eye(3), [0, 1, 2])
    assert model.predict(np.eye(3)).tolist() == [0, 1, 2]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_values_too_large_raise():
    with pytest.raises(ValueError, match="too large to be squared"):
        LinearSVC().fit(X * 1e200, label)


# ---- C by cross-validation -----------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("make", [binary, three])
def test_cv_is_a_grid_search(make, loss):
    A, y = make(150, seed=3)
    A = A + 0.8 * np.random.default_rng(0).normal(size=A.shape)
    Cs, folds = [1.0, 1e-3, 1e-2, 0.1, 10.0], StratifiedKFold(4, shuffle=True, random_state=0)
    ours = LinearSVCCV(Cs, cv=folds, estimator=LinearSVC(loss=loss)).fit(A, y)
    search = GridSearchCV(LinearSVC(loss=loss), {"C": sorted(Cs)}, cv=folds).fit(A, y)
    theirs = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(4)])
    assert ours.Cs_.tolist() == sorted(Cs)
    assert_same_bits(ours.scores_, theirs)
    assert search.best_params_["C"] == ours.C_
    assert ours.best_score_ == pytest.approx(search.best_score_)
    assert_same_bits(ours.decision_function(A), search.decision_function(A))
    assert_same_bits(ours.predict(A), ours.estimator_.predict(A))


def test_cv_scoring_weights_and_text():
    words = np.array(["no", "yes"])[label]
    weight = np.random.default_rng(2).integers(1, 4, size=120).astype(float)
    model = LinearSVCCV([0.01, 1.0], cv=KFold(3), scoring="balanced_accuracy").fit(
        sparse.csr_matrix(X), words, sample_weight=weight
    )
    assert set(model.predict(X)) == {"no", "yes"}
    path = [
        LinearSVC(C=0.01).fit(X[train], words[train], weight[train])
        for train, _ in KFold(3).split(X)
    ]
    for k, (_, test) in enumerate(KFold(3).split(X)):
        hit = path[k].predict(X[test]) == words[test]
        goal = np.mean(
            [
                np.average(hit[words[test] == w], weights=weight[test][words[test] == w])
                for w in ("no", "yes")
            ]
        )
        assert model.scores_[k, 0] == pytest.approx(goal)


def test_the_path_is_warm():
    A, y = data(LinearSVC(), 6000)
    Cs = np.logspace(-3, 1, 9)
    base = LinearSVC(loss="hinge", tol=1e-4)
    ours = LinearSVCCV(Cs, cv=2, estimator=base).fit(A, y)
    cold = 0
    for train, _ in StratifiedKFold(2).split(A, y):
        cold += sum(fresh(base, C=C).fit(A[train], y[train]).n_iter_ for C in Cs)
    assert ours.n_iter_.shape == (2, 9)
    assert ours.n_iter_.sum() < cold


@pytest.mark.parametrize("Cs", [[], [0.0, 1.0], [-1.0], [1.0, np.nan], [np.inf], 0, "ten"])
def test_cv_refuses_bad_values(Cs):
    with pytest.raises(ValueError, match="Cs"):
        LinearSVCCV(Cs).fit(X, label)
