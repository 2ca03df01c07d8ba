"""A grid search as a heat map: the mean score for each pair of parameters, the best one framed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.plots.display import Display
from maxmargin.plots.style import INK, flat

MOST_NUMBERS = 100
"""Scores are written into the cells if there are at most this many."""


class GridSearchDisplay(Display):
    """Scores over two parameters, or over one.

    Parameters
    ----------
    scores : ndarray of shape (n_y, n_x)
        NaN where the search has no result.
    x_values, y_values : list
    x_name, y_name : str
        ``y_name`` is empty if only one parameter varies.
    score_name : str
    note : str
        For the title: what happened to further parameters.
    """

    def __init__(
        self,
        scores: Floats,
        x_values: list[Any],
        y_values: list[Any],
        x_name: str,
        y_name: str,
        score_name: str = "mean score",
        note: str = "",
    ) -> None:
        self.scores, self.x_values, self.y_values, self.x_name, self.y_name = (
            scores,
            x_values,
            y_values,
            x_name,
            y_name,
        )
        self.score_name, self.note = score_name, note

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        x: str | None = None,
        y: str | None = None,
        score: str = "mean_test_score",
        ax: Any = None,
    ) -> "GridSearchDisplay":
        """Draw the results of any search of scikit-learn.

        Parameters
        ----------
        search : fitted GridSearchCV, RandomizedSearchCV, ... or its ``cv_results_``
        x, y : str, default=None
            Names of the parameters on the axes, as in ``cv_results_`` without "param_"; by default
            the two with the most values. A cell shows the best score over all other parameters.
        score : str, default="mean_test_score"
        ax : matplotlib axes, default=None

        Returns
        -------
        GridSearchDisplay
        """
        results: Mapping[str, Any] = getattr(search, "cv_results_", search)
        if score not in results:
            raise ValueError(
                f"{score!r} is not in cv_results_; scores there: "
                f"{', '.join(k for k in results if k.startswith('mean_'))}."
            )
        columns = {name[6:]: list(results[name]) for name in results if name.startswith("param_")}
        x, y = _axes(columns, x, y)
        x_values, y_values = _ordered(columns[x]), _ordered(columns[y]) if y else [""]
        cells = np.full((len(y_values), len(x_values)), np.nan)
        for k, value in enumerate(np.asarray(results[score], float)):
            if columns[x][k] is np.ma.masked or (y and columns[y][k] is np.ma.masked):
                continue  # this part of a list of grids does not have the parameter
            cell = (y_values.index(columns[y][k]) if y else 0, x_values.index(columns[x][k]))
            cells[cell] = np.fmax(cells[cell], value)
        others = [
            name for name in columns if name not in (x, y) and len(_ordered(columns[name])) > 1
        ]
        note = f"the best over {', '.join(others)}" if others else ""
        return cls(cells, x_values, y_values, x, y or "", score.replace("_", " "), note).plot(ax)

    def _panels(self) -> tuple[Any, ...]:
        return (
            1,
            1,
            (max(4.6, 0.62 * len(self.x_values) + 2.0), max(2.2, 0.42 * len(self.y_values) + 1.6)),
        )

    def _draw(self, ax: Any) -> None:
        ends = (
            {"vmin": np.nanmin(self.scores) - 0.1, "vmax": np.nanmax(self.scores) + 0.1}
            if flat(self.scores)
            else {}
        )
        image = ax.imshow(self.scores, origin="lower", aspect="auto", cmap="cividis", **ends)
        ax.figure.colorbar(image, ax=ax, label=self.score_name)
        ax.set_xticks(
            range(len(self.x_values)),
            [_short(v) for v in self.x_values],
            rotation=45 if len(self.x_values) > 6 else 0,
        )
        ax.set_yticks(range(len(self.y_values)), [_short(v) for v in self.y_values])
        ax.set(xlabel=_last(self.x_name), ylabel=_last(self.y_name))
        if not self.y_name:
            ax.set_yticks([])
        if self.scores.size <= MOST_NUMBERS:
            middle = 0.5 * (np.nanmin(self.scores) + np.nanmax(self.scores))
            for (row, column), value in np.ndenumerate(self.scores):
                if np.isfinite(value):
                    ax.text(
                        column,
                        row,
                        f"{value:.3g}",
                        ha="center",
                        va="center",
                        fontsize=7.5,
                        color="white" if value < middle else "black",
                    )
        row, column = np.unravel_index(np.nanargmax(self.scores), self.scores.shape)
        from matplotlib.patches import Rectangle

        ax.add_patch(
            Rectangle(
                (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#d55e00", linewidth=2.2
            )
        )
        best = (
            f"best {self.scores[row, column]:.4g} at {_last(self.x_name)} = "
            f"{_short(self.x_values[column])}"
        )
        best += f", {_last(self.y_name)} = {_short(self.y_values[row])}" if self.y_name else ""
        ax.set_title("\n".join(filter(None, [best, self.note])), color=INK)


def _axes(columns: dict[str, list[Any]], x: str | None, y: str | None) -> tuple[str, str | None]:
    """Return the parameters of the two axes."""
    for name in (x, y):
        if name is not None and name not in columns:
            raise ValueError(
                f"{name!r} is not a parameter of this search, which has {', '.join(columns)}."
            )
    varying = sorted(columns, key=lambda name: -len(_ordered(columns[name])))
    x = x or next(name for name in varying if name != y)
    y = y or next(
        (name for name in varying if name != x and len(_ordered(columns[name])) > 1), None
    )
    return x, y


def _ordered(values: list[Any]) -> list[Any]:
    """Return the distinct values: numbers sorted, others in order of appearance."""
    different = list(dict.fromkeys(value for value in values if value is not np.ma.masked))
    return (
        sorted(different)
        if all(isinstance(v, int | float | np.number) for v in different)
        else different
    )


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float | np.floating) else str(value)


def _last(name: str) -> str:
    """Return the name of a pipeline's parameter without its step."""
    return name.rsplit("__", 1)[-1]
