"""``maxmargin inspect``: what a model file holds."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.cli import model_files, problems
from maxmargin.cli.options import AsJson, ModelFile
from maxmargin.cli.reports import show
from maxmargin.io.preparation import parts_of


def inspect(model: ModelFile, as_json: AsJson = False) -> None:
    """Show a model: its kernel and parameters, support vectors, certificate and size.

    Examples:

      maxmargin inspect train.svm.mm

      maxmargin inspect libsvm.model --json
    """
    show(summary(model_files.load_model(model), Path(model)), as_json)


def summary(model: Any, path: Path) -> dict[str, Any]:
    """The report."""
    whole, model = model, parts_of(model)[1]
    kernel = getattr(model, "kernel_", None)
    certificate = getattr(model, "certificate_", None)
    return {
        "file": f"{path}, {path.stat().st_size:,} bytes",
        "scaling": model_files.scaling_report(whole),
        "estimator": type(model).__name__,
        "parameters": _changed(model),
        "kernel": None if kernel is None else str(kernel),
        "features": int(model.n_features_in_),
        "names": model_files.names_of(whole),
        "target": model_files.target_name(whole),
        "classes": getattr(model, "classes_", np.empty(0)).tolist() or None,
        "probabilities": hasattr(model, "predict_proba") or None,
        "support_vectors": _support(model),
        "non_zero_weights": _weights(model),
        "intercept": [float(value) for value in np.ravel(getattr(model, "intercept_", []))[:10]],
        "certificate": None if certificate is None else str(certificate),
    }


def _changed(model: Any) -> dict[str, Any] | None:
    """Parameters that are not the defaults."""
    defaults = type(model)().get_params()
    found = {
        name: value
        for name, value in model.get_params().items()
        if repr(value) != repr(defaults.get(name)) and name != "verbose"
    }
    return found or None


def _support(model: Any) -> Any:
    counts = getattr(model, "n_support_", None)
    # online models have one count for all classes
    if counts is not None and len(counts) == len(getattr(model, "classes_", ())):
        return {
            "total": int(np.sum(counts)),
            **{str(label): int(count) for label, count in zip(model.classes_, counts, strict=True)},
        }
    vectors = getattr(model, "support_vectors_", None)
    return None if vectors is None else {"total": int(vectors.shape[0])}


def _weights(model: Any) -> str | None:
    if not isinstance(model, problems.LINEAR):
        return None
    coef = model.coef_
    return (
        f"{coef.nnz if sparse.issparse(coef) else np.count_nonzero(coef):,} of "
        f"{np.prod(coef.shape):,}"
    )
