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
def kernel_block(
    kernel: Any, A: Any, a: Any, B: Any, b: Any, out: Any, slots: Any, threads: int
) -> bool: ...
def kernel_matvec(
    kernel: Any, A: Any, a: Any, coef: Any, B: Any, b: Any, out: Any, threads: int
) -> bool: ...
def grouped_matvec(
    kernel: Any, A: Any, begin: Any, coef: Any, B: Any, out: Any, threads: int
) -> bool: ...
def update_gradient(rows: Any, slots: Any, delta: Any, F: Any, threads: int) -> None: ...
def gather(rows: Any, slots: Any, columns: Any, out: Any, threads: int) -> None: ...
def join_blocks(first: Any, between: Any, second: Any, out: Any) -> None: ...
def group_ends(
    G: Any, b: Any, lower: Any, upper: Any, group_begin: Any, fixed: Any
) -> list[tuple[float, float, float, int]]: ...
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
    fixed: Any,
    tol: float,
    max_steps: int,
    threads: int,
) -> tuple[int, float, bool, bool, bool]: ...
def solve_block(
    K: Any,
    G: Any,
    b: Any,
    lower: Any,
    upper: Any,
    ridge: Any,
    group_begin: Any,
    fixed: Any,
    tol: float,
    max_steps: int,
) -> tuple[int, float, bool, bool]: ...
def linear_values(X: Any, index: Any, w: Any, out: Any, threads: int) -> None: ...
def linear_sum(X: Any, index: Any, coef: Any, out: Any, threads: int) -> None: ...
def linear_squares(X: Any, out: Any, threads: int) -> None: ...
def gram(X: Any, index: Any, weight: Any, out: Any, threads: int) -> None: ...
def tube_duals(*arguments: Any) -> tuple[float, float, float]: ...
def tube_slope(*arguments: Any) -> float: ...
def class_values(X: Any, index: Any, W: Any, out: Any, threads: int) -> None: ...
def class_sum(X: Any, index: Any, t: Any, out: Any) -> None: ...

class Descent32:
    def __init__(self, *arguments: Any) -> None: ...
    def run(self, *arguments: Any) -> tuple[float, float, int, float]: ...
    def assign(self, beta: Any) -> None: ...
    def duals(self, out: Any) -> None: ...

class Descent64:
    def __init__(self, *arguments: Any) -> None: ...
    def run(self, *arguments: Any) -> tuple[float, float, int, float]: ...
    def assign(self, beta: Any) -> None: ...
    def duals(self, out: Any) -> None: ...

def pegasos_rows(
    X: Any,
    order: Any,
    samples: Any,
    v: Any,
    u: Any,
    square: float,
    numbers: Any,
    alpha: float,
    bias_step: float,
    batch: int,
    project: bool,
) -> int: ...
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
def lasso_descent(H: Any, penalty: Any, u: Any, slope: Any, tol: float, most: int) -> float: ...
def scaled_columns(*arguments: Any) -> Any: ...
def column_pass(*arguments: Any) -> tuple[float, int]: ...
def crammer_singer_pass(*arguments: Any) -> tuple[float, float, int]: ...

TEXT_PADDING: int

def parse_svmlight(
    buffer: Any, size: int, limit: int, queries: int, threads: int
) -> list[tuple[Any, ...]]: ...
def format_svmlight(
    targets: Any, queries: Any, indptr: Any, indices: Any, values: Any, base: int
) -> bytes: ...
