"""Ranking: the time of the loss of all pairs, of whole fits, and the quality of the rankings.

    make bench-ranking                    the three tables
    make bench-ranking ARGS="--most 5"    up to 10^5 samples

The data look like those of a search engine: each query has its own level and spread of features,
its documents have grades 0 to 4, relative to the query, and features know them in part. Queries of
the test set are new.
"""

import argparse
import time

import numpy as np

from maxmargin import LinearSVR, RankSVC, RankSVR
from maxmargin.metrics import kendall_tau_score, ndcg_score
from maxmargin.structured.ranking import rank_loss

FEATURES = 30


def documents(queries: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, grades and queries of documents."""
    rng, w = np.random.default_rng(seed), np.random.default_rng(99).normal(size=FEATURES)
    qid = np.repeat(np.arange(queries), size)
    latent = rng.normal(size=(len(qid), FEATURES))
    worth = latent @ w / np.sqrt(FEATURES) + 0.7 * rng.normal(size=len(qid))
    rank = np.argsort(np.argsort(worth.reshape(queries, size), axis=1), axis=1) / size
    grade = np.searchsorted([0.5, 0.75, 0.9, 0.97], rank.ravel())
    level, spread = rng.normal(size=(2, queries, FEATURES))
    X = (latent + 2.0 * level[qid]) * np.exp(0.3 * spread[qid])
    return X, grade.astype(float), qid


def seconds(work, repeats: int = 3) -> float:
    """The least time of some runs."""
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def losses(most: int) -> None:
    """The time of one tangent, by the number of samples and of levels of one query."""
    print("The loss of all pairs of one query (ms, and ns for each n log2 n)\n")
    print("| n | pairs | 2 levels | 5 levels | n levels | queries of 100 |")
    print("|---|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for exponent in range(4, most + 1):
        n = 10**exponent
        s, one, cells = rng.normal(size=n), np.zeros(n, np.int64), []
        targets = [rng.integers(0, 2, n), rng.integers(0, 5, n), rng.normal(size=n)]
        for y, query in [*((y, one) for y in targets), (targets[2], np.arange(n) // 100)]:
            loss = rank_loss(y.astype(np.float64), query, np.ones(n))
            took = seconds(lambda loss=loss, s=s: loss(s))
            cells.append(f"{1e3 * took:.1f} ({1e9 * took / (n * np.log2(n)):.1f})")
        print(f"| 10^{exponent} | {n * (n - 1) / 2:.1g} | {' | '.join(cells)} |", flush=True)


def fits(most: int) -> None:
    """The time of fits, by the number of documents."""
    print(f"\nWhole fits, {FEATURES} features, queries of 100, C = 0.1 (s)\n")
    print("| n | RankSVC | planes | RankSVR | planes |")
    print("|---|---|---|---|---|")
    for exponent in range(4, most + 1):
        X, y, qid = documents(10**exponent // 100, 100, 0)
        cells = []
        for model in (RankSVC(C=0.1), RankSVR(C=0.1)):
            took = seconds(lambda model=model, X=X, y=y, qid=qid: model.fit(X, y, qid=qid), 1)
            cells += [f"{took:.2f}", str(model.n_iter_)]
            assert model.certificate_.status == "optimal"
        print(f"| 10^{exponent} | {' | '.join(cells)} |", flush=True)


def quality() -> None:
    """NDCG and Kendall's tau on new queries."""
    X, y, qid = documents(200, 40, 1)
    Z, z, new = documents(500, 40, 2)
    print("\nNew queries: 200 of 40 documents to learn from, 500 to rank\n")
    print("| model | NDCG@10 | Kendall's tau | s |")
    print("|---|---|---|---|")

    def show(name: str, s: np.ndarray, took: float) -> None:
        ndcg = ndcg_score(z, s, qid=new, k=10, gain="exponential")
        print(f"| {name} | {ndcg:.3f} | {kendall_tau_score(z, s, qid=new):.3f} | {took:.2f} |")

    show("random order", np.random.default_rng(0).normal(size=len(z)), 0.0)
    for name, model, options in (
        ("LinearSVR on the grades", LinearSVR(C=0.01), {}),
        ("RankSVC", RankSVC(C=0.01), {"qid": qid}),
        ("RankSVR", RankSVR(C=0.01), {"qid": qid}),
        ("RankSVC, RBF kernel", RankSVC(kernel="rbf", C=0.1, tol=1e-3), {"qid": qid}),
    ):
        took = seconds(lambda model=model, options=options: model.fit(X, y, **options), 1)
        show(name, model.predict(Z), took)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=int, default=6, help="log10 of the greatest n")
    most = parser.parse_args().most
    losses(most)
    fits(most)
    quality()
