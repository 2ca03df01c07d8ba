"""Tables and picture of the linear cases."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import report
from peers.linear import OURS
from report import NOTHING, count_text, mean_text, result_text, seconds_text, table

from linear.cases import CHOSEN_ON, TARGETS

LOOSE, ROUNDING = 1e-7, 1e-9
"""Relative distances from the bound that are said, and that are rounding."""
BEGIN, END = "<!-- written by make bench-linear ARGS=--save -->", "<!-- until here, linear -->"


class LinearRow(report.Row):
    """A case at one target.

    A peer is compared with ours on its own model, so that the best peer is the one of the least
    ratio.
    """

    def __init__(self, record: dict[str, Any], target: float) -> None:
        variants = record["targets"][str(target)]
        self.mine = {v["model"]: v for v in variants if v["library"] == OURS.name}
        first = next(iter(self.mine.values()))
        super().__init__(
            {**record, "variants": [first, *(v for v in variants if v["library"] != OURS.name)]}
        )
        self.best = self.least(self.others)

    def counterpart(self, other: dict[str, Any]) -> dict[str, Any]:
        """Ours with the bias of the other."""
        return self.mine[other["model"]]

    def least(self, entries: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The entry of the least ratio; where none reached the target, of the least bound."""
        reached = [v for v in entries if "fit" in v]
        stopped = [v for v in entries if "fit" not in v and v["bound"] is not None]
        known = [v for v in reached or stopped if not math.isnan(self.ratio(v)[0])]
        return min(known, key=lambda v: self.ratio(v)[0], default=self._fastest(entries))

    @property
    def compared_text(self) -> str:
        """Seconds and tolerance of ours with the best peer's bias."""
        mine = self.counterpart(self.best) if self.best else self.ours
        return result_text(mine) + _rung_text(mine, "" if mine is self.ours else "free bias")

    @property
    def best_text(self) -> str:
        """Name, seconds and tolerance of the best peer."""
        return super().best_text + (_rung_text(self.best) if self.best else "")


def _rung_text(entry: dict[str, Any], *more: str) -> str:
    """The options of the rung that was fastest, in brackets."""
    options = [f"{name}={value:g}" for name, value in entry.get("options", {}).items()]
    said = ", ".join([*options, *(text for text in more if text)])
    return f" ({said})" if said else ""


def _rows(results: dict[str, Any], target: float, group: str = "") -> list[LinearRow]:
    return [
        LinearRow(record, target)
        for record in results["cases"]
        if not group or group in record["groups"]
    ]


def main_table(results: dict[str, Any]) -> list[str]:
    """Both targets of each case, the solver and the check against the peers."""
    head = ["case", "n", "d"]
    for target in TARGETS:
        head += [f"maxmargin to {target:g}", "best peer", "ratio"]
    lines = []
    for record in results["cases"]:
        if "table" not in record["groups"]:
            continue
        cells = [_marked(record), f"{record['n']:,}", f"{record['d']:,}"]
        for target in TARGETS:
            row = LinearRow(record, target)
            cells += [row.compared_text, row.best_text, row.ratio_text]
        last = LinearRow(record, TARGETS[-1]).ours
        lines.append(
            [
                *cells,
                last.get("solver") or NOTHING,
                count_text(last.get("iterations")),
                _apart_text(record),
            ]
        )
    return table([*head, "solver", "steps", "peers' least objective"], lines) if lines else []


def _marked(record: dict[str, Any]) -> str:
    """The case's name, with a star where constants were chosen on its data set."""
    return record["case"] + (" *" if record["data"] in CHOSEN_ON else "")


def _apart_text(record: dict[str, Any]) -> str:
    """How far the best objective of a peer is above the proved bound, relative."""
    known = [
        found
        for found in record["objectives"].values()
        if not math.isnan(found["bound"] + found["peer"])
    ]
    texts = [
        ((found["peer"] - found["bound"]) / abs(found["bound"]), found["label"]) for found in known
    ]
    return "{:+.0e} {}".format(*min(texts)) if texts else NOTHING


