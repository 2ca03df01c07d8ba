"""The seeds and findings of the fuzzer are read again by every run of the tests."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from maxmargin import io

FUZZ = Path(__file__).parent / "fuzz"
READERS = {
    "mm": io.load,
    "libsvm": io.load_libsvm,
    "liblinear": io.load_liblinear,
    "svm_light": io.load_svm_light,
}
FILES = sorted(path for name in READERS for path in (FUZZ / "corpus" / name).iterdir())
SPEC = importlib.util.spec_from_file_location("parts", FUZZ / "parts.py")
PARTS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(PARTS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_corpus(path, tmp_path):
    """A model that predicts, or ValueError; what is a whole .mm file loads.

    It is a file of the first version, or of a pipeline.
    """
    name = path.parent.name
    (tmp_path / "m").write_bytes(
        PARTS.zipped(path.read_bytes()) if name == "mm" else path.read_bytes()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = READERS[name](tmp_path / "m")
            width = (
                model.shape_fit_[0]
                if getattr(model, "kernel", "") == "precomputed"
                else model.n_features_in_
            )
            dense = (
                (hasattr(model, "_sparse") and not model._sparse)
                or getattr(model, "kernel", "") == "precomputed"
                or hasattr(model, "steps")
            )
            model.predict(np.zeros((2, width)) if dense else sparse.csr_matrix((2, width)))
        except ValueError:
            assert path.suffix != ".zip"
