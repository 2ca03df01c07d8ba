"""Model files of the commands, and data in the form that a model expects."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scipy import sparse
from sklearn.utils import get_tags

from maxmargin import io
from maxmargin.cli.errors import usage
from maxmargin.cli.options import one_of
from maxmargin.cli.problems import LINEAR
from maxmargin.io.files import atomic_write, open_read, require_file
from maxmargin.io.preparation import parts_of
from maxmargin.io.table_columns import Data
from maxmargin.io.tables import ending_of
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.model import KernelModel

Writer = Callable[[Any, Path], None]
FORMATS: dict[str, Writer] = {
    "mm": io.save,
    "libsvm": io.save_libsvm,
    "liblinear": io.save_liblinear,
    "svm-light": io.save_svm_light,
}
PICKLES = (".pkl", ".pickle", ".joblib")
EXPORTS = {".onnx": "onnx", ".c": "c", ".h": "c", ".js": "javascript", ".mjs": "javascript"}
"""Formats that models are exported to, by the suffix of the name."""


def _export(make: Callable[[Any], Any]) -> Writer:
    """Return the writer of a text or a protocol buffer message that is made of a model."""

    def write(model: Any, path: Path) -> None:
        content = make(model)
        data = content.encode() if isinstance(content, str) else content.SerializeToString()
        with atomic_write(path) as file:
            file.write(data)

    return write


MODEL_WRITERS = {
    **FORMATS,
    "onnx": _export(io.to_onnx),
    "c": _export(io.to_c),
    "javascript": _export(io.to_javascript),
}
"""All formats that models are written to."""


def model_format(path: Path, asked: str | None, model: Any) -> str:
    """Return a key of FORMATS: as asked, or by the name's suffix, which must be that of a model."""
    if asked is not None:
        return one_of("--format", asked, FORMATS)
    if path.suffix == ".mm":
        return "mm"
    if ending_of(path) == ".model":
        return "liblinear" if isinstance(parts_of(model)[1], LINEAR) else "libsvm"
    pickle = " (joblib.dump writes pickles, in Python)" if path.suffix in PICKLES else ""
    raise usage(
        f"{path} is the name of another kind of file{pickle}: use the suffix .mm or .model."
    )


def check_scaling(kind: str, scale: str | None, model: Any) -> None:
    """Refuse before the work a format that cannot hold the scaling of a model."""
    names = {"libsvm": "LIBSVM", "svm-light": "SVM-light"}
    if scale is None or kind not in names or isinstance(model, LINEAR):
        return
    if getattr(model, "kernel", "") != "linear":
        raise usage(
            f"{names[kind]}'s model files hold no scaling: write a .mm file, which does, or scale "
            "the data first (maxmargin scale --save) and train without --scale."
        )


def load_model(path: str) -> Any:
    """Read a model file of any format."""
    require_file(Path(path))
    return io.load(path)


def widened(model: Any, path: str, width: int) -> Any:
    """Return the model for data with this many features.

    A file of LIBSVM or SVM-light does not hold the number of features; those it does not name are
    zero.
    """
    if width <= model.n_features_in_:
        return model
    with open_read(Path(path)) as file:
        begin = file.read(9)
    if begin == b"SVM-light":
        return io.load_svm_light(path, n_features=width)
    return io.load_libsvm(path, n_features=width) if begin == b"svm_type " else model


def machine_and_rows(model: Any, path: str, data: Data) -> tuple[Any, Any]:
    """Return the machine in a model, and the rows as it takes them, which may have new features.

    They do not change dot products, and other kernels take them if the file allows it.
    """
    kernel = getattr(parts_of(model)[1], "kernel_", None)
    model = widened(model, path, data.X.shape[1])
    if kernel is None or kernel.kind in (Kind.LINEAR, Kind.POLY, Kind.TANH):
        data = data._replace(X=data.X[:, : model.n_features_in_])
    if data.X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{data.source} has {data.X.shape[1]} features, the model was trained on "
            f"{model.n_features_in_}: with this kernel new features "
            "would change the values; train on data with all features"
        )
    X, (scalers, machine) = rows_for(model, data), parts_of(model)
    for scaler in scalers:
        X = scaler.transform(X)
    return machine, X


def names_of(model: Any) -> list[str] | None:
    """Return the names of a model's features, if it has some."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def target_name(model: Any) -> str | None:
    """Return the name of the target that a model was trained on, if it has one."""
    name = getattr(parts_of(model)[1], "target_name_", None)
    return name if isinstance(name, str) else None


def known(model: Any) -> dict[str, Any]:
    """Return what a model knows of the data that it takes, for their reader."""
    return {
        "n_features": model.n_features_in_,
        "features": names_of(model),
        "known_target": target_name(model),
    }


def rows_for(model: Any, data: Data) -> Any:
    """Return rows with the model's features, dense if its support vectors are."""
    if data.X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{data.source} has {data.X.shape[1]} features, the model was trained on "
            f"{model.n_features_in_}"
        )
    names = names_of(model)
    if names is not None and data.names is None:
        order = ", ".join(names[:5]) + ", ..." * (len(names) > 5)
        warnings.warn(
            f"{data.source} has no column names: its columns are taken in the model's order: "
            f"{order}",
            stacklevel=2,
        )
    scalers, machine = parts_of(model)
    record = getattr(machine, "model_", None)
    dense = isinstance(record, KernelModel) and not record.sparse
    dense = dense or not all(get_tags(scaler).input_tags.sparse for scaler in scalers)
    return data.X.toarray() if dense and sparse.issparse(data.X) else data.X


def scaling_report(model: Any) -> str | None:
    """Describe the scaling that a model applies to what it is given."""
    names = " ".join(", ".join(map(str, parts_of(model)[0])).split())
    return f"{names}, which the model applies itself" if names else None


def certificate_report(model: Any) -> dict[str, Any] | None:
    """Describe the certificate for a report."""
    certificate = getattr(parts_of(model)[1], "certificate_", None)
    if certificate is None:
        return None
    names = ("status", "primal", "dual", "gap", "relative_gap", "kkt_violation", "n_iter")
    return {name: getattr(certificate, name) for name in names}