LEGEND = """Seconds to an objective within 1e-4 and 1e-6 (relative) of a lower bound on every
objective. Weak duality proves the bound, whoever finds the duals: `benchmarks/linear/objective.py`
makes them feasible and evaluates it. Each library is shown with its fastest setting and tolerance
that get there. They are known in hindsight only and stand in brackets. Times are medians of
{repeats} fits in different processes (one fit where it took more than 10 s or is 5 times slower
than the best peer). One function computes the objective in float64 from coef_ and intercept_. A
peer is compared with ours on its own model: LIBLINEAR's with a regularised bias, or one with a free
bias (SGD, SVC). A ratio is the peer's seconds over ours; ">" is a fit stopped for time: the ratio
is a lower bound. LIBLINEAR's conversion of the data is not counted, scikit-learn's is. Peers' least
objective: how far the lowest objective of any peer is above the bound.
\\* Constants of maxmargin's solvers were chosen on this data set."""


def growth_table(results: dict[str, Any]) -> list[str]:
    """How time grows with rows: seconds and the exponent from the size before."""
    lines = []
    for target in TARGETS:
        groups: dict[tuple[str, str], list[LinearRow]] = {}
        for row in _rows(results, target, "growth"):
            groups.setdefault((row.record["data"], row.record["parameters"]["loss"]), []).append(
                row
            )
        for rows in groups.values():
            rows.sort(key=lambda row: row.record["n"])
            if len(rows) < 2:
                continue
            powers = [math.nan] + [_power(a, b) for a, b in pairwise(rows)]
            for row, power in zip(rows, powers, strict=True):
                exponent = NOTHING if math.isnan(power) else f"{power:.2f}"
                name = f"{row.record['data']} {row.record['parameters']['loss']}"
                star = " *" if row.record["data"] in CHOSEN_ON else ""
                ours = row.ours_text + _rung_text(row.ours)
                lines.append(
                    [
                        name + star,
                        f"{row.record['n']:,}",
                        f"{target:g}",
                        ours,
                        exponent,
                        row.best_text,
                        row.ratio_text,
                    ]
                )
    if not lines:
        return []
    head = ["data", "rows", "target", "maxmargin", "exponent", "best peer", "ratio"]
    return [
        "",
        "## How time grows with rows",
        "",
        *table(head, lines),
        "",
        "Exponent p: seconds grew like rows^p from the size before.",
    ]


def _power(before: LinearRow, after: LinearRow) -> float:
    if "fit" not in before.ours or "fit" not in after.ours:
        return math.nan
    return math.log(after.ours["fit"] / before.ours["fit"]) / math.log(
        after.record["n"] / before.record["n"]
    )


def full_tables(results: dict[str, Any]) -> list[str]:
    """Every library at each target, with its fastest setting."""
    out = []
    for target in TARGETS:
        lines, rows = [], _rows(results, target)
        names = list(dict.fromkeys(v["library"] for row in rows for v in row.others))
        for row in rows:
            mine = [
                result_text(row.mine[model]) if model in row.mine else NOTHING
                for model in ("regularised", "free")
            ]
            lines.append(
                [
                    row.name,
                    *mine,
                    *(_cell([v for v in row.others if v["library"] == name]) for name in names),
                ]
            )
        out += [
            "",
            f"## Every library to {target:g}",
            "",
            *table(["case", "maxmargin", "maxmargin, free bias", *names], lines),
        ]
    return out


def _cell(entries: list[dict[str, Any]]) -> str:
    """The fastest setting of a library."""
    if not entries:
        return NOTHING
    chosen = min(entries, key=lambda v: v.get("fit", math.inf))
    if "fit" not in chosen:
        return result_text(max(entries, key=lambda v: v["bound"] or 0.0))
    short = chosen["label"].removeprefix(chosen["library"]).strip()
    convert = (
        f" + {seconds_text(chosen['convert'])} to convert"
        if chosen.get("convert", 0) > 0.05 * chosen["fit"]
        else ""
    )
    return f"{seconds_text(chosen['fit'])}" + (f" ({short})" if short else "") + convert


def _ratios(
    results: dict[str, Any], target: float, get: Any, unseen: bool = False
) -> list[tuple[float, str]]:
    """Ratios of all cases, those of more and more rows too, or of those on whose data no constant
    was chosen.
    """
    rows = [
        row for row in _rows(results, target) if not (unseen and row.record["data"] in CHOSEN_ON)
    ]
    return [row.ratio(get(row)) for row in rows]


