"""Risks that are no sum over samples, or whose outputs have structure: one cutting-plane solver.

The tasks of StructuredSVM are here: the protocol of your own, and those that are ready-made.
"""

from maxmargin.structured.chain import Chain
from maxmargin.structured.joint_features import StructuredTask
from maxmargin.structured.multiclass import Multiclass
from maxmargin.structured.multilabel import MultiLabel
from maxmargin.structured.taxonomy import Taxonomy

__all__ = ["Chain", "MultiLabel", "Multiclass", "StructuredTask", "Taxonomy"]
