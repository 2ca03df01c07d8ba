"""Choosing parameters: whole-grid searches with shared kernel values."""

from maxmargin.model_selection.one_class_cv import OneClassSVMCV
from maxmargin.model_selection.svc_cv import SVCCV, NuSVCCV
from maxmargin.model_selection.svr_cv import SVRCV, NuSVRCV

__all__ = ["SVCCV", "SVRCV", "NuSVCCV", "NuSVRCV", "OneClassSVMCV"]
