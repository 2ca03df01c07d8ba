"""The doctor before a fit, and the preparation of tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, NuSVC
from maxmargin.model_selection import diagnose
from maxmargin.model_selection.findings import greatest_nu
from maxmargin.model_selection.subsamples import Samples, folds_of, nested_order
from maxmargin.model_selection.tables import SETTINGS, TablePreparation


def names(diagnosis):
    return [one.name for one in diagnosis]


def numbers(n=60, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


# ---- findings ------------------------------------------------------------------------------------


def test_nothing_to_mend():
    X, y = load_iris(return_X_y=True)
    assert names(diagnose(X, y, cost=False)) == ["kernel"]


def test_every_finding_has_numbers_and_a_remedy():
    X = pd.DataFrame(numbers(), columns=["a", "b", "c"])
    X["big"], X["same"] = 1e6 * X.a, 3.0
    X["id"] = [f"person {k}" for k in range(60)]
    X["code"] = [str(k % 17) for k in range(60)]
    X.loc[:4, "b"] = np.nan
    y = np.where(np.arange(60) < 3, "rare", "usual")
    found = diagnose(X, y, nu=0.5)
    assert names(found) == [
        "missing",
        "constant",
        "unscaled",
        "numbers as words",
        "identifiers",
        "small classes",
        "imbalance",
        "infeasible nu",
        "kernel",
    ]
    assert "5 values (1.2%)" in found["missing"].text
    assert "same" in found["constant"].text
    assert "big reaches" in found["unscaled"].text
    assert "id" in found["identifiers"].text
    assert "code" in found["numbers as words"].text
    assert "5.00%" in found["imbalance"].text
    assert all(one.remedy.endswith(".") for one in found)
    assert "problem: nu = 0.5 is infeasible" in str(found)
    with pytest.raises(KeyError, match="found were: missing"):
        found["cost"]


def test_infinite_values_and_one_class_are_problems():
    X = numbers()
    X[3, 1] = np.inf
    assert [one.level for one in diagnose(X)] == ["problem"]
    assert "one class" in diagnose(numbers(), np.zeros(60), task="classification")
    with pytest.raises(ValueError, match="task must be"):
        diagnose(X, task="ranking")


def test_contradictions_are_a_floor_of_the_training_error():
    X = np.repeat(numbers(20), 3, axis=0)
    y = np.tile([0, 1, 1], 20)
    y[:3] = 1  # this group agrees
    text = diagnose(X, y, cost=False)["contradictions"].text
    assert "57 samples" in text
    best = 1 - 19 / 60
    assert f"{best:.1%}" in text
    assert SVC(C=1e6, gamma=100).fit(X, y).score(X, y) == pytest.approx(best)


def test_contradictions_bound_r2():
    X, z = np.repeat(numbers(20), 2, axis=0), np.arange(40.0)
    text = diagnose(X, z, task="regression", cost=False)["contradictions"].text
    means = np.repeat(z.reshape(-1, 2).mean(axis=1), 2)
    assert f"{1 - np.mean((z - means) ** 2) / z.var():.4f}" in text


@pytest.mark.parametrize("counts", [(10, 30), (9, 20, 31)])
def test_the_greatest_nu_is_the_greatest_feasible(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    X, nu = numbers(sum(counts)), greatest_nu(y)
    NuSVC(nu=0.999 * nu).fit(X, y)
    with pytest.raises(ValueError, match="infeasible"):
        NuSVC(nu=1.01 * nu).fit(X, y)
    assert "infeasible nu" not in diagnose(X, y, nu=0.999 * nu, cost=False)
    assert "infeasible nu" in diagnose(X, y, nu=1.01 * nu, cost=False)


@pytest.mark.parametrize(
    ("n", "d", "word"), [(50, 80, "linear"), (500, 5, "RBF"), (60_000, 2, "n^2")]
)
def test_the_rule_of_features_against_samples(n, d, word):
    X = sparse.random(n, d, 0.2, format="csr", random_state=0)
    assert word in diagnose(X)["kernel"].text


def test_the_cost_is_measured():
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 4))
    finding = diagnose(X, X[:, 0] > 0)["cost"]
    assert "on 1,500 samples (measured on 1,000" in finding.text


# ---- tables --------------------------------------------------------------------------------------


def table():
    return pd.DataFrame(
        {
            "number": [1.0, np.nan, 3.0, 5.0],
            "word": ["a", "b", None, "a"],
            "flag": [True, False, True, True],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", None, "2020-01-04"]),
            "whole": pd.array([1, None, 3, 4], dtype="Int64"),
        }
    )


def test_each_kind_of_column():
    features = TablePreparation().fit_transform(table())
    filled = np.array([[1, 1, 1], [3, 2, 3], [3, 2, 3], [5, 4, 4]], float)
    np.testing.assert_allclose(features[:, :3], StandardScaler().fit_transform(filled))
    np.testing.assert_array_equal(
        features[:, 3:6], [[0, 0, 0], [1, 0, 1], [0, 1, 0], [0, 0, 0]]
    )  # indicators
    # "a" is a feature; "b", None and False, each once, are those of rare values
    np.testing.assert_array_equal(
        features[:, 6:], [[1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0]]
    )


def test_polars_and_pandas_agree():
    frame = table()
    ours = TablePreparation().fit(frame)
    np.testing.assert_allclose(
        ours.transform(frame), TablePreparation().fit_transform(pl.from_pandas(frame))
    )
    assert "4 with missing values" in ours.describe()


def test_unknown_values_are_rare_ones():
    prepared = TablePreparation().fit([["a"], ["a"], ["b"]])
    np.testing.assert_array_equal(prepared.transform([["z"]]), prepared.transform([["b"]]))


def test_wide_tables_stay_sparse():
    words = np.array([[f"w{k % 90}", f"v{k % 80}", f"u{k % 70}", f"t{k % 75}"] for k in range(400)])
    features = TablePreparation().fit_transform(words)
    assert sparse.issparse(features)
    assert features.shape[1] > SETTINGS.dense


# ---- subsamples ----------------------------------------------------------------------------------


def test_beginnings_of_the_order_are_stratified():
    random = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], [700, 280, 20])
    folds = folds_of(5, y, None, True, random)
    samples = Samples(
        np.arange(1000)[:, None], y, None, folds, nested_order(y, folds, True, random)
    )
    for m in (100, 300, 1000):
        part = samples.part(m)
        assert part.size == m
        np.testing.assert_array_equal(y[part.X[:, 0]], part.y)
        assert len(part.folds) == 5
        for train, test in part.folds:
            assert len(train) + len(test) == m
            assert abs(len(test) - m / 5) <= 3
            assert set(part.y[train]) == {0, 1, 2}
    assert set(samples.part(100).X[:, 0]) < set(samples.part(300).X[:, 0])
    assert abs(np.mean(samples.part(300).y == 0) - 0.7) < 0.05
