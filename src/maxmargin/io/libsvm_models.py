"""LIBSVM's model files.

    svm_type c_svc            c_svc, nu_svc, one_class, epsilon_svr, nu_svr
    kernel_type rbf           linear, polynomial, rbf, sigmoid, precomputed
    gamma 0.5                 degree, gamma, coef0: those that the kernel has
    nr_class 3                2 for regression and one-class
    total_sv 40
    rho 0.1 0.2 0.3           one for each pair of classes
    label 2 0 1               integers in the order of the training file, but 1 before -1
    probA ... probB ...       with -b 1; prob_density_marks for one-class
    nr_sv 10 14 16
    SV
    coefficients index:value index:value ...

Each support vector's line begins with nr_class - 1 coefficients. With a precomputed kernel its
vector is 0:i, where i is its number among the training samples, from 1. The decision value of the
pair (i, j) of classes, in the order of the labels, is positive for i.

Our classes are sorted. If a file has another order, the groups of support vectors are sorted. Where
that turns a pair (i, j) into (j, i), its coefficients and rho change signs. So does B, because
1 / (1 + exp(A f + B)) must become its complement. The model remembers the file's order: it breaks
ties (of classes with equal votes the first in the file wins; a decision value of 0 votes for the
second of a pair), and labels and probabilities are written in this order.

A file does not hold the number of features. If no vector has the last feature, we write a zero for
it into the first vector.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.core.memory import contiguous
from maxmargin.core.text import format_svmlight
from maxmargin.estimators.libsvm_layout import libsvm_signed
from maxmargin.estimators.records import restore
from maxmargin.io.files import compressed_write
from maxmargin.io.folding import machine_without_scaling
from maxmargin.io.label_orders import reordered, whole_labels, with_sorted_classes
from maxmargin.io.model_text import Head, Lines, read_head, read_vectors
from maxmargin.io.svmlight_rows import Layout, Rows
from maxmargin.kernel.kernels import PARAMETERS, Kernel, Kind
from maxmargin.kernel.model import KernelModel, Problem, imported, none

KERNELS = {
    b"linear": Kind.LINEAR,
    b"polynomial": Kind.POLY,
    b"rbf": Kind.RBF,
    b"sigmoid": Kind.TANH,
    b"precomputed": Kind.PRECOMPUTED,
}
KERNEL_NAMES = {kind: name.decode() for name, kind in KERNELS.items()}
ORDER = ("degree", "gamma", "coef0")
LEARNT = {b"probA": "prob_a", b"probB": "prob_b", b"prob_density_marks": "marks"}
"""Words of what svm-train -b 1 learns, and the fields of a model that hold it."""
WORDS = {b"svm_type", b"kernel_type", b"degree", b"gamma", b"coef0", *LEARNT}
WORDS |= {b"nr_class", b"total_sv", b"rho", b"label", b"nr_sv"}
MARKS = 10
ROWS = 2000
"""Support vectors converted to text at a time."""

# ---- writing -------------------------------------------------------------------------------------


def save_libsvm(model: Any, path: Any) -> None:
    """Write a fitted kernel machine to a model file that LIBSVM's programs predict the same from.

    Parameters
    ----------
    model : SVC, NuSVC, OneClassSVM, SVR or NuSVR
        LIBSVM has only "linear", "poly", "rbf", "sigmoid" and "precomputed" kernels, integer
        labels, and pairs of classes (``multiclass="ovo"``). Scalers before a machine with a linear
        kernel become part of its support vectors, which rounds them; its other kernels allow none.
    path : str or path-like
        File to write. The suffixes .gz, .bz2, .xz and .zst compress it. Numbers read back exactly.

    Notes
    -----
    Labels are written in the order of the file that the model was read from, or that
    ``maxmargin svm-train`` trained it on. A model fitted in Python does not know in which order its
    labels occurred: -1 and 1 are written as ``1 -1``, as LIBSVM always does, and others as in
    ``classes_``, so that LIBSVM breaks ties as ``predict`` does. Decision values in LIBSVM are
    positive for the first label of a pair.

    See Also
    --------
    load_libsvm : read one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from maxmargin import SVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> io.save_libsvm(SVC(C=10, gamma=0.5).fit(X, y), "model.libsvm")
    >>> Path("model.libsvm").read_text().splitlines()[:3]
    ['svm_type c_svc', 'kernel_type rbf', 'gamma 0.5']
    """
    machine = libsvm_signed(machine_without_scaling(model))
    _refuse_others(machine)
    order = machine.label_order
    if order is None and machine.classes is not None and machine.classes.tolist() == [-1, 1]:
        order = np.array([1, 0])
    if order is not None:
        machine = reordered(machine, order)
    labels = [] if machine.classes is None else whole_labels(machine.classes, "LIBSVM")
    ends, *entries = _as_written(machine)
    with compressed_write(path) as file:
        file.write(_head(machine, labels))
        for begin in range(0, machine.coef.shape[1], ROWS):
            end = begin + ROWS
            file.write(_lines(machine.coef[:, begin:end], ends[begin : end + 1], *entries))


def _refuse_others(machine: KernelModel) -> None:
    """Raise ValueError for models that LIBSVM does not have."""
    if machine.kernel.kind not in KERNEL_NAMES:
        known = ", ".join(
            repr(name) for name in ("linear", "poly", "rbf", "sigmoid", "precomputed")
        )
        raise ValueError(
            f"LIBSVM has no {machine.kernel!r}: its kernels are {known}. io.save writes models of "
            "every kernel."
        )
    if machine.isotonic is not None:
        raise ValueError(
            "LIBSVM's probabilities are sigmoids, and this model has isotonic functions: fit with "
            "probability='sigmoid' or False. io.save writes all models."
        )
    if machine.classes is not None and len(machine.classes) > 2 and not machine.pairs:
        raise ValueError(
            "LIBSVM has no one-vs-rest models, only pairs of classes: fit with multiclass='ovo'. "
            "io.save writes both."
        )


def _head(machine: KernelModel, labels: list[int]) -> bytes:
    kernel = machine.kernel
    used = PARAMETERS.get(kernel.kind, ())
    found = [("svm_type", machine.problem.value), ("kernel_type", KERNEL_NAMES[kernel.kind])]
    found += [
        (name, repr(float(getattr(kernel, name)) if name != "degree" else int(kernel.degree)))
        for name in ORDER
        if name in used
    ]
    found += [
        ("nr_class", str(max(2, len(labels)))),
        ("total_sv", str(machine.coef.shape[1])),
        ("rho", _words(-machine.intercept)),
    ]
    found += [("label", " ".join(map(str, labels)))] if labels else []
    learnt = {name.decode(): getattr(machine, field) for name, field in LEARNT.items()}
    found += [(name, _words(values)) for name, values in learnt.items() if len(values)]
    found += [("nr_sv", " ".join(map(str, machine.n_support.tolist())))] if labels else []
    return "".join(f"{name} {words}\n" for name, words in found).encode() + b"SV\n"


def _words(values: Floats) -> str:
    return " ".join(map(repr, np.asarray(values, np.float64).tolist()))


def _as_written(machine: KernelModel) -> tuple[Any, Any, Any]:
    """Return where each support vector ends, then the indices of the file and the values."""
    count, width = machine.coef.shape[1], machine.n_features
    if machine.kernel.kind is Kind.PRECOMPUTED:
        assert machine.rows is not None
        ends, indices, values = np.arange(count + 1), np.zeros(count), machine.rows + 1.0
        last = int(values.max(initial=0))
    else:
        rows = sparse.csr_matrix(machine.vectors, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        ends, indices, values = rows.indptr, rows.indices + 1, rows.data
        last = int(indices.max(initial=0))
    if count and last < width:  # so that the number of features can be read back
        indices, values = np.insert(indices, ends[1], width), np.insert(values, ends[1], 0.0)
        ends = np.append(0, ends[1:] + 1)
    return ends.astype(np.int64), indices.astype(np.int32), contiguous(values)


def _lines(coef: Floats, ends: Any, indices: Any, values: Any) -> bytes:
    """Return the lines of some support vectors."""
    text: bytes = format_svmlight(contiguous(coef[-1]), None, ends, indices, values, 0)
    if len(coef) == 1:
        return text
    before = (_words(column) for column in coef[:-1].T)
    return b"".join(
        words.encode() + b" " + line + b"\n"
        for words, line in zip(before, text.splitlines(), strict=True)
    )


# ---- reading -------------------------------------------------------------------------------------


def load_libsvm(path: Any, *, n_features: int | None = None) -> Any:
    """Read a model file of LIBSVM; safe for untrusted files.

    Parameters
    ----------
    path : str or path-like
        The file, compressed or not.
    n_features : int or None, default=None
        The number of features of the data, or of training samples for a precomputed kernel. By
        default, the largest index of the support vectors.

    Returns
    -------
    model : SVC, NuSVC, OneClassSVM, SVR or NuSVR
        It predicts the same as svm-predict, from dense and sparse data. C, nu, epsilon and class
        weights have their defaults, because the file does not hold them: set them before
        ``certify(X, y)``. Classifiers and one-class machines with probabilities have
        ``predict_proba``; the scale of a regression's errors is kept for ``save_libsvm``.

    See Also
    --------
    save_libsvm : write one.

    Examples
    --------
    >>> from maxmargin import SVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> io.save_libsvm(SVC(C=10).fit(X, y), "model.libsvm")
    >>> io.load_libsvm("model.libsvm").predict(X)
    array([0, 0, 1, 1])
    """
    with Lines(path) as lines:
        head = read_head(lines, WORDS, b"SV")
        problem = head.one_of(
            b"svm_type", {name.value.encode(): name for name in Problem if name.in_libsvm}
        )
        kernel = _kernel(head)
        n_classes, labels = head.classes(problem.classifies, problem.value)
        pairs = n_classes * (n_classes - 1) // 2
        rho = head.numbers(b"rho", pairs)
        count = head.whole(b"total_sv")[0]
        n_support = head.whole(b"nr_sv", n_classes) if problem.classifies else [count]
        learnt = _probabilities(head, problem, pairs)
        if sum(n_support) != count:
            raise head.error(
                b"nr_sv", f"nr_sv counts {sum(n_support)} support vectors, total_sv {count}"
            )
        coef, vectors = read_vectors(lines, n_classes - 1, count)
        matrix, width, rows = _placed(lines, kernel, vectors, n_features)
    found = imported(
        problem,
        kernel,
        matrix,
        width,
        coef,
        -rho,
        np.array(n_support),
        classes=np.array(labels, np.int64) if labels else None,
        rows=rows,
        n_samples=0 if rows is None else width,
        **learnt,
    )
    return restore(libsvm_signed(with_sorted_classes(found)))


def _kernel(head: Head) -> Kernel:
    kind = head.one_of(b"kernel_type", KERNELS)
    values: dict[str, Any] = {}
    for name in PARAMETERS.get(kind, ()):
        key = name.encode()
        values[name] = head.whole(key)[0] if name == "degree" else float(head.numbers(key, 1)[0])
    try:
        return Kernel(kind, **values)
    except ValueError as error:
        raise head.error(b"kernel_type", str(error)) from None


def _probabilities(head: Head, problem: Problem, pairs: int) -> dict[str, Floats]:
    """Return probA, probB and density marks by the names of a model; those that the file has."""
    counts = {b"probA": pairs, b"probB": pairs, b"prob_density_marks": MARKS}
    found = {
        LEARNT[name]: head.numbers(name, count)
        for name, count in counts.items()
        if name in head.found
    }
    if problem.classifies and ("prob_a" in found) != ("prob_b" in found):
        raise head.lines.error("probA and probB must occur together")
    if (np.diff(found.get("marks", none())) < 0).any():
        raise head.error(b"prob_density_marks", "the marks of prob_density_marks must ascend")
    return found


def _placed(
    lines: Lines, kernel: Kernel, rows: Rows, n_features: int | None
) -> tuple[Any, int, NDArray[np.int64] | None]:
    """Return the support vectors with columns from 0, and the number of features.

    For a precomputed kernel, return their positions among the training samples instead of them.
    """
    places = _places(lines, rows) if kernel.kind is Kind.PRECOMPUTED else None
    zero_based = rows.least == 0  # LIBSVM itself accepts a feature 0
    width = max(rows.greatest + zero_based, 0)
    if places is not None:
        width = max(int(places.max(initial=-1)) + 1, rows.greatest)
    if n_features is not None and n_features < width:
        raise ValueError(f"{lines.path} has {width} features, more than n_features={n_features}")
    width = width if n_features is None else int(n_features)
    if width == 0:
        raise lines.error("no feature occurs in the support vectors: give n_features")
    if places is not None:
        return np.empty((0, 0)), width, places
    return rows.matrix(Layout(len(rows.ends), width, zero_based), np.float64), width, None


def _places(lines: Lines, rows: Rows) -> NDArray[np.int64]:
    """Return the positions of the support vectors among the training samples."""
    first = np.append(0, rows.ends)
    good = bool((np.diff(first) > 0).all() and (rows.indices[first[:-1]] == 0).all())
    serial = rows.values[first[:-1]] if good else none()
    if not good or not ((serial == np.floor(serial)) & (serial >= 1) & (serial < 2**31)).all():
        raise lines.error(
            "with a precomputed kernel every support vector is 0:i, where i is its number "
            "among the training samples"
        )
    return serial.astype(np.int64) - 1
