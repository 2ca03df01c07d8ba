"""The doctor: what is wrong with data before a fit, with numbers and a remedy for each finding."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_consistent_length, column_or_1d

from maxmargin.estimators import SVC, SVR
from maxmargin.kernel.cache import free_memory
from maxmargin.model_selection import findings
from maxmargin.model_selection.explorer import quietly
from maxmargin.model_selection.findings import Finding
from maxmargin.model_selection.subsamples import Samples, nested_order
from maxmargin.model_selection.table_columns import read_table
from maxmargin.model_selection.tables import TablePreparation
from maxmargin.model_selection.trials import Cost


class Settings(NamedTuple):
    """Subsamples on which the time of a fit is measured."""

    small: int = 500
    large: int = 1000
    few: int = 20
    """A whole-numbered y with at most this many values, or one for each twenty samples, is taken
    for classes."""


SETTINGS = Settings()


@dataclass(frozen=True)
class Diagnosis:
    """What was found in data.

    Attributes
    ----------
    findings : tuple of Finding
        Each has a ``name``, a ``text`` with numbers, a ``remedy`` and a ``level``: "problem" (a fit
        fails), "advice" (a fit is worse than it need be) or "note".

    See Also
    --------
    diagnose : makes it.

    Examples
    --------
    >>> from maxmargin.model_selection import diagnose
    >>> diagnosis = diagnose([[1, 2000], [2, 3000], [1, 2000]], [0, 1, 1], cost=False)
    >>> [(finding.name, finding.level) for finding in diagnosis.findings]
    [('unscaled', 'advice'), ('small classes', 'advice'), ('contradictions', 'advice'),
     ('kernel', 'note')]
    """

    findings: tuple[Finding, ...]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, name: str) -> Finding:
        """The finding of a name."""
        for one in self.findings:
            if one.name == name:
                return one
        raise KeyError(f"{name!r}; found were: {', '.join(one.name for one in self.findings)}")

    def __contains__(self, name: object) -> bool:
        return any(one.name == name for one in self.findings)

    def __str__(self) -> str:
        if not self.findings:
            return "Nothing to mend was found in the data."
        return "\n".join(
            fill(f"{one.level}: {one}", 96, subsequent_indent="  ") for one in self.findings
        )

    def _repr_html_(self) -> str:
        rows = (f"<li><b>{one.level}</b>: {escape(str(one))}</li>" for one in self.findings)
        return f"<ul>{''.join(rows)}</ul>"


def diagnose(
    X: Any, y: Any = None, *, task: str = "auto", nu: float | None = None, cost: bool = True
) -> Diagnosis:
    """Examine data before an SVM is fitted to them.

    Finds missing and infinite values, constant and unscaled columns, words that are numbers,
    identifiers, copies of samples that contradict each other, small and single classes, a nu that
    is infeasible; says which kernel suits the numbers of features and samples, and predicts the
    time and memory of a fit.

    Parameters
    ----------
    X : table of shape (n_samples, n_columns)
        A frame of pandas or polars, an array or a sparse matrix: numbers, words, missing values.
    y : array-like of shape (n_samples,), default=None
        Labels or targets.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; "auto" decides by its values.
    nu : float, default=None
        The nu of a NuSVC that is to be fitted.
    cost : bool, default=True
        Whether to predict the time of a fit: subsamples of up to 1,000 samples are fitted.

    Returns
    -------
    diagnosis : Diagnosis
        The findings; ``print`` shows them.

    Examples
    --------
    >>> from maxmargin.model_selection import diagnose
    >>> print(diagnose([[1, 2000], [2, 3000], [1, 2000]], [0, 1, 1], cost=False)["contradictions"])
    2 samples are copies of others with another label: no model can be right about more than 66.7%
    of the training samples. Look at these samples, or add features that tell them apart.
    """
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"task must be 'auto', 'classification' or 'regression', got {task!r}.")
    infinite = findings.infinite(X)
    if infinite is not None:
        return Diagnosis((infinite,))
    if y is not None:
        y = column_or_1d(y)
        check_consistent_length(X, y)
        classes = task == "classification" or (task == "auto" and looks_like_classes(y))
    else:
        classes = False
    features = TablePreparation().fit_transform(X)
    found = of_samples(X, features, y, classes, nu)
    if cost and y is not None and not any(one.level == "problem" for one in found):
        found.append(_cost(features, y, classes))
    return Diagnosis(tuple(found))


def of_samples(
    X: Any, features: Any, y: NDArray[Any] | None, classes: bool, nu: float | None = None
) -> list[Finding]:
    """The findings that need no fit, from a table and the features that were made of it."""
    table = read_table(X)
    found = [
        findings.missing(table),
        findings.constant(table),
        findings.unscaled(table),
        findings.numbers_as_words(table),
        findings.identifiers(table),
    ]
    if y is not None and classes:
        found += [findings.classes(y), findings.imbalance(y), findings.infeasible(y, nu)]
    if y is not None:
        found.append(findings.contradictions(features, y, classes))
    found.append(findings.kernel(*features.shape))
    return [one for one in found if one is not None]


def looks_like_classes(y: NDArray[Any]) -> bool:
    """Whether targets are labels: words, booleans, or few whole numbers."""
    if y.dtype.kind in "USOb":
        return True
    numbers = np.asarray(y, np.float64)
    if not np.isfinite(numbers).all() or (numbers != np.round(numbers)).any():
        return False
    return len(np.unique(numbers)) <= max(SETTINGS.few, len(numbers) // 20)


def _cost(features: Any, y: NDArray[Any], classes: bool) -> Finding:
    """Predicted time and memory of a fit with default parameters, from fits on subsamples."""
    n, d = features.shape
    random = np.random.RandomState(0)
    folds = [(np.arange(n), np.arange(n))]
    samples = Samples(features, y, None, folds, nested_order(y, folds, classes, random))
    cost: Cost | None = None
    for m in sorted({min(n, SETTINGS.small), min(n, SETTINGS.large)}):
        part, machine = samples.part(m), clone(SVC() if classes else SVR())
        began = time.perf_counter()
        with quietly():
            machine.fit(part.X, part.y)
        seconds = time.perf_counter() - began
        cost = Cost(m, seconds) if cost is None else cost.then(m, seconds)
    assert cost is not None
    memory = 12.0 * n * d + min(4.0 * n * n, max(200e6, free_memory() / 4))
    return findings.cost(n, cost, memory)
