"""Structured outputs: losses and inference against brute force, StructuredSVM against its peers."""

import pickle
import signal
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from helpers import three
from maxmargin import LinearSVC, StructuredSVM, io
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import make_source
from maxmargin.linear.designs import ArrayDesign
from maxmargin.monitor import Monitor
from maxmargin.structured import Chain, Multiclass, MultiLabel, StructuredTask, Taxonomy
from maxmargin.structured import multilabel as sets
from maxmargin.structured.cutting_plane import solve
from maxmargin.structured.inference_cache import TaskRisk, solve_cached
from maxmargin.structured.joint_features import JointSpace, examples_of
from maxmargin.structured.multiclass import ClassesLoss, zero_one
from maxmargin.structured.risks import ScoreRisk
from maxmargin.structured.spaces import KernelSpace, LinearSpace
from maxmargin.structured.taxonomy import tree_of


def value(tangent, s):
    """The loss at the point of its tangent."""
    return tangent.offset + float(np.sum(tangent.t * s))


def is_tangent(loss, s, seed=0):
    """Whether the tangent touches the loss at s and is below it elsewhere."""
    rng, at = np.random.default_rng(seed), loss(s)
    for scale in (1e-3, 1.0, 10.0):
        other = s + scale * rng.normal(size=s.shape)
        there = value(loss(other), other)
        assert at.offset + np.sum(at.t * other) <= there + 1e-9 * (1 + abs(there))


# ---- losses against brute force ------------------------------------------------------------------


def brute_force(task, X, y, w, outputs, weight):
    """The structured risk by enumeration of all outputs."""
    total = 0.0
    for x, true, c in zip(X, y, weight, strict=True):
        own = w @ task.joint_feature(x, true)
        total += c * max(
            task.loss(true, other) + w @ task.joint_feature(x, other) - own for other in outputs(x)
        )
    return total


def test_the_loss_of_classes_is_the_brute_force_maximum():
    rng = np.random.default_rng(0)
    X, y = three(20, 3)
    weight, task = rng.random(20) + 0.5, Multiclass(3)
    loss, space = ClassesLoss(y, weight, zero_one(3)), LinearSpace(ArrayDesign(X), 3)
    for _ in range(5):
        w = rng.normal(size=9)
        s = space.scores(w)
        assert value(loss(s), s) == pytest.approx(
            brute_force(task, X, y, w, lambda x: range(3), weight)
        )
        is_tangent(loss, s)


@pytest.mark.parametrize("n_labels", [1, 3])
def test_the_loss_of_sets_is_the_brute_force_maximum(n_labels):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(15, 2)), rng.integers(0, 2, (15, n_labels)).astype(float)
    weight, task = rng.random(15) + 0.5, MultiLabel(n_labels)
    labels = sets.labels_of(y, weight)
    loss = sets.SetsLoss(y, weight, labels)
    space = JointSpace(LinearSpace(ArrayDesign(X), n_labels), len(labels.pairs))
    every = list(product([0, 1], repeat=n_labels))
    for _ in range(5):
        w = rng.normal(size=space.size)
        s = space.scores(w)
        assert value(loss(s), s) == pytest.approx(
            brute_force(task, X, y, w, lambda x: every, weight)
        )
        is_tangent(loss, s)
        assert loss(s).t @ s == pytest.approx(space.element(loss(s).t) @ w)


def test_max_product_finds_the_best_sets_of_a_tree(monkeypatch):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, (60, 7)).astype(float)
    y[:, 3] = y[:, 5]
    monkeypatch.setattr(sets, "SETTINGS", sets.SETTINGS._replace(enumerated=4))
    labels = sets.labels_of(y, np.ones(60))
    edges = labels.pairs[7:]
    assert len(edges) == 6  # a tree
    assert [3, 5] in edges.tolist()  # the pair that is equal
    every = sets.all_sets(7)
    for _ in range(20):
        s, u = rng.normal(size=(4, 7)), rng.normal(size=len(labels.pairs))
        found = sets.best_sets(s, u, labels)
        values = s @ every.T + labels.products(every) @ u
        own = np.sum(s * found, axis=1) + labels.products(found) @ u
        np.testing.assert_allclose(own, values.max(axis=1))


