"""Tidy records: those that are wanted, and their means repeat by repeat."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.exceptions import ParameterError

__all__ = ["by_repeat", "select"]


def select(
    rows: Iterable[Mapping[str, Any]], where: Callable[[Any], bool] | None = None, **wanted: Any
) -> list[Mapping[str, Any]]:
    """Keep the records whose columns have the wanted values.

    Parameters
    ----------
    rows : iterable of mapping
        Tidy records.
    where : callable, default=None
        A further condition on a record.
    **wanted
        A value, or a tuple of values, by column.

    Returns
    -------
    rows : list of mapping
        In their order.

    Examples
    --------
    >>> select([{"a": 1}, {"a": 2}, {"a": 3}], a=(1, 3))
    [{'a': 1}, {'a': 3}]
    """
    sets = {
        column: value if isinstance(value, tuple) else (value,) for column, value in wanted.items()
    }
    return [
        row
        for row in rows
        if all(row[column] in values for column, values in sets.items())
        and (where is None or where(row))
    ]


def by_repeat(rows: Sequence[Mapping[str, Any]], value: str) -> list[float]:
    """Average a measure over everything but the repeats.

    Repeats are independent, and what is compared inside one of them is not, so intervals are taken
    over repeats.

    Parameters
    ----------
    rows : sequence of mapping
        Records with ``repeat``; those without the measure are left out.
    value : str
        Name of the measure.

    Returns
    -------
    means : list of float
        One a repeat, in order.

    Raises
    ------
    ParameterError
        If no record is left.

    Examples
    --------
    >>> by_repeat([{"repeat": 0, "ami": 0.1}, {"repeat": 0, "ami": 0.3}], "ami")
    [0.2]
    """
    groups: dict[int, list[float]] = {}
    for row in rows:
        if row[value] is not None:
            groups.setdefault(row["repeat"], []).append(float(row[value]))
    if not groups:
        raise ParameterError(f"rows must hold a measured {value}, got none")
    return [float(np.mean(groups[repeat])) for repeat in sorted(groups)]
