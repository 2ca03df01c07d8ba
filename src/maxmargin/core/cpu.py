"""The CPU as a backend: backend.py and linear_backend.py say what each function means.

The work is done by C++, compiled for several instruction levels; module.cpp chooses one at import.
This file decides how many threads a call gets.
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

import maxmargin.core._cpu as _cpu  # compiled: it has no types
from maxmargin.core import lapack
from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.core.backend import (
    Extremes,
    KernelTuple,
    NotFinite,
    Points,
    Steps,
    Survey,
    Variables,
)
from maxmargin.core.factor_backend import Ended, Walk
from maxmargin.core.linear_backend import Descent, LinearBackend, OnlineBackend, Order, TubeTuple
from maxmargin.core.memory import contiguous
from maxmargin.core.panels import cholesky_in_panels
from maxmargin.core.parts import product
from maxmargin.core.prediction_backend import PredictionBackend
from maxmargin.core.threads import thread_count

INSTRUCTION_LEVEL: str = _cpu.LEVEL
"""The instruction level chosen at import: "base", "v3" (AVX2) or "v4" (AVX-512); the environment
variable MAXMARGIN_LEVEL forces one."""

WALKED = 30.0
"""What a variable costs in a pass over all of them, in multiply-adds: it is read from memory."""

SPARSE_VALUE = 16
"""Multiply-adds that a non-zero is worth, beside 4 for a value of an array (decision 37)."""


def _size(P: Points, index: Indices) -> int:
    return int(P.shape[0]) if index is None else len(index)


def _entries(X: Points, rows: Indices) -> float:
    return _size(X, rows) * (float(X.terms) + 4)


def _pass(X: Points, rows: Indices) -> float:
    """The multiply-adds that a pass over samples is worth: those of sparse ones wait for w."""
    return _entries(X, rows) * (SPARSE_VALUE if X.terms < X.shape[1] else 4)


class CPU(PredictionBackend, LinearBackend, OnlineBackend):
    """The functions of the compiled core."""

    xp = np
    longest_run = 20  # products.h asserts it

    def points(self, X: Any, compress: bool = False) -> Points:
        if sparse.issparse(X):
            indptr, indices = contiguous(X.indptr, np.int64), contiguous(X.indices, np.int32)
            found: Points = _cpu.sparse_points(contiguous(X.data), indptr, indices, X.shape[1])
        else:
            found = (_cpu.compressed_points if compress else _cpu.dense_points)(contiguous(X))
        return found

    def kernel_block(
        self,
        kernel: KernelTuple,
        A: Points,
        a: Indices,
        B: Points,
        b: Indices,
        out: Matrix | None = None,
        slots: Indices = None,
    ) -> Matrix:
        rows, columns = _size(A, a), _size(B, b)
        if out is None:
            dtype = np.float32 if isinstance(A, _cpu.Points32) else np.float64
            out = np.empty((rows, columns), dtype)
        threads = thread_count(rows * columns * (A.shape[1] + 16.0))
        if not _cpu.kernel_block(kernel, A, a, B, b, out, slots, threads):
            raise NotFinite
        return out

    def kernel_product(
        self,
        kernel: KernelTuple,
        A: Points,
        a: Indices,
        coef: Matrix,
        B: Points,
        b: Indices,
        out: Floats,
    ) -> None:
        rows, columns = _size(A, a), _size(B, b)
        work = rows * columns * (A.shape[1] + coef.shape[1] + 16.0)
        if not _cpu.kernel_product(kernel, A, a, contiguous(coef), B, b, out, thread_count(work)):
            raise NotFinite

    def kernel_products(
        self, kernel: KernelTuple, A: Points, begin: Integers, coef: Matrix, B: Points, out: Floats
    ) -> None:
        work = A.shape[0] * B.shape[0] * (A.shape[1] + coef.shape[1] + 16.0) / max(1, len(out))
        if not _cpu.kernel_products(kernel, A, begin, contiguous(coef), B, out, thread_count(work)):
            raise NotFinite

    def expansion(
        self,
        Z: Floats,
        begin: Integers,
        coef: Floats,
        centre: Floats,
        scale: float,
        dtype: DTypeLike,
    ) -> Any:
        make = _cpu.expansion32 if dtype == np.float32 else _cpu.expansion64
        return make(Z, contiguous(begin, np.int64), contiguous(coef), contiguous(centre), scale)

    def expansion_sums(
        self, expansion: Any, X: Matrix, out: Floats, halves: Floats | None, work: float
    ) -> None:
        wide = isinstance(expansion, _cpu.Expansion64)  # half as many values in a vector
        threads = thread_count(2 * work if wide else work)
        if not _cpu.expansion_sums(expansion, contiguous(X), out, halves, threads):
            raise NotFinite

    def update_gradient(self, rows: Matrix, slots: Integers, delta: Floats, F: Floats) -> None:
        _cpu.update_gradient(
            rows, slots, contiguous(delta), F, thread_count(len(slots) * rows.shape[1])
        )

    def gather(
        self, rows: Matrix, slots: Integers, columns: Integers, out: Matrix | None = None
    ) -> Matrix:
        if out is None:
            out = np.empty((len(slots), len(columns)), rows.dtype)
        _cpu.gather(rows, slots, columns, out, thread_count(4.0 * out.size))
        return out

    def mirror(self, matrix: Matrix, places: Integers) -> None:
        _cpu.mirror(matrix, places, thread_count(4.0 * len(places) * len(matrix)))

    def join_blocks(self, first: Matrix, between: Matrix, second: Matrix, out: Matrix) -> None:
        _cpu.join_blocks(first, between, second, out)

    def group_extremes(self, variables: Variables) -> list[Extremes]:
        G, b, lower, upper, _, begin, fixed = variables
        found = _cpu.group_extremes(G, b, lower, upper, begin, fixed)
        return list(map(Extremes._make, found))

    def survey(
        self, variables: Variables, F: Floats, row: Integers, linear: Floats, other: Floats
    ) -> Survey:
        threads = thread_count(WALKED * len(row))
        groups, value, squared = _cpu.survey(*variables, F, row, linear, other, threads)
        return Survey(variables, list(map(Extremes._make, groups)), 0.5 * value, squared**0.5)

    def candidates(
        self, variables: Variables, level: Floats, size: int
    ) -> tuple[Integers, Floats, Integers]:
        G, b, lower, upper, _, begin, fixed = variables
        threads = thread_count(WALKED * len(G))
        found: tuple[Integers, Floats, Integers] = _cpu.candidates(
            G, b, lower, upper, begin, fixed, contiguous(level), size, threads
        )
        return found

    def pair_steps(self, K: Matrix, variables: Variables, tol: float, most: int) -> Steps:
        return Steps(*_cpu.pair_steps(K, *variables, tol, most))

    def separate_steps(
        self,
        kernel: KernelTuple,
        A: Points,
        exact: Points,
        a: Integers,
        variables: Variables,
        tol: float,
        most: Integers,
    ) -> list[Steps]:
        sizes = variables.begin[1:] - variables.begin[:-1]
        work = float(sizes @ np.minimum(sizes, 512)) * (A.terms + 16.0)
        threads = thread_count(work)
        found = _cpu.separate_steps(kernel, A, exact, a, *variables, tol, most, threads)
        if not all(finite for *_, finite in found):
            raise NotFinite
        return [Steps(*values) for *values, _ in found]

    def face_steps(
        self, walk: Walk, count: int, columns: Floats, at: Integers, dependent: float
    ) -> tuple[int, Ended]:
        count, ended = _cpu.face_steps(*walk, count, columns, at, dependent)
        return count, Ended(ended)

    def cholesky(self, Q: Floats) -> Floats | None:
        return lapack.cholesky(Q)

    cholesky_of_values = staticmethod(cholesky_in_panels)

    def cholesky_solve(self, factor: Floats, right: Floats) -> Floats:
        return lapack.cholesky_solve(factor, right)

    def triangular_solve(self, factor: Floats, right: Floats, transposed: bool = False) -> Floats:
        return lapack.triangular_solve(factor, right, transposed)

    product = staticmethod(product)

    # ---- linear models --------------------------------------------------------------------------

    def linear_values(self, X: Points, rows: Indices, w: Floats) -> Floats:
        out = np.empty(_size(X, rows))
        _cpu.linear_values(X, rows, contiguous(w), out, thread_count(_pass(X, rows)))
        return out

    def linear_sum(self, X: Points, rows: Indices, t: Floats) -> Floats:
        out = np.empty(X.shape[1])
        _cpu.linear_sum(X, rows, contiguous(t), out, thread_count(_pass(X, rows)))
        return out

    def linear_hessian(
        self, X: Points, rows: Indices, weight: Floats, u: Floats, shift: float
    ) -> tuple[Floats, float]:
        out = np.empty(X.shape[1])
        threads = thread_count(2 * _pass(X, rows))
        return out, _cpu.linear_hessian(
            X, rows, contiguous(weight), contiguous(u), shift, out, threads
        )

    def linear_diagonal(self, X: Points, rows: Indices, weight: Floats) -> Floats:
        out = np.empty(X.shape[1])
        _cpu.linear_diagonal(X, rows, contiguous(weight), out, thread_count(_pass(X, rows)))
        return out

    def linear_squares(self, X: Points) -> Floats:
        out = np.empty(X.shape[0])
        _cpu.linear_squares(X, out, thread_count(_pass(X, None)))
        return out

    def gram(self, X: Points, rows: Indices, weight: Floats) -> Floats:
        out = np.empty((X.shape[1], X.shape[1]))
        _cpu.gram(
            X, rows, contiguous(weight), out, thread_count(_entries(X, rows) * float(X.terms))
        )
        return out

    def tube_duals(
        self,
        tube: TubeTuple,
        f: Floats,
        prox_centre: Floats | None,
        smoothing: float,
        t: Floats,
        curvature: Floats | None,
    ) -> tuple[float, float, float]:
        sums: tuple[float, float, float] = _cpu.tube_duals(
            *tube, f, prox_centre, smoothing, t, curvature, thread_count(40.0 * len(f))
        )
        return sums

    def tube_slope(
        self,
        tube: TubeTuple,
        f: Floats,
        change: Floats,
        step: float,
        prox_centre: Floats | None,
        smoothing: float,
    ) -> float:
        threads = thread_count(40.0 * len(f))
        slope = _cpu.tube_slope(*tube, f, change, step, prox_centre, smoothing, threads)
        return float(slope)

    def coordinate_descent(
        self, X: Points, tube: TubeTuple, squares: Floats, beta: Floats, column: float
    ) -> Descent:
        descent = _cpu.Descent32 if isinstance(X, _cpu.Points32) else _cpu.Descent64
        found: Descent = descent(X, *tube, squares, beta, column)
        return found

    def scaled_columns(self, X: Points, factor: Floats, last: float) -> Points:
        threads = thread_count(8.0 * _entries(X, None))
        columns: Points = _cpu.scaled_columns(X, factor, last, threads)
        return columns

    def column_pass(
        self,
        columns: Points,
        penalty: Floats,
        squares: Floats,
        factor: float,
        w: Floats,
        r: Floats,
        order: Order,
        active: int,
        shrink_above: float,
        seed: int,
    ) -> tuple[float, int]:
        threads = thread_count(_entries(columns, None))
        found: tuple[float, int] = _cpu.column_pass(
            columns, penalty, squares, factor, w, r, order, active, shrink_above, seed, threads
        )
        return found

    def class_values(self, X: Points, rows: Indices, W: Floats) -> Floats:
        out = np.empty((_size(X, rows), W.shape[1]))
        _cpu.class_values(X, rows, contiguous(W), out, thread_count(_entries(X, rows) * W.shape[1]))
        return out

    def class_sum(self, X: Points, rows: Indices, t: Floats) -> Floats:
        out = np.empty((X.shape[1], t.shape[1]))
        _cpu.class_sum(X, rows, contiguous(t), out)
        return out

    def squared_hinges(
        self,
        X: Points,
        sign: Floats,
        cost: Floats,
        column: float,
        m: float,
        goal: float,
        most: int,
    ) -> tuple[Floats, Floats, list[tuple[int, bool]]]:
        u, f = np.zeros((len(sign), X.shape[1] + 1)), np.empty(sign.shape)
        threads = thread_count(len(sign) * _entries(X, None) * (float(X.shape[1]) + 16))
        found = _cpu.squared_hinges(X, sign, cost, column, m, goal, most, u, f, threads)
        return u, f, found

    crammer_singer_pass = staticmethod(_cpu.crammer_singer_pass)
    lasso_descent = staticmethod(_cpu.lasso_descent)

    # ---- online learning ------------------------------------------------------------------------

    pegasos_rows = staticmethod(_cpu.pegasos_rows)
    pegasos_tile = staticmethod(_cpu.pegasos_tile)
    norma_tile = staticmethod(_cpu.norma_tile)

    # ---- probabilities --------------------------------------------------------------------------

    def minimise_logistic(
        self, X: Floats, t: Floats, w: Floats, start: Floats, most: int
    ) -> tuple[Floats, float]:
        """The most likely logistic function of two or three features, the rows of X, and its F.

        At most `most` Newton steps are taken from the start; logistic.h says what F is.
        """
        x = np.array(start, np.float64)
        value, _ = _cpu.minimise_logistic(contiguous(X), contiguous(t), contiguous(w), x, most)
        return x, value

    # ---- ranking --------------------------------------------------------------------------------

    def rank_pairs(
        self,
        key: Floats,
        weight: Floats,
        level_begin: Integers,
        query_begin: Integers,
        margin: float,
    ) -> tuple[Floats, Floats]:
        """For each sample the weight of the partners below and above it in active pairs.

        The samples stand in order of query and level; ranking.h says which pairs are active.
        """
        below, above = np.empty(len(key)), np.empty(len(key))
        threads = thread_count(100.0 * len(key))
        _cpu.rank_pairs(key, weight, level_begin, query_begin, margin, below, above, threads)
        return below, above
