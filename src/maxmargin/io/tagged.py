"""Conversion of parameters and fitted attributes to JSON and back, for known types only.

Numbers, strings, booleans, None and lists are written as they are. Everything else is an object
with one key, its tag:

    {"float": "inf"}                                    a number that JSON does not have
    {"tuple": [...]}, {"dict": [[key, value], ...]}
    {"scalar": ["<f8", 0.5]}                            a NumPy number
    {"array": 3}                                        array 3 of the archive
    {"strings": [shape, 4, 5]}                          an array of str: bytes in array 4, ends in 5
    {"objects": [shape, [...]]}                         an array of other objects
    {"csr": [["matrix", rows, columns], 0, 1, 2]}       data, indices, indptr
    {"kernel": ["RBF", 0.5, 0.0, 3]}
    {"sum": [[kernel, 0.7, [0, 1]], ...]}               a sum of kernels: kernel, weight, columns
    {"machine": {"kernel": ..., "coef": ...}}           a KernelModel, field by field
    {"linear": {"coef": ..., "intercept": ...}}         a LinearModel, field by field
    {"online": {"kernel": ..., "coef": ...}}            an OnlineModel, field by field
    {"planes": {"kernel": ..., "coef": ...}}            a PlaneModel, field by field
    {"joint": {"weights": ..., "slope": ...}}           a JointModel, field by field
    {"certificate": [0, 1, 2]}                          status, convexity, numbers; one row a part
    {"record": ["Iterates", [...]]}                     a NamedTuple of the list below
    {"model": {"class": ..., "parameters": ..., "attributes": ...}}

Nothing in a file is called or imported: a tag selects a function of this file. Writing Python
functions, random generators and other objects is an error that gives the reason.
"""

import math
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.certificate import Certificate
from maxmargin.compression import Compression
from maxmargin.intervals import Folds
from maxmargin.io.archive import Arrays
from maxmargin.isotonic import Isotonic
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.model import KernelModel, Problem
from maxmargin.linear.model import LinearModel
from maxmargin.online.model import OnlineModel
from maxmargin.online.norma import Hypotheses
from maxmargin.online.pegasos import Iterates
from maxmargin.sigmoid import Bent
from maxmargin.status import Convexity, Status
from maxmargin.structured.joint_model import JointModel
from maxmargin.structured.model import PlaneModel
from maxmargin.structured.taxonomy import Taxonomy

