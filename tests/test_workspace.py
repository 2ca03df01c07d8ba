"""Views of a workspace (class pairs, folds) and what it keeps from solve to solve."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from maxmargin import SVC, Kernel
from maxmargin.kernel.formulations import c_svc
from maxmargin.kernel.multiclass import members_of
from maxmargin.kernel.sources import NativeSource, make_source
from maxmargin.kernel.training import Task
from maxmargin.kernel.views import Cells, View
from maxmargin.kernel.workspace import KernelWorkspace, Samples
from maxmargin.monitor import Monitor
from maxmargin.training import train_many

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 6))
label = rng.integers(0, 4, size=90)
members = members_of(label, 4)
SIGN = np.where(X[:, 0] > 0, 1.0, -1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pair_has_the_values_of_the_whole_kernel(dtype):
    source = NativeSource(Kernel.rbf(gamma=0.3), X)
    cells = Cells(source, members)
    whole = source.block(None, None, dtype)
    for i, j in ((0, 1), (1, 3), (0, 3)):
        index = np.concatenate([members[i], members[j]])
        pair = View(source, index, cells)
        assert np.array_equal(pair.block(None, None, dtype), whole[np.ix_(index, index)])
        some = np.array([3, 0, 7])
        assert np.array_equal(
            pair.block(some, some, dtype), whole[np.ix_(index[some], index[some])]
        )
        other = np.array([2, 5])
        for a, b in ((some, other), (some, None), (None, other)):
            wanted = whole[
                np.ix_(index if a is None else index[a], index if b is None else index[b])
            ]
            assert np.array_equal(pair.block(a, b, dtype), wanted)
            out = np.empty_like(wanted)
            pair.fill_block(a, b, out)
            assert np.array_equal(out, wanted)
        rows = np.zeros((5, len(index)), dtype)
        pair.fill_rows(some, rows, np.array([4, 0, 2]))
        assert np.array_equal(rows[[4, 0, 2]], whole[np.ix_(index[some], index)])
        np.testing.assert_allclose(
            pair.product(some, np.ones(3)), whole[np.ix_(index[some], index)].sum(axis=0), rtol=1e-5
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_rows_have_the_values_of_the_whole_kernel(dtype):
    """A union of cells (the training set of a fold), or other rows in any order."""
    source = NativeSource(Kernel.rbf(gamma=0.3), X)
    cells, whole = Cells(source, members), source.block(None, None, dtype)
    unions = [(0, 1, 2), (3, 1, 0), (0, 1, 2, 3), (2,)]
    for chosen in unions:
        assert cells.covering(np.concatenate([members[c] for c in chosen])) == chosen
    others = [rng.permutation(90)[:40], members[0][::-1], members[0][1:], np.empty(0, np.int64)]
    for rows in others:
        assert cells.covering(rows) == ()
    for rows in (*(np.concatenate([members[c] for c in chosen]) for chosen in unions), *others):
        view = View(source, rows, cells)
        assert np.array_equal(view.block(None, None, dtype), whole[np.ix_(rows, rows)])
        assert np.array_equal(
            view.block(np.arange(len(rows))[:1], None, dtype), whole[rows[:1]][:, rows]
        )


def test_members_of_classes():
    assert [list(m) for m in members_of(np.array([2, 0, 2, 3]), 4)] == [[1], [], [0, 2], [3]]


@pytest.mark.parametrize("wide", [False, True])
def test_pairs_of_a_fit_are_the_binary_fits(wide):
    """Three classes of 700 rows, cheap and expensive kernels.

    Every pair's values are those of a fit of these two classes.
    """
    data, y = make_blobs(2100, n_features=5, centers=3, cluster_std=5.0, random_state=0)
    if wide:
        data = np.hstack([data, np.random.default_rng(1).normal(scale=0.1, size=(2100, 95))])
    model = SVC(C=10, gamma=0.02, decision_function_shape="ovo").fit(data, y)
    assert model.certificate_.status == "optimal"
    values = model.decision_function(data[:200])
    for k, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        both = np.isin(y, (i, j))
        alone = SVC(C=10, gamma=0.02).fit(data[both], np.where(y[both] == i, 1, 0))
        np.testing.assert_allclose(values[:, k], alone.decision_function(data[:200]), atol=5e-3)


def test_dense_data_of_few_non_zeros_give_the_model_of_csr():
    """Compressed or CSR, the kernel is the same but for centring, and so are the decision values
    to the tolerance."""
    Z = rng.random((1400, 40)) * (rng.random((1400, 40)) < 0.15)
    y = Z[:, 0] + Z[:, 1] - Z[:, 2] + 0.2 * rng.normal(size=1400) > 0
    dense, csr = (
        SVC(C=5, gamma=1.0, tol=1e-5).fit(Z, y),
        SVC(C=5, gamma=1.0, tol=1e-5).fit(sparse.csr_matrix(Z), y),
    )
    assert dense.certificate_.status == csr.certificate_.status == "optimal"
    np.testing.assert_allclose(
        dense.decision_function(Z[:100]),
        csr.decision_function(sparse.csr_matrix(Z[:100])),
        atol=1e-4,
    )
    far = SVC(C=5, gamma=1.0, tol=1e-5).fit(1e3 + Z, y)  # no zeros left: centred instead
    np.testing.assert_allclose(
        far.decision_function(1e3 + Z[:100]), dense.decision_function(Z[:100]), atol=1e-4
    )


class Counting(NativeSource):
    """Notes the shapes of the blocks it computes."""

    def __init__(self, *arguments):
        self.asked = []
        super().__init__(*arguments)

    def block(self, a, b, dtype):
        self.asked.append(tuple(90 if i is None else len(i) for i in (a, b)))
        return super().block(a, b, dtype)


def test_values_inside_a_class_are_computed_once_for_all_its_pairs():
    source = Counting(Kernel.rbf(gamma=0.3), X)
    cells, sizes = Cells(source, members), [len(m) for m in members]

    def whole(i, j, dtype):
        return View(source, np.concatenate([members[i], members[j]]), cells).block(
            None, None, dtype
        )

    for i, j in ((0, 1), (0, 2), (1, 2)):
        whole(i, j, np.float64)
    assert source.asked == [(sizes[c], sizes[c]) for c in (0, 1, 2)]
    whole(0, 1, np.float32)
    assert len(source.asked) == 5, "in each precision"


def test_a_pair_is_a_part_of_the_whole_source():
    source = NativeSource(Kernel.rbf(gamma=0.3), X)
    cells = Cells(source, members)
    index = np.concatenate([members[2], members[0]])
    pair = View(source, index, cells)
    assert (pair.n_rows, pair.n_columns) == (len(index), len(index))
    assert (pair.value_error, pair.dtypes, pair.cheap, pair.convex) == (
        source.value_error,
        source.dtypes,
        source.cheap,
        source.convex,
    )
    assert pair.suspects(5).tolist() == source.suspects(5, index).tolist()
    by = pair.by_differences()
    assert by.differences
    np.testing.assert_allclose(
        by.block(None, None, np.float64), source.block(index, index, np.float64), rtol=1e-10
    )
    assert np.shares_memory(
        pair.block(None, None, np.float64),
        View(source, index[::-1].copy()[::-1], cells).block(None, None, np.float64),
    ), "used again"
    assert cells.scratch is cells.scratch


# ---- what is kept --------------------------------------------------------------------------------


def workspace_of(source, **more):
    return KernelWorkspace(source, Monitor(), samples=Samples(source.kernel, X), **more)


def tasks_of_folds(tol=1e-8):
    """A C-SVC for each fold, on the samples that are not in it."""
    folds = [np.flatnonzero(label != c) for c in range(4)]
    return [
        Task(c_svc(SIGN[rows], 2.0, np.ones(len(rows)), False), tol, rows=rows) for rows in folds
    ]


def test_folds_are_views_and_use_the_values_that_are_kept():
    source = Counting(Kernel.rbf(gamma=0.3), X)
    workspace = workspace_of(source)
    workspace.whole()
    source.asked.clear()
    views = [workspace.view(task.rows) for task in tasks_of_folds()]
    for view in views:
        K = NativeSource(source.kernel, X).block(view.source.rows, view.source.rows, np.float64)
        assert np.array_equal(view.whole().K, K)
    assert not source.asked, "no value is computed again"
    for task, found in zip(tasks_of_folds(), train_many(tasks_of_folds(), workspace), strict=True):
        alone = KernelWorkspace.of(source.kernel, X[task.rows], Monitor())
        wanted = task._replace(rows=None).train(alone)
        assert found.certificate.status == wanted.certificate.status == "optimal"
        assert found.certificate.primal == pytest.approx(wanted.certificate.primal, rel=1e-9)


def test_problems_on_all_samples_share_what_is_kept():
    """One after the other, not side by side."""
    source = Counting(Kernel.rbf(gamma=0.3), X)
    workspace = workspace_of(source)
    one, other = (workspace.share(Monitor(), 1, 2) for _ in range(2))
    assert one.whole() is other.whole() is workspace.whole()
    assert one.rows(np.float64) is other.rows(np.float64)
    beside = workspace.share(Monitor(), 2, 2)
    assert beside.whole() is workspace.whole()
    assert beside.rows(np.float64) is not one.rows(np.float64)
    one.forget()
    assert other.whole() is one.whole() is not beside.whole()


@pytest.mark.parametrize("data", [X, sparse.csr_matrix(np.where(X > 0.5, X, 0.0)), 1e3 + X])
def test_distances_that_are_kept_serve_every_gamma(data):
    workspace = KernelWorkspace.of(Kernel.rbf(gamma=0.3), data, Monitor(), members=members)
    workspace.keep_distances()
    D = workspace.kept.distances
    dense = data.toarray() if sparse.issparse(data) else data
    np.testing.assert_allclose(D, ((dense[:, None] - dense) ** 2).sum(axis=2), rtol=1e-9, atol=1e-9)
    for gamma in (1e-3, 0.3, 17.0):
        other = workspace.with_kernel(Kernel.rbf(gamma=gamma))
        assert other.kept.distances is D
        K = make_source(Kernel.rbf(gamma=gamma), data).block(None, None, np.float64)
        np.testing.assert_allclose(other.whole().K, K, rtol=1e-9, atol=1e-12)
        assert other.cells.source is other.source
    linear = workspace.with_kernel(Kernel.linear())
    np.testing.assert_allclose(linear.whole().K, dense @ dense.T, rtol=1e-9, atol=1e-9)


def test_distances_that_float64_does_not_hold_are_not_kept():
    far = np.vstack([X, 1e12 + X])
    workspace = KernelWorkspace.of(Kernel.rbf(gamma=0.3), far, Monitor())
    assert workspace.source.differences
    workspace.keep_distances()
    assert workspace.kept.distances is None


def test_kept_distances_do_not_serve_a_gamma_that_needs_differences():
    twins = np.vstack([X, X + 1e-6])
    workspace = KernelWorkspace.of(Kernel.rbf(gamma=0.3), twins, Monitor())
    workspace.keep_distances()
    assert workspace.kept.distances is not None
    other = workspace.with_kernel(Kernel.rbf(gamma=1e9))
    assert other.source.differences
    assert np.array_equal(other.whole().K, other.source.block(None, None, np.float64))


def test_a_view_with_another_kernel_is_of_the_same_samples():
    workspace = KernelWorkspace.of(Kernel.rbf(gamma=0.3), X, Monitor())
    other = workspace.view(members[1]).with_kernel(Kernel.linear())
    np.testing.assert_allclose(other.whole().K, X[members[1]] @ X[members[1]].T, atol=1e-12)


@pytest.mark.parametrize("stored", [False, True])
def test_a_view_of_a_view_is_of_its_samples(stored):
    workspace = KernelWorkspace.of(Kernel.rbf(gamma=0.3), X, Monitor())
    fold, pair = np.arange(len(X))[::-2], np.array([4, 0, 7])
    view = (workspace.stored() if stored else workspace).view(fold).view(pair)
    rows = fold[pair]
    wanted = np.exp(-0.3 * ((X[rows][:, None] - X[rows]) ** 2).sum(axis=2))
    np.testing.assert_allclose(view.whole().K, wanted, rtol=1e-9)
    np.testing.assert_array_equal(view.samples.own, X[rows])
