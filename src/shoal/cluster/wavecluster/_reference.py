"""WaveCluster without privacy (Sheikholeslami, Chatterjee & Zhang 1998), on counts."""

import math

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster.wavecluster._band import Band
from shoal.cluster.wavecluster._problem import Cells

__all__ = ["plain_cells", "top_cells"]


def plain_cells(counts: Ints, band: Band, threshold: float) -> Cells:
    """Find the significant cells of counts as they are.

    Parameters
    ----------
    counts : ndarray of int64
        Counts of all cells.
    band : Band
        From counts to band values.
    threshold : float
        Part of the positive values that is not significant.

    Returns
    -------
    cells : Cells
        As private as the counts.
    """
    values = band.dense(counts) / band.sensitivity
    return top_cells(values, (1 - threshold) * float((values > 0).sum()))


def top_cells(values: Floats, wanted: float) -> Cells:
    """Keep the values that reach the ``wanted``-th largest positive one; ties are all kept.

    Parameters
    ----------
    values : ndarray of float64
        Values of the band.
    wanted : float
        How many to keep; a fraction is rounded up, as the source's own figures are (144 of 159).

    Returns
    -------
    cells : Cells
        None where no value is positive.
    """
    positive = np.sort(values[values > 0])[::-1]
    if positive.size == 0:
        return Cells.of(values, np.zeros(values.shape, dtype=bool), math.inf)
    rank = min(max(math.ceil(wanted - 1e-9), 1), positive.size)
    threshold = float(positive[rank - 1])
    return Cells.of(values, values >= threshold, threshold)
