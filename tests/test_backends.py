"""The block solver on another backend: the same problems, with plain NumPy instead of the
compiled core."""

import numpy as np
import pytest

from helpers import settings
from maxmargin import Kernel
from maxmargin.core.choose import HOST
from maxmargin.kernel import block, primal_newton, subsample, working_set, workspace
from maxmargin.kernel.formulations import (
    c_svc,
    eps_svr,
    expectile_svr,
    huber_svr,
    nu_svc,
    nu_svr,
    one_class,
    quantile_svr,
    svdd,
)
from maxmargin.kernel.sources import make_source
from maxmargin.kernel.training import Task, train
from maxmargin.kernel.workspace import KernelWorkspace, Samples
from maxmargin.monitor import Monitor
from numpy_backend import DeviceBackend, HostArray

DEVICE = DeviceBackend()
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
    """The problems of LIBSVM, squared losses, and the other losses of regression."""
    return {
        "C-SVC": c_svc(y, 2.0, weight, False),
        "squared hinge": c_svc(y, 2.0, weight, True),
        "nu-SVC": nu_svc(y, weight, 0.5),
        "one-class": one_class(weight, 0.3),
        "eps-SVR": eps_svr(z, 2.0, weight, 0.1, False),
        "nu-SVR": nu_svr(z, 2.0, weight, 0.4),
        "squared tube": eps_svr(z, 2.0, weight, 0.1, True),
        "quantile": quantile_svr(z, 2.0, weight, 0.2),
        "expectile": expectile_svr(z, 2.0, weight, 0.8),
        "Huber": huber_svr(z, 2.0, weight, 0.3),
        "SVDD": svdd(np.where(z > 3, -1.0, 1.0), weight, 0.2),
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
            trained(machines(*targets)[name], X, kernel, backend, 1e-6)
            for backend in (HOST, DEVICE)
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


def hard(X):
    """A hard margin, which separates by the first feature."""
    return c_svc(np.where(X[:, 0] > 1, 1.0, -1.0), np.inf, np.ones(len(X)), False)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", [*NAMES, "hard margin"])
def test_the_solver_takes_its_functions_from_the_backend(name, large, monkeypatch):
    """Arrays of the device refuse NumPy's functions and arrays of the host.

    Problems run as small ones, and as large ones: subsamples, rounds of a working set, exact sums.
    """
    if large:
        settings(monkeypatch, workspace, small=10)
        settings(monkeypatch, block, one_tile=20)
        settings(
            monkeypatch, working_set, least=40, middle=60, most=80, extreme=4, stiff=1, settled=1.0
        )
        settings(monkeypatch, subsample, rows=50)
    X, *targets = data(150)
    form = hard(X) if name == "hard margin" else machines(*targets)[name]
    found = []
    for backend in (HOST, DEVICE):
        source = make_source(Kernel.rbf(gamma=2.0), X, backend=backend)
        problem = form.build(source)
        first = block.solve(problem, KernelWorkspace(source, Monitor()), 1e-4)
        again = block.solve(problem, KernelWorkspace(source, Monitor()), 1e-6, first.b)
        assert (first.ended, again.ended) == (None, None)
        assert type(again.b) is type(again.kernel_part) is np.ndarray
        found.append(again)
    np.testing.assert_allclose(found[1].kernel_part, found[0].kernel_part, atol=1e-4)
    for ours, theirs in zip(*(one.levels for one in found), strict=True):
        assert theirs.value == pytest.approx(ours.value, abs=1e-4)


@pytest.mark.parametrize("kind", ["given", "function", "view"])
def test_other_sources_live_on_the_device(kind, monkeypatch):
    settings(monkeypatch, workspace, small=10)
    X, y, _, weight = data(120)
    function = Kernel.callable(lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2)))
    rbf = Kernel.rbf(gamma=1.0)
    if kind == "view":
        rows = np.arange(0, 120, 2)
        whole = make_source(rbf, X, backend=DEVICE)
        space = KernelWorkspace(whole, Monitor(), samples=Samples(rbf, X)).view(rows)
        y, weight = y[rows], weight[rows]
    elif kind == "given":
        K = make_source(rbf, X).block(None, None, np.float64)
        space = KernelWorkspace(make_source(Kernel.precomputed(), K, backend=DEVICE), Monitor())
    else:
        space = KernelWorkspace(make_source(function, X, backend=DEVICE), Monitor())
    found = block.solve(c_svc(y, 2.0, weight, False).build(space.source), space, 1e-3)
    assert found.ended is None


def test_arrays_of_host_and_device_do_not_mix():
    here, there = np.ones(3), DEVICE.xp.ones(3)
    for mixed in (
        lambda: here + there,
        lambda: there + here,
        lambda: np.flatnonzero(there),
        lambda: DEVICE.xp.maximum(there, here),
        lambda: there[np.array([0])],
        lambda: there.__setitem__(slice(None), here),
        lambda: DEVICE.update_gradient(np.ones((2, 3)), np.arange(2), np.ones(2), here),
    ):
        with pytest.raises(HostArray):
            mixed()
    there += 2 * DEVICE.xp.asarray(here)
    assert there[1] == 3.0
    assert DEVICE.to_host(there).tolist() == [3.0] * 3


@pytest.mark.parametrize("matrix_rows", [100, 2048])
def test_newton_on_the_primal_takes_its_functions_from_the_backend(matrix_rows, monkeypatch):
    settings(monkeypatch, primal_newton, matrix_rows=matrix_rows, first_subset=100)
    X, y, _, weight = data(450)
    problem = c_svc(y, 2.0, weight, True).build(make_source(KERNELS["rbf"], X))
    found = [
        primal_newton.solve(
            problem,
            KernelWorkspace(make_source(KERNELS["rbf"], X, backend=backend), Monitor()),
            1e-6,
            start,
        )
        for start in (None, np.where(y > 0, 0.1, -0.1))
        for backend in (HOST, DEVICE)
    ]
    assert [one.ended for one in found] == [None] * 4
    for one in found[1:]:
        np.testing.assert_allclose(one.kernel_part, found[0].kernel_part, atol=1e-6)


def test_the_core_is_not_asked_behind_the_back_of_a_backend(monkeypatch):
    """No function of the CPU's core runs while a fit is on another backend."""
    for name in (
        "kernel_block",
        "kernel_product",
        "update_gradient",
        "gather",
        "group_extremes",
        "pair_steps",
        "survey",
        "candidates",
    ):
        monkeypatch.setattr(type(HOST), name, None)
    X, y, _, weight = data(1100)
    source = make_source(KERNELS["rbf"], X, backend=DEVICE)
    found = block.solve(
        c_svc(y, 1.0, weight, False).build(source), KernelWorkspace(source, Monitor()), 1e-3
    )
    assert found.ended is None
