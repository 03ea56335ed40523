"""What figures with a panel for each value of a column have in common."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy.typing as npt

from shoal._numbers import readable
from shoal.exceptions import ParameterError

__all__ = [
    "LETTER",
    "Grid",
    "check_ends",
    "check_logarithm",
    "check_reference",
    "heading",
    "label",
    "legend_below",
    "lowest_panels",
    "reference_lines",
    "shape",
    "words",
]

MOST_ACROSS = 4  # panels that are still wide enough beside each other
LETTER = 0.085  # inches of a letter in a legend
HANDLE = 0.75  # inches of a line or box before it

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
    "cost_ratio": "cost over k-means (ratio)",
    "seconds": "time (seconds)",
    "distance": "distance to the record (records' unit)",
}


class Grid(NamedTuple):
    """Rows and columns of panels."""

    rows: int
    columns: int


def shape(number: int, *, most: int = MOST_ACROSS) -> Grid:
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
    """Write a name or number without starting a formula."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "∞" if value == math.inf else readable(value)
    return str(value).replace("$", r"\$")


def lowest_panels(every: Any, used: int, columns: int) -> Any:
    """Hide the panels that are not used, and return those with nothing below them."""
    for axes in every[used:]:
        axes.set_axis_off()
    lowest = every[max(used - columns, 0) : used]
    for axes in lowest:
        axes.tick_params(labelbottom=True)  # which shared axes leave to the last row
    return lowest


def legend_below(drawing: Any, entries: Mapping[str, Any], *, handle: float = HANDLE) -> Any:
    """Put one legend for all panels below them, in as many columns as fit the width."""
    if not entries:
        return None
    widest = max(len(name) for name in entries) * LETTER + handle
    fitting = max(1, int(drawing.get_figwidth() // widest))
    rows = math.ceil(len(entries) / fitting)
    return drawing.legend(
        list(entries.values()),
        list(entries),
        loc="outside lower center",
        ncols=math.ceil(len(entries) / rows),
        handlelength=3.2 * handle / HANDLE,
    )


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


def reference_lines(axes: Any, reference: Mapping[str, float]) -> dict[str, Any]:
    """Draw horizontal lines in greys and with dashes of their own; return them by name."""
    dashes: Sequence[Any] = (":", (0, (6, 2, 1, 2)), (0, (3, 3)))
    return {
        name: axes.axhline(
            at, color="0.25", linewidth=1.0, linestyle=dashes[place % len(dashes)], zorder=1
        )
        for place, (name, at) in enumerate(reference.items())
    }
