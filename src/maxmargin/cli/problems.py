"""The problems a model can be trained for, and their parameters on the command line.

A problem is one entry of PROBLEMS. A parameter that its estimator does not have is an error.
"""

import ast
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

import maxmargin
from maxmargin.cli.errors import usage
from maxmargin.cli.options import one_of
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
    "rank-svc": maxmargin.RankSVC,
    "rank-svr": maxmargin.RankSVR,
    "pegasos": maxmargin.PegasosSVC,
    "norma": maxmargin.NormaSVC,
    "norma-novelty": maxmargin.NormaNovelty,
}
ProblemName = Annotated[str, typer.Option("--problem", "-p", help=f"One of {', '.join(PROBLEMS)}.")]
LINEAR = (maxmargin.LinearSVC, maxmargin.LinearSVR, maxmargin.LinearOneClassSVM)


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
    cls = PROBLEMS[one_of("--problem", problem, PROBLEMS)]
    parameters = {name: value for name, value in given.items() if value is not None}
    check_parameters(problem, parameters, cls().get_params())
    return with_own(cls, always | parameters)


def learning(problem: str) -> dict[str, Any]:
    """Return the parameter with which a problem learns probabilities, or intervals."""
    known = PROBLEMS[one_of("--problem", problem, PROBLEMS)]().get_params()
    for name in ("probability", "interval"):
        if name in known:
            return {name: True}
    able = [
        name for name, cls in PROBLEMS.items() if {"probability", "interval"} & vars(cls()).keys()
    ]
    raise usage(f"{problem} learns no probabilities; these do: {', '.join(able)}.")


def check_parameters(what: str, names: Iterable[str], known: Mapping[str, Any]) -> None:
    """Raise an error if a parameter is not known."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise usage(
            f"{what} has no parameter {', '.join(unknown)}; its parameters are "
            f"{', '.join(known)}.{did_you_mean(unknown[0], known)}"
        )


def with_own(cls: Any, values: Mapping[str, Any]) -> Any:
    """Return an estimator with those of the values that are its parameters."""
    known = cls().get_params()
    return cls(**{name: value for name, value in values.items() if name in known})
