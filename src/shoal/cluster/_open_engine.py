"""The engine for a table, from its type: estimators know of no other difference."""

import numpy as np
import numpy.typing as npt

from shoal.cluster._lattice_records import lattice_records
from shoal.engines import ArrayEngine, Engine, StreamEngine, held_engine
from shoal.noise import Lattice
from shoal.tables import ArrayTable, ArrowTable, SparkTable

__all__ = ["open_engine"]


def open_engine(
    table: ArrayTable | ArrowTable | SparkTable,
    lattice: Lattice,
    weights: npt.NDArray[np.int32] | None = None,
) -> Engine:
    """Put the records of a table on a lattice.

    Parameters
    ----------
    table : ArrayTable, ArrowTable or SparkTable
        Checked records.
    lattice : Lattice
        Public.
    weights : ndarray of int32, shape (n,), default=None
        How often each record counts; of records in memory only.

    Returns
    -------
    engine : Engine
        The same statistics, bit for bit, wherever the records are.
    """
    if isinstance(table, ArrayTable):
        return ArrayEngine(lattice_records(table.X, lattice), weights)
    if isinstance(table, ArrowTable) and table.fits_in_memory:
        return held_engine(table, lattice)
    return StreamEngine(table, lattice)
