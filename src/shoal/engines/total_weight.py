"""The number of records, with their weights."""

from typing import Any

import numpy.typing as npt

from shoal.engines.array_engine import as_engine
from shoal.engines.engine import Engine

__all__ = ["total_weight"]


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
    return as_engine(engine).weight
