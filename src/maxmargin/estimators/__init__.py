"""The scikit-learn estimators."""

from maxmargin.estimators.classification import SVC, NuSVC
from maxmargin.estimators.laplacian import LaplacianSVC
from maxmargin.estimators.least_squares import LSSVC, LSSVR
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.linear_outlier import LinearOneClassSVM
from maxmargin.estimators.linear_regression import LinearSVR
from maxmargin.estimators.norma import NormaSVC
from maxmargin.estimators.novelty import NormaNovelty
from maxmargin.estimators.online import PegasosSVC
from maxmargin.estimators.outlier import OneClassSVM
from maxmargin.estimators.ranking import RankSVC, RankSVR
from maxmargin.estimators.regression import SVR, NuSVR
from maxmargin.estimators.transductive import TransductiveSVC

__all__ = [
    "LSSVC",
    "LSSVR",
    "SVC",
    "SVR",
    "LaplacianSVC",
    "LinearOneClassSVM",
    "LinearSVC",
    "LinearSVR",
    "NormaNovelty",
    "NormaSVC",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
    "RankSVC",
    "RankSVR",
    "TransductiveSVC",
]
