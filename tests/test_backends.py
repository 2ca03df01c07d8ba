"""The block solver on another backend.

The same problems, plain NumPy instead of the compiled core.
"""

import numpy as np
import pytest

from maxmargin import Kernel
from maxmargin.core.choose import HOST
from maxmargin.kernel import block, primal_newton
from maxmargin.kernel.formulations import c_svc, eps_svr, nu_svc, nu_svr, one_class
from maxmargin.kernel.sources import make_source
from maxmargin.kernel.training import Task, train
from maxmargin.kernel.workspace import KernelWorkspace, Samples
from maxmargin.monitor import Monitor
from numpy_backend import NumpyBackend

NUMPY = NumpyBackend()
KERNELS = {
    "rbf": Kernel.rbf(gamma=0.4),
    "linear": Kernel.linear(),
    "poly": Kernel.poly(gamma=0.5, coef0=1.0, degree=2),
}


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 1.0  # one-class models need an origin outside
    z = np.sin(X[:, 0]) - X[:, 1] + 0.3 * rng.normal(size=n)
    return X, np.where(z > np.median(z), 1.0, -1.0), z, rng.uniform(0.5, 2.0, n)


def machines(y, z, weight):
    """The five problems, hard margin and squared losses."""
    return {
        "C-SVC": c_svc(y, 2.0, weight, False),
        "squared hinge": c_svc(y, 2.0, weight, True),
        "nu-SVC": nu_svc(y, weight, 0.5),
        "one-class": one_class(weight, 0.3),
        "eps-SVR": eps_svr(z, 2.0, weight, 0.1, False),
        "nu-SVR": nu_svr(z, 2.0, weight, 0.4),
    }


NAMES = list(machines(*data(10)[1:]))


def trained(form, X, kernel, backend, tol):
    source = make_source(kernel, X, backend=backend)
    return train(Task(form, tol), KernelWorkspace(source, Monitor(), samples=Samples(kernel, X)))


@pytest.mark.parametrize("n", [90, 1200])
@pytest.mark.parametrize("name", NAMES)
def test_the_solver_runs_on_plain_numpy_and_agrees(name, n):
    X, *targets = data(n)
    for kernel in KERNELS.values() if n == 90 else [KERNELS["rbf"]]:
        ours, theirs = (
            trained(machines(*targets)[name], X, kernel, backend, 1e-6) for backend in (HOST, NUMPY)
        )
        assert ours.certificate.status == theirs.certificate.status == "optimal"
        assert theirs.certificate.primal == pytest.approx(
            ours.certificate.primal, rel=1e-5, abs=1e-9
        )
        values = [
            make_source(kernel, X).product(None, one.decision.coef) + one.decision.intercept
            for one in (ours, theirs)
        ]
        np.testing.assert_allclose(values[1], values[0], atol=1e-4 * np.abs(values[0]).max())


def test_newton_on_the_primal_runs_on_plain_numpy():
    X, y, _, weight = data(700)
    problem = c_svc(y, 2.0, weight, True).build(make_source(KERNELS["rbf"], X))
    found = [
        primal_newton.solve(
            problem,
            KernelWorkspace(make_source(KERNELS["rbf"], X, backend=backend), Monitor()),
            1e-6,
        )
        for backend in (HOST, NUMPY)
    ]
    assert [one.ended for one in found] == [None, None]
    np.testing.assert_allclose(found[1].kernel_part, found[0].kernel_part, atol=1e-6)


def test_the_core_is_not_asked_behind_the_back_of_a_backend(monkeypatch):
    """No function of the CPU's core runs while a fit is on another backend."""
    for name in (
        "kernel_block",
        "kernel_product",
        "update_gradient",
        "gather",
        "group_extremes",
        "pair_steps",
        "pair_steps_on_points",
    ):
        monkeypatch.setattr(type(HOST), name, None)
    X, y, _, weight = data(1100)
    source = make_source(KERNELS["rbf"], X, backend=NUMPY)
    found = block.solve(
        c_svc(y, 1.0, weight, False).build(source), KernelWorkspace(source, Monitor()), 1e-3
    )
    assert found.ended is None