RECORDS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (Iterates, Hypotheses, Compression, Folds, Isotonic, Bent, Taxonomy)
}
RECORDS |= {"Walks": Iterates, "Functions": Hypotheses}  # their names in the first version
STATUSES = list(Status)
CONVEXITIES = [
    *map(Convexity, ("proved", "checked", "assumed", "indefinite", "unknown", "nonconvex"))
]
"""Files hold positions in these lists, so new entries go to the end."""
MODELS: dict[str, Any] = {
    "machine": KernelModel,
    "linear": LinearModel,
    "online": OnlineModel,
    "planes": PlaneModel,
    "joint": JointModel,
}
"""The records of fitted models by their tags."""
LATER = {"bent", "folds", "isotonic", "prob_a", "prob_b"}
"""Fields that earlier files do not have; they have their defaults then."""
CERTIFICATE = [field.name for field in fields(Certificate)]
CERTIFICATE = [name for name in CERTIFICATE if name not in ("status", "convexity", "parts")]
SCALARS = ("|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in "248"))
"""Types of NumPy numbers."""
DEEPEST = 8
"""Largest depth of nested values."""


class Encoder:
    """Converts values to JSON; arrays go to the archive."""

    def __init__(self, arrays: Arrays, model: Callable[[Any], Any]) -> None:
        self.arrays, self.model = arrays, model

    def encode(self, value: Any) -> Any:
        """One value."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        for types, how in self._table():
            if isinstance(value, types):
                return how(value)
        raise ValueError(
            f"{value!r:.200} is a {type(value).__name__}: a model file holds numbers, strings, "
            "arrays and kernels, but no code. Replace it by such a value (a random_state by a "
            "number), or use pickle among people you trust."
        )

    def _table(self) -> list[tuple[Any, Callable[[Any], Any]]]:
        from sklearn.base import BaseEstimator

        return [
            (np.generic, self._scalar),
            (np.ndarray, self._array),
            (Kernel, self._kernel),
            (Certificate, self._certificate),
            (tuple(MODELS.values()), self._fitted),
            (Problem, lambda v: v.value),
            (BaseEstimator, lambda v: {"model": self.model(v)}),
            (tuple(RECORDS.values()), lambda v: {"record": [type(v).__name__, self._each(v)]}),
            (tuple, lambda v: {"tuple": self._each(v)}),
            (list, self._each),
            (dict, lambda v: {"dict": [self._each(item) for item in v.items()]}),
            (sparse.csr_matrix | sparse.csr_array, self._csr),
        ]

    def _each(self, values: Any) -> list[Any]:
        return [self.encode(value) for value in values]

    def _scalar(self, value: Any) -> Any:
        if value.dtype.kind == "U":
            return str(value)
        if value.dtype.kind not in "biuf":
            raise ValueError(f"a model file cannot hold {value!r} of type {value.dtype}.")
        return {"scalar": [value.dtype.newbyteorder("<").str, self.encode(value.item())]}

    def _array(self, value: Any) -> Any:
        if value.dtype.kind != "O":
            return {"array": self.arrays.add(value)}
        items = value.ravel().tolist()
        if all(isinstance(item, str) for item in items):
            raw = [str(item).encode() for item in items]
            text = np.frombuffer(b"".join(raw), np.uint8)
            ends = np.cumsum([len(part) for part in raw], dtype=np.int64)
            return {"strings": [list(value.shape), self.arrays.add(text), self.arrays.add(ends)]}
        return {"objects": [list(value.shape), self._each(items)]}

    def _csr(self, value: Any) -> Any:
        kind = "matrix" if isinstance(value, sparse.csr_matrix) else "array"
        parts = map(self.arrays.add, (value.data, value.indices, value.indptr))
        return {"csr": [[kind, *map(int, value.shape)], *parts]}

    def _kernel(self, value: Kernel) -> Any:
        if value.kind is Kind.CALLABLE:
            raise ValueError(
                "The kernel is a Python function. Model files hold no code, so loading them is "
                "safe. Use one of the named kernels, kernel='precomputed', or pickle among people "
                "you trust."
            )
        if value.kind is Kind.SUM:
            return {
                "sum": [
                    [self._kernel(part), weight, None if columns is None else list(columns)]
                    for part, weight, columns in value.parts
                ]
            }
        return {
            "kernel": [value.kind.name, float(value.gamma), float(value.coef0), int(value.degree)]
        }

    def _fitted(self, value: Any) -> Any:
        tag = next(tag for tag, cls in MODELS.items() if isinstance(value, cls))
        return {
            tag: {field.name: self.encode(getattr(value, field.name)) for field in fields(value)}
        }

    def _certificate(self, value: Certificate) -> Any:
        rows = [value, *value.parts]
        status, convexity = np.array(
            [[STATUSES.index(row.status), CONVEXITIES.index(row.convexity)] for row in rows],
            np.uint8,
        ).T
        table = np.array([[getattr(row, name) for name in CERTIFICATE] for row in rows], np.float64)
        return {"certificate": list(map(self.arrays.add, (status.copy(), convexity.copy(), table)))}


# ---- reading -------------------------------------------------------------------------------------


class Decoder:
    """Converts JSON to values. Anything but the forms above is a ValueError."""

    def __init__(self, arrays: list[Any], model: Callable[["Decoder", Any, int], Any]) -> None:
        self.arrays, self.model = arrays, model
        self.tags: dict[str, Callable[[Any, int], Any]] = {
            "float": lambda v, _: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[v],
            "tuple": lambda v, depth: tuple(self.decode(part, depth) for part in _list(v)),
            "dict": lambda v, depth: {
                self.decode(key, depth): self.decode(part, depth) for key, part in _list(v)
            },
            "scalar": self._scalar,
            "array": lambda v, _: self._at(v),
            "strings": self._strings,
            "objects": self._objects,
            "csr": self._csr,
            "kernel": self._kernel,
            "sum": self._sum,
            "certificate": self._certificate,
            **{tag: partial(self._fitted, cls) for tag, cls in MODELS.items()},
            "record": self._record,
            "model": lambda v, depth: self.model(self, v, depth),
        }

    def decode(self, value: Any, depth: int = 0) -> Any:
        """One value."""
        _require(depth <= DEEPEST, "values are nested too deeply")
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            _require(math.isfinite(value), "a number is too large for a float64")
            return value
        if type(value) is list:
            return [self.decode(part, depth + 1) for part in value]
        if type(value) is dict and len(value) == 1:
            tag, content = next(iter(value.items()))
            if tag in self.tags:
                try:
                    return self.tags[tag](content, depth + 1)
                except (TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
                    raise ValueError(
                        f"a value tagged {tag!r} is malformed: {type(error).__name__}"
                    ) from None
        raise ValueError("a value has an unknown tag")

    def _at(self, place: Any) -> Any:
        _require(type(place) is int and 0 <= place < len(self.arrays), "an array is missing")
        return self.arrays[place]

    def _scalar(self, content: Any, depth: int) -> Any:
        name, value = content
        _require(name in SCALARS, "a number has an unknown type")
        value = self.decode(value, depth)
        _require(type(value) in (bool, int, float), "a number is malformed")
        return np.dtype(name).newbyteorder("=").type(value)

    def _strings(self, content: Any, _: int) -> Any:
        shape, text, ends = _shape(content[0]), self._at(content[1]), self._at(content[2])
        good = _vector(text, np.uint8) and _vector(ends, np.int64) and len(ends) == math.prod(shape)
        places = [0, *ends.tolist()] if good else []
        good = good and places == sorted(places) and places[-1] == len(text)
        _require(good, "strings are malformed")
        raw, out = text.tobytes(), np.empty(len(ends), object)
        out[:] = [raw[a:b].decode() for a, b in pairwise(places)]
        return out.reshape(shape)

    def _objects(self, content: Any, depth: int) -> Any:
        shape, items = _shape(content[0]), _list(content[1])
        _require(len(items) == math.prod(shape), "objects are malformed")
        out = np.empty(len(items), object)
        for k, item in enumerate(items):
            out[k] = self.decode(item, depth)
        return out.reshape(shape)

    def _csr(self, content: Any, _: int) -> Any:
        (kind, rows, columns), *places = content
        data, indices, indptr = (self._at(place) for place in places)
        _shape([rows, columns])
        good = (
            data.dtype.kind == "f"
            and _vector(data, data.dtype)
            and _vector(indptr, np.int32, np.int64)
            and _vector(indices, indptr.dtype)
            and len(indptr) == rows + 1
            and len(indices) == len(data)
        )
        _require(good, "a sparse matrix is malformed")
        cls = {"matrix": sparse.csr_matrix, "array": sparse.csr_array}[kind]
        found = cls((data, indices, indptr), shape=(rows, columns))
        found.check_format(full_check=True)
        return found

    def _kernel(self, content: Any, _: int) -> Kernel:
        name, gamma, coef0, degree = content
        numbers = type(gamma) is type(coef0) is float and type(degree) is int
        odd = (Kind.CALLABLE.name, Kind.SUM.name)
        _require(numbers and name not in odd, "a kernel is malformed")
        return Kernel(Kind[name], gamma, coef0, degree)

    def _sum(self, content: Any, depth: int) -> Kernel:
        found = []
        for part, weight, columns in _list(content):
            numbers = columns is None or all(type(k) is int for k in _list(columns))
            _require(type(weight) is float and numbers, "a sum of kernels is malformed")
            found.append((self.decode(part, depth), weight, columns))
        return Kernel.sum(*found)

    def _certificate(self, content: Any, _: int) -> Certificate:
        status, convexity, table = (self._at(place) for place in content)
        rows = len(table)
        good = table.dtype == np.float64 and table.shape == (rows, len(CERTIFICATE)) and rows >= 1
        good = good and status.shape == convexity.shape == (rows,)
        _require(good, "a certificate is malformed")

        def one(k: int, parts: tuple[Certificate, ...]) -> Certificate:
            values = dict(zip(CERTIFICATE, table[k].tolist(), strict=True))
            values["n_iter"] = int(values["n_iter"])
            outcome = STATUSES[int(status[k])], CONVEXITIES[int(convexity[k])]
            return Certificate(status=outcome[0], convexity=outcome[1], parts=parts, **values)

        return one(0, tuple(one(k, ()) for k in range(1, rows)))

    def _fitted(self, cls: Any, content: Any, depth: int) -> Any:
        names = {field.name for field in fields(cls)}
        needed = names - LATER
        _require(
            needed <= set(content) <= names, f"a {cls.__name__} does not have the fields of one"
        )
        parts = {name: self.decode(value, depth) for name, value in content.items()}
        if "problem" in parts:
            parts["problem"] = Problem(parts["problem"])
        return cls(**parts)

    def _record(self, content: Any, depth: int) -> Any:
        name, parts = content
        return RECORDS[name](*(self.decode(part, depth) for part in _list(parts)))


def _require(good: Any, message: str) -> None:
    if not good:
        raise ValueError(message)


def _vector(array: Any, *dtypes: Any) -> bool:
    """Whether an array has one axis and one of these types."""
    return array.ndim == 1 and array.dtype in dtypes


def _list(value: Any) -> list[Any]:
    _require(type(value) is list, "a list was expected")
    return list(value)


def _shape(value: Any) -> tuple[int, ...]:
    """Return a shape of at most two axes with valid sizes."""
    sizes = _list(value)
    good = len(sizes) <= 2 and all(type(k) is int and 0 <= k <= 2**48 for k in sizes)
    _require(good, "a shape is malformed")
    return tuple(sizes)
