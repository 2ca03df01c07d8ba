"""``svm_learn`` with unlabelled examples, whose target is 0: SVM-light's transduction.

TransductiveSVC minimises

    1/2 |w|^2 + C sum_labelled hinge(y_i f(x_i)) + C sum_unlabelled hinge(|f(x_j)|)

while a share p of the unlabelled examples is positive. It is not convex: label switching, which is
SVM-light's algorithm, and two others are tried, and the lowest objective is kept. SVM-light
multiplies the cost of unlabelled examples that it labels positive by (1 - p) / p; here all of them
cost the same.
"""

from dataclasses import replace

import numpy as np
import typer

from maxmargin.cli.errors import usage
from maxmargin.cli.flags import Flags
from maxmargin.cli.reports import verbosity
from maxmargin.cli.svm_light_classify import write_old_format
from maxmargin.cli.svm_light_estimates import (
    Fitted,
    check_classes,
    coefficients,
    cost_of,
    lengths_of,
    print_fit,
    write_numbers,
)
from maxmargin.cli.svm_light_options import kernel_of
from maxmargin.estimators import TransductiveSVC
from maxmargin.io import save_svm_light
from maxmargin.io.table_columns import Data
from maxmargin.kernel.kernels import Kind

PREDICTIONS = "trans_predictions"
"""The file of the labels found, if none is named."""


def learn_transduction(found: Flags, data: Data, output: str) -> None:
    """Label the unlabelled examples, write the labels and the model, and print the fit."""
    if found["x"] or found["i"] or not found["b"]:
        raise usage("-x 1, -i 1 and -b 0 are not available with unlabelled examples, of target 0")
    X, y, kernel = data.X, np.sign(np.asarray(data.y, np.float64)), kernel_of(found)
    check_classes(y, data.source)
    lengths = lengths_of(kernel, X)
    C = cost_of(found, lengths.mean)
    share = found["p"] if "p" in found.given else float(np.sum(y > 0) / np.sum(y != 0))
    linear = kernel.kind is Kind.LINEAR
    model = TransductiveSVC(
        C=C,
        C_unlabelled=C,
        balance=share,
        kernel=kernel,
        tol=found["e"] ** 2 if linear else found["e"],
        verbose=verbosity(found["v"] < 1),
    )
    weight = np.where(y > 0, found["j"], 1.0)
    model.fit(X, np.choose(y.astype(int) + 1, (0, -1, 1)), sample_weight=weight)
    model.model_ = replace(model.model_, classes=np.array([-1, 1]))  # they were 0 and 1
    save_svm_light(model, output)
    labels, b = 2.0 * model.transduction_ - 1.0, coefficients(model, len(y))
    f = model.decision_function(X)
    free = y == 0
    write_old_format(found["l"], labels[free], np.maximum(0.0, labels * f)[free])
    if found["a"]:
        write_numbers(found["a"], b)
    if found["v"] > 0:
        positive = int(np.sum(labels[free] > 0))
        typer.echo(
            f"Classifying unlabeled data as {positive} POS / {int(free.sum()) - positive} NEG."
        )
        loss = np.maximum(0.0, 1.0 - labels * f)
        print_fit(Fitted(model, labels, f, b, C * weight, loss, lengths))
        typer.echo(str(model.certificate_))
