"""Budgets and iterates of online learning, against definitions written out in plain Python."""

from pathlib import Path

import numpy as np
import pytest

from helpers import binary, three
from maxmargin import NormaSVC, PegasosSVC
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import MatrixSource
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem, classification
from maxmargin.online import budget, norma, pegasos, pegasos_linear
from maxmargin.online.budget import Points, block_size, in_use
from maxmargin.online.pegasos import Iterates, Rule, Task, rescale
from maxmargin.online.pegasos_linear import LinearPegasos

rng = np.random.default_rng(5)
CORE = Path(__file__).parents[1] / "src" / "maxmargin" / "core"


def matrix_of(n, seed, rank=3):
    """A kernel matrix of low rank, with lengths of all sizes."""
    random = np.random.default_rng(seed)
    A = random.normal(size=(n, rank)) * random.uniform(0.2, 3.0, size=(n, 1))
    return A @ A.T


# ---- budgets -------------------------------------------------------------------------------------


def reduced(K, main, others, limit):
    """The rule at the top of budget.py by loops: the coefficients afterwards and how far each
    function moved."""
    main, others = main.copy(), [other.copy() for other in others]
    used = [j for j in range(len(K)) if any((coef[:, j] != 0).any() for coef in (main, *others))]
    excess = len(used) - limit
    if excess <= 0:
        return main, others, None
    root = {j: np.sqrt(max(K[j, j], 0.0)) for j in used}
    size = {j: np.sqrt(np.sum(main[:, j] ** 2)) for j in used}
    many = min(4 * excess, len(used) - (limit + 1) // 2)
    light = sorted(sorted(used, key=lambda j: root[j] * size[j])[:many])
    stay = [j for j in used if j not in light]
    along, near = {}, {}
    for x in light:
        cosines = [K[x, s] / root[s] if root[s] > 0 else 0.0 for s in stay]
        best = max(range(len(stay)), key=lambda k: abs(cosines[k]))
        near[x], along[x] = stay[best], cosines[best]
    rest = {x: np.sqrt(max(K[x, x] - along[x] ** 2, 0.0)) for x in light}
    gone = sorted(light, key=lambda x: rest[x] * size[x])[:excess]
    moved = sum(rest[x] * np.abs(main[:, x]) for x in gone)
    for coef in (main, *others):
        before = coef.copy()
        for x in gone:
            share = along[x] / root[near[x]] if root[near[x]] > 0 else 0.0
            coef[:, near[x]] += share * before[:, x]
            coef[:, x] = 0.0
    return main, others, moved


@pytest.mark.parametrize("functions", [1, 3])
@pytest.mark.parametrize("limit", [1, 2, 5, 12, 20, 25, 28, 29, 30, 31])
def test_points_beyond_the_budget_are_projected_onto_the_nearest(limit, functions):
    n = 34
    for seed in range(3):
        K = matrix_of(n, seed)
        main, other = rng.normal(size=(2, functions, n))
        # three are in no use, one for the other alone
        main[:, [3, 4, 5, 6]], other[:, [3, 4, 5]] = (0.0, 0.0)
        after, (follows,), moved = reduced(K, main, [other], limit)
        found = Points(Kernel.precomputed(), K, whole=True).maintain(main, (other,), limit)
        np.testing.assert_allclose(main, after, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other, follows, rtol=0, atol=1e-12)
        assert len(in_use(main, other)) == min(limit, 31)
        if moved is None:
            assert found is None
        else:
            np.testing.assert_allclose(found, moved, rtol=1e-9, atol=1e-7)


def test_points_of_no_length_and_of_equal_values_go_oldest_first():
    K = np.zeros((12, 12))
    K[:4, :4] = matrix_of(4, 0)
    K[4, 4] = -2.0  # as an indefinite kernel may have it
    coef = np.ones((1, 12))
    points = Points(Kernel.precomputed(), K, whole=False)
    assert points.maintain(coef, (), 11).tolist() == [0.0]
    assert in_use(coef).tolist() == [0, 1, 2, 3, *range(5, 12)]
    assert points.maintain(coef, (), 8).tolist() == [0.0]
    assert in_use(coef).tolist() == [0, 1, 2, 3, *range(8, 12)]
    nothing = np.ones((1, 6))
    assert Points(Kernel.precomputed(), np.zeros((6, 6)), whole=False).maintain(
        nothing, (), 2
    ).tolist() == [0.0]
    assert nothing.tolist() == [[0, 0, 0, 0, 1, 1]]
    copies = np.array([[1.0, 1.0, 1.0, 1.0, 5.0]])
    Points(Kernel.precomputed(), np.ones((5, 5)), whole=False).maintain(copies, (), 3)
    assert copies.tolist() == [[0.0, 0.0, 1.0, 3.0, 5.0]]


def test_values_and_lengths_of_functions_of_points():
    K = matrix_of(9, 1)
    coef = rng.normal(size=(2, 9))
    coef[:, 4] = 0.0
    points = Points(Kernel.precomputed(), K, whole=True)
    np.testing.assert_allclose(points.values(coef), coef @ K, atol=1e-12)
    np.testing.assert_allclose(
        points.values(coef, np.array([7, 2])), (coef @ K)[:, [7, 2]], atol=1e-12
    )
    np.testing.assert_allclose(
        points.norms(0.01 * coef), 1e-4 * np.diag(coef @ K @ coef.T), atol=1e-14
    )
    assert points.values(0 * coef).tolist() == np.zeros((2, 9)).tolist()
    assert Points(Kernel.precomputed(), -K, whole=True).norms(coef).tolist() == [0.0, 0.0]
    np.testing.assert_array_equal(points.square(np.array([5, 0])), K[[5, 0], [5, 0]])
    np.testing.assert_array_equal(
        np.isnan(points.squares), [False, *[True] * 4, False, *[True] * 3]
    )
    np.testing.assert_array_equal(points.tile(np.array([1, 3])), K[np.ix_([1, 3], [1, 3])])
    np.testing.assert_array_equal(points.squares[[1, 3]], K[[1, 3], [1, 3]])


def test_a_kernel_matrix_that_fits_is_computed_once(monkeypatch):
    A = rng.normal(size=(10, 2))
    for room, whole, kept in ((800, True, True), (799, True, False), (800, False, False)):
        monkeypatch.setattr(budget, "SETTINGS", budget.SETTINGS._replace(matrix_bytes=room))
        points = Points(Kernel.rbf(0.5), A, whole)
        assert isinstance(points.source, MatrixSource) is kept
        assert points.size == 10


def test_blocks_are_whole_batches_and_not_much_longer_than_the_budget():
    sizes = {
        (1, None): 256,
        (7, None): 252,
        (300, None): 300,
        (1, 5): 16,
        (1, 16): 16,
        (1, 17): 17,
        (1, 40): 40,
    }
    sizes |= {(1, 1000): 256, (7, 40): 35, (40, 40): 40, (41, 40): 41, (50, 16): 50}
    for given, size in sizes.items():
        assert block_size(*given) == size


def test_what_a_budget_moves_is_the_length_of_the_change():
    X, y = binary(20)
    options = {"gamma": 0.5, "shuffle": False, "alpha": 0.1}
    free = NormaSVC(budget=None, **options).partial_fit(X, y, classes=[0, 1])
    assert len(free.support_) == 18
    assert free.truncation_.tolist() == [0.0]
    # one goes, after the last step
    kept = NormaSVC(budget=17, **options).partial_fit(X, y, classes=[0, 1])
    change = np.zeros(20)
    for sign, model in ((1, free), (-1, kept)):
        for point, coef in zip(model.support_vectors_, model.dual_coef_[0], strict=True):
            change[(point == X).all(axis=1)] += sign * coef
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert kept.truncation_[0] == pytest.approx(np.sqrt(change @ K @ change))
    again = NormaSVC(budget=17, **options).partial_fit(X, y, classes=[0, 1]).partial_fit(X + 3, y)
    assert again.truncation_[0] > kept.truncation_[0], "what was lost adds up"


# ---- iterates ------------------------------------------------------------------------------------


class PlainPegasos:
    """Pegasos with a kernel matrix, the obvious way: coefficients c and sums of t c, biases and
    sums of t b."""

    def __init__(self, K, signs, alpha, batch, weight, limit=None, bias=True):
        self.K, self.signs, self.alpha, self.batch, self.weight, self.limit, self.bias = (
            K,
            signs,
            alpha,
            batch,
            weight,
            limit,
            bias,
        )
        k, n = signs.shape
        self.c, self.total, self.b, self.total_b, self.t = (
            np.zeros((k, n)),
            np.zeros((k, n)),
            np.zeros(k),
            np.zeros(k),
            0,
        )

    def step(self, some):
        self.t += 1
        for k, y in enumerate(self.signs):
            c = self.c[k]
            missed = [i for i in some if y[i] * (c @ self.K[:, i] + self.b[k]) < 1 - 1e-10]
            c *= 1 - 1 / self.t
            for i in missed:
                c[i] += self.weight[i] * y[i] / (self.alpha * self.t * len(some))
                self.b[k] += self.bias * self.weight[i] * y[i] / (4 * np.sqrt(self.t) * len(some))
            c *= min(1.0, 1 / np.sqrt(self.alpha * (c @ self.K @ c)))
            self.total[k] += self.t * c
            self.total_b[k] += self.t * self.b[k]

    def run(self, order, block):
        for begin in range(0, len(order), block):
            part = order[begin : begin + block]
            for first in range(0, len(part), self.batch):
                self.step(part[first : first + self.batch])
            if self.limit is not None:
                self.c, (self.total,), _ = reduced(self.K, self.c, [self.total], self.limit)

    def model(self):
        T = self.t * (self.t + 1) / 2
        return self.total / T, self.total_b / T


def kernel_and_signs(X, y, gamma):
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    classes = [1] if y.max() == 1 else np.unique(y)
    return K, np.array([np.where(y == one, 1.0, -1.0) for one in classes])


@pytest.mark.parametrize("make", [binary, three])
@pytest.mark.parametrize(("batch", "block"), [(1, 20), (3, 18), (25, 25)])
def test_iterates_within_a_budget_against_the_obvious_way(make, batch, block):
    """Steps are projected onto a ball, whose radius says nothing unless lengths are known after
    points were merged.
    """
    X, y = make(90)
    K, signs = kernel_and_signs(X, y, 0.4)
    weight = rng.uniform(0.5, 1.5, size=90)
    model = PegasosSVC(
        alpha=0.01, kernel="rbf", gamma=0.4, budget=20, batch_size=batch, shuffle=False
    )
    model.partial_fit(X, y, classes=np.unique(y), sample_weight=weight)
    plain = PlainPegasos(K, signs, 0.01, batch, weight, limit=20)
    plain.run(np.arange(90), block)
    coef, bias = plain.model()
    expected = (coef @ K + bias[:, None]).T
    values = model.decision_function(X).reshape(expected.shape)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    state, v = model.model_.state.state, np.zeros(plain.c.shape)
    v[:, in_use(plain.c, plain.total)] = model.model_.state.v
    np.testing.assert_allclose(
        state["scale"][:, None] * v, plain.c, rtol=0, atol=1e-9 * np.abs(plain.c).max()
    )
    np.testing.assert_allclose(state["norm"], np.diag(plain.c @ K @ plain.c.T), rtol=1e-9)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("make", [binary, three])
def test_epochs_against_the_obvious_way(make, average):
    """Between epochs the bias is the best for the last iterate, at the end that of the model."""
    X, y = make(60)
    K, signs = kernel_and_signs(X, y, 0.4)
    weight = rng.uniform(0.5, 1.5, size=60)
    gain = weight / weight.mean()
    tubes = [classification(sign, gain / 60, False) for sign in signs]
    problems = [LinearProblem(tube, Bias.FREE) for tube in tubes]
    options = {"kernel": "rbf", "gamma": 0.4, "batch_size": 4, "shuffle": False, "average": average}
    model = PegasosSVC(alpha=0.02, tol=None, max_iter=3, **options).fit(X, y, sample_weight=weight)
    plain = PlainPegasos(K, signs, 0.02, 4, gain)
    for epoch in range(3):
        if epoch:
            plain.b[:] = [
                best_bias(problem, f) for problem, f in zip(problems, plain.c @ K, strict=True)
            ]
        plain.run(np.arange(60), 256)
    coef = plain.model()[0] if average else plain.c
    bias = [best_bias(problem, f) for problem, f in zip(problems, coef @ K, strict=True)]
    expected = (coef @ K + np.array(bias)[:, None]).T
    np.testing.assert_allclose(
        model.decision_function(X).reshape(expected.shape), expected, rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(model.intercept_, bias, rtol=0, atol=1e-9)
    state = model.model_.state.state
    np.testing.assert_array_equal(state["mean_bias"], model.intercept_)
    np.testing.assert_allclose(state["bias"], plain.b if average else bias, rtol=0, atol=1e-9)
    losses = np.sum(gain / 60 * np.maximum(0, 1 - signs * expected.T), axis=1)
    primal = 0.01 * np.diag(coef @ K @ coef.T) + losses
    parts = model.certificate_.parts or (model.certificate_,)
    np.testing.assert_allclose([part.primal for part in parts], primal, rtol=1e-9)


def test_rescaling_leaves_iterates_and_averages_as_they_are():
    iterates = Iterates.new(1, 4)
    iterates.numbers[:] = rng.uniform(0.5, 2.0, size=10)
    (state,) = iterates.state
    old = state.copy()
    v, u, more_v, more_u = rng.normal(size=(4, 4))
    scale, sigma = old["scale"], old["sigma"]
    before = scale * v, sigma * v - u, scale * more_v, sigma * more_v - more_u
    rescale(state, (v, u), (more_v, more_u))
    assert (state["scale"], state["sigma"], state["base"]) == (1.0, 0.0, old["steps"])
    for name in ("steps", "norm", "bias", "mean_bias"):
        assert state[name] == old[name]
    for now, then in zip((v, -u, more_v, -more_u), before, strict=True):
        np.testing.assert_allclose(now, then)
    assert state["v_sum"] == pytest.approx(scale * old["v_sum"])
    assert state["v_centre"] == pytest.approx(scale * old["v_centre"])
    assert state["u_sum"] == pytest.approx(old["u_sum"] - sigma * old["v_sum"])


def test_the_monitor_is_checked_between_whole_batches(monkeypatch):
    design = ArrayDesign(rng.normal(size=(6, 4)))
    task = Task(np.ones((1, 6)), np.ones(6), np.arange(6))
    for room, batch, size in (
        (60, 1, 12),
        (60, 5, 10),
        (60, 12, 12),
        (60, 13, 13),
        (64, 1, 12),
        (4, 1, 1),
    ):
        settings = pegasos_linear.SETTINGS._replace(check_work=room)
        monkeypatch.setattr(pegasos_linear, "SETTINGS", settings)
        solver = LinearPegasos(
            design, Iterates.new(1, 4), Rule(0.1, batch, True, True, True), task, None, np.zeros(4)
        )
        assert solver.check_interval == size, "multiply-adds of a sample: its entries and one"


def test_the_share_of_a_sample_is_its_uses_times_its_weight():
    task = Task(np.ones((1, 4)), np.array([2.0, 1.0, 0.5, 3.0]), np.array([0, 2, 2, 1, 2]))
    np.testing.assert_allclose(task.share, [2 / 5, 1 / 5, 1.5 / 5, 0.0])


def fields_in_core(struct):
    """The fields of a struct of pegasos.h, in order."""
    header = (CORE / "pegasos.h").read_text()
    body = header.split(f"struct {struct} {{")[1].split("};")[0]
    lines = [line.split("//")[0].strip() for line in body.splitlines()]
    names = " ".join(line.removeprefix("double ").rstrip(";") + "," for line in lines if line)
    return [name.strip() for name in names.split(",") if name.strip()]


def test_state_records_have_the_fields_of_the_core():
    assert fields_in_core("PegasosState") == list(pegasos.STATE.names)
    assert fields_in_core("NormaState") == list(norma.STATE.names)
    shapes = {"coef": "[2]", "unused": "[2]"}
    names = [name + shapes.get(name, "") for name in pegasos_linear.SAMPLE.names]
    assert fields_in_core("PegasosSample") == names
