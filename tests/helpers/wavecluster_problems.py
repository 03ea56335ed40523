"""Problems for the techniques of DPWaveCluster, from records in the box of -1 to 1."""

import numpy as np

from shoal.cluster._noise import PureNoise
from shoal.cluster.wavecluster._band import band_of
from shoal.cluster.wavecluster._problem import WaveProblem
from shoal.engines import HALF, ArrayEngine
from shoal.noise import Lattice, SeededSource


def wave_problem(
    X,
    *,
    epsilon=1.0,
    grid=16,
    wavelet="haar",
    level=1,
    threshold=0.1,
    min_samples=10,
    n=None,
    seed=0,
):
    """What a technique is given."""
    columns = X.shape[1]
    lattice = Lattice.box(np.full(columns, -1.0), np.full(columns, 1.0), half=HALF)
    return WaveProblem(
        ArrayEngine(lattice.encode(X)),
        HALF,
        grid,
        band_of(wavelet, level, grid, columns),
        threshold,
        min_samples,
        float(len(X) if n is None else n),
        PureNoise(epsilon),
        epsilon,
        SeededSource(seed),
    )


def in_cells(counts):
    """Records in the middle of cells, so many in each."""
    grid = counts.shape[0]
    places = np.argwhere(np.ones(counts.shape, dtype=bool))
    return np.repeat((places + 0.5) * (2 / grid) - 1, counts.ravel(), axis=0)
