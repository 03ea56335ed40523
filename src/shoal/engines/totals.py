"""Results of parts, put together as they come."""

import threading

import numpy as np

from shoal._typing import Ints
from shoal.engines.engine import Kernel, MergeKernel

__all__ = ["Merges", "Sums", "totals_of"]

Result = tuple[Ints, ...]


class Sums:
    """Results that add up; several threads may add.

    Examples
    --------
    >>> import numpy as np
    >>> sums = Sums()
    >>> for part in (1, 2, 3):
    ...     sums.add((np.array([part]),))
    >>> sums.result()[0].tolist()
    [6]
    """

    def __init__(self) -> None:
        self._totals: list[Ints] = []
        self._lock = threading.Lock()

    def add(self, result: Result) -> None:
        """Take in the result of one more part, whose arrays are not used by others."""
        with self._lock:
            if not self._totals:
                self._totals.extend(result)
                return
            for total, value in zip(self._totals, result, strict=True):
                np.add(total, value, out=total)

    def result(self) -> Result:
        """Return the sum over all parts, of which there was at least one."""
        return tuple(self._totals)


class Merges:
    """Results that their kernel merges; several threads may add.

    Parameters
    ----------
    kernel : MergeKernel
        Says how.
    """

    def __init__(self, kernel: MergeKernel) -> None:
        self._kernel = kernel
        # Results wait for one of about their size, so that none is copied once for each part; those
        # that wait differ by more than a factor of two, so all are less than twice the largest.
        self._waiting: list[Result] = []
        self._lock = threading.Lock()

    def add(self, result: Result) -> None:
        """Take in the result of one more part."""
        while True:
            with self._lock:
                alike = [i for i, other in enumerate(self._waiting) if _alike(other, result)]
                if not alike:
                    self._waiting.append(result)
                    return
                other = self._waiting.pop(alike[0])
            result = self._kernel.merge(other, result)

    def result(self) -> Result:
        """Return what all parts merge to, of which there was at least one."""
        first, *others = self._waiting
        return self._kernel.merge(first, *others) if others else first


def totals_of(kernel: Kernel | MergeKernel) -> Sums | Merges:
    """Begin to put together the results of a kernel.

    Parameters
    ----------
    kernel : Kernel or MergeKernel
        Whose results.

    Returns
    -------
    totals : Sums or Merges
        With none.
    """
    return Merges(kernel) if isinstance(kernel, MergeKernel) else Sums()


def _alike(one: Result, other: Result) -> bool:
    smaller, larger = sorted(sum(values.size for values in result) for result in (one, other))
    return larger <= 2 * smaller
