"""What DPWaveCluster was asked for, checked before anything is read from the records or spent."""

import math
from typing import Any, NamedTuple

from shoal import _numbers
from shoal._bounds import Box, public_box
from shoal.cluster._shares import shares_text
from shoal.cluster.kmeans._settings import MAX_EPSILON
from shoal.cluster.wavecluster._band import MAX_SENSITIVE, band_of
from shoal.cluster.wavecluster._oneshot import MAX_DENSE
from shoal.engines import HALF, MAX_COLUMNS
from shoal.exceptions import DataError, ParameterError
from shoal.noise import MAX_SCALE
from shoal.privacy import Ledger

__all__ = ["TECHNIQUES", "WaveSettings", "WaveShares", "auto_grid", "check_wave_settings"]

TECHNIQUES = ("oneshot", "thr", "thr-em", "qt", "baseline", "density")
COUNT_SHARE = 0.02  # for the noisy number of records where none is declared and one is needed
SMALLEST = 0.1  # smallest part of the budget that a release gets
RECORDS_PER_CELL = 30.0  # records times epsilon for a cell of an automatic band
FEWEST, MOST = 4, 256  # cells of an automatic band along each column
MAX_LEVELS = 20  # of the finest grid, 2^20 cells to a column
MAX_TOUCHED = 2**10  # values of a sparse band that one record may take memory for
BEYOND = 2**62  # codes of cells stay below


class WaveShares(NamedTuple):
    """How epsilon is divided; what is not asked for costs nothing."""

    records: float
    cells: float

    def __str__(self) -> str:
        return shares_text(self._asdict())


class WaveSettings(NamedTuple):
    """Checked parameters, and what follows from them and from the number of columns."""

    box: Box
    shares: WaveShares


def check_wave_settings(model: Any, columns: int) -> WaveSettings:
    """Check the parameters of a DPWaveCluster.

    Parameters
    ----------
    model : DPWaveCluster
        Whose parameters.
    columns : int
        Number of columns of the records.

    Returns
    -------
    settings : WaveSettings
        The public box and the shares.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.
    """
    infinite = _epsilon(model)
    if _numbers.count("level", model.level) > MAX_LEVELS:
        raise ParameterError(f"level must be at most {MAX_LEVELS}, got {model.level!r}: try 1")
    _numbers.count("min_samples", model.min_samples)
    if model.n_public is not None:
        _numbers.count("n_public", model.n_public)
    _numbers.probability("threshold", model.threshold)
    if model.technique not in TECHNIQUES:
        raise ParameterError(f"technique must be one of {TECHNIQUES}, got {model.technique!r}")
    if not (model.ledger is None or isinstance(model.ledger, Ledger)):
        raise ParameterError(f"ledger must be a Ledger or None, got {model.ledger!r}")
    if columns > MAX_COLUMNS:
        raise DataError(f"X must have at most {MAX_COLUMNS} columns, got {columns}")
    _grid(model, columns, infinite=infinite)
    box = public_box(model.bounds, columns)
    if infinite:
        return WaveSettings(box, WaveShares(0.0, math.inf))
    needed = model.grid == "auto" or model.technique == "baseline"
    records = COUNT_SHARE * model.epsilon if needed and model.n_public is None else 0.0
    shares = WaveShares(float(records), float(model.epsilon - records))
    least = min(share for share in (shares.records, SMALLEST * shares.cells) if share)
    if least * MAX_SCALE < MAX_SENSITIVE:
        raise ParameterError(
            f"epsilon must be larger, got {model.epsilon!r}: its noise would be wider than the "
            "integers it is added to"
        )
    return WaveSettings(box, shares)


def auto_grid(n: float, columns: int, epsilon: float, level: int) -> int:
    """Choose a grid whose cells hold enough records to be told from noise.

    Parameters
    ----------
    n : float
        Number of records, public or noisy.
    columns : int
        Number of columns.
    epsilon : float
        Budget.
    level : int
        How often the wavelet is applied.

    Returns
    -------
    grid : int
        Cells along each column, a multiple of 2^level.
    """
    # Without privacy a record is as good as its cell's count is large.
    signal = max(n, 1.0) * min(epsilon, RECORDS_PER_CELL) / RECORDS_PER_CELL
    most = min(MOST, min(math.floor(MAX_DENSE ** (1 / columns)), 2 * HALF) // 2**level)
    side = max(min(round(signal ** (1 / columns)), most), FEWEST)
    return int(side * 2**level)


def _epsilon(model: Any) -> bool:
    if isinstance(model.epsilon, float) and math.isinf(model.epsilon) and model.epsilon > 0:
        if model.ledger is not None:
            raise ParameterError(
                "epsilon must be finite where a ledger is charged, got inf: "
                "leave the ledger out for WaveCluster without privacy"
            )
        return True
    if _numbers.positive("epsilon", model.epsilon) > MAX_EPSILON:
        raise ParameterError(
            f"epsilon must be at most {MAX_EPSILON:g}, got {model.epsilon!r}: so much promises "
            "nothing; inf is WaveCluster without noise"
        )
    return False


def _grid(model: Any, columns: int, *, infinite: bool) -> None:
    block = 2 ** int(model.level)
    if isinstance(model.grid, str):
        if model.grid != "auto":
            raise ParameterError(f'grid must be a number or "auto", got {model.grid!r}')
        cells = FEWEST * block
    else:
        cells = _numbers.count("grid", model.grid)
    if cells > 2 * HALF:
        raise ParameterError(f"grid must be at most 2^20 cells along a column, got {cells}")
    if cells**columns >= BEYOND:
        raise ParameterError(
            f"grid must have fewer than 2^62 cells in all, got {cells}^{columns}: take a smaller "
            "one, or fewer columns"
        )
    band = band_of(model.wavelet, int(model.level), cells, columns)
    if cells**columns <= MAX_DENSE:
        return
    if infinite or model.technique != "oneshot":
        raise ParameterError(
            f"grid must have at most {MAX_DENSE} cells in all for this technique, got "
            f'{cells}^{columns}: take fewer, or technique "oneshot" with a finite epsilon'
        )
    if band.touched > MAX_TOUCHED:
        raise ParameterError(
            f"wavelet must change at most {MAX_TOUCHED} values with a record where the grid has "
            f'{cells}^{columns} cells, got {model.wavelet!r} with {band.touched}: try "haar"'
        )
