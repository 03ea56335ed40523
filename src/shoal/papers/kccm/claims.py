"""The three findings of the source's abstract, and the comparisons of costs behind them.

A contrast compares the mean NICV of one variant with that of others, start by start. What is judged
is the change, new cost over old cost minus 1, by its 95% interval: is it surely below the
threshold, surely above it, or undecided. A contrast with several others needs all of them, and its
intervals share the 5%.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import t as student

from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.experiments import Estimate
from shoal.papers.claims import (
    Claim,
    Judgment,
    Verdict,
    all_hold,
    any_holds,
    decide_outcome,
    judge_interval,
)
from shoal.papers.kccm.accounting import FORMULAS
from shoal.papers.kccm.experiments import CORRECTED, DATASET, TRIMMED
from shoal.papers.kccm.variants import VARIANTS
from shoal.papers.measurements import Measurement, Measurements

__all__ = [
    "CLAIMS",
    "CONTRASTS",
    "READINGS",
    "Comparison",
    "Contrast",
    "compare_all",
    "judge_claims",
    "judge_contrast",
    "relative_costs",
]

ERROR = 0.05
CONTRARY: dict[Judgment, Judgment] = {
    "holds": "does not hold",
    "does not hold": "holds",
    "undecided": "undecided",
}
MARKED = -0.05  # a change of the cost that is worth a word such as "significant" or "markedly"
# The method as published, by either formula, and the corrected one.
READINGS = (*FORMULAS, CORRECTED)

# Costs by variant over the cost without privacy, each in the order of the starts.
Costs = dict[str, Floats]


@dataclass(frozen=True)
class Contrast:
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

    def __str__(self) -> str:
        return f"{self.new} over {self.old[0] if len(self.old) == 1 else 'the best rival'}"


MERGING_HELPS = Contrast("merging helps", "average nk", ("average k",))
ADAPTIVE_DOES_NOT = Contrast(
    "adaptive noise alone does not help significantly",
    "allocation k",
    ("average k",),
    MARKED,
    denied=True,
)
BOTH_HELP = Contrast(
    "merging and adaptive noise help markedly", "allocation nk", ("average k",), MARKED
)
GAUSSIAN_MERGING = Contrast(
    "Gaussian is the best noise, merging", "gaussian nk", ("average nk", "allocation nk")
)
GAUSSIAN_NOT_MERGING = Contrast(
    "Gaussian is the best noise, not merging", "gaussian k", ("average k", "allocation k")
)
CONTRASTS = (
    MERGING_HELPS,
    ADAPTIVE_DOES_NOT,
    BOTH_HELP,
    Contrast("adaptive noise adds to merging", "allocation nk", ("average nk",)),
    GAUSSIAN_MERGING,
    GAUSSIAN_NOT_MERGING,
    Contrast("Gaussian with merging is the best of all", "gaussian nk", VARIANTS[:-1]),
)


@dataclass(frozen=True)
class AbstractClaim(Claim):
    """A finding of the abstract: which contrasts make it up, on which tables.

    Parameters
    ----------
    name, text : str
        As in :class:`shoal.papers.claims.Claim`.
    contrasts : tuple of Contrast
        All have to hold.
    datasets : tuple of str
        On all of these tables.
    remark : str, default=""
        What a reader of the verdict has to know.
    """

    contrasts: tuple[Contrast, ...] = field(kw_only=True)
    datasets: tuple[str, ...] = field(kw_only=True)
    remark: str = field(default="", kw_only=True)


CLAIMS = (
    AbstractClaim(
        "finding 1",
        "merging clusters improves utility to some extent, with equal noise",
        contrasts=(MERGING_HELPS,),
        datasets=(DATASET,),
    ),
    AbstractClaim(
        "finding 2",
        "adaptive noise alone does not improve utility significantly, merging and adaptive noise "
        "together do so markedly",
        contrasts=(ADAPTIVE_DOES_NOT, BOTH_HELP),
        datasets=(DATASET,),
        remark="Significantly and markedly are read as 5% of the cost.",
    ),
    AbstractClaim(
        "finding 3",
        "Gaussian noise is the most effective: on tables without outliers by the abstract, with "
        "outliers by the results",
        contrasts=(GAUSSIAN_MERGING, GAUSSIAN_NOT_MERGING),
        datasets=(TRIMMED, DATASET),
        remark="Corrected, Gaussian noise makes the weaker promise: its delta is above 0.",
    ),
)


@dataclass(frozen=True)
class Comparison:
    """A contrast on one table, for one version of the method.

    Parameters
    ----------
    contrast : Contrast
        What is compared.
    dataset : str
        Name of the table.
    reading : {"pseudo-code", "text", "corrected"}
        The version: as published by one of the formulas, or corrected.
    judgment : {"holds", "does not hold", "undecided"}
        Over all settings of epsilon and k, each counting the same.
    change : Estimate
        Mean cost over that of the best rival minus 1.
    held, settings : int
        In how many settings the contrast holds by itself, and of how many.
    """

    contrast: Contrast
    dataset: str
    reading: str
    judgment: Judgment
    change: Estimate
    held: int
    settings: int


def judge_claims(measurements: Measurements) -> tuple[Verdict, ...]:
    """Judge the three findings.

    A finding holds as published if all of its contrasts hold by one of the source's two formulas,
    on all of its tables; as long as a contrast is undecided that could decide it, so is the
    finding. As published more is spent than is said, so praise that is lost where this is mended
    needs the leak; that something does not help needs none.
    """
    by = {(one.contrast, one.dataset, one.reading): one for one in compare_all(measurements)}
    spent = ", ".join(
        f"by the {formula} (really epsilon {_spent(measurements, formula):.3g})"
        for formula in FORMULAS
    )
    return tuple(_verdict(claim, by, spent) for claim in CLAIMS)


def compare_all(measurements: Measurements) -> tuple[Comparison, ...]:
    """Judge every contrast on every table and for every version of the method."""
    settings = {
        (dataset, reading): list(
            relative_costs(_rows(measurements, dataset, reading), VARIANTS).values()
        )
        for dataset in (DATASET, TRIMMED)
        for reading in READINGS
    }
    return tuple(
        _compare(contrast, dataset, reading, costs)
        for contrast in CONTRASTS
        for (dataset, reading), costs in settings.items()
    )


def relative_costs(
    rows: Iterable[Measurement], variants: Sequence[str]
) -> dict[tuple[int, float], Costs]:
    """Sort costs by setting of k and epsilon, over the cost of k-means without privacy."""
    found: dict[tuple[int, float], dict[str, dict[int, float]]] = {}
    for row in rows:
        setting = found.setdefault((row["k"], row["epsilon"]), {name: {} for name in variants})
        if row["variant"] in setting:
            setting[row["variant"]][row["repeat"]] = row["nicv"] / row["reference"]
    starts = {tuple(sorted(costs)) for setting in found.values() for costs in setting.values()}
    if len(starts) != 1 or len(min(starts)) < 2:
        raise ParameterError(
            f"records must have the same two starts or more for each of {sorted(variants)}, in "
            "every setting of k and epsilon: run the whole study"
        )
    (common,) = starts
    return {
        key: {name: np.array([costs[start] for start in common]) for name, costs in setting.items()}
        for key, setting in found.items()
    }


def judge_contrast(contrast: Contrast, settings: Sequence[Costs]) -> tuple[Judgment, Estimate]:
    """Judge a contrast over settings of k and epsilon, each counting the same."""
    error = ERROR / len(contrast.old)
    changes = [_change(contrast.new, old, settings, error) for old in contrast.old]
    judgment = all_hold(
        judge_interval(change.low, change.high, below=contrast.threshold) for change in changes
    )
    worst = max(changes, key=lambda change: change.mean)
    return CONTRARY[judgment] if contrast.denied else judgment, worst


def _change(new: str, old: str, settings: Sequence[Costs], error: float) -> Estimate:
    """Ratio of mean costs, averaged over settings; its error by linearization, start by start."""
    ratios = []
    residuals = np.zeros_like(settings[0][new])
    for costs in settings:
        base = costs[old].mean()
        ratio = costs[new].mean() / base
        residuals += (costs[new] - ratio * costs[old]) / base / len(settings)
        ratios.append(ratio)
    starts = len(residuals)
    deviation = residuals.std(ddof=1) / math.sqrt(starts)
    margin = float(student.ppf(1 - error / 2, starts - 1) * deviation)
    change = float(np.mean(ratios)) - 1
    return Estimate(change, change - margin, change + margin)


def _compare(
    contrast: Contrast, dataset: str, reading: str, settings: Sequence[Costs]
) -> Comparison:
    judgment, change = judge_contrast(contrast, settings)
    held = sum(judge_contrast(contrast, [costs])[0] == "holds" for costs in settings)
    return Comparison(contrast, dataset, reading, judgment, change, held, len(settings))


def _rows(measurements: Measurements, dataset: str, reading: str) -> list[Measurement]:
    """Return the rows of one version; as published, their epsilon is that of the trial."""
    names = ("epsilon", "k") if reading == CORRECTED else ("published",)
    formula = None if reading == CORRECTED else reading
    return [
        row
        for name in names
        for row in measurements[name]
        if (row["dataset"], row["formula"]) == (dataset, formula) and row["variant"] in VARIANTS
    ]


def _verdict(
    claim: AbstractClaim, by: dict[tuple[Contrast, str, str], Comparison], spent: str
) -> Verdict:
    groups = [
        [by[contrast, dataset, reading] for reading in READINGS]
        for dataset in claim.datasets
        for contrast in claim.contrasts
    ]

    def judged(reading: str) -> Judgment:
        return all_hold(one.judgment for group in groups for one in group if one.reading == reading)

    lost = [group[-1] for group in groups if group[-1].judgment == "does not hold"]
    several = len(claim.datasets) > 1
    sentences = [_sentence(group, name_table=several) for group in groups]
    changes = f"Change of NICV as published, {spent}, and corrected."
    return Verdict(
        claim,
        decide_outcome(
            as_published=any_holds(map(judged, FORMULAS)),
            corrected=judged(CORRECTED),
            needs_leak=any(not one.contrast.denied for one in lost),
        ),
        " ".join(filter(None, [changes, *sentences, claim.remark])),
    )


def _sentence(group: Sequence[Comparison], *, name_table: bool) -> str:
    """Write what a contrast came to, for both formulas and corrected."""
    contrast = group[-1].contrast
    numbers = ", ".join(f"{one.change:+.1%} ({one.judgment})" for one in group)
    table = f", {group[-1].dataset}" if name_table else ""
    return f"{contrast.text[:1].upper()}{contrast.text[1:]}{table}, {contrast}: {numbers}."


def _spent(measurements: Measurements, formula: str) -> float:
    """Return what Laplace noise by a formula really spends."""
    return next(
        float(row["real_epsilon"] or 0.0)
        for row in measurements["published"]
        if row["formula"] == formula and row["real_delta"] == 0
    )
