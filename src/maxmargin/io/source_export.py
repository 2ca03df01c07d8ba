"""Models as C and JavaScript source without dependencies: for microcontrollers and web pages.

Both are loops over the formula of formula.py. Language and the templates below hold what differs
between the languages; the expressions of the kernels are the same in both. Numbers read back
exactly.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.intervals import Folds
from maxmargin.io import source_interval, source_probability, source_table
from maxmargin.io.formula import Formula, Rule, formula_of
from maxmargin.io.interval_formula import formula_with_folds
from maxmargin.io.preparation import Operation
from maxmargin.io.source_language import Language
from maxmargin.kernel.kernels import Kind

WHERE = {Operation.AT_LEAST: "<", Operation.AT_MOST: ">"}
"""Where a number takes the place of a feature."""
MOST = 2**20
"""Largest number of values in a source file."""


def _kernel_lines(formula: Formula, t: Language) -> str:
    """Return the lines that compute k, the kernel value of vector j."""
    kernel, d = formula.kernel, formula.n_inputs
    gamma, coef0 = repr(float(kernel.gamma)), repr(float(kernel.coef0))
    if kernel.kind is Kind.PRECOMPUTED:
        return f"    {t.let} k = x[COLUMNS[j]];\n"
    v = f"VECTORS[j * {d} + i]"
    term = {
        Kind.RBF: f"(x[i] - {v}) * (x[i] - {v})",
        Kind.LAPLACIAN: f"{t.absolute}(x[i] - {v})",
        Kind.CHI2: f"(x[i] + {v} == 0 ? 0 : (x[i] - {v}) * (x[i] - {v}) / (x[i] + {v}))",
    }.get(kernel.kind, f"x[i] * {v}")
    result = {
        Kind.POLY: f"{t.math}pow({gamma} * s + {coef0}, {int(kernel.degree)})",
        Kind.TANH: f"{t.math}tanh({gamma} * s + {coef0})",
        Kind.LOGISTIC: f"1 / (1 + {t.math}exp(-({gamma} * s + {coef0})))",
        Kind.COSINE: f"(xx * LENGTHS[j] == 0 ? 0 : s / ({t.math}sqrt(xx) * LENGTHS[j]))",
    }.get(kernel.kind, f"{t.math}exp(-{gamma} * s)")
    total = f"    {t.let} s = 0;\n    {t.loop('i', d)} s += {term};\n"
    return f"{total}    {t.let} k = {result};\n"


def _prepared(formula: Formula, t: Language) -> str:
    """Return the lines that make x, the prepared point, of the given one."""
    lines = ""
    for k, (operation, _) in enumerate(formula.preparation):
        number = f"PREPARE{k}[i]"
        if operation in WHERE:
            lines += f"    if (v {WHERE[operation]} {number}) v = {number};\n"
        elif operation is Operation.FILL:
            lines += f"    if ({t.is_missing('v')}) v = {number};\n"
        else:
            lines += f"    v = v {operation.value} {number};\n"
    table, begin, end = formula.table, f"  {t.zeros(formula.n_inputs, 'x')}\n", ""
    if table is not None:
        begin, end = source_table.numbers(table, t) + begin, source_table.lines(table, t)
    if lines:
        lines = f"  {t.loop('i', formula.n_given)} {{\n    {t.let} v = given[i];\n{lines}"
        lines = f"{lines}    x[i] = v;\n  }}\n"
    return f"{begin}{lines}{end}" if lines or end else ""


def _body(formula: Formula, t: Language) -> str:
    """Return the lines that fill f with the values of the functions."""
    functions, count = formula.coef.shape
    each = t.loop("c", functions)
    lines = f"{_prepared(formula, t)}  {each} f[c] = INTERCEPT[c];\n"
    if formula.kernel.kind is Kind.LINEAR:
        return lines + f"  {each} {t.loop('i', count)} f[c] += COEF[i * {functions} + c] * x[i];\n"
    if formula.kernel.kind is Kind.COSINE:
        lines += f"  {t.let} xx = 0;\n  {t.loop('i', formula.n_inputs)} xx += x[i] * x[i];\n"
    lines += f"  {t.loop('j', count)} {{\n{_kernel_lines(formula, t)}"
    return lines + f"    {each} f[c] += COEF[j * {functions} + c] * k;\n  }}\n"


def _tables(formula: Formula, t: Language, folds: Folds | None = None) -> str:
    """Return the declarations of the constants."""
    size = formula.coef.size + (0 if formula.vectors is None else formula.vectors.size)
    size += len(formula.preparation) * formula.n_given + source_probability.size(formula)
    size += 0 if formula.table is None else source_table.size(formula.table)
    size += 0 if folds is None else source_interval.size(folds)
    if size > MOST:
        raise ValueError(
            f"{size} numbers are too many for a source file, the limit is {MOST}: compact() makes "
            "models smaller."
        )
    found = t.array("INTERCEPT", formula.intercept) + t.array("COEF", formula.coef.T)
    for k, (_, numbers) in enumerate(formula.preparation):
        found += t.array(f"PREPARE{k}", numbers)
    if formula.table is not None:
        found += source_table.constants(formula.table, t)
    if formula.calibration is not None:
        found += source_probability.tables(formula, t)
    found += "" if folds is None else source_interval.constants(folds, t)
    if formula.vectors is not None:
        found += t.array("VECTORS", formula.vectors)
    if formula.kernel.kind is Kind.COSINE and formula.vectors is not None:
        found += t.array("LENGTHS", np.sqrt(np.square(formula.vectors).sum(axis=1)))
    if formula.columns is not None:
        found += t.array("COLUMNS", formula.columns, "int")
    if formula.rule in (Rule.VOTES, Rule.GREATEST) and formula.label_order is not None:
        found += t.array("ORDER", formula.label_order, "int")
    return found


def _place_function(formula: Formula, t: Language) -> str:
    """Return the function that gives the position of the label."""
    head = "static int place(const double *f)" if t.c else "function place(f)"
    return f"{head} {{\n{_place(formula, t)}  return best;\n}}\n\n"


def _place(formula: Formula, t: Language) -> str:
    """Return the lines that compute best, the position of the label, from the values f."""
    rule, functions = formula.rule, len(formula.coef)
    if rule in (Rule.ABOVE, Rule.FROM, Rule.INSIDE):
        return f"  {t.index} best = f[0] {'>' if rule is Rule.ABOVE else '>='} 0 ? 1 : 0;\n"
    n = functions if formula.classes is None else len(formula.classes)
    lines, scores = "", "f"
    if rule in (Rule.VOTES, Rule.CONFIDENCE):
        scores = "votes"
        lines = (
            f"  {t.zeros(n, 'votes', 'sums')}\n  {t.index} k = 0;\n"
            f"  {t.loop('a', n)} for ({t.index} b = a + 1; b < {n}; b++, k++) {{\n"
        )
        lines += (
            "    votes[f[k] > 0 ? a : b] += 1;\n    sums[a] += f[k];\n    sums[b] -= f[k];\n  }\n"
        )
        if rule is Rule.CONFIDENCE:
            squeezed = f"sums[c] / (3 * ({t.absolute}(sums[c]) + 1))"
            lines += f"  {t.loop('c', n)} votes[c] += {squeezed};\n"
        elif t.c:
            lines += "  (void)sums;\n"
    ordered = rule is not Rule.CONFIDENCE and formula.label_order is not None
    first, c = ("ORDER[0]", "ORDER[c]") if ordered else ("0", "c")
    lines += f"  {t.index} best = {first};\n"
    return lines + f"  {t.loop('c', n, 1)} if ({scores}[{c}] > {scores}[best]) best = {c};\n"


def _about(formula: Formula) -> str:
    """Return the text of the comment at the top."""
    vectors = "" if formula.vectors is None else f", {len(formula.vectors)} support vectors"
    scaled = ", which are scaled here" if formula.preparation else ""
    text = f"{formula.name} of maxmargin: {formula.kernel!r}{vectors}, {formula.n_inputs} inputs"
    text = f"{text}{scaled}."
    text += "" if formula.table is None else source_table.about(formula.table)
    # nothing that has a meaning in C, JavaScript or HTML, so that it cannot end the comment
    return "".join(c if " " <= c <= "~" and c not in "*/\\<>?" else "_" for c in text)


def _formula(model: Any, interval: bool) -> tuple[Formula, Folds | None]:
    """Return the formula, and the errors on folds if intervals are asked for."""
    return formula_with_folds(model) if interval else (formula_of(model), None)


def to_c(model: Any, *, interval: bool = False) -> str:
    """Write a small fitted model as a C file (C99, math.h only).

    Parameters
    ----------
    model : estimator
        Any of maxmargin's whose kernel is not a Python function; a pipeline of scalers and such an
        estimator, a fitted search over parameters, or AutoSVC, AutoSVR.
    interval : bool, default=False
        Also write ``void maxmargin_interval(const double *x, double confidence, double *ends)``,
        what ``predict_interval`` returns. The decision values after the first are then those of the
        machines without a fold.

    Returns
    -------
    source : str
        ``void maxmargin_decision(const double *x, double *f)`` writes the values of the
        MAXMARGIN_FUNCTIONS decision functions at the point x of MAXMARGIN_INPUTS numbers, before
        any scaling (pairs of classes for one-vs-one). ``maxmargin_predict(x)`` returns the label (a
        double, a long long or a ``const char *``) or the predicted value. If the model has
        ``predict_proba``, ``void maxmargin_probability(const double *x, double *p)`` writes the
        probabilities of the MAXMARGIN_CLASSES classes, in the order of ``predict_proba``.

        Of a table with categories, x are its numbers, NaN where one is missing, and each function
        has one more argument after x, ``const char *const *words``: the MAXMARGIN_WORDS values of
        the other columns in UTF-8, NULL where one is missing.

    See Also
    --------
    to_javascript : for browsers and Node.js.
    to_onnx : a graph for ONNX run times.

    Examples
    --------
    >>> from maxmargin import LinearSVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> source = io.to_c(LinearSVC().fit(X, y))
    >>> "maxmargin_predict(const double *x)" in source
    True
    """
    (formula, folds), t = _formula(model, interval), Language(c=True)
    functions = len(formula.coef)
    table, words, hand = formula.table, "", "x"
    text = f"/* {_about(formula)} */\n#include <math.h>\n"
    if table is not None and table.words:
        text += f"#include <string.h>\n\n#define MAXMARGIN_WORDS {len(table.words)}"
        words, hand = ", const char *const *words", "x, words"
    text += (
        f"\n#define MAXMARGIN_INPUTS {formula.n_given}\n"
        f"#define MAXMARGIN_FUNCTIONS {functions}\n\n{_tables(formula, t, folds)}\n"
    )
    point = "given" if formula.preparation or table is not None else "x"
    text += f"void maxmargin_decision(const double *{point}{words}, double *f) {{\n"
    text += f"{_body(formula, t)}}}\n\n"
    begin = (
        f"maxmargin_predict(const double *x{words}) {{\n"
        f"  double f[{functions}];\n  maxmargin_decision({hand}, f);\n"
    )
    if formula.rule is Rule.VALUE:
        text += f"double {begin}  return f[0];\n}}\n"
        if folds is None:
            return text
        find = f"  double f[{functions}];\n  maxmargin_decision({hand}, f);\n"
        return f"{text}\n{source_interval.function(folds, t, f'const double *x{words}', find)}"
    inside = formula.rule is Rule.INSIDE
    kind, items = ("int ", ["-1", "1"]) if inside else _c_labels(formula.labels)
    text += f"static const {kind}LABELS[] = {{{', '.join(items)}}};\n\n"
    result = f"const {kind}" if kind.endswith("*") else kind
    text += f"{_place_function(formula, t)}{result}{begin}  return LABELS[place(f)];\n}}\n"
    if formula.calibration is None:
        return text
    text += f"\n#define MAXMARGIN_CLASSES {len(formula.labels)}\n\n"
    given = f"const double *x{words}"
    begin = begin.replace(f"predict({given})", f"probability({given}, double *p)")
    return text + f"void {begin}{source_probability.lines(formula, t)}}}\n"


def _c_labels(classes: NDArray[Any]) -> tuple[str, list[str]]:
    """Return the type of the labels in C, and their literals."""
    if classes.dtype.kind in "biu":
        if classes.dtype.kind != "b" and not (
            int(classes[0]) > -(2**63) and int(classes[-1]) < 2**63
        ):
            raise ValueError(f"C has no integers as large as the labels {classes[:5].tolist()}.")
        return "long long ", [f"{int(label)}LL" for label in classes]
    if classes.dtype.kind == "f":
        return "double ", [repr(float(label)) for label in classes]
    if not all(isinstance(label, str) for label in classes.tolist()):
        raise ValueError(f"Labels in C are numbers or strings, not {classes[:5].tolist()}.")
    return "char *", [Language(c=True).text(label) for label in classes.tolist()]


def to_javascript(model: Any, *, interval: bool = False) -> str:
    """Write a small fitted model as JavaScript, for browsers and Node.js.

    Parameters
    ----------
    model : estimator
        Any of maxmargin's whose kernel is not a Python function; a pipeline of scalers and such an
        estimator, a fitted search over parameters, or AutoSVC, AutoSVR.
    interval : bool, default=False
        Also write ``interval(x, confidence)``, what ``predict_interval`` returns. The decision
        values after the first are then those of the machines without a fold.

    Returns
    -------
    source : str
        ``decision(x)`` returns the values of the decision functions at the point x, an array of
        numbers before any scaling (pairs of classes for one-vs-one); ``predict(x)`` returns the
        label or the predicted value. If the model has ``predict_proba``, ``probability(x)`` returns
        the probabilities of the classes. In Node.js these functions are exported. Of a table, x
        holds a value for each column, null where one is missing.

    See Also
    --------
    to_c : as C.

    Examples
    --------
    >>> from maxmargin import LinearSVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> source = io.to_javascript(LinearSVC().fit(X, y))
    >>> "function predict(x)" in source
    True
    """
    (formula, folds), t = _formula(model, interval), Language(c=False)
    functions = len(formula.coef)
    text = f'// {_about(formula)}\n"use strict";\n{_tables(formula, t, folds)}\n'
    point = "row" if formula.table is not None else "given" if formula.preparation else "x"
    text += (
        f"function decision({point}) {{\n"
        f"  const f = new Array({functions});\n"
        f"{_body(formula, t)}  return f;\n}}\n\n"
    )
    begin = "function predict(x) {\n  const f = decision(x);\n"
    if formula.rule is Rule.VALUE:
        text += f"{begin}  return f[0];\n}}\n\n"
        if folds is not None:
            find = "  const f = decision(x);\n"
            text += source_interval.function(folds, t, "x", find)
    else:
        labels = formula.labels.tolist()
        if not all(
            isinstance(label, str | bool | int | float)
            and (not isinstance(label, int) or abs(label) <= 2**53)
            for label in labels
        ):
            raise ValueError(f"Labels in JavaScript are numbers or strings, not {labels[:5]}.")
        text += (
            f"const LABELS = {t.text(labels)};\n\n{_place_function(formula, t)}"
            f"{begin}  return LABELS[place(f)];\n}}\n\n"
        )
    names = "decision, predict" if folds is None else "decision, predict, interval"
    if formula.calibration is not None:
        names += ", probability"
        text += (
            f"{begin.replace('predict', 'probability')}"
            f"  const p = new Array({len(formula.labels)});\n"
            f"{source_probability.lines(formula, t)}  return p;\n}}\n\n"
        )
    return f'{text}if (typeof module !== "undefined") module.exports = {{ {names} }};\n'
