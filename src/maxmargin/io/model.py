"""Our model files (.mm), and files of other programs, which are recognised by their first bytes.

A .mm file holds an estimator's class, parameters and fitted attributes. archive.py is its
container, tagged.py its values. A loaded estimator has the same attributes as the saved one, bit
for bit. Only classes of the list below are read, only names of fitted attributes are accepted, and
a model is checked as prediction checks it before it is returned.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from maxmargin import estimators
from maxmargin.estimators import liblinear
from maxmargin.estimators.records import build
from maxmargin.io import archive
from maxmargin.io.consistency import WRONG, validate
from maxmargin.io.earlier_versions import with_record
from maxmargin.io.files import open_read
from maxmargin.io.liblinear_models import load_liblinear
from maxmargin.io.libsvm_models import load_libsvm
from maxmargin.io.svm_light_models import load_svm_light
from maxmargin.io.tagged import Decoder, Encoder
from maxmargin.kernel.kernels import Kernel

CLASSES: dict[str, Any] = {name: getattr(estimators, name) for name in estimators.__all__}
CLASSES |= {f"liblinear.{name}": getattr(liblinear, name) for name in ("LinearSVC", "LinearSVR")}
NAMES = {cls: name for name, cls in CLASSES.items()}
ATTRIBUTE = re.compile(r"(_[a-zA-Z]\w{0,60}|[a-zA-Z]\w{0,60}_)", re.ASCII)
"""Names of fitted attributes: they begin or end with an underscore."""


def save(model: Any, path: Any) -> None:
    """Write a fitted estimator to a file in our own format (.mm), atomically.

    Parameters
    ----------
    model : estimator
        Any of maxmargin's whose kernel is not a Python function: the file holds data only.
    path : str or path-like
        File to write. An old file is replaced when the new one is complete and on the disk.
    """
    if type(model) not in NAMES:
        raise TypeError(
            f"{type(model).__module__}.{type(model).__name__} is not an estimator of maxmargin: "
            f"{_remedy(model)}."
        )
    check_is_fitted(model)
    arrays = archive.Arrays()
    record = _encode(model, arrays)
    validate(model)
    archive.write(path, record, arrays)


def _remedy(model: Any) -> str:
    """Return what to do with an object that is not one of our estimators."""
    if hasattr(model, "steps"):
        return (
            "save its last step, model[-1], here, and the steps before it, which every prediction "
            "needs, in another way"
        )
    if type(model).__module__.startswith("sklearn.svm"):
        return "io.from_sklearn converts it to one"
    return f"{', '.join(CLASSES)} can be saved"


def _encode(model: Any, arrays: archive.Arrays) -> dict[str, Any]:
    """Return the class, parameters and attributes of an estimator."""
    if type(model) not in NAMES:
        raise ValueError(f"{type(model).__name__} is not an estimator of maxmargin.")
    parameters = model.get_params(deep=False)
    encoder = Encoder(arrays, lambda part: _encode(part, arrays))
    found: dict[str, Any] = {"class": NAMES[type(model)], "parameters": {}, "attributes": {}}
    for name, value in (parameters | vars(model)).items():
        if callable(value) and name == "kernel" and not isinstance(value, Kernel):
            value = Kernel.callable(value)
        try:
            found["parameters" if name in parameters else "attributes"][name] = encoder.encode(
                value
            )
        except ValueError as error:
            raise ValueError(
                f"{type(model).__name__} cannot be saved because of {name}. {error}"
            ) from None
    return found


def load(path: Any, *, n_features: int | None = None) -> Any:
    """Read a model file of ours, LIBSVM, LIBLINEAR or SVM-light; safe for untrusted files.

    The first bytes of the file decide which format it is.

    Parameters
    ----------
    path : str or path-like
        The file.
    n_features : int or None, default=None
        The number of features of the data, which LIBSVM's files do not hold. A file with another
        number is an error.

    Returns
    -------
    model : estimator
        From a file of ours, the estimator that was saved, with the same predictions, bit for bit.
        See ``load_libsvm``, ``load_liblinear`` and ``load_svm_light`` for the others.
    """
    with open_read(Path(path)) as file:
        try:
            begin = file.read(4096)
        except Exception:  # damaged compressed text; each compression has its own errors
            begin = b""
    readers: dict[bytes, Callable[[Any], Any]] = {
        b"SVM-light": load_svm_light,
        b"solver_type": load_liblinear,
    }
    if begin.startswith(b"PK"):
        with open(path, "rb") as file:
            if file.read(2) != b"PK":
                raise ValueError(f"{path} is a compressed model file: decompress it first.")
        return _of_width(_load(path), n_features)
    if b"svm_type" in begin:
        return load_libsvm(path, n_features=n_features)
    for mark, reader in readers.items():
        if mark in begin:
            return _of_width(reader(path), n_features)
    raise ValueError(
        f"{path} is not a model file of maxmargin, LIBSVM, LIBLINEAR or SVM-light. joblib reads "
        "pickles."
    )


def _of_width(model: Any, n_features: int | None) -> Any:
    found = getattr(model, "n_features_in_", None)
    if n_features is not None and found != n_features:
        raise ValueError(
            f"The model was trained on {found} features, but n_features={n_features} was given."
        )
    return model


def _load(path: Any) -> Any:
    found = archive.Archive(path)
    try:
        return _decode(Decoder(found.arrays, _decode), found.header.get("model"), 0)
    except WRONG as error:
        raise found.error(
            f"its contents are inconsistent: {type(error).__name__}: {error}"
        ) from None
    except ValueError as error:
        raise found.error(str(error)) from None


def _decode(decoder: Decoder, record: Any, depth: int) -> Any:
    """Return the estimator of a record, checked."""
    name = record["class"]
    if not isinstance(name, str) or name not in CLASSES:
        raise ValueError(f"the class {str(name)[:40]!r} is unknown.")
    cls = CLASSES[name]
    known = set(cls().get_params(deep=False))
    odd = sorted(set(record["parameters"]) - known)
    if odd:
        raise ValueError(
            f"{name} has no parameter {odd[0][:40]!r}: the file may come from a newer version."
        )
    parameters = {key: decoder.decode(value, depth) for key, value in record["parameters"].items()}
    model = build(cls, **parameters)
    found = {key: decoder.decode(value, depth) for key, value in record["attributes"].items()}
    for key, value in with_record(cls, found).items():
        if (
            not ATTRIBUTE.fullmatch(key)
            or key.startswith("__")
            or key in known
            or hasattr(cls, key)
        ):
            raise ValueError(f"{key[:40]!r} is not a fitted attribute.")
        setattr(model, key, value)
    if record["attributes"]:
        validate(model)
    elif depth == 0:
        raise ValueError("it holds no fitted model.")
    return model
