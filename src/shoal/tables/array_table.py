"""Records in memory."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["ArrayTable"]


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """A table in memory, checked.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        Finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> ArrayTable(np.zeros((5, 2))).columns
    2
    """

    X: npt.NDArray[np.float64]
    names: tuple[str, ...] | None = None
    in_memory = True

    @property
    def columns(self) -> int:
        """Number of columns of a record."""
        return int(self.X.shape[1])

    @property
    def rows(self) -> int:
        """Number of records: private."""
        return len(self.X)

    def check(self) -> None:
        """Do nothing: arrays are checked when they come in."""
