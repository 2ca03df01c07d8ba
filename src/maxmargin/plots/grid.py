"""A grid search as a heat map: the mean score for each pair of parameters, the best one framed.

Parameters that span more than a decade have logarithmic axes. Of searches of
``maxmargin.model_selection`` a mark shows which scores are those of certified models on all folds,
and points show the candidates that ``refine=True`` tried between the values of the grid.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.plots.axis import Axis, are_numbers, short
from maxmargin.plots.display import Display
from maxmargin.plots.style import CLASS_COLOURS, INK, heat_map, legend_outside

MOST_NUMBERS = 100
"""Scores are written into the cells if there are at most this many."""
MARKS = {
    "certified": {"marker": "o", "facecolors": "white"},
    "not certified": {"marker": "o", "facecolors": CLASS_COLOURS[1]},
    "not all folds": {"marker": "X", "facecolors": CLASS_COLOURS[1]},
}


class Point(NamedTuple):
    """A candidate between the values of the grid."""

    x: Any
    y: Any
    score: float
    mark: str


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
    marks : ndarray of shape (n_y, n_x) or None
        What is known about each score: "certified", "not certified" or "not all folds".
    points : list of Point
        Candidates between the values of the grid.
    best : tuple (x value, y value, score) or None
        The candidate to frame; by default that of the best cell.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin.model_selection import SVCCV
    >>> from maxmargin.plots import GridSearchDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = GridSearchDisplay.from_search(SVCCV(Cs=4, gammas=4).fit(X, y))
    >>> plt.show()
    """

    scores: Floats
    x_values: list[Any]
    y_values: list[Any]
    x_name: str
    y_name: str
    score_name: str = "mean score"
    note: str = ""
    marks: Any = None
    points: list[Point] = field(default_factory=list)
    best: tuple[Any, Any, float] | None = None

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        x: str | None = None,
        y: str | None = None,
        score: str | None = None,
        ax: Any = None,
    ) -> "GridSearchDisplay":
        """Draw the results of any search of scikit-learn or maxmargin.

        Parameters
        ----------
        search : fitted GridSearchCV, RandomizedSearchCV, SVCCV, ... or its ``cv_results_``
        x, y : str, default=None
            Names of the parameters on the axes, as in ``cv_results_`` without "param_"; by default
            the two with the most values. A cell shows the best score over all other parameters.
        score : str, default=None
            The name of a score, or of an array of ``cv_results_``; by default the score that the
            search decided by.
        ax : matplotlib axes, default=None

        Returns
        -------
        GridSearchDisplay
        """
        results: Mapping[str, Any] = getattr(search, "cv_results_", search)
        score = _score(results, score, getattr(search, "refit", None))
        columns = {name[6:]: list(results[name]) for name in results if name.startswith("param_")}
        first = np.asarray(results.get("iter", np.zeros(len(results[score])))) == 0
        grid = {
            name: [v for v, own in zip(some, first, strict=True) if own]
            for name, some in columns.items()
        }
        x, y = _axes(grid, x, y)
        shown = cls(
            np.empty(0),
            _ordered(grid[x]),
            _ordered(grid[y]) if y else [""],
            x,
            y or "",
            _label(score, getattr(search, "scoring", None)),
        )
        others = [name for name in grid if name not in (x, y) and len(_ordered(grid[name])) > 1]
        shown.note = f"the best over {', '.join(others)}" if others else ""
        shown._place(columns, np.asarray(results[score], float), _marks_of(results, score))
        return shown.plot(ax)

    def _place(self, columns: dict[str, list[Any]], values: Floats, marks: Any) -> None:
        """Put the scores into the cells; those of other values become points."""
        shape = len(self.y_values), len(self.x_values)
        self.scores, found = np.full(shape, np.nan), np.full(shape, "", dtype="<U20")
        points: dict[tuple[Any, Any], Point] = {}
        some = np.zeros(len(values), bool) if marks is None else marks == "not all folds"
        usable = values if some.all() else np.where(some, np.nan, values)
        for k, value in enumerate(values):
            at = columns[self.x_name][k], columns[self.y_name][k] if self.y_name else ""
            if at[0] is np.ma.masked or at[1] is np.ma.masked:
                continue  # this part of a list of grids does not have the parameter
            mark = "" if marks is None else str(marks[k])
            if at[0] in self.x_values and at[1] in self.y_values:
                cell = self.y_values.index(at[1]), self.x_values.index(at[0])
                if np.isnan(self.scores[cell]) or value > self.scores[cell]:
                    self.scores[cell], found[cell] = value, mark
            elif at not in points or value > points[at].score:
                points[at] = Point(at[0], at[1] if self.y_name else 0, value, mark)
            if usable[k] > (-np.inf if self.best is None else self.best[2]):
                self.best = *at, float(value)
        self.marks = None if marks is None else found
        self.points = list(points.values())

    def _panels(self) -> tuple[Any, ...]:
        rows, columns = self.scores.shape
        return (1, 1, (max(4.6, 0.62 * columns + 2.0), max(2.2, 0.42 * rows + 1.6)))

    def _draw(self, ax: Any) -> None:
        x, y = Axis.of(self.x_values), Axis.of(self.y_values)
        known = [point.score for point in self.points if np.isfinite(point.score)]
        heat_map(ax, self.scores, self.score_name, 0.1, edges=(x.edges, y.edges), others=known)
        ax.set(
            xscale="log" if x.logarithmic else "linear",
            yscale="log" if y.logarithmic else "linear",
            xlabel=_last(self.x_name),
            ylabel=_last(self.y_name),
        )
        ax.set_xticks(x.places, x.labels, rotation=45 if len(x.labels) > 6 else 0)
        ax.set_yticks(y.places if self.y_name else [], y.labels if self.y_name else [])
        ax.minorticks_off()
        written = self.scores.size <= MOST_NUMBERS
        if written:
            self._write_scores(ax, x, y)
        self._draw_points(ax)
        self._draw_marks(ax, x, y, 0.2 if written else 0.5)
        self._frame_best(ax, x, y)

    def _write_scores(self, ax: Any, x: "Axis", y: "Axis") -> None:
        """Write each score into its cell, white on dark colours."""
        least, most = (
            np.nanmin(self.scores, initial=np.inf),
            np.nanmax(self.scores, initial=-np.inf),
        )
        style = {"ha": "center", "va": "center", "fontsize": 7.5}
        for (row, column), value in np.ndenumerate(self.scores):
            if np.isfinite(value):
                shade = "white" if value < 0.5 * (least + most) else "black"
                where = x.within(column, 0.5), y.within(row, 0.5)
                ax.text(*where, f"{value:.3g}", color=shade, **style)

    def _draw_points(self, ax: Any) -> None:
        """Candidates between the values of the grid, in the colours of the cells."""
        if self.points:
            image = ax.collections[0]
            places = [(point.x, point.y) for point in self.points]
            ax.scatter(
                *np.transpose(places),
                c=[point.score for point in self.points],
                cmap=image.get_cmap(),
                norm=image.norm,
                s=60,
                edgecolors="white",
                linewidths=1.0,
                label="refined",
            )

    def _draw_marks(self, ax: Any, x: "Axis", y: "Axis", height: float) -> None:
        """Which scores are those of certified models on all folds."""
        if self.marks is None:
            return
        for mark, style in MARKS.items():
            own = np.argwhere(self.marks == mark)
            places = [(x.within(column, 0.5), y.within(row, height)) for row, column in own]
            places += [(point.x, point.y) for point in self.points if point.mark == mark]
            if places:
                line = {"s": 14, "edgecolors": INK, "linewidths": 0.5, "zorder": 3, **style}
                ax.scatter(*np.transpose(places), label=mark, **line)

    def _frame_best(self, ax: Any, x: "Axis", y: "Axis") -> None:
        """Frame the best candidate and name it in the title."""
        from matplotlib.patches import Rectangle

        title, colour, best = "no scores", CLASS_COLOURS[1], self.best
        if best is None and np.isfinite(self.scores).any():
            row, column = np.unravel_index(np.nanargmax(self.scores), self.scores.shape)
            best = self.x_values[column], self.y_values[row], float(self.scores[row, column])
        if best is not None and np.isfinite(best[2]):
            title = self._title(best[2], short(best[0]), short(best[1]))
            if best[0] in self.x_values and best[1] in self.y_values:
                i, j = self.x_values.index(best[0]), self.y_values.index(best[1])
                corner = x.edges[i], y.edges[j]
                size = x.edges[i + 1] - corner[0], y.edges[j + 1] - corner[1]
                ax.add_patch(Rectangle(corner, *size, fill=False, ec=colour, linewidth=2.2))
            else:
                ax.scatter(*best[:2], s=110, fc="none", ec=colour, linewidths=2.2, zorder=4)
        text = "\n".join(filter(None, [title, self.note]))
        if ax.get_legend_handles_labels()[1]:
            legend_outside(ax, text)
        else:
            ax.set_title(text, color=INK)

    def _title(self, score: float, x: str, y: str) -> str:
        text = f"best {score:.4g} at {_last(self.x_name)} = {x}"
        return f"{text}, {_last(self.y_name)} = {y}" if self.y_name else text


