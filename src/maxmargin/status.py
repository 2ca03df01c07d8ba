"""How a fit ended, and what is known about the convexity of its problem.

Both are strings to the user (``certificate_.status == "optimal"``) and enums to the code.
"""

from enum import StrEnum


class Status(StrEnum):
    """How a fit ended, from best to worst; ``message`` is the sentence for the user."""

    message: str

    def __new__(cls, name: str, message: str = "") -> "Status":
        status = str.__new__(cls, name)
        status._value_, status.message = name, message
        return status

    OPTIMAL = (
        "optimal",
        "The optimality conditions hold to the tolerance asked for, or the gap is at rounding, "
        "checked in float64.",
    )
    APPROXIMATE = (
        "approximate",
        "The duality gap is within the tolerance asked for, checked in float64, but the optimality "
        "conditions of some samples are not: lower tol, or use an exact solver, for a closer "
        "solution.",
    )
    STATIONARY = (
        "stationary",
        "The problem is not convex, because the kernel is not positive semidefinite on these data "
        "or because labels or latent variables are chosen too: the solution satisfies the "
        "optimality conditions to the tolerance asked for, but the gap is no certificate.",
    )
    MAX_ITER = (
        "max_iter",
        "The tolerance was not reached: raise max_iter, continue with warm_start=True, or lower C.",
    )
    TIME_LIMIT = (
        "time_limit",
        "time_limit seconds passed before the tolerance was reached. Raise time_limit, continue "
        "with warm_start=True, scale the data (StandardScaler or MinMaxScaler), or lower C.",
    )
    INTERRUPTED = (
        "interrupted",
        "Interrupted from the keyboard; the best solution so far was kept. warm_start=True "
        "continues from it.",
    )
    STALLED = (
        "stalled",
        "Float64 arithmetic cannot reach the tolerance on these data: the kernel values are too "
        "large or too unequal. Scale the data (StandardScaler or MinMaxScaler), lower C, or raise "
        "tol.",
    )
    REFUTED = (
        "refuted",
        "The optimality conditions do not hold for the data and parameters given to certify: are "
        "they those of the fit?",
    )
    DEGENERATE = (
        "degenerate",
        "nu is too small for these data and this kernel: the reduced convex hulls of the classes "
        "meet, so the optimum is w = 0 and every decision value is 0. Raise nu (it must exceed the "
        "share of unavoidable margin errors) or use a richer kernel (for RBF a larger gamma).",
    )
    IMPORTED = (
        "imported",
        "The model was read from a file of another program, which says nothing about the solution: "
        "certify(X, y) checks it.",
    )
    COMPACTED = (
        "compacted",
        "Support vectors were removed after the fit: compression_ says how far that moved the "
        "decision functions.",
    )
    UNJUDGED = "unjudged", "verdict.py has not judged the certificate yet."

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self in (Status.OPTIMAL, Status.APPROXIMATE, Status.STATIONARY)

    def __repr__(self) -> str:
        """That of the string it equals."""
        return str.__repr__(self)


class Convexity(StrEnum):
    """Whether the kernel matrix is positive semidefinite, from best to worst."""

    PROVED = "proved"
    """Every matrix of this kernel is."""
    CHECKED = "checked"
    """This matrix is."""
    ASSUMED = "assumed"
    """The user's matrix or function, checked only in part: OPTIMAL rests on its being a kernel."""
    UNKNOWN = "unknown"
    """A kernel that need not be positive semidefinite, checked only in part."""
    INDEFINITE = "indefinite"
    """This matrix is not."""
    NONCONVEX = "nonconvex"
    """The problem chooses labels or latent variables too: no kernel makes it convex."""

    @property
    def convex(self) -> bool:
        """Whether a stationary point is an optimum."""
        return self not in (Convexity.UNKNOWN, Convexity.INDEFINITE, Convexity.NONCONVEX)

    def __repr__(self) -> str:
        """That of the string it equals."""
        return str.__repr__(self)
