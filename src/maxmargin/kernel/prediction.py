"""Prediction: decision values of a `KernelModel` and of online models; labels.py has the labels.

**Preparation.** Native code must never read a record that was altered, and checking and preparing
one costs more than predicting a few rows. What was prepared is kept beside a fingerprint of the
memory it was made from, outside the record, whose copies and pickles do not change by predicting.
"""

import itertools
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.core.memory import fingerprint
from maxmargin.integrity import INVALID
from maxmargin.kernel import multiclass
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.model import KernelModel, check
from maxmargin.kernel.packed import Coefficients, PackedModel
from maxmargin.kernel.sources import NativeSource, Source, combine, make_source


class Settings(NamedTuple):
    """Constants of prediction."""

    value_error: float = 1e-5
    """Bound of the error of a decision value, in its unit, from which distances are computed by
    differences (rounding.py). Not a share of tol: parameters set after the fit do not change a
    model."""


SETTINGS = Settings()


class Expansion(NamedTuple):
    """The functions sum_j coef_kj k(x_j, x) of an online model; the names are a KernelModel's."""

    kernel: Kernel
    vectors: Any
    coef: Floats
    rows: NDArray[Any]
    n_samples: int


class Question(NamedTuple):
    """Kernel values between support vectors and the samples, and the coefficients to multiply."""

    source: Source
    """Against the samples; where there is a packed model the support vectors alone."""
    coefficients: Coefficients
    packed: PackedModel | None = None
    """Answers in the place of the source."""
    X: Any = None
    """The samples, for it."""

    def at(self, rows: NDArray[np.intp]) -> "Question":
        """The same for these samples alone."""
        if self.packed is not None:
            return self._replace(X=self.X[rows])
        assert isinstance(self.source, NativeSource)  # no other source has a float32_bound
        return Question(self.source.at(rows), self.coefficients)


# ---- preparation ---------------------------------------------------------------------------------


class Prepared(NamedTuple):
    """What prediction needs of a record or of an expansion."""

    fingerprint: Any
    source: NativeSource | None
    """The support vectors; with a linear kernel the weights of the features instead, a row for each
    function. None for a precomputed kernel, a Python function and a sum of kernels."""
    coefficients: Coefficients
    packed: PackedModel | None = None
    """The same of a kernel that packed.py knows; None of others."""


_prepared: "WeakKeyDictionary[Any, Prepared]" = WeakKeyDictionary()
"""By record; an online model's has an expansion."""


def prepared(model: KernelModel) -> Prepared:
    """The record, checked and prepared; again if its memory changed or has no fingerprint."""
    found, kept = _fingerprint(model, model.intercept, model.n_support), _prepared.get(model)
    if kept is None or found is None or kept.fingerprint != found:
        check(model)
        kept = _prepare(model, found)
        _prepared[model] = kept
    return kept


def _prepare(model: KernelModel, found: Any) -> Prepared:
    source, coefficients = _known(model), _coefficients(model)
    points = source.dense_rbf_points() if source is not None else None
    packed = PackedModel(points, coefficients) if points is not None else None
    return Prepared(found, source, coefficients, packed)


def prepared_expansion(owner: Any, model: Expansion) -> Prepared:
    """The same for a checked expansion, kept for its owner."""
    found, kept = _fingerprint(model), _prepared.get(owner)
    if kept is None or found is None or kept.fingerprint != (model.kernel, found):
        native = model.kernel.kind not in (Kind.PRECOMPUTED, Kind.CALLABLE, Kind.SUM)
        source = NativeSource(model.kernel, model.vectors) if native else None
        begin = np.array([0, model.coef.shape[1]])
        coefficients = Coefficients(begin, np.ascontiguousarray(model.coef.T))
        kept = Prepared((model.kernel, found), source, coefficients)
        _prepared[owner] = kept
    return kept


def _fingerprint(model: KernelModel | Expansion, *others: NDArray[Any]) -> Any:
    """A number for every array that users can alter in place; None for objects."""
    vectors = model.vectors
    try:
        arrays = [*others, model.coef]
        if model.rows is not None:
            arrays.append(model.rows)
        if sparse.issparse(vectors):
            arrays += [vectors.data, vectors.indices, vectors.indptr]
        else:
            arrays.append(vectors)
        return [(fingerprint(array), array.dtype, array.shape) for array in arrays], vectors.shape
    except INVALID:
        return None


