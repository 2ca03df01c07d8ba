"""``maxmargin svm_rank_learn`` and ``svm_rank_classify``: SVM-rank's options and files, our solver.

    -c C 0.01   -l 1 swapped pairs of all queries, 2 their share in each query   -e tolerance 0.001
    -t 0 linear   1 polynomial (s x.z + r)^d   2 RBF exp(-g |x - z|^2)   3 sigmoid tanh(s x.z + r)
    -d 3   -g 1   -s 1   -r 1   -v verbosity 1

The objective is SVM-rank's. For q queries, the hinge losses l_ij = max(0, 1 - (s_i - s_j)) of the
pairs of a query whose targets have y_i > y_j, and P_k pairs in query k, it is

    -l 1    1/2 |w|^2 + c/q sum over all pairs of l_ij
    -l 2    1/2 |w|^2 + c/q sum over queries of 1/P_k sum over its pairs of l_ij

RankSVC takes n_k times the mean loss of the pairs of query k, which has n_k samples. So its C is
c/q, and the samples of query k have the weight P_k/n_k or 1/n_k. ``svm_learn -z p`` minimises the
first objective with C in place of c/q.

-e is the duality gap relative to the objective, which bounds the error of the answer. In SVM-rank
it is relative to the loss of w = 0. svm_light_options.py lists
the options of SVM-struct.
"""

from typing import Annotated, Any

import numpy as np
import typer
from scipy import sparse

from maxmargin.cli.flags import Flags, parse
from maxmargin.cli.options import read_svmlight
from maxmargin.cli.reports import verbosity
from maxmargin.cli.svm_light_classify import predicted
from maxmargin.cli.svm_light_estimates import cost_of, lengths_of
from maxmargin.cli.svm_light_options import (
    STRUCT,
    check_choice,
    check_struct,
    kernel_of,
    print_solution,
    struct_files,
)
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators import RankSVC
from maxmargin.io import save_svm_light
from maxmargin.io.table_columns import Data
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import kernel_matrix
from maxmargin.structured.ranking import pair_weights, query_numbers, ranking_of

BLOCK = 1000
"""Rows of kernel values that are computed at once."""
DEFAULTS = STRUCT | {"l": 1, "w": 3, "e": 0.001}
LearnArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="EXAMPLE_FILE [MODEL_FILE]", help="As svm_rank_learn takes them."),
]
ClassifyArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="EXAMPLE_FILE MODEL_FILE [OUTPUT_FILE]", help="As svm_rank_classify takes them."
    ),
]


def svm_rank_learn(arguments: LearnArguments = None) -> None:
    """Train as SVM-rank's svm_rank_learn does: its options, its defaults, its model file.

    -c C (0.01), -l loss: 1 swapped pairs of all queries, 2 their share in each query. -t kernel: 0
    linear, 1 polynomial, 2 RBF, 3 sigmoid; -d degree (3), -g gamma (1), -s factor (1), -r constant
    (1). -e is the relative duality gap (0.001), -v 0 quiet.

    -w, -k, -f, -b, -n, -m, -h, -# and -y are accepted: they do not change the optimum.

    Examples:

      maxmargin svm_rank_learn -c 20 train.dat model

      maxmargin svm_rank_learn -c 3 -l 2 train.dat model
    """
    found = parse(arguments or [], DEFAULTS, switches="")
    check_struct(found)
    check_choice(found, "l", (1, 2))
    path, output = struct_files(found)
    data = read_svmlight(path, zero_based=False)
    y, query = targets_of(data)
    queries = int(query.max()) + 1
    if found["v"] > 0:
        n, width = data.X.shape
        typer.echo(f"Training set properties: {width} features, {queries} rankings, {n} examples")
    weight = pair_sums(y, query) if found["l"] == 1 else 1.0 / np.bincount(query)[query]
    C = found["c"] / queries
    model = rank(found, data, C, weight, found["e"])
    save_svm_light(model, output, version="6.20")
    if found["v"] > 0:
        print_solution(model)


