"""Fit on bundled data: accuracy, certificate and time beside scikit-learn's, and a picture in
run/quick_start.png."""

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn import svm
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_circles,
    make_moons,
)
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import maxmargin


def timed(model, X, y, repeats=3):
    """Fit several times; return the model and the median time in milliseconds."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        model.fit(X, y)
        times.append(time.perf_counter() - began)
    return model, 1e3 * float(np.median(times))


def rings(return_X_y=True):
    """Two noisy rings; the other features carry no information."""
    X, y = make_circles(6000, noise=0.2, factor=0.5, random_state=0)
    return np.hstack([X, np.random.default_rng(0).normal(scale=0.3, size=(6000, 6))]), y


def score(model, X, y):
    """Accuracy or R^2; for a one-class model the share of inliers."""
    return model.score(X, y) if hasattr(model, "score") else np.mean(model.predict(X) > 0)


def short(certificate):
    """Status and relative gap."""
    return f"{certificate.status}, gap {max(certificate.relative_gap, 0):.0e}"


def table():
    """One row a data set: the same problem given to both libraries."""
    rows = Table(
        "data",
        "problem",
        "score",
        "sklearn's",
        "ms",
        "sklearn's",
        "certificate",
        title="maxmargin beside scikit-learn",
    )
    cases = [
        ("breast cancer", load_breast_cancer, "SVC", {"C": 10.0}),
        ("digits, 10 classes", load_digits, "SVC", {"C": 10.0}),
        ("diabetes", load_diabetes, "SVR", {"C": 100.0, "epsilon": 5.0}),
        ("rings, 6,000 points", rings, "SVC", {"C": 10.0}),
        ("rings, 6,000 points", rings, "NuSVC", {"nu": 0.3}),
        ("rings, 6,000 points", rings, "OneClassSVM", {"nu": 0.2}),
    ]
    for name, load, problem, parameters in cases:
        X, y = load(return_X_y=True)
        X_train, X_test, y_train, y_test = train_test_split(
            StandardScaler().fit_transform(X), y, test_size=0.3, random_state=0
        )
        ours, our_time = timed(getattr(maxmargin, problem)(**parameters), X_train, y_train)
        theirs, their_time = timed(getattr(svm, problem)(**parameters), X_train, y_train)
        scores = [f"{score(model, X_test, y_test):.3f}" for model in (ours, theirs)]
        numbers = ", ".join(f"{key}={value:g}" for key, value in parameters.items())
        rows.add_row(
            name,
            f"{problem}({numbers})",
            *scores,
            f"{our_time:.1f}",
            f"{their_time:.1f}",
            short(ours.certificate_),
        )
    return rows


def picture(path):
    """Two moons: decision values, the margin, and the support vectors, those on the margin with
    thick rings."""
    X, y = make_moons(200, noise=0.25, random_state=0)
    model = maxmargin.SVC(C=2.0, gamma=1.0).fit(X, y)
    grid = np.stack(np.meshgrid(np.linspace(-2, 3, 300), np.linspace(-1.7, 2.2, 250)), axis=-1)
    f = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    figure, axes = plt.subplots(figsize=(8, 5.5), constrained_layout=True)
    axes.contourf(
        grid[..., 0],
        grid[..., 1],
        f,
        levels=np.linspace(-3, 3, 25),
        cmap="RdBu_r",
        alpha=0.6,
        extend="both",
    )
    axes.contour(
        grid[..., 0],
        grid[..., 1],
        f,
        levels=[-1, 0, 1],
        colors="k",
        linestyles=["--", "-", "--"],
        linewidths=1,
    )
    axes.scatter(X[:, 0], X[:, 1], c=np.where(y == 1, "#b2182b", "#2166ac"), s=14, linewidths=0)
    bounded = np.isclose(np.abs(model.dual_coef_[0]), 2.0)
    for some, label in (
        (~bounded, "support vectors on the margin"),
        (bounded, "support vectors at the bound C"),
    ):
        points = model.support_vectors_[some]
        axes.scatter(
            *points.T,
            s=60,
            facecolors="none",
            edgecolors="k",
            linewidths=1.4 if some is not bounded else 0.5,
            label=label,
        )
    axes.legend(loc="upper right", fontsize=8)
    axes.set_title(f"SVC(C=2, gamma=1): {model.certificate_}", fontsize=9)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    console = Console(highlight=False, width=max(110, Console().width))
    console.print(table())
    output = Path("run/quick_start.png")
    picture(output)
    console.print(f"picture: {output}")
