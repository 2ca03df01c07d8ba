"""Chunks of online estimators: points that are kept, labels, storage, objects, the kernel."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from helpers import assert_close, assert_same_bits, binary, three
from maxmargin import Kernel, NormaNovelty, NormaSVC, PegasosSVC
from maxmargin.estimators._data import like, stack

X, y = binary(60)
A, z = three(60)
rng = np.random.default_rng(1)


@pytest.mark.parametrize("make", [PegasosSVC, NormaSVC, NormaNovelty])
def test_support_of_chunks_counts_the_points_kept(make):
    """The samples of earlier chunks are gone: indices into them would say nothing."""
    given = make(kernel="rbf", gamma=0.3, alpha=0.1, shuffle=False)
    labels = () if make is NormaNovelty else (y, [0, 1])
    for some in (slice(0, 40), slice(40, 60)):
        given.partial_fit(X[some], *(part[some] if len(part) == 60 else part for part in labels))
    count = len(given.support_vectors_)
    assert 1 < count < 60, "not all samples are support vectors"
    assert given.support_.tolist() == list(range(count))
    assert given.support_.dtype == np.int32
    assert given.n_support_.tolist() == [count]
    assert given.t_ == 60
    fitted = given.fit(X, *labels[:1])
    assert_same_bits(X[fitted.support_], fitted.support_vectors_)


def test_labels_of_chunks():
    first = PegasosSVC()
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        first.partial_fit(X, y, classes=[1])
    with pytest.raises(ValueError, match="y mixes numbers like 1 and words like 'a'"):
        first.partial_fit(X[:2], np.array([1, "a"], dtype=object), classes=[1, 2])
    with pytest.raises(ValueError, match=r"label 7, which is not among the classes \[0, 1\]"):
        first.partial_fit(X[:3], [0, 7, 8], classes=[0, 1])
    with pytest.warns(UserWarning, match="column-vector"):
        columns = PegasosSVC(shuffle=False).partial_fit(X, y[:, None], classes=[0, 1])
    assert_same_bits(
        columns.coef_, PegasosSVC(shuffle=False).partial_fit(X, y, classes=[0, 1]).coef_
    )
    words = np.array(["no", "yes", "maybe"])[z]
    named = PegasosSVC(shuffle=False).partial_fit(A, words, classes=["maybe", "no", "yes"])
    assert named.coef_.shape == (3, 4)
    assert np.mean(named.predict(A) == words) > 0.6
    for k, one in enumerate(named.classes_):
        alone = PegasosSVC(shuffle=False).partial_fit(A, words == one, classes=[False, True])
        assert_close(named.decision_function(A)[:, k], alone.decision_function(A), 1e-12)


def test_points_are_stacked_as_they_are_stored():
    S = sparse.csr_matrix(X)
    for a, b in ((X[:9], X[9:]), (S[:9], X[9:]), (X[:9], S[9:]), (S[:9], S[9:])):
        assert sparse.issparse(like(b, a)) == sparse.issparse(a)
        found = stack(a, like(b, a))
        assert sparse.issparse(found) == sparse.issparse(a)
        np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)
        assert_same_bits(stack(a, b) @ np.ones(4), found @ np.ones(4))
    assert stack(["a"], ["b", "c"]) == ["a", "b", "c"]
    assert like(["b"], ["a"]) == ["b"]


@pytest.mark.parametrize("make", [PegasosSVC, NormaSVC])
def test_chunks_may_be_sparse_or_dense_in_turn(make):
    W = X * (np.abs(X) > 1)  # mostly zeros, so that it is stored and computed as such
    expected = make(kernel="rbf", gamma=0.3, shuffle=False)
    mixed = make(kernel="rbf", gamma=0.3, shuffle=False)
    for k, some in enumerate(np.split(np.arange(60), [10, 30, 50])):
        expected.partial_fit(W[some], y[some], [0, 1])
        mixed.partial_fit(sparse.csr_matrix(W[some]) if k % 2 == 0 else W[some], y[some], [0, 1])
    assert sparse.issparse(mixed.support_vectors_)
    assert_close(mixed.decision_function(W), expected.decision_function(W), 1e-9)
    assert_close(mixed.decision_function(sparse.csr_matrix(W)), expected.decision_function(W), 1e-9)


def test_chunks_of_objects():
    strings = [f"{a:.2f}" for a in X[:, 0]]

    def kernel(P, Q):
        return rbf_kernel(np.array(P, float)[:, None], np.array(Q, float)[:, None], gamma=0.3)

    numbers = np.array(strings, float)[:, None]
    for make in (PegasosSVC, NormaSVC):
        objects, plain = (
            make(kernel=kernel, shuffle=False),
            make(kernel="rbf", gamma=0.3, shuffle=False),
        )
        for begin in (0, 30):
            objects.partial_fit(strings[begin : begin + 30], y[begin : begin + 30], [0, 1])
            plain.partial_fit(numbers[begin : begin + 30], y[begin : begin + 30], [0, 1])
        assert_close(objects.decision_function(strings), plain.decision_function(numbers), 1e-9)


def test_a_model_goes_on_with_the_kernel_it_began_with():
    def begun(**options):
        return PegasosSVC(shuffle=False, **options).partial_fit(X, y, [0, 1])

    chunk = 3 * X[:20], y[:20]
    for options in (
        {"kernel": "rbf"},
        {"kernel": "poly", "gamma": "auto"},
        {"kernel": Kernel.rbf(0.2)},
        {"kernel": "linear"},
    ):
        begun(**options).partial_fit(*chunk)  # gamma is that of the first chunk
    gamma = begun(kernel="rbf").kernel_.gamma
    assert begun(kernel="rbf").partial_fit(*chunk).kernel_.gamma == gamma
    for options, change in (
        ({"kernel": "rbf"}, {"gamma": 3.0}),
        ({"kernel": "rbf"}, {"kernel": "laplacian"}),
        ({"kernel": "poly"}, {"degree": 2}),
        ({"kernel": "poly"}, {"coef0": 1.0}),
        ({"kernel": Kernel.rbf(0.2)}, {"kernel": Kernel.rbf(0.3)}),
        ({"kernel": "linear"}, {"kernel": "rbf"}),
    ):
        with pytest.raises(ValueError, match="continues with the kernel"):
            begun(**options).set_params(**change).partial_fit(*chunk)


# ---- kernels -------------------------------------------------------------------------------------


def test_kernel_values_of_another_number_of_samples():
    K = rbf_kernel(X, gamma=0.3)
    for make in (PegasosSVC, NormaSVC):
        given = make(kernel="precomputed", alpha=0.1, shuffle=False).fit(K, y)
        plain = make(kernel="rbf", gamma=0.3, alpha=0.1, shuffle=False).fit(X, y)
        assert given.support_vectors_.shape == (0, 0)
        np.testing.assert_array_equal(given.support_, plain.support_)
        assert_close(given.decision_function(K[:7]), plain.decision_function(X[:7]), 1e-9)
        with pytest.raises(ValueError, match=r"X has 59 features, but .* is expecting 60 features"):
            given.decision_function(K[:, :59])


def test_gamma_is_that_of_the_samples_that_count():
    weight = (np.arange(60) < 30) * 1.0
    weight[:30] *= rng.uniform(0.5, 1.5, size=30)
    for make in (PegasosSVC, NormaSVC):
        some = make(kernel="rbf", alpha=0.1, shuffle=False)
        gamma = some.fit(X, y, sample_weight=weight).kernel_.gamma
        assert gamma == pytest.approx(
            some.fit(X[:30], y[:30], sample_weight=weight[:30]).kernel_.gamma, rel=1e-12
        )
    assert PegasosSVC().fit(X, y).kernel_ == Kernel.linear()


def test_a_kernel_function_of_integers():
    """No order of values can be found for objects: they are visited as they are given."""

    def same(P, Q):
        return (np.asarray(P)[:, :1] == np.asarray(Q)[:, :1].T) * 1.0

    P = np.arange(20)[:, None] // 2
    labels = np.arange(20) % 2
    assert PegasosSVC(kernel=same)._design(P) is None
    assert PegasosSVC(kernel="precomputed")._design(np.eye(3)) is None
    assert PegasosSVC(kernel=same)._design(P.astype(float)) is not None
    PegasosSVC(kernel=same, tol=None, max_iter=2).fit(P, labels)
