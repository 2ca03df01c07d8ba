"""File formats."""

from maxmargin.io.svmlight import SvmlightChunks, svmlight_chunks

__all__ = ["SvmlightChunks", "svmlight_chunks"]