def mean_lines(results: dict[str, Any]) -> list[str]:
    """Geometric means of the ratios of all cases at both targets."""
    both = {
        unseen: [r for t in TARGETS for r in _ratios(results, t, lambda r: r.best, unseen)]
        for unseen in (False, True)
    }
    lines = [
        "Ratio to the best peer, every case at both targets, geometric mean: "
        f"**{mean_text(both[False])}**."
    ]
    if both[True]:
        lines.append(f"On data sets on which no constant was chosen: **{mean_text(both[True])}**.")
    for target in TARGETS:
        best, sklearn = (
            mean_text(_ratios(results, target, get))
            for get in (lambda r: r.best, lambda r: r.sklearn)
        )
        lines.append(
            f"To {target:g}: ratio to the best peer **{best}**; to scikit-learn **{sklearn}**."
        )
    return lines


def notes(results: dict[str, Any]) -> list[str]:
    """What could not be installed or failed, where ours did not reach a target, and what is wrong
    with a bound.
    """
    seen: dict[str, list[str]] = {}

    def note(record: dict[str, Any], what: str) -> None:
        seen.setdefault(what, []).append(record["case"])

    for record in results["cases"]:
        for target in TARGETS:
            for v in record["targets"][str(target)]:
                if v["library"] == OURS.name and "fit" not in v:
                    note(record, f"{v['label']} to {target:g}: {v['trouble']}")
                elif target == TARGETS[-1] and v["trouble"].startswith(("failed", "could not")):
                    note(record, f"{v['label']}: {v['trouble']}")
        for model, found in record["objectives"].items():
            bound, ours, peer = found["bound"], found["ours"], found["peer"]
            if math.isnan(bound):
                note(record, f"no bound was found ({model} bias)")
            elif ours > bound + LOOSE * abs(bound):
                note(
                    record,
                    f"the bound may be {(ours - bound) / abs(bound):.1g} below the optimum "
                    f"({model} bias)",
                )
            if peer < bound - ROUNDING * abs(bound):
                note(
                    record,
                    f"{found['label']} is below the bound by {(bound - peer) / abs(bound):.1g}: "
                    "one of the two is wrong",
                )
    lines = [
        f"- {what} ({', '.join(names) if len(names) < 6 else f'{len(names)} cases'})"
        for what, names in seen.items()
    ]
    return ["", "## What failed", "", *lines] if lines else []


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    parts = [v for record in results["cases"] for v in record["targets"][str(TARGETS[0])]]
    versions = dict(sorted({v["library"]: v["version"] for v in parts if "version" in v}.items()))
    machine = report.machine_line(results, versions)
    title = "# Linear benchmark" + (" (quick run: few rows)" if results["quick"] else "")
    body = [
        *main_table(results),
        "",
        LEGEND.format(repeats=results["repeats"]),
        *growth_table(results),
        *full_tables(results),
    ]
    return "\n".join([title, "", machine, "", *mean_lines(results), "", *body, *notes(results), ""])


def readme(results: dict[str, Any], path: Path) -> None:
    """Put the means and the main table's ratios into the README, between its two marks."""
    head = ["case", "rows", "features", "target", "maxmargin", "best peer", "ratio"]
    cells = []
    for record in results["cases"]:
        if "table" in record["groups"]:
            row = LinearRow(record, TARGETS[-1])
            size = [f"{record[key]:,}" for key in ("n", "d")]
            cells.append(
                [
                    _marked(record),
                    *size,
                    f"{TARGETS[-1]:g}",
                    row.compared_text,
                    row.best_text,
                    row.ratio_text,
                ]
            )
    star = "\\* Constants were chosen on this data set."
    lines = [
        report.run_line(results),
        "",
        *table(head, cells),
        "",
        star,
        "",
        *mean_lines(results)[:2],
    ]
    report.replace_block(path, BEGIN, END, lines)


def picture(results: dict[str, Any], path: Path) -> None:
    """Ratios to the best peer at both targets."""
    colours = ("#4c72b0", "#c44e52")
    rows = {target: _rows(results, target) for target in TARGETS}
    series = [
        (f"best peer, to {t:g}", c, [row.ratio(row.best) for row in rows[t]])
        for t, c in zip(TARGETS, colours, strict=True)
    ]
    report.draw(results, [row.name for row in rows[TARGETS[0]]], series, path)


def line(record: dict[str, Any]) -> str:
    """A case in a line."""
    texts = []
    for target in TARGETS:
        row = LinearRow(record, target)
        texts.append(
            f"to {target:g} ours {row.compared_text:>9}, best peer {row.best_text:34} ratio "
            f"{row.ratio_text:>6}"
        )
    return "   ".join(texts)
