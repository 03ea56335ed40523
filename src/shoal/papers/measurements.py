"""Measurements: the wanted ones, their means repeat by repeat, and estimates of a mean."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.exceptions import ParameterError
from shoal.experiments import Estimate

__all__ = ["Measurement", "Measurements", "estimate_mean", "mean_by_repeat", "select"]

#: One measured record, by column: what was run (dataset, columns, mechanism, clusterer, epsilon,
#: repeat), then what was measured. Columns differ between experiments, and so do their types.
Measurement = Mapping[str, Any]
# All measurements of a study, by the name of the experiment.
Measurements = Mapping[str, Sequence[Measurement]]


def select(
    rows: Iterable[Measurement], where: Callable[[Measurement], bool] | None = None, **wanted: Any
) -> list[Measurement]:
    """Return the measurements whose columns have the wanted values."""
    sets = {
        column: value if isinstance(value, tuple) else (value,) for column, value in wanted.items()
    }
    return [
        row
        for row in rows
        if all(row[column] in values for column, values in sets.items())
        and (where is None or where(row))
    ]


def mean_by_repeat(rows: Iterable[Measurement], value: str) -> list[float]:
    """Average a measure over everything but the repeats.

    Repeats are independent, and what is compared inside one of them is not, so intervals are taken
    over repeats.
    """
    groups: dict[int, list[float]] = {}
    for row in rows:
        if row[value] is not None:
            groups.setdefault(row["repeat"], []).append(float(row[value]))
    if not groups:
        raise ParameterError(f"rows must hold a measured {value}, got none")
    return [float(np.mean(groups[repeat])) for repeat in sorted(groups)]


def estimate_mean(
    values: Iterable[float],
    *,
    lowest: float = -math.inf,
    highest: float = math.inf,
    error: float = 0.05,
) -> Estimate:
    """Estimate a mean for a verdict, which a single run cannot decide."""
    sample = list(values)
    if len(sample) == 1:
        return Estimate(sample[0], math.nan, math.nan)
    return Estimate.of(sample, lowest=lowest, highest=highest, error=error)
