"""Records on the public lattice: the only copy that an estimator makes of them."""

import numpy as np
import numpy.typing as npt

from shoal.engines import run_in_parts
from shoal.noise import Lattice

__all__ = ["lattice_records"]

Floats = npt.NDArray[np.float64]

CHUNK_VALUES = 1 << 18  # doubles encoded at a time


def lattice_records(X: Floats, lattice: Lattice) -> npt.NDArray[np.int32]:
    """Round records to the lattice, some rows at a time.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        Records.
    lattice : Lattice
        Public.

    Returns
    -------
    records : ndarray of int32, shape (n, d)
        Half the size of X, and the only copy made of it.
    """
    records = np.empty(X.shape, dtype=np.int32)

    def encode(start: int, stop: int) -> None:
        records[start:stop] = lattice.encode(X[start:stop])

    run_in_parts(encode, len(X), max(1, CHUNK_VALUES // X.shape[1]))
    return records
