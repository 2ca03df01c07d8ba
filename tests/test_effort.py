"""How many steps the solvers take: a fault that leaves the answer right, because it is certified,
shows here.

Steps are the same for any number of threads, and nearly so on any machine: the limits leave a
quarter and one step for that. Work is counted as well: rows of the kernel matrix that are computed,
and passes over the data of a linear model.
"""

import numpy as np
import pytest

from maxmargin.kernel import block, primal_newton, problems
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import NativeSource, make_source
from maxmargin.kernel.tube import insensitive
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.linear import (
    classes,
    crammer_singer,
    dual_coordinate,
    lasso,
    newton_system,
    semismooth,
)
from maxmargin.linear.classes import ClassesProblem
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem, classification, one_class, regression
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor

rng = np.random.default_rng(12)
N = 1300  # more than are solved to rounding
A = rng.normal(size=(N, 6)) * [1, 2, 0.5, 1, 3, 1]
F = np.sin(A[:, 0]) * 2 + A[:, 1] - 0.5 * A[:, 2] ** 2 + 0.3 * rng.normal(size=N)
y, z = np.where(F > 0.3, 1.0, -1.0), F / F.std()
C = rng.uniform(0.5, 2.0, N)

DUALS = {
    "c_svc": problems.c_svc(y, C),
    "c_svc large C": problems.c_svc(y, 300 * C),
    "c_svc squared": problems.c_svc(y, C, True),
    "nu_svc": problems.nu_svc(y, C, 0.3),
    "one_class": problems.one_class(C, 0.2),
    "eps_svr": problems.svr(insensitive(z, C, 0.1)),
    "eps_svr large C": problems.svr(insensitive(z, 100 * C, 0.1)),
    "nu_svr": problems.nu_svr(z, C, 0.4),
}
PAIR_STEPS = {
    "c_svc": (902, 1_418),
    "c_svc large C": (10_229, 1_541),
    "c_svc squared": (1_327, 1_442),
    "nu_svc": (827, 3_167),
    "one_class": (530, 1_706),
    "eps_svr": (5_430, 1_519),
    "eps_svr large C": (78_002, 3_794),
    "nu_svr": (7_214, 1_517),
}
"""Steps and kernel values, in rows of the matrix, seen with tol=1e-3."""

TUBES = {
    "hinge": classification(y, C, False),
    "squared_hinge": classification(y, C, True),
    "tube": regression(z, C, 0.1, False),
    "squared_tube": regression(z, C, 0.1, True),
}
NEWTON = {
    "hinge": ((17, 60), (19, 93), (19, 86)),
    "squared_hinge": ((4, 15), (4, 20), (4, 19)),
    "tube": ((16, 62), (18, 94), (18, 86)),
    "squared_tube": ((4, 16), (3, 17), (3, 15)),
}
"""Steps of Newton's method and passes over the data seen with tol=1e-5: without a bias, with a free
and with a penalised one."""
LASSO = {"squared_hinge": (6, 29), "squared_tube": (4, 25)}
"""The same with absolute values as penalty, for any bias."""
PASSES = {
    "hinge": (112, 171, 103),
    "squared_hinge": (78, 148, 85),
    "tube": (1134, 1562, 1040),
    "squared_tube": (125, 209, 133),
}
"""Passes of coordinate descent seen with tol=1e-2."""
TOGETHER = (204, 407, 204)
"""Passes for three classes at once seen with tol=1e-2."""


def limit(seen):
    return 1.25 * seen + 1


class CountedDesign(ArrayDesign):
    """Counts the passes over its data."""

    work = 0

    def values(self, w, rows=None):
        self.work += 1
        return super().values(w, rows)

    def sum(self, t, rows=None):
        self.work += 1
        return super().sum(t, rows)

    def gram(self, weight, rows=None):
        self.work += 1
        return super().gram(weight, rows)


