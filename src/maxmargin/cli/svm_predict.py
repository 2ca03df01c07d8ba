"""``maxmargin svm-predict`` and ``linear-predict``: the output of LIBSVM and LIBLINEAR."""

from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import is_outlier_detector, is_regressor

from maxmargin.cli import fitting, model_files, probabilities
from maxmargin.cli.flags import files, parse
from maxmargin.cli.options import read_svmlight
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.predict import write_predictions
from maxmargin.estimators.records import problem_of

SvmArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEST_FILE MODEL_FILE OUTPUT_FILE", help="As svm-predict takes them."),
]
LinearArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEST_FILE MODEL_FILE OUTPUT_FILE", help="As LIBLINEAR's predict takes them."
    ),
]


def svm_predict(arguments: SvmArguments = None) -> None:
    """Predict as LIBSVM's svm-predict does, from its model files or ours.

    Options: -b 1 probabilities, -q quiet.

    Examples:

      maxmargin svm-predict heart_scale heart_scale.model predictions

      maxmargin svm-predict -b 1 heart_scale heart_scale.model predictions
    """
    predict_like_theirs(arguments or [], " (classification)")


def linear_predict(arguments: LinearArguments = None) -> None:
    """Predict as LIBLINEAR's predict does, from its model files or ours.

    Options: -b 0, -q quiet.

    Examples:

      maxmargin linear-predict news20.t news20.model predictions
    """
    predict_like_theirs(arguments or [])


def predict_like_theirs(arguments: list[str], ending: str = "") -> None:
    """Predict for svm-predict and linear-predict.

    svm-predict appends an ending to the line with the accuracy.
    """
    found = parse(arguments, {"b": 0})
    test, path, output = files(found, 3, 3, "a test file, a model file and an output file")
    check_outputs(output, inputs=(test, path))
    model = model_files.load_model(path)
    data = read_svmlight(test, fitting.takes_kernel(model), model.n_features_in_)
    data = fitting.with_kernel(model, data, training=False)
    model, X = model_files.machine_and_rows(model, path, data)
    predicted = _predicted(model, X, path, output, bool(found["b"]))
    if "q" not in found.given:
        _print_scores(model, predicted, np.asarray(data.y), ending)


def _predicted(model: Any, X: Any, path: str, output: str, with_probabilities: bool) -> Any:
    """Write the predictions; with probabilities, a line with the classes comes first.

    The prediction is then the most probable class.
    """
    scale: Any = model.model_.prob_a if is_regressor(model) and problem_of(model) else ()
    if not with_probabilities or len(scale):
        predicted = model.predict(X)
        if with_probabilities:
            typer.echo("Prob. model for test data: target value = predicted value + z,")
            typer.echo(f"z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={scale[0]:g}")
        write_predictions(output, predicted)
        return predicted
    classes, values = probabilities.probabilities(model, X, path)
    if is_outlier_detector(model):  # a probability of 1/2 is on either side
        predicted, heading = model.predict(X), "label normal outlier"
    else:
        predicted = classes[values.argmax(axis=1)]
        heading = " ".join(["labels", *map(str, classes.tolist())])
    write_predictions(output, predicted, values, heading=heading)
    return predicted


def _print_scores(model: Any, predicted: Any, y: Any, ending: str) -> None:
    """Print the lines of svm-predict; the line with the accuracy has this ending."""
    if is_regressor(model):
        error, correlation = regression_errors(predicted, y)
        typer.echo(f"Mean squared error = {error:.6g} (regression)")
        typer.echo(f"Squared correlation coefficient = {correlation:.6g} (regression)")
        return
    right = int(np.sum(predicted == y))
    typer.echo(f"Accuracy = {100 * right / len(y):.6g}% ({right}/{len(y)}){ending}")


def regression_errors(predicted: Any, y: Any) -> tuple[float, float]:
    """Return the mean squared error and the squared correlation coefficient.

    The latter is nan if the predictions or the targets are constant.
    """
    varied = np.ptp(predicted) > 0 and np.ptp(y) > 0
    return float(np.mean((predicted - y) ** 2)), float(
        np.corrcoef(predicted, y)[0, 1] ** 2
    ) if varied else float("nan")
