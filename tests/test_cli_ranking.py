"""Rankings on the command line: queries of svmlight text and of tables."""

from pathlib import Path

import numpy as np
import pytest

from command import answer, run
from maxmargin import RankSVC, io
from maxmargin.io import dump_svmlight
from maxmargin.metrics import kendall_tau_score, ndcg_score


@pytest.fixture(autouse=True)
def searches(tmp_path, monkeypatch):
    """The same queries as svmlight text and as a table."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    qid, X = np.repeat(np.arange(1, 11), 8), rng.normal(size=(80, 3)).round(3)
    y = np.clip(np.round(X @ [1.0, -1.0, 0.5] + 0.5 * rng.normal(size=80)), 0, 3)
    dump_svmlight(X, y, "searches.svm", query_id=qid)
    rows = [f"{a},{b},{c},q{q},{z:g}" for (a, b, c), q, z in zip(X, qid, y, strict=True)]
    Path("searches.csv").write_text("\n".join(["one,two,three,search,grade", *rows, ""]))
    return X, y, qid


TABLE = ["searches.csv", "--target", "grade", "--query", "search"]
TEXT = ["searches.svm"]


@pytest.mark.parametrize("data", [TEXT, TABLE], ids=["svmlight", "csv"])
def test_a_ranking_is_trained_scored_and_used(data, searches):
    X, y, qid = searches
    found = answer("train", data[0], "model.mm", *data[1:], "--problem", "rank-svc", "-C", "0.5")
    model = RankSVC(C=0.5).fit(X, y, qid=qid)
    s = model.predict(X)
    assert found["queries"] == 10
    assert found["training_kendall_tau"] == pytest.approx(kendall_tau_score(y, s, qid=qid))
    assert found["training_ndcg"] == pytest.approx(ndcg_score(y, s, qid=qid))
    used = answer("predict", data[0], "model.mm", *data[1:])
    assert used["predictions"] == pytest.approx(s)
    assert type(io.load("model.mm")) is RankSVC
    assert used["kendall_tau"] == found["training_kendall_tau"]


def test_folds_are_made_of_whole_queries(searches):
    found = answer(
        "train", *TEXT, "model.mm", "--problem", "rank-svr", "--cv", "5", "--scale=minmax"
    )
    assert 0.3 < found["cross_validation"]["kendall_tau"] < 1
    result = run("train", *TEXT, "model.mm", "--problem", "rank-svc", "--cv", "11", code=1)
    assert "11 folds of a ranking need at least 11 queries (qid), there are 10" in result.stderr


def test_targets_without_an_order_have_no_score(searches):
    X, _, qid = searches
    run("train", *TEXT, "model.mm", "--problem", "rank-svc")
    dump_svmlight(X, np.ones(80), "same.svm", query_id=qid)
    assert "kendall_tau" not in answer("predict", "same.svm", "model.mm")
    dump_svmlight(X, -X[:, 0], "negative.svm", query_id=qid)
    found = answer("predict", "negative.svm", "model.mm")
    assert "ndcg" not in found
    assert found["kendall_tau"] < 0


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (["train", *TABLE, "--problem", "svr"], 2, "svr has no queries: leave --query out"),
        (["train", *TEXT, "--problem", "rank-svc", "--query", "1"], 1, "as qid:"),
        (["train", *TEXT, "--problem", "rank-svc", "--tune"], 1, "a ranking needs whole queries"),
        (
            ["train", "searches.csv", "--target", "grade", "--query", "grade"],
            2,
            "svc has no queries",
        ),
        (
            ["train", *TABLE, "--problem", "rank-svc", "--ignore", "search"],
            1,
            "holds the queries and cannot be ignored",
        ),
        (
            ["train", *TABLE, "--problem", "rank-svc", "--weight", "search"],
            1,
            "cannot be both the weights and the queries",
        ),
    ],
)
def test_misuse_is_named(line, code, message):
    result = run(*line, code=code)
    assert message in result.stderr


def test_rows_without_a_query_are_named():
    table = Path("searches.csv")
    table.write_text(table.read_text().replace("q3", "", 1))
    result = run("train", *TABLE, "--problem", "rank-svc", code=1)
    assert "'search' holds the queries and is empty in 1 rows, the first is row 17" in result.stderr
