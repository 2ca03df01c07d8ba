"""ONNX export in plain float64 operators.

The operators ai.onnx.ml.SVMClassifier and SVMRegressor compute in float32, which changes labels
near a boundary, and they have only four kernels. So the formula is written in operators that
support float64: a matrix product, the kernel's scalar map, another product, comparisons. Squared
distances of the RBF kernel are |x|^2 + |z|^2 - 2 x.z of centred data. Labels are looked up in a
table, so they may be numbers or strings.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.io import onnx_table
from maxmargin.io.formula import Formula, Rule, formula_of
from maxmargin.io.interval_formula import formula_with_folds
from maxmargin.io.onnx_interval import check_confidence, interval
from maxmargin.io.onnx_probability import probabilities
from maxmargin.io.preparation import Operation
from maxmargin.kernel import multiclass
from maxmargin.kernel.kernels import Kind

OPSET, IR_VERSION = 17, 8
"""Old enough for the runtimes of the last years."""
OPERATORS = {
    Operation.SUBTRACT: "Sub",
    Operation.ADD: "Add",
    Operation.MULTIPLY: "Mul",
    Operation.DIVIDE: "Div",
    Operation.AT_LEAST: "Max",
    Operation.AT_MOST: "Min",
}


def to_onnx(model: Any, *, confidence: float | None = None) -> Any:
    """Turn a fitted model into an ONNX graph in float64.

    Parameters
    ----------
    model : estimator
        Any of maxmargin's whose kernel is not a Python function; a pipeline of scalers and such an
        estimator, a fitted search over parameters, or AutoSVC, AutoSVR.
    confidence : float, default=None
        Add the output ``interval``: what ``predict_interval`` returns at this confidence.

    Returns
    -------
    proto : onnx.ModelProto
        Input ``X``, float64 of shape (n, n_features) (kernel values for a precomputed kernel),
        before any scaling. Of a table, ``X`` are its columns of numbers, NaN where one is missing,
        and ``categories`` its other columns, strings of shape (n, n_categories), empty where one is
        missing; the metadata name them. Outputs ``label`` and ``decision`` for classifiers and
        one-class models, as ``predict`` and ``decision_function`` return them, and ``probability``
        as ``predict_proba`` does, if the model has it; ``value`` for regression.

    See Also
    --------
    to_c : as C.
    to_javascript : as JavaScript.

    Examples
    --------
    >>> from maxmargin import SVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> graph = io.to_onnx(SVC(C=10).fit(X, y)).graph
    >>> [output.name for output in graph.output]
    ['label', 'decision']
    """
    try:
        import onnx
    except ImportError as missing:
        raise ImportError(
            "to_onnx needs the package onnx: pip install 'maxmargin[onnx]'."
        ) from missing
    formula, folds, kinds = formula_of(model), None, onnx.TensorProto
    if confidence is not None:
        formula, folds = formula_with_folds(model)
        check_confidence(folds, confidence)
    graph = _Graph(onnx)
    graph.x = _prepared(graph, formula)
    values = _values(graph, formula)
    outputs = _outputs(graph, formula, values)
    if folds is not None and confidence is not None:
        ends = interval(graph, folds, values, confidence)
        outputs["interval"] = Output(ends, kinds.DOUBLE, (2,))
    given = [onnx.helper.make_tensor_value_info("X", kinds.DOUBLE, ["n", formula.n_inputs])]
    versions = {"": OPSET}
    if formula.table is not None:
        given, versions = onnx_table.inputs(onnx, formula.table), {"": OPSET, **onnx_table.VERSION}
    shown = []
    for name, (source, kind, shape) in outputs.items():
        graph.nodes.append(onnx.helper.make_node("Identity", [source], [name]))
        shown.append(onnx.helper.make_tensor_value_info(name, kind, ["n", *shape]))
    whole = onnx.helper.make_graph(graph.nodes, formula.name, given, shown, graph.constants)
    proto = onnx.helper.make_model(
        whole,
        opset_imports=[onnx.helper.make_opsetid(*version) for version in versions.items()],
        producer_name="maxmargin",
        ir_version=IR_VERSION,
    )
    if formula.table is not None:
        onnx.helper.set_model_props(proto, onnx_table.columns(formula.table))
    onnx.checker.check_model(proto)
    return proto


class Output(NamedTuple):
    """An output of the graph."""

    tensor: str
    kind: int
    shape: tuple[int, ...]
    """Without the number of samples."""


class _Graph:
    """Nodes and constants, named by their numbers."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._count = 0
        self.x = "X"
        """The points as the functions take them."""

    def _name(self) -> str:
        self._count += 1
        return f"t{self._count}"

    def constant(self, values: Any) -> str:
        """Add a tensor and return its name; numbers are float64 unless they are integers."""
        name, array = self._name(), np.asarray(values)
        if array.dtype.kind in "UO":
            tensor = self.onnx.helper.make_tensor(
                name,
                self.onnx.TensorProto.STRING,
                array.shape,
                [str(item).encode() for item in array.ravel()],
            )
        else:
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(tensor)
        return name

    def op(self, kind: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node and return its first output."""
        return self.ops(kind, 2 if kind == "TopK" else 1, *inputs, **attributes)[0]

    def ops(self, kind: str, count: int, *inputs: Any, **attributes: Any) -> list[str]:
        """Add a node and return its outputs; inputs that are not names become constants."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        found = [self._name() for _ in range(count)]
        self.nodes.append(self.onnx.helper.make_node(kind, names, found, **attributes))
        return found


def _axes(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def _exp(g: _Graph, distances: str, gamma: float) -> str:
    """Return exp(-gamma d)."""
    return g.op("Exp", g.op("Mul", distances, -gamma))


def _prepared(g: _Graph, formula: Formula) -> str:
    """Return the points after the preparation."""
    x = "X"
    for operation, numbers in formula.preparation:
        if operation is Operation.FILL:
            x = g.op("Where", g.op("IsNaN", x), numbers, x)
        else:
            x = g.op(OPERATORS[operation], x, numbers)
    return x if formula.table is None else onnx_table.features(g, formula.table, x)


def _kernel_values(g: _Graph, formula: Formula) -> str:
    """Return k(x, x_j), a row for each point."""
    kernel, V = formula.kernel, formula.vectors
    if kernel.kind is Kind.PRECOMPUTED:
        return g.op("Gather", g.x, formula.columns, axis=1)
    assert V is not None
    if kernel.kind is Kind.RBF:
        centre = V.mean(axis=0) if len(V) else np.zeros(V.shape[1])
        x, v = g.op("Sub", g.x, centre), V - centre
        squares = g.op("ReduceSum", g.op("Mul", x, x), _axes(1), keepdims=1)
        products = g.op("MatMul", x, 2 * v.T)
        distances = g.op("Add", g.op("Sub", squares, products), np.square(v).sum(axis=1))
        return _exp(g, g.op("Max", distances, 0.0), kernel.gamma)
    if kernel.kind in (Kind.LAPLACIAN, Kind.CHI2):
        x = g.op("Unsqueeze", g.x, _axes(1))
        terms = g.op("Abs", g.op("Sub", x, V[None]))
        if kernel.kind is Kind.CHI2:
            sums = g.op("Add", x, V[None])
            empty = g.op("Equal", sums, 0.0)
            terms = g.op("Div", g.op("Mul", terms, terms), g.op("Where", empty, 1.0, sums))
        return _exp(g, g.op("ReduceSum", terms, _axes(2), keepdims=0), kernel.gamma)
    if kernel.kind is Kind.COSINE:
        size = np.sqrt(np.square(V).sum(axis=1, keepdims=True))
        length = g.op("Sqrt", g.op("ReduceSum", g.op("Mul", g.x, g.x), _axes(1), keepdims=1))
        x = g.op("Div", g.x, g.op("Where", g.op("Equal", length, 0.0), 1.0, length))
        return g.op("MatMul", x, (V / np.where(size == 0, 1.0, size)).T)
    scaled = g.op("Add", g.op("MatMul", g.x, kernel.gamma * V.T), float(kernel.coef0))
    if kernel.kind is Kind.POLY:
        return g.op("Pow", scaled, float(kernel.degree))
    return g.op("Tanh" if kernel.kind is Kind.TANH else "Sigmoid", scaled)


def _values(g: _Graph, formula: Formula) -> str:
    """Return the values of the functions, a column each."""
    inputs = g.x if formula.kernel.kind is Kind.LINEAR else _kernel_values(g, formula)
    return g.op("Add", g.op("MatMul", inputs, formula.coef.T), formula.intercept)


def _outputs(g: _Graph, formula: Formula, values: str) -> dict[str, Output]:
    """Return the name, tensor, type and shape of each output of the graph."""
    kinds, rule = g.onnx.TensorProto, formula.rule
    if rule is Rule.VALUE:
        first = g.op("Gather", values, _axes(0), axis=1)
        return {"value": Output(g.op("Squeeze", first, _axes(1)), kinds.DOUBLE, ())}
    f = g.op("Squeeze", values, _axes(1)) if formula.coef.shape[0] == 1 else ""
    if f:
        above = rule is Rule.ABOVE
        second = g.op("Greater", f, 0.0) if above else g.op("Not", g.op("Less", f, 0.0))
        place, decision = g.op("Cast", second, to=kinds.INT64), Output(f, kinds.DOUBLE, ())
    else:
        place, decision = _of_several(g, formula, values)
    found = {"label": _label(g, formula, place), "decision": decision}
    if formula.calibration is not None:
        p = probabilities(g, formula, values, place)
        found["probability"] = Output(p, kinds.DOUBLE, (len(formula.labels),))
    return found


def _of_several(g: _Graph, formula: Formula, values: str) -> tuple[str, Output]:
    """Return the position of the label of several classes, and the decision values shown."""
    assert formula.classes is not None
    rule, order = formula.rule, formula.label_order
    decision, shown, scores = values, len(formula.coef), values
    if rule in (Rule.VOTES, Rule.CONFIDENCE):
        votes, confident = _votes(g, values, len(formula.classes))
        scores, order = (votes, order) if rule is Rule.VOTES else (confident, None)
        if not formula.pairs_shown:
            decision, shown = confident, len(formula.classes)
    return _most(g, scores, order), Output(decision, g.onnx.TensorProto.DOUBLE, (shown,))


def _most(g: _Graph, scores: str, order: NDArray[np.int64] | None) -> str:
    """Return the position of the largest score; of equal ones the first in the given order."""
    if order is None:
        return g.op("ArgMax", scores, axis=1, keepdims=0)
    ordered = g.op("Gather", scores, order, axis=1)
    return g.op("Gather", order, g.op("ArgMax", ordered, axis=1, keepdims=0))


def _votes(g: _Graph, values: str, n_classes: int) -> tuple[str, str]:
    """Return the votes of the pairs, alone and with confidence; see maxmargin.kernel.multiclass."""
    pairs = multiclass.pairs(n_classes)
    ballot = np.zeros((len(pairs), n_classes))
    for k, (i, j) in enumerate(pairs):
        ballot[k, i], ballot[k, j] = 1.0, -1.0
    positive = g.op("Cast", g.op("Greater", values, 0.0), to=g.onnx.TensorProto.DOUBLE)
    votes = g.op("Add", g.op("MatMul", positive, ballot), np.arange(n_classes, dtype=np.float64))
    sums = g.op("MatMul", values, ballot)
    squeezed = g.op("Div", sums, g.op("Mul", g.op("Add", g.op("Abs", sums), 1.0), 3.0))
    return votes, g.op("Add", votes, squeezed)


def _label(g: _Graph, formula: Formula, place: str) -> Output:
    """Return the label at each position of the classes."""
    kinds, classes = g.onnx.TensorProto, formula.labels
    if classes.dtype.kind == "O" and not all(isinstance(label, str) for label in classes):
        raise ValueError(f"Labels in ONNX are numbers or strings, not {classes[:5].tolist()}.")
    table = {
        "i": (np.int64, kinds.INT64),
        "u": (np.int64, kinds.INT64),
        "f": (np.float64, kinds.DOUBLE),
        "b": (np.bool_, kinds.BOOL),
    }
    dtype, kind = table.get(classes.dtype.kind, (classes.dtype, kinds.STRING))
    return Output(g.op("Gather", classes.astype(dtype), place), kind, ())