def test_a_tree_of_few_labels_has_the_most_information():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, (200, 3)).astype(float)
    y[:, 2] = np.where(rng.random(200) < 0.9, y[:, 0], y[:, 2])
    first = sets.chow_liu(y, np.ones(200))
    assert [0, 2] in first.tolist()
    assert len(first) == 2
    again = sets.chow_liu(np.repeat(y, 2, axis=0), np.ones(400))
    np.testing.assert_array_equal(first, again)


# ---- taxonomies ----------------------------------------------------------------------------------

ANIMALS = Taxonomy({"cat": "mammal", "dog": "mammal", "owl": "bird", "mammal": "a", "bird": "a"})


def test_tree_losses_and_paths():
    assert ANIMALS.loss("cat", "cat") == 0
    assert ANIMALS.loss("cat", "dog") == 1
    assert ANIMALS.loss("cat", "owl") == 2
    tree = tree_of(ANIMALS, ["cat", "dog", "owl"])
    assert tree.nodes == ["cat", "mammal", "dog", "owl", "bird"]
    np.testing.assert_array_equal(tree.paths.sum(axis=1), [2, 2, 2])
    np.testing.assert_array_equal(tree.delta, [[0, 1, 2], [1, 0, 2], [2, 2, 0]])


def test_a_flat_taxonomy_is_the_multi_class_task():
    X, y = three(60)
    flat = StructuredSVM(Taxonomy(dict.fromkeys([0, 1, 2], "root")), tol=1e-9).fit(X, y)
    plain = StructuredSVM(tol=1e-9).fit(X, y)
    np.testing.assert_allclose(flat.coef_, plain.coef_, atol=1e-6)


def test_a_taxonomy_makes_mistakes_nearer_home():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    centre = np.array([[3, 0, 0.4], [3, 0, -0.4], [-3, 0.4, 0], [-3, -0.4, 0]])
    X = centre[y] + rng.normal(size=(300, 3))
    task = Taxonomy({0: "a", 1: "a", 2: "b", 3: "b"})
    model = StructuredSVM(task, C=0.01).fit(X[:40], y[:40])
    assert model.certificate_.status == "optimal"
    losses = [task.loss(*pair) for pair in zip(y[40:].tolist(), model.predict(X[40:]), strict=True)]
    plain = StructuredSVM(C=0.01).fit(X[:40], y[:40]).predict(X[40:])
    assert np.mean(losses) <= np.mean(
        [task.loss(*p) for p in zip(y[40:].tolist(), plain, strict=True)]
    )
    assert model.coef_.shape == (6, 3)


def test_bad_taxonomies():
    X, y = three(30)
    with pytest.raises(ValueError, match=r"1 of the 3 classes are not in the taxonomy.* 2: add"):
        StructuredSVM(Taxonomy({0: "a", 1: "a"})).fit(X, y)
    with pytest.raises(ValueError, match="not a tree: 0 is above itself"):
        StructuredSVM(Taxonomy({0: 1, 1: 0, 2: 1})).fit(X, y)


# ---- the multi-class task ------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_multi_class_is_crammer_and_singers_machine(C):
    X, y = load_iris(return_X_y=True)
    peer = LinearSVC(
        multi_class="crammer_singer", fit_intercept=False, C=C, tol=1e-10, max_iter=10**6
    ).fit(X, y)
    fast = StructuredSVM(C=C, tol=1e-8).fit(X, y)
    slow = StructuredSVM(Multiclass(3), C=C, tol=1e-8).fit(X, y)
    for model in (fast, slow):
        assert model.certificate_.status == "optimal"
        assert model.certificate_.primal == pytest.approx(peer.certificate_.primal, rel=1e-6)
        assert model.certificate_.dual <= peer.certificate_.primal * (1 + 1e-9)
    np.testing.assert_allclose(fast.decision_function(X), peer.decision_function(X), atol=2e-3)
    np.testing.assert_array_equal(slow.predict(X), fast.predict(X))
    assert slow.score(X, y) == pytest.approx(fast.score(X, y) - 1)  # minus the mean loss


