"""The command and its subcommands."""

from typing import Annotated, Any

import typer

import maxmargin
from maxmargin.cli.bench import bench
from maxmargin.cli.check import check
from maxmargin.cli.convert import convert
from maxmargin.cli.demo import demo
from maxmargin.cli.easy_py import easy_py
from maxmargin.cli.errors import reported
from maxmargin.cli.grid_py import grid_py
from maxmargin.cli.inspect import inspect
from maxmargin.cli.lab import lab
from maxmargin.cli.linear_train import linear_train
from maxmargin.cli.options import spread
from maxmargin.cli.plot import plot
from maxmargin.cli.predict import predict
from maxmargin.cli.scale import scale
from maxmargin.cli.subset import subset
from maxmargin.cli.svm_light_classify import svm_classify
from maxmargin.cli.svm_light_learn import svm_learn
from maxmargin.cli.svm_light_perf import svm_perf_classify, svm_perf_learn
from maxmargin.cli.svm_light_rank import svm_rank_classify, svm_rank_learn
from maxmargin.cli.svm_predict import linear_predict, svm_predict
from maxmargin.cli.svm_scale import svm_scale
from maxmargin.cli.svm_train import svm_train
from maxmargin.cli.train import train
from maxmargin.cli.tune import tune

app = typer.Typer(
    name="maxmargin",
    help="Support vector machines: exact, certified, fast. "
    "Every command has examples: maxmargin COMMAND --help.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help"]},
)

OURS = (train, predict, inspect, scale, tune, check, convert, plot, subset, bench, demo, lab)
"""Commands of our own, in the order of --help."""
LIKE_THEIRS = {
    "svm-train": svm_train,
    "svm-predict": svm_predict,
    "svm-scale": svm_scale,
    "linear-train": linear_train,
    "linear-predict": linear_predict,
    "grid.py": grid_py,
    "easy.py": easy_py,
}
"""Commands that take the options of LIBSVM's and LIBLINEAR's programs, with their defaults."""
LIKE_SVM_LIGHT = {
    "svm_learn": svm_learn,
    "svm_classify": svm_classify,
    "svm_rank_learn": svm_rank_learn,
    "svm_rank_classify": svm_rank_classify,
    "svm_perf_learn": svm_perf_learn,
    "svm_perf_classify": svm_perf_classify,
}
"""Commands that take the options of SVM-light's, SVM-rank's and SVM-perf's programs."""
RAW: dict[str, Any] = {"ignore_unknown_options": True, "allow_extra_args": True}
"""These commands parse their options themselves: -w1 5, and -h for shrinking."""

for ours in OURS:
    app.command(ours.__name__)(reported(spread(ours)))
for panel, commands in (
    ("As LIBSVM and LIBLINEAR", LIKE_THEIRS),
    ("As SVM-light, SVM-rank and SVM-perf", LIKE_SVM_LIGHT),
):
    for name, theirs in commands.items():
        app.command(name, context_settings=RAW, rich_help_panel=panel)(reported(theirs))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"maxmargin {maxmargin.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Options before the command."""
