"""Each thing that the doctor looks for: a function that returns a finding, or None.

Contradictions. Samples with equal features get equal predictions. In a group of equal samples all
but the most frequent label are wrong, whatever the model:

    training error >= 1/n sum over groups (size - count of the most frequent label)

For a regression the group's mean is best, so the mean squared error is at least the mean squared
deviation from the groups' means.

Feasible nu. A machine of two classes of a and b samples has a solution for nu <= 2 min(a, b) / (a +
b) (Chang and Lin 2001); one-versus-one needs it for every pair.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.estimators._probability import sample_keys
from maxmargin.model_selection.table_columns import Table, infinite_columns
from maxmargin.model_selection.trials import Cost


class Settings(NamedTuple):
    """Thresholds."""

    unscaled: float = 100.0
    """Columns whose greatest magnitudes differ by more than this factor need scaling; the same in
    `maxmargin check`."""
    rare: float = 0.1
    """A class with a smaller share of the samples is called small."""
    few: int = 5
    """A class with fewer samples cannot be in every fold of a cross-validation."""
    readable: float = 0.9
    """A column of words of which this share reads as numbers is suspicious."""
    distinct: float = 0.9
    """A column of words with this share of distinct values looks like an identifier."""
    large: int = 50_000
    """More samples than this are many for an exact kernel machine."""
    slow: float = 60.0
    """Seconds of a fit from which on the remedy speaks of less."""


SETTINGS = Settings()
SHOWN = 5
"""Names of columns or classes in a sentence."""


class Finding(NamedTuple):
    """One thing that was found."""

    name: str
    text: str
    remedy: str
    level: str = "advice"
    """ "problem", "advice" or "note"."""

    def __str__(self) -> str:
        return f"{self.text} {self.remedy}"


def listed(names: Any) -> str:
    """The first few names, and how many more there are."""
    names = [str(name) for name in names]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def infinite(X: Any) -> Finding | None:
    """Infinite values."""
    found = infinite_columns(X)
    if not found:
        return None
    return Finding(
        "infinite",
        f"X has {sum(found.values())} infinite values, in {listed(found)}.",
        "Replace them by NaN, which counts as missing, or by the greatest value that can occur.",
        "problem",
    )


def missing(table: Table) -> Finding | None:
    """Missing values."""
    counts = table.missing()
    if not counts.any():
        return None
    names = [name for name, count in zip(table.names, counts, strict=True) if count]
    share = counts.sum() / (table.numbers.shape[0] * len(table.names))
    return Finding(
        "missing",
        f"{int(counts.sum())} values ({share:.1%}) are missing, in {listed(names)}.",
        "AutoSVC and AutoSVR fill them in; for other estimators use SimpleImputer.",
    )


def _ends(table: Table) -> tuple[NDArray[Any], NDArray[Any]]:
    """Least and greatest value of each column of numbers; NaN where all are missing."""
    numbers = table.numbers
    if sparse.issparse(numbers):
        with np.errstate(invalid="ignore"):
            ends = [end.toarray().ravel() for end in (numbers.min(axis=0), numbers.max(axis=0))]
        return ends[0], ends[1]
    known = np.isfinite(numbers).any(axis=0)
    filled = np.where(known, numbers, 0.0)
    return np.nanmin(filled, axis=0), np.nanmax(filled, axis=0)


def constant(table: Table) -> Finding | None:
    """Columns with one value."""
    least, greatest = _ends(table)
    names = [name for name, kind in zip(table.names, table.is_number, strict=True) if kind]
    found = [name for name, a, b in zip(names, least, greatest, strict=True) if a == b]
    words = [name for name, kind in zip(table.names, table.is_number, strict=True) if not kind]
    found += [
        name for name, column in zip(words, table.categories.T, strict=True) if len(set(column)) < 2
    ]
    if not found:
        return None
    are = "1 column is" if len(found) == 1 else f"{len(found)} columns are"
    return Finding(
        "constant", f"{are} constant and carry no information: {listed(found)}.", "Leave them out."
    )


def unscaled(table: Table) -> Finding | None:
    """Columns of numbers of very different magnitudes."""
    least, greatest = _ends(table)
    size = np.maximum(np.abs(least), np.abs(greatest))
    names = np.array(
        [name for name, kind in zip(table.names, table.is_number, strict=True) if kind]
    )
    used = (least < greatest) & (size > 0) & np.isfinite(size)
    if used.sum() < 2 or size[used].max() <= SETTINGS.unscaled * size[used].min():
        return None
    large, small = int(np.argmax(size[used])), int(np.argmin(size[used]))
    factor = size[used][large] / size[used][small]
    return Finding(
        "unscaled",
        f"Columns differ in size by a factor of {factor:.3g}: {names[used][large]} reaches "
        f"{size[used][large]:.3g}, {names[used][small]} only {size[used][small]:.3g}. The large "
        "ones decide every distance.",
        "AutoSVC and AutoSVR scale them; with other estimators use StandardScaler in a pipeline, "
        'or scale="standard" of the searches.',
    )


def numbers_as_words(table: Table) -> Finding | None:
    """Columns of words most of which are numbers."""
    found = []
    names = [name for name, kind in zip(table.names, table.is_number, strict=True) if not kind]
    for name, column in zip(names, table.categories.T, strict=True):
        values = {value for value in column if value is not None}
        unread = sorted(value for value in values if not _is_number(value))
        if len(values) >= 10 and len(unread) <= (1 - SETTINGS.readable) * len(values):
            found.append(f"{name} (but for {listed(unread)})" if unread else name)
    if not found:
        return None
    return Finding(
        "numbers as words",
        f"Columns of words hold numbers: {listed(found)}.",
        "If they are quantities, convert them, for example with pandas.to_numeric(column, "
        'errors="coerce"); codes may stay words.',
    )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def identifiers(table: Table) -> Finding | None:
    """Columns of words nearly all of which are different."""
    names = [name for name, kind in zip(table.names, table.is_number, strict=True) if not kind]
    n = len(table.categories)
    found = [
        name
        for name, column in zip(names, table.categories.T, strict=True)
        if n >= 20 and len(set(column)) >= SETTINGS.distinct * n
    ]
    if not found:
        return None
    return Finding(
        "identifiers",
        f"Nearly every sample has its own value of {listed(found)}.",
        "Leave out identifiers, and turn free text into features (TfidfVectorizer).",
    )


def classes(y: NDArray[Any]) -> Finding | None:
    """One class alone, or classes too small to be in every fold."""
    labels, counts = np.unique(y.astype(str) if y.dtype.kind == "O" else y, return_counts=True)
    if len(labels) < 2:
        return Finding(
            "one class",
            f"All {len(y)} labels are the same.",
            "A classifier needs at least two classes; OneClassSVM learns from one.",
            "problem",
        )
    few = labels[counts < SETTINGS.few]
    if not len(few):
        return None
    return Finding(
        "small classes",
        f"{len(few)} of {len(labels)} classes have fewer than {SETTINGS.few} samples: "
        f"{listed(few)}.",
        "Their scores are a matter of chance: collect more, or merge or leave out the classes.",
    )


def imbalance(y: NDArray[Any]) -> Finding | None:
    """A small class."""
    labels, counts = np.unique(y.astype(str) if y.dtype.kind == "O" else y, return_counts=True)
    share = counts / counts.sum()
    if len(labels) < 2 or share.min() >= min(SETTINGS.rare, 1 / (2 * len(labels))):
        return None
    return Finding(
        "imbalance",
        f"Class {labels[share.argmin()]} has {share.min():.2%} of the samples, and always "
        f"predicting {labels[share.argmax()]} is right for {share.max():.2%}.",
        'Judge by scoring="balanced_accuracy" or "roc_auc", and consider class_weight="balanced".',
    )


def greatest_nu(y: NDArray[Any]) -> float:
    """The greatest nu for which NuSVC has a solution for every pair of classes."""
    counts = np.sort(np.unique(y, return_counts=True)[1])
    return float(2 * counts[0] / (counts[0] + counts[-1])) if len(counts) > 1 else 0.0


def infeasible(y: NDArray[Any], nu: float | None) -> Finding | None:
    """A nu that is too large for the classes."""
    greatest = greatest_nu(y.astype(str) if y.dtype.kind == "O" else y)
    if nu is None or nu <= greatest:
        return None
    return Finding(
        "infeasible nu",
        f"nu = {nu:g} is infeasible: these classes allow at most {greatest:.4g}.",
        f"Use nu <= {np.floor(greatest * 1000) / 1000:g}, or SVC, whose C has no such limit.",
        "problem",
    )


def contradictions(features: Any, y: NDArray[Any], is_class: bool) -> Finding | None:
    """Samples that are equal in all features and differ in y; see the top of this file."""
    n = len(y)
    key = np.unique(sample_keys(None, features, 0, np.float64), return_inverse=True)[1]
    size = np.bincount(key)
    remedy = "Look at these samples, or add features that tell them apart."
    if is_class:
        label = np.unique(y.astype(str) if y.dtype.kind == "O" else y, return_inverse=True)[1]
        both, count = np.unique(key * (label.max() + 1) + label, return_counts=True)
        most = np.zeros(len(size), np.int64)
        np.maximum.at(most, both // (label.max() + 1), count)
        wrong, involved = int(n - most.sum()), int(size[most < size].sum())
        if not wrong:
            return None
        return Finding(
            "contradictions",
            f"{involved} samples are copies of others with another label: no model can be right "
            f"about more than {1 - wrong / n:.1%} of the training samples.",
            remedy,
        )
    z = np.asarray(y, np.float64)
    mean = np.bincount(key, weights=z) / size
    residual = (z - mean[key]) ** 2
    if not residual.sum() > 1e-12 * z.var() * n:
        return None
    involved = int(size[np.unique(key[residual > 0])].sum())
    return Finding(
        "contradictions",
        f"{involved} samples are copies of others with another target: no model can have an R^2 "
        f"above {1 - residual.mean() / z.var():.4f} on the training samples.",
        remedy,
    )


def kernel(n: int, d: int) -> Finding:
    """The rule of features against samples."""
    sizes = f"{d:,} features and {n:,} samples: "
    if d >= n:
        text = "with at least as many features as samples a linear kernel usually separates."
        remedy = "Try LinearSVC or LinearSVR first."
    elif n <= SETTINGS.large:
        text = "few features and a middling number of samples suit the RBF kernel."
        remedy = "Use SVC or SVR, and choose C and gamma by a search."
    else:
        text = "few features and many samples: the time of a kernel machine grows with n^2."
        remedy = "Use a linear machine, and add features (Nystroem, PolynomialFeatures)."
    return Finding("kernel", sizes + text, remedy, "note")


def cost(n: int, measured: Cost, memory: float) -> Finding:
    """Predicted time and memory of a fit."""
    seconds = measured.at(n)
    remedy = "A search over C and gamma takes many such fits: AutoSVC keeps to a time_budget."
    if seconds > SETTINGS.slow:
        remedy = "Use LinearSVC, a subsample, or a time_limit."
    return Finding(
        "cost",
        f"An RBF machine with default parameters takes about {seconds:.2g} s and "
        f"{max(memory / 1e6, 1):,.0f} MB on {n:,} samples (measured on {measured.samples:,}; the "
        f"time grows with n^{measured.exponent:.1f}).",
        remedy,
        "note",
    )