def test_classes_with_a_kernel():
    """The loss needs scores only, so a kernel will do: all classes share it."""
    X, y = three(45)
    loss = ClassesLoss(y, np.ones(45), zero_one(3))
    linear = solve(ScoreRisk(LinearSpace(ArrayDesign(X), 3), loss), 1.0, 1e-8, Monitor())
    same, rbf = (
        solve(ScoreRisk(KernelSpace(make_source(kernel, X), 3), loss), 1.0, 1e-8, Monitor())
        for kernel in (Kernel.linear(), Kernel.rbf(0.5))
    )
    assert same.primal == pytest.approx(linear.primal, rel=1e-6)
    assert rbf.ended is None
    assert rbf.risk < linear.risk


def test_weights_are_copies_and_sparse_data_are_the_same():
    X, y = three(60)
    weight = np.arange(60) // 3 % 3
    few = StructuredSVM(tol=1e-10).fit(X, y, weight)
    rows = np.repeat(np.arange(60), weight)
    many = StructuredSVM(tol=1e-10).fit(X[rows], y[rows])
    np.testing.assert_allclose(few.coef_, many.coef_, atol=1e-6)
    same = StructuredSVM(tol=1e-10).fit(sparse.csr_matrix(X), y, weight)
    np.testing.assert_allclose(few.coef_, same.coef_, atol=1e-6)
    own = StructuredSVM(Multiclass(3), tol=1e-10).fit(X, y, weight)
    np.testing.assert_allclose(few.coef_.ravel(), own.coef_, atol=1e-6)


def test_certify_finds_other_data():
    X, y = three(60)
    for task in ("multiclass", Multiclass(3)):
        model = StructuredSVM(task).fit(X, y)
        assert model.certify(X, y).status == "optimal"
        assert model.certify(X, y).primal == pytest.approx(model.certificate_.primal)
        assert model.certify(X, (y + 1) % 3).status == "refuted"
        assert model.certify(X, y, np.full(60, 3.0)).status == "refuted"
        few = np.r_[np.ones(30), np.zeros(30)]
        assert model.certify(X, y, few).status == "refuted"  # its plane is above that risk
    with pytest.raises(ValueError, match="features"):
        StructuredSVM().fit(X, y).certify(X[:, :2], y)


def test_a_plane_above_the_risk_proves_nothing():
    X, y = three(60)
    worse = StructuredSVM().fit(X, y)
    worse.model_ = replace(worse.model_, weights=1.5 * worse.model_.weights)
    primal = worse.certify(X, y).primal
    slope = worse.model_.slope
    worse.model_ = replace(worse.model_, offset=primal + 0.5 * float(slope @ slope))
    again = worse.certify(X, y)
    assert again.relative_gap == pytest.approx(0, abs=1e-12)
    assert again.status == "refuted"


# ---- several labels ------------------------------------------------------------------------------


def exclusive(n, seed=0):
    """Four labels of which a sample has one or, now and then, none: they exclude each other."""
    rng = np.random.default_rng(seed)
    y = np.eye(4, dtype=int)[rng.integers(0, 4, n)] * (rng.random(n) < 0.9)[:, None]
    return y + 0.7 * rng.normal(size=(n, 4)), y


def test_pairs_of_labels_help():
    X, y = exclusive(600)
    model = StructuredSVM("multilabel").fit(X[:200], y[:200])
    assert model.certificate_.status == "optimal"
    alone = np.column_stack(
        [LinearSVC(loss="hinge").fit(X[:200], y[:200, k]).predict(X[200:]) for k in range(4)]
    )
    right = model.score(X[200:], y[200:])
    assert right == np.mean((model.predict(X[200:]) == y[200:]).all(axis=1))
    assert right > np.mean((alone == y[200:]).all(axis=1)) + 0.1
    pairs = model.pairs_.tolist()
    together = [u for (a, b), u in zip(pairs, model.pair_coef_, strict=True) if a != b]
    assert max(together) < 0  # no label goes with another


