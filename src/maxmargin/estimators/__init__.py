"""The scikit-learn estimators."""

from maxmargin.estimators.classification import SVC, NuSVC
from maxmargin.estimators.outlier import OneClassSVM
from maxmargin.estimators.regression import SVR, NuSVR

__all__ = ["SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"]
