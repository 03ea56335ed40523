"""What figures with a panel for each value of a column have in common."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._numbers import readable
from shoal.exceptions import ParameterError
from shoal.plotting.chart import Axis
from shoal.plotting.marks import Level
from shoal.plotting.style import FINE

__all__ = [
    "LETTER",
    "Grid",
    "around",
    "check_ends",
    "check_logarithm",
    "check_reference",
    "column_names",
    "heading",
    "label",
    "levels",
    "logarithmic",
    "shape",
    "words",
]

MAX_ACROSS = 4  # panels that are still wide enough beside each other
LETTER = 0.085  # inches of a letter in a legend
CROWDED = 0.06  # of a logarithmic axis, between two numbers that can both be read
FEW = 12  # values that are all written below an axis

# Columns of experiments, with what their numbers are in where that is known.
LABELS = {
    "epsilon": "ε",
    "dimensions": "dimensions (columns)",
    "dimension": "dimensions (columns)",
    "columns": "dimensions (columns)",
    "ami": "AMI (1 = same clusters)",
    "ari": "ARI (1 = same clusters)",
    "sc": "silhouette (-1 to 1)",
    "ch": "Calinski-Harabasz index",
    "nicv": "NICV (squared distance a record)",
    "advantage": "advantage of the adversary (0 to 1)",
    "tpr": "true-positive rate (0 to 1)",
    "cost_ratio": "cost over k-means (ratio)",
    "seconds": "time (seconds)",
    "distance": "distance to the record (records' unit)",
}


class Grid(NamedTuple):
    """Rows and columns of panels."""

    rows: int
    columns: int


def shape(number: int, *, most: int = MAX_ACROSS) -> Grid:
    """Lay out panels in rows of nearly the same length, at most so many beside each other."""
    rows = math.ceil(number / most)
    return Grid(rows, math.ceil(number / rows))


def label(name: str, given: str | None) -> str:
    """Say what an axis shows: as given, or what is known of the column."""
    return words(given) if given is not None else LABELS.get(name.lower(), words(name))


def heading(column: str, value: Hashable) -> str:
    """Name a panel; a number alone would not tell what it is."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{'ε' if column == 'epsilon' else words(column)} = {words(value)}"
    return words(value)


def words(value: Hashable) -> str:
    """Write a name or number for people."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "∞" if value == math.inf else readable(value)
    return str(value)


def column_names(columns: Sequence[str] | None, width: int) -> list[str]:
    """Return the names of columns, with units; None = their numbers."""
    if columns is None:
        return [f"column {number} (records' unit)" for number in range(1, width + 1)]
    if isinstance(columns, str) or len(columns) != width:
        raise ParameterError(f"columns must be {width} names, got {columns!r}")
    return [words(name) for name in columns]


def check_reference(reference: Any) -> dict[str, float]:
    """Return horizontal lines by name; None is none."""
    if reference is None:
        return {}
    if not isinstance(reference, Mapping) or not all(
        isinstance(at, int | float) and math.isfinite(at) for at in reference.values()
    ):
        raise ParameterError(
            f"reference must be a dict of names and finite numbers, got {reference!r}"
        )
    return {words(name): float(at) for name, at in reference.items()}


def check_ends(low: str | None, high: str | None) -> None:
    """Refuse one end of an interval without the other."""
    if (low is None) != (high is None):
        raise ParameterError(
            f"low and high must be given together, got {low!r} and {high!r}: name both or neither"
        )


def check_logarithm(parameter: str, column: str, values: npt.NDArray[Any]) -> None:
    """Refuse a logarithmic axis for numbers that it cannot show."""
    if (values <= 0).any():
        raise ParameterError(
            f"{parameter} must be False where column {column!r} holds a number <= 0"
        )


def around(values: npt.NDArray[np.float64], margin: float) -> tuple[float, float]:
    """Return ends of an axis that leave a share free at both sides of what it holds."""
    if not len(values):
        return -1.0, 1.0
    low, high = float(np.min(values)), float(np.max(values))
    room = margin * (high - low) if high > low else 0.5
    return low - room, high + room


def levels(reference: Mapping[str, float]) -> tuple[Level, ...]:
    """Draw horizontal lines in gray and with dashes of their own."""
    dashes = (FINE, (6.0, 2.0, 1.0, 2.0), (3.0, 3.0))
    return tuple(
        Level(at=at, name=name, dash=dashes[place % len(dashes)])
        for place, (name, at) in enumerate(reference.items())
    )


def logarithmic(label: str, values: npt.NDArray[np.float64]) -> Axis:
    """Return an axis with a number at each of the values, if they are few, but none too near."""
    marks = np.unique(values[np.isfinite(values)])
    if not 0 < len(marks) <= FEW:
        return Axis(label=label, log=True)
    places = np.log(marks) / max(float(np.log(marks[-1] / marks[0])), 1e-9)
    shown: list[str] = []
    last = -math.inf
    for mark, place in zip(marks.tolist(), places.tolist(), strict=True):
        fits = place - last >= CROWDED
        shown.append(words(mark) if fits else "")
        last = place if fits else last
    ticks = tuple(marks.tolist())
    return Axis(label=label, log=True, ticks=ticks, names=tuple(shown), small=True)
