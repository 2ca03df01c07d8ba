"""The problems a model can be trained for, their parameters from the command line, and model files.

A problem is one entry of PROBLEMS. A parameter that its estimator does not have is an error.
"""

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import maxmargin
from maxmargin.cli.common import labels, one_of, usage, with_target
from maxmargin.io.tables import Data, ending_of
from maxmargin.suggestions import did_you_mean

PROBLEMS: dict[str, Any] = {
    "svc": maxmargin.SVC,
    "nu-svc": maxmargin.NuSVC,
    "svr": maxmargin.SVR,
    "nu-svr": maxmargin.NuSVR,
    "one-class": maxmargin.OneClassSVM,
    "linear-svc": maxmargin.LinearSVC,
    "linear-svr": maxmargin.LinearSVR,
    "linear-one-class": maxmargin.LinearOneClassSVM,
    "pegasos": maxmargin.PegasosSVC,
    "norma": maxmargin.NormaSVC,
    "norma-novelty": maxmargin.NormaNovelty,
}
LINEAR = (maxmargin.LinearSVC, maxmargin.LinearSVR, maxmargin.LinearOneClassSVM)
FORMATS = ("mm", "libsvm", "liblinear")
PICKLES = (".pkl", ".pickle", ".joblib")
EXPORTS = {".onnx": "onnx", ".c": "c", ".h": "c", ".js": "javascript", ".mjs": "javascript"}
"""Formats that models are exported to, by the suffix of the name."""


def problem_class(name: str) -> Any:
    """Return the estimator class of a problem."""
    return PROBLEMS[one_of("--problem", name, PROBLEMS)]


def value_of(text: str) -> Any:
    """Parse a parameter's value: a Python literal, or else the text itself."""
    if text.lower() in ("inf", "infinity"):
        return float("inf")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def class_weights(text: str | None) -> Any:
    """Parse class weights: balanced, or label=weight,label=weight."""
    if text is None or text == "balanced":
        return text
    weights = {}
    for item in text.split(","):
        label, mark, weight = item.rpartition("=")
        if not mark:
            raise usage(f"--class-weight must be balanced or label=weight,..., got {text!r}.")
        try:
            weights[value_of(label.strip())] = float(weight)
        except ValueError:
            raise usage(f"--class-weight: {weight!r} is not a number.") from None
    return weights


def assignments(items: list[str] | None, given: dict[str, Any] | None = None) -> dict[str, Any]:
    """Join the parameters of separate options and of --set name=value.

    A parameter that is given twice is an error.
    """
    found = {name: value for name, value in (given or {}).items() if value is not None}
    for item in items or []:
        name, mark, text = item.partition("=")
        if not mark:
            raise usage(f"--set takes name=value, got {item!r}.")
        if name.strip() in found:
            raise usage(f"{name.strip()} is given twice: by --set {item} and before.")
        found[name.strip()] = value_of(text.strip())
    return found


def build(problem: str, given: dict[str, Any], **always: Any) -> Any:
    """Return the estimator of a problem with the given parameters (those that are not None)."""
    cls = problem_class(problem)
    known = cls().get_params()
    parameters = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in parameters if name not in known]
    if unknown:
        hint = did_you_mean(unknown[0], known)
        raise usage(
            f"{problem} has no parameter {', '.join(unknown)}; its parameters are "
            f"{', '.join(known)}.{hint}"
        )
    return cls(**{**{name: value for name, value in always.items() if name in known}, **parameters})


def fit(model: Any, data: Data) -> Any:
    """Fit a model to data, with targets if the problem has some.

    The model remembers the features' names, as with a data frame.
    """
    model.fit(
        data.X,
        None if is_outlier_detector(model) else target_of(model, data),
        **weights(data.weight),
    )
    if data.names:
        model.feature_names_in_ = np.array(data.names, dtype=object)
    if data.target is not None:
        model.target_name_ = data.target
    return model


def weights(weight: Any) -> dict[str, Any]:
    """Return sample weights, if there are some, as keyword arguments."""
    return {} if weight is None else {"sample_weight": weight}


def check_weight(model: Any, problem: str, weight: str | None) -> None:
    """Raise an error if weights are given that the estimator cannot use."""
    if weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise usage(
            f"{problem} takes no sample weights: leave --weight out, or choose another --problem."
        )


def weight_report(data: Data) -> str | None:
    """Describe the weights for a report."""
    if data.weight is None:
        return None
    return (
        f"{data.weight_name or 'given'}: sum {data.weight.sum():g}, "
        f"{int((data.weight > 0).sum()):,} positive"
    )


def takes_kernel(model: Any) -> bool:
    """Whether the rows of its data are kernel values with the training rows."""
    return bool(get_tags(model).input_tags.pairwise)


def with_kernel(model: Any, data: Data, training: bool) -> Data:
    """Return the data; strip LIBSVM's row numbers from a precomputed kernel in svmlight text.

    There row i begins with 0:i, followed by j:k, its kernel value with training row j.
    """
    if data.format != "svmlight" or not takes_kernel(model):
        return data
    n = data.X.shape[0]
    K = sparse.csr_matrix(data.X, copy=True)
    # the last kernel values may be zero in all rows
    K.resize(n, max(K.shape[1], (n if training else model.n_features_in_) + 1))
    K = K.toarray()
    if training and (K.shape[1] != n + 1 or not np.array_equal(K[:, 0], np.arange(1, n + 1))):
        raise ValueError(
            f"{data.source} is not a precomputed kernel: row i must begin with 0:i and hold "
            f"1:K(i,1) to {n}:K(i,{n})"
        )
    return data._replace(X=np.ascontiguousarray(K[:, 1:]))


