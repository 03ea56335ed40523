"""The report of one record, as a device draws it: parameters are checked once, numbers are plain.

The same law as that of a table, and the same words in the same order: a seed gives the same bits.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal._bounds import Box
from shoal._numbers import raise_alone
from shoal._records import ONE_NUMBER_EACH, values_by_name
from shoal._typing import Floats
from shoal.exceptions import DataError
from shoal.noise import RandomSource
from shoal.partitions import Partitions
from shoal.privacy import Guarantee
from shoal.schema import Schema
from shoal.tables import ArrayTable

__all__ = ["Device", "as_table", "contents", "plain_numbers"]

WORDS = 1 << 64
PLAIN = (int, float, str, bytes)  # parameters that are compared by value


class Device:
    """What the report of one record needs.

    Parameters
    ----------
    given : tuple
        Parameters that it was made from, which were checked.
    partitions : Partitions
        Public partitions.
    first : int
        First partition of this round.
    threshold : int
        The true color is kept where a word is below it.
    box : Box
        Public box that records are clipped to.
    promise : Guarantee
        Of each report.
    """

    def __init__(
        self,
        given: tuple[Any, ...],
        partitions: Partitions,
        *,
        first: int,
        threshold: int,
        box: Box,
        promise: Guarantee,
    ) -> None:
        self.promise = promise
        self._given = given
        self._partitions = partitions
        self._first, self._choices = first, partitions.n_partitions - first
        self._colors, self._threshold = partitions.n_colors, threshold
        # Words from here on would not be uniform, and are drawn again.
        self._end_of_choices = WORDS // self._choices * self._choices
        self._end_of_colors = WORDS // self._colors * self._colors
        self._ends = list(zip(box.low.tolist(), box.high.tolist(), strict=True))

    def serves(self, given: tuple[Any, ...]) -> bool:
        """Return whether parameters are those that it was made from."""
        return len(given) == len(self._given) and all(
            a is b or (type(a) is type(b) and isinstance(a, PLAIN) and a == b)
            for a, b in zip(given, self._given, strict=True)
        )

    def draw(self, record: Sequence[float], source: RandomSource) -> Floats:
        """Return the report of a checked record."""
        words = source.words(3).tolist()
        while words[0] >= self._end_of_choices:
            words = [*words[1:], *source.words(1).tolist()]
        while words[2] >= self._end_of_colors:
            words[2:] = source.words(1).tolist()
        chosen = self._first + words[0] % self._choices
        clipped = [
            min(max(value, low), high)
            for value, (low, high) in zip(record, self._ends, strict=True)
        ]
        # Found whether it is kept or not: the time that it takes must not tell.
        true = self._partitions.color(clipped, chosen)
        uniform = words[2] % self._colors
        color = true if words[1] < self._threshold else uniform
        return np.array([chosen, color], dtype=np.float64)


def as_table(x: Any, schema: Schema | None, names: Sequence[str] | None) -> Any:
    """Return a table of one record, whose values come in order or by the names of the columns."""
    if schema is not None:
        if isinstance(x, Mapping):
            return {name: [value] for name, value in x.items()}
        try:
            return [list(x)]
        except TypeError:  # a single value, or none
            raise_alone(
                DataError(
                    "x must be one record, its values in a list or by the names of the columns, "
                    "got something else",
                    parameter="x",
                    code="shape",
                )
            )
    values = values_by_name(x, names) if isinstance(x, Mapping) else x
    try:
        row = np.atleast_2d(values)
    except ValueError:  # of numpy, about lists among the values
        raise_alone(DataError(ONE_NUMBER_EACH))
    return row if names is None else ArrayTable(row, tuple(names))


def plain_numbers(x: Any) -> list[float] | None:
    """Return a vector of finite numbers as floats, or None where it is not plainly one."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64:
        values: list[float] = x.tolist()
    elif type(x) in (list, tuple) and all(type(value) is float for value in x):
        values = list(x)
    else:
        return None
    return values if values and all(map(math.isfinite, values)) else None


def contents(bounds: Any) -> tuple[Any, ...]:
    """Return what bounds hold, by value where they could be changed in place."""
    if not isinstance(bounds, tuple):
        return (repr(bounds),)
    return tuple(
        corner.tobytes() if isinstance(corner, np.ndarray) else repr(corner) for corner in bounds
    )