def test_sets_of_labels_by_the_users_task_are_the_same():
    X, y = exclusive(60)
    fast = StructuredSVM("multilabel", tol=1e-8).fit(X, y)
    slow = StructuredSVM(MultiLabel(4), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(slow.coef_, fast.model_.weights, atol=1e-4)
    np.testing.assert_array_equal(np.array(slow.predict(X)), fast.predict(X))
    assert fast.certify(X, sparse.csr_matrix(y)).status == "optimal"


def test_many_labels_form_a_tree():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2, (150, 7))
    y = np.column_stack([base, base])
    X = 2 * base - 1 + rng.normal(size=base.shape)
    model = StructuredSVM("multilabel", tol=1e-2, C=0.1).fit(X, y)
    assert len(model.pairs_) == 14 + 13
    assert {(k, k + 7) for k in range(7)} <= set(map(tuple, model.pairs_.tolist()))
    found = model.predict(X)
    assert np.mean(found[:, :7] == found[:, 7:]) == 1
    with pytest.raises(ValueError, match=r"14 labels have too many sets.*multilabel"):
        MultiLabel(14).infer(X[0], np.zeros(200))


def test_bad_sets_of_labels():
    X, y = exclusive(30)
    with pytest.raises(ValueError, match=r"matrix of zeros and ones.*MultiLabelBinarizer"):
        StructuredSVM("multilabel").fit(X, 2 * y)
    with pytest.raises(ValueError, match="matrix of zeros and ones"):
        StructuredSVM("multilabel").fit(X, y[:, 0])
    with pytest.raises(ValueError, match="y has 2 labels, but the model was fitted on 4"):
        StructuredSVM("multilabel").fit(X, y).certify(X, y[:, :2])


# ---- the cache of outputs ------------------------------------------------------------------------


def test_the_cache_saves_calls_of_inference():
    X, y = three(90)
    weight = np.ones(90)
    cached, plain = (TaskRisk(examples_of(Multiclass(3), X, y, weight), True) for _ in range(2))
    few = solve_cached(cached, 1.0, 1e-6, Monitor())
    many = solve(plain, 1.0, 1e-6, Monitor())
    assert few.primal == pytest.approx(many.primal, rel=1e-5)
    assert cached.calls < plain.calls / 3
    assert few.n_iter == cached.calls


def test_the_cached_risk_is_below_the_risk():
    rng = np.random.default_rng(0)
    X, y = three(30)
    risk = TaskRisk(examples_of(Multiclass(3), X, y, np.ones(30)), True)
    for _ in range(5):
        w = rng.normal(size=risk.space.size)
        plane, below = risk.at(w), risk.cache.at(w)
        assert below.offset + below.slope @ w == pytest.approx(plane.offset + plane.slope @ w)
        v = rng.normal(size=len(w))
        full = TaskRisk(risk.examples, True).at(v)
        assert plane.offset + plane.slope @ v <= full.offset + full.slope @ v + 1e-9


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_find_the_same(n_jobs):
    X, y = three(30)
    model = StructuredSVM(Multiclass(3), n_jobs=n_jobs).fit(X, y)
    alone = StructuredSVM(Multiclass(3)).fit(X, y)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))


# ---- bad tasks -----------------------------------------------------------------------------------


class Pairs:
    """Numbers below and above: a task with one method replaced in each test."""

    def joint_feature(self, x, y):
        return np.array([x * y, float(y)])

    def infer(self, x, w, y=None):
        return max([-1, 1], key=lambda z: (y is not None and z != y) + w @ self.joint_feature(x, z))


def numbers(n=20):
    x = np.linspace(-2, 2, n)
    return list(x), [1 if one + (k % 5 == 0) > 0 else -1 for k, one in enumerate(x)]


