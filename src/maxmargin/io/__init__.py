"""File formats."""

from maxmargin.io.svmlight import SvmlightChunks, dump_svmlight, load_svmlight, svmlight_chunks

__all__ = ["SvmlightChunks", "dump_svmlight", "load_svmlight", "svmlight_chunks"]
