"""Choosing parameters: whole-grid searches with shared kernel values, paths, leave-one-out."""

from maxmargin.model_selection.leave_one_out import LeaveOneOut, leave_one_out
from maxmargin.model_selection.linear_cv import LinearSVCCV, LinearSVRCV
from maxmargin.model_selection.one_class_cv import OneClassSVMCV
from maxmargin.model_selection.path import CPath, svc_path, svr_path
from maxmargin.model_selection.svc_cv import SVCCV, NuSVCCV
from maxmargin.model_selection.svr_cv import SVRCV, NuSVRCV

__all__ = [
    "SVCCV",
    "SVRCV",
    "CPath",
    "LeaveOneOut",
    "LinearSVCCV",
    "LinearSVRCV",
    "NuSVCCV",
    "NuSVRCV",
    "OneClassSVMCV",
    "leave_one_out",
    "svc_path",
    "svr_path",
]
