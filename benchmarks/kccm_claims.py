"""The claims of DP-KCCM, judged on the source's table with variants that keep their promise.

`SHOAL_DATA=... python benchmarks/kccm_claims.py [--seeds 100] [--first 0] [--k 3] [--epsilon 1]`

Mean NICV over that of k-means without privacy: for epsilons 0.1 to 25 at k clusters, for 2 to 8
clusters at one epsilon, and as published (no guarantee). After each table the verdicts.
"""

import argparse
import sys
from collections.abc import Iterable
from typing import TextIO

import numpy as np

from shoal.papers.kccm import (
    VARIANTS,
    Measurement,
    compare_variants,
    judge_claims,
    load_blood,
    measure_published,
)
from shoal.papers.kccm.compare_variants import AUTO, EPSILONS

COLUMNS = (*VARIANTS, AUTO)


def table(found: Iterable[Measurement], out: TextIO = sys.stdout) -> None:
    """Print a row of means and their standard errors for each k and epsilon."""
    cells: dict[tuple[int, float], dict[str, list[float]]] = {}
    plain: dict[int, float] = {}
    for one in found:
        cell = cells.setdefault((one.k, one.epsilon), {name: [] for name in COLUMNS})
        cell[one.variant].append(one.relative)
        plain[one.k] = one.reference
    print("  k  epsilon  k-means" + "".join(f"{name:>18}" for name in COLUMNS), file=out)
    for (k, epsilon), costs in cells.items():
        row = "".join(f"{mean_and_error(costs[name]):>18}" for name in COLUMNS)
        print(f"{k:>3}{epsilon:>9g}{plain[k]:>9.4f}{row}", file=out, flush=True)


def mean_and_error(values: list[float]) -> str:
    """Give a mean and its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.3f} +-{error:.3f}"


def published(found: Iterable[Measurement], out: TextIO = sys.stdout) -> None:
    """Print a row for each variant as published."""
    rows: dict[tuple[str, float, float], list[float]] = {}
    for one in found:
        rows.setdefault((one.variant, one.epsilon, one.delta), []).append(one.relative)
    for (variant, epsilon, delta), costs in rows.items():
        spent = f"really spends epsilon {epsilon:.2f}" + (f", delta {delta:.1g}" if delta else "")
        print(f"{variant:<56}{mean_and_error(costs):>18}   {spent}", file=out)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=1.0, help="where the clusters vary")
    words = parser.parse_args()
    X = load_blood()
    seeds = range(words.first, words.first + words.seeds)
    by_epsilon = compare_variants(X, k=words.k, epsilons=EPSILONS, seeds=seeds)
    by_clusters = [
        one
        for k in range(2, 9)
        for one in compare_variants(X, k=k, epsilons=[words.epsilon], seeds=seeds)
    ]
    for title, found in (("epsilon", by_epsilon), ("number of clusters", by_clusters)):
        print(f"\nby {title}: NICV over that of k-means, {words.seeds} seeds")
        table(found)
        print(*judge_claims(found), sep="\n")
    print(f"\nas published, no guarantee: k = {words.k}")
    published(measure_published(X, k=words.k, seeds=seeds))


if __name__ == "__main__":
    main()
