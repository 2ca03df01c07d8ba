"""The parts of Newton's method for linear models against their definitions: equations, models of a
step, directions, lengths."""

import numpy as np
import pytest
from scipy import sparse

from linear_cases import A, C, d, n, rng, y, z
from maxmargin.core.choose import HOST as core
from maxmargin.linear import lasso
from maxmargin.linear.designs import ArrayDesign, ChunkDesign
from maxmargin.linear.equations import cholesky_solve, conjugate_gradients
from maxmargin.linear.losses import Bias, LinearProblem, classification, regression
from maxmargin.linear.primal_coordinate import Columns
from maxmargin.linear.quadratic import Hessian
from maxmargin.linear.quadratic import minimiser as minimiser_on
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor

# ---- linear equations ----------------------------------------------------------------------------


def minimiser(*model):
    return minimiser_on(*model, core)


def test_equations_by_a_factor():
    B = A.T @ A
    right = rng.normal(size=(d, 2))
    np.testing.assert_allclose(B @ cholesky_solve(B, right), right, atol=1e-10)
    mean = np.trace(B) / d
    np.testing.assert_allclose(
        (B + 0.1 * mean * np.eye(d)) @ cholesky_solve(B, right, 0.1), right, atol=1e-10
    )


def test_equations_that_are_not_definite_get_ever_more_on_the_diagonal():
    B = np.diag([1.0, 1.0, -0.005])
    wanted = np.linalg.solve(B + 1e-2 * (1.995 / 3) * np.eye(3), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(cholesky_solve(B, np.array([1.0, 2.0, 3.0])), wanted, rtol=1e-6)
    ones = np.ones((3, 3))
    found = cholesky_solve(ones, np.full(3, 6.0))
    np.testing.assert_allclose(ones @ found, 6.0, rtol=1e-6)
    for bad in (
        np.diag([1.0, 1.0, -0.6]),
        -np.eye(3),
        np.diag([np.inf, 1.0, 1.0]),
        np.full((3, 3), np.nan),
    ):
        assert cholesky_solve(bad, np.ones(3)).tolist() == [0.0, 0.0, 0.0], "no step"
    assert np.isnan(cholesky_solve(np.eye(2), np.array([np.nan, 1.0]))[0])


@pytest.mark.parametrize(
    ("accuracy", "most"), [(1e-1, 50), (1e-4, 50), (1e-30, 3), (1e-30, 1), (0.0, 0)]
)
def test_equations_by_products_are_best_in_a_krylov_space(accuracy, most):
    B, right, scale = A.T @ A, rng.normal(size=d), rng.uniform(0.5, 2.0, d)
    count = 0

    def product(x):
        nonlocal count
        count += 1
        return B @ x

    found = conjugate_gradients(product, right, scale, accuracy, most, Monitor())
    S, c = scale[:, None] * B * scale, scale * right
    for products in range(d + 1):
        powers = [np.linalg.matrix_power(S / np.trace(S), j) @ c for j in range(products)]
        space = np.linalg.qr(np.column_stack(powers))[0] if products else np.zeros((d, 0))
        x = space @ np.linalg.solve(space.T @ S @ space, space.T @ c)
        residual = c - S @ x
        if products == most or residual @ residual <= accuracy * c @ c:
            break
    assert count == products
    np.testing.assert_allclose(found, scale * x, rtol=1e-6, atol=1e-9)


def test_equations_by_products_end_without_a_product_worth_it():
    def refused(x):
        raise AssertionError("nothing is to be done")

    monitor = Monitor()
    assert not conjugate_gradients(refused, np.zeros(3), np.ones(3), 0.1, 10, monitor).any()
    monitor.interrupted.set()
    assert not conjugate_gradients(refused, np.ones(3), np.ones(3), 0.1, 10, monitor).any()
    assert not conjugate_gradients(
        lambda x: 0 * x, np.ones(3), np.ones(3), 0.1, 10, Monitor()
    ).any(), "singular"
    assert not conjugate_gradients(
        lambda x: -x, np.ones(3), np.ones(3), 0.1, 10, Monitor()
    ).any(), "not definite"


# ---- the quadratic model of a step ---------------------------------------------------------------


class Counted(ArrayDesign):
    """Counts the samples of Gram matrices."""

    samples = 0

    def gram(self, weight, rows=None):
        self.samples += len(weight)
        return super().gram(weight, rows)


@pytest.mark.parametrize("column", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("form", ["dense", "sparse", "chunks"])
def test_a_hessian_is_brought_up_to_date(form, column):
    X = np.where(rng.random((n, 40)) < 0.4, 0.0, rng.normal(size=(n, 40)))
    make = {"dense": Counted, "sparse": lambda X: ArrayDesign(sparse.csr_matrix(X))}
    design = make[form](X) if form in make else ChunkDesign(lambda: [X[:9], X[9:]], X.shape)
    hessian, bordered = Hessian(design, column), np.column_stack([X, np.full(n, column)])
    wanted = np.zeros(41, bool)
    weight = np.where(np.arange(n) < 16, C, 0.0)
    for features, change in (
        ([1, 5, 7], 0),
        ([1, 5, 7], 1),
        ([1, 7], 0),
        ([1, 5, 9], 3),
        ([2], 9),
        (list(range(30)), 1),
        ([], 2),
    ):
        wanted[:] = False
        wanted[features] = True
        wanted[-1] = True
        weight = weight.copy()
        weight[:change] = np.where(weight[:change] > 0, 0.0, C[:change])
        used, H = hessian.of(wanted, weight)
        assert used[-1] == 40
        assert set(features) <= set(used)
        if form == "chunks":
            assert len(used) == 41
        np.testing.assert_allclose(
            H, bordered[:, used].T @ np.diag(weight) @ bordered[:, used], atol=1e-10
        )


def test_a_hessian_has_few_features_and_looks_at_samples_that_come_or_go():
    X = rng.normal(size=(n, 100))
    design = ArrayDesign(X)
    hessian, wanted = Hessian(design, 1.0), np.zeros(101, bool)

    def used(features):
        wanted[:] = False
        wanted[:features] = True
        return len(hessian.of(wanted, C)[0]) - 1

    assert used(60) == 60
    assert used(21) == 60, "some that are not in use do no harm"
    assert used(20) == 20, "more than twice as many and 20 do"
    assert used(61) == 61
    assert used(21) == 61
    assert used(69) == 69
    assert used(70) == 100, "most: all are taken"
    assert used(41) == 100
    assert used(40) == 40
    for changed, samples in ((0, 0), (3, 3), (12, 12), (13, 24)):
        design = Counted(A)
        hessian, everything = Hessian(design, 1.0), np.ones(d + 1, bool)
        hessian.of(everything, C)
        design.samples = 0
        weight = C.copy()
        weight[:changed] *= 2.0
        hessian.of(everything, weight)
        assert design.samples == samples


def model_value(H, price, u0, slope, u):
    step = u - u0
    return slope @ step + 0.5 * step @ H @ step + price @ np.abs(u)


@pytest.mark.parametrize("seed", range(6))
def test_the_minimiser_of_a_step_fulfils_its_conditions(seed):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(40, 12)) + 3 * draw.normal(size=(40, 1))  # correlated: descent is slow
    X[:, 5] = X[:, 4] if seed % 2 else X[:, 5]
    H, price = X.T @ X, np.append(np.full(11, 8.0), 0.0)
    u, slope = (
        np.where(draw.random(12) < 0.4, 0.0, draw.normal(size=12)),
        X.T @ (10 * draw.normal(size=40)),
    )
    before = u.copy(), slope.copy()
    found = minimiser(H, price, u, slope)
    np.testing.assert_array_equal(u, before[0])
    np.testing.assert_array_equal(slope, before[1])

    def broken(u, slope):
        return max(
            abs(s + p * np.sign(v)) if v else max(abs(s) - p, 0.0)
            for v, s, p in zip(u, slope, price, strict=True)
        )

    assert broken(found, slope + H @ (found - u)) <= 4e-3 * broken(u, slope)
    assert model_value(H, price, u, slope, found) <= model_value(H, price, u, slope, u)
    np.testing.assert_array_equal(minimiser(H, price, -u, -slope), -found)
    without = np.pad(H[:-1, :-1], (0, 1))
    u[-1] = 0.0
    assert minimiser(without, price, u, slope)[-1] == 0.0, "not along a direction without curvature"
    u[-1] = before[0][-1]
    tiny = 2.0**-16
    np.testing.assert_array_equal(minimiser(H, tiny * price, tiny * u, tiny * slope), tiny * found)


def test_the_minimiser_of_a_step_where_nothing_is_to_be_done(monkeypatch):
    H, rounds, real = np.eye(3), [], core.lasso_descent
    monkeypatch.setattr(core, "lasso_descent", lambda *rest: rounds.append(1) or real(*rest))
    assert minimiser(H, np.ones(3), np.zeros(3), np.array([0.5, -1.0, 1.0])).tolist() == [
        0.0,
        0.0,
        0.0,
    ]
    assert minimiser(np.zeros((1, 1)), np.zeros(1), np.zeros(1), np.ones(1)).tolist() == [0.0], (
        "no curvature, no step"
    )
    np.testing.assert_allclose(
        minimiser(H, np.array([1.0, 1.0, 0.0]), np.zeros(3), np.array([3.0, -2.0, 5.0])),
        [-2.0, 1.0, -5.0],
    )
    assert len(rounds) == 3, "one for each of these"


# ---- columns -------------------------------------------------------------------------------------


def weighted(task, factor=1.0):
    """Squared losses with weights of 0 among them."""
    weight = np.where(np.arange(n) % 5 == 0, 0.0, factor * C)
    return (
        classification(y, weight, True) if task == "classes" else regression(z, weight, 0.2, True)
    )


@pytest.mark.parametrize("factor", [1.0, 0.1])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("task", ["classes", "targets"])
def test_columns_hold_residuals_whose_squares_are_the_losses(task, form, factor):
    tube = weighted(task, factor)
    X = A if form == "dense" else sparse.csr_matrix(A)
    columns = Columns(tube, ArrayDesign(X), 1.5, np.ones(d + 1), 0)
    u = rng.normal(size=d + 1)
    f = A @ u[:-1] + 1.5 * u[-1]
    both = np.concatenate((f, f)) if columns.both else f
    r = columns.q * (columns.edge - both)
    assert columns.most * np.sum(np.maximum(0, r) ** 2) == pytest.approx(tube.losses(f))
    assert columns.both is (task == "targets")
    wanted = np.column_stack([A, np.full(n, 1.5)])
    wanted = columns.q[:, None] * (np.vstack([wanted, wanted]) if columns.both else wanted)
    np.testing.assert_allclose(columns.squares, 1.0001 * np.sum(wanted**2, axis=0), rtol=1e-6)
    assert columns.most == max(tube.up.max(), tube.down.max())
    for factor, most in ((0.1, 0.1 * C.max()), (0.0, 1.0)):
        assert (
            Columns(
                classification(y, factor * C, True), ArrayDesign(X), 1.5, np.ones(d + 1), 0
            ).most
            == most
        )


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_columns_of_float32_are_exact(form):
    """They are float64 where weights differ."""
    X = A.astype(np.float32)
    for weight in (np.ones(n), C, np.resize([1.0, 0.0, 0.3, 1.0, 1.0], n)):
        q = np.sqrt(weight / weight.max())
        columns = Columns(
            classification(y, weight, True),
            ArrayDesign(X if form == "dense" else sparse.csr_matrix(X)),
            1.5,
            np.ones(d + 1),
            0,
        )
        t = np.random.default_rng(1).normal(size=n)
        wanted = np.append(X.astype(np.float64).T @ (y * q * t), 1.5 * (y * q) @ t)
        np.testing.assert_allclose(core.linear_values(columns.columns, None, t), wanted, rtol=1e-12)
        kind = np.float32 if weight.min() == 1 else np.float64
        assert type(columns.columns) is type(core.points(A.astype(kind)))


def penalised(tube, u, column=1.0):
    f = A @ u[:-1] + column * u[-1]
    return np.abs(u[:-1]).sum() + tube.losses(f)


@pytest.mark.parametrize("task", ["classes", "targets"])
def test_descent_on_columns_lowers_the_objective_to_its_least(task):
    tube, price = weighted(task), np.append(np.ones(d), 0.0)
    columns = Columns(tube, ArrayDesign(A), 1.0, price, 0)
    u = np.zeros(d + 1)
    values = [penalised(tube, u)]
    for _ in range(40):
        before = u.copy()
        new, done = columns.descend(u, A @ u[:-1] + u[-1], 3, Monitor(), 0)
        assert done == 3
        np.testing.assert_array_equal(u, before)
        u = new
        values.append(penalised(tube, u))
    assert (np.diff(values) <= 1e-12).all()
    found = lasso.solve(
        LinearProblem(tube, Bias.FREE), LinearWorkspace(ArrayDesign(A), Monitor()), 1e-12
    )
    assert values[-1] == pytest.approx(penalised(tube, np.append(found.w, found.bias)), rel=1e-6)


def test_descent_on_columns_counts_its_passes_and_stops():
    columns = Columns(weighted("classes"), ArrayDesign(A), 1.0, np.ones(d + 1), 0)
    start = np.zeros(d + 1), np.zeros(n)
    assert columns.descend(*start, 7, Monitor(max_iter=12), 10)[1] == 2
    assert columns.descend(*start, 7, Monitor(max_iter=17), 10)[1] == 7
    assert columns.descend(*start, 7, Monitor(max_iter=10), 10)[1] == 0


def test_the_last_pass_is_over_all_columns():
    """Those set aside in between may be wanted after all."""
    columns = Columns(weighted("classes"), ArrayDesign(A), 1.0, np.ones(d + 1), 0)
    visited, seeds, real = [], set(), columns.order

    class Core:
        """Notes how many columns a pass visits."""

        @staticmethod
        def column_pass(points, price, squares, most, u, r, order, active, aside, seed):
            if order is real:
                visited.append((active, aside))
                seeds.add(seed)
                return (0.5, 2) if len(visited) == 1 else (5.0, 2)
            assert (order.tolist(), active, aside) == ([d], 1, np.inf)
            return 0.0, 1

    columns.backend = Core
    columns.descend(np.zeros(d + 1), np.zeros(n), 4, Monitor(), 0)
    assert len(seeds) == 4, "each in an order of its own"
    assert [active for active, _ in visited] == [d + 1, 2, 2, d + 1]
    assert [aside for _, aside in visited] == [
        np.inf,
        pytest.approx(0.05),
        pytest.approx(0.1),
        np.inf,
    ]