def svm_rank_classify(arguments: ClassifyArguments = None) -> None:
    """Predict as SVM-rank's svm_rank_classify does, from its model files or ours.

    Options: -v verbosity (1; 0 prints nothing). Scores are written to svm_predictions if no file is
    named.

    Examples:

      maxmargin svm_rank_classify test.dat model scores
    """
    found = parse(arguments or [], {"v": 1, "y": 0}, switches="")
    data, s = predicted(found)
    if found["v"] < 1:
        return
    y, query = targets_of(data)
    swapped, pairs = swapped_pairs(y, s, query)
    share = np.divide(swapped, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    wrong, queries = int(np.sum(swapped > 0)), len(pairs)
    typer.echo(f"Average loss on test set: {share.mean():.4f}")
    typer.echo(
        f"Zero/one-error on test set: {100 * wrong / queries:.2f}% ({queries - wrong} correct, "
        f"{wrong} incorrect, {queries} total)"
    )
    typer.echo(
        "NOTE: The loss reported above is the fraction of swapped pairs averaged over\n"
        "      all rankings. The zero/one-error is fraction of perfectly correct\n"
        "      rankings!"
    )
    typer.echo(f"Total Num Swappedpairs  : {swapped.sum():6.0f}")
    typer.echo(f"Avg Swappedpairs Percent: {100 * share.mean():6.2f}")


def targets_of(data: Data) -> tuple[Floats, Integers]:
    """Return the targets, and the number of each example's query; without qid there is one."""
    y = np.asarray(data.y, np.float64)
    return y, query_numbers(data.queries, len(y))


def pair_sums(y: Floats, query: Integers) -> Floats:
    """Return the weights with which RankSVC adds up the losses of pairs: P_k/n_k in query k."""
    pairs = pair_weights(ranking_of(y, query, np.ones(len(y))))
    per_query: Floats = pairs / np.bincount(query)
    return per_query[query]


def rank(found: Flags, data: Data, C: float, weight: Floats, tol: float) -> RankSVC:
    """Train a ranking."""
    if not weight.any():
        raise ValueError(
            f"{data.source} has nothing to rank: the targets of each query are all equal"
        )
    quiet = verbosity(found["v"] < 1)
    model = RankSVC(C=C, kernel=kernel_of(found), tol=tol, verbose=quiet)
    model.fit(data.X, np.asarray(data.y), qid=data.queries, sample_weight=weight)
    return model


def swapped_pairs(y: Floats, s: Floats, query: Integers) -> tuple[Floats, Floats]:
    """Return the number of swapped pairs of each query, and of all its pairs.

    A pair is swapped if the better example has not the higher score.
    """
    ranking = ranking_of(y, query, np.ones(len(y)))
    place = np.unique(s, return_inverse=True)[1].astype(np.float64)  # equal scores, equal places
    swapped, _ = ranking.active(place[ranking.order], 0.5)
    return ranking.sums(swapped), pair_weights(ranking)


# ---- svm_learn -z p ------------------------------------------------------------------------------


def learn_preferences(found: Flags, data: Data, output: str) -> None:
    """Train a ranking, write it, and print what SVM-light prints of the pairs.

    The tolerance is the relative gap e^2, as for linear models.
    """
    y, query = targets_of(data)
    C = cost_of(found, lambda: mean_pair_length(kernel_of(found), data.X, y, query))
    model = rank(found, data, C, pair_sums(y, query), found["e"] ** 2)
    save_svm_light(model, output)
    if found["v"] < 1:
        return
    s, support = model.predict(data.X), getattr(model, "support_", None)
    squared = np.sum(model.coef_**2) if support is None else model.dual_coef_[0] @ s[support]
    swapped, pairs = swapped_pairs(y, s, query)
    typer.echo(f"{int(pairs.sum())} rank constraints.")
    typer.echo(f"Optimization finished ({int(swapped.sum())} misclassified).")
    typer.echo(f"L1 loss: loss={(model.certificate_.primal - squared / 2) / C:.5f}")
    typer.echo(f"Norm of weight vector: |w|={squared**0.5:.5f}")
    typer.echo(str(model.certificate_))


def mean_pair_length(kernel: Kernel, X: Any, y: Floats, query: Integers) -> float:
    """Return the mean length of phi(x_i) - phi(x_j) over pairs of different targets, i before j.

    SVM-light measures it from phi(0), which matters for kernels other than the linear one.
    """
    zero = sparse.csr_matrix((1, X.shape[1]))
    to_zero, of_zero = kernel_matrix(kernel, X, zero)[:, 0], kernel_matrix(kernel, zero)[0, 0]
    own, total, count = lengths_of(kernel, X).own, 0.0, 0
    for rows in np.split(np.argsort(query, kind="stable"), np.cumsum(np.bincount(query))[:-1]):
        for begin in range(0, len(rows), BLOCK):
            i, j = rows[begin : begin + BLOCK], rows[begin:]
            squares = own[i, None] + own[j] - 2.0 * kernel_matrix(kernel, X[i], X[j]) + of_zero
            squares += 2.0 * (to_zero[j] - to_zero[i, None])
            chosen = (i[:, None] < j) & (y[i, None] != y[j])
            total += float(np.sqrt(np.maximum(0.0, squares[chosen])).sum())
            count += int(chosen.sum())
    return total / count if count else 0.0
