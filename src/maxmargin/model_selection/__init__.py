"""Choosing parameters: whole-grid searches with shared kernel values."""

from maxmargin.model_selection.kernel_cv import SVCCV, SVRCV, NuSVCCV, NuSVRCV, OneClassSVMCV

__all__ = ["SVCCV", "SVRCV", "NuSVCCV", "NuSVRCV", "OneClassSVMCV"]
