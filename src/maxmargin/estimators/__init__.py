"""The scikit-learn estimators."""

from maxmargin.estimators.bags import MISVC
from maxmargin.estimators.classification import SVC, NuSVC
from maxmargin.estimators.expectile import ExpectileSVR
from maxmargin.estimators.laplacian import LaplacianSVC
from maxmargin.estimators.latent import LatentSVM
from maxmargin.estimators.least_squares import LSSVC, LSSVR
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.linear_outlier import LinearOneClassSVM
from maxmargin.estimators.linear_regression import LinearSVR
from maxmargin.estimators.mkl import MKLSVC
from maxmargin.estimators.multi_output import MultiOutputSVR
from maxmargin.estimators.norma import NormaSVC
from maxmargin.estimators.novelty import NormaNovelty
from maxmargin.estimators.online import PegasosSVC
from maxmargin.estimators.outlier import OneClassSVM
from maxmargin.estimators.perf import PerfSVC
from maxmargin.estimators.quantile import QuantileSVR
from maxmargin.estimators.ranking import RankSVC, RankSVR
from maxmargin.estimators.regression import SVR, NuSVR
from maxmargin.estimators.sequence import SequenceSVM
from maxmargin.estimators.structured import StructuredSVM
from maxmargin.estimators.svdd import SVDD
from maxmargin.estimators.transductive import TransductiveSVC

__all__ = [
    "LSSVC",
    "LSSVR",
    "MISVC",
    "MKLSVC",
    "SVC",
    "SVDD",
    "SVR",
    "ExpectileSVR",
    "LaplacianSVC",
    "LatentSVM",
    "LinearOneClassSVM",
    "LinearSVC",
    "LinearSVR",
    "MultiOutputSVR",
    "NormaNovelty",
    "NormaSVC",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
    "PerfSVC",
    "QuantileSVR",
    "RankSVC",
    "RankSVR",
    "SequenceSVM",
    "StructuredSVM",
    "TransductiveSVC",
]
