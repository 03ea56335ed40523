"""Cells ask their neighbors where the noise leaves them in doubt.

Significant cells lie together. Where the noise is as large as the threshold, that is worth knowing:
each cell's odds are multiplied by e^strength for every neighbor that is significant, beyond what
chance would give (the mean field of an Ising model). Where values are clear of the noise their own
odds decide, and the strength is 0: thin gaps between clusters must not be bridged.
"""

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from shoal._typing import Floats
from shoal.cluster.wavecluster._deconvolve import Kept

__all__ = ["with_neighbors"]


STRONGEST = 0.5
SLOPE, DOUBT = 2.0, 0.3  # strength grows with noise over threshold, from 0.3 on
ROUNDS = 5
CERTAIN = 1e-9  # no cell is more certain than this


def with_neighbors(kept: Kept, *, scale: float) -> npt.NDArray[np.bool_]:
    """Decide which cells are significant, with a look at those around them.

    Parameters
    ----------
    kept : Kept
        What each cell's own value says.
    scale : float
        Scale of the noise, in the unit of the threshold.

    Returns
    -------
    mask : ndarray of bool
        Post-processing of the chances.
    """
    strength = min(STRONGEST, SLOPE * (scale / kept.threshold - DOUBT))
    if not strength > 0:
        return kept.mask
    own = np.clip(kept.chances, CERTAIN, 1 - CERTAIN)
    odds = np.log(own / (1 - own))
    strength *= 8.0 / (3**own.ndim - 1)  # eight neighbors in two columns set the unit
    chances = kept.chances
    for _ in range(ROUNDS):
        chances = 1 / (1 + np.exp(-(odds + strength * _around(chances - kept.share))))
    return np.asarray(chances > 0.5)


def _around(values: Floats) -> Floats:
    """Add up the neighbors of each cell, corners included, one column after the other."""
    sums = values
    for axis in range(values.ndim):
        sums = ndimage.convolve1d(sums, np.ones(3), axis=axis, mode="constant")
    around: Floats = sums - values
    return around
