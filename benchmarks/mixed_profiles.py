"""Private profiles of clusters beside the truth: errors, and how often intervals hold it.

`python benchmarks/mixed.py --profile` fits clusters once for each seed (epsilon 1), describes them
at each epsilon of its own, and compares with the exact values of the table. A profile promises that
an interval holds the exact value with 95% confidence.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kept_runs import KeptRuns
from mixed_sets import CLUSTERS, Mixed

from shoal.cluster import ClusterProfile, DPKMeans

CLUSTER_EPSILON = 1.0
MEASURES = ("size", "share", "quantile")


@dataclass(frozen=True)
class ProfileRun:
    """One profile: mean errors, and the part of intervals that hold the exact value.

    Errors of sizes are in parts of the size, of shares in parts of 1, of quantiles in ranks: 0.02
    for a median that is larger than 52% of the values.
    """

    set: str
    epsilon: float
    seed: int
    size_error: float
    size_held: float
    share_error: float
    share_held: float
    quantile_error: float
    quantile_held: float


KEY = ("set", "epsilon", "seed")  # of a run


def measure(name: str, table: Mixed, epsilon: float, seed: int) -> ProfileRun:
    """Fit clusters, describe them, and compare with the table."""
    model = DPKMeans(CLUSTERS, epsilon=CLUSTER_EPSILON, schema=table.schema, random_state=seed)
    labels = model.fit(table.table).predict(table.table)
    profile = ClusterProfile(model.release_, epsilon=epsilon, random_state=seed).fit(table.table)
    found: dict[str, list[tuple[float, bool]]] = {measure: [] for measure in MEASURES}
    for cluster, one in profile.profiles_.items():
        members = np.ones(len(labels), bool) if cluster == "overall" else labels == cluster
        count = np.count_nonzero(members)
        error = abs(one.size.value - count) / max(count, 1)
        found["size"].append((error, one.size.low <= count <= one.size.high))
        for field in one.fields.values():
            values = table.schema.read(table.table, [field.name])[field.name][members]
            if field.quantiles:
                found["quantile"].extend(_quantiles(field.quantiles, values))
            else:
                levels = table.schema[field.name].levels
                found["share"].extend(_shares(field.shares, values, levels))
    means = [np.mean(found[measure], axis=0) for measure in MEASURES]
    return ProfileRun(name, epsilon, seed, *(float(value) for pair in means for value in pair))


def _shares(shares: dict, values: np.ndarray, levels: tuple[str, ...]) -> Iterator[tuple]:
    """Compare shares of levels; a missing value of an ordered category has no level."""
    known = [np.mean(values == code) if len(values) else 0.0 for code in range(len(levels))]
    true = dict(zip(levels, known, strict=True))
    true.setdefault("missing", float(np.mean(np.isnan(values))) if len(values) else 0.0)
    for level, share in shares.items():
        yield abs(share.value - true[level]), share.low <= true[level] <= share.high


def _quantiles(quantiles: dict, values: np.ndarray) -> Iterator[tuple]:
    values = np.sort(values[~np.isnan(values)])
    for rank, quantile in quantiles.items():
        true = np.quantile(values, rank, method="inverted_cdf") if len(values) else math.nan
        below, upto = (np.searchsorted(values, quantile.value, side) for side in ("left", "right"))
        # Of equal values, any rank that they have is right.
        nearest = min(max(rank * len(values), below), upto) / max(len(values), 1)
        yield abs(nearest - rank), quantile.low <= true <= quantile.high


def profile_lines(
    options: argparse.Namespace, seeds: range, tables: dict[str, Callable[[int], Mixed]]
) -> Iterator[str]:
    """Yield a line for each table and epsilon."""
    path: Path | None = options.out and options.out.with_suffix(".profiles.csv")
    kept = KeptRuns(ProfileRun, KEY, path)
    heads = "".join(f"{f'{measure} error':>22}{'held':>7}" for measure in MEASURES)
    yield f"{'set':<12}{'epsilon':>8}{heads}"
    for name in options.sets:
        for epsilon in options.epsilons:
            for seed in seeds:
                if (name, epsilon, seed) not in kept:
                    kept.add([measure(name, tables[name](seed), epsilon, seed)])
            runs = [kept[name, epsilon, seed] for seed in seeds]
            yield f"{name:<12}{epsilon:>8g}" + "".join(_cells(runs, each) for each in MEASURES)


def _cells(runs: list[ProfileRun], measure: str) -> str:
    errors = np.array([getattr(run, f"{measure}_error") for run in runs])
    held = np.mean([getattr(run, f"{measure}_held") for run in runs])
    error = errors.std(ddof=1) / math.sqrt(len(errors)) if len(errors) > 1 else math.nan
    return f"{errors.mean():>12.4f} +- {error:.4f}{held:>7.1%}"
