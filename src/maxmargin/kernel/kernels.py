"""Kernels as data.

================  =============================================  =============================
kind              k(x, z)                                        positive semidefinite
================  =============================================  =============================
LINEAR            x.z                                            yes
POLY              (gamma x.z + coef0)^degree                     if gamma >= 0 and coef0 >= 0
RBF               exp(-gamma |x - z|^2)                          yes
TANH ("sigmoid")  tanh(gamma x.z + coef0)                        no
LOGISTIC          1 / (1 + exp(-(gamma x.z + coef0)))            no
LAPLACIAN         exp(-gamma sum |x_k - z_k|)                    yes
CHI2              exp(-gamma sum (x_k - z_k)^2 / (x_k + z_k))    yes (x, z >= 0)
COSINE            x.z / (|x| |z|)                                yes
PRECOMPUTED       the matrix given as X                          unknown
CALLABLE          function(X, Z), a block of values              unknown
SUM               sum of weight_m k_m(x, z), each k_m of the     if all k_m are
                  kinds above, on all features or some
================  =============================================  =============================

The lectures write some of them with a width sigma: RBF exp(-|x - z|^2 / (2 sigma^2)) is
gamma = 1 / (2 sigma^2); the polynomial (1 + x.z / sigma^2)^p is gamma = 1 / sigma^2, coef0 = 1; the
logistic sigmoid 1 / (1 + exp(-(x.z + b) / sigma^2)) is gamma = 1 / sigma^2, coef0 = b / sigma^2.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from numbers import Real
from typing import Any, NamedTuple


class Kind(IntEnum):
    """The kinds of kernels; the numbers of the first seven are those of the compiled core."""

    LINEAR = 0
    POLY = 1
    RBF = 2
    TANH = 3
    LOGISTIC = 4
    LAPLACIAN = 5
    CHI2 = 6
    COSINE = 7
    PRECOMPUTED = 8
    CALLABLE = 9
    SUM = 10


def gamma_of_sigma(sigma: float, factor: float = 1.0) -> float:
    """Return 1 / (factor sigma^2)."""
    if not (math.isfinite(sigma) and sigma > 0):
        raise ValueError(f"sigma must be a positive finite number, got {sigma!r}.")
    square = factor * sigma * sigma
    if not (square > 0 and math.isfinite(square) and math.isfinite(1.0 / square)):
        raise ValueError(
            f"sigma={sigma!r} is beyond the range of float64: 1 / sigma^2 overflows or is 0. Scale "
            "the data."
        )
    return 1.0 / square


def _one_of(gamma: float | None, sigma: float | None, default: float, factor: float = 1.0) -> float:
    """Return gamma from whichever of gamma and sigma was given."""
    if gamma is not None and sigma is not None:
        raise ValueError("Give gamma or sigma, not both: they say the same thing.")
    if sigma is not None:
        return gamma_of_sigma(sigma, factor)
    return default if gamma is None else gamma


PARAMETERS = {
    Kind.POLY: ("gamma", "coef0", "degree"),
    Kind.RBF: ("gamma",),
    Kind.TANH: ("gamma", "coef0"),
    Kind.LOGISTIC: ("gamma", "coef0"),
    Kind.LAPLACIAN: ("gamma",),
    Kind.CHI2: ("gamma",),
    Kind.CALLABLE: ("function",),
    Kind.SUM: ("parts",),
}
"""Which numbers a formula has; LINEAR, COSINE and PRECOMPUTED have none."""


class Part(NamedTuple):
    """A term of a sum of kernels."""

    kernel: "Kernel"
    weight: float = 1.0
    """Finite, not negative."""
    columns: tuple[int, ...] | None = None
    """The features that the kernel sees; None is all of them."""


@dataclass(frozen=True, repr=False)
class Kernel:
    """A kernel: its kind and its numbers.

    Build one with the class methods: ``Kernel.rbf(sigma=2.0)``, ``Kernel.poly(degree=2,
    sigma=1.0)``, ``Kernel.chi2(gamma=0.5)``. Estimators take it in place of a name:
    ``SVC(kernel=Kernel.laplacian(gamma=0.1))``.

    Parameters
    ----------
    kind : Kind
        Which formula.
    gamma, coef0, degree : float, float, int
        Its numbers; a formula refuses those it does not have. gamma is 1 unless given: "scale"
        needs data and belongs to the estimators.
    function : callable, optional
        For ``Kind.CALLABLE``: ``function(X, Z)`` returns the block of values, one row for each of X
        and one column for each of Z.
    parts : tuple of Part
        For ``Kind.SUM``: kernel, weight and columns of each term.

    Examples
    --------
    >>> from maxmargin import SVC, Kernel
    >>> Kernel.rbf(sigma=2.0).gamma
    0.125
    >>> model = SVC(kernel=Kernel.poly(degree=2, coef0=1.0), C=10)
    >>> model.fit([[-1], [0], [1]], [0, 1, 0]).predict([[0.1], [2]])
    array([1, 0])
    """

    kind: Kind
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3
    function: Callable[[Any, Any], Any] | None = None
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        """Refuse numbers no formula can use."""
        if not (isinstance(self.gamma, Real) and math.isfinite(self.gamma) and self.gamma >= 0):
            raise ValueError(
                f"gamma must be a finite number >= 0, got {self.gamma!r}; 'scale' and 'auto' are "
                "the estimators'."
            )
        if not math.isfinite(self.coef0):
            raise ValueError(f"coef0 must be finite, got {self.coef0!r}.")
        whole = math.isfinite(self.degree) and int(self.degree) == self.degree
        if not (whole and 0 <= self.degree < 2**31):
            raise ValueError(f"degree must be a whole number >= 0, got {self.degree!r}.")
        for name, default in (("gamma", 1.0), ("coef0", 0.0), ("degree", 3)):
            if name not in PARAMETERS.get(self.kind, ()) and getattr(self, name) != default:
                raise ValueError(
                    f"The {self.kind.name.lower()} kernel has no {name}; got "
                    f"{getattr(self, name)!r}."
                )
        if (self.kind is Kind.CALLABLE) != callable(self.function):
            raise ValueError("A callable kernel, and only that, needs a function(X, Z).")
        if (self.kind is Kind.SUM) != bool(self.parts):
            raise ValueError("A sum of kernels, and only that, needs parts.")
        for part in self.parts:
            _check_part(part)

    def __repr__(self) -> str:
        """As it could be written."""
        names = {Kind.TANH: "sigmoid"}
        if self.kind is Kind.SUM:
            return f"Kernel.sum({', '.join(map(_shown, self.parts))})"
        values = {name: getattr(self, name) for name in PARAMETERS.get(self.kind, ())}
        if self.kind is Kind.LOGISTIC and self.gamma > 0:
            values = {"sigma": self.gamma**-0.5, "b": self.coef0 / self.gamma}
        numbers = ", ".join(
            f"{name}={value:.6g}" if isinstance(value, Real) else repr(value)
            for name, value in values.items()
        )
        return f"Kernel.{names.get(self.kind, self.kind.name.lower())}({numbers})"

    @classmethod
    def linear(cls) -> "Kernel":
        """x.z"""
        return cls(Kind.LINEAR)

    @classmethod
    def poly(
        cls,
        degree: int = 3,
        gamma: float | None = None,
        coef0: float | None = None,
        sigma: float | None = None,
    ) -> "Kernel":
        """(gamma x.z + coef0)^degree; with sigma the lectures' (1 + x.z / sigma^2)^degree."""
        constant = (0.0 if sigma is None else 1.0) if coef0 is None else coef0
        return cls(Kind.POLY, _one_of(gamma, sigma, 1.0), constant, degree)

    @classmethod
    def rbf(cls, gamma: float | None = None, sigma: float | None = None) -> "Kernel":
        """exp(-gamma |x - z|^2); with sigma exp(-|x - z|^2 / (2 sigma^2))."""
        return cls(Kind.RBF, _one_of(gamma, sigma, 1.0, factor=2.0))

    @classmethod
    def sigmoid(cls, gamma: float = 1.0, coef0: float = 0.0) -> "Kernel":
        """tanh(gamma x.z + coef0), scikit-learn's and LIBSVM's "sigmoid"."""
        return cls(Kind.TANH, gamma, coef0)

    @classmethod
    def logistic(cls, sigma: float = 1.0, b: float = 0.0) -> "Kernel":
        """1 / (1 + exp(-(x.z + b) / sigma^2)), the lectures' sigmoidal kernel."""
        gamma = gamma_of_sigma(sigma)
        return cls(Kind.LOGISTIC, gamma, b * gamma)

    @classmethod
    def laplacian(cls, gamma: float = 1.0) -> "Kernel":
        """exp(-gamma sum |x_k - z_k|)"""
        return cls(Kind.LAPLACIAN, gamma)

    @classmethod
    def chi2(cls, gamma: float = 1.0) -> "Kernel":
        """exp(-gamma sum (x_k - z_k)^2 / (x_k + z_k)) on non-negative data."""
        return cls(Kind.CHI2, gamma)

    @classmethod
    def cosine(cls) -> "Kernel":
        """x.z / (|x| |z|), 0 where one of them is 0."""
        return cls(Kind.COSINE)

    @classmethod
    def precomputed(cls) -> "Kernel":
        """The kernel matrix itself is given as X."""
        return cls(Kind.PRECOMPUTED)

    @classmethod
    def callable(cls, function: Callable[[Any, Any], Any]) -> "Kernel":
        """Values of function(X, Z), computed in blocks and on demand."""
        return cls(Kind.CALLABLE, function=function)

    @classmethod
    def sum(cls, *parts: Any) -> "Kernel":
        """Sum of kernels: each a ``Kernel``, ``(kernel, weight)`` or ``(kernel, weight, columns)``.

        ``columns`` are the numbers of the features that the kernel sees.
        """
        terms = [Part(part) if isinstance(part, Kernel) else Part(*part) for part in parts]
        known = [
            part._replace(
                weight=float(part.weight),
                columns=None if part.columns is None else tuple(int(k) for k in part.columns),
            )
            for part in terms
        ]
        return cls(Kind.SUM, parts=tuple(known))

    @property
    def needs_non_negative(self) -> bool:
        """Whether the features must not be negative."""
        return self.kind is Kind.CHI2 or any(part.kernel.needs_non_negative for part in self.parts)

    @property
    def has_dot_product(self) -> bool:
        """Whether values are functions of x.z, which loses digits on data far from the origin."""
        return self.kind in (Kind.LINEAR, Kind.POLY, Kind.TANH, Kind.LOGISTIC, Kind.COSINE)

    @property
    def positive_semidefinite(self) -> bool | None:
        """Whether every kernel matrix is positive semidefinite; None if the data decide that."""
        if self.kind in (Kind.LINEAR, Kind.RBF, Kind.LAPLACIAN, Kind.CHI2, Kind.COSINE):
            return True
        if self.kind is Kind.POLY:
            return True if self.coef0 >= 0 else None
        if self.kind is Kind.SUM:
            return all(part.kernel.positive_semidefinite for part in self.parts) or None
        return None


