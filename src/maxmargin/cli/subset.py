"""``maxmargin subset``: a sample of a data file, stratified by class."""

from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from maxmargin.cli.errors import usage
from maxmargin.cli.options import (
    AsJson,
    DataFile,
    DataOptions,
    Output,
    OutputFormat,
    Quiet,
    Seed,
    Weight,
    with_target,
)
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.reports import show
from maxmargin.io.table_columns import Data
from maxmargin.io.tables_write import write_table


def subset(
    data: DataFile,
    size: Annotated[int, typer.Argument(metavar="SIZE", help="How many samples.", min=1)],
    output: Output = "-",
    rest: Annotated[str | None, typer.Option(help="Write the other samples to this file.")] = None,
    stratified: Annotated[
        bool, typer.Option("--stratified/--random", help="Keep the shares of the classes, or not.")
    ] = True,
    output_format: OutputFormat = None,
    *,
    options: DataOptions,
    weight: Weight = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Draw a sample of a data file, in the file's order.

    Examples:

      maxmargin subset covtype.svm 10000 small.svm --rest large.svm

      maxmargin subset prices.csv 500 - --target price --random
    """
    if as_json and output == "-":
        raise usage("--json and the data cannot both go to standard output: name an OUTPUT.")
    check_outputs(output, rest, inputs=(data,))
    table = options.read(data, weight=weight)
    some = chosen_rows(table, size, seed, stratified)
    kind = output_format or (table.format if output == "-" else None)
    write_table(rows_of(table, some), output, kind)
    if rest is not None:
        write_table(
            rows_of(table, np.setdiff1d(np.arange(table.X.shape[0]), some)), rest, output_format
        )
    report = {"samples": len(some), "of": table.X.shape[0], "output": output, "rest": rest}
    show(report, as_json, quiet, stderr=output == "-")


def rows_of(table: Data, rows: NDArray[np.int64]) -> Data:
    """Return some rows."""
    parts: dict[str, Any] = {"y": table.y, "queries": table.queries, "weight": table.weight}
    return table._replace(
        X=table.X[rows], **{name: part[rows] for name, part in parts.items() if part is not None}
    )


def chosen_rows(table: Data, size: int, seed: int, stratified: bool) -> NDArray[Any]:
    """Choose rows: each class keeps its share, with the largest remainders rounded up."""
    n = table.X.shape[0]
    if size > n:
        raise ValueError(f"cannot sample {size} rows: {table.source} has {n}")
    rng = np.random.default_rng(seed)
    if not stratified:
        return np.sort(rng.choice(n, size, replace=False))
    y = with_target(table)
    classes, label, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) > max(20, n // 2):
        raise ValueError(
            f"the {n} targets of {table.source} have {len(classes)} values, which is too "
            "many for classes: use --random"
        )
    exact = size * counts / n
    take = np.floor(exact).astype(int)
    short = np.argsort(take - exact, kind="stable")[: size - take.sum()]
    take[short] += 1
    return np.sort(
        np.concatenate(
            [
                rng.choice(np.flatnonzero(label == k), take[k], replace=False)
                for k in range(len(classes))
            ]
        )
    )