def _score(results: Mapping[str, Any], asked: str | None, refit: Any) -> str:
    """The name in ``cv_results_`` of a score; by default of the one that decided, or the only one.

    ``refit`` is that of the search.
    """
    known = [name for name in results if name.startswith("mean_test_")]
    for name in (f"mean_test_{refit}",) if asked is None else (f"mean_test_{asked}", asked):
        if name in results:
            return name
    if asked is None and len(known) == 1:
        return known[0]
    why = f"{asked!r} is not in cv_results_" if asked else "The search has several scores"
    raise ValueError(f"{why}: score= must be one of {', '.join(known)}.")


def _label(score: str, scoring: Any) -> str:
    """What is drawn, in words; ``scoring`` names the only score."""
    if score == "mean_test_score" and isinstance(scoring, str):
        score = f"mean_test_{scoring}"
    return score.replace("_", " ")


def _marks_of(results: Mapping[str, Any], score: str) -> Any:
    """What is known about each score; None for searches without statuses."""
    if "status" not in results:
        return None
    last = f"_{score.removeprefix('mean_')}"
    splits = [name for name in results if name.startswith("split") and name.endswith(last)]
    complete = ~np.isnan([np.asarray(results[name], float) for name in splits]).any(axis=0)
    status = np.asarray(results["status"])
    certified = (status == "optimal") | (status == "approximate")  # gaps within the tolerance
    return np.where(~complete, "not all folds", np.where(certified, "certified", "not certified"))


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
    return sorted(different) if are_numbers(different) else different


def _last(name: str) -> str:
    """Return the name of a pipeline's parameter without its step."""
    return name.rsplit("__", 1)[-1]
