"""A backend in plain NumPy: slow and obvious, the oracle for every other one.

`NumpyBackend` takes and returns NumPy arrays. `DeviceBackend` is the same with arrays that behave
as if they lived on a device: NumPy's functions refuse them, and so do operations with arrays of the
host. Code that runs on it takes its functions from `xp` and moves arrays where it must.
"""

from inspect import signature
from types import ModuleType

import numpy as np
from scipy import sparse

from maxmargin.core.backend import RBF_BY_DIFFERENCES, Extremes, NotFinite, Steps
from maxmargin.core.prediction_backend import PredictionBackend
from maxmargin.kernel.kernels import Kind

ORIGIN = -1
"""The number of the variable that a group without a fixed sum has more: no bounds, a kernel row of
zeros."""


class Points:
    """Points as a dense array, in their own precision."""

    def __init__(self, X):
        self.values = np.asarray(X.toarray() if sparse.issparse(X) else X)
        self.shape = self.values.shape
        self.norms = np.sum(self.values**2, axis=1)
        self.terms = int(np.count_nonzero(self.values, axis=1).max(initial=0))


class NumpyBackend(PredictionBackend):
    """The abstract functions of backend.py by their formulas, and its defaults."""

    xp = np
    longest_run = 1  # sums are float64

    def points(self, X, compress=False):
        return Points(X)

    def kernel_block(self, kernel, A, a, B, b, out=None, slots=None):
        P, Q = (
            X.values.astype(np.float64)[slice(None) if at is None else at]
            for X, at in ((A, a), (B, b))
        )
        values = kernel_values(kernel, P, Q).astype(A.values.dtype)
        if not np.isfinite(values).all():
            raise NotFinite
        if out is None:
            return np.ascontiguousarray(values)
        out[slice(None) if slots is None else slots] = values
        return out

    def kernel_product(self, kernel, A, a, coef, B, b, out):
        out += coef.astype(np.float64).T @ self.kernel_block(kernel, A, a, B, b)

    def update_gradient(self, rows, slots, delta, F):
        F += delta @ rows[slots].astype(np.float64)

    def gather(self, rows, slots, columns, out=None):
        if out is None:
            out = np.empty((len(slots), len(columns)), rows.dtype)
        out[...] = rows[np.ix_(slots, columns)]
        return out

    def group_extremes(self, variables):
        G, b, lower, upper, _, begin, fixed = variables
        found = []
        for first, last, is_fixed in zip(begin, begin[1:], fixed, strict=False):
            g, grow, shrink = G[first:last], (b < upper)[first:last], (b > lower)[first:last]
            least, greatest = g[grow].min(initial=np.inf), g[shrink].max(initial=-np.inf)
            if not is_fixed:
                least, greatest = min(least, 0.0), max(greatest, 0.0)
            free = g[grow & shrink]
            found.append(Extremes(float(least), float(greatest), float(free.sum()), len(free)))
        return found

    def pair_steps(self, K, variables, tol, most):
        copies = len(variables.b) // len(K) if len(K) else 1
        K, steps, negative = np.tile(K.astype(np.float64), (copies, copies)), 0, False
        while True:
            violation, i, j = worst_pair(variables)
            if not violation > tol or steps >= most:
                return Steps(steps, max(violation, 0.0), negative, False)
            curvature = sum(value(K, variables.ridge, k, k) for k in (i, j)) - 2 * value(
                K, variables.ridge, i, j
            )
            size = abs(value(K, variables.ridge, i, i)) + abs(value(K, variables.ridge, j, j))
            negative = negative or curvature < -1e-12 * size
            floor = 1e-15 * size + 1e-300
            room = min(room_above(variables, i), room_below(variables, j))
            if curvature <= floor and room == np.inf:
                return Steps(steps, violation, negative, True)
            t = min(violation / curvature if curvature > floor else np.inf, room)
            move(K, variables, i, t)
            move(K, variables, j, -t)
            steps += 1

    def cholesky(self, Q):
        try:
            return np.linalg.cholesky(np.triu(Q) + np.triu(Q, 1).T)
        except np.linalg.LinAlgError:
            return None

    def cholesky_solve(self, factor, right):
        L = np.tril(factor)
        return np.linalg.solve(L.T, np.linalg.solve(L, right))


def kernel_values(kernel, P, Q):
    """k(P, Q) by the formula."""
    kind, gamma, coef0, degree = kernel
    with np.errstate(over="ignore", invalid="ignore"):
        if kind in (int(Kind.RBF), RBF_BY_DIFFERENCES):
            return np.exp(-gamma * ((P[:, None] - Q[None]) ** 2).sum(axis=2))
        if kind == int(Kind.LAPLACIAN):
            return np.exp(-gamma * np.abs(P[:, None] - Q[None]).sum(axis=2))
        if kind == int(Kind.CHI2):
            total, difference = P[:, None] + Q[None], P[:, None] - Q[None]
            return np.exp(
                -gamma
                * np.divide(difference**2, total, out=np.zeros_like(total), where=total != 0).sum(
                    axis=2
                )
            )
        dot = P @ Q.T
        if kind == int(Kind.LINEAR):
            return dot
        affine = gamma * dot + coef0
        if kind == int(Kind.POLY):
            return affine**degree
        return np.tanh(affine) if kind == int(Kind.TANH) else 1 / (1 + np.exp(-affine))


