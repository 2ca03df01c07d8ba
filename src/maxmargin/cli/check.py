"""``maxmargin check``: all problems of a data file, and what its data are like."""

from typing import Annotated, Any

import typer

from maxmargin.cli.options import AsJson, DataFile, DataOptions
from maxmargin.cli.reports import console, show
from maxmargin.io.doctor import Findings, advice, examine, statistics


def check(
    data: DataFile,
    most: Annotated[
        int, typer.Option("--most", min=1, help="Stop after this many problems.")
    ] = 100,
    *,
    options: DataOptions,
    as_json: AsJson = False,
) -> None:
    """Find all problems of a data file, and describe its data.

    Every malformed line is shown with its line number, column and remedy. A summary follows: sizes,
    class balance, constant and unscaled features, duplicate rows and those that contradict each
    other. The exit code is 1 if the file has problems and 0 if it has none. Advice does not count
    as a problem.

    Examples:

      maxmargin check train.svm

      maxmargin check train.csv --target churned --json

      zcat big.svm.gz | maxmargin check - --most 10
    """
    found = examine(data, options.options(), most)
    numbers = statistics(found.data) if found.data is not None else {}
    if as_json:
        problems = [item._asdict() for item in found.problems]
        show(
            {
                "problems": problems,
                "complete": found.complete,
                **numbers,
                "advice": advice(numbers) if numbers else [],
            },
            True,
        )
    else:
        _print(found, numbers)
    if found.problems:
        raise typer.Exit(1)


def _print(found: Findings, numbers: dict[str, Any]) -> None:
    from rich.markup import escape

    out = console()
    for problem in found.problems:
        out.print(f"[red]problem[/] {escape(str(problem))}")
    if not found.complete:
        out.print(f"[red]stopped[/] after {len(found.problems)} problems: --most shows more")
    if numbers:
        hidden = ("constant_features", "constant_count", "unscaled", "contradictions")
        show({name: value for name, value in numbers.items() if name not in hidden})
        for line in advice(numbers):
            out.print(f"[yellow]advice[/] {escape(line)}")
    if not found.problems:
        out.print("[green]no problems[/]")
