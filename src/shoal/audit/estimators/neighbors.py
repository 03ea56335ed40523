"""Neighboring tables for the audit of an estimator: one has one record more than the other.

Each pair puts that record where a mistake would show: in a corner, where it moves sums the most; in
a cluster or a cell that is empty without it, where noise is easily forgotten; far from a tight
cluster, or on the border of two; among equal records, where only counts change.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal import _numbers
from shoal._bounds import bounded_columns, surrounding_box
from shoal._typing import Floats
from shoal.exceptions import ParameterError

__all__ = ["Neighbors", "neighboring_datasets"]


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Two neighboring tables of synthetic records: one has one record more than the other.

    Parameters
    ----------
    name : str
        Where the record is added, in a few words.
    records : array-like of shape (n, d)
        The table without the record; at least one row.
    added : array-like of shape (d,)
        The additional record of the other table.

    Examples
    --------
    >>> pair = Neighbors("at the end", records=[[0.0], [0.5]], added=[1.0])
    >>> pair.with_added.ravel().tolist()
    [1.0, 0.0, 0.5]
    """

    name: str
    records: Floats
    added: Floats

    def __post_init__(self) -> None:
        """Check the fields, and copy the arrays."""
        if not _numbers.text("name", self.name):
            raise ParameterError("name must say where the record was added, got ''")
        records, added = _finite("records", self.records, 2), _finite("added", self.added, 1)
        if records.shape[1] != added.size:
            raise ParameterError(
                "added must have as many columns as records, "
                f"got {added.size} and {records.shape[1]}"
            )
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "added", added)

    @property
    def with_added(self) -> Floats:
        """The table with the record."""
        # As its first row: the order promises nothing, and centers taken from the first rows show.
        return np.vstack([self.added, self.records])


def neighboring_datasets(bounds: Any, *, n: int = 50, columns: int = 2) -> Iterator[Neighbors]:
    """Yield the pairs of neighboring tables that an audit searches by default.

    Parameters
    ----------
    bounds : tuple (low, high) or Ball
        Public bounds: two numbers, or one value per column in each; for a ball, the box around it.
    n : int, default=50
        Number of records of most tables; the smallest have one or two, the largest 10 ``n``.
    columns : int, default=2
        Number of columns.

    Yields
    ------
    pair : Neighbors
        A named pair. The same parameters always give the same pairs.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> for pair in neighboring_datasets((-1.0, 1.0)):
    ...     print(f"{pair.name}: {len(pair.records)}")
    corner, one other in the opposite one: 1
    corner, one other in the middle: 1
    end of one column, one other at its other end: 1
    beside one equal record: 1
    corner, two others in the middle: 2
    halfway between two others: 2
    corner, many others in the middle: 50
    corner, many others in the opposite one: 50
    lowest corner, many others in the middle: 50
    end of one column, many others in the middle: 50
    empty cluster: 50
    empty cell: 50
    outlier, all others in one tight cluster: 50
    halfway between two clusters: 50
    beside duplicates: 50
    heavy point, others spread: 50
    among records spread evenly: 50
    corner, very many others in the middle: 500
    empty cell, very many others: 500
    beside very many duplicates: 500
    """
    _numbers.count("n", n)
    _numbers.count("columns", columns)
    low, high = surrounding_box(bounds, columns)
    width = high - low

    def at(*positions: float) -> Floats:
        """Points of the diagonal: 0 is the low corner, 1 the high one."""
        return low + np.array(positions)[:, None] * width

    def spread(count: int, part: float = 1.0) -> Floats:
        """Points all over the lower part of each column."""
        return low + part * _spread(count, columns) * width

    middle, many = at(0.5)[0], 10 * n
    end, other_end = middle.copy(), middle.copy()
    end[0], other_end[0] = high[0], low[0]
    # Around a quarter of the diagonal, within a hundredth of the box.
    tight = at(*[0.245] * n) + 0.01 * (spread(n) - low)

    yield Neighbors("corner, one other in the opposite one", at(0.0), high)
    yield Neighbors("corner, one other in the middle", at(0.5), high)
    if columns > 1:
        yield Neighbors("end of one column, one other at its other end", other_end[None], end)
    yield Neighbors("beside one equal record", at(1.0), high)
    yield Neighbors("corner, two others in the middle", at(0.5, 0.5), high)
    yield Neighbors("halfway between two others", at(0.25, 0.75), middle)
    yield Neighbors("corner, many others in the middle", at(*[0.5] * n), high)
    yield Neighbors("corner, many others in the opposite one", at(*[0.0] * n), high)
    yield Neighbors("lowest corner, many others in the middle", at(*[0.5] * n), low)
    if columns > 1:
        yield Neighbors("end of one column, many others in the middle", at(*[0.5] * n), end)
    yield Neighbors("empty cluster", at(*[0.125] * n), at(0.875)[0])
    # Spread over the lower half of each column, so that a grid has many cells with a record.
    yield Neighbors("empty cell", spread(n, 0.5), at(0.7)[0])
    yield Neighbors("outlier, all others in one tight cluster", tight, high)
    two = at(*[0.25] * (n - n // 2), *[0.75] * (n // 2))
    yield Neighbors("halfway between two clusters", two, middle)
    yield Neighbors("beside duplicates", at(*[0.75] * n), at(0.75)[0])
    few = n // 4
    heavy = np.vstack([at(*[0.25] * (n - few)), spread(few)])
    yield Neighbors("heavy point, others spread", heavy, at(0.25)[0])
    yield Neighbors("among records spread evenly", spread(n), at(0.6)[0])
    yield Neighbors("corner, very many others in the middle", at(*[0.5] * many), high)
    yield Neighbors("empty cell, very many others", spread(many, 0.5), at(0.7)[0])
    yield Neighbors("beside very many duplicates", at(*[0.75] * many), at(0.75)[0])


def _spread(n: int, columns: int) -> Floats:
    """Points in the unit cube that fill it evenly, without a random draw."""
    # Multiples of square roots of primes modulo 1 (Richtmyer's sequence).
    primes: list[int] = []
    candidate = 2
    while len(primes) < columns:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    steps = np.arange(1, n + 1, dtype=np.float64)
    return np.outer(steps, np.sqrt(np.array(primes, dtype=np.float64))) % 1.0


def _finite(name: str, values: Any, dimensions: int) -> Floats:
    rule = f"{name} must be finite numbers with {dimensions} dimensions and at least one record"
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{rule}, got {type(values).__name__}") from None
    if array.ndim != dimensions or array.size == 0 or not np.isfinite(array).all():
        raise ParameterError(f"{rule}, got shape {array.shape}")
    return array


def check_pairs(pairs: Iterable[Neighbors]) -> list[Neighbors]:
    """Check the pairs that the caller passed."""
    chosen = list(pairs)
    if not chosen or not all(isinstance(pair, Neighbors) for pair in chosen):
        raise ParameterError("pairs must be Neighbors, at least one: see neighboring_datasets")
    if len({pair.name for pair in chosen}) < len(chosen):
        raise ParameterError("pairs must have different names, got one twice")
    return chosen


def default_pairs(estimator: Any) -> list[Neighbors]:
    """Take the default pairs in the estimator's bounds."""
    bounds = getattr(estimator, "bounds", None)
    if bounds is None:
        raise ParameterError(
            "an estimator must have public bounds to be audited, got none",
            parameter="bounds",
            code="missing",
            in_python="pass pairs, a list of Neighbors",
        )
    return list(neighboring_datasets(bounds, columns=bounded_columns(bounds, default=2)))
