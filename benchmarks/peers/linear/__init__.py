"""The libraries of linear models: how each is set for a case, and by what ladder it comes nearer to
the optimum.

An adapter is a module beside this one with the functions

    version()                  the library's version
    prepare(X, y, job)         the training data in the library's own form (timed apart)
    fit(data, job, options)    a fitted model (timed)
    solution(model)            coef, intercept, iterations

The job holds scikit-learn's parameters and the model's bias; the options are those of a rung. coef
has a row for each decision function, which is positive for class 1 or for class k.

A rung is a set of options; a ladder goes from loose to tight. Each library has the model it solves:
LIBLINEAR's with a regularised bias, or one with a free bias. This module needs only Python:
adapters are imported in environments that have no maxmargin.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from linear.cases import LinearCase

from peers import SKLEARN, Library

Rung = dict[str, Any]
REGULARISED, FREE = "regularised", "free"
EXACT = {"tol": 1e-10}
"""The rung of ours whose duals prove the lower bound of a case."""


class Setting(NamedTuple):
    """A library set for a case."""

    label: str
    options: dict[str, Any]
    """The same on every rung."""
    ladder: list[Rung]
    model: str = REGULARISED


def tolerances(first: int, last: int) -> list[Rung]:
    """Two rungs a decade, from 10^-first to 10^-last."""
    return [
        {"tol": float(f"{digit}e-{decade}")}
        for decade in range(first, last + 1)
        for digit in ((1,) if decade == last else (1, 0.3))
    ]


def _is_binary(case: LinearCase) -> bool:
    return case.problem == "LinearSVC" and case.data not in ("mnist10k", "letter")


def ours(case: LinearCase) -> list[Setting]:
    """Ours with LIBLINEAR's bias and, for the peers that have one, with a free bias."""
    ladder = tolerances(0, 9)
    both = [Setting("maxmargin", {"intercept": "regularised"}, ladder)]
    if peers_with_free_bias(case):
        both.append(Setting("maxmargin free bias", {"intercept": "free"}, ladder, FREE))
    return both


def liblinear(case: LinearCase) -> list[Setting]:
    """Every solver that it has for the case."""
    loss = case.parameters["loss"]
    if case.parameters.get("multi_class") == "crammer_singer":
        solvers = [4]
    elif case.parameters.get("penalty") == "l1":
        solvers = [5]
    else:
        solvers = {
            "hinge": [3],
            "squared_hinge": [1, 2],
            "epsilon_insensitive": [13],
            "squared_epsilon_insensitive": [11, 12],
        }[loss]
    ladders = {2: tolerances(0, 8), 11: tolerances(1, 9), 5: tolerances(0, 8)}
    return [
        Setting(f"liblinear -s {s}", {"solver": s}, ladders.get(s, tolerances(0, 6)))
        for s in solvers
    ]


def scikit_learn(case: LinearCase) -> list[Setting]:
    """LinearSVC or LinearSVR, primal and dual where there are both."""
    loss, penalty = case.parameters["loss"], case.parameters.get("penalty")
    if case.parameters.get("multi_class") == "crammer_singer" or loss in (
        "hinge",
        "epsilon_insensitive",
    ):
        duals = [True]
    else:
        duals = [False] if penalty == "l1" else [True, False]
    name = case.problem
    return [
        Setting(
            f"scikit-learn {name} dual={dual}",
            {"dual": dual, "max_iter": 100_000},
            tolerances(0, 6) if dual else tolerances(1, 9),
        )
        for dual in duals
    ]


def sgd(case: LinearCase) -> list[Setting]:
    """Passes instead of tolerances; its bias is free.

    Crammer and Singer's loss it does not have.
    """
    if case.parameters.get("multi_class") == "crammer_singer":
        return []
    name = "SGDClassifier" if case.problem == "LinearSVC" else "SGDRegressor"
    ladder = [{"max_iter": passes} for passes in (2, 5, 10, 20, 50, 100, 200, 500, 1000)]
    schedules = [{"learning_rate": "optimal"}, {"learning_rate": "optimal", "average": True}]
    # "optimal" diverges at first on large gradients
    if case.parameters["loss"].startswith("squared"):
        schedules = [
            {"learning_rate": "invscaling", "average": average} for average in (False, True)
        ]
    return [
        Setting(f"{name} averaged" if s.get("average") else name, s, ladder, FREE)
        for s in schedules
    ]


def snapml(case: LinearCase) -> list[Setting]:
    """Classification with an l2 penalty, with one thread and with all."""
    if (
        case.problem != "LinearSVC"
        or case.parameters["penalty"] != "l2"
        or "multi_class" in case.parameters
    ):
        return []
    cores = (("snapml", False), ("snapml all cores", True))
    return [
        Setting(label, {"all_cores": all_cores}, tolerances(3, 12)) for label, all_cores in cores
    ]


def sklearnex(case: LinearCase) -> list[Setting]:
    """It has no linear estimator of its own.

    SVC(kernel="linear") solves the hinge with a free bias (one against one if more classes).
    """
    if not _is_binary(case) or case.parameters["loss"] != "hinge":
        return []
    return [Setting('scikit-learn-intelex SVC(kernel="linear")', {}, tolerances(1, 5), FREE)]


Settings = Callable[[LinearCase], list[Setting]]

OURS = Library("maxmargin", "linear.ours")
LIBRARIES: list[tuple[Library, Settings]] = [
    (OURS, ours),
    (Library("liblinear-official", "linear.liblinear", ("liblinear-official", "scipy")), liblinear),
    (Library(SKLEARN, "linear.scikit_learn"), scikit_learn),
    (Library("scikit-learn SGD", "linear.sgd"), sgd),
    (Library("snapml", "linear.snapml", ("snapml", "scipy", "scikit-learn")), snapml),
    (Library("scikit-learn-intelex", "linear.sklearnex", ("scikit-learn-intelex",)), sklearnex),
]


def peers_with_free_bias(case: LinearCase) -> bool:
    """Whether some peer solves the case with a free bias."""
    return bool(sgd(case) or sklearnex(case))
