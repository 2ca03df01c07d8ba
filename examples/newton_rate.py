"""How fast the two solvers of the squared hinge reach its minimum: writes
docs/pictures/newton-rate.svg.

Digits, even against odd: 1,797 images. Each point of a curve is a fit stopped by ``max_iter``, so
everything goes through the public interface; what is drawn is the primal value of the model one
would get there, above the least value, and the cost is in steps: Newton steps on the left, pair
steps for each sample on the right.
"""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC

CS = (0.1, 1.0, 10.0, 100.0)
COLOURS = ("#92c5de", "#4393c3", "#2166ac", "#053061")
LEAST = 1e-16
"""What is drawn for a suboptimality of 0."""


def stopped(X, y, solver, C, steps):
    """The primal value of a fit after at most this many steps, and whether it was stopped."""
    model = SVC(
        loss="squared_hinge", solver=solver, C=C, gamma="scale", tol=1e-12, max_iter=int(steps)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        certificate = model.fit(X, y).certificate_
    return certificate.primal, certificate.status == "max_iter"


def curve(X, y, solver, C, steps):
    """Steps and primal values, up to the first fit that converged."""
    taken, values = [], []
    for count in steps:
        value, early = stopped(X, y, solver, C, count)
        taken.append(count)
        values.append(value)
        if not early:
            break
    return np.array(taken), np.array(values)


def draw(axes, steps, values, least, C, colour):
    """One curve of relative suboptimality."""
    axes.semilogy(
        steps,
        np.maximum((values - least) / least, LEAST),
        "o-",
        ms=3,
        color=colour,
        label=f"C = {C:g}",
    )


def picture(path):
    """Both solvers at several C, with one axis of suboptimality."""
    X, y = load_digits(return_X_y=True)
    y = y % 2
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), sharey=True, constrained_layout=True)
    for C, colour in zip(CS, COLOURS, strict=True):
        newton = curve(X, y, "newton", C, range(1, 60))
        block = curve(
            X, y, "block", C, np.unique(np.geomspace(len(y) / 10, 100 * len(y), 40).astype(int))
        )
        least = newton[1][-1]  # its certificate says so: the gap is rounding
        draw(left, *newton, least, C, colour)
        draw(right, block[0] / len(y), block[1], least, C, colour)
    left.set(
        title='solver="newton"',
        xlabel="Newton steps (those on subsets first)",
        ylabel="(P - least P) / least P",
    )
    right.set(title='solver="block"', xlabel="pair steps for each sample", xscale="log")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    left.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    print(f"picture: {path}")


if __name__ == "__main__":
    picture(Path(__file__).parent.parent / "docs" / "pictures" / "newton-rate.svg")
