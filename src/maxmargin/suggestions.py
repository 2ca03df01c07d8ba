"""What a wrong word was probably meant to be, for the ends of error messages.

In this order: the same word in other letters (RBF, Squared-Hinge), another name of the same thing
(gaussian), a beginning or a longer form (polynomial), a slip of the pen (laplacain).
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
"""Other names, letters and digits only, of words that options know; each serves whatever option
knows its word."""
MIN_PREFIX = 3
"""Letters that a beginning needs to say something."""
SIMILAR = 0.75
"""Share of the letters that a slip of the pen leaves (the ratio of difflib)."""


def closest(word: Any, known: Iterable[str]) -> str | None:
    """The word among those known that was probably meant; None if nothing suggests itself."""
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
    """A question for the end of a message, after a blank; empty if nothing suggests itself."""
    found = closest(word, known)
    return "" if found is None else f" Did you mean {found!r}?"


def _letters(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


def _begins(a: str, b: str) -> bool:
    return a.startswith(b) or b.startswith(a)
