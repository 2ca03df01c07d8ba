"""Support vector machines: exact, certified, fast, with scikit-learn's interface."""

from importlib import import_module
from types import ModuleType

from maxmargin.certificate import Certificate
from maxmargin.compression import compact
from maxmargin.estimators import (
    LSSVC,
    LSSVR,
    MISVC,
    MKLSVC,
    SVC,
    SVDD,
    SVR,
    ExpectileSVR,
    LaplacianSVC,
    LatentSVM,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    MultiOutputSVR,
    NormaNovelty,
    NormaSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
    PerfSVC,
    QuantileSVR,
    RankSVC,
    RankSVR,
    SequenceSVM,
    StructuredSVM,
    TransductiveSVC,
)
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import kernel_matrix
from maxmargin.model_selection import LinearSVCCV, LinearSVRCV
from maxmargin.sklearn_patch import patch_sklearn, unpatch_sklearn

__version__ = "0.1.0"

__all__ = [
    "LSSVC",
    "LSSVR",
    "MISVC",
    "MKLSVC",
    "SVC",
    "SVDD",
    "SVR",
    "Certificate",
    "ExpectileSVR",
    "Kernel",
    "LaplacianSVC",
    "LatentSVM",
    "LinearOneClassSVM",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LinearSVRCV",
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
    "compact",
    "kernel_matrix",
    "patch_sklearn",
    "unpatch_sklearn",
]

_LAZY = ("io", "model_selection", "plots", "textbook")
"""Modules that are loaded when they are first used: not everybody reads files or draws, and
pictures need matplotlib."""


def __getattr__(name: str) -> ModuleType:
    if name in _LAZY:
        return import_module(f"maxmargin.{name}")
    raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