def _shown(part: Part) -> str:
    """A term of a sum as it could be written."""
    columns = "" if part.columns is None else f", {list(part.columns)}"
    return f"({part.kernel!r}, {part.weight:.6g}{columns})"


def _check_part(part: Part) -> None:
    """Refuse a term that no sum can have."""
    kernel, weight, columns = part
    if not isinstance(kernel, Kernel) or kernel.kind in (Kind.SUM, Kind.PRECOMPUTED):
        raise ValueError(
            f"A term of a sum must be a kernel of features or of a function, got {kernel!r}."
        )
    if not (math.isfinite(weight) and weight >= 0):
        raise ValueError(f"The weight of a kernel must be finite and >= 0, got {weight!r}.")
    if columns is not None and (not columns or min(columns) < 0):
        raise ValueError(
            f"The columns of a kernel must be numbers of features, at least one, got {columns!r}."
        )


NAMES = {
    "linear": Kind.LINEAR,
    "poly": Kind.POLY,
    "rbf": Kind.RBF,
    "sigmoid": Kind.TANH,
    "logistic": Kind.LOGISTIC,
    "laplacian": Kind.LAPLACIAN,
    "chi2": Kind.CHI2,
    "cosine": Kind.COSINE,
    "precomputed": Kind.PRECOMPUTED,
}
"""The names estimators accept; "sigmoid" is tanh as in scikit-learn."""
