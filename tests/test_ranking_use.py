"""Rankers in use: scores by query, searches, bad input, limits, files."""

import pickle
import signal

import numpy as np
import pytest
import sklearn
from scipy.stats import kendalltau
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer
from sklearn.metrics import ndcg_score as scikit_learns
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers import settings
from maxmargin import RankSVC, RankSVR, io, monitor
from maxmargin.metrics import kendall_tau_score, ndcg_score
from maxmargin.structured.ranking import RankLoss

BOTH = (RankSVC, RankSVR)


def searches(queries=12, size=10, seed=0):
    """Queries whose samples have grades 0 to 3, and features that know them in part."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(queries), size)
    X = rng.normal(size=(len(qid), 4)) + rng.normal(size=(queries, 4))[qid]
    y = np.clip(np.round(X @ [1.0, -0.5, 0.5, 0.0] + 0.5 * rng.normal(size=len(X))), 0, 3)
    return X, y, qid


# ---- scores --------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_scores_by_query_are_those_of_scikit_learn_and_scipy(k, gain):
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(6, 50))
        qid, y = rng.integers(0, 4, n), rng.integers(0, 4, n).astype(float)
        y[:2], qid[:2] = (0, 1), 0
        s = np.round(rng.normal(size=n), int(rng.integers(0, 3)))  # with ties
        ndcg, tau = [], []
        for q in np.unique(qid):
            own = qid == q
            if len(np.unique(y[own])) > 1:
                gains = y[own] if gain == "linear" else 2 ** y[own] - 1
                ndcg.append(scikit_learns([gains], [s[own]], k=k))
                found = kendalltau(y[own], s[own]).statistic
                tau.append(0.0 if np.isnan(found) else found)  # all scores are equal
        assert ndcg_score(y, s, qid=qid, k=k, gain=gain) == pytest.approx(np.mean(ndcg))
        assert kendall_tau_score(y, s, qid=qid) == pytest.approx(np.mean(tau))


def test_the_best_order_scores_1_and_its_reverse_the_least():
    _, y, qid = searches()
    assert ndcg_score(y, y, qid=qid) == pytest.approx(1)
    assert kendall_tau_score(y, y, qid=qid) == pytest.approx(1)
    assert kendall_tau_score(y, -y, qid=qid) == pytest.approx(-1)
    assert kendall_tau_score(y, np.zeros(len(y)), qid=qid) == 0


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"y_true": [1, 1, 2, 2]}, "nothing to rank"),
        ({"qid": [1, 2, 3, 4]}, "nothing to rank"),
        ({"qid": [1, 2]}, "qid has 2 entries, but there are 4"),
        ({"y_score": [0.1, np.nan, 0.0, 1.0]}, "y_score contains NaN"),
        ({"y_score": [0.1]}, "inconsistent numbers of samples"),
        ({"y_true": [0, -1, 0, 1]}, "negative targets, the least is -1"),
        ({"y_true": [0, 5000, 0, 1], "gain": "exponential"}, "exceeds the range"),
        ({"k": 0}, "k=0"),
        ({"gain": "cubic"}, "'linear' or 'exponential'"),
    ],
)
def test_scores_name_what_is_wrong(changes, match):
    given = {"y_true": [0, 1, 0, 1], "y_score": [0.1, 0.2, 0.3, 0.4], "qid": [1, 1, 2, 2]}
    ndcg_score(**given)
    with pytest.raises(ValueError, match=match):
        ndcg_score(**given | changes)


def test_a_model_is_scored_by_query():
    X, y, qid = searches()
    model = RankSVC().fit(X, y, qid=qid)
    s = model.predict(X)
    assert model.score(X, y, qid=qid) == kendall_tau_score(y, s, qid=qid)
    assert model.score(X, y, qid=qid) > 0.6
    assert model.score(X, y) == kendall_tau_score(y, s) != model.score(X, y, qid=qid)


# ---- in scikit-learn's tools ---------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_a_search_keeps_queries_together_and_routes_them(cls):
    X, y, qid = searches()
    order = np.random.default_rng(1).permutation(len(y))
    X, y, qid = X[order], y[order], qid[order]
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            cls().set_fit_request(qid=True),
            {"C": [0.001, 1.0]},
            scoring=make_scorer(ndcg_score, k=5).set_score_request(qid=True),
            cv=GroupKFold(3),
        ).fit(X, y, qid=qid, groups=qid)
    model = cls(**search.best_params_)
    by_hand = []
    for train, test in GroupKFold(3).split(X, y, groups=qid):
        s = clone(model).fit(X[train], y[train], qid=qid[train]).predict(X[test])
        by_hand.append(ndcg_score(y[test], s, qid=qid[test], k=5))
    assert search.best_score_ == pytest.approx(np.mean(by_hand))


def test_the_own_score_takes_queries_too():
    X, y, qid = searches()
    with sklearn.config_context(enable_metadata_routing=True):
        model = RankSVC().set_fit_request(qid=True).set_score_request(qid=True)
        found = cross_val_score(model, X, y, cv=GroupKFold(3), params={"qid": qid, "groups": qid})
    assert found.shape == (3,)
    assert found.min() > 0.3


def test_a_pipeline_passes_queries_on():
    X, y, qid = searches()
    model = make_pipeline(StandardScaler(), RankSVC()).fit(X, y, ranksvc__qid=qid)
    assert kendall_tau_score(y, model.predict(X), qid=qid) > 0.6


def test_folds_without_a_pair_are_an_error():
    X, y, qid = searches(queries=1)
    with pytest.raises(ValueError, match="nothing to rank"):
        RankSVC().fit(X, y, qid=qid).score(X[:1], y[:1], qid=qid[:1])
    with pytest.raises(ValueError, match="number of splits n_splits=3 greater than the number of"):
        list(GroupKFold(3).split(X, y, groups=qid))


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"qid": np.arange(120)}, "120 samples in 120 queries, and the targets of each"),
        ({"y": np.ones(120)}, "120 samples in 12 queries"),
        ({"qid": np.arange(5)}, "qid has 5 entries, but there are 120 samples"),
        ({"qid": np.r_[np.nan, np.ones(119)]}, "qid contains NaN or infinity in 1 places"),
        ({"qid": np.ones((120, 2))}, "1d array"),
        ({"y": np.r_[np.nan, np.ones(119)]}, "NaN"),
        ({"y": np.resize(["good", "bad"], 120)}, "could not convert string to float"),
        ({"sample_weight": np.full(120, -1.0)}, "zero or negative weights"),
        ({"sample_weight": np.r_[1.0, np.zeros(119)]}, "1 sample in 1 query"),
        ({"X": np.full((120, 4), 1e200)}, "too large to be squared"),
    ],
)
@pytest.mark.parametrize("cls", BOTH)
def test_bad_input_is_named(cls, changes, match):
    X, y, qid = searches()
    model = cls()
    with pytest.raises(ValueError, match=match):
        model.fit(**{"X": X, "y": y, "qid": qid} | changes)
    assert not hasattr(model, "model_")


@pytest.mark.parametrize("gamma", [0.01, 1.0])
def test_a_kernel_that_is_not_positive_semidefinite_proves_nothing(gamma):
    X, y, qid = searches()
    with pytest.warns(ConvergenceWarning, match="the kernel is not positive semidefinite"):
        model = RankSVC(kernel="sigmoid", gamma=gamma, coef0=-0.5).fit(X, y, qid=qid)
    assert model.certificate_.status in ("stationary", "stalled")
    assert model.certificate_.convexity == "indefinite"
    assert model.score(X, y, qid=qid) > 0.5


# ---- certificates, limits, files -----------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("cls", BOTH)
def test_certify_agrees_with_the_fit_and_refutes_other_data(cls, kernel):
    X, y, qid = searches()
    weight = np.resize([1.0, 2.0, 0.0], len(y))
    model = cls(kernel=kernel).fit(X, y, qid=qid, sample_weight=weight)
    known, found = model.certificate_, model.certify(X, y, qid=qid, sample_weight=weight)
    assert known.status == found.status == "optimal"
    assert found.primal == pytest.approx(known.primal)
    assert found.dual == pytest.approx(known.dual)
    assert model.certify(X, -y, qid=qid, sample_weight=weight).status == "refuted"
    assert model.certify(X, y, sample_weight=weight).status == "refuted"
    with pytest.raises(ValueError, match="120 samples, got 119"):
        model.certify(X[1:], y[1:], qid=qid[1:])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_fit_that_ends_early_says_so_and_goes_on(kernel):
    X, y, qid = searches(queries=100)
    model = RankSVC(kernel=kernel, C=10.0, max_iter=5, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model.fit(X, y, qid=qid)
    early = model.certificate_
    assert early.status == "max_iter"
    assert model.n_iter_ == 5
    assert model.certify(X, y, qid=qid).status == "max_iter"
    model.set_params(max_iter=-1).fit(X, y, qid=qid)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal < early.primal
    again = model.fit(X, y, qid=qid)
    assert again.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-4)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        RankSVC(kernel=kernel, time_limit=0.0).fit(X, y, qid=qid)


@pytest.mark.parametrize("choice", ["raise", "keep"])
def test_ctrl_c_raises_or_keeps_the_best_model(choice, monkeypatch):
    X, y, qid = searches()
    calls, real = [], RankLoss.__call__

    def interrupted(loss, s):
        calls.append(s)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return real(loss, s)

    monkeypatch.setattr(RankLoss, "__call__", interrupted)
    model = RankSVC(on_interrupt=choice)
    if choice == "raise":
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y, qid=qid)
        assert not hasattr(model, "model_")
        return
    with pytest.warns(ConvergenceWarning, match="Interrupted from the keyboard"):
        model.fit(X, y, qid=qid)
    assert model.certificate_.status == "interrupted"
    assert model.score(X, y, qid=qid) > 0.3


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("cls", BOTH)
def test_models_are_saved_and_pickled(cls, kernel, tmp_path):
    X, y, qid = searches()
    X = X @ X.T if kernel == "precomputed" else X
    model = cls(kernel=kernel, C=0.1).fit(X, y, qid=qid)
    io.save(model, tmp_path / "model.mm")
    for other in (io.load(tmp_path / "model.mm"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.predict(X), model.predict(X))
        assert other.certificate_ == model.certificate_
        assert other.certify(X, y, qid=qid).status == "optimal"


def test_an_altered_model_is_refused(tmp_path):
    X, y, qid = searches()
    model = RankSVC().fit(X, y, qid=qid)
    model.model_.coef[0, 0] = np.nan
    with pytest.raises(ValueError, match="was altered"):
        model.predict(X)
    with pytest.raises(ValueError, match="was altered"):
        io.save(model, tmp_path / "model.mm")


def test_kernel_values_of_unequal_sizes_end_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(100.0, 3.0, size=(30, 2)), rng.integers(0, 2, 30)
    model = RankSVC(kernel="poly").fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.n_iter_ < 1000


SVM_RANK = """\
SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d
1 # kernel parameter -g
1 # kernel parameter -s
1 # kernel parameter -r
empty# kernel parameter -u
4 # highest feature index
62 # number of training documents
2 # number of support vectors plus 1
0 # threshold b, each following line is a SV (starting with alpha*y)
1 1:-0.5 2:0.25 4:2 #
"""


def test_svm_ranks_model_files_are_read_and_written(tmp_path):
    X, y, qid = searches()
    path = tmp_path / "model"
    path.write_text(SVM_RANK)
    scores = io.load_svm_light(path, regression=True).predict(X)
    assert scores == pytest.approx(X @ [-0.5, 0.25, 0.0, 2.0])
    for kernel in ("linear", "rbf"):
        model = RankSVC(kernel=kernel).fit(X, y, qid=qid)
        io.save_svm_light(model, path)
        read = io.load_svm_light(path, regression=True)
        assert read.predict(X) == pytest.approx(model.predict(X), rel=1e-12)


def test_svm_ranks_objective_is_that_of_weights_of_queries():
    """svm_rank_learn -c 20 -l 1 and -l 2: sums and means over the pairs of each query."""
    X, y, qid = searches(queries=4, size=20)
    size = np.bincount(qid)
    pairs = np.array([(y[qid == q][:, None] > y[qid == q]).sum() for q in range(4)])
    for weight, each in ((pairs / size, np.ones(4)), (1 / size, 1 / pairs)):
        model = RankSVC(C=20 / 4).fit(X, y, qid=qid, sample_weight=weight[qid])
        s, w = model.predict(X), model.coef_[0]
        lost = [
            each[q] * max(0.0, 1 - (s[i] - s[j]))
            for q in range(4)
            for i in np.flatnonzero(qid == q)
            for j in np.flatnonzero(qid == q)
            if y[i] > y[j]
        ]
        assert model.certificate_.primal == pytest.approx(w @ w / 2 + 5 * sum(lost))


def test_other_formats_say_that_they_hold_no_ranking(tmp_path):
    X, y, qid = searches()
    model = RankSVC(kernel="rbf").fit(X, y, qid=qid)
    with pytest.raises(TypeError, match="RankSVC is not a kernel machine"):
        io.save_libsvm(model, tmp_path / "model")


def test_progress_is_shown(capfd, monkeypatch):
    settings(monkeypatch, monitor, report_every=0.0)
    X, y, qid = searches()
    RankSVC(verbose=True).fit(X, y, qid=qid)
    shown = capfd.readouterr()
    assert "RankSVC: " in shown.out + shown.err
