"""File formats: svmlight data, model files of ours and of other programs, and exports."""

from maxmargin.io.liblinear_models import load_liblinear, save_liblinear
from maxmargin.io.libsvm_models import load_libsvm, save_libsvm
from maxmargin.io.model import load, save
from maxmargin.io.onnx_export import to_onnx
from maxmargin.io.scikit_learn import from_sklearn, to_sklearn
from maxmargin.io.source_export import to_c, to_javascript
from maxmargin.io.svm_light_models import load_svm_light
from maxmargin.io.svm_light_write import save_svm_light
from maxmargin.io.svmlight import SvmlightChunks, load_svmlight, svmlight_chunks
from maxmargin.io.svmlight_write import dump_svmlight

__all__ = [
    "SvmlightChunks",
    "dump_svmlight",
    "from_sklearn",
    "load",
    "load_liblinear",
    "load_libsvm",
    "load_svm_light",
    "load_svmlight",
    "save",
    "save_liblinear",
    "save_libsvm",
    "save_svm_light",
    "svmlight_chunks",
    "to_c",
    "to_javascript",
    "to_onnx",
    "to_sklearn",
]