def worst_pair(variables):
    """The greatest violation and its pair: i grows, j shrinks."""
    G, b, lower, upper, _, begin, fixed = variables
    up, down = np.where(b < upper, G, np.inf), np.where(b > lower, G, -np.inf)
    worst = (-np.inf, ORIGIN, ORIGIN)
    for first, last, is_fixed in zip(begin, begin[1:], fixed, strict=False):
        if first == last:
            continue
        i, j = first + int(up[first:last].argmin()), first + int(down[first:last].argmax())
        least, greatest = up[i], down[j]
        if not is_fixed and least > 0:
            least, i = 0.0, ORIGIN
        if not is_fixed and greatest < 0:
            greatest, j = 0.0, ORIGIN
        if greatest - least > worst[0]:
            worst = (greatest - least, i, j)
    return worst


def value(K, ridge, i, j):
    """An entry of K + diag(ridge); 0 for the origin."""
    return 0.0 if ORIGIN in (i, j) else K[i, j] + ridge[i] * (i == j)


def room_above(variables, i):
    return np.inf if i == ORIGIN else variables.upper[i] - variables.b[i]


def room_below(variables, j):
    return np.inf if j == ORIGIN else variables.b[j] - variables.lower[j]


def move(K, variables, k, t):
    """Change a variable, exactly onto a bound where the step ends there, and the gradient."""
    if k == ORIGIN:
        return
    G, b, lower, upper, ridge, *_ = variables
    end = b[k] + t
    b[k] = upper[k] if t == upper[k] - b[k] else lower[k] if -t == b[k] - lower[k] else end
    G += t * K[k]
    G[k] += t * ridge[k]


# ---- as if on a device ---------------------------------------------------------------------------


class HostArray(TypeError):
    """An array of the host met one of the device."""


class DeviceArray(np.ndarray):
    """An array that lives with the data: only `xp`, operators and methods work on it."""

    def __array_function__(self, function, types, arguments, named):
        raise HostArray(f"np.{function.__name__} of an array of the device: use xp")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **named):
        refuse_host((*inputs, *(out or ()), *named.values()), ufunc.__name__)
        if out is not None:
            named["out"] = host(out)
        return device(getattr(ufunc, method)(*host(inputs), **named))

    def __getitem__(self, index):
        refuse_host(index, "an index")
        return device(self.view(np.ndarray)[host(index)])

    def __setitem__(self, index, values):
        refuse_host((index, values), "an assignment")
        self.view(np.ndarray)[host(index)] = host(values)


def device(values):
    """Arrays as arrays of the device, also those in tuples; numbers as they are."""
    if type(values) is tuple:
        return tuple(map(device, values))
    return values.view(DeviceArray) if isinstance(values, np.ndarray) and values.ndim else values


def host(values):
    """Arrays of the device as NumPy arrays on the same memory, also inside tuples and lists."""
    if isinstance(values, DeviceArray):
        return values.view(np.ndarray)
    if isinstance(values, tuple | list):
        parts = map(host, values)
        return type(values)(*parts) if hasattr(values, "_fields") else type(values)(parts)
    return values


def refuse_host(values, what):
    """HostArray if an array of the host is among the values."""
    if isinstance(values, tuple | list):
        for part in values:
            refuse_host(part, what)
    elif isinstance(values, np.ndarray) and values.ndim and not isinstance(values, DeviceArray):
        raise HostArray(f"{what} with an array of the host: use xp.asarray")


class Namespace:
    """NumPy's functions on arrays of the device; `asarray` alone takes arrays of the host."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            return Namespace(found)

        def call(*arguments, **named):
            refuse_host((*arguments, *named.values()), name)
            named = {key: host(value) for key, value in named.items()}
            return device(found(*host(arguments), **named))

        return call

    def asarray(self, values):
        return values if isinstance(values, DeviceArray) else device(np.array(values))


PLAIN = NumpyBackend()
WRITTEN = {
    "kernel_block": "out",
    "kernel_product": "out",
    "update_gradient": "F",
}
"""Arguments that are changed in place: they must live on the device."""


class DeviceBackend(NumpyBackend):
    """The same functions on arrays of the device; what is only read may live on the host."""

    xp = Namespace(np)

    def to_host(self, values):
        return np.array(host(values))


def on_device(name):
    """A function of NumpyBackend that takes and returns arrays of the device."""
    function = getattr(NumpyBackend, name)

    def call(self, *arguments, **named):
        given = signature(function).bind(self, *arguments, **named).arguments
        refuse_host(given.get(WRITTEN.get(name)), name)
        if "variables" in given:
            refuse_host(given["variables"][:2], name)
        named = {key: host(value) for key, value in named.items()}
        return device(function(PLAIN, *host(arguments), **named))

    return call


for _name in PredictionBackend.__abstractmethods__:
    setattr(DeviceBackend, _name, on_device(_name))
