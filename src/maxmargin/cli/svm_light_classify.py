"""``maxmargin svm_classify``, ``svm_rank_classify``, ``svm_perf_classify``: predictions from
SVM-light's, SVM-rank's and SVM-perf's model files, or from any other model file.

    -v verbosity: 0 prints nothing   -f 1 decision values, 0 the format of version 1.0

The programs write one value for each example. What they print depends on the program:

    svm_classify       accuracy, precision and recall, if the labels are 1 and -1
    svm_rank_classify  swapped pairs: a pair of one query counts if the better example has not the
                       higher value
    svm_perf_classify  the measures that svm_perf_learn trains for, in percent
"""

from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import is_regressor

from maxmargin.cli import model_files
from maxmargin.cli.errors import usage
from maxmargin.cli.flags import Flags, files, parse
from maxmargin.cli.options import read_svmlight
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.predict import write_predictions
from maxmargin.core.arrays import Floats
from maxmargin.io.files import compressed_write
from maxmargin.io.table_columns import Data

PREDICTIONS = "svm_predictions"
"""Where the values go if no file is named."""
Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="EXAMPLE_FILE MODEL_FILE [OUTPUT_FILE]", help="As svm_classify takes them."
    ),
]


def svm_classify(arguments: Arguments = None) -> None:
    """Predict as SVM-light's svm_classify does, from its model files or ours.

    -v verbosity (2; 0 prints nothing), -f 1 one decision value for each example, 0 the output of
    version 1.0. Values are written to svm_predictions if no file is named.

    Examples:

      maxmargin svm_classify test.dat model predictions

      maxmargin svm_classify -v 0 test.dat model predictions
    """
    found = parse(arguments or [], {"v": 2, "f": 1}, switches="")
    if found["f"] not in (0, 1):
        raise usage(f"-f must be 0 or 1, got {found['f']}")
    data, f = predicted(found)
    y = np.asarray(data.y, np.float64)
    if found["v"] > 0 and np.isin(y, (-1.0, 1.0)).all():
        right, positive = int(np.sum((f > 0) == (y > 0))), f > 0
        typer.echo(
            f"Accuracy on test set: {_percent(right, len(y))}% ({right} correct, "
            f"{len(y) - right} incorrect, {len(y)} total)"
        )
        hits = int(np.sum(positive & (y > 0)))
        typer.echo(
            f"Precision/recall on test set: {_percent(hits, int(positive.sum()))}%/"
            f"{_percent(hits, int(np.sum(y > 0)))}%"
        )


def predicted(found: Flags) -> tuple[Data, Floats]:
    """Write the values; return the examples and their values."""
    test, path, *rest = files(found, 2, 3, "an example file, a model file and an output file")
    output = rest[0] if rest else PREDICTIONS
    check_outputs(output, inputs=(test, path))
    model = model_files.load_model(path)
    data = read_svmlight(test, zero_based=False, n_features=model.n_features_in_)
    f = _values(*model_files.machine_and_rows(model, path, data), path)
    if found.values.get("f") == 0:
        write_old_format(output, np.where(f > 0, 1.0, -1.0), np.abs(f))
    else:
        write_predictions(output, f)
    return data, f


def write_old_format(path: str, labels: Floats, sizes: Floats) -> None:
    """Write each label with the size of its value, then the other label with its negative."""
    lines = (
        f"{size!r}:{'+1 ' if label > 0 else '-1 '}{-size!r}:{'-1' if label > 0 else '+1'}\n"
        for label, size in zip(labels.tolist(), sizes.tolist(), strict=True)
    )
    with compressed_write(path) as file:
        file.write("".join(lines).encode())


def _values(machine: Any, X: Any, path: str) -> Floats:
    """Return the value of a machine's function at each row."""
    by_sign = hasattr(machine, "decision_function") and not is_regressor(machine)
    found = machine.decision_function(X) if by_sign else machine.predict(X)
    f: Floats = np.asarray(found, np.float64)
    if f.ndim != 1:
        raise ValueError(f"{path} has {f.shape[1]} decision functions, but one is needed")
    return f


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "nan"
