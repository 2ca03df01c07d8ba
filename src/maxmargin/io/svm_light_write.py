"""Writing SVM-light's model files; svm_light_models.py shows the format.

The numbers have as many digits as they need to read back exactly. SVM-light's programs write eight.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats
from maxmargin.core.memory import contiguous
from maxmargin.core.text import format_svmlight
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._record import checked
from maxmargin.estimators.records import of_best, problem_of
from maxmargin.io.files import compressed_write
from maxmargin.io.folding import linear_without_scaling, machine_without_scaling
from maxmargin.io.preparation import parts_of
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.model import KernelModel
from maxmargin.linear.model import LinearModel
from maxmargin.structured.model import PlaneModel

VERSIONS = ("6.02", "6.20")
KERNELS = {Kind.LINEAR: 0, Kind.POLY: 1, Kind.RBF: 2, Kind.TANH: 3}
ROWS = 2000
"""Support vectors converted to text at a time."""


class Expansion(NamedTuple):
    """What a file holds: f(x) = sum_j coef_j k(x_j, x) + intercept."""

    kernel: Kernel
    vectors: Any
    coef: Floats
    intercept: float
    n_samples: int
    """Number of training samples; 0 if it is not known."""


def save_svm_light(model: Any, path: Any, *, version: str = "6.02") -> None:
    """Write a fitted model to a model file that SVM-light's programs predict the same from.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR, LinearSVC, LinearSVR, RankSVC, RankSVR, PerfSVC
        Any model of one function; of classifiers, those with the labels -1 and 1. SVM-light has
        only "linear", "poly", "rbf" and "sigmoid" kernels. Scalers before a linear model become
        part of it, which rounds it; other kernels allow none.
    path : str or path-like
        File to write. The suffixes .gz, .bz2, .xz and .zst compress it. Numbers read back exactly;
        SVM-light's own programs read features in single precision.
    version : {"6.02", "6.20"}, default="6.02"
        The version in the first line: svm_classify reads files of version 6.02, svm_rank_classify
        and svm_perf_classify those of version 6.20. The rest of the file is the same.

    See Also
    --------
    load_svm_light : read one.

    Examples
    --------
    >>> from maxmargin import SVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1]
    >>> io.save_svm_light(SVC(C=10).fit(X, y), "model")
    >>> io.load_svm_light("model").predict(X)
    array([-1, -1,  1,  1])
    """
    if version not in VERSIONS:
        raise ValueError(f"version must be one of {', '.join(VERSIONS)}, got {version!r}.")
    found = _expansion(model)
    if found.kernel.kind not in KERNELS:
        raise ValueError(
            f"SVM-light has no {found.kernel!r}: its kernels are 'linear', 'poly', 'rbf' and "
            "'sigmoid'. io.save writes models of every kernel."
        )
    rows = sparse.csr_matrix(found.vectors, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    ends, count = rows.indptr.astype(np.int64), len(found.coef)
    entries = rows.indices.astype(np.int32), contiguous(rows.data), 1
    with compressed_write(path) as file:
        file.write(_head(found, rows.shape[1], version))
        for begin in range(0, count, ROWS):
            end = begin + ROWS
            some = contiguous(found.coef[begin:end]), None, ends[begin : end + 1]
            file.write(format_svmlight(*some, *entries).replace(b"\n", b" #\n"))


def _head(found: Expansion, width: int, version: str) -> bytes:
    """Return the lines before the support vectors; numbers that a kernel lacks are 1, 3 and 1."""
    kernel, kind = found.kernel, KERNELS[found.kernel.kind]
    inner = kernel.kind in (Kind.POLY, Kind.TANH)
    lines = [
        f"SVM-light Version V{version}",
        f"{kind} # kernel type",
        f"{int(kernel.degree)} # kernel parameter -d ",
        f"{float(kernel.gamma) if kernel.kind is Kind.RBF else 1.0!r} # kernel parameter -g ",
        f"{float(kernel.gamma) if inner else 1.0!r} # kernel parameter -s ",
        f"{float(kernel.coef0) if inner else 1.0!r} # kernel parameter -r ",
        "empty# kernel parameter -u ",
        f"{width} # highest feature index ",
        f"{found.n_samples} # number of training documents ",
        f"{len(found.coef) + 1} # number of support vectors plus 1 ",
        f"{0.0 - found.intercept!r} # threshold b, each following line is a SV "
        "(starting with alpha*y)",
    ]
    return "\n".join([*lines, ""]).encode()


def _expansion(model: Any) -> Expansion:
    """Return the function of a fitted estimator; ValueError for what SVM-light does not have."""
    record = _record(model)
    if isinstance(record, LinearModel):
        _refuse(record.classes, len(record.intercepts()), len(record.prob_b) > 0)
        weights, n = record.weights(), record.duals.shape[1]
        return Expansion(Kernel.linear(), weights, np.ones(1), float(record.intercepts()[0]), n)
    learnt = isinstance(record, KernelModel) and (
        len(record.prob_b) > 0 or record.isotonic is not None
    )
    _refuse(record.classes, len(record.intercept), learnt)
    intercept, n = float(record.intercept[0]), record.n_samples
    if record.vectors is None:  # coef holds weights of the features
        return Expansion(record.kernel, record.coef, np.ones(1), intercept, n)
    return Expansion(record.kernel, record.vectors, record.coef[0], intercept, n)


def _record(model: Any) -> KernelModel | LinearModel | PlaneModel:
    """Return the record of a model, for features as they are."""
    scalers, machine = parts_of(model)
    machine = of_best(machine)
    if is_outlier_detector(machine):
        raise ValueError("SVM-light has no one-class models. io.save writes them.")
    if isinstance(machine, BaseLinear):
        return linear_without_scaling(model)[1]
    if problem_of(machine) is not None:
        return machine_without_scaling(model, "SVM-light")
    check_is_fitted(machine)
    if not isinstance(getattr(machine, "model_", None), KernelModel | LinearModel | PlaneModel):
        raise TypeError(
            f"{type(machine).__name__} cannot be written as a file of SVM-light, which holds one "
            "function of support vectors or weights. io.save writes all models."
        )
    if scalers:
        raise ValueError(
            f"SVM-light's model files hold no scaling, and {type(machine).__name__} was fitted on "
            "scaled features: write a .mm file (io.save), which holds it."
        )
    record: KernelModel | LinearModel | PlaneModel = checked(machine)
    return record


def _refuse(classes: NDArray[Any] | None, functions: int, probabilities: bool) -> None:
    """Raise ValueError for labels, several functions and probabilities, which a file has not."""
    if classes is not None and classes.tolist() != [-1, 1]:
        raise ValueError(
            f"The labels in SVM-light are -1 and 1, not {classes[:5].tolist()}: fit on "
            "np.where(y == label, 1, -1). io.save writes every kind of label."
        )
    if functions != 1:
        raise ValueError(
            f"An SVM-light file holds one function, and the model has {functions}. io.save writes "
            "all of them."
        )
    if probabilities:
        raise ValueError(
            "SVM-light has no probabilities: fit with probability=False. io.save writes them."
        )
