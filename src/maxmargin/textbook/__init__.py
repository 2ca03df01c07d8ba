"""The algorithms of the lectures as they are taught, each on a page of plain NumPy, with a trace.

The docstrings cite the lectures by the keys of ``textbook.lectures``.

Every function returns the model and a ``Trace``. Labels are -1 and +1; kernels are the functions of
``textbook.kernels``. These pages are written to be read. For real work, use the estimators of
``maxmargin``: the tests check that both reach the same optimum.
"""

from maxmargin.textbook import (
    data,
    duality,
    exercises,
    experiments,
    kernels,
    lectures,
    losses,
    practice,
    theorems,
)
from maxmargin.textbook.animate import animate
from maxmargin.textbook.coordinate_descent import coordinate_descent
from maxmargin.textbook.cutting_planes import cutting_planes, n_slack
from maxmargin.textbook.decomposition import decomposition
from maxmargin.textbook.dual_coordinate_descent import dual_coordinate_descent
from maxmargin.textbook.epsilon_svr import epsilon_svr
from maxmargin.textbook.hard_margin import hard_margin_qp
from maxmargin.textbook.kernel_regression import kernel_regression
from maxmargin.textbook.kernel_weights import kernel_weights
from maxmargin.textbook.kkt import KKTTable, kkt_table
from maxmargin.textbook.laplacian import graph_laplacian, laplacian_svm
from maxmargin.textbook.lasso import lasso
from maxmargin.textbook.latent import latent_svm
from maxmargin.textbook.least_squares import least_squares_svm, leave_one_out
from maxmargin.textbook.measures import measure_svm, worst_table
from maxmargin.textbook.models import KernelModel, LinearModel, Model
from maxmargin.textbook.multiclass import OneVersusOne, OneVersusRest, one_vs_one, one_vs_rest
from maxmargin.textbook.norma import norma
from maxmargin.textbook.nu_svc import nu_svc
from maxmargin.textbook.nu_svr import nu_svr
from maxmargin.textbook.one_class import one_class
from maxmargin.textbook.pair import Pair
from maxmargin.textbook.pegasos import kernel_pegasos, pegasos, pegasos_objective
from maxmargin.textbook.primal_gradient import primal_gradient
from maxmargin.textbook.primal_newton import primal_newton
from maxmargin.textbook.primal_versus_dual import primal_versus_dual
from maxmargin.textbook.quadratic_program import QuadraticProgram
from maxmargin.textbook.quantile import pinball, quantile_svr
from maxmargin.textbook.ranking import ranking_svm, swapped_pairs
from maxmargin.textbook.regression import linear_regression, logistic_regression, softmax_regression
from maxmargin.textbook.sgd_svm import sgd_svm
from maxmargin.textbook.simplified_smo import simplified_smo
from maxmargin.textbook.smo import smo
from maxmargin.textbook.soft_margin import slacks, soft_margin_qp
from maxmargin.textbook.structured import Chain, chain_svm, viterbi, worst_labelling
from maxmargin.textbook.svdd import Ball, svdd
from maxmargin.textbook.trace import Step, Trace
from maxmargin.textbook.transductive import transductive
from maxmargin.textbook.worked_example import worked_example

__all__ = [
    "Ball",
    "Chain",
    "KKTTable",
    "KernelModel",
    "LinearModel",
    "Model",
    "OneVersusOne",
    "OneVersusRest",
    "Pair",
    "QuadraticProgram",
    "Step",
    "Trace",
    "animate",
    "chain_svm",
    "coordinate_descent",
    "cutting_planes",
    "data",
    "decomposition",
    "dual_coordinate_descent",
    "duality",
    "epsilon_svr",
    "exercises",
    "experiments",
    "graph_laplacian",
    "hard_margin_qp",
    "kernel_pegasos",
    "kernel_regression",
    "kernel_weights",
    "kernels",
    "kkt_table",
    "laplacian_svm",
    "lasso",
    "latent_svm",
    "least_squares_svm",
    "leave_one_out",
    "lectures",
    "linear_regression",
    "logistic_regression",
    "losses",
    "measure_svm",
    "n_slack",
    "norma",
    "nu_svc",
    "nu_svr",
    "one_class",
    "one_vs_one",
    "one_vs_rest",
    "pegasos",
    "pegasos_objective",
    "pinball",
    "practice",
    "primal_gradient",
    "primal_newton",
    "primal_versus_dual",
    "quantile_svr",
    "ranking_svm",
    "sgd_svm",
    "simplified_smo",
    "slacks",
    "smo",
    "soft_margin_qp",
    "softmax_regression",
    "svdd",
    "swapped_pairs",
    "theorems",
    "transductive",
    "viterbi",
    "worked_example",
    "worst_labelling",
    "worst_table",
]
