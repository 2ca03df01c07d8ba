"""The parameter ``kernels`` of MKLSVC: kernels by name, as records, functions, on some columns."""

from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import kind_of
from maxmargin.estimators._data import gamma_value
from maxmargin.integrity import is_finite
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel, Kind, Part
from maxmargin.kernel.sources.sums import columns_of

WIDTHS = (0.1, 1.0, 10.0)
"""The RBF kernels of the default, as multiples of gamma."""
EXAMPLE = "such as ['linear', 'rbf', (Kernel.rbf(gamma=0.1), [0, 1, 2])]"


def refuse_kernels(kernels: Any) -> None:
    """Raise ValueError unless ``kernels`` is None, "precomputed" or a list of kernels."""
    if kernels is None or (isinstance(kernels, str) and kernels == "precomputed"):
        return
    if isinstance(kernels, str) or not isinstance(kernels, list | tuple) or not kernels:
        raise ValueError(
            f"kernels must be a list of kernels, {EXAMPLE}, 'precomputed' or None; got {kernels!r}."
        )
    for item in kernels:
        kernel = item[0] if isinstance(item, list | tuple) and len(item) == 2 else item
        kind = kind_of(kernel)
        if kind is None or kind in (Kind.PRECOMPUTED, Kind.SUM):
            names = ", ".join(sorted(set(NAMES) - {"precomputed"}))
            raise ValueError(
                f"An entry of kernels must be a name ({names}), a Kernel, a function, or a pair of "
                f"one of them and columns; got {item!r}. "
                "kernels='precomputed' takes X of shape (n_samples, n_samples, n_kernels)."
            )


def sum_of(model: Any, X: Any, weight: Floats) -> Kernel:
    """The kernels as a sum with weights 1; gamma="scale" is that of the columns of each."""
    if model.kernels is None:
        own = _resolved(model, "rbf", X, weight)
        widths = [Part(Kernel.rbf(gamma=factor * own.gamma)) for factor in WIDTHS]
        return Kernel.sum(Kernel.linear(), *widths)
    parts = []
    for item in model.kernels:
        pair = isinstance(item, list | tuple) and not isinstance(item, Part)
        kernel, asked = item if pair else (item, None)
        columns = None if asked is None else _numbers(model, asked)
        parts.append(Part(_resolved(model, kernel, columns_of(X, columns), weight), 1.0, columns))
    return Kernel.sum(*parts)


def _resolved(model: Any, kernel: Any, X: Any, weight: Floats) -> Kernel:
    """A kernel as a record; names have the numbers of the estimator."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Kernel.callable(kernel)
    used = PARAMETERS.get(NAMES[kernel], ())
    values = {name: getattr(model, name) for name in used if name != "gamma"}
    if "gamma" in used:
        values["gamma"] = float(gamma_value(model.gamma, X, weight))
    return Kernel(NAMES[kernel], **values)


def _numbers(model: Any, columns: Any) -> tuple[int, ...]:
    """Columns by number, name, slice or mask, as numbers."""
    width = model.n_features_in_
    if isinstance(columns, slice):
        return tuple(range(width)[columns])
    found = np.atleast_1d(np.asarray(columns))
    if found.dtype.kind in "UO":
        names = list(getattr(model, "feature_names_in_", ()))
        unknown = [name for name in found.tolist() if name not in names]
        if unknown:
            known = "X has no names of columns" if not names else f"the columns are {names[:10]}"
            raise ValueError(f"There is no column {unknown[0]!r}: {known}.")
        return tuple(names.index(name) for name in found.tolist())
    if found.dtype.kind == "b" and len(found) == width:
        found = np.flatnonzero(found)
    if found.dtype.kind not in "iu" or found.ndim != 1 or not len(found):
        raise ValueError(
            "The columns of a kernel must be numbers, names, a slice or a mask of the features, "
            f"at least one; got {columns!r}."
        )
    if found.min() < -width or found.max() >= width:
        raise ValueError(f"A kernel sees columns {found.tolist()}, but X has {width}.")
    return tuple(int(k) % width for k in found)


def scaled(kernel: Kernel, scales: Floats) -> Kernel:
    """A sum of kernels with other weights."""
    parts = zip(kernel.parts, scales, strict=True)
    return Kernel.sum(*(part._replace(weight=float(scale)) for part, scale in parts))


def is_consistent(model: Any) -> bool:
    """Whether weights and scales of a fitted model are those of its record."""
    d, scales, kernels = model.kernel_weights_, model.kernel_scales_, model.kernels_
    given = kernels.kind is Kind.PRECOMPUTED
    count = len(d) if given else len(kernels.parts)
    good = is_finite(d, (count,)) and is_finite(scales, (count,)) and bool((d >= 0).all())
    if not good or given:
        return good and model.model_.kernel.kind is Kind.PRECOMPUTED
    kept = tuple(part for part in scaled(kernels, d * scales).parts if part.weight > 0)
    return bool(model.model_.kernel.parts == kept)
