"""Cost and seconds of DPKMeans and of diffprivlib's KMeans, on the same tables in one run.

`python benchmarks/peers_utility.py [--python ENVIRONMENT/bin/python] [--sets S1,iris]
[--epsilons 0.5,1] [--seeds 10] [--out docs/_data/peers_kmeans.csv]`

diffprivlib needs an older scikit-learn than ours, so it runs in an environment of its own, as in
`peers.py`. Tables are those of `kmeans_utility.py`, scaled to [-1, 1] by their own minimum and
maximum, which are taken as public. Costs are mean squared distances over those of the best of 10
starts of k-means without privacy, with the standard error over seeds; seconds are the median of a
fit, ours and theirs in turn. DPKMeans is not told the number of records.
"""

import argparse
import csv
import datetime
import math
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from kmeans_utility import CLUSTERS, table
from sklearn.cluster import KMeans
from timing import PEERS

from shoal import __version__
from shoal.cluster import DPKMeans
from shoal.metrics import nicv

OUT = Path(__file__).parents[1] / "docs/_data/peers_kmeans.csv"

# A line "file k epsilon seed" makes it fit; it answers with seconds, and the file holds centers.
FITTER = """
import sys
import time
import diffprivlib
import numpy as np
from diffprivlib.models import KMeans
print(diffprivlib.__version__, flush=True)
for line in sys.stdin:
    file, k, epsilon, seed = line.rsplit(maxsplit=3)
    X = np.load(file)
    bounds = (np.full(X.shape[1], -1.0), np.full(X.shape[1], 1.0))
    model = KMeans(int(k), epsilon=float(epsilon), bounds=bounds, random_state=int(seed))
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    np.save(file + ".centers.npy", model.cluster_centers_)
    print(seconds, flush=True)
"""


@dataclass(frozen=True)
class Figure:
    """Mean cost of one method in one cell."""

    set: str
    n: int
    columns: int
    k: int
    method: str
    epsilon: float
    cost: float
    error: float
    seconds: float
    seeds: int


def figures(
    names: list[str], epsilons: list[float], seeds: int, peer: subprocess.Popen[str]
) -> Iterator[Figure]:
    """Fit every table at every epsilon with both, in turn."""
    for name in names:
        X, k = table(name), CLUSTERS[name]
        reference = KMeans(k, n_init=10, random_state=0).fit(X).inertia_ / len(X)
        with tempfile.TemporaryDirectory(prefix="shoal-peers-") as folder:
            file = Path(folder) / "records.npy"
            np.save(file, X)
            for epsilon in epsilons:
                runs: dict[str, list[tuple[float, float]]] = {"DPKMeans": [], "diffprivlib": []}
                for seed in range(seeds):
                    for method, (seconds, centers) in (
                        ("DPKMeans", _ours(X, k, epsilon, seed)),
                        ("diffprivlib", _theirs(peer, file, k, epsilon, seed)),
                    ):
                        runs[method].append((nicv(X, centers) / reference, seconds))
                for method, pairs in runs.items():
                    costs, times = np.array(pairs).T
                    yield Figure(
                        name,
                        *X.shape,
                        k,
                        method,
                        epsilon,
                        round(float(costs.mean()), 4),
                        round(float(costs.std(ddof=1)) / math.sqrt(seeds), 4),
                        round(float(np.median(times)), 4),
                        seeds,
                    )


def _ours(X: np.ndarray, k: int, epsilon: float, seed: int) -> tuple[float, np.ndarray]:
    model = DPKMeans(k, epsilon=epsilon, bounds=(-1.0, 1.0), random_state=seed)
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start, model.cluster_centers_


def _theirs(
    peer: subprocess.Popen[str], file: Path, k: int, epsilon: float, seed: int
) -> tuple[float, np.ndarray]:
    print(f"{file} {k} {epsilon} {seed}", file=peer.stdin, flush=True)
    answer = peer.stdout.readline()
    if not answer:
        raise SystemExit("the process of diffprivlib ended; its error is above")
    return float(answer), np.load(f"{file}.centers.npy")


def main() -> None:
    """Print a line a cell, and keep all of them."""
    words = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    words.add_argument("--python", type=Path, default=PEERS, help="of diffprivlib's environment")
    words.add_argument("--sets", default="S1,blood,digits8,iris")
    words.add_argument("--epsilons", default="0.5,1,2,4")
    words.add_argument("--seeds", type=int, default=10)
    words.add_argument("--out", type=Path, default=OUT)
    options = words.parse_args()
    if not options.python.exists():
        raise SystemExit(f"no diffprivlib at {options.python}: run make bench, or give --python")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    found = []
    with subprocess.Popen([options.python, "-c", FITTER], **pipes) as peer:
        version = peer.stdout.readline().strip()
        epsilons = [float(text) for text in options.epsilons.split(",")]
        for figure in figures(options.sets.split(","), epsilons, options.seeds, peer):
            print(figure, flush=True)
            found.append(figure)
    command = (
        f"python benchmarks/peers_utility.py --sets {options.sets} --epsilons {options.epsilons} "
        f"--seeds {options.seeds}"
    )
    with options.out.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# command: {command}\n")
        file.write(f"# version: shoal {__version__}, diffprivlib {version}\n")
        file.write(f"# date: {datetime.datetime.now(datetime.UTC).date()}\n")
        writer = csv.DictWriter(file, [field.name for field in fields(Figure)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(figure) for figure in found)
    print(options.out)


if __name__ == "__main__":
    main()
