"""The cases: a plain table. Each is a data set, a problem, its parameters and the groups it belongs
to.

``SELECT`` words choose cases by substring of the name or of a group: "magic" takes every case on
magic, "sweep" both C sweeps, "predict" those whose prediction is timed; a whole name takes that
case alone. The groups:

    table     the cases of the design's table          problems  regression, one-class, nu-SVC, ...
    sweep     C in decades on covtype10k and magic     size      n from 100 to 19,020 on magic
    input     float32 and dense input                  tol       tolerances 1e-3 and 1e-6
    middle    generated sets of 2,200 to 10,000 rows, on which no constant was chosen
    predict   prediction of 5,000 rows is timed too    quick     the short run
"""

from typing import Any, NamedTuple

from synthetic import MIDDLE


class Case(NamedTuple):
    """One fit."""

    name: str
    data: str
    problem: str
    """The estimator, by scikit-learn's name."""
    parameters: dict[str, Any]
    groups: tuple[str, ...]
    n: int | None = None
    """Number of rows, the first of a fixed permutation; None for all."""
    tol: float = 1e-3
    dtype: str = "float64"
    """What maxmargin is given; each peer is given what is best for it."""
    dense: bool = False
    """Give maxmargin the dense form of sparse data."""
    easier: str = ""
    """Name of an easier case: a library that ran out of time there is not run here."""

    @property
    def predicts(self) -> bool:
        """Whether prediction is timed."""
        return "predict" in self.groups


def _sweep(data: str, gamma: float, also: dict[int, tuple[str, ...]]) -> list[Case]:
    """C from 1e-2 to 1e5; ``also`` names further groups of single decades."""
    cases: list[Case] = []
    for decade in range(-2, 6):
        easier = cases[-1].name if cases and decade > 1 else ""
        groups = ("sweep", *also.get(decade, ()))
        cases.append(
            Case(
                f"{data} C={10.0**decade:g}",
                data,
                "SVC",
                {"C": 10.0**decade, "gamma": gamma},
                groups,
                easier=easier,
            )
        )
    return cases


_MAGIC = {"C": 10.0, "gamma": 0.1}
_COVTYPE = {"C": 10.0, "gamma": 1.0}
_CUBIC = {"C": 1.0, "kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.1}

CASES: list[Case] = [
    *_sweep("covtype10k", 1.0, {1: ("table", "tol", "predict", "quick"), 4: ("table", "quick")}),
    *_sweep("magic", 0.1, {1: ("table", "tol", "size", "predict", "quick")}),
    Case(
        "a9a C=1", "a9a", "SVC", {"C": 1.0, "gamma": 0.05}, ("table", "input", "predict", "quick")
    ),
    Case("a9a C=100 g=0.5", "a9a", "SVC", {"C": 100.0, "gamma": 0.5}, ("table",), easier="a9a C=1"),
    Case(
        "a9a dense",
        "a9a",
        "SVC",
        {"C": 1.0, "gamma": 0.05},
        ("input",),
        dense=True,
        easier="a9a C=1",
    ),
    Case("skin C=10", "skin", "SVC", {"C": 10.0, "gamma": 1.0}, ("table",)),
    Case(
        "mnist10k C=10",
        "mnist10k",
        "SVC",
        {"C": 10.0, "gamma": 0.02},
        ("table", "predict", "quick"),
    ),
    Case("letter C=10", "letter", "SVC", {"C": 10.0, "gamma": 0.1}, ("table", "predict", "quick")),
    Case(
        "housing SVR",
        "housing",
        "SVR",
        {"C": 10.0, "gamma": 0.1, "epsilon": 0.1},
        ("problems", "predict", "quick"),
    ),
    Case(
        "magic one-class", "magic", "OneClassSVM", {"nu": 0.1, "gamma": 0.1}, ("problems", "quick")
    ),
    Case("magic nu-SVC", "magic", "NuSVC", {"nu": 0.3, "gamma": 0.1}, ("problems", "quick")),
    Case("magic poly", "magic", "SVC", _CUBIC, ("problems",), easier="magic C=10"),
    Case(
        "magic linear",
        "magic",
        "SVC",
        {"C": 1.0, "kernel": "linear"},
        ("problems", "quick"),
        easier="magic C=10",
    ),
    *[
        Case(
            f"magic n={n}",
            "magic",
            "SVC",
            _MAGIC,
            ("size", *(("quick",) if n in (100, 1000) else ())),
            n=n,
        )
        for n in (100, 300, 1000, 3000, 10000)
    ],
    *[
        Case(f"{name} C={C:g}", name, "SVC", {"C": C, "gamma": gamma}, ("middle",))
        for name, (_, C, gamma) in MIDDLE.items()
    ],
    Case(
        "covtype10k float32",
        "covtype10k",
        "SVC",
        _COVTYPE,
        ("input",),
        dtype="float32",
        easier="covtype10k C=10",
    ),
    Case(
        "housing SVR float32",
        "housing",
        "SVR",
        {"C": 10.0, "gamma": 0.1, "epsilon": 0.1},
        ("input", "predict"),
        dtype="float32",
        easier="housing SVR",
    ),
    Case(
        "covtype10k tol=1e-6",
        "covtype10k",
        "SVC",
        _COVTYPE,
        ("tol",),
        tol=1e-6,
        easier="covtype10k C=10",
    ),
    Case("magic tol=1e-6", "magic", "SVC", _MAGIC, ("tol",), tol=1e-6, easier="magic C=10"),
]

QUICK_ROWS = 3000
"""Rows of a case in the short run."""


def select(words: list[str], quick: bool = False) -> list[Case]:
    """Cases whose name or groups contain one of the words; all without words.

    ``quick`` takes the short run's, subsampled.
    """
    names = {c.name for c in CASES}

    def matches(word: str, case: Case) -> bool:
        return (
            case.name == word
            if word in names
            else any(word in text for text in (case.name, *case.groups))
        )

    found = [c for c in CASES if not words or any(matches(word, c) for word in words)]
    if quick:
        found = [
            c._replace(n=min(c.n or QUICK_ROWS, QUICK_ROWS)) for c in found if "quick" in c.groups
        ]
    return found
