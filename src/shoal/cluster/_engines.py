"""The engine for a table, from its type: estimators know of no other difference."""

import numpy as np
import numpy.typing as npt

from shoal._directions import unit_length as of_unit_length
from shoal._typing import Records
from shoal.engines import ArrayEngine, Engine, StreamEngine, load_array_engine, run_in_parts
from shoal.noise import WIDE, Lattice
from shoal.tables import ArrayTable, ArrowTable, SparkTable

__all__ = ["lattice_records", "open_engine"]

CHUNK_VALUES = 1 << 20  # doubles encoded at a time: work of about a millisecond


def open_engine(
    table: ArrayTable | ArrowTable | SparkTable,
    lattice: Lattice,
    weights: npt.NDArray[np.int32] | None = None,
    *,
    unit_length: bool = False,
) -> Engine:
    """Put checked records on a public lattice; the statistics are the same bits for each table.

    Weights, how often each record counts, are of records in memory only. With ``unit_length`` each
    record is divided by its length first.
    """
    if isinstance(table, ArrayTable) and (table.fits_in_memory or weights is not None):
        return ArrayEngine(lattice_records(table.X, lattice, unit_length=unit_length), weights)
    if isinstance(table, ArrowTable) and table.fits_in_memory:
        return load_array_engine(table, lattice, unit_length=unit_length)
    return StreamEngine(table, lattice, unit_length=unit_length)


def lattice_records(
    X: Records, lattice: Lattice, *, unit_length: bool = False
) -> npt.NDArray[np.int32]:
    """Round records to the lattice, some rows at a time: four bytes a value, and their only copy.

    Few columns lie one after the other, which kernels are fastest with; many lie as they do in X.
    """
    n, d = X.shape
    by_column = d < WIDE or X.flags.f_contiguous
    records = np.empty((n, d), dtype=np.int32, order="F" if by_column else "C")

    def encode(start: int, stop: int) -> None:
        part = X[start:stop]
        if unit_length:
            part = of_unit_length(part.T).T
        lattice.encode(part, out=records[start:stop])

    # What is divided by its length is held twice.
    run_in_parts(encode, n, max(1, CHUNK_VALUES // (4 * d if unit_length else d)))
    return records
