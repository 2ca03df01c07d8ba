"""How a fit ended."""

from enum import Enum


class Status(Enum):
    """Why a solver stopped; the value is the message for the user."""

    OPTIMAL = "The optimality conditions hold to the tolerance asked for, or the gap is at rounding, checked in float64."
    APPROXIMATE = (
        "The duality gap is within the tolerance asked for, checked in float64, but the optimality "
        "conditions of some samples are "
        "not: lower tol, or use an exact solver, for a closer solution."
    )
    STATIONARY = (
        "The kernel is not positive semidefinite on these data: the solution satisfies the "
        "optimality conditions to the "
        "tolerance asked for, but the problem is not convex and the gap is no certificate."
    )
    MAX_ITER = (
        "The tolerance was not reached: raise max_iter, continue with warm_start=True, or lower C."
    )
    TIME_LIMIT = (
        "time_limit seconds passed before the tolerance was reached. Raise time_limit, continue "
        "with warm_start=True, scale the "
        "data (StandardScaler or MinMaxScaler), or lower C."
    )
    INTERRUPTED = "Interrupted from the keyboard; the best solution so far was kept. warm_start=True continues from it."
    STALLED = (
        "Float64 arithmetic cannot reach the tolerance on these data: the kernel values are too "
        "large or too unequal. Scale the "
        "data (StandardScaler or MinMaxScaler), lower C, or raise tol."
    )
    REFUTED = "The optimality conditions do not hold for the data and parameters given to certify: are they those of the fit?"
    DEGENERATE = (
        "nu is too small for these data and this kernel: the reduced convex hulls of the classes "
        "meet, so the optimum is w = 0 and every "
        "decision value is 0. Raise nu (it must exceed the share of unavoidable margin errors) or "
        "use a richer kernel (for RBF a larger "
        "gamma)."
    )
    IMPORTED = "The model was read from a file of another program, which says nothing about the solution: certify(X, y) checks it."
    COMPACTED = "Support vectors were removed after the fit: compression_ says how far that moved the decision functions."

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self in (Status.OPTIMAL, Status.APPROXIMATE, Status.STATIONARY)