def test_two_methods_are_enough():
    X, y = numbers()
    assert isinstance(Pairs(), StructuredTask)
    model = StructuredSVM(Pairs()).fit(X, y)
    assert model.certificate_.status == "optimal"
    peer = LinearSVC(loss="hinge", intercept="regularised", tol=1e-8, C=2.0)
    peer.fit(2 * np.array(X)[:, None], y)  # psi(x, 1) - psi(x, -1) = (2 x, 2)
    assert model.score(X, y) >= -0.2
    assert model.certify(X, y).status == "optimal"


class Wrong(Pairs):
    """Returns the other label once it has been called often enough."""

    def infer(self, x, w, y=None):
        best = super().infer(x, w, y)
        return best if not w.any() else -best


class TheTruth(Pairs):
    """Does not add the loss."""

    def infer(self, x, w, y=None):
        return super().infer(x, w)


class Outside(Pairs):
    def infer(self, x, w, y=None):
        return "right"


class Nothing(Pairs):
    def infer(self, x, w, y=None):
        return None


class Growing(Pairs):
    def joint_feature(self, x, y):
        return np.ones(2 if y == 1 else 3)


class Infinite(Pairs):
    def joint_feature(self, x, y):
        return np.array([x, np.inf if y == 1 and x > 1 else 0.0])


class Matrix(Pairs):
    def joint_feature(self, x, y):
        return np.eye(2)


class Negative(Pairs):
    def loss(self, y, z):
        return -float(y != z)


class Own(Pairs):
    def loss(self, y, z):
        return 1.0


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Wrong(), r"sample \d+: infer returned .* less than that of the true output"),
        (TheTruth(), r"sample \d+: infer returned .* less than that of an output which it"),
        (Outside(), r"sample 0: infer returned 'right'"),
        (Nothing(), "sample 0: infer returned None instead of an output"),
        (Growing(), r"sample \d+.* shape \(3,\), but must be one vector of length 2|length 3"),
        (Infinite(), r"sample \d+.*NaN or infinite"),
        (Matrix(), r"sample 0: .*shape \(2, 2\), but must be one vector"),
        (Negative(), r"sample \d+: infer returned .* the loss is -1"),
        (Own(), "sample 0: the loss of the true output with itself is 1"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Pairs) else "",
)
def test_bad_tasks_are_named(task, message):
    X, y = numbers()
    with pytest.raises(Exception, match=message) as caught:
        StructuredSVM(task, C=10.0, tol=1e-6).fit(X, y)
    assert isinstance(caught.value, ValueError | TypeError | np.exceptions.DTypePromotionError)


def test_the_number_of_a_sample_counts_those_of_weight_0():
    X, y = numbers()
    with pytest.raises(ValueError, match="sample 3: infer returned None"):
        StructuredSVM(Nothing()).fit(X, y, np.r_[np.zeros(3), np.ones(17)])


def test_errors_in_the_users_methods_say_where():
    class Bad(Pairs):
        def joint_feature(self, x, y):
            raise KeyError("no such word")

    with pytest.raises(KeyError, match="no such word") as caught:
        StructuredSVM(Bad()).fit(*numbers())
    assert caught.value.__notes__ == ["sample 0: with its true output: joint_feature raised this."]


def test_approximate_inference_proves_nothing():
    X, y = numbers()

    class Lazy(Pairs):
        """Exact at first, later it returns the true output."""

        def infer(self, x, w, y=None):
            return y if y is not None and abs(w[0]) > 0.3 else super().infer(x, w, y)

    with pytest.raises(ValueError, match="inference='approximate'"):
        StructuredSVM(Lazy(), C=10.0).fit(X, y)
    model = StructuredSVM(Lazy(), C=10.0, inference="approximate").fit(X, y)
    assert model.certificate_.status == "stationary"
    assert model.certificate_.convexity == "unknown"


# ---- the estimator -------------------------------------------------------------------------------


def test_arguments_without_effect_are_refused():
    X, y = three(30)
    with pytest.raises(ValueError, match="n_jobs=2 has no effect on a ready-made task"):
        StructuredSVM(n_jobs=2).fit(X, y)
    with pytest.raises(ValueError, match="inference='approximate' has no effect"):
        StructuredSVM(inference="approximate").fit(X, y)
    with pytest.raises(ValueError, match=r"'multiclas'.*Did you mean 'multiclass'"):
        StructuredSVM("multiclas").fit(X, y)


