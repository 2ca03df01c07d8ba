"""The compiled module; cpu.py documents these functions."""

from typing import Any

class Points32:
    shape: tuple[int, int]
    terms: int
    norms: Any

class Points64:
    shape: tuple[int, int]
    terms: int
    norms: Any

def fingerprint(memory: Any) -> int: ...
def level() -> str: ...
def levels() -> list[str]: ...
def dense_points(X: Any) -> Any: ...
def compressed_points(X: Any) -> Any: ...
def sparse_points(values: Any, indptr: Any, indices: Any, d: int) -> Any: ...
def kernel_block(kernel: Any, A: Any, a: Any, B: Any, b: Any, out: Any, slots: Any, threads: int) -> bool: ...
def kernel_matvec(kernel: Any, A: Any, a: Any, coef: Any, B: Any, b: Any, out: Any, threads: int) -> bool: ...
def grouped_matvec(kernel: Any, A: Any, begin: Any, coef: Any, B: Any, out: Any, threads: int) -> bool: ...
def update_gradient(rows: Any, slots: Any, delta: Any, F: Any, threads: int) -> None: ...
def gather(rows: Any, slots: Any, columns: Any, out: Any, threads: int) -> None: ...
def join_blocks(first: Any, between: Any, second: Any, out: Any) -> None: ...
def group_ends(G: Any, b: Any, lower: Any, upper: Any, group_begin: Any) -> list[tuple[float, float, float, int]]: ...
def solve_points(
    kernel: Any,
    A: Any,
    a: Any,
    G: Any,
    b: Any,
    lower: Any,
    upper: Any,
    ridge: Any,
    group_begin: Any,
    tol: float,
    max_steps: int,
    threads: int,
) -> tuple[int, float, bool, bool, bool]: ...
def solve_block(
    K: Any, G: Any, b: Any, lower: Any, upper: Any, ridge: Any, group_begin: Any, tol: float, max_steps: int
) -> tuple[int, float, bool, bool]: ...
def linear_values(X: Any, index: Any, w: Any, out: Any, threads: int) -> None: ...
def linear_sum(X: Any, index: Any, coef: Any, out: Any, threads: int) -> None: ...
def linear_squares(X: Any, out: Any, threads: int) -> None: ...
def gram(X: Any, index: Any, weight: Any, out: Any, threads: int) -> None: ...
def corridor_duals(*arguments: Any) -> tuple[float, float, float, float]: ...
def corridor_slope(*arguments: Any) -> float: ...
def coordinate_pass(*arguments: Any) -> tuple[float, float, int, float]: ...

class Rows32:
    shape: tuple[int, int]

class Rows64:
    shape: tuple[int, int]

def dense_rows(X: Any) -> Any: ...
def sparse_rows(values: Any, indptr: Any, indices: Any, d: int) -> Any: ...
def pegasos_rows(
    X: Any,
    order: Any,
    y: Any,
    gain: Any,
    v: Any,
    u: Any,
    coef_v: Any,
    coef_u: Any,
    centre: Any,
    square: float,
    numbers: Any,
    alpha: float,
    bias_step: float,
    batch: int,
    project: bool,
    average: bool,
) -> int: ...
def row_scores(X: Any, w: Any, out: Any) -> None: ...
def row_sum(X: Any, coef: Any, out: Any) -> None: ...
def pegasos_tile(
    K: Any,
    begin: int,
    z: Any,
    y: Any,
    gain: Any,
    given_v: Any,
    given_u: Any,
    numbers: Any,
    alpha: float,
    bias_step: float,
    batch: int,
    project: bool,
) -> int: ...
def norma_tile(
    K: Any,
    begin: int,
    z: Any,
    y: Any,
    gain: Any,
    given: Any,
    numbers: Any,
    alpha: float,
    eta0: float,
    power: float,
    nu: float,
    bias: bool,
) -> int: ...
