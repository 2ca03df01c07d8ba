"""The seeds and findings of the fuzzer are read again by every run of the tests."""

import warnings
from pathlib import Path

import pytest

from maxmargin import io

CORPUS = Path(__file__).parent / "fuzz" / "corpus"
READERS = {"mm": io.load, "libsvm": io.load_libsvm, "liblinear": io.load_liblinear, "svm_light": io.load_svm_light}
FILES = sorted(path for name in READERS for path in (CORPUS / name).iterdir())


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_corpus(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            READERS[path.parent.name](path)
        except ValueError:
            assert path.suffix != ".zip"
