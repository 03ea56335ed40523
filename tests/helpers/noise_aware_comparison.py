"""NoiseAwareKMeans beside KMeans on clipped reports, judged on the true records.

Run as a script for the tables:
``SHOAL_DATA=... python tests/helpers/noise_aware_comparison.py [--held-out]``.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score
from threadpoolctl import threadpool_limits

from shoal.mechanisms import Laplace
from shoal.metrics import nicv
from shoal.reports import NoiseAwareKMeans, label_on_device

BOX = (-1.0, 1.0)
EPSILONS = (2.0, 4.0, 8.0, 16.0)
TUNED = {"s1": 15, "a2": 35, "unbalance": 8}
HELD_OUT = {"aggregation": 7, "r15": 15, "birch1": 100}


@dataclass(frozen=True)
class Cell:
    """Means over seeds of one dataset at one epsilon."""

    dataset: str
    epsilon: float
    ami: float
    plain_ami: float
    margin: float  # half the paired 95% interval of the difference in AMI
    excess: float  # cost over that of KMeans on true records, minus 1
    plain_excess: float

    @property
    def not_worse(self):
        """No paired 95% interval below zero."""
        return self.ami - self.plain_ami + self.margin >= 0

    def __str__(self):
        return (
            f"{self.dataset:<12}{self.epsilon:>5g}"
            f"{self.ami:>9.4f}{self.plain_ami:>9.4f}{self.ami - self.plain_ami:>+9.4f}"
            f" +-{self.margin:.4f}{self.excess:>9.3f}{self.plain_excess:>9.3f}"
        )


def load(name):
    """Records scaled to [-1, 1]^2 by the file's own range, as in targets/README.md, and labels."""
    folder = os.environ.get("SHOAL_DATA")
    if not folder:
        pytest.skip("set SHOAL_DATA to the folder of data files")
    table = np.genfromtxt(Path(folder) / f"{name}.csv", delimiter=",", skip_header=1)
    records = table[:, :2]
    low, high = records.min(axis=0), records.max(axis=0)
    return np.clip(2 * (records - low) / (high - low) - 1, -1, 1), table[:, 2].astype(int)


def compare(name, k, epsilon, seeds):
    """One cell of the table; the same reports for both, seed by seed."""
    records, truth = load(name)
    with threadpool_limits(1):
        best = KMeans(k, n_init=10, random_state=0).fit(records).cluster_centers_
        reference = nicv(records, best)
        rows = []
        for seed in seeds:
            mechanism = Laplace(epsilon, bounds=BOX, random_state=seed)
            reports = mechanism.fit_transform(records)
            plain = KMeans(k, n_init=10, random_state=seed).fit(np.clip(reports, *BOX))
            ours = NoiseAwareKMeans(k, mechanism=mechanism, random_state=seed).fit(reports)
            row = []
            for centers in (ours.cluster_centers_, plain.cluster_centers_):
                labels = label_on_device(centers, records, metric="euclidean")
                row.append(adjusted_mutual_info_score(truth, labels))
            for centers in (ours.cluster_centers_, plain.cluster_centers_):
                row.append(nicv(records, centers) / reference - 1)
            rows.append(row)
    table = np.array(rows)
    gain = table[:, 0] - table[:, 1]
    margin = student.ppf(0.975, len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain))
    ami, plain_ami, excess, plain_excess = table.mean(axis=0)
    return Cell(name, epsilon, ami, plain_ami, margin, excess, plain_excess)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=50_000)
    parser.add_argument("--only", nargs="*")
    asked = parser.parse_args()
    sets = HELD_OUT if asked.held_out else TUNED
    print("dataset       eps   ours AMI    plain     gain          excess    plain", flush=True)  # noqa: T201
    cells = []
    for name, k in sets.items():
        if asked.only and name not in asked.only:
            continue
        for epsilon in EPSILONS:
            seeds = range(asked.first, asked.first + asked.seeds)
            cells.append(compare(name, k, epsilon, seeds))
            print(cells[-1], flush=True)  # noqa: T201
    noisy = [cell for cell in cells if cell.epsilon <= 8]
    ours, plain = (np.mean([getattr(c, x) for c in noisy]) for x in ("excess", "plain_excess"))
    print(f"not worse in {sum(c.not_worse for c in cells)} of {len(cells)} cells")  # noqa: T201
    print(f"mean excess for epsilon <= 8: {ours:.3f} / {plain:.3f} = {ours / plain:.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
