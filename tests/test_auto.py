"""AutoSVC and AutoSVR: mixed tables in, a model and a report out, within a time."""

import pickle
import time
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GroupKFold,
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)

from maxmargin import SVC, LinearSVC, io
from maxmargin.model_selection import AutoSVC, AutoSVR
from maxmargin.model_selection.auto_finals import Finals
from maxmargin.model_selection.auto_plan import Settings
from maxmargin.model_selection.auto_report import _greatest
from maxmargin.model_selection.explorer import Explorer
from maxmargin.model_selection.trials import (
    Cost,
    Trial,
    best,
    difference,
    finalists,
    interval,
    on_edge,
    optimism,
)

SMALL = Settings(C=(0.1, 1.0, 10.0), gamma=(0.1, 1.0, 10.0), linear_C=(0.1, 1.0), zooms=1)


class QuickSVC(AutoSVC):
    """With a small grid."""

    _plan = SMALL


class QuickSVR(AutoSVR):
    """With a small grid."""

    _plan = SMALL._replace(epsilon=(0.1, 0.3))


def mixed(n=300, seed=0):
    """A table of numbers, words, booleans and gaps, with labels that need all of them."""
    random = np.random.default_rng(seed)
    number, city = random.normal(size=n), random.choice(["Rome", "Oslo", "Lima"], n)
    flag, count = random.random(n) < 0.5, random.integers(0, 9, n)
    value = number + 1.5 * (city == "Oslo") - 1.2 * flag + 0.3 * (count - 4)
    y = np.where(value + 0.3 * random.normal(size=n) > 0, "yes", "no")
    frame = pd.DataFrame({"number": number, "city": city, "flag": flag, "count": count})
    frame.loc[random.random(n) < 0.1, "number"] = np.nan
    frame.loc[random.random(n) < 0.1, "city"] = None
    return frame, y


# ---- tables --------------------------------------------------------------------------------------


def test_mixed_tables_of_pandas_and_polars_give_the_same_model():
    X, y = mixed()
    ours = QuickSVC().fit(X, y)
    assert ours.score(X, y) > 0.85
    assert list(ours.feature_names_in_) == list(X.columns)
    theirs = QuickSVC().fit(pl.from_pandas(X), y)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    unknown = X.assign(city="Bern").iloc[:5]
    assert set(ours.predict(unknown)) <= {"yes", "no"}


def test_rows_of_python_objects_and_sparse_data():
    X, y = mixed(120)
    rows = [[None if v is None or v != v else v for v in row] for row in X.to_numpy().tolist()]
    by_rows, by_frame = QuickSVC().fit(rows, y), QuickSVC().fit(X, y)
    np.testing.assert_allclose(by_rows.decision_function(rows), by_frame.decision_function(X))
    X, y = make_classification(150, 8, random_state=0)
    dense = np.where(np.abs(X) < 0.7, 0.0, X)
    model = QuickSVC().fit(sparse.csr_matrix(dense), y)
    assert model.score(sparse.csc_matrix(dense), y) > 0.7


def test_a_column_that_changes_its_kind_is_named():
    X, y = mixed(100)
    model = QuickSVC().fit(X, y)
    with pytest.raises(ValueError, match=r"Column number of X was numbers in fit.*'many'"):
        model.predict(X.assign(number="many"))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.rename(columns={"city": "town"}))


# ---- the choice ----------------------------------------------------------------------------------


def test_the_score_is_that_of_cross_validation():
    """An independent fit of every candidate of the report, on the same folds."""
    X, y = make_moons(120, noise=0.3, random_state=0)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=3).split(X, y))
    model = QuickSVC(cv=folds).fit(X, y)
    features = model.best_estimator_[0].transform(X)
    assert model.report_.trials[-1].samples == 120
    for trial in model.report_.trials:
        machine = LinearSVC() if trial.kernel == "linear" else SVC()
        scores = cross_val_score(machine.set_params(**trial.parameters), features, y, cv=folds)
        np.testing.assert_allclose(trial.scores, scores, atol=0.034)  # a vote on the boundary
        assert trial.mean == pytest.approx(np.mean(trial.scores))
    assert model.best_score_ == max(one.mean for one in model.report_.trials)