def target_of(model: Any, data: Data) -> Any:
    """Return the targets that a classifier or a regressor is fitted to."""
    y = with_target(data)
    if not is_classifier(model):
        return numbers(y, data)
    found = labels(y)
    if found.dtype.kind == "f" and (found != np.round(found)).any():
        raise ValueError(
            f"{data.source} has targets like {found[found != np.round(found)][0]:g}, which are not "
            "classes: --problem svr?"
        )
    classes = np.unique(found).tolist()
    if len(classes) < 2:
        raise ValueError(
            f"all targets of {data.source} are {classes[0]!r}: classification needs at least two "
            "classes (or use --problem one-class)"
        )
    weights = model.class_weight if isinstance(getattr(model, "class_weight", None), dict) else {}
    unknown = [label for label in weights if label not in classes]
    if unknown:
        raise ValueError(
            f"the class weights name {unknown[0]!r}, the classes of {data.source} are "
            f"{', '.join(map(repr, classes[:20]))}"
        )
    return found


def folds_of(model: Any, y: Any, count: int, seed: int) -> StratifiedKFold | KFold:
    """Return the folds of a cross-validation, stratified for classifiers."""
    if len(y) < count:
        raise ValueError(
            f"{count} folds need at least {count} samples, there are {len(y)}: use fewer folds"
        )
    if is_classifier(model):
        least = np.unique(y, return_counts=True)[1].min()
        if least < count:
            raise ValueError(
                f"{count} folds need at least {count} samples of each class, the smallest class "
                f"has {least}: use fewer folds"
            )
    return (StratifiedKFold if is_classifier(model) else KFold)(
        count, shuffle=True, random_state=seed
    )


def by_folds(
    model: Any, X: Any, y: Any, count: int, seed: int, weight: Any = None
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield for each fold its samples, a model fitted to the others, and the fold's rows for it."""
    for inside, outside in folds_of(model, y, count, seed).split(X, y):
        columns = inside if takes_kernel(model) else slice(None)
        own = weights(None if weight is None else weight[inside])
        yield (
            outside,
            clone(model).set_params(verbose=0).fit(X[inside][:, columns], y[inside], **own),
            X[outside][:, columns],
        )


def numbers(y: Any, data: Data) -> Any:
    """Return the targets of a regression as numbers."""
    try:
        return np.asarray(y, dtype=np.float64)
    except ValueError:
        raise ValueError(
            f"{data.source} has targets that are not numbers: use a classifier, not a regression"
        ) from None


def scores(model: Any, predicted: Any, y: Any, weight: Any = None) -> dict[str, Any]:
    """Score predictions: accuracy of a classifier, errors of a regression.

    A one-class model has the share inside, and accuracy if y is +-1. Sample weights weight the
    means.
    """

    def mean(values: Any) -> float:
        return float(np.average(values, weights=weight))

    if is_regressor(model):
        z = np.asarray(y, float)
        difference, spread = z - predicted, mean((z - mean(z)) ** 2)
        found = {
            "mean_squared_error": mean(difference**2),
            "mean_absolute_error": mean(np.abs(difference)),
        }
        return {**found, "r2": 1 - mean(difference**2) / spread if spread > 0 else None}
    if is_outlier_detector(model):
        found = {"inside": mean(predicted > 0)}
        known = y is not None and np.isin(y, (-1, 1)).all()
        return {**found, "accuracy": mean(predicted == y)} if known else found
    right = np.asarray(predicted) == np.asarray(y)
    return {"accuracy": mean(right), "correct": f"{int(right.sum())} of {len(right)}"}


# ---- files ---------------------------------------------------------------------------------------


def model_format(path: Path, asked: str | None, model: Any) -> str:
    """Return mm, libsvm or liblinear: as asked, or by the name's suffix, which must be theirs."""
    if asked is not None:
        return one_of("--format", asked, FORMATS)
    if path.suffix == ".mm":
        return "mm"
    if ending_of(path) == ".model":
        return "liblinear" if isinstance(model, LINEAR) else "libsvm"
    pickle = " (joblib.dump writes pickles, in Python)" if path.suffix in PICKLES else ""
    raise usage(
        f"{path} is the name of another kind of file{pickle}: use the suffix .mm or .model."
    )


def save_model(model: Any, path: Path, format: str) -> None:
    """Write a model file."""
    from maxmargin import io

    {"mm": io.save, "libsvm": io.save_libsvm, "liblinear": io.save_liblinear}[format](model, path)


def load_model(path: str) -> Any:
    """Read a model file of any format."""
    from maxmargin import io
    from maxmargin.io.files import require_file

    require_file(Path(path))
    return io.load(path)


def widened(model: Any, path: str, width: int) -> Any:
    """Return the model for data with this many features.

    A LIBSVM file does not hold the number of features; those it does not name are zero.
    """
    from maxmargin import io
    from maxmargin.io.files import open_read

    if width <= model.n_features_in_:
        return model
    with open_read(Path(path)) as file:
        libsvm = file.read(8) == b"svm_type"
    return io.load_libsvm(path, n_features=width) if libsvm else model


def names_of(model: Any) -> list[str] | None:
    """Return the names of a model's features, if it has some."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def target_name(model: Any) -> str | None:
    """Return the name of the target that a model was trained on, if it has one."""
    name = getattr(model, "target_name_", None)
    return name if isinstance(name, str) else None


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
    machine = getattr(model, "model_", None)
    dense = machine is not None and not machine.sparse
    return data.X.toarray() if dense and sparse.issparse(data.X) else data.X


def certificate_report(model: Any) -> dict[str, Any] | None:
    """Describe the certificate for a report."""
    certificate = getattr(model, "certificate_", None)
    if certificate is None:
        return None
    names = ("status", "primal", "dual", "gap", "relative_gap", "kkt_violation", "n_iter")
    return {name: getattr(certificate, name) for name in names}
