"""How fast the online estimators approach the exact optimum: suboptimality against passes, in
docs/pictures/online-rates.svg."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin import SVC, NormaSVC, PegasosSVC

ALPHA, GAMMA, ROWS = 0.01, 0.05, 1500
PASSES = np.unique(np.geomspace(1, 300, 22).round().astype(int))
CURVES = [
    ("Pegasos, linear, last iterate", PegasosSVC(average=False), "#9ecae1"),
    ("Pegasos, linear, average", PegasosSVC(), "#08519c"),
    ("Pegasos, RBF, last iterate", PegasosSVC(kernel="rbf", gamma=GAMMA, average=False), "#fdae6b"),
    ("Pegasos, RBF, average", PegasosSVC(kernel="rbf", gamma=GAMMA), "#d94801"),
    ("NORMA, RBF", NormaSVC(gamma=GAMMA, budget=None), "#238b45"),
]


def objective(model, X, y):
    """alpha/2 |w|^2 + mean hinge."""
    if hasattr(model, "coef_"):
        norm = np.sum(model.coef_**2)
    else:
        norm = (
            model.dual_coef_[0]
            @ rbf_kernel(model.support_vectors_, gamma=GAMMA)
            @ model.dual_coef_[0]
        )
    return ALPHA / 2 * norm + np.mean(
        np.maximum(0, 1 - np.where(y == 1, 1, -1) * model.decision_function(X))
    )


def errors(model, X, y):
    """The relative suboptimality after each number of passes.

    Each fit goes on from the one before, with the same random order.
    """
    kernel = model.kernel
    exact = SVC(
        kernel=kernel, gamma=GAMMA if kernel == "rbf" else "scale", C=1 / (ALPHA * ROWS), tol=1e-8
    ).fit(X, y)
    best = ALPHA * exact.certificate_.primal
    model.set_params(alpha=ALPHA, warm_start=True, random_state=np.random.RandomState(0))
    if "tol" in model.get_params():
        model.set_params(tol=None)
    found = []
    for more in np.diff(PASSES, prepend=0):
        model.set_params(max_iter=int(more)).fit(X, y)
        found.append(objective(model, X, y) / best - 1)
    return np.array(found)


def main(path):
    """Draw the curves."""
    X, y = make_classification(ROWS, 20, n_informative=8, flip_y=0.1, weights=[0.7], random_state=0)
    plt.rcParams.update({"svg.hashsalt": "maxmargin", "font.size": 9})
    figure, axes = plt.subplots(figsize=(7.5, 5), constrained_layout=True)
    for name, model, colour in CURVES:
        found = errors(model, X, y)
        axes.loglog(PASSES, found, "o-", color=colour, label=name, markersize=3, linewidth=1.4)
        print(f"{name}: {found[0]:.1e} after 1 pass, {found[-1]:.1e} after {PASSES[-1]}")
    for power, style in ((1.0, ":"), (0.5, "--")):
        axes.loglog(
            PASSES, 2.0 * PASSES**-power, style, color="0.5", linewidth=1, label=f"slope -{power:g}"
        )
    axes.set_xlabel("passes over the data")
    axes.set_ylabel("(objective - optimum) / optimum")
    axes.set_title(
        f"alpha = {ALPHA:g}, {ROWS:,} samples, batch size 1; the optimum is SVC's, certified",
        fontsize=9,
    )
    axes.set_ylim(bottom=2e-6)  # room for the legend
    axes.grid(True, which="major", color="0.9")
    axes.legend(fontsize=8)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures/online-rates.svg"))