def test_the_model_is_that_of_its_parameters():
    X, y = make_moons(120, noise=0.2, random_state=0)
    model = QuickSVC().fit(X, y)
    assert model.best_params_["kernel"] == "rbf"
    assert "beats the best linear machine" in str(model.report_)
    parameters = {name: model.best_params_[name] for name in ("C", "gamma")}
    features = model.best_estimator_[0].transform(X)
    lone = SVC(**parameters).fit(features, y)
    np.testing.assert_allclose(model.decision_function(X), lone.decision_function(features))
    assert model.certificate_.status == "optimal"
    np.testing.assert_array_equal(model.predict(X), model.best_estimator_.predict(X))
    proba = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))


def test_linear_wins_where_the_scores_do_not_tell_the_kernels_apart():
    """A gain of one standard error is luck now and then."""
    linear = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        X = random.normal(size=(200, 3))
        y = X @ [1.0, -2.0, 0.5] + random.normal(size=200) > 0
        model = QuickSVC().fit(X, y)
        linear.append(model.best_params_["kernel"] == "linear")
        simpler = any("simpler" in line for line in model.report_.sections()["Choice"])
        assert simpler == linear[-1]
    assert sum(linear) >= 3
    assert QuickSVC(kernel="rbf").fit(X, y).best_params_["kernel"] == "rbf"


