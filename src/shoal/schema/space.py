"""The space of encoded records: a public product of intervals and simplices.

One record more or less changes a sum by one point of this body, and no more: a category by one
column of its block, a number by its width. Squared Euclidean distance in this space is the distance
of a schema.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from shoal._typing import Floats

__all__ = ["EncodedSpace", "Part"]

TABLE = 2  # dimensions of one


class Part(NamedTuple):
    """Encoded columns that belong together, made from one field.

    Parameters
    ----------
    field : str
        Name of the field.
    kind : {"interval", "simplex"}
        An interval is one column of values from 0 to ``width``. A simplex is several columns, of
        which one is ``width`` and the others are 0 (one-hot).
    start, stop : int
        Index of the first column, and of the one after the last.
    width : float
        Largest value of a column.

    Examples
    --------
    >>> from shoal.schema import Category, Schema
    >>> Schema([Category("city", ["A", "B"])]).space.parts[0].kind
    'simplex'
    """

    field: str
    kind: Literal["interval", "simplex"]
    start: int
    stop: int
    width: float


@dataclass(frozen=True)
class EncodedSpace:
    """Space of encoded records: the possible values of each encoded column.

    Parameters
    ----------
    parts : tuple of Part
        Parts of the space, in the order of the columns; together they cover all columns.
    names : tuple of str
        Name of each column.

    Examples
    --------
    >>> from shoal.schema import Category, Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    >>> schema.space.names
    ('age', 'age missing', 'city=A', 'city=B', 'city=other', 'city=missing')
    >>> [part.kind for part in schema.space.parts]
    ['interval', 'interval', 'simplex']
    """

    parts: tuple[Part, ...]
    names: tuple[str, ...]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def widths(self) -> Floats:
        """Largest value of each column; the smallest is 0."""
        widths = np.empty(self.columns)
        for part in self.parts:
            widths[part.start : part.stop] = part.width
        return widths

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The box that holds all encoded records, in the form of the parameter ``bounds``."""
        return np.zeros(self.columns), self.widths

    def holds(self, records: Floats) -> bool:
        """Return whether all records lie in the space, as encoded records do.

        Parameters
        ----------
        records : ndarray of float64, shape (n, columns)
            Records.

        Returns
        -------
        inside : bool
            False if any record lies outside: it could change a sum by more than the sensitivity
            to which the noise is scaled.

        Examples
        --------
        >>> import numpy as np
        >>> from shoal.schema import Category, Schema
        >>> space = Schema([Category("city", ["A", "B"])]).space
        >>> space.holds(np.full((1, 4), space.widths[0]))
        False
        """
        if records.ndim != TABLE or records.shape[1] != self.columns:
            return False
        for part in self.parts:
            block = records[:, part.start : part.stop]
            if part.kind == "simplex":
                full, empty = block == part.width, block == 0.0
                inside = (full.sum(axis=1) == 1) & (full | empty).all(axis=1)
            else:
                inside = ((block >= 0.0) & (block <= part.width)).all(axis=1)
            if not inside.all():
                return False
        return True
