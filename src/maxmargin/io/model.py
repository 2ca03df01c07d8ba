"""Our model files (.mm), and files of other programs, which are recognised by their first bytes.

A .mm file holds an estimator's class, parameters and fitted attributes. archive.py is its
container, tagged.py its values. A loaded estimator has the same attributes as the saved one, bit
for bit. Only classes of the list below are read, only names of fitted attributes are accepted, and
a model is checked as prediction checks it before it is returned.

A pipeline of scalers and an estimator is held as the list of its steps (preparation.py), and of a
search over parameters the model that it chose.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from maxmargin import estimators
from maxmargin.estimators import liblinear
from maxmargin.estimators.records import build, of_best
from maxmargin.io import archive, table_record
from maxmargin.io.consistency import WRONG, validate
from maxmargin.io.earlier_versions import SEARCH, with_record
from maxmargin.io.files import open_read
from maxmargin.io.liblinear_models import load_liblinear
from maxmargin.io.libsvm_models import load_libsvm
from maxmargin.io.preparation import SCALERS, check_scaler, entry_of, is_prepared
from maxmargin.io.svm_light_models import load_svm_light
from maxmargin.io.tagged import Decoder, Encoder
from maxmargin.kernel.kernels import Kernel
from maxmargin.model_selection.tables import TablePreparation

CLASSES: dict[str, Any] = {name: getattr(estimators, name) for name in estimators.__all__}
CLASSES |= {f"liblinear.{name}": getattr(liblinear, name) for name in ("LinearSVC", "LinearSVR")}
NAMES = {cls: name for name, cls in CLASSES.items()}
ATTRIBUTE = re.compile(r"(_[a-zA-Z]\w{0,60}|[a-zA-Z]\w{0,60}_)", re.ASCII)
"""Names of fitted attributes: they begin or end with an underscore."""
PIPELINE = "Pipeline"
MOST_STEPS = 100
"""Steps that a pipeline may have."""


def save(model: Any, path: Any) -> None:
    """Write a fitted estimator to a file in our own format (.mm), atomically.

    Parameters
    ----------
    model : estimator
        Any of maxmargin's whose kernel is not a Python function: the file holds data only. A
        pipeline of scikit-learn's scalers (StandardScaler, MinMaxScaler, MaxAbsScaler,
        RobustScaler) or AutoSVC's preparation of tables, and such an estimator. A fitted search
        over parameters (SVCCV, AutoSVC, GridSearchCV, ...): the file holds its
        ``best_estimator_``.
    path : str or path-like
        File to write. An old file is replaced when the new one is complete and on the disk.

    See Also
    --------
    load : read it again.

    Examples
    --------
    >>> from maxmargin import SVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> io.save(SVC(C=10).fit(X, y), "model.mm")
    >>> io.load("model.mm").predict(X)
    array([0, 0, 1, 1])
    """
    arrays = archive.Arrays()
    record = _encode_whole(model, arrays)
    archive.write(path, record, arrays)


def _encode_whole(model: Any, arrays: archive.Arrays) -> dict[str, Any]:
    """Return the record of an estimator, or of the steps of a pipeline, after checking them."""
    model = of_best(model)
    if is_prepared(model):
        *scalers, (last, estimator) = model.steps
        steps = [[name, _encode_step(step, arrays)] for name, step in scalers]
        found = {"class": PIPELINE, "steps": [*steps, [last, _encode_whole(estimator, arrays)]]}
        _check_widths(model)
        return found
    if type(model) not in NAMES:
        if hasattr(model, "fit"):
            check_is_fitted(model)
        raise TypeError(
            f"{type(model).__module__}.{type(model).__name__} is not an estimator of maxmargin: "
            f"{_remedy(model)}."
        )
    check_is_fitted(model)
    record = _encode(model, arrays)
    validate(model)
    return record


def _encode_step(step: Any, arrays: archive.Arrays) -> dict[str, Any]:
    """Return the record of a scaler, or of the preparation of a table."""
    if type(step) is not TablePreparation:
        return _encode_scaler(step, arrays)
    check_is_fitted(step)
    state, scaler = table_record.state_of(step), step.scaler_
    table_record.restored(state, scaler)  # refuse here what could not be read
    return {
        "class": table_record.NAME,
        "state": Encoder(arrays, lambda part: _encode(part, arrays)).encode(state),
        "scaler": None if scaler is None else _encode_scaler(scaler, arrays),
    }


def _encode_scaler(scaler: Any, arrays: archive.Arrays) -> dict[str, Any]:
    """Return the class of a scaler, its parameters that are not the defaults, its attributes."""
    entry = entry_of(scaler)
    check_is_fitted(scaler)
    check_scaler(scaler)
    parameters, defaults = scaler.get_params(deep=False), entry.cls().get_params()
    encode = Encoder(arrays, lambda part: _encode(part, arrays)).encode
    return {
        "class": type(scaler).__name__,
        "parameters": {
            name: encode(value) for name, value in parameters.items() if value != defaults[name]
        },
        "attributes": {
            name: encode(value) for name, value in vars(scaler).items() if name not in parameters
        },
    }


def _check_widths(pipeline: Any) -> None:
    """Raise ValueError unless all steps of a pipeline have the same number of features."""
    given = [step.n_features_in_ for _, step in pipeline.steps[1:]]
    made = [getattr(step, "n_features_out_", step.n_features_in_) for _, step in pipeline.steps]
    if given != made[:-1]:
        raise ValueError(f"the steps of the pipeline take {given} features and give {made[:-1]}.")


def _remedy(model: Any) -> str:
    """Return what to do with an object that is not one of our estimators."""
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
        From a file of ours, the estimator or the pipeline that was saved, with the same
        predictions, bit for bit; of a search, the model that it chose. See ``load_libsvm``,
        ``load_liblinear`` and ``load_svm_light`` for the others.

    See Also
    --------
    save : write a model.

    Examples
    --------
    >>> from maxmargin import SVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> io.save_libsvm(SVC(C=10).fit(X, y), "model.libsvm")
    >>> io.load("model.libsvm").predict(X)
    array([0, 0, 1, 1])
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
        return _decode_whole(Decoder(found.arrays, _decode), found.header.get("model"), 0)
    except WRONG as error:
        raise found.error(
            f"its contents are inconsistent: {type(error).__name__}: {error}"
        ) from None
    except ValueError as error:
        raise found.error(str(error)) from None


def _decode_whole(decoder: Decoder, record: Any, nested: int) -> Any:
    """Return the estimator or the pipeline of a record, checked."""
    if record["class"] != PIPELINE:
        return _decode(decoder, record, 0)
    steps = record["steps"]
    names = [name for name, _ in steps]
    good = type(steps) is list and 0 < len(steps) <= MOST_STEPS and nested < MOST_STEPS
    good = good and all(type(name) is str and name and "__" not in name for name in names)
    if not good or len(set(names)) < len(names):
        raise ValueError("the steps of its pipeline are malformed.")
    found = [_decode_step(decoder, step) for _, step in steps[:-1]]
    found.append(_decode_whole(decoder, steps[-1][1], nested + 1))
    pipeline = Pipeline(list(zip(names, found, strict=True)))
    _check_widths(pipeline)
    return pipeline


def _decode_step(decoder: Decoder, record: Any) -> Any:
    """Return the scaler or the preparation of a table of a record, checked."""
    if record["class"] != table_record.NAME:
        return _decode_scaler(decoder, record)
    scaler = record["scaler"]
    scaler = None if scaler is None else _decode_scaler(decoder, scaler)
    return table_record.restored(decoder.decode(record["state"]), scaler)


def _decode_scaler(decoder: Decoder, record: Any) -> Any:
    """Return the scaler of a record, checked."""
    name = record["class"]
    if not isinstance(name, str) or name not in SCALERS:
        raise ValueError(f"the scaler {str(name)[:40]!r} is unknown.")
    cls = SCALERS[name].cls
    _refuse_odd(name, set(record["parameters"]), set(cls().get_params()))
    scaler = build(cls, **{key: decoder.decode(v) for key, v in record["parameters"].items()})
    for key, value in record["attributes"].items():
        if key in scaler.get_params() or not ATTRIBUTE.fullmatch(key):
            raise ValueError(f"{key[:40]!r} is not a fitted attribute.")
        vars(scaler)[key] = decoder.decode(value)
    check_scaler(scaler)
    return scaler


def _refuse_odd(name: str, given: set[str], known: set[str]) -> None:
    """Raise ValueError if a class lacks a parameter."""
    odd = sorted(given - known)
    if odd:
        raise ValueError(
            f"{name} has no parameter {odd[0][:40]!r}: the file may come from a newer version."
        )


def _decode(decoder: Decoder, record: Any, depth: int) -> Any:
    """Return the estimator of a record, checked."""
    name = record["class"]
    if name == SEARCH and depth == 0:
        found = decoder.decode(record["attributes"]["estimator_"], depth)
        if not isinstance(found, estimators.LinearSVC) or not hasattr(found, "model_"):
            raise ValueError("it holds no fitted model.")
        return found
    if not isinstance(name, str) or name not in CLASSES:
        raise ValueError(f"the class {str(name)[:40]!r} is unknown.")
    cls = CLASSES[name]
    known = set(cls().get_params(deep=False))
    _refuse_odd(name, set(record["parameters"]), known)
    parameters = {key: decoder.decode(value, depth) for key, value in record["parameters"].items()}
    model = build(cls, **parameters)
    attributes = {key: decoder.decode(value, depth) for key, value in record["attributes"].items()}
    for key, value in with_record(cls, attributes).items():
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
