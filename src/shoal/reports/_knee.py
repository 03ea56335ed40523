"""The knee of a curve: where it turns most."""

import numpy as np

from shoal._typing import Floats

__all__ = ["knee"]


def knee(heights: Floats, *, places: Floats | None = None) -> int:
    """Return the index farthest below the line from the first point to the last (Satopaa 2011).

    Parameters
    ----------
    heights : ndarray of float64, shape (m,)
        A curve that bends below that line.
    places : ndarray of float64, shape (m,), default=None
        Where the heights are; None for equal steps.

    Returns
    -------
    index : int
        The first among equals; 0 for a curve without extent.
    """
    steps = np.arange(len(heights), dtype=np.float64) if places is None else places
    reach, rise = steps[-1] - steps[0], heights[-1] - heights[0]
    if reach == 0:
        return 0
    line = heights[0] + rise * (steps - steps[0]) / reach
    return int(np.argmax(line - heights))
