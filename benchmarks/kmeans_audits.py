"""Audit every method of DPKMeans on neighboring tables: claim, lower bound, worst pair.

`python benchmarks/kmeans_audits.py [--runs 100000] [--methods lloyd,grid] [--jobs 2]`

Small settings (one column, two clusters, few rounds), where one record is hardest to hide and a fit
takes about a millisecond. Secure randomness: nothing is seeded.
"""

import argparse
import time

from shoal.audit import audit_estimator, neighboring_datasets
from shoal.cluster import DPKMeans

SMALL = {"epsilon": 1.0, "bounds": (-1.0, 1.0), "n_public": 50}
MODELS = {
    "lloyd": DPKMeans(2, method="lloyd", max_iter=1, **SMALL),
    "lloyd-analytic": DPKMeans(2, method="lloyd", max_iter=1, split="analytic", **SMALL),
    "kccm": DPKMeans(2, method="kccm", max_iter=2, overcluster=2, **SMALL),
    "grid": DPKMeans(2, method="grid", **SMALL),
    "ball": DPKMeans(2, method="ball", **SMALL),
    "auto-noisy-n": DPKMeans(2, epsilon=1.0, bounds=(-1.0, 1.0)),
}
PAIRS = ("corner", "empty")  # first words of the pairs that are tried


def main() -> None:
    """Print one audit a method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--methods", default=",".join(MODELS))
    parser.add_argument("--jobs", type=int, default=2)
    words = parser.parse_args()
    pairs = [
        pair
        for pair in neighboring_datasets((-1.0, 1.0), n=50, columns=1)
        if pair.name.startswith(PAIRS)
    ]
    for name in words.methods.split(","):
        start = time.perf_counter()
        audit = audit_estimator(
            MODELS[name], pairs, runs=words.runs, search=False, n_jobs=words.jobs
        )
        print(f"{name} ({time.perf_counter() - start:.0f} s)\n{audit}", flush=True)


if __name__ == "__main__":
    main()