def test_bad_data_of_the_users_task():
    X, y = numbers()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        StructuredSVM(Pairs()).fit(X, y[1:])
    with pytest.raises(ValueError, match="X is empty"):
        StructuredSVM(Pairs()).fit([], [])
    with pytest.raises(ValueError, match="X must be a sequence, got int"):
        StructuredSVM(Pairs()).fit(3, y)
    with pytest.raises(AttributeError, match="decision_function"):
        StructuredSVM(Pairs()).fit(X, y).decision_function(X)


@pytest.mark.parametrize("task", ["multiclass", Multiclass(3)])
def test_limits_and_warm_starts(task):
    X, y = three(90)
    short = StructuredSVM(task, max_iter=2, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="StructuredSVM failed to converge.*max_iter"):
        short.fit(X, y)
    assert short.certificate_.status == "max_iter"
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        StructuredSVM(task, time_limit=0).fit(X, y)
    first = short.certificate_.primal
    short.set_params(max_iter=-1).fit(X, y)
    assert short.certificate_.status == "optimal"
    assert short.certificate_.primal < first
    before = short.n_iter_
    assert short.fit(X, y).n_iter_ <= before


def test_ctrl_c_keeps_the_best_model():
    class Interrupted(Pairs):
        calls = 0

        def infer(self, x, w, y=None):
            Interrupted.calls += 1
            if Interrupted.calls == 25:  # in the second round of 20 samples
                signal.raise_signal(signal.SIGINT)
            return super().infer(x, w, y)

    X, y = numbers()
    model = StructuredSVM(Interrupted(), C=10.0, on_interrupt="keep")
    with pytest.warns(ConvergenceWarning, match="Interrupted from the keyboard"):
        model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.gap > 0
    Interrupted.calls = 0
    with pytest.raises(KeyboardInterrupt):
        StructuredSVM(Interrupted(), C=10.0).fit(X, y)


def test_tags_follow_the_task():
    tags = StructuredSVM().__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.input_tags.two_d_array
    assert StructuredSVM("multilabel").__sklearn_tags__().classifier_tags.multi_label
    own = StructuredSVM(Pairs()).__sklearn_tags__()
    assert own.estimator_type is None
    assert not own.input_tags.two_d_array


@pytest.mark.parametrize("task", ["multiclass", "multilabel", Taxonomy({0: "a", 1: "a", 2: "b"})])
def test_files_and_copies_keep_the_model(task, tmp_path):
    X, y = three(45)
    y = np.eye(3, dtype=int)[y] if task == "multilabel" else y
    model = StructuredSVM(task).fit(X, y)
    io.save(model, tmp_path / "model.mm")
    for other in (io.load(tmp_path / "model.mm"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        assert other.certify(X, y).status == "optimal"
    assert clone(model).get_params()["task"] == task


def test_own_tasks_are_pickled_but_not_saved(tmp_path):
    X, y = three(30)
    model = StructuredSVM(Multiclass(3)).fit(X, y)
    assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)
    own = StructuredSVM(Pairs()).fit(*numbers())
    with pytest.raises(ValueError, match="StructuredSVM cannot be saved because of task"):
        io.save(own, tmp_path / "model.mm")


def test_altered_models_are_refused():
    X, y = three(30)
    model = StructuredSVM().fit(X, y)
    model.model_.weights[0] = np.nan
    with pytest.raises(ValueError, match="StructuredSVM was altered"):
        model.predict(X)


def test_the_chain_task_is_checked():
    with pytest.raises(ValueError, match=r"not a sequence of 2 labels among 0 .. 2"):
        Chain(3).joint_feature(np.ones((2, 1)), [0, 3])
    with pytest.raises(ValueError, match="label 7 is not one of"):
        Multiclass(3).joint_feature(np.ones(2), 7)
    with pytest.raises(ValueError, match="not a row of 2 zeros and ones"):
        MultiLabel(2).joint_feature(np.ones(2), [1, 2])
