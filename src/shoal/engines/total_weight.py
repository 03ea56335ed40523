"""The number of records, with their weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.engines.array_engine import as_engine
from shoal.engines.engine import MOST_ROWS, Engine, Part

__all__ = ["WeightKernel", "total_weight"]


@dataclass(frozen=True)
class WeightKernel:
    """Total weight of one part of the records."""

    rows: int = MOST_ROWS

    def __call__(self, part: Part, /) -> tuple[npt.NDArray[np.int64]]:
        """Give the total of one part."""
        weight = len(part.records) if part.weights is None else part.weights.sum(dtype=np.int64)
        return (np.array([weight], dtype=np.int64),)


def total_weight(engine: Engine | npt.NDArray[Any]) -> int:
    """Count the records, each as often as its weight says.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.

    Returns
    -------
    weight : int
        One record more or less changes it by that record's weight.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import total_weight
    >>> total_weight(np.zeros((3, 2), dtype=np.int32))
    3
    """
    (total,) = as_engine(engine).add_up(WeightKernel())
    return int(total[0])
