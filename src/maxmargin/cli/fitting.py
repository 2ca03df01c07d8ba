"""Fitting and scoring a model on the data of a command, with weights, kernels and folds."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from maxmargin.cli.errors import usage
from maxmargin.cli.options import labels, one_of, with_target
from maxmargin.io.preparation import is_prepared
from maxmargin.io.table_columns import Data
from maxmargin.metrics import kendall_tau_score, ndcg_score
from maxmargin.model_selection.scaling import scaler_of

SCALINGS = ("standard", "minmax")


def fit(model: Any, data: Data, scale: str | None = None) -> Any:
    """Fit a model to data, with targets if the problem has some.

    Return it, or the pipeline of its scaling and it. It remembers the features' names, as with a
    data frame.
    """
    y = None if is_outlier_detector(model) else target_of(model, data)
    found = fit_scaled(model, data.X, y, data.weight, scale, queries_of(model, data))
    if data.names:
        first = found[0] if is_prepared(found) else found
        first.feature_names_in_ = np.array(data.names, dtype=object)
    if data.target is not None:
        model.target_name_ = data.target
    return found


def fit_scaled(model: Any, X: Any, y: Any, weight: Any, scale: str | None, qid: Any = None) -> Any:
    """Return the fitted model, or the pipeline of a fitted scaler and it."""
    more = weights(weight) | ({} if qid is None else {"qid": qid})
    if scale is None:
        return model.fit(X, y, **more)
    scaler = scaler_of(scale, X, y, weight)
    model.fit(scaler.transform(X), y, **more)
    return Pipeline([("scale", scaler), (type(model).__name__.lower(), model)])


def is_ranker(model: Any) -> bool:
    """Whether it ranks the samples of each query."""
    return bool(get_tags(model).estimator_type == "ranker")


def queries_of(model: Any, data: Data) -> Any:
    """Return the query of each sample for a ranker; None for other models, and for one query."""
    return data.queries if is_ranker(model) else None


def check_scale(model: Any, scale: str | None) -> None:
    """Raise an error for a scaling that is unknown or has nothing to scale."""
    if scale is None:
        return
    one_of("--scale", scale, SCALINGS)
    if takes_kernel(model):
        raise usage("--scale needs features: --kernel precomputed has kernel values alone.")


def weights(weight: Any) -> dict[str, Any]:
    """Return sample weights, if there are some, as keyword arguments."""
    return {} if weight is None else {"sample_weight": weight}


def check_weight(model: Any, problem: str, weight: str | None) -> None:
    """Raise an error if weights are given that the estimator cannot use."""
    if weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise usage(
            f"{problem} takes no sample weights: leave --weight out, or choose another --problem."
        )


def check_query(model: Any, problem: str, query: str | None) -> None:
    """Raise an error if queries are given to a model that does not rank."""
    if query is not None and not is_ranker(model):
        raise usage(f"{problem} has no queries: leave --query out, or use --problem rank-svc.")


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


def query_folds(qid: Any, count: int, seed: int) -> GroupKFold:
    """Return the folds of a cross-validation of a ranker: queries are not divided."""
    queries = 1 if qid is None else len(np.unique(qid))
    if queries < count:
        raise ValueError(
            f"{count} folds of a ranking need at least {count} queries (qid), there are {queries}: "
            "use fewer folds"
        )
    return GroupKFold(count, shuffle=True, random_state=seed)


def by_folds(
    model: Any,
    X: Any,
    y: Any,
    count: int,
    seed: int,
    weight: Any = None,
    scale: str | None = None,
    qid: Any = None,
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield for each fold its samples, a model fitted to the others, and the fold's rows for it."""
    ranks = is_ranker(model)
    folds = query_folds(qid, count, seed) if ranks else folds_of(model, y, count, seed)
    for inside, outside in folds.split(X, y, **({"groups": qid} if ranks else {})):
        columns = inside if takes_kernel(model) else slice(None)
        own = None if weight is None else weight[inside]
        new = clone(model).set_params(verbose=0)
        own_queries = None if qid is None else qid[inside]
        fitted = fit_scaled(new, X[inside][:, columns], y[inside], own, scale, own_queries)
        yield outside, fitted, X[outside][:, columns]


def numbers(y: Any, data: Data) -> Any:
    """Return the targets of a regression as numbers."""
    try:
        return np.asarray(y, dtype=np.float64)
    except ValueError:
        raise ValueError(
            f"{data.source} has targets that are not numbers: use a classifier, not a regression"
        ) from None


def rank_scores(predicted: Any, y: Any, qid: Any) -> dict[str, Any]:
    """Score a ranking; nothing is known where all targets of each query are equal."""
    z, query = np.asarray(y, float), np.zeros(len(y), int) if qid is None else np.asarray(qid)
    kept = len(np.unique(np.column_stack([query, z]), axis=0)) > len(np.unique(query))
    if not kept:
        return {}
    found = {"kendall_tau": kendall_tau_score(z, predicted, qid=query)}
    return {**found, "ndcg": ndcg_score(z, predicted, qid=query)} if z.min() >= 0 else found


def scores(
    model: Any, predicted: Any, y: Any, weight: Any = None, qid: Any = None
) -> dict[str, Any]:
    """Score predictions: accuracy of a classifier, errors of a regression.

    A one-class model has the share inside, and accuracy if y is +-1, a ranking the means over
    queries. Sample weights weight the means, but not those of a ranking.
    """
    if is_ranker(model):
        return rank_scores(predicted, y, qid)

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
