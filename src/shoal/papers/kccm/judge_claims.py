"""Which claims of DP-KCCM hold where every variant keeps its promise.

A claim compares the mean NICV of one variant with that of others, start by start. What is judged is
the change, new cost over old cost minus 1, by its 95% interval: is it surely below the claim's
threshold, surely above it, or undecided. A claim against several others needs all of them, and its
intervals share the 5%.

The source also claims that Gaussian noise suits tables without outliers (abstract) and tables with
outliers (results and conclusion); that cannot be judged.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.papers.judgment import Judgment, all_hold, judge_interval
from shoal.papers.kccm.measurement import Measurement
from shoal.papers.kccm.variant_model import VARIANTS

__all__ = ["CLAIMS", "Claim", "Verdict", "judge_claims"]


CONFIDENCE = 0.95
CONTRARY: dict[Judgment, Judgment] = {
    "holds": "does not hold",
    "does not hold": "holds",
    "undecided": "undecided",
}
MARKED = -0.05  # a change of the cost that is worth a word such as "significant" or "markedly"


@dataclass(frozen=True)
class Claim:
    """A published sentence, as a comparison of costs.

    Parameters
    ----------
    text : str
        What the source says.
    new : str
        The variant it praises, or does not.
    old : tuple of str
        Those it is compared with.
    threshold : float, default=0.0
        The change that has to be undercut.
    denied : bool, default=False
        Whether the source says that it is not undercut.
    """

    text: str
    new: str
    old: tuple[str, ...]
    threshold: float = 0.0
    denied: bool = False


CLAIMS = (
    Claim("merging helps", "average nk", ("average k",)),
    Claim(
        "adaptive noise alone does not help significantly",
        "allocation k",
        ("average k",),
        MARKED,
        denied=True,
    ),
    Claim("merging and adaptive noise help markedly", "allocation nk", ("average k",), MARKED),
    Claim("adaptive noise adds to merging", "allocation nk", ("average nk",)),
    Claim("Gaussian is the best noise, merging", "gaussian nk", ("average nk", "allocation nk")),
    Claim("Gaussian is the best noise, not merging", "gaussian k", ("average k", "allocation k")),
    Claim("Gaussian with merging is the best of all", "gaussian nk", VARIANTS[:-1]),
)


@dataclass(frozen=True)
class Verdict:
    """A claim and what the measurements say; prints as one line.

    Parameters
    ----------
    claim : Claim
        The claim.
    scope : str
        Where: one number of clusters and epsilon, or all of them, each counting the same.
    judgment : {"holds", "does not hold", "undecided"}
        By the interval.
    rival : str
        Of several others the one that comes off best.
    difference : float
        Mean difference to it, in NICV of k-means without privacy.
    change, low, high : float
        Mean cost over that of the rival minus 1, and its 95% interval.
    starts : int
        How many pairs: runs on one start count once, as their mean.
    """

    claim: Claim
    scope: str
    judgment: Judgment
    rival: str
    difference: float
    change: float
    low: float
    high: float
    starts: int

    def __str__(self) -> str:
        return (
            f"{self.claim.text:<49}{self.scope:<20}{self.judgment:<14}{self.claim.new} against "
            f"{self.rival}: {self.difference:+.3f}, {self.change:+.1%} "
            f"[{self.low:+.1%}, {self.high:+.1%}]"
        )


class _Change(NamedTuple):
    rival: str
    difference: float
    change: float
    margin: float


Cells = dict[tuple[int, float], dict[str, Floats]]


def judge_claims(
    records: Iterable[Measurement], *, claims: Iterable[Claim] = CLAIMS
) -> tuple[Verdict, ...]:
    """Judge each claim over all measurements, and in each cell of k and epsilon.

    Parameters
    ----------
    records : iterable of Measurement
        What :func:`compare_variants` returned; several results may be joined.
    claims : iterable of Claim
        By default those of the source.

    Returns
    -------
    verdicts : tuple of Verdict
        For each claim first the one over all cells, then one a cell.

    Examples
    --------
    >>> from shoal.papers.kccm import Claim, Measurement
    >>> costs = {"average k": (0.4, 0.5, 0.6), "average nk": (0.3, 0.4, 0.4)}
    >>> found = [
    ...     Measurement(variant, 3, 1.0, 0.0, start, cost, 0.2)
    ...     for variant, row in costs.items()
    ...     for start, cost in enumerate(row)
    ... ]
    >>> claim = Claim("merging helps", "average nk", ("average k",))
    >>> print(judge_claims(found, claims=[claim])[0].judgment)
    holds
    """
    wanted = tuple(claims)
    cells = _cells(records, {name for claim in wanted for name in (claim.new, *claim.old)})
    scopes = [("all", list(cells.values()))]
    scopes += [(f"k = {k}, epsilon {e:g}", [costs]) for (k, e), costs in cells.items()]
    return tuple(
        _verdict(claim, scope, some) for claim, (scope, some) in itertools.product(wanted, scopes)
    )


def _verdict(claim: Claim, scope: str, cells: list[dict[str, Floats]]) -> Verdict:
    changes = [_change(claim.new, old, cells, len(claim.old)) for old in claim.old]
    worst = max(changes, key=lambda found: found.change)
    judgment = all_hold(
        judge_interval(
            found.change - found.margin, found.change + found.margin, below=claim.threshold
        )
        for found in changes
    )
    if claim.denied:
        judgment = CONTRARY[judgment]
    return Verdict(
        claim,
        scope,
        judgment,
        worst.rival,
        worst.difference,
        worst.change,
        worst.change - worst.margin,
        worst.change + worst.margin,
        len(cells[0][claim.new]),
    )


def _change(new: str, old: str, cells: list[dict[str, Floats]], rivals: int) -> _Change:
    """Ratio of mean costs, averaged over cells; its error by linearisation, a start at a time."""
    ratios, gaps = [], []
    residuals = np.zeros_like(cells[0][new])
    for costs in cells:
        base = costs[old].mean()
        ratio = costs[new].mean() / base
        residuals += (costs[new] - ratio * costs[old]) / base / len(cells)
        ratios.append(ratio)
        gaps.append(costs[new].mean() - base)
    starts = len(residuals)
    error = residuals.std(ddof=1) / math.sqrt(starts)
    tail = (1 - CONFIDENCE) / (2 * rivals)
    margin = float(student.ppf(1 - tail, starts - 1) * error)
    return _Change(old, float(np.mean(gaps)), float(np.mean(ratios)) - 1, margin)


def _cells(records: Iterable[Measurement], variants: set[str]) -> Cells:
    """Sort relative costs by cell and variant, each row in the order of its starts."""
    found: dict[tuple[int, float], dict[str, dict[int, float]]] = {}
    for one in records:
        cell = found.setdefault((one.k, one.epsilon), {name: {} for name in sorted(variants)})
        if one.variant in cell:
            cell[one.variant][one.start] = one.relative
    rows = {tuple(sorted(row)) for cell in found.values() for row in cell.values()}
    if len(rows) != 1 or len(min(rows)) < 2:
        raise ParameterError(
            f"records must have the same two starts or more for each of {sorted(variants)}, in "
            "every cell of k and epsilon: pass all that compare_variants returned"
        )
    (starts,) = rows
    return {
        cell: {name: np.array([row[start] for start in starts]) for name, row in costs.items()}
        for cell, costs in found.items()
    }
