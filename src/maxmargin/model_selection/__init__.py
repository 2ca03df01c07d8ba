"""Choosing parameters: whole-grid searches, AutoSVC, the doctor, paths, leave-one-out."""

from maxmargin.model_selection.auto import AutoSVC, AutoSVR
from maxmargin.model_selection.diagnosis import Diagnosis, diagnose
from maxmargin.model_selection.least_squares_cv import LSSVCCV, LSSVRCV
from maxmargin.model_selection.leave_one_out import LeaveOneOut, leave_one_out
from maxmargin.model_selection.linear_cv import LinearSVCCV, LinearSVRCV
from maxmargin.model_selection.one_class_cv import OneClassSVMCV
from maxmargin.model_selection.path import CPath, svc_path, svr_path
from maxmargin.model_selection.svc_cv import SVCCV, NuSVCCV
from maxmargin.model_selection.svr_cv import SVRCV, NuSVRCV

__all__ = [
    "LSSVCCV",
    "LSSVRCV",
    "SVCCV",
    "SVRCV",
    "AutoSVC",
    "AutoSVR",
    "CPath",
    "Diagnosis",
    "LeaveOneOut",
    "LinearSVCCV",
    "LinearSVRCV",
    "NuSVCCV",
    "NuSVRCV",
    "OneClassSVMCV",
    "diagnose",
    "leave_one_out",
    "svc_path",
    "svr_path",
]
