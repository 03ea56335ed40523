"""Two records whose reports an audit compares."""

from dataclasses import dataclass

import numpy as np

from shoal._typing import Floats

__all__ = ["RecordPair"]


@dataclass(frozen=True, eq=False)
class RecordPair:
    """Two made-up records.

    Parameters
    ----------
    name : str
        Where they are, in a few words.
    first, second : array-like of shape (d,)
        The two records.

    Examples
    --------
    >>> RecordPair("opposite corners", [0.0, 0.0], [3.0, 4.0]).distance
    5.0
    """

    name: str
    first: Floats
    second: Floats

    def __post_init__(self) -> None:
        """Copy the records."""
        for name in ("first", "second"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))

    @property
    def distance(self) -> float:
        """Euclidean distance of the two."""
        return float(np.linalg.norm(self.second - self.first))
