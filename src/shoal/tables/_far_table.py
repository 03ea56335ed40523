"""What tables that are not in memory have in common."""

from collections.abc import Sequence

from shoal.exceptions import ParameterError
from shoal.tables.column_names import check_names

__all__ = ["FarTable"]


class FarTable:
    """A table that is read some records at a time.

    Parameters
    ----------
    names : sequence of str
        Columns that are read, in this order.
    """

    in_memory = False

    def __init__(self, names: Sequence[str]) -> None:
        self._names = check_names(names)
        self._rows: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._names

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        return len(self._names)

    @property
    def rows(self) -> int:
        """Number of records, after ``check``: private."""
        if self._rows is None:
            raise ParameterError("the table must be checked before its records are counted")
        return self._rows
