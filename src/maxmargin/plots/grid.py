"""A grid search as a heat map: the mean score for each pair of parameters, the best one framed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.plots.display import Display
from maxmargin.plots.style import CLASS_COLOURS, INK, heat_map

MOST_NUMBERS = 100
"""Scores are written into the cells if there are at most this many."""


@dataclass(eq=False, repr=False)
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

    scores: Floats
    x_values: list[Any]
    y_values: list[Any]
    x_name: str
    y_name: str
    score_name: str = "mean score"
    note: str = ""

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
        rows, columns = self.scores.shape
        return (1, 1, (max(4.6, 0.62 * columns + 2.0), max(2.2, 0.42 * rows + 1.6)))

    def _draw(self, ax: Any) -> None:
        from matplotlib.patches import Rectangle

        heat_map(ax, self.scores, self.score_name, 0.1, origin="lower", aspect="auto")
        rows, columns = self.scores.shape
        x, y = [_short(v) for v in self.x_values], [_short(v) for v in self.y_values]
        ax.set_xticks(range(columns), x, rotation=45 if columns > 6 else 0)
        ax.set_yticks(range(rows), y)
        if not self.y_name:
            ax.set_yticks([])
        if self.scores.size <= MOST_NUMBERS:
            self._write_scores(ax)
        row, column = np.unravel_index(np.nanargmax(self.scores), self.scores.shape)
        corner = (column - 0.5, row - 0.5)
        ax.add_patch(Rectangle(corner, 1, 1, fill=False, ec=CLASS_COLOURS[1], linewidth=2.2))
        x_name, y_name = _last(self.x_name), _last(self.y_name)
        ax.set(xlabel=x_name, ylabel=y_name)
        best = f"best {self.scores[row, column]:.4g} at {x_name} = {x[column]}"
        best += f", {y_name} = {y[row]}" if self.y_name else ""
        ax.set_title("\n".join(filter(None, [best, self.note])), color=INK)

    def _write_scores(self, ax: Any) -> None:
        """Write each score into its cell, white on dark colours."""
        middle = 0.5 * (np.nanmin(self.scores) + np.nanmax(self.scores))
        style = {"ha": "center", "va": "center", "fontsize": 7.5}
        for (row, column), value in np.ndenumerate(self.scores):
            if np.isfinite(value):
                shade = "white" if value < middle else "black"
                ax.text(column, row, f"{value:.3g}", color=shade, **style)


def _axes(columns: dict[str, list[Any]], x: str | None, y: str | None) -> tuple[str, str | None]:
    """Return the parameters of the two axes."""
    for name in (x, y):
        if name is not None and name not in columns:
            raise ValueError(
                f"{name!r} is not a parameter of this search, which has {', '.join(columns)}."
            )
    varying = sorted(columns, key=lambda name: -len(_ordered(columns[name])))
    x = x or next(name for name in varying if name != y)
    others = (name for name in varying if name != x and len(_ordered(columns[name])) > 1)
    return x, y or next(others, None)


def _ordered(values: list[Any]) -> list[Any]:
    """Return the distinct values: numbers sorted, others in order of appearance."""
    different = list(dict.fromkeys(value for value in values if value is not np.ma.masked))
    numbers = all(isinstance(v, int | float | np.number) for v in different)
    return sorted(different) if numbers else different


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float | np.floating) else str(value)


def _last(name: str) -> str:
    """Return the name of a pipeline's parameter without its step."""
    return name.rsplit("__", 1)[-1]
