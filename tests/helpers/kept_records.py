"""Records whose lattice indices are looked for in all arrays that are alive."""

import gc

import numpy as np

from shoal.engines import HALF
from shoal.noise import Lattice

__all__ = ["FEW", "LATTICE", "N", "kept", "records"]

N = 5_000
FEW = 20  # numbers that two arrays share by chance: cells, labels and sizes are small
LATTICE = Lattice.box(np.full(2, -1.0), np.full(2, 1.0), half=HALF)


def records():
    """Return records whose lattice indices no other array holds by chance."""
    return np.random.default_rng(7).uniform(-1.0, 1.0, (N, 2))


def arrays():
    """Return all arrays that anything of this process refers to."""
    gc.collect()
    # A dictionary of arrays alone is no concern of the collector: it is reached from its owner.
    waiting = gc.get_objects()
    seen, found = {id(one) for one in waiting}, []
    while waiting:
        for one in gc.get_referents(waiting.pop()):
            if id(one) not in seen:
                seen.add(id(one))
                waiting.append(one)
                if isinstance(one, np.ndarray):
                    found.append(one)
    return found


def kept():
    """Return the largest number of lattice indices of records that an array holds."""
    alive = arrays()  # before there are those that they are compared with
    indices = np.unique(LATTICE.encode(records()))
    indices = indices[np.abs(indices) > 2**12]
    most = 0
    for one in map(np.asarray, alive):  # a masked one is its values
        if one.dtype.kind in "iuf" and one.size >= FEW:
            # Memory that is used again holds numbers of another width, too.
            views = [one, one.ravel().view(np.int32) if one.dtype == np.float64 else one]
            held = max(int(np.isin(indices, view).sum()) for view in views)
            # All whole numbers in a row hold those of the records as well.
            if held >= FEW and held > len(np.unique(one)) / 50:
                most = max(most, held)
    return most
