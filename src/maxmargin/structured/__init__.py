"""Structured outputs, performance measures and rankings: one cutting-plane solver for all of them.

Public are the tasks of StructuredSVM: the protocol for your own, and the ready-made ones.
"""

from maxmargin.structured.chain import Chain
from maxmargin.structured.joint_features import StructuredTask
from maxmargin.structured.multiclass import Multiclass
from maxmargin.structured.multilabel import MultiLabel
from maxmargin.structured.taxonomy import Taxonomy

__all__ = ["Chain", "MultiLabel", "Multiclass", "StructuredTask", "Taxonomy"]
