"""``maxmargin svm-scale``: LIBSVM's svm-scale, with all digits.

    -l lower -1   -u upper 1   -y lower upper: scale the targets too
    -s file: save the ranges   -r file: restore them

The scaled data go to standard output.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from maxmargin.cli.errors import usage
from maxmargin.cli.flags import files, parse
from maxmargin.cli.options import read_svmlight
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.ranges import load_ranges, ranges_of, save_ranges
from maxmargin.io import dump_svmlight

Arguments = Annotated[
    list[str] | None, typer.Argument(metavar="DATA_FILE", help="As svm-scale takes them.")
]


def svm_scale(arguments: Arguments = None) -> None:
    """Scale as LIBSVM's svm-scale does: -l, -u, -y, -s, -r; the scaled data go to standard output.

    Examples:

      maxmargin svm-scale -l -1 -u 1 -s range train > train.scale

      maxmargin svm-scale -r range test > test.scale
    """
    rest, limits = _y_limits(list(arguments or []))
    found = parse(rest, {"l": -1.0, "u": 1.0, "s": "", "r": ""}, switches="")
    if "r" in found.given and (found.given & {"l", "u", "s"} or limits):
        raise usage("-r restores limits and ranges: -l, -u, -y and -s cannot be given with it")
    (path,) = files(found, 1, 1, "one data file")
    data = read_svmlight(path, zero_based=False)
    if "r" in found.given:
        ranges = load_ranges(Path(found["r"]))
    else:
        ranges = ranges_of(data.X, found["l"], found["u"], data.y, limits)
    if "s" in found.given:
        check_outputs(found["s"], inputs=(path,))
        save_ranges(ranges, Path(found["s"]))
    y = np.asarray(data.y)
    dump_svmlight(
        ranges(data.X), y if ranges.target is None else ranges.target(y), "-", query_id=data.queries
    )


def _y_limits(arguments: list[str]) -> tuple[list[str], tuple[float, float] | None]:
    """Return the arguments without -y and its two numbers, and these numbers."""
    if "-y" not in arguments:
        return arguments, None
    at = arguments.index("-y")
    try:
        lower, upper = (float(text) for text in arguments[at + 1 : at + 3])
    except ValueError:
        raise usage("-y needs two numbers, the lower and the upper limit of the targets") from None
    return arguments[:at] + arguments[at + 3 :], (lower, upper)
