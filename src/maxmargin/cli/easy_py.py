"""``maxmargin easy.py``: LIBSVM's procedure for beginners, its lines and its files.

    training file -> .range, .scale     features scaled to [-1, 1]
                     .scale.out, .png   grid.py over C and gamma
                     .model             trained with the best of them
    test file     -> .scale             scaled by the same ranges
                     .predict           its labels

All files are written to the current folder, as easy.py does.
"""

from pathlib import Path
from typing import Annotated

import typer

from maxmargin.cli.errors import usage
from maxmargin.cli.grid_options import parse_options
from maxmargin.cli.grid_py import find_parameters
from maxmargin.cli.options import read_svmlight, with_target
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.ranges import Ranges, ranges_of, save_ranges
from maxmargin.cli.svm_predict import svm_predict
from maxmargin.cli.svm_train import svm_train
from maxmargin.io import dump_svmlight
from maxmargin.io.files import require_file

Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="TRAINING_FILE [TESTING_FILE]", help="As easy.py takes them."),
]


def easy_py(arguments: Arguments = None) -> None:
    """Scale, search C and gamma, train and test, as LIBSVM's easy.py does.

    The files TRAINING_FILE.range, .scale, .scale.out, .scale.png and .model, TESTING_FILE.scale and
    .predict are written to the current folder. maxmargin tune --scale minmax --model writes one
    model file that keeps its scaling.

    Examples:

      maxmargin easy.py svmguide1 svmguide1.t
    """
    paths = list(arguments or [])
    odd = [word for word in paths if word.startswith("-")]
    if not 1 <= len(paths) <= 2 or odd:
        raise usage(f"expected a training file and a test file, got {' '.join(paths) or 'none'}")
    for path in paths:
        require_file(Path(path))
    train, *test = paths
    name = Path(train).name
    scaled, model, ranges = (f"{name}{suffix}" for suffix in (".scale", ".model", ".range"))
    own = [f"{Path(path).name}{suffix}" for path in test for suffix in (".scale", ".predict")]
    check_outputs(scaled, model, ranges, *own, inputs=tuple(paths))
    typer.echo("Scaling training data...")
    found = ranges_of(read_svmlight(train, zero_based=False).X, -1.0, 1.0)
    save_ranges(found, Path(ranges))
    _write_scaled(found, train, scaled)
    typer.echo("Cross validation...")
    (c, g), rate = find_parameters(parse_options([scaled]), quiet=True)
    assert c is not None
    assert g is not None
    typer.echo(f"Best c={2.0**c}, g={2.0**g} CV rate={rate}")
    typer.echo("Training...")
    svm_train(["-q", "-c", repr(2.0**c), "-g", repr(2.0**g), scaled, model])
    typer.echo(f"Output model: {model}")
    for path, scaled_test, predictions in zip(test, own[::2], own[1::2], strict=True):
        typer.echo("Scaling testing data...")
        _write_scaled(found, path, scaled_test)
        typer.echo("Testing...")
        svm_predict([scaled_test, model, predictions])
        typer.echo(f"Output prediction: {predictions}")


def _write_scaled(ranges: Ranges, source: str, output: str) -> None:
    """Write a data file with its features scaled."""
    data = read_svmlight(source, zero_based=False)
    dump_svmlight(ranges(data.X), with_target(data), output, query_id=data.queries)
