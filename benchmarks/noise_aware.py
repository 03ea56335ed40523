"""NoiseAwareKMeans beside KMeans on clipped reports, over epsilon, judged on the true records.

``SHOAL_DATA=... python benchmarks/noise_aware.py`` prints the held-out sets, ``--design`` the
others. Both get the same reports, seed by seed. A cell is the mean excess cost over KMeans on the
true records (cost ratio minus 1), and "gain" the paired difference with its standard error; a cell
in which NoiseAwareKMeans is worse by more than two of them is marked.

Design sets, which choices were made on: s1, a2, unbalance, d31-design (31 clusters of 100 records,
other layouts than below), city-design (homes in a city of 20 km). Held-out sets, run once after
the last choice: s2, r15, mopsi (every third place), d31-tight and d31-loose (31 clusters of 100
records), and city (homes in a city, another layout). Epsilon is per unit of [-1, 1]^2, per km for
cities.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from shoal.mechanisms import Laplace
from shoal.metrics import nicv
from shoal.reports import NoiseAwareKMeans

Floats = npt.NDArray[np.float64]

UNIT = (4.0, 8.0, 16.0, 64.0)  # epsilon per unit of the box
PER_KM = (0.2, 0.69, 1.39, 4.0)
HALF_CITY = 10.0  # km


@dataclass(frozen=True)
class Problem:
    """Records, how many clusters, the public box and the epsilons to compare at."""

    make: Callable[[], Floats]
    k: int
    half: float = 1.0
    epsilons: tuple[float, ...] = UNIT


def from_file(name: str, step: int = 1) -> Callable[[], Floats]:
    """Read every so many records of a data file, scaled to [-1, 1]^2 by the file's own range."""

    def make() -> Floats:
        if "SHOAL_DATA" not in os.environ:
            raise SystemExit(f"set SHOAL_DATA to the folder with {name}.csv, or choose --only city")
        path = Path(os.environ["SHOAL_DATA"]) / f"{name}.csv"
        records = np.genfromtxt(path, delimiter=",", skip_header=1)[:, :2]
        low, high = records.min(axis=0), records.max(axis=0)
        return np.clip(2 * (records - low) / (high - low) - 1, -1, 1)[::step]

    return make


def small_clusters(seed: int, spread: float, gap: float) -> Callable[[], Floats]:
    """Make 31 round clusters of 100 records, their middles at least ``gap`` apart."""

    def make() -> Floats:
        rng = np.random.default_rng(seed)
        middles: list[Floats] = []
        while len(middles) < 31:
            place = rng.uniform(-0.92, 0.92, 2)
            if all(np.hypot(*(place - other)) > gap for other in middles):
                middles.append(place)
        records = np.repeat(middles, 100, axis=0) + spread * rng.normal(size=(3100, 2))
        return np.clip(records, -1, 1)

    return make


def city(seed: int, n: int = 5000) -> Callable[[], Floats]:
    """Make homes in a city: quarters of all sizes, denser near the middle, and homes anywhere."""

    def make() -> Floats:
        rng = np.random.default_rng(seed)
        quarters = rng.uniform(-8, 8, (40, 2))
        shares = np.exp(-np.hypot(*quarters.T) / 4)
        own = rng.choice(40, n, p=shares / shares.sum())
        records = quarters[own] + rng.normal(size=(n, 2)) * rng.uniform(0.3, 1.2, 40)[own, None]
        anywhere = rng.random(n) < 0.15
        records[anywhere] = rng.uniform(-9, 9, (anywhere.sum(), 2))
        return np.clip(records, -HALF_CITY, HALF_CITY)

    return make


DESIGN = {
    "s1": Problem(from_file("s1"), 15),
    "a2": Problem(from_file("a2"), 35),
    "unbalance": Problem(from_file("unbalance"), 8),
    "d31-design": Problem(small_clusters(3, 0.055, 0.18), 31),
    "city-design": Problem(city(1), 6, HALF_CITY, PER_KM),
}
HELD_OUT = {
    "s2": Problem(from_file("s2"), 15),
    "r15": Problem(from_file("r15"), 15),
    "mopsi": Problem(from_file("mopsi_finland", step=3), 10),
    "d31-tight": Problem(small_clusters(9001, 0.045, 0.2), 31),
    "d31-loose": Problem(small_clusters(9002, 0.055, 0.18), 31),
    "city": Problem(city(9003), 6, HALF_CITY, PER_KM),
}


def cells(problem: Problem, seeds: range) -> Iterator[tuple[float, Floats]]:
    """Yield each epsilon with the excesses of both, one seed a row."""
    records = problem.make()
    box = (-problem.half, problem.half)
    k = problem.k
    best = nicv(records, KMeans(k, n_init=10, random_state=0).fit(records).cluster_centers_)
    for epsilon in problem.epsilons:
        rows = []
        for seed in seeds:
            mechanism = Laplace(epsilon, bounds=box, random_state=seed)
            reports = mechanism.fit_transform(records)
            aware = NoiseAwareKMeans(k, mechanism=mechanism, random_state=seed).fit(reports)
            plain = KMeans(k, n_init=10, random_state=seed).fit(np.clip(reports, *box))
            found = (aware.cluster_centers_, plain.cluster_centers_)
            rows.append([nicv(records, centers) / best - 1 for centers in found])
        yield epsilon, np.array(rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--design", action="store_true", help="the sets that choices were made on")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=70_000, help="first seed")
    parser.add_argument("--only", nargs="*", help="names of sets")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    print(f"{'set':<14}{'eps':>6}{'aware':>9}{'plain':>9}{'ratio':>7}{'gain':>10} +- s.e.")
    cells_seen = worse = 0
    with threadpool_limits(1):
        for name, problem in (DESIGN if asked.design else HELD_OUT).items():
            if asked.only and name not in asked.only:
                continue
            for epsilon, table in cells(problem, seeds):
                aware, plain = table.mean(axis=0)
                gains = table[:, 1] - table[:, 0]
                error = gains.std(ddof=1) / np.sqrt(len(gains))
                is_worse = gains.mean() < -2 * error
                cells_seen, worse = cells_seen + 1, worse + is_worse
                ratio = aware / plain if plain > 0 else np.nan
                print(
                    f"{name:<14}{epsilon:>6g}{aware:>9.4f}{plain:>9.4f}{ratio:>7.2f}"
                    f"{gains.mean():>+10.5f} +- {error:.5f}{'  worse' if is_worse else ''}",
                    flush=True,
                )
    print(f"worse by more than two standard errors in {worse} of {cells_seen} cells")


if __name__ == "__main__":
    main()
