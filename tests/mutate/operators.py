"""Mutants of one file: each replaces one expression or statement by another.

A mutant is named by its file, its function and what becomes of the code, as in

    kernel/state.py::finish: violation <= tol -> violation < tol

and where that occurs several times in one function by its number among them. The name holds no
line, so that it survives edits.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from mutate.places import PACKAGE, SETTINGS, functions


class Mutant(NamedTuple):
    """One fault: bytes [begin, end) of a file become the text."""

    file: str
    function: str
    change: str
    begin: int
    end: int
    text: str

    @property
    def name(self) -> str:
        """What it is known by."""
        return f"{self.file}::{self.function}: {self.change}"

    def apply(self, source: bytes) -> bytes | None:
        """The file with the fault in it; None where that is the same program, or none."""
        new = source[: self.begin] + self.text.encode() + source[self.end :]
        try:
            return None if ast.dump(ast.parse(new)) == ast.dump(ast.parse(source)) else new
        except SyntaxError:
            return None


COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.MatMult: ast.Mult,
    ast.Mod: ast.Mult,
}


TOLERANCE = 1e-5
"""Positive numbers below this are tolerances. A tolerance is an order of magnitude: twice or half
of it is no fault. It becomes 1."""
COMMUTATIVE = (
    "max",
    "maximum",
    "min",
    "minimum",
    "array_equal",
    "isclose",
    "union1d",
    "allclose",
    "dots",
    "logaddexp",
)
"""Functions whose first two arguments may be swapped."""


TOLERANCES = ("tol", "near", "noise", "rounding")
"""What tolerances are called."""


def _has_tolerance(node: ast.AST) -> bool:
    """Whether a number is compared with a tolerance.

    What happens at a tie does not matter, and is left alone.
    """
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in TOLERANCES:
                return True
            case ast.Constant(value=float(value)) if 0 < value < TOLERANCE:
                return True
    return False


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What one node may become."""

    def changed(**fields: object) -> ast.AST:
        other = copy.copy(node)
        for name, value in fields.items():
            setattr(other, name, value)
        return other

    match node:
        case ast.Compare(ops=[op]):
            kinds = COMPARISONS.get(type(op), ())
            for kind in kinds[-1:] if _has_tolerance(node) else kinds:
                yield changed(ops=[kind()])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            yield changed(op=ARITHMETIC[type(op)]())
        case ast.BoolOp(op=op):
            yield changed(op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for k in range(len(node.values)):
                rest = [value for i, value in enumerate(node.values) if i != k]
                yield rest[0] if len(rest) == 1 else changed(values=rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand) if (
            not isinstance(operand, ast.Constant)
        ):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
            if value > 1:
                yield ast.Constant(value - 1)
        case ast.Constant(value=float(value)) if 0 < value < TOLERANCE:
            yield ast.Constant(1.0)
        case ast.Constant(value=float(value)):
            yield ast.Constant(value * 2 if value else 1.0)
            if value:
                yield ast.Constant(value / 2)
        case ast.IfExp(body=body, orelse=orelse):
            yield body
            yield orelse
        case ast.Call(func=function, args=[first, second, *rest]) if not isinstance(
            first, ast.Starred
        ):
            if (
                not isinstance(second, ast.Starred)
                and ast.unparse(function).split(".")[-1] not in COMMUTATIVE
            ):
                yield changed(args=[second, first, *rest])
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case (
            ast.Expr(value=ast.Call() | ast.Yield())
            | ast.Break()
            | ast.Continue()
            | ast.Raise()
            | ast.Delete()
        ):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
    if isinstance(node, ast.AugAssign):
        yield ast.Pass()


def mutants(path: Path) -> list[Mutant]:
    """All mutants of a file, in the order of its lines."""
    source = path.read_bytes()
    tree = ast.parse(source)
    inside, file = functions(tree), path.relative_to(PACKAGE).as_posix()
    starts = list(accumulate((len(line) for line in source.splitlines(keepends=True)), initial=0))
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for node in _mutable(tree):
        if inside[node] == SETTINGS:
            continue
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        for other in variants(node):
            text, change = _text(node, other)
            seen[inside[node], change] += 1
            number = seen[inside[node], change]
            found.append(
                Mutant(
                    file,
                    inside[node],
                    change + (f" ({number})" if number > 1 else ""),
                    begin,
                    end,
                    text,
                )
            )
    return found


def _text(node: ast.AST, other: ast.AST) -> tuple[str, str]:
    """The code that takes the node's place, and the change in words."""
    old, new = ast.unparse(node), ast.unparse(ast.fix_missing_locations(other))
    if isinstance(node, ast.expr):
        new = f"({new})"
    return (
        new,
        f"{old} -> "
        f"{new.removeprefix('(').removesuffix(')') if isinstance(node, ast.expr) else new}",
    )


def _mutable(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that a test could see changed: no annotation, docstring, message, import, default
    of a user's parameter."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if _only_speed(node) or _is_assertion(node):
            continue
        if hasattr(node, "lineno"):
            yield node
        for name, value in ast.iter_fields(node):
            if name in (
                "annotation",
                "returns",
                "decorator_list",
                "format_spec",
                "exc",
                "msg",
                "type_params",
                "bases",
            ):
                continue
            if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
                continue
            children = value if isinstance(value, list) else [value]
            pending.extend(child for child in children[::-1] if isinstance(child, ast.AST))


def _only_speed(node: ast.AST) -> bool:
    """Whether code only says how much is done at once: ``step = max(1, ...)`` rows, or the threads
    for so much ``work``.

    Answers have the same bits for any number of threads, which tests of the core see to.
    """
    match node:
        case ast.Assign(
            targets=[ast.Name("step")],
            value=ast.Call(func=ast.Name("max"), args=[ast.Constant(1), _]),
        ):
            return True
        case (
            ast.Assign(targets=[ast.Name("work")])
            | ast.Call(func=ast.Name("thread_count") | ast.Attribute(attr="thread_count"))
        ):
            return True
    return False


def _is_assertion(node: ast.AST) -> bool:
    """Whether code only says what is always so: that the sequences of a ``zip(..., strict=True)``
    are equally long."""
    return isinstance(node, ast.keyword) and node.arg == "strict"
