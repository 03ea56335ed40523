"""Cost of DPKMeans beside its peers, on the data and at the settings the peers were measured with.

`python benchmarks/kmeans_utility.py [--seeds 30] [--first 0] [--sets S1,blood] [--methods]`

Reads the peers' figures from $SHOAL_PEERS (a CSV with dataset, method, epsilon, cost_ratio,
cost_ratio_std, runs) and the data from $SHOAL_DATA. A table is scaled to [-1, 1] by its own minimum
and maximum, which are taken as public, as is its number of records.
"""

import argparse
import csv
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from shoal.cluster import DPKMeans
from shoal.datasets import load
from shoal.metrics import nicv

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
CLUSTERS = {
    "S1": 15,
    "blood": 2,
    "digits8": 10,
    "iris": 3,
    "birch2": 100,
    "a2": 35,
    "s2": 15,
    "unbalance": 8,
    "adult_num": 5,
    "gowalla_nyc": 20,
}
FILES = {"S1": "s1", "blood": "transfusion", "adult_num": "adult"}
WITH_DELTA = ("google", "fastlloyd_gauss")
METHODS = ("grid", "ball", "lloyd", "kccm")


def table(name: str) -> np.ndarray:
    """Load a table and scale it to the box."""
    if name == "digits8":
        X = PCA(8, random_state=0).fit_transform(load_digits().data)
    else:
        X = np.asarray(load(FILES.get(name, name)).X, dtype=float)
    low, high = X.min(axis=0), X.max(axis=0)
    return 2 * (X - low) / (high - low) - 1


def best_peers() -> dict[tuple[str, float], dict[str, str]]:
    """Find the cheapest peer of each dataset and epsilon."""
    best: dict[tuple[str, float], dict[str, str]] = {}
    path = os.environ.get("SHOAL_PEERS")
    if path is None:
        return best
    with Path(path).open(newline="") as file:
        for row in csv.DictReader(file):
            key = row["dataset"], float(row["epsilon"])
            if row["cost_ratio"] and (
                key not in best or float(row["cost_ratio"]) < float(best[key]["cost_ratio"])
            ):
                best[key] = row
    return best


def ratios(
    X: np.ndarray, k: int, reference: float, seeds: range, jobs: int, **words: Any
) -> np.ndarray:
    """Fit with every seed; cost over that of k-means without privacy."""

    def one(seed: int) -> float:
        model = DPKMeans(k, bounds=(-1.0, 1.0), n_public=len(X), random_state=seed, **words)
        return nicv(X, model.fit(X).cluster_centers_) / reference

    return np.array(Parallel(n_jobs=jobs)(delayed(one)(seed) for seed in seeds))


def against_peers(names: list[str], seeds: range, jobs: int) -> Iterator[str]:
    """Return one line for each dataset and epsilon."""
    peers = best_peers()
    better = worse = cells = 0
    for name in names:
        X, k = table(name), CLUSTERS[name]
        reference = KMeans(k, n_init=10, random_state=0).fit(X).inertia_ / len(X)
        n = len(X)
        for epsilon in EPSILONS:
            peer = peers.get((name, epsilon))
            delta = 1 / (n * math.log(n)) if peer and peer["method"] in WITH_DELTA else 0.0
            found = ratios(X, k, reference, seeds, jobs, epsilon=epsilon, delta=delta)
            mean, error = found.mean(), found.std(ddof=1) / math.sqrt(len(found))
            line = f"{name:<12}{epsilon:>5} auto {mean:8.4f} +- {1.96 * error:.4f}"
            if peer:
                theirs = float(peer["cost_ratio"])
                spread = float(peer["cost_ratio_std"]) / math.sqrt(int(peer["runs"]))
                limit = theirs + 1.96 * math.hypot(error, spread)
                cells += 1
                better += mean - 1 <= 0.8 * (theirs - 1)
                worse += mean > limit
                line += f"   {peer['method']:<16}{theirs:8.4f} +- {1.96 * spread:.4f}"
                line += f"   excess {(mean - 1) / (theirs - 1):6.3f} of theirs"
                line += "   WORSE" if mean > limit else ""
            yield line
    if cells:
        yield (
            f"{cells} cells: worse in {worse}, excess at most 0.8 of the best peer's in {better}"
        )


def against_own_methods(names: list[str], seeds: range, jobs: int) -> Iterator[str]:
    """Return one line for each dataset and epsilon, with every method."""
    within = cells = 0
    for name in names:
        X, k = table(name), CLUSTERS[name]
        reference = KMeans(k, n_init=10, random_state=0).fit(X).inertia_ / len(X)
        for epsilon in EPSILONS:
            means = {
                method: ratios(X, k, reference, seeds, jobs, epsilon=epsilon, method=method).mean()
                for method in ("auto", *METHODS)
            }
            best = min(means[method] for method in METHODS)
            cells += 1
            within += means["auto"] <= 1.05 * best
            row = "  ".join(f"{method} {mean:8.4f}" for method, mean in means.items())
            yield f"{name:<12}{epsilon:>5}  {row}  {means['auto'] / best:6.3f} of the best"
    yield f"auto within 5% of the best of its methods in {within} of {cells} cells"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default="S1,blood,digits8")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", action="store_true", help="beside its own methods instead")
    words = parser.parse_args()
    tables = against_own_methods if words.methods else against_peers
    seeds = range(words.first, words.first + words.seeds)
    for line in tables(words.sets.split(","), seeds, words.jobs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
