"""The scikit-learn estimators."""

from maxmargin.estimators.classification import SVC, NuSVC
from maxmargin.estimators.norma import NormaSVC
from maxmargin.estimators.novelty import NormaNovelty
from maxmargin.estimators.online import PegasosSVC
from maxmargin.estimators.outlier import OneClassSVM
from maxmargin.estimators.regression import SVR, NuSVR

__all__ = ["SVC", "SVR", "NormaNovelty", "NormaSVC", "NuSVC", "NuSVR", "OneClassSVM", "PegasosSVC"]
