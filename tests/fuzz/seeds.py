"""Write the seeds of fuzz_models.py into corpus/: small models of every kind, as text and as the
parts of .mm files.

PYTHONPATH=tests python tests/fuzz/seeds.py
"""

import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from helpers import binary, three
from maxmargin import (
    SVC,
    SVR,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    NormaSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
    io,
)
from maxmargin.model_selection.tables import TablePreparation
from test_models_crafted import LIBLINEAR, LIBSVM, SVM_LIGHT

CORPUS = Path(__file__).parent / "corpus"


def unzipped(path):
    """A .mm file as fuzz_models.py takes it: the header, a zero byte, the arrays."""
    with zipfile.ZipFile(path) as file:
        header = json.loads(file.read("header.json"))
        return (
            json.dumps(header).encode()
            + b"\0"
            + b"".join(file.read(f"arrays/{k}") for k in range(len(header["arrays"])))
        )


def _of_table(y):
    """A pipeline that prepares numbers, words and missing values."""
    table = np.array([[1.5, "a"], [None, "b"], [2.5, None]] * 3, object)
    return make_pipeline(TablePreparation(), SVC()).fit(table, y)


def main():
    """Every seed."""
    X, y = three(9, 2)
    X2, y2 = binary(10, 3)
    kernel = {
        "three": SVC().fit(X, y),
        "linear": SVC(kernel="linear").fit(X2, y2),
        "one": OneClassSVM().fit(X),
        "nu": NuSVR().fit(X, X[:, 0]),
    }
    kernel |= {
        "poly": SVR(kernel="poly").fit(X, X[:, 0]),
        "matrix": SVC(kernel="precomputed").fit(X @ X.T, y),
    }
    linear = {
        "three": LinearSVC().fit(X, y),
        "two": LinearSVC(multi_class="crammer_singer").fit(X2, y2),
    }
    linear |= {"real": LinearSVR().fit(X, X[:, 0]), "one": LinearOneClassSVM().fit(X + 3)}
    online = {
        "norma": NormaSVC(random_state=0).fit(X, y),
        "pegasos": PegasosSVC(random_state=0, alpha=0.1).fit(X, y),
    }
    scaled = {
        "scaled": make_pipeline(StandardScaler(), MinMaxScaler(clip=True), SVC()).fit(X, y),
        "table": _of_table(y),
    }
    for name, model in kernel.items():
        io.save_libsvm(model, CORPUS / "libsvm" / name)
    for name, model in linear.items():
        io.save_liblinear(model, CORPUS / "liblinear" / name)
    (CORPUS / "libsvm" / "by-hand").write_text(LIBSVM)
    (CORPUS / "liblinear" / "by-hand").write_text(LIBLINEAR)
    for kind in range(5):
        (CORPUS / "svm_light" / f"kernel-{kind}").write_text(
            SVM_LIGHT.replace("2 # kernel type", f"{kind} # kernel type")
        )
    with tempfile.TemporaryDirectory() as folder:
        for name, model in {
            **kernel,
            **{f"linear-{key}": value for key, value in linear.items()},
            **online,
            **scaled,
        }.items():
            io.save(model, Path(folder) / "m")
            (CORPUS / "mm" / name).write_bytes(unzipped(Path(folder) / "m"))
            (CORPUS / "mm" / f"{name}.zip").write_bytes((Path(folder) / "m").read_bytes())


if __name__ == "__main__":
    main()
