"""What SVM-light prints after training, and its default of C.

phi is the map of the kernel. Lengths are taken from the image of the zero vector,

    r_i = |phi(x_i) - phi(0)|,   r_i^2 = k(x_i, x_i) - 2 k(x_i, 0) + k(0, 0)

and R is the largest. The default is C = 1 / (mean of r_i)^2.

The xi-alpha estimate (Joachims 2000) of the leave-one-out error is the share of examples with

    rho a_i R^2 + xi_i >= 1,    xi_i = max(0, 1 - y_i f(x_i)),    a_i the dual variable of x_i

With rho = 2 it is an upper bound for stable machines; with rho = 1, the default, it is usually one.
The same examples give the estimates of recall and precision. The VC dimension is estimated as
|w|^2 R^2 + 1 (Vapnik 1995, 5.6.4), with R over the support vectors.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import typer
from sklearn.base import is_classifier
from sklearn.utils.extmath import row_norms

from maxmargin.cli.flags import Flags
from maxmargin.core.arrays import Floats, Mask
from maxmargin.io.files import compressed_write
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.linear.model import LinearModel

AT_BOUND = 1 - 1e-12
"""Share of its upper bound from which on a dual variable counts as at the bound."""


class Lengths(NamedTuple):
    """Squared lengths of the examples in the space of the kernel."""

    own: Floats
    """k(x_i, x_i)."""
    from_zero: Floats
    """r_i^2."""

    def mean(self) -> float:
        """The mean of r_i."""
        return float(np.mean(np.sqrt(self.from_zero)))


def lengths_of(kernel: Kernel, X: Any) -> Lengths:
    """Return the lengths of the rows of X for one of SVM-light's kernels."""
    squares: Floats = row_norms(X, squared=True)
    if kernel.kind is Kind.LINEAR:
        return Lengths(squares, squares)
    if kernel.kind is Kind.RBF:
        return Lengths(np.ones(len(squares)), 2.0 - 2.0 * np.exp(-kernel.gamma * squares))
    inner, zero = kernel.gamma * squares + kernel.coef0, np.float64(kernel.coef0)
    if kernel.kind is Kind.POLY:
        own, of_zero = inner**kernel.degree, zero**kernel.degree
    else:
        own, of_zero = np.tanh(inner), np.tanh(zero)
    return Lengths(own, np.maximum(0.0, own - of_zero))  # an indefinite kernel has no lengths


def cost_of(found: Flags, mean_length: Callable[[], float]) -> float:
    """Return C, which is 1 / (mean length)^2 by default."""
    if found["c"] > 0:
        return float(found["c"])
    mean = mean_length()
    if not mean > 0:
        raise ValueError("all examples are 0, so that C has no default: give it with -c")
    if found["v"] > 0:
        typer.echo(f"Setting default regularization parameter C={mean**-2:.4f}")
    return mean**-2


def check_classes(y: Floats, source: str) -> None:
    """Raise an error unless there are positive and negative examples."""
    if not ((y > 0).any() and (y < 0).any()):
        raise ValueError(
            f"{source} has {int(np.sum(y > 0))} positive and {int(np.sum(y < 0))} negative "
            "examples: classification (-z c) needs both; for real targets use -z r"
        )


# ---- dual variables ------------------------------------------------------------------------------


def coefficients(model: Any, n: int) -> Floats:
    """Return the coefficient b of each of n training examples: f(x) = sum b_i k(x_i, x) + const."""
    record = model.model_
    if isinstance(record, LinearModel):
        return np.asarray(record.duals.toarray()[0])
    b = np.zeros(n)
    b[record.rows] = record.coef[0]
    return b


def write_numbers(path: str, numbers: Floats) -> None:
    """Write one number to a line."""
    with compressed_write(path) as file:
        file.write("".join(f"{value!r}\n" for value in numbers.tolist()).encode())


# ---- estimates -----------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """Estimates in percent."""

    error: float
    recall: float
    precision: float


def estimate(wrong: Mask, y: Floats) -> Estimate:
    """Return the estimates if these of the examples with labels 1 and -1 are errors."""
    missed, taken = int(np.sum(wrong & (y > 0))), int(np.sum(wrong & (y < 0)))
    hits = int(np.sum(y > 0)) - missed
    precision = hits / (hits + taken) if hits + taken else np.nan
    return Estimate(100 * float(np.mean(wrong)), 100 * hits / (hits + missed), 100 * precision)


def xi_alpha(f: Floats, y: Floats, alpha: Floats, greatest: float, rho: float) -> Estimate:
    """Return the xi-alpha estimates; `greatest` is R^2."""
    return estimate(rho * alpha * greatest + np.maximum(0.0, 1.0 - y * f) >= 1.0, y)


# ---- what is printed -----------------------------------------------------------------------------


class Fitted(NamedTuple):
    """A trained machine and its examples."""

    model: Any
    y: Floats
    f: Floats
    """Values of the function."""
    b: Floats
    """Coefficients of the examples: a_i y_i, or those of a regression."""
    cost: Floats
    """Upper bounds of |b|."""
    loss: Floats
    """The loss of each example."""
    lengths: Lengths


def print_fit(fit: Fitted, removed: int | None = None) -> None:
    """Print errors, support vectors, loss and norms, as SVM-light does.

    `removed` is the number of inconsistent examples, if these were looked for.
    """
    wrong = f"{int(np.sum(fit.y * fit.f <= 0))} misclassified, " * is_classifier(fit.model)
    violation = fit.model.certificate_.kkt_violation
    typer.echo(f"Optimization finished ({wrong}maxdiff={violation:.5f}).")
    support = fit.b != 0
    bounded = int(np.sum(support & (np.abs(fit.b) >= AT_BOUND * fit.cost)))
    rest = f"including {bounded} at upper bound"
    rest = rest if removed is None else f"plus {removed} inconsistent examples"
    typer.echo(f"Number of SV: {int(support.sum())} ({rest})")
    typer.echo(f"L1 loss: loss={float(fit.loss.sum()):.5f}")
    squared = max(0.0, float(fit.b @ (fit.f - float(np.ravel(fit.model.intercept_)[0]))))
    typer.echo(f"Norm of weight vector: |w|={squared**0.5:.5f}")
    longest = max(0.0, float(fit.lengths.own.max())) ** 0.5
    typer.echo(f"Norm of longest example vector: |x|={longest:.5f}")
    if is_classifier(fit.model):
        reach = float(fit.lengths.from_zero[support].max(initial=0.0))
        typer.echo(f"Estimated VCdim of classifier: VCdim<={squared * reach + 1:.5f}")


def print_xi_alpha(fit: Fitted, rho: float) -> None:
    """Print the xi-alpha estimates."""
    greatest = float(fit.lengths.from_zero.max())
    found = xi_alpha(fit.f, fit.y, np.abs(fit.b), greatest, rho)
    _print("XiAlpha-estimate", found, ("<=", "=>"), f" (rho={rho:.2f},depth=0)")


def print_leave_one_out(values: Floats, y: Floats) -> None:
    """Print the leave-one-out estimates; each value is that of an example left out."""
    _print("Leave-one-out estimate", estimate(y * values <= 0, y), ("=", "="), "")


def _print(name: str, found: Estimate, signs: tuple[str, str], ending: str) -> None:
    below, above = signs
    for what, value in found._asdict().items():
        sign = below if what == "error" else above
        typer.echo(f"{name} of the {what}: {what}{sign}{value:.2f}%{ending}")
