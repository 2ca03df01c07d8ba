"""``maxmargin convert``: model files and data files from one format to another."""

from pathlib import Path
from typing import Annotated, Any

import typer

import maxmargin
from maxmargin.cli import model_files
from maxmargin.cli.errors import usage
from maxmargin.cli.options import AsJson, DataOptions, Quiet, one_of
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.reports import show
from maxmargin.io.files import STDIN, open_read, require_file
from maxmargin.io.preparation import is_prepared, parts_of, with_last
from maxmargin.io.tables_write import WRITERS, write_table

HEADS = (b"svm_type", b"solver_type", b"SVM-light Version")
"""How text models of LIBSVM, LIBLINEAR and SVM-light begin."""


def convert(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="A model file or a data file of any format.")
    ],
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUTPUT", help="File to write. Its suffix sets the format unless --to does."
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help=f"Models: {', '.join(model_files.MODEL_WRITERS)}; data: {', '.join(WRITERS)}.",
        ),
    ] = None,
    max_support_vectors: Annotated[
        int | None,
        typer.Option(help="Compress a kernel model to at most this many support vectors."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Compress a kernel model; its decision values change by less than this."),
    ] = None,
    write_zero_based: Annotated[
        bool,
        typer.Option("--write-zero-based", help="Count the features of svmlight output from 0."),
    ] = False,
    *,
    options: DataOptions,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Convert a model or a data file.

    Models: .mm, LIBSVM and LIBLINEAR text (.model), SVM-light text (--to svm-light); ONNX, C and
    JavaScript are written only. Data: svmlight, CSV, TSV, Parquet, .npy, .npz.

    Examples:

      maxmargin convert libsvm.model model.mm

      maxmargin convert model.mm model.onnx

      maxmargin convert model.mm model.js --max-support-vectors 50

      maxmargin convert houses.csv houses.svm.gz --target price
    """
    check_outputs(output, inputs=(source,))
    compress = {"max_support_vectors": max_support_vectors, "tolerance": tolerance}
    compress = {name: value for name, value in compress.items() if value is not None}
    if is_model(Path(source)):
        if options != DataOptions() or write_zero_based:
            raise usage(f"{source} is a model: options of data files do not apply.")
        report = _convert_model(source, Path(output), to, compress)
    else:
        if compress:
            raise usage(
                f"{source} is not a model: --max-support-vectors and --tolerance do not apply."
            )
        if to is None and Path(output).suffix in (".mm", ".model", *model_files.EXPORTS):
            raise usage(
                f"{source} holds data, but {output} is the name of a model: use train to fit a "
                "model to data."
            )
        table = options.read(source)
        kind = write_table(table, output, to, write_zero_based)
        report = {
            "samples": table.X.shape[0],
            "features": table.X.shape[1],
            "from": table.format,
            "to": kind,
        }
    show({**report, "output": output}, as_json, quiet, stderr=output == "-")


def is_model(path: Path) -> bool:
    """Whether a file is a model, by its name or its first bytes."""
    if path == STDIN or path.is_fifo():
        return False
    require_file(path)
    if path.suffix == ".mm":
        return True
    with open_read(path) as file:
        return file.read(32).startswith(HEADS)


def _compressed(model: Any, how: dict[str, Any]) -> Any:
    """Return the model with fewer support vectors; its scaling stays."""
    if is_prepared(model):
        return with_last(model, lambda last: _compressed(last, how))
    return maxmargin.compact(model, **how)


def _convert_model(
    source: str, output: Path, to: str | None, compress: dict[str, Any]
) -> dict[str, Any]:
    model = model_files.load_model(source)
    if compress:
        model = _compressed(model, compress)
    kind = to or model_files.EXPORTS.get(output.suffix)
    kind = kind or model_files.model_format(output, None, model)
    model_files.MODEL_WRITERS[one_of("--to", kind, model_files.MODEL_WRITERS)](model, output)
    scaling, name = model_files.scaling_report(model), type(parts_of(model)[1]).__name__
    return {"scaling": scaling, "estimator": name, "to": kind, "bytes": output.stat().st_size}
