"""Mean AMI of clusters of remapped reports, on the kd-Laplace author's files.

Two columns in raw units, KMeans with two clusters on standardized columns, labels of the same
clusterer on the plain columns as the baseline (targets/README.md). From the project's folder:
``SHOAL_DATA=... PYTHONPATH=tests python -m helpers.remap_comparison`` prints the comparison.
"""

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.preprocessing import StandardScaler

from shoal.mechanisms import Laplace
from shoal.remap import BayesRemap, Clip, GridRemap

# The files come with no public bounds: round numbers around each file's range stand in for them,
# the same for every remap. Real bounds must be known without the records.
FILES = {
    "seeds": ("seeds_as_published", ([10.0, 12.0], [22.0, 18.0])),
    "heart": ("heart_as_published", ([100.0, 50.0], [170.0, 160.0])),
    "circle": ("circle_2d", (-2.0, 2.0)),
    "line": ("line_2d", (-3.0, 5.0)),
    "skewed": ("skewed_2d", ([-5.0, -3.0], [6.0, 4.0])),
}
EPSILONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 5.0, 7.0, 9.0)


def load_columns(folder, name):
    path = Path(folder) / "kd_laplace" / f"{FILES[name][0]}.csv"
    return np.genfromtxt(path, delimiter=",", skip_header=1, usecols=(0, 1))


def labels(points, seed):
    standardized = StandardScaler().fit_transform(points)
    return KMeans(2, n_init=10, random_state=seed).fit_predict(standardized)


def remapped(mechanism, reports):
    """Each way back into the domain; all start from the same reports."""
    return {
        "plain": reports,
        "clip": Clip(mechanism.bounds).fit_transform(reports),
        "grid": GridRemap(mechanism.bounds).fit_transform(reports),
        "bayes": BayesRemap(mechanism).fit_transform(reports),
    }


def compare_remaps(folder, *, runs=10, names=tuple(FILES), epsilons=EPSILONS):
    """AMI by remap: array over files, epsilons and runs."""
    found = {}
    for i, name in enumerate(names):
        records = load_columns(folder, name)
        baseline = labels(records, 0)
        for j, epsilon in enumerate(epsilons):
            for run in range(runs):
                seed = 1000 * run + round(10 * epsilon)
                mechanism = Laplace(epsilon, bounds=FILES[name][1], random_state=seed)
                ways = remapped(mechanism, mechanism.fit_transform(records))
                for way, points in ways.items():
                    table = found.setdefault(way, np.empty((len(names), len(epsilons), runs)))
                    table[i, j, run] = adjusted_mutual_info_score(baseline, labels(points, run))
    return found


if __name__ == "__main__":
    tables = compare_remaps(os.environ["SHOAL_DATA"])
    out = sys.stdout.write
    out(f"{'mean AMI':<8}" + "".join(f"{name:>9}" for name in FILES) + f"{'all':>9}\n")
    for way, table in tables.items():
        row = [*table.mean(axis=(1, 2)), table.mean()]
        out(f"{way:<8}" + "".join(f"{value:>9.4f}" for value in row) + "\n")
    for way, table in tables.items():
        gain = (tables["bayes"] - table).mean(axis=(0, 1))
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        out(f"bayes - {way}: {gain.mean():.4f} +- {error:.4f} (standard error over runs)\n")
