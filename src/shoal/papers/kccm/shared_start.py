"""Fits that share their first centers and nothing else.

The source draws 20 sets of initial centers and runs each method 50 times on every one. An estimator
draws its start itself, with the first words of its source; here these words are the start's, and
all that follow are the run's.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from shoal.cluster._centers import pack_spheres
from shoal.noise import SeededSource

__all__ = ["SharedStart"]

Words = npt.NDArray[np.uint64]


class SharedStart:
    """The words of a start, then those of a run.

    Parameters
    ----------
    start : int
        Number of the start; the same number gives the same sphere packing of the public box.
    run : bytes
        Seed of what follows.
    centers, columns : int
        Size of the start, as the estimator will ask for it.

    Examples
    --------
    >>> sources = [SharedStart(0, run, centers=3, columns=2) for run in (b"one", b"two")]
    >>> one, two = (pack_spheres(3, 2, source) for source in sources)
    >>> bool((one == two).all())
    True
    >>> one, two = (source.words(4) for source in sources)
    >>> bool((one == two).any())
    False
    """

    seeded = True

    def __init__(self, start: int, run: bytes, *, centers: int, columns: int) -> None:
        self._first = _start_words(start, centers, columns)
        self._rest = SeededSource(run)

    def words(self, count: int) -> Words:
        """Draw ``count`` words, the next ones.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        words : ndarray of uint64, shape (count,)
            The words.
        """
        first, self._first = self._first[:count], self._first[count:]
        return np.concatenate([first, self._rest.words(count - len(first))])


class _Recorder:
    """Keeps the words that it hands out."""

    seeded = True

    def __init__(self, source: SeededSource) -> None:
        self._source = source
        self.drawn: list[Words] = [np.empty(0, dtype=np.uint64)]

    def words(self, count: int) -> Words:
        self.drawn.append(self._source.words(count))
        return self.drawn[-1]


@lru_cache(maxsize=1024)
def _start_words(start: int, centers: int, columns: int) -> Words:
    # How many words a packing takes depends on the words.
    recorder = _Recorder(SeededSource(f"start {start}".encode()))
    pack_spheres(centers, columns, recorder)
    words = np.concatenate(recorder.drawn)
    words.flags.writeable = False
    return words
