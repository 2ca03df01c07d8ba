"""Tables and picture of results."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from peers import OURS, SKLEARN
from pictures import draw

NOTHING = "-"


class Row:
    """One case in the form of the tables.

    A ratio is the other library's seconds over ours. After a timeout it is a bound.
    """

    def __init__(self, record: dict[str, Any]) -> None:
        self.record, self.name = record, record["case"]
        self.ours = record["variants"][0]
        self.others = record["variants"][1:]
        self.best = self._fastest(self.others)
        mine = [v for v in self.others if v["library"] == SKLEARN]
        self.sklearn = self._fastest(mine) or self._fastest([{**v, "wrong": ""} for v in mine])

    @staticmethod
    def _fastest(entries: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The fastest right variant; where none ended, the one that had the most time."""
        right = [v for v in entries if "fit" in v and not v["wrong"]]
        if right:
            return min(right, key=lambda v: v["fit"])
        stopped = [v for v in entries if "fit" not in v and v["bound"] is not None]
        return max(stopped, key=lambda v: v["bound"]) if stopped else None

    def counterpart(self, other: dict[str, Any]) -> dict[str, Any]:
        """Which of ours another is compared with."""
        return self.ours

    def ratio(self, other: dict[str, Any] | None, key: str = "fit") -> tuple[float, str]:
        """Ratio and its sign: "" exact, ">" at least, "<" at most.

        NaN if there is no ratio.
        """
        ours = self.counterpart(other) if other else self.ours
        if other is None or (key not in ours and ours["bound"] is None):
            return math.nan, ""
        mine, theirs = ours.get(key, ours["bound"]), other.get(key)
        if key not in ours:
            return (theirs / mine, "<") if theirs is not None else (math.nan, "")
        if theirs is None:
            return (other["bound"] / mine, ">") if key == "fit" else (math.nan, "")
        return theirs / mine, ""

    @property
    def ours_text(self) -> str:
        """Seconds of ours."""
        return result_text(self.ours)

    @property
    def best_text(self) -> str:
        """Name and seconds of the best peer."""
        return f"{self.best['label']} {result_text(self.best)}" if self.best else "none"

    @property
    def ratio_text(self) -> str:
        """Ratio to the best peer."""
        return ratio_text(*self.ratio(self.best))

    @property
    def sklearn_text(self) -> str:
        """Ratio to scikit-learn."""
        return ratio_text(*self.ratio(self.sklearn))

    def cells(self) -> list[str]:
        """The main table's row."""
        record, ours = self.record, self.ours
        floor = record.get("floor")
        multiple = f"{ours['fit'] / floor:.1f}" if floor and "fit" in ours else NOTHING
        memory = [
            f"{v['memory']:.0f}" if v and "memory" in v else NOTHING for v in (ours, self.best)
        ]
        return [
            self.name,
            f"{record['n']:,}",
            str(record["d"]),
            self.ours_text,
            self.best_text,
            self.ratio_text,
            self.sklearn_text,
            multiple,
            count_text(ours.get("iterations")),
            count_text(record.get("rows")),
            " / ".join(memory),
        ]


def seconds_text(seconds: float) -> str:
    """Three digits."""
    return f"{seconds * 1000:.3g} ms" if seconds < 0.1 else f"{seconds:.3g} s"


def result_text(entry: dict[str, Any]) -> str:
    """Seconds, a bound, or what went wrong."""
    if "fit" in entry:
        return seconds_text(entry["fit"]) + (f", {entry['wrong']}" if entry["wrong"] else "")
    if entry["bound"] is not None:
        return f">{entry['bound']:.3g} s" + (
            f" ({entry['trouble']})" if entry["trouble"] not in ("", "out of time") else ""
        )
    return entry["trouble"] or "no result"


def ratio_text(value: float, sign: str = "") -> str:
    """Two or three digits with the sign of a bound."""
    if math.isnan(value):
        return NOTHING
    return sign + (
        f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    )


def count_text(value: float | None) -> str:
    """A whole number."""
    return NOTHING if value is None else f"{value:,.0f}"