class CountedSource(NativeSource):
    """Counts the kernel values that are computed, in rows."""

    work = 0.0

    def _count(self, a, b=None):
        rows, columns = (self.n_rows if at is None else len(at) for at in (a, b))
        self.work += rows * columns / self.n_rows

    def block(self, a, b, dtype):
        self._count(a, b)
        return super().block(a, b, dtype)

    def fill_block(self, a, b, out):
        self._count(a, b)
        super().fill_block(a, b, out)

    def fill_places(self, a, places, out):
        self._count(places, a)
        super().fill_places(a, places, out)

    def fill_rows(self, a, rows, slots):
        self._count(a)
        super().fill_rows(a, rows, slots)

    def add_product(self, a, coef, b, out, dtype):
        self._count(a, b)
        super().add_product(a, coef, b, out, dtype)


@pytest.mark.parametrize("name", DUALS)
def test_pair_steps(name):
    source, (steps, rows) = CountedSource(Kernel.rbf(gamma=0.1), A), PAIR_STEPS[name]
    found = block.solve(DUALS[name], KernelWorkspace(source, Monitor()), 1e-3)
    assert source.work <= limit(rows)
    again = block.solve(DUALS[name], KernelWorkspace(source, Monitor()), 1e-3, found.b)
    assert (found.ended, again.ended) == (None, None)
    assert found.n_iter <= limit(steps)
    assert again.n_iter <= 0.05 * steps, "from the solution"


def test_pair_steps_of_many_samples_begin_at_a_guess():
    X = np.random.default_rng(3).normal(size=(6000, 5))
    sign = np.where(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0, 1.0, -1.0)
    found = block.solve(
        problems.c_svc(sign, np.full(6000, 100.0)),
        KernelWorkspace(make_source(Kernel.rbf(gamma=0.2), X), Monitor()),
        1e-3,
    )
    assert found.ended is None
    assert found.n_iter <= limit(49_474)


def test_newton_steps_of_a_kernel_machine():
    source = CountedSource(Kernel.rbf(gamma=0.1), A)
    found = primal_newton.solve(DUALS["c_svc squared"], KernelWorkspace(source, Monitor()), 1e-6)
    assert source.work <= N, "each row once"
    again = primal_newton.solve(
        DUALS["c_svc squared"], KernelWorkspace(source, Monitor()), 1e-6, found.b
    )
    assert found.n_iter <= limit(8)
    assert again.n_iter <= 1


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", TUBES)
def test_newton_steps_of_linear_models(name, bias):
    problem, design = LinearProblem(TUBES[name], bias), CountedDesign(A)
    steps, passes = NEWTON[name][list(Bias).index(bias)]
    found = semismooth.solve(problem, LinearWorkspace(design, Monitor()), 1e-5)
    assert found.ended is None
    assert found.n_iter <= limit(steps)
    assert design.work <= limit(passes)
    assert semismooth.solve(problem, LinearWorkspace(design, Monitor()), 1e-5, found).n_iter <= 1


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", LASSO)
def test_newton_steps_of_the_lasso(name, bias):
    problem, design = LinearProblem(TUBES[name], bias), CountedDesign(A)
    found = lasso.solve(problem, LinearWorkspace(design, Monitor()), 1e-5)
    assert found.ended is None
    assert found.n_iter <= LASSO[name][0]
    assert design.work <= limit(LASSO[name][1])
    assert lasso.solve(problem, LinearWorkspace(design, Monitor()), 1e-5, found).n_iter == 0


def test_newton_steps_of_a_linear_one_class_model():
    problem = LinearProblem(one_class(C), Bias.FREE, total=0.2 * float(C.sum()))
    assert semismooth.solve(
        problem, LinearWorkspace(ArrayDesign(A), Monitor()), 1e-5
    ).n_iter <= limit(9)


