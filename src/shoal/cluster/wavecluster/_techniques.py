"""The list of techniques, and the plan of a fit: parameters checked, box and budgets.

Everything is settled before anything is read from the records or spent. A new technique is a
function in a file of its own and one entry of :data:`TECHNIQUES` and of ``shoal/_registry.py``.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from shoal import _numbers
from shoal._bounds import Box, public_box
from shoal._registry import choices
from shoal.cluster._budget import (
    COUNT_PART,
    BudgetSplit,
    check_columns,
    check_epsilon,
    check_ledger,
)
from shoal.cluster.wavecluster._band import MAX_SENSITIVE, band_of
from shoal.cluster.wavecluster._oneshot import MAX_DENSE, density, one_shot
from shoal.cluster.wavecluster._problem import Technique
from shoal.cluster.wavecluster._published import baseline, priv_qt, priv_thr, priv_thr_em
from shoal.engines import HALF
from shoal.exceptions import ParameterError
from shoal.noise import MAX_SCALE

if TYPE_CHECKING:
    from shoal.cluster.wavecluster.dp_wavecluster import DPWaveCluster

__all__ = ["TECHNIQUES", "WaveBudgets", "WavePlan", "auto_grid", "plan_fit"]

TECHNIQUES: dict[str, Technique] = {
    technique.name: technique
    for technique in (
        Technique("oneshot", one_shot, sparse=True),
        Technique("thr", priv_thr),
        Technique("thr-em", priv_thr_em),
        Technique("qt", priv_qt),
        Technique("baseline", baseline, needs_n=True),
        Technique("density", density),
    )
}

SMALLEST_PART = 0.1  # of the budget, for the smallest release
RECORDS_PER_CELL = 30.0  # records times epsilon for a cell of an automatic band
MIN_SIDE, MAX_SIDE = 4, 256  # cells of an automatic band along each column
MAX_LEVELS = 20  # of the finest grid, 2^20 cells to a column
MAX_TOUCHED = 2**10  # values of a sparse band that one record may take memory for
BEYOND = 2**62  # codes of cells stay below


@dataclass(frozen=True)
class WaveBudgets(BudgetSplit):
    """What each step of a fit may spend."""

    records: float
    cells: float


class WavePlan(NamedTuple):
    """What a fit will do."""

    box: Box
    technique: Technique
    budgets: WaveBudgets


def plan_fit(model: "DPWaveCluster", columns: int) -> WavePlan:
    """Check the parameters of a DPWaveCluster, and plan its fit."""
    infinite = _check_epsilon(model)
    if _numbers.count("level", model.level) > MAX_LEVELS:
        raise ParameterError(f"level must be at most {MAX_LEVELS}, got {model.level!r}: try 1")
    _numbers.count("min_samples", model.min_samples)
    if model.n_public is not None:
        _numbers.count("n_public", model.n_public)
    _numbers.probability("threshold", model.threshold)
    allowed = choices("DPWaveCluster", "technique")
    if model.technique not in allowed:
        raise ParameterError(f"technique must be one of {allowed}, got {model.technique!r}")
    technique = TECHNIQUES[model.technique]
    check_ledger(model.ledger)
    check_columns(columns)
    _check_grid(model, columns, infinite=infinite)
    box = public_box(model.bounds, columns)
    if infinite:
        return WavePlan(box, technique, WaveBudgets(0.0, math.inf))
    needed = model.grid == "auto" or technique.needs_n
    records = COUNT_PART * model.epsilon if needed and model.n_public is None else 0.0
    budgets = WaveBudgets(float(records), float(model.epsilon - records))
    least = min(one for one in (budgets.records, SMALLEST_PART * budgets.cells) if one)
    if least * MAX_SCALE < MAX_SENSITIVE:
        raise ParameterError(
            f"epsilon must be larger, got {model.epsilon!r}: its noise would be wider than the "
            "integers it is added to"
        )
    return WavePlan(box, technique, budgets)


def auto_grid(n: float, columns: int, epsilon: float, level: int) -> int:
    """Choose a grid whose cells hold enough records to be told from noise."""
    # Without privacy a record is as good as its cell's count is large.
    signal = max(n, 1.0) * min(epsilon, RECORDS_PER_CELL) / RECORDS_PER_CELL
    most = min(MAX_SIDE, min(math.floor(MAX_DENSE ** (1 / columns)), 2 * HALF) // 2**level)
    side = max(min(round(signal ** (1 / columns)), most), MIN_SIDE)
    return int(side * 2**level)


def _check_epsilon(model: "DPWaveCluster") -> bool:
    """Return whether epsilon is infinite: WaveCluster without privacy."""
    if isinstance(model.epsilon, float) and math.isinf(model.epsilon) and model.epsilon > 0:
        if model.ledger is not None:
            raise ParameterError(
                "epsilon must be finite where a ledger is charged, got inf: "
                "leave the ledger out for WaveCluster without privacy"
            )
        return True
    check_epsilon(model.epsilon, remedy="; inf is WaveCluster without noise")
    return False


def _check_grid(model: "DPWaveCluster", columns: int, *, infinite: bool) -> None:
    block = 2 ** int(model.level)
    if isinstance(model.grid, str):
        if model.grid != "auto":
            raise ParameterError(f'grid must be a number or "auto", got {model.grid!r}')
        cells = MIN_SIDE * block
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
    if infinite or not TECHNIQUES[model.technique].sparse:
        raise ParameterError(
            f"grid must have at most {MAX_DENSE} cells in all for this technique, got "
            f'{cells}^{columns}: take fewer, or technique "oneshot" with a finite epsilon'
        )
    if band.touched > MAX_TOUCHED:
        raise ParameterError(
            f"wavelet must change at most {MAX_TOUCHED} values with a record where the grid has "
            f'{cells}^{columns} cells, got {model.wavelet!r} with {band.touched}: try "haar"'
        )
