"""The data of linear models: products over all samples or some, in memory or in chunks, and Gram
matrices brought up to date."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.linear.designs import ArrayDesign, ChunkDesign
from maxmargin.linear.gram import IncrementalGram

rng = np.random.default_rng(10)
n, d = 30, 4
A = np.where(rng.random((n, d)) < 0.3, 0.0, rng.normal(size=(n, d)))
w, t = rng.normal(size=d), rng.normal(size=n)
ROWS = np.array([0, 3, 4, 9, 10, 11, 29])


def chunks(X):
    return ChunkDesign(
        lambda: (X[a:b] for a, b in ((0, 4), (4, 4), (4, 10), (10, 25), (25, n))), X.shape
    )


DESIGNS = {
    "dense": ArrayDesign(A),
    "float32": ArrayDesign(A.astype(np.float32)),
    "sparse": ArrayDesign(sparse.csr_matrix(A)),
    "chunks": chunks(A),
    "sparse chunks": chunks(sparse.csr_matrix(A)),
}


@pytest.mark.parametrize("rows", [None, ROWS, ROWS[:2], ROWS[-1:], ROWS[:0]], ids=str)
@pytest.mark.parametrize("form", DESIGNS)
def test_products(form, rows):
    design, some = DESIGNS[form], range(n) if rows is None else rows
    weight = t if rows is None else t[: len(rows)]
    rtol = 1e-5 if form == "float32" else 1e-12
    X = A[list(some)]
    np.testing.assert_allclose(
        design.values(w, rows),
        [sum(a * b for a, b in zip(x, w, strict=True)) for x in X],
        rtol=rtol,
        atol=1e-6 * rtol,
    )
    total = sum((v * x for v, x in zip(weight, X, strict=True)), np.zeros(d))
    np.testing.assert_allclose(design.sum(weight, rows), total, rtol=rtol, atol=10 * rtol)
    gram = sum(
        (v * np.outer(x, x) for v, x in zip(np.abs(weight), X, strict=True)), np.zeros((d, d))
    )
    np.testing.assert_allclose(design.gram(np.abs(weight), rows), gram, rtol=rtol, atol=10 * rtol)


def test_samples_without_a_weight_are_not_looked_at(monkeypatch):
    from maxmargin.core.choose import HOST as core

    seen, real = [], core.linear_sum
    monkeypatch.setattr(
        core, "linear_sum", lambda X, rows, t: seen.append(len(t)) or real(X, rows, t)
    )
    for zeros, looked in ((0, n), (8, n), (9, n), (10, n - 10), (n - 2, 2)):
        some = np.where(np.arange(n) < zeros, 0.0, t)
        np.testing.assert_allclose(ArrayDesign(A).sum(some), A.T @ some, atol=1e-12)
        assert seen.pop() == looked


def test_sizes_of_designs():
    squares = [float(x @ x) for x in A]
    for form in ("dense", "sparse"):
        np.testing.assert_allclose(DESIGNS[form].squares, squares)
        assert DESIGNS[form].largest_square == pytest.approx(max(squares))
        np.testing.assert_allclose(DESIGNS[form].products(ROWS), A[ROWS] @ A[ROWS].T)
        np.testing.assert_allclose(DESIGNS[form].pick(ROWS).values(w), A[ROWS] @ w)
        for W in (w[None], np.stack([w, -w]), np.stack([w, 2 * w, -w])):
            np.testing.assert_allclose(DESIGNS[form].values_of_all(W), A @ W.T)
            np.testing.assert_array_equal(
                DESIGNS[form].values_of_all(W)[:7],
                DESIGNS[form].pick(np.arange(7)).values_of_all(W),
            )
    single, W = A.astype(np.float32), np.stack([w, 2 * w, -w])
    np.testing.assert_allclose(
        DESIGNS["float32"].values_of_all(W), single.astype(np.float64) @ W.T, rtol=1e-12
    )
    assert DESIGNS["chunks"].largest_square == 0.0, "another pass would be needed"
    assert DESIGNS["dense"].entries == DESIGNS["chunks"].entries == n * d
    assert DESIGNS["sparse"].entries == np.count_nonzero(A)
    assert [DESIGNS[form].precise for form in ("dense", "float32", "sparse")] == [True, False, True]


def test_chunks_that_change_are_refused():
    def design(read):
        return ChunkDesign(read, (n, d))

    for read, message in (
        (lambda: [A[:10]], r"10 samples, 30 before$"),
        (lambda: [A, A[:1]], r"31 x 4 so far, \(30, 4\) before"),
        (lambda: [A[:, :3]], r"30 x 3 so far"),
        (iter([A]).__iter__, None),
    ):
        one = design(read)
        if message is None:
            one.values(w)
            message = r"0 samples, 30 before; read\(\) must start again at each call"
        with pytest.raises(ValueError, match=message):
            one.values(w)


class Counted(ArrayDesign):
    """Counts the samples whose products are computed."""

    samples = 0

    def gram(self, weight, rows=None):
        assert (weight > 0).all()
        self.samples += len(weight)
        return super().gram(weight, rows)


def gram_of(rows, weight):
    return sum(
        (v * np.outer(A[i], A[i]) for i, v in zip(rows, weight, strict=True)), np.zeros((d, d))
    )


def spread(rows, weight):
    """The weights of all samples: 0 where they are not listed."""
    return np.bincount(rows, weight, minlength=n).astype(float)


def test_only_samples_that_enter_or_leave_are_looked_at():
    """Unless these are more than 70 % of all; samples whose weights all change in proportion
    stay."""
    weight = np.abs(t)
    weight[n - 1] = 10.0  # the greatest, which is always there
    for gone, added, factor, looked in (
        (0, 0, 5.0, 0),
        (3, 0, 1.0, 3),
        (0, 4, 2.0, 4),
        (2, 4, 1.0, 6),
        (14, 0, 1.0, 10),
        (0, 0, 1.0, 0),
    ):
        design = Counted(A)
        gram = IncrementalGram(design.gram, 0.7)
        before = np.arange(6, n)
        np.testing.assert_allclose(
            gram.of_scaled(spread(before, weight[before])),
            gram_of(before, weight[before]),
            atol=1e-12,
        )
        assert design.samples == n - 6
        design.samples = 0
        after = (
            np.arange(6 - added, n)
            if not gone
            else np.r_[np.arange(6 - added, 6), np.arange(6 + gone, n)]
        )
        np.testing.assert_allclose(
            gram.of_scaled(spread(after, factor * weight[after])),
            gram_of(after, factor * weight[after]),
            atol=1e-11,
        )
        assert design.samples == looked, (gone, added)


def test_a_gram_matrix_is_computed_anew_after_many_changes():
    design = Counted(A)
    gram, looked = IncrementalGram(design.gram, 0.7), []
    for k in range(64):
        rows = np.arange(k % 2, n)
        weight = np.ones(len(rows))
        design.samples = 0
        np.testing.assert_allclose(
            gram.of_scaled(spread(rows, weight)), gram_of(rows, weight), atol=1e-12
        )
        looked.append(design.samples)
    assert [k for k, samples in enumerate(looked) if samples > 1] == [0, 31, 62]
    assert not gram.of_scaled(np.zeros(n)).any()
