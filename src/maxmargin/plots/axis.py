"""The axis of a parameter in pictures of searches."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats

LOGARITHMIC = 10.0
"""Values whose greatest is more than this multiple of the least have a logarithmic axis."""


class Axis(NamedTuple):
    """Where the values of a parameter are drawn: numbers at their place, others one by one."""

    labels: list[str]
    places: Floats
    edges: Floats
    """Of the cells: halfway between the values."""
    logarithmic: bool

    @classmethod
    def of(cls, values: Sequence[Any]) -> "Axis":
        """The axis of some values."""
        labels = [short(value) for value in values]
        numbers = are_numbers(values)
        logarithmic = numbers and values[0] > 0 and values[-1] > LOGARITHMIC * values[0]
        places = np.asarray(values if numbers else range(len(values)), np.float64)
        inner = np.log(places) if logarithmic else places
        if len(inner) == 1:
            edges = np.array([inner[0] - 0.5, inner[0] + 0.5])
        else:
            half = np.diff(inner) / 2
            edges = np.concatenate(
                [[inner[0] - half[0]], inner[:-1] + half, [inner[-1] + half[-1]]]
            )
        return cls(labels, places, np.exp(edges) if logarithmic else edges, logarithmic)

    def within(self, k: int, share: float) -> float:
        """The place at a share of the width of the k-th cell."""
        a, b = self.edges[k], self.edges[k + 1]
        return float(a * (b / a) ** share if self.logarithmic else a + share * (b - a))


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether all values are numbers."""
    return all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values)


def short(value: Any) -> str:
    """A value as it is written."""
    return f"{value:.3g}" if isinstance(value, float | np.floating) else str(value)
