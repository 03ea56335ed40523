"""From records to significant cells, by whichever technique."""

import math
from typing import Any, NamedTuple

import numpy as np

from shoal.cluster._noise import PureNoise
from shoal.cluster.wavecluster._band import band_of
from shoal.cluster.wavecluster._baseline import baseline
from shoal.cluster.wavecluster._density import density
from shoal.cluster.wavecluster._oneshot import MAX_DENSE, one_shot, one_shot_sparse
from shoal.cluster.wavecluster._problem import Cells, WaveProblem
from shoal.cluster.wavecluster._reference import plain_cells
from shoal.cluster.wavecluster._settings import WaveSettings, auto_grid
from shoal.cluster.wavecluster._techniques import priv_qt, priv_thr, priv_thr_em
from shoal.engines import HALF, Engine, grid_counts, total_weight
from shoal.noise import RandomSource

__all__ = ["FoundCells", "find_cells"]

PUBLISHED = {"qt": priv_qt, "thr": priv_thr, "thr-em": priv_thr_em, "baseline": baseline}


class FoundCells(NamedTuple):
    """Significant cells, and the grid and band they belong to."""

    cells: Cells
    grid: int
    shape: tuple[int, ...]


def find_cells(
    model: Any, engine: Engine, settings: WaveSettings, source: RandomSource
) -> FoundCells:
    """Run a technique, after its budget has been spent.

    Parameters
    ----------
    model : DPWaveCluster
        Its parameters have been checked.
    engine : Engine
        Exact statistics of the lattice records.
    settings : WaveSettings
        Shares.
    source : RandomSource
        Where random words come from.

    Returns
    -------
    found : FoundCells
        May be published.
    """
    infinite = math.isinf(model.epsilon)
    shares = settings.shares
    noise = PureNoise(float(model.epsilon))
    n = float(model.n_public or 0)  # 0: nothing asks for it
    if infinite:
        n = n or float(total_weight(engine))
    elif shares.records:
        exact = np.array([total_weight(engine)])
        n = float(noise.counts(exact, shares.records, unit=1, source=source)[0])
    level = int(model.level)
    grid = (
        auto_grid(n, engine.columns, float(model.epsilon), level)
        if isinstance(model.grid, str)
        else int(model.grid)
    )
    band = band_of(model.wavelet, level, grid, engine.columns)
    if infinite:
        counts = grid_counts(engine, (grid,) * engine.columns, HALF)
        return FoundCells(plain_cells(counts, band, float(model.threshold)), grid, band.shape)
    problem = WaveProblem(
        engine, HALF, grid, band, float(model.threshold), n, noise, shares.cells, source
    )
    if model.technique == "density":
        cells = density(problem, int(model.min_samples))
    elif model.technique in PUBLISHED:
        cells = PUBLISHED[model.technique](problem)
    elif grid**engine.columns > MAX_DENSE:
        cells = one_shot_sparse(problem)
    else:
        cells = one_shot(problem)
    return FoundCells(cells, grid, band.shape)
