"""Reports that are drawn and kept out of sight, until the ledger has been charged for them."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal.tables.table import Block

__all__ = ["Staged", "Start"]

Start = Callable[[int], Callable[[Block], npt.NDArray[np.float64]]]
"""From the number of a partition to a function that draws reports of a block's records, of shape
(rows, d). Called once for each partition, and again for each new attempt at it, in the thread or
process that works on it; pickles."""


class Staged(Protocol):
    """Reports of all records of a table, which nobody has seen yet."""

    def publish(self) -> Any:
        """Hand them out: a dataset of files, or a Spark DataFrame."""
        ...

    def discard(self) -> None:
        """Leave nothing of them."""
        ...
