"""Records on the public lattice: the only copy that an estimator makes of them."""

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.engines import run_in_parts
from shoal.noise import Lattice
from shoal.noise.lattice import WIDE

__all__ = ["lattice_records"]


CHUNK_VALUES = 1 << 20  # doubles encoded at a time: work of about a millisecond


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
        Half the size of X, and the only copy made of it. Few columns lie one after the other,
        which kernels are fastest with; many lie as they do in X.
    """
    n, d = X.shape
    by_column = d < WIDE or X.flags.f_contiguous
    records = np.empty((n, d), dtype=np.int32, order="F" if by_column else "C")

    def encode(start: int, stop: int) -> None:
        lattice.encode(X[start:stop], out=records[start:stop])

    run_in_parts(encode, n, max(1, CHUNK_VALUES // d))
    return records
