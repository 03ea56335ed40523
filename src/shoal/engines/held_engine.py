"""Records of files that fit in memory on the lattice: read once more, then kept there."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from shoal.engines.array_engine import ArrayEngine
from shoal.engines.stream_engine import Encoder, encoded
from shoal.exceptions import DataError
from shoal.tables import CHANGED, ArrowTable, Block

__all__ = ["held_engine"]


def held_engine(table: ArrowTable, encoder: Encoder) -> ArrayEngine:
    """Read a table onto the lattice.

    Parameters
    ----------
    table : ArrowTable
        Checked.
    encoder : Encoder
        The public lattice.

    Returns
    -------
    engine : ArrayEngine
        Four bytes for each value; the same statistics as those of the files.
    """
    lattice = np.empty((table.columns, table.rows), dtype=np.int32)
    parts: dict[int, list[npt.NDArray[np.int32]]] = {}

    def work(pieces: Iterator[tuple[int, Iterator[Block]]]) -> None:
        for place, blocks in pieces:
            parts[place] = [encoded(block, encoder) for block in blocks]

    table.on_threads(work, look=False)  # encoding looks itself
    if sum(part.shape[1] for piece in parts.values() for part in piece) != table.rows:
        raise DataError(CHANGED)
    start = 0
    for place in sorted(parts):  # labels come in the records' order
        for part in parts.pop(place):
            lattice[:, start : start + part.shape[1]] = part
            start += part.shape[1]
    return ArrayEngine(lattice.T)
