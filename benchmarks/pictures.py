"""The picture of ratios that both benchmarks draw."""

import math
from pathlib import Path
from typing import Any

import numpy as np

Series = tuple[str, str, list[tuple[float, str]]]
"""Label, colour and a ratio with its sign for each case."""


def draw(results: dict[str, Any], names: list[str], series: list[Series], path: Path) -> None:
    """Ratios on a logarithmic axis, one line a case."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt
    from matplotlib import ticker

    place = np.arange(len(names))[::-1]
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.26 * len(names)), layout="constrained")
    for label, colour, ratios in series:
        for sign, marker in (("", "o"), (">", ">"), ("<", "<")):
            some = [k for k, (value, s) in enumerate(ratios) if s == sign and not math.isnan(value)]
            name = {"": label, ">": f"{label}, at least (stopped)", "<": f"{label}, at most"}[sign]
            if some:
                axes.plot(
                    [ratios[k][0] for k in some],
                    place[some],
                    marker,
                    color=colour,
                    label=name,
                    markersize=6,
                )
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_yticks(place, names)
    axes.grid(axis="x", which="both", alpha=0.25)
    axes.set_xlabel("seconds to fit / seconds of maxmargin")
    axes.set_title(f"{results['cpu']}, {results['cores']} cores, {results['date']}", fontsize=9)
    axes.legend(loc="lower right", fontsize=8)
    figure.savefig(path)
    plt.close(figure)