@pytest.mark.parametrize("squared", [False, True])
def test_newton_steps_of_wide_data(squared):
    X = np.random.default_rng(4).normal(size=(60, 1500))
    problem = LinearProblem(classification(np.sign(X[:, 0]), np.ones(60), squared), Bias.FREE)
    design = CountedDesign(X)
    assert semismooth.solve(problem, LinearWorkspace(design, Monitor()), 1e-4).n_iter <= (
        1 if squared else 3
    )
    assert design.work <= limit(7 if squared else 21)
    if squared:
        design = CountedDesign(X)
        assert lasso.solve(problem, LinearWorkspace(design, Monitor()), 1e-4).n_iter <= limit(16)
        assert design.work <= limit(135)


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", TUBES)
def test_passes_of_coordinate_descent(name, bias):
    problem, design = LinearProblem(TUBES[name], bias), ArrayDesign(A)
    found = dual_coordinate.solve(problem, LinearWorkspace(design, Monitor()), 1e-2)
    assert found.ended is None
    assert found.n_iter <= limit(PASSES[name][list(Bias).index(bias)])
    assert (
        dual_coordinate.solve(problem, LinearWorkspace(design, Monitor()), 1e-2, found).n_iter <= 32
    )


def test_samples_far_from_the_margin_are_shrunk():
    """Those whose conditions hold by 30 times the mean gap that a pass meets.

    Most are not visited close to the end.
    """
    run = dual_coordinate._Run(
        LinearProblem(TUBES["hinge"], Bias.NONE), ArrayDesign(A), Monitor(), None, 0
    )
    active, sets = N, []
    for passes in range(1, 40):
        gap, _ = run._epoch()
        assert run.shrink_above == pytest.approx(30 * gap / run.active)
        assert run.epochs == passes
        assert run.active <= active
        active = run.active
        sets.append(active)
    assert sets[-1] < 0.5 * N
    run.here = run.here._replace(w=np.zeros(6), t=np.zeros(N))
    returned = run._return_shrunk(run._solution(1e-2, None)[0])
    assert returned > 0
    assert run.active == active + returned


@pytest.mark.parametrize("bias", Bias)
def test_passes_of_all_classes_at_once(bias):
    label, design = np.digitize(F, [-1.0, 1.0]), ArrayDesign(A)
    found = crammer_singer.solve(
        ClassesProblem(label, 3, C, bias), LinearWorkspace(design, Monitor()), 1e-2
    )
    assert found.ended is None
    assert found.n_iter <= limit(TOGETHER[list(Bias).index(bias)])
    problem = ClassesProblem(label, 3, C, bias, 1.5)
    run = crammer_singer._Run(problem, design)
    run.begin_at(found)
    wanted = classes.objectives(problem, design, found.W, found.bias, found.t).dual
    assert run.dual() == pytest.approx(wanted, rel=1e-9), "what passes are stopped by"


PRODUCTS = {
    "hinge": ((19, 205), (29, 410), (30, 409)),
    "squared_hinge": ((4, 40), (7, 95), (7, 93)),
    "tube": ((16, 162), (27, 361), (30, 410)),
    "squared_tube": ((5, 46), (5, 66), (6, 76)),
}
"""As NEWTON, by conjugate gradients."""
COLUMNS = {"squared_hinge": (11, 39), "squared_tube": (7, 15)}
"""As LASSO, by passes over the columns and conjugate gradients."""


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", TUBES)
def test_steps_by_conjugate_gradients(name, bias, monkeypatch):
    """As for data of many features: the Hessian is not formed."""
    monkeypatch.setattr(newton_system, "SETTINGS", newton_system.SETTINGS._replace(factor_up_to=2))
    problem, design = LinearProblem(TUBES[name], bias), CountedDesign(A)
    steps, passes = PRODUCTS[name][list(Bias).index(bias)]
    found = semismooth.solve(problem, LinearWorkspace(design, Monitor()), 1e-5)
    assert found.ended is None
    assert found.n_iter <= limit(steps)
    assert design.work <= limit(passes)


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", COLUMNS)
def test_steps_of_the_lasso_by_columns(name, bias, monkeypatch):
    monkeypatch.setattr(lasso, "SETTINGS", lasso.SETTINGS._replace(newton_up_to=2))
    problem, design = LinearProblem(TUBES[name], bias), CountedDesign(A)
    found = lasso.solve(problem, LinearWorkspace(design, Monitor()), 1e-5)
    assert found.ended is None
    assert 0 < found.n_iter <= limit(COLUMNS[name][0])
    assert design.work <= limit(COLUMNS[name][1])
