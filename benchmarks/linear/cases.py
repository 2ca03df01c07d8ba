"""The linear cases: a plain table, chosen by words as the others are (cases.py). The groups:

table    the cases of the main table            growth   more and more rows of one data set
hinge, squared, l1, regression, multiclass      by what is solved
quick    at most QUICK_ROWS rows, for a look at whether everything runs

Constants of our solvers were chosen on the sets CHOSEN_ON (decision 15): the headline is given
without them, too.
"""

from typing import Any, NamedTuple

TARGETS = (1e-4, 1e-6)
"""How near to the least objective a library must come, relative."""


CHOSEN_ON = ("a9a", "magic", "mnist10k", "text")
"""Data sets on which constants of our solvers were chosen."""


class LinearCase(NamedTuple):
    """One linear model; the parameters are scikit-learn's."""

    name: str
    data: str
    problem: str
    """LinearSVC or LinearSVR."""
    parameters: dict[str, Any]
    groups: tuple[str, ...] = ("table",)
    n: int | None = None
    """Number of rows, the first of a fixed permutation; None for all."""


def _svc(
    data: str, loss: str, C: float = 1.0, penalty: str = "l2", n: int | None = None, **more: Any
) -> LinearCase:
    kind = {"hinge": "hinge", "squared_hinge": "squared"}[loss]
    short = "l1" if penalty == "l1" else kind
    size = "" if n is None else f" n={n}"
    name = f"{data} {short}" + ("" if C == 1 else f" C={C:g}") + size
    groups = ("table" if n is None else "growth", short)
    return LinearCase(
        name, data, "LinearSVC", {"loss": loss, "penalty": penalty, "C": C, **more}, groups, n
    )


def _svr(data: str, squared: bool) -> LinearCase:
    loss = "squared_epsilon_insensitive" if squared else "epsilon_insensitive"
    parameters = {"loss": loss, "C": 1.0, "epsilon": 0.1}
    return LinearCase(
        f"{data} SVR" + (" squared" if squared else ""),
        data,
        "LinearSVR",
        parameters,
        ("table", "regression"),
    )


_CRAMMER = {"multi_class": "crammer_singer", "C": 1.0, "loss": "hinge", "penalty": "l2"}

CASES: list[LinearCase] = [
    *[_svc("a9a", loss, C) for C in (1.0, 100.0) for loss in ("hinge", "squared_hinge")],
    _svc("a9a", "squared_hinge", penalty="l1"),
    *[_svc("magic", loss) for loss in ("hinge", "squared_hinge")],
    *[_svc("mnist10k", loss) for loss in ("hinge", "squared_hinge")],
    LinearCase(
        "mnist10k Crammer-Singer", "mnist10k", "LinearSVC", _CRAMMER, ("table", "multiclass")
    ),
    *[_svc("covtype10k", loss) for loss in ("hinge", "squared_hinge")],
    _svc("skin", "hinge"),
    _svc("letter", "squared_hinge"),
    *[_svr("housing", squared) for squared in (False, True)],
    *[_svr("regression", squared) for squared in (False, True)],
    *[_svc("text", "hinge", n=n) for n in (12_500, 25_000, 50_000, 100_000)],
    *[
        _svc("text", loss)._replace(groups=("table", "growth", loss))
        for loss in ("hinge", "squared_hinge")
    ],
    _svc("text", "squared_hinge", penalty="l1"),
    *[_svc("dense1m", "hinge", n=n) for n in (10_000, 30_000, 100_000, 300_000)],
    *[
        _svc("dense1m", loss)._replace(groups=("table", "growth", loss))
        for loss in ("hinge", "squared_hinge")
    ],
]

QUICK_ROWS = 2000


def select(words: list[str], quick: bool = False) -> list[LinearCase]:
    """Cases whose name or groups contain one of the words; all without words.

    ``quick`` takes few rows of those of the main table.
    """
    names = {c.name for c in CASES}

    def matches(word: str, case: LinearCase) -> bool:
        return (
            case.name == word
            if word in names
            else any(word in text for text in (case.name, *case.groups))
        )

    found = [c for c in CASES if not words or any(matches(word, c) for word in words)]
    return [c._replace(n=QUICK_ROWS) for c in found if "table" in c.groups] if quick else found