def mean_text(ratios: list[tuple[float, str]]) -> str:
    """Geometric mean of ratios; bounds count as they are."""
    values = [value for value, _ in ratios if not math.isnan(value)]
    if not values:
        return NOTHING
    sign = ">" if any(s == ">" for _, s in ratios) else ""
    return (
        f"{sign}{math.exp(np.mean(np.log(values))):.2f} over {len(values)} cases, least "
        f"{min(values):.2f}"
    )


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a Markdown table."""
    return [
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


HEAD = [
    "case",
    "n",
    "d",
    "maxmargin",
    "best peer",
    "ratio to best peer",
    "ratio to scikit-learn",
    "x floor",
    "steps",
    "kernel rows",
    "MB ours / best peer",
]

LEGEND = """Seconds are medians of {repeats} fits, each in a process of its own, libraries taking
turns (one fit of a library that took more than 10 s or is 5 times slower than the best peer). A
ratio is the peer's seconds over ours. ">" is a fit stopped for time: the ratio is a lower bound.
Best peer: the fastest with the right answer, given the input that is best for it. x floor: our
seconds over the time to compute K(X, support vectors) once in float32. Steps: pair steps of all
binary problems. Kernel rows: kernel values computed, divided by n. MB: peak memory above that
before the fit. The ratio to scikit-learn counts its seconds even if its answer is wrong."""


def predict_table(rows: list[Row]) -> list[str]:
    """Prediction of 5,000 rows."""
    libraries = list(dict.fromkeys(v["library"] for row in rows for v in row.others))
    lines, ratios = [], []
    for row in rows:
        if "predict" not in row.ours:
            continue
        entries = [v for v in row.others if "predict" in v and not v["wrong"]]
        chosen = {
            name: min(
                (v for v in entries if v["library"] == name),
                key=lambda v: v["predict"],
                default=None,
            )
            for name in libraries
        }
        best = min(entries, key=lambda v: v["predict"], default=None)
        ratios.append((row.ratio(best, "predict"), row.ratio(chosen.get(SKLEARN), "predict")))
        seconds = [seconds_text(v["predict"]) if v else NOTHING for v in chosen.values()]
        lines.append(
            [
                row.name,
                seconds_text(row.ours["predict"]),
                *(ratio_text(*r) for r in ratios[-1]),
                *seconds,
            ]
        )
    if not lines:
        return []
    head = ["case", "maxmargin", "ratio to best peer", "ratio to scikit-learn", *libraries]
    means = [
        f"Geometric mean: best peer {mean_text([r[0] for r in ratios])}; scikit-learn "
        f"{mean_text([r[1] for r in ratios])}."
    ]
    return ["", "## Prediction of 5,000 rows", "", *table(head, lines), "", *means]


def full_table(rows: list[Row]) -> list[str]:
    """Every library with every dtype; of dense and sparse input the faster."""
    columns = list(
        dict.fromkeys(
            (v["label"].removesuffix(f" {v['form']}"))
            for row in rows
            for v in row.record["variants"]
        )
    )
    lines = []
    for row in rows:
        cells = []
        for column in columns:
            entries = [
                v
                for v in row.record["variants"]
                if v["label"].removesuffix(f" {v['form']}") == column
            ]
            chosen = min(entries, key=lambda v: v.get("fit", math.inf), default=None)
            form = f" ({chosen['form']})" if chosen and len(entries) > 1 and "fit" in chosen else ""
            cells.append(result_text(chosen) + form if chosen else "")
        lines.append([row.name, *cells])
    return ["", "## Every library", "", *table(["case", *columns], lines)]


def troubles(rows: list[Row]) -> list[str]:
    """What could not be installed, failed or was wrong, once each."""
    seen: dict[str, list[str]] = {}
    for row in rows:
        for v in row.record["variants"]:
            for what in (v["trouble"], v["wrong"]):
                if what and what != "out of time" and not what.startswith("not run"):
                    seen.setdefault(f"{v['label']}: {what}", []).append(row.name)
    lines = [
        f"- {what} ({', '.join(names) if len(names) < 6 else f'{len(names)} cases'})"
        for what, names in seen.items()
    ]
    return ["", "## What a library cannot do or got wrong", "", *lines] if lines else []


def machine_line(results: dict[str, Any], versions: dict[str, str]) -> str:
    """The machine and versions of the results."""
    machine = (
        f"{results['date']}, commit {results['commit']}, {results['cpu']}, {results['cores']} "
        f"cores, Python {results['python']}; "
    )
    libraries = ", ".join(f"{name} {version}" for name, version in versions.items())
    return machine + libraries + f". Fits are stopped after {results['timeout']:g} s at the latest."


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    rows = [Row(record) for record in results["cases"]]
    versions = dict(
        sorted(
            {
                v["library"]: v["version"]
                for row in rows
                for v in row.record["variants"]
                if "version" in v
            }.items()
        )
    )
    best, sklearn = [row.ratio(row.best) for row in rows], [row.ratio(row.sklearn) for row in rows]
    return "\n".join(
        [
            "# Benchmark" + (" (quick run: few rows, one fit each)" if results["quick"] else ""),
            "",
            machine_line(results, versions),
            "",
            f"Ratio to the best peer, geometric mean: **{mean_text(best)}**.",
            f"Ratio to scikit-learn, geometric mean: **{mean_text(sklearn)}**.",
            "",
            *table(HEAD, [row.cells() for row in rows]),
            "",
            LEGEND.format(repeats=results["repeats"]),
            *predict_table(rows),
            *full_table(rows),
            *troubles(rows),
            "",
        ]
    )


BEGIN, END = "<!-- written by make bench ARGS=--save -->", "<!-- until here -->"
SHORT = ("table", "problems", "quick")
"""Groups whose cases are shown in the README."""


def readme(results: dict[str, Any], path: Path) -> None:
    """Put the short table and the means into the README, between its two marks."""
    rows = [Row(record) for record in results["cases"]]
    best, sklearn = (
        mean_text([row.ratio(get(row)) for row in rows])
        for get in (lambda r: r.best, lambda r: r.sklearn)
    )
    head = ["case", "rows", "maxmargin", "best peer", "ratio", "ratio to scikit-learn"]
    cells = [
        [
            row.name,
            f"{row.record['n']:,}",
            row.ours_text,
            row.best_text,
            row.ratio_text,
            row.sklearn_text,
        ]
        for row in rows
        if set(SHORT) & set(row.record["groups"])
    ]
    means = (
        f"Geometric mean of the ratios to the best peer: **{best}**; to scikit-learn: "
        f"**{sklearn}**."
    )
    replace_block(
        path,
        BEGIN,
        END,
        [run_line(results) + " tol=1e-3.", "", *table(head, cells), "", means, *late_line(rows)],
    )


def run_line(results: dict[str, Any]) -> str:
    """When, where and of what a run was."""
    count = len(results["cases"])
    run = (
        f"{results['date']}, one run of all {count} cases at commit {results['commit']}, "
        f"{results['cores']} cores of {results['cpu']}"
    )
    return f"{run}, fits stopped after {results['timeout']:g} s."


def late_line(rows: list[Row]) -> list[str]:
    """Which cases took maxmargin too long, if any."""
    late = [row.name for row in rows if "fit" not in row.ours]
    return ["", f"maxmargin was stopped for time on {', '.join(late)}: no ratio."] if late else []


def replace_block(path: Path, begin: str, end: str, lines: list[str]) -> None:
    """Put lines between two marks of a file."""
    before, rest = path.read_text().split(begin)
    path.write_text("\n".join([before + begin, *lines, end + rest.split(end)[1]]))


def picture(results: dict[str, Any], path: Path) -> None:
    """Ratios to the best peer and to scikit-learn."""
    rows = [Row(record) for record in results["cases"]]
    best, sklearn = (
        [row.ratio(get(row)) for row in rows] for get in (lambda r: r.best, lambda r: r.sklearn)
    )
    draw(
        results,
        [row.name for row in rows],
        [("best peer", "#c44e52", best), ("scikit-learn", "#4c72b0", sklearn)],
        path,
    )


def write(
    results: dict[str, Any],
    folder: Path,
    stem: str = "benchmark",
    page: Any = markdown,
    paint: Any = picture,
) -> None:
    """Print the page; write it, the picture and the data."""
    text = page(results)
    print(text)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.md").write_text(text)
    (folder / f"{stem}.json").write_text(json.dumps(results, indent=1))
    paint(results, folder / f"{stem}.svg")
    print(
        "Written: "
        f"{', '.join(str((folder / stem).with_suffix(s)) for s in ('.md', '.json', '.svg'))} "
        f"({OURS.name})"
    )