def _known(model: KernelModel) -> NativeSource | None:
    kernel = model.kernel
    if kernel.kind in (Kind.PRECOMPUTED, Kind.CALLABLE, Kind.SUM):
        return None
    if kernel.kind is Kind.LINEAR:
        return NativeSource(kernel, combine(model.columns(), model.vectors))
    source = NativeSource(kernel, model.vectors)
    if source.value_error * _greatest_sum(model) <= SETTINGS.value_error * model.unit:
        return source
    return source.by_differences() or source


def _greatest_sum(model: KernelModel) -> float:
    """The greatest sum of magnitudes of the coefficients of a decision function."""
    size = np.abs(model.coef)
    if not model.pairs:
        return float(size.sum(axis=1).max(initial=0.0))
    ends = itertools.pairwise(np.cumsum([0, *model.n_support]))
    of_classes = np.array([size[:, begin:end].sum(axis=1) for begin, end in ends])
    return float(multiclass.join_pairs(of_classes).max(initial=0.0))


def _coefficients(model: KernelModel) -> Coefficients:
    """One group; for pairs of classes one group for each class."""
    coef = np.ascontiguousarray(model.coef.T)
    begin = np.cumsum([0, *model.n_support]) if model.pairs else np.array([0, len(coef)])
    return Coefficients(begin, coef)


# ---- decision values -----------------------------------------------------------------------------


def ask(model: KernelModel, X: Any) -> Question:
    """The kernel values that decision values of the validated samples X are made of."""
    state = prepared(model)
    if model.kernel.kind in (Kind.PRECOMPUTED, Kind.CALLABLE):
        return _against(state, model, X)
    if X.shape[1] != model.n_features:
        raise ValueError(f"X has {X.shape[1]} features, but the model has {model.n_features}.")
    if sparse.issparse(X) and not sparse.issparse(model.vectors):
        name = model.problem.estimator
        raise ValueError(f"cannot use sparse input in {name!r} trained on dense data")
    if sparse.issparse(model.vectors) and not sparse.issparse(X):
        X = sparse.csr_matrix(X)
    return _against(state, model, X)


def _against(state: Prepared, model: KernelModel | Expansion, X: Any) -> Question:
    """What was prepared, against X; with a precomputed kernel X holds the kernel values."""
    if state.source is not None and state.packed is not None:
        return Question(state.source, state.coefficients, state.packed, X)
    if state.source is not None:
        return Question(state.source.against(X), state.coefficients)
    if model.kernel.kind in (Kind.CALLABLE, Kind.SUM):
        return Question(make_source(model.kernel, model.vectors, X), state.coefficients)
    if X.shape[1] != model.n_samples:
        raise ValueError(
            f"X.shape[1] = {X.shape[1]} should be equal to {model.n_samples}, the number of "
            "samples at training time"
        )
    return Question(make_source(model.kernel, X[:, model.rows].T), state.coefficients)


def decision_values(model: KernelModel, X: Any) -> Floats:
    """Values of every decision function at the validated samples X, one column each."""
    return values(model, ask(model, X)).T


def check_float32(model: KernelModel) -> None:
    """Raise ValueError if the kernel values of a model cannot be float32."""
    if model.kernel.kind is not Kind.RBF or sparse.issparse(model.vectors):
        raise ValueError(
            "precision='float32' needs the RBF kernel and dense data. Leave it at 'float64'."
        )


def values(model: KernelModel, question: Question, float32: bool = False) -> Floats:
    """Values of every decision function, one row each."""
    if model.kernel.kind is Kind.LINEAR:
        found = question.source.block(None, None, np.float64)
        found += model.intercept[:, None]
        return found
    return values_of_parts(model, products(question, float32))


def values_of_parts(model: KernelModel, parts: Floats) -> Floats:
    """The same from each group's share of them, which may be overwritten."""
    found = multiclass.join_pairs(parts) if model.pairs else parts[0]
    found += model.intercept[:, None]
    return found


def expansion_values(owner: Any, model: Expansion, X: Any) -> Floats:
    """Values of the functions of an online model at the validated samples X, one row each.

    X is stored as the vectors are: both dense, or both sparse.
    """
    question = _against(prepared_expansion(owner, model), model, X)
    if not len(model.rows):  # a Python function is not asked for no values
        return np.zeros((len(model.coef), question.source.n_columns))
    found: Floats = products(question)[0]
    return found


def products(question: Question, float32: bool = False) -> Floats:
    """Each group's share of its functions."""
    source, (begin, coef), packed, X = question
    if packed is not None:
        return packed.float32_values(X) if float32 else packed.values(X)
    parts = np.zeros((len(begin) - 1, coef.shape[1], source.n_columns))
    source.add_products(begin, coef, parts, np.float64)
    return parts
