"""Support vector machines: exact, certified, fast, with scikit-learn's interface."""

from maxmargin.certificate import Certificate
from maxmargin.compression import compact
from maxmargin.estimators import (
    SVC,
    SVR,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    NormaNovelty,
    NormaSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
)
from maxmargin.kernels import Kernel
from maxmargin.sklearn_patch import patch_sklearn, unpatch_sklearn
from maxmargin.sources import kernel_matrix

__version__ = "0.1.0"

__all__ = [
    "SVC",
    "SVR",
    "Certificate",
    "Kernel",
    "LinearOneClassSVM",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "NormaNovelty",
    "NormaSVC",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
    "compact",
    "kernel_matrix",
    "patch_sklearn",
    "unpatch_sklearn",
]
