"""Options as LIBSVM's and LIBLINEAR's programs read them: letters with a value, then files.

An unknown option is an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from maxmargin.cli.errors import usage


@dataclass
class Flags:
    """A parsed command line: values of the options, weights of classes, and the files."""

    values: dict[str, Any]
    weights: dict[int, float] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def parse(
    arguments: list[str], defaults: Mapping[str, Any], switches: str = "q", weights: bool = False
) -> Flags:
    """Parse options; each has the type of its default.

    If `weights` is true, -w1 5 sets the weight of class 1. `switches` take no value.
    """
    found, rest = Flags(dict(defaults)), list(arguments)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        name = rest.pop(0)[1:]
        if name in switches:
            found.values[name] = True
        elif weights and name.startswith("w"):
            found.weights[_number(int, name[1:], "the class of -w")] = _number(
                float, _value(rest, name), f"-{name}"
            )
        elif name in defaults:
            found.values[name] = _number(type(defaults[name]), _value(rest, name), f"-{name}")
        else:
            raise usage(
                f"unknown option -{name}; the known options are "
                f"{', '.join('-' + key for key in (*defaults, *switches))}"
            )
        found.given.add(name)
    found.files = rest
    return found


def _value(rest: list[str], name: str) -> str:
    if not rest:
        raise usage(f"-{name} needs a value")
    return rest.pop(0)


def _number(kind: type, text: str, name: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise usage(
            f"{name} must be {'a whole number' if kind is int else 'a number'}, got {text!r}"
        ) from None


def files(found: Flags, least: int, most: int, names: str) -> list[str]:
    """Return the files; raise an error if there are too few or too many."""
    if not least <= len(found.files) <= most:
        raise usage(f"expected {names}, got {' '.join(found.files) or 'no files'}")
    return found.files