def test_a_regression_does_not_depend_on_the_units_of_y():
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, (150, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * random.normal(size=150)
    small, large = QuickSVR().fit(X, y), QuickSVR().fit(X, 1e5 * y)
    assert small.score(X, y) > 0.9
    assert small.best_params_["kernel"] == "rbf"
    for name, unit in (("C", 1e5), ("epsilon", 1e5), ("gamma", 1.0)):
        assert large.best_params_[name] == pytest.approx(unit * small.best_params_[name])
    np.testing.assert_allclose(large.predict(X), 1e5 * small.predict(X), rtol=1e-2, atol=1e3)


def test_the_grid_grows_beyond_an_edge():
    """A chessboard that needs a gamma far above the greatest one of the grid."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (250, 2))
    y = np.sin(5 * X[:, 0]) * np.sin(5 * X[:, 1]) > 0
    narrow = SMALL._replace(gamma=(0.01, 0.1), C=(0.1, 1.0))
    model = type("Narrow", (QuickSVC,), {"_plan": narrow})(kernel="rbf").fit(X, y)
    assert model.best_params_["gamma"] > 1.0
    assert model.best_params_["C"] > 1.0
    assert model.best_score_ > 0.8


# ---- other folds ---------------------------------------------------------------------------------


def test_candidates_within_the_noise_are_scored_with_other_folds():
    """An independent fit of every finalist, with ten folds in each round."""
    X, y = make_moons(200, noise=0.3, random_state=0)
    model = QuickSVC(kernel="rbf").fit(X, y)
    random, features = np.random.RandomState(0), model.best_estimator_[0].transform(X)
    search, *rounds = (
        list(StratifiedKFold(k, shuffle=True, random_state=random).split(X, y))
        for k in (5, 10, 10, 10)
    )
    report = model.report_
    assert {one.partitions for one in report.finals} >= {1, 3}
    splits = [fold for folds in rounds for fold in folds]
    for one, folds in [(t, search) for t in report.trials] + [(t, splits) for t in report.finals]:
        folds = folds[: len(one.scores)]
        scores = cross_val_score(SVC(**one.parameters), features, y, cv=folds)
        np.testing.assert_allclose(one.scores, scores, atol=0.051)  # a vote on the boundary
    last = [one for one in report.finals if one.partitions == 3]
    assert model.best_score_ == max(one.mean for one in last)
    assert "(3 times 10 folds)" in " ".join(str(report).split())


def test_the_linear_rival_has_the_same_folds():
    X, y = make_moons(200, noise=0.3, random_state=0)
    report = QuickSVC().fit(X, y).report_
    assert report.rival.kernel == "linear"
    assert report.rival.folds == report.chosen.folds == 10
    assert report.rival.partitions == report.chosen.partitions == 3


def test_a_users_folds_are_the_only_ones():
    X, y = make_moons(120, noise=0.3, random_state=0)
    report = QuickSVC(cv=StratifiedKFold(4)).fit(X, y).report_
    assert report.finals == ()
    assert not report.limited


class Noisy:
    """Stands in for an Explorer: candidates of known quality, whose scores are noisy."""

    def __init__(self, seed, quality):
        self.random, self.quality = np.random.default_rng(seed), quality
        self.samples, self.interrupted, self.left = SimpleNamespace(others=[0] * 3), False, 100.0
        self.finals = []
        self.trials = [trial(0, C=C)._replace(scores=self._scores(C)) for C in quality]

    def _scores(self, C):
        return tuple(self.quality[C] + 0.02 * self.random.normal(size=5))

    def of(self, kernel):
        return self.trials

    def best(self, kernel):
        return best(self.finals or self.trials) if kernel == "rbf" else None

    def predicted_again(self, trials):
        return 60.0 if len(trials) > 2 else 1.0

    def repeat(self, trials, k, limit):
        for one in trials:
            new = one._replace(scores=self._scores(one.parameters["C"]), partitions=1)
            self.finals.append(one.joined(new) if k else new)
        return True


def test_other_folds_find_better_candidates():
    """Of candidates that differ by less than the noise."""
    quality = {float(C): 0.8 - 0.001 * C for C in range(12)}
    before, after = [], []
    for seed in range(100):
        explorer = Noisy(seed, quality)
        before.append(quality[explorer.best("rbf").parameters["C"]])
        Finals(explorer).run(90.0)
        after.append(quality[explorer.best("rbf").parameters["C"]])
    assert np.mean(after) > np.mean(before) + 0.0005


def test_a_round_that_is_too_long_has_fewer_candidates():
    explorer = Noisy(1, dict.fromkeys(map(float, range(12)), 0.8))
    finals = Finals(explorer)
    finals.run(50.0)
    assert finals.limited
    assert {len(explorer.finals), max(one.partitions for one in explorer.finals)} == {6, 3}


def test_a_round_that_does_not_end_counts_for_nothing(monkeypatch):
    X, y = make_moons(150, noise=0.3, random_state=0)
    again = Explorer.repeat
    monkeypatch.setattr(
        Explorer, "repeat", lambda self, trials, k, limit: again(self, trials, k, 0)
    )
    report = QuickSVC(kernel="rbf").fit(X, y).report_
    assert report.finals == ()
    assert report.limited


# ---- intervals -----------------------------------------------------------------------------------


def test_a_regression_has_intervals():
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, (1200, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.2 * random.normal(size=1200)
    model = QuickSVR().fit(X[:200], y[:200])
    interval = model.predict_interval(X[200:], 0.8)
    assert 0.7 < np.mean((interval[:, 0] <= y[200:]) & (y[200:] <= interval[:, 1])) < 0.9
    features = model.best_estimator_[0].transform(X[200:])
    np.testing.assert_array_equal(
        interval, model.best_estimator_[-1].predict_interval(features, 0.8)
    )
    assert "Intervals come from samples held out" in str(model.report_)
    plain = QuickSVR(interval=False).fit(X[:200], y[:200])
    assert "Intervals" not in str(plain.report_)
    with pytest.raises(ValueError, match="fitted without intervals"):
        plain.predict_interval(X)
    assert not hasattr(QuickSVC(), "predict_interval")


def test_intervals_are_left_out_if_they_take_too_long(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 2))
    y = X[:, 0] ** 2 + 0.1 * random.normal(size=150)
    measure = Explorer.measure

    def slow(self, kernel, *arguments):
        measure(self, kernel, *arguments)
        self.calibration[kernel] = 1e9

    monkeypatch.setattr(Explorer, "measure", slow)
    with pytest.warns(ConvergenceWarning, match="intervals were left out"):
        model = QuickSVR().fit(X, y)
    assert "Intervals were left out" in " ".join(str(model.report_).split())
    assert model.score(X, y) > 0.8


# ---- weights, folds, seeds -----------------------------------------------------------------------


def test_weights_count_samples():
    X, y = make_moons(90, noise=0.3, random_state=0)
    weight = np.where(np.arange(90) % 3 == 0, 0.0, 2.0)
    folds = [(np.arange(90) % 5 != k, np.arange(90) % 5 == k) for k in range(5)]
    model = QuickSVC(cv=folds).fit(X, y, weight)
    used = weight > 0
    without = QuickSVC(cv=[(a[used], b[used]) for a, b in folds]).fit(
        X[used], y[used], weight[used]
    )
    assert model.best_params_ == without.best_params_
    np.testing.assert_allclose(model.decision_function(X), without.decision_function(X))


def test_groups_and_scoring():
    X, y = load_breast_cancer(return_X_y=True)
    X, y, groups = X[:150], y[:150], np.arange(150) // 10
    model = QuickSVC(cv=GroupKFold(3), scoring="roc_auc").fit(X, y, groups=groups)
    assert model.best_score_ > 0.97
    assert model.score(X, y) > 0.97
    assert "roc auc" in str(model.report_)


def test_a_score_of_probabilities():
    X, y = make_moons(100, noise=0.3, random_state=0)
    model = QuickSVC(scoring="neg_log_loss").fit(X, y)
    assert -0.6 < model.best_score_ < 0
    assert model.score(X, y) == pytest.approx(-log_loss(y, model.predict_proba(X)))
    with pytest.raises(ValueError, match="scores probabilities: use probability=True"):
        QuickSVC(scoring="neg_log_loss", probability=False).fit(X, y)


def test_a_scorer_that_raises():
    X, y = load_iris(return_X_y=True)

    def broken(estimator, X, y):
        raise RuntimeError("no score today")

    with pytest.raises(ValueError, match=r"All the .* fits of the search failed.*no score today"):
        QuickSVC(scoring=broken).fit(X, y)


def test_the_same_seed_gives_the_same_model():
    X, y = make_moons(400, noise=0.3, random_state=0)
    plan = SMALL._replace(sizes=((50, 10), (150, 10)))
    Staged = type("Staged", (QuickSVC,), {"_plan": plan})
    one, two = (Staged(random_state=1).fit(X, y) for _ in range(2))
    assert not one.report_.limited
    assert "same seed gives the same model" in str(one.report_)
    assert [t[:4] for t in one.report_.trials] == [t[:4] for t in two.report_.trials]
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    sizes = sorted({trial.samples for trial in one.report_.trials})
    assert sizes == [50, 150, 400]  # a column, the coarse grid, all samples
    assert one.report_.chosen.samples == 400


def test_it_is_an_estimator():
    X, y = mixed(100)
    model = QuickSVC(time_budget=30, random_state=2)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert str(copy.report_) == str(model.report_)


def test_a_model_can_be_saved(tmp_path):
    X, y = mixed(60)
    model = QuickSVC().fit(X, y)
    io.save(model, tmp_path / "model.mm")
    loaded = io.load(tmp_path / "model.mm")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


# ---- time ----------------------------------------------------------------------------------------


def test_a_short_time_gives_a_model():
    X, y = make_classification(4000, 20, n_informative=8, n_classes=4, random_state=0)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = AutoSVC(time_budget=1).fit(X, y)
    assert time.perf_counter() - began < 5  # the tests share their machine
    assert model.report_.limited
    assert "The time limited the search" in str(model.report_)
    assert model.score(X, y) > 0.4


def test_no_time_at_all_is_said():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="no candidate could be scored.*Raise time_budget"):
        model = AutoSVC(time_budget=1e-3).fit(X, y)
    assert "unknown" in str(model.report_)
    assert model.score(X, y) > 0.8
    with pytest.raises(ValueError, match="nothing can be drawn"):
        model.report_.plot()


def test_a_last_fit_that_is_too_long_gets_a_subsample(monkeypatch):
    """Where the measured cost says that all samples take too long."""
    X, y = make_moons(600, noise=0.3, random_state=0)
    plan = SMALL._replace(sizes=((50, 10), (150, 10)))

    def slow(self, kernel, machine, m, limit):
        self.costs[kernel] = Cost(m, 10.0, 2.0)

    monkeypatch.setattr(Explorer, "measure", slow)
    predicted = Explorer.predicted
    monkeypatch.setattr(
        Explorer, "predicted", lambda self, m, grid: predicted(self, m, grid) if m < 150 else 1e9
    )
    Staged = type("Staged", (QuickSVC,), {"_plan": plan})
    with pytest.warns(ConvergenceWarning, match="of 600 samples"):
        model = Staged(time_budget=20, kernel="rbf").fit(X, y)
    assert model.n_samples_fit_ < 600
    assert "would have taken longer" in str(model.report_)


def test_ctrl_c_keeps_the_best_so_far(monkeypatch):
    X, y = make_moons(200, noise=0.3, random_state=0)
    stage = Explorer.run
    calls = []

    def interrupted(self, kernel, m, grid, limit):
        calls.append(m)
        if len(calls) == 3:
            raise KeyboardInterrupt
        stage(self, kernel, m, grid, limit)

    monkeypatch.setattr(Explorer, "run", interrupted)
    model = QuickSVC(on_interrupt="keep").fit(X, y)
    assert model.report_.interrupted
    assert "Ctrl-C" in str(model.report_)
    assert model.score(X, y) > 0.8
    calls.clear()
    fresh = QuickSVC()
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X, y)
    assert not hasattr(fresh, "report_")


# ---- the report ----------------------------------------------------------------------------------


def test_the_report_says_what_was_done():
    X, y = mixed(200)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = QuickSVC().fit(train, y_train)
    text = " ".join(str(model.report_).split())
    for part in (
        "150 samples",
        "with missing values",
        "standard error",
        "95% interval",
        "optimistic",
        "Certificate: optimal",
        "of 60 s",
    ):
        assert part in text
    assert "<h4>Choice</h4>" in model.report_._repr_html_()
    trial = model.report_.chosen
    low, high = interval(trial)
    assert low < trial.mean < high
    count = len(trial.scores)
    t = student.ppf(0.975, count - 1) * np.std(trial.scores, ddof=1)
    t *= np.sqrt(1 / count + 1 / (trial.folds - 1))
    assert high - trial.mean == pytest.approx(t)  # Nadeau and Bengio
    assert low < model.score(test, y_test) < high


def trial(mean, C=1.0, gamma=1.0, samples=100, kernel="rbf", spread=0.01):
    scores = tuple(mean + spread * np.array([-1, 0, 1, 0, 0]))
    return Trial(kernel, {"C": C, "gamma": gamma}, samples, scores)


def test_an_interval_ends_at_the_greatest_score():
    """Student's own does not."""
    for scoring, most in ((None, 1.0), ("roc_auc", 1.0), ("neg_log_loss", 0.0), (len, np.inf)):
        assert _greatest(AutoSVC(scoring=scoring)._score_name()) == most
    assert _greatest(AutoSVR()._score_name()) == 1.0
    wide = trial(0.99, spread=0.05)
    assert interval(wide)[1] > 1
    report = QuickSVC(kernel="linear").fit(*mixed(60)).report_
    text = str(replace(report, chosen=wide, trials=(wide,), rival=None))
    assert "to 1.0000." in " ".join(text.split())


def test_the_best_trial_has_most_samples_and_the_smoothest_function():
    found = best(
        [trial(0.9, samples=50), trial(0.8, C=10), trial(0.8, C=2), trial(0.8, C=2, gamma=3)]
    )
    assert found == trial(0.8, C=2)
    part = Trial("rbf", {"C": 1.0, "gamma": 1.0}, 100, (0.99, np.nan, np.nan, np.nan, np.nan))
    assert best([part, trial(0.7)]) == trial(0.7)
    assert best([]) is None


def test_candidates_within_the_noise_are_finalists():
    noisy = trial(0.8, C=1)._replace(scores=(0.84, 0.76, 0.8, 0.79, 0.8))
    trials = [trial(0.7, C=0.1), trial(0.81, C=100), noisy, trial(0.9, samples=50)]
    assert finalists(trials, 8) == [trials[1], noisy]
    assert finalists(trials, 1) == [trials[1]]
    again = trials[1].joined(trials[1])
    assert finalists([again, noisy], 8) == [again]
    assert finalists([], 8) == []


def test_scores_of_several_partitions():
    """Nadeau and Bengio's error falls with the number of scores, but not to zero."""
    one = trial(0.8)
    four = one.joined(one).joined(one.joined(one))
    assert (four.partitions, four.folds, four.done) == (4, 5, 20)
    assert four.mean == pytest.approx(one.mean)
    expected = np.std(four.scores, ddof=1) * np.sqrt(1 / 20 + 1 / 4)
    assert four.error == pytest.approx(expected)
    gain, _ = difference(four, trial(0.7))  # on the folds that both have
    assert gain == pytest.approx(0.1)


def test_an_edge_is_strictly_better():
    trials = [trial(0.7, C=1), trial(0.8, C=10), trial(0.9, C=100)]
    assert on_edge(trials, trials[2], "C") == 1
    assert on_edge([*trials, trial(0.1, C=1000)], trials[2], "C") == 0
    assert on_edge([trial(0.9, C=1), *trials], trials[2], "C") == 0  # a plateau
    assert on_edge(trials[:1], trials[0], "C") == 0


def test_optimism_and_differences():
    a, b = trial(0.8), trial(0.8, C=10)._replace(scores=(0.81, 0.8, 0.79, 0.8, 0.8))
    assert optimism([a, b], a) == pytest.approx(0.02 / 5)
    gain, error = difference(trial(0.85), trial(0.8, kernel="linear"))
    assert (gain, error) == (pytest.approx(0.05), pytest.approx(0.0, abs=1e-12))
    _, apart = difference(trial(0.85), trial(0.8, samples=50))
    assert apart > 0.005


def test_costs_are_extrapolated():
    cost = Cost(1000, 1.0, 2.0).then(2000, 2**2.4)
    assert cost.exponent == pytest.approx(2.2)  # the mean of what was assumed and measured
    assert cost.at(4000) == pytest.approx(2**4.6)
    assert cost.within(2**4.6) == pytest.approx(4000, abs=1)
    assert Cost(1000, 1.0, 2.0).then(2000, 0.1).exponent == pytest.approx(1.5)
    assert Cost(1000, 1.0, 2.0).then(2000, 99.0).exponent == pytest.approx(2.5)


def test_bad_input():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="time_budget"):
        AutoSVC(time_budget=0).fit(X, y)
    with pytest.raises(ValueError, match="greater than one"):
        AutoSVC().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="infinity: 1 values, in the columns 2"):
        AutoSVC().fit(np.where(X[3, 2] == X, np.inf, X)[:4], y[:4])
    with pytest.raises(ValueError, match="requires y"):
        AutoSVC().fit(X, None)
    with pytest.raises(ValueError, match="words are classes"):
        AutoSVR().fit(X, y.astype(str).astype(object) + "a")
