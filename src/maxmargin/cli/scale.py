"""``maxmargin scale``: map each feature onto an interval, the same for training and test data."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from maxmargin.cli.errors import usage
from maxmargin.cli.options import AsJson, DataFile, DataOptions, Output, OutputFormat, Quiet, Weight
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.ranges import load_ranges, ranges_of, save_ranges
from maxmargin.cli.reports import show
from maxmargin.io.tables_write import write_table


def scale(
    data: DataFile,
    output: Output = "-",
    lower: Annotated[
        float | None, typer.Option(help="Image of each feature's smallest value; -1 by default.")
    ] = None,
    upper: Annotated[
        float | None, typer.Option(help="Image of its largest value; 1 by default.")
    ] = None,
    save: Annotated[
        str | None, typer.Option(help="Write the ranges to this file, in svm-scale's format.")
    ] = None,
    restore: Annotated[
        str | None, typer.Option(help="Use the ranges of this file, ours or svm-scale's.")
    ] = None,
    output_format: OutputFormat = None,
    *,
    options: DataOptions,
    weight: Weight = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Scale features to [-1, 1], or as a range file says.

    Support vector machines depend on distances: a feature in thousands outweighs one in tenths. Fit
    the ranges on the training data (--save) and use the same ranges for the test data (--restore).
    Named columns are matched by name. Constant features become 0.

    Examples:

      maxmargin scale train.svm train.scaled.svm --save ranges.txt

      maxmargin scale test.svm test.scaled.svm --restore ranges.txt

      maxmargin scale houses.csv - --target price --lower 0 > scaled.csv
    """
    if restore is not None and not (lower is None and upper is None and save is None):
        raise usage(
            "--restore sets the limits and ranges: --lower, --upper and --save cannot be given "
            "with it."
        )
    if as_json and output == "-":
        raise usage("--json and the data cannot both go to standard output: name an OUTPUT.")
    check_outputs(output, save, inputs=(data, restore))
    restored = None if restore is None else load_ranges(Path(restore))
    if restored is not None and restored.target is not None:
        raise ValueError(f"{restore} scales targets too: use maxmargin svm-scale -r")
    known = {"features": restored.names, "known_target": restored.target_name} if restored else {}
    table = options.read(data, weight=weight, **known)
    ends = -1.0 if lower is None else lower, 1.0 if upper is None else upper
    ranges = restored or ranges_of(table.X, *ends)._replace(
        names=table.names, target_name=table.target
    )
    scaled = table._replace(X=ranges(table.X))
    kind = write_table(scaled, output, output_format or (table.format if output == "-" else None))
    if save is not None:
        save_ranges(ranges, Path(save))
    varied = int(np.sum(ranges.greatest > ranges.least))
    report = {
        "samples": table.X.shape[0],
        "features": table.X.shape[1],
        "varying": varied,
        "lower": ranges.lower,
        "upper": ranges.upper,
        "output": output,
        "format": kind,
        "ranges": save or restore,
    }
    show(report, as_json, quiet, stderr=output == "-")
