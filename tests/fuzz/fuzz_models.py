"""Fuzz a model loader with atheris: whatever the bytes, it returns a model, which then predicts or
refuses to, or raises ValueError.

    pip install atheris
    python tests/fuzz/fuzz_models.py libsvm -max_total_time=600

The formats are mm, libsvm, liblinear and svm_light; run.sh runs them all.

The corpus of seeds is in corpus/<name>; findings are written to the current folder. For the .mm
format the input is not the zip, which random bytes never are, but what is in it: the header's JSON
and then the arrays' bytes, and the checksums are made right.
"""

import inspect
import os
import resource
import sys
import tempfile
import warnings
from pathlib import Path

import atheris
import numpy as np
from parts import zipped
from scipy import sparse

from maxmargin import io
from maxmargin.estimators import _machine, _record
from maxmargin.io import (
    archive,
    consistency,
    liblinear_models,
    libsvm_models,
    model,
    model_text,
    preparation,
    svm_light_models,
    table_record,
    tagged,
)

CORPUS = Path(__file__).parent / "corpus"
MEMORY = 512 * 2**20
"""Bytes above what the imports took."""


MODULES = (
    archive,
    consistency,
    liblinear_models,
    libsvm_models,
    model,
    preparation,
    svm_light_models,
    table_record,
    tagged,
    model_text,
    _machine,
    _record,
)


def instrument():
    """Let atheris see which lines of the loaders run.

    An editable installation has an importer of its own, which its hook does not see.
    """
    for module in MODULES:
        for owner in (
            module,
            *(
                value
                for value in vars(module).values()
                if inspect.isclass(value) and value.__module__ == module.__name__
            ),
        ):
            for value in list(vars(owner).values()):
                if inspect.isfunction(value) and value.__module__ == module.__name__:
                    atheris.instrument_func(value)


READERS = {
    "mm": io.load,
    "libsvm": io.load_libsvm,
    "liblinear": io.load_liblinear,
    "svm_light": io.load_svm_light,
}


def main():
    """Take the loader's name from the command line and hand the rest to atheris."""
    name = sys.argv.pop(1)
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    warnings.simplefilter("ignore")
    instrument()
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def one(data):
        with tempfile.NamedTemporaryFile(dir=folder) as file:  # nothing stays behind
            file.write(zipped(data) if name == "mm" else data)
            file.flush()
            check(file.name)

    def check(path):
        try:
            model = READERS[name](path)
            width = (
                model.n_features_in_
                if "precomputed" not in str(getattr(model, "kernel", ""))
                else model.shape_fit_[0]
            )
            X = sparse.csr_matrix((2, width))
            dense = hasattr(model, "_sparse") and not model._sparse
            # of a kernel among millions of samples no rows are made here
            if not dense or width < 10**6:
                model.predict(np.zeros((2, width)) if dense else X)
        except ValueError:
            pass
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) * 1024
        assert grown < MEMORY, f"{grown} bytes"

    atheris.Setup(
        [sys.argv[0], *sys.argv[1:], str(CORPUS / name), "-timeout=10", "-rss_limit_mb=2048"], one
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
