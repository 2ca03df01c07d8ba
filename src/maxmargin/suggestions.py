"""Suggestions for misspelt options, at the end of error messages.

In this order: the same word in other letters (RBF, Squared-Hinge), a synonym (gaussian), a prefix
or a longer form (polynomial), a typing error (laplacain).
"""

import difflib
import re
from collections.abc import Iterable
from typing import Any

SYNONYMS = {
    "gaussian": "rbf",
    "gauss": "rbf",
    "radial": "rbf",
    "radialbasisfunction": "rbf",
    "squaredexponential": "rbf",
    "tanh": "sigmoid",
    "dot": "linear",
    "dotproduct": "linear",
    "quadratic": "poly",
    "cubic": "poly",
    "chisquared": "chi2",
    "chisquare": "chi2",
    "matrix": "precomputed",
    "onevsrest": "ovr",
    "oneversusrest": "ovr",
    "onevsall": "ovr",
    "ova": "ovr",
    "onevsone": "ovo",
    "oneversusone": "ovo",
    "penalised": "regularised",
    "penalized": "regularised",
    "unpenalised": "free",
    "unpenalized": "free",
    "lasso": "l1",
    "ridge": "l2",
    "smo": "block",
    "libsvm": "block",
    "primal": "newton",
    "liblinear": "coordinate",
    "tube": "epsilon_insensitive",
    "weighted": "balanced",
    "csvc": "svc",
    "regression": "svr",
    "oneclasssvm": "one-class",
    "text": "svmlight",
    "pickle": "mm",
}
"""Synonyms, in letters and digits only, of the values of options."""
MIN_PREFIX = 3
"""Letters of a prefix, at least."""
SIMILAR = 0.75
"""Similarity (the ratio of difflib) of a word and a misspelling of it, at least."""


def closest(word: Any, known: Iterable[str]) -> str | None:
    """The known word that was probably meant; None if none is near."""
    if not isinstance(word, str):
        return None
    plain, options = _letters(word), {_letters(option): option for option in known}
    if not plain:
        return None
    if plain in options:
        return options[plain]
    if _letters(SYNONYMS.get(plain, "")) in options:
        return options[_letters(SYNONYMS[plain])]
    begun = [
        option
        for text, option in options.items()
        if min(len(text), len(plain)) >= MIN_PREFIX and _begins(text, plain)
    ]
    if len(begun) == 1:
        return begun[0]
    similar = difflib.get_close_matches(plain, options, n=1, cutoff=SIMILAR)
    return options[similar[0]] if similar else None


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """The question that ends a message; empty if no known word is near."""
    found = closest(word, known)
    return "" if found is None else f" Did you mean {found!r}?"


def _letters(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


def _begins(a: str, b: str) -> bool:
    return a.startswith(b) or b.startswith(a)
