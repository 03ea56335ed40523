"""The list of techniques, and the plan of a fit: parameters checked, box and budgets.

Everything is settled before anything is read from the records or spent. A new technique is a
function in a file of its own and one entry of :data:`TECHNIQUES` and of ``shoal/_registry.py``.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from shoal import _numbers
from shoal._bounds import Box, given_bounds
from shoal._registry import choices
from shoal.cluster._budget import (
    COUNT_PART,
    BudgetSplit,
    check_columns,
    check_epsilon,
    check_ledger,
)
from shoal.cluster._schema_columns import schema_box
from shoal.cluster.wavecluster._band import MAX_SENSITIVE, band_of
from shoal.cluster.wavecluster._oneshot import MAX_DENSE, density, one_shot, one_shot_automatic
from shoal.cluster.wavecluster._problem import Technique
from shoal.cluster.wavecluster._published import baseline, priv_qt, priv_thr, priv_thr_em
from shoal.cluster.wavecluster._threshold import USUAL_PART
from shoal.engines import HALF
from shoal.exceptions import ParameterError
from shoal.noise import MAX_SCALE

if TYPE_CHECKING:
    from shoal.cluster.wavecluster.dp_wavecluster import DPWaveCluster

__all__ = ["AUTOMATIC", "TECHNIQUES", "WaveBudgets", "WavePlan", "auto_grid", "plan_fit"]

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

AUTOMATIC = Technique("oneshot", one_shot_automatic)  # with threshold="auto"

SMALLEST_PART = 0.1  # of the budget, for the smallest release
WINDOW = 3  # cells to a side of the window that an automatic band is planned for, ...
CLEAR = 4.0  # ... and standard deviations by which its average count stands out
MIN_SIDE, MAX_SIDE = 4, 512  # cells of an automatic band along each column
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
    part: float  # of the positive values that is not significant
    budgets: WaveBudgets


def plan_fit(model: "DPWaveCluster", columns: int) -> WavePlan:
    """Check the parameters of a DPWaveCluster, and plan its fit."""
    infinite = _check_epsilon(model)
    if _numbers.count("level", model.level) > MAX_LEVELS:
        raise ParameterError(
            f"level must be at most {MAX_LEVELS}, got {model.level!r}: try 1",
            parameter="level",
            code="range",
        )
    _numbers.count("min_samples", model.min_samples)
    if model.n_public is not None:
        _numbers.count("n_public", model.n_public)
    automatic = _check_threshold(model)
    allowed = choices("DPWaveCluster", "technique")
    _numbers.choice("technique", model.technique, allowed)
    technique = AUTOMATIC if automatic else TECHNIQUES[model.technique]
    part = USUAL_PART if automatic else float(model.threshold)
    check_ledger(model.ledger)
    check_columns(columns)
    _check_grid(model, columns, technique, infinite=infinite)
    box = schema_box(given_bounds(model), model.schema, columns)
    if infinite:
        return WavePlan(box, technique, part, WaveBudgets(0.0, math.inf))
    needed = model.grid == "auto" or technique.needs_n
    records = COUNT_PART * model.epsilon if needed and model.n_public is None else 0.0
    budgets = WaveBudgets(float(records), float(model.epsilon - records))
    least = min(one for one in (budgets.records, SMALLEST_PART * budgets.cells) if one)
    if least * MAX_SCALE < MAX_SENSITIVE:
        raise ParameterError(
            f"epsilon must be larger, got {model.epsilon!r}: its noise would be wider than the "
            "integers it is added to",
            parameter="epsilon",
            code="resolution",
        )
    return WavePlan(box, technique, part, budgets)


def auto_grid(n: float, columns: int, epsilon: float, level: int) -> int:
    """Choose a grid on which a window of a few cells is clear of noise and of sampling error.

    A window of w cells with u records each stands out by u w / sqrt(w (2/epsilon^2 + u)) standard
    deviations: the variance of the noise is 2/epsilon^2 a cell, that of sampling u. The grid is the
    finest on which u = n / cells makes that CLEAR. Where records crowd more than evenly, finer
    detail is clear too; sums of noisy cells cost nothing, so that fine is the safer side.
    """
    ratio = CLEAR**2 / WINDOW**columns
    per_cell = ratio / 2 + math.sqrt(ratio**2 / 4 + 2 * ratio / epsilon**2)
    most = min(MAX_SIDE, min(math.floor(MAX_DENSE ** (1 / columns)), 2 * HALF) // 2**level)
    side = max(min(round((max(n, 1.0) / per_cell) ** (1 / columns)), most), MIN_SIDE)
    return int(side * 2**level)


def _check_epsilon(model: "DPWaveCluster") -> bool:
    """Return whether epsilon is infinite: WaveCluster without privacy."""
    if isinstance(model.epsilon, float) and math.isinf(model.epsilon) and model.epsilon > 0:
        if model.ledger is not None:
            raise ParameterError(
                "epsilon must be finite where a ledger is charged, got inf: "
                "leave the ledger out for WaveCluster without privacy",
                parameter="epsilon",
                code="finite",
            )
        return True
    check_epsilon(model.epsilon, remedy="; inf is WaveCluster without noise")
    return False


def _check_threshold(model: "DPWaveCluster") -> bool:
    """Return whether the threshold is chosen from the noisy band."""
    if not isinstance(model.threshold, str):
        _numbers.probability("threshold", model.threshold)
        return False
    if model.threshold != "auto":
        raise ParameterError(
            f'threshold must be in [0, 1) or "auto", got {model.threshold!r}',
            parameter="threshold",
            code="range",
        )
    if model.technique != AUTOMATIC.name:
        raise ParameterError(
            f'threshold must be a number for technique {model.technique!r}, got "auto": take '
            'technique "oneshot", or threshold=0.1',
            parameter="threshold",
            code="unsupported",
        )
    return True


def _check_grid(
    model: "DPWaveCluster", columns: int, technique: Technique, *, infinite: bool
) -> None:
    block = 2 ** int(model.level)
    if isinstance(model.grid, str):
        if model.grid != "auto":
            raise ParameterError(
                f'grid must be a number or "auto", got {model.grid!r}',
                parameter="grid",
                code="choice",
            )
        cells = MIN_SIDE * block
    else:
        cells = _numbers.count("grid", model.grid)
    if cells > 2 * HALF:
        raise ParameterError(
            f"grid must be at most 2^20 cells along a column, got {cells}",
            parameter="grid",
            code="range",
        )
    if cells**columns >= BEYOND:
        raise ParameterError(
            f"grid must have fewer than 2^62 cells in all, got {cells}^{columns}: take a smaller "
            "one, or fewer columns",
            parameter="grid",
            code="size",
        )
    band = band_of(model.wavelet, int(model.level), cells, columns)
    if cells**columns <= MAX_DENSE:
        return
    if technique is AUTOMATIC:
        raise ParameterError(
            f"threshold must be a number where the grid has more than {MAX_DENSE} cells in all, "
            f'got "auto" with {cells}^{columns}: take a smaller grid, or threshold=0.1',
            parameter="threshold",
            code="unsupported",
        )
    if infinite or not technique.sparse:
        raise ParameterError(
            f"grid must have at most {MAX_DENSE} cells in all for this technique, got "
            f'{cells}^{columns}: take fewer, or technique "oneshot" with a finite epsilon',
            parameter="grid",
            code="size",
        )
    if band.touched > MAX_TOUCHED:
        raise ParameterError(
            f"wavelet must change at most {MAX_TOUCHED} values with a record where the grid has "
            f'{cells}^{columns} cells, got {model.wavelet!r} with {band.touched}: try "haar"',
            parameter="wavelet",
            code="size",
        )
