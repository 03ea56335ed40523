"""As good as recorded: what a fit costs, or finds, within three standard errors of a table.

Privacy contracts hold noise and sensitivities; nothing in them says that a choice is good. A table
beside this file, recorded_quality.csv, says how good each method was over ``RECORDED`` seeds:
mean and standard error of the log of the k-means cost relative to that of the true centers, or of
the adjusted Rand index to the true clusters. A fit that is clearly better is not as recorded,
either: record it, so that it cannot be lost again.

A look fits with ``QUICK`` other seeds. Where their mean is two standard errors of the difference
away from the recorded one, a second look with ``FULL`` further seeds decides: more than three are
red. `make test-full` takes the second look at every row. Seeds are fixed, so code whose bits did
not change never raises an alarm. Where only the random words change, a row is wrong with
probability 1e-4 if means are normal (4.6% of 0.27%), and any of 28 with 0.3%; in the second look
alone with 0.27%, and any of 32 with 8%. Where one fit in fifty loses a cluster, means are not
normal, and a look is wrong more often.

Write the table after a change that is meant, and say why in its commit:

    PYTHONPATH=src:tests python -m contracts.quality [ROW ...]
"""

import csv
import functools
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from helpers.kmeans_problems import FIVE
from shoal.cluster import DPDensity, DPKMeans, DPWaveCluster, PrivateCopy
from shoal.mechanisms import Laplace, PartitionResponse, Piecewise
from shoal.reports import NoiseAwareDensity, NoiseAwareKMeans
from subjects import BOX, STRATA, OfUsers, Weighted

__all__ = ["QUALITIES", "Quality", "Recorded", "as_good_as_recorded", "recorded"]

FILE = Path(__file__).with_name("recorded_quality.csv")
RECORDED, QUICK, FULL = 48, 8, 24
SUSPECT, ERRORS = 2.0, 3.0  # standard errors that ask for a second look, and that it must find
LOST = 0.5  # largest log of a relative cost that is told apart


class Labeled(NamedTuple):
    """Records, their true clusters, and true centers."""

    X: Any
    labels: Any
    centers: Any


def _blobs(n: int, centers: Any, spread: float) -> Labeled:
    rng = np.random.default_rng(17)
    labels = rng.integers(0, len(centers), n)
    X = centers[labels] + spread * rng.standard_normal((n, centers.shape[1]))
    return Labeled(np.clip(X, -1.0, 1.0), labels, centers)


def _rings(n: int) -> Labeled:
    rng = np.random.default_rng(18)
    labels = rng.integers(0, 2, n)
    angles, radii = rng.uniform(0, 2 * np.pi, n), np.array([0.2, 0.8])[labels]
    X = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
    return Labeled(np.clip(X + 0.04 * rng.standard_normal(X.shape), -1.0, 1.0), labels, None)


def _corners(columns: int, k: int) -> Any:
    return np.random.default_rng(19).choice([-0.6, 0.6], (k, columns))


@functools.cache
def table(name: str) -> Labeled:
    """Return a table by its name."""
    return {
        "five blobs": lambda: _blobs(1500, FIVE, 0.08),
        "few records": lambda: _blobs(400, FIVE, 0.08),
        "two blobs": lambda: _blobs(600, FIVE[:2], 0.1),
        "six columns": lambda: _blobs(1500, _corners(6, 4), 0.1),
        "sixteen columns": lambda: _blobs(3000, _corners(16, 4), 0.1),
        "rings": lambda: _rings(4000),
    }[name]()


def log_cost(found: Any, true: Labeled) -> float:
    """Return the log of the k-means cost of centers relative to that of the true centers.

    A lost cluster costs many times more than noise does: how much more says nothing further.
    """
    cost, best = (_cost(true.X, centers) for centers in (found, true.centers))
    return min(math.log(cost / best), LOST)


def _cost(X: Any, centers: Any) -> float:
    return float(((X[:, None] - np.asarray(centers)[None]) ** 2).sum(axis=2).min(axis=1).sum())


# Ways to fit and judge


def by_cost(model: Any, true: Labeled) -> float:
    """Judge centers."""
    return log_cost(model.fit(true.X).cluster_centers_, true)


def by_rand(model: Any, true: Labeled) -> float:
    """Judge labels."""
    return float(adjusted_rand_score(true.labels, model.fit(true.X).predict(true.X)))


def of_ids(model: Any, true: Labeled) -> float:
    """Judge centers of users with two rows each."""
    ids = np.arange(len(true.X)) // 2
    return log_cost(model.fit(np.column_stack([ids, true.X])).cluster_centers_, true)


def of_weights(model: Any, true: Labeled) -> float:
    """Judge centers of records of which each second one weighs half."""
    weights = 1.0 - np.arange(len(true.X)) % 2 / 2
    return log_cost(model.fit(np.column_stack([weights, true.X])).cluster_centers_, true)


def by_copy(model: Any, true: Labeled) -> float:
    """Judge the centers that k-means finds in made-up records."""
    made = model.fit(true.X).sample(1500, random_state=0)
    kmeans = KMeans(len(true.centers), n_init=3, random_state=0).fit(made)
    return log_cost(kmeans.cluster_centers_, true)


def in_strata(model: Any, true: Labeled) -> float:
    """Judge labels where the cluster of a record decides its stratum, but for one cluster."""
    frame = pd.DataFrame({"x": true.X[:, 0] / 2 + 0.5, "c": true.labels % 2 == 0})
    return float(adjusted_rand_score(true.labels, model.fit(frame).predict(frame)))


def from_reports(analysis: Any, mechanism: Any) -> Callable[[Any, Labeled], float]:
    """Judge what an analysis of reports finds; the mechanism draws with the fit's seed."""

    def judge(model: Any, true: Labeled) -> float:
        drawing = mechanism(random_state=model.random_state)
        model.set_params(mechanism=drawing).fit(drawing.fit_transform(true.X))
        if hasattr(model, "cluster_centers_"):
            return log_cost(model.cluster_centers_, true)
        return float(adjusted_rand_score(true.labels, model.predict(true.X)))

    return judge


@dataclass(frozen=True)
class Quality:
    """One row: what is fitted to which table, and how it is judged."""

    name: str
    make: Callable[..., Any]  # make(random_state=seed)
    table: str
    judge: Callable[[Any, Labeled], float]
    heavy: bool = False  # only `make test-full` fits it

    def scores(self, seeds: Iterable[int]) -> Any:
        """Return the score of each seed."""
        true = table(self.table)
        return np.array([self.judge(self.make(random_state=seed), true) for seed in seeds])


def kmeans(name: str, places: str = "five blobs", **settings: Any) -> Quality:
    """Return a row of k-means with so many clusters as the table has."""
    k = settings.pop("n_clusters", len(table(places).centers))
    given = {"epsilon": 1.0, "bounds": BOX, **settings}
    return Quality(name, functools.partial(DPKMeans, k, **given), places, by_cost)


def wave(name: str, places: str = "rings", **settings: Any) -> Quality:
    """Return a row of WaveCluster."""
    given = {"epsilon": 0.5, "bounds": BOX, "grid": 32, "threshold": "auto", **settings}
    return Quality(name, functools.partial(DPWaveCluster, **given), places, by_rand)


def reports(name: str, analysis: Any, mechanism: Any, **settings: Any) -> Quality:
    """Return a row of an analysis of reports."""
    places, heavy = settings.pop("places", "few records"), settings.pop("heavy", False)
    return Quality(
        name,
        functools.partial(analysis, mechanism=mechanism(), **settings),
        places,
        from_reports(analysis, mechanism),
        heavy=heavy,
    )


# The best of 0.1, 0.5 and 0.9 on this table.
PUBLISHED = {"thr": 0.5, "thr-em": 0.5, "qt": 0.5, "baseline": 0.5}
LIMITS = {"epsilon": 1.0, "bounds": BOX}
SQUARE = ([-1.0, -1.0], [1.0, 1.0])
NOISY = functools.partial(Laplace, 20.0, bounds=SQUARE)
QUALITIES = (
    kmeans("DPKMeans", epsilon=0.2),
    kmeans("DPKMeans-grid", method="grid"),
    kmeans("DPKMeans-grid-gaussian", method="grid", delta=1e-6),
    kmeans("DPKMeans-tree", method="tree", epsilon=0.5),
    kmeans("DPKMeans-centered", "six columns", method="centered"),
    kmeans("DPKMeans-ball", "sixteen columns", method="ball", epsilon=1.5),
    kmeans("DPKMeans-ball-gaussian", "sixteen columns", method="ball", epsilon=0.8, delta=1e-6),
    kmeans("DPKMeans-mixed", "six columns", method="mixed", epsilon=4.0),
    # Public first centers in five clusters decide more than noise does.
    kmeans("DPKMeans-lloyd", "two blobs", method="lloyd", max_iter=5),
    kmeans("DPKMeans-lloyd-analytic", "two blobs", method="lloyd", max_iter=5, split="analytic"),
    kmeans(
        "DPKMeans-lloyd-gaussian", "two blobs", method="lloyd", max_iter=5, epsilon=2.0, delta=1e-6
    ),
    kmeans("DPKMeans-kccm", method="kccm", epsilon=8.0),
    kmeans("DPKMeans-kccm-gaussian", method="kccm", noise="gaussian", epsilon=8.0, delta=1e-6),
    kmeans("DPKMeans-private-k", n_clusters="private", epsilon=0.5),
    kmeans("DPKMeans-private-bounds", bounds="private", epsilon=0.7),
    Quality(
        "DPKMeans, users",
        functools.partial(OfUsers, 5, records_per_user=2, **LIMITS),
        "five blobs",
        of_ids,
    ),
    Quality(
        "DPKMeans, weights",
        functools.partial(Weighted, 5, bounds=BOX, epsilon=0.3),
        "five blobs",
        of_weights,
    ),
    wave("DPWaveCluster-oneshot"),
    wave("DPWaveCluster-auto", grid="auto"),
    wave("DPWaveCluster-db2", wavelet="db2"),
    wave("DPWaveCluster-density", technique="density", threshold=0.1, epsilon=4.0),
    *(
        wave(f"DPWaveCluster-{name}", technique=name, epsilon=1.5, threshold=threshold)
        for name, threshold in PUBLISHED.items()
    ),
    Quality("DPDensity", functools.partial(DPDensity, epsilon=0.3, bounds=BOX), "rings", by_rand),
    Quality(
        "DPDensity, strata",
        functools.partial(DPDensity, epsilon=0.3, schema=STRATA),
        "five blobs",
        in_strata,
    ),
    Quality("PrivateCopy", functools.partial(PrivateCopy, **LIMITS), "five blobs", by_copy),
    reports("NoiseAwareKMeans, Laplace", NoiseAwareKMeans, NOISY, n_clusters=5, heavy=True),
    reports(
        "NoiseAwareKMeans, Piecewise",
        NoiseAwareKMeans,
        functools.partial(Piecewise, 4.0, bounds=SQUARE),
        n_clusters=5,
        heavy=True,
    ),
    reports(
        "NoiseAwareKMeans, PartitionResponse",
        NoiseAwareKMeans,
        functools.partial(PartitionResponse, 4.0, bounds=SQUARE),
        n_clusters=5,
        heavy=True,
    ),
    reports("NoiseAwareDensity, Laplace", NoiseAwareDensity, NOISY, places="rings", heavy=True),
)


class Recorded(NamedTuple):
    """What the table says of a row."""

    mean: float
    standard_error: float
    seeds: int

    @property
    def deviation(self) -> float:
        """Standard deviation of one fit."""
        return self.standard_error * math.sqrt(self.seeds)

    def apart(self, scores: Any) -> float:
        """Return how many standard errors of the difference lie between two means."""
        error = math.hypot(self.standard_error, self.deviation / math.sqrt(len(scores)))
        return abs(float(np.mean(scores)) - self.mean) / error


@functools.cache
def recorded() -> dict[tuple[str, str], Recorded]:
    """Read the table, by row and table."""
    with FILE.open(newline="", encoding="utf-8") as file:
        return {
            (line["subject"], line["table"]): Recorded(
                float(line["mean"]), float(line["standard_error"]), int(line["seeds"])
            )
            for line in csv.DictReader(file)
        }


# Seeds of the three kinds differ: the first are those of the table.
FIRST_LOOK = range(1000, 1000 + QUICK)
SECOND_LOOK = range(2000, 2000 + FULL)


def as_good_as_recorded(row: Quality, *, full: bool = False) -> None:
    """Assert that a row's scores are those of the table, by one look or by two."""
    known = recorded()[row.name, row.table]
    first = row.scores(FIRST_LOOK)
    if not full and known.apart(first) <= SUSPECT:
        return
    second = row.scores(SECOND_LOOK)
    assert known.apart(second) <= ERRORS, (
        f"{row.name} on {row.table}: {np.mean(second):.4g} over {len(second)} seeds, recorded "
        f"{known.mean:.4g} with a deviation of {known.deviation:.2g}; if this is meant, write the "
        "table: PYTHONPATH=src:tests python -m contracts.quality"
    )


def write(names: Iterable[str]) -> None:
    """Write the table, or rows of it anew."""
    chosen = set(names)
    unknown = chosen - {row.name for row in QUALITIES}
    if unknown:
        raise SystemExit(f"no such row: {', '.join(sorted(unknown))}")
    known = recorded() if FILE.exists() else {}
    lines = []
    for row in QUALITIES:
        key = row.name, row.table
        if key not in known or not chosen or row.name in chosen:
            scores = row.scores(range(RECORDED))
            error = float(np.std(scores, ddof=1)) / math.sqrt(RECORDED)
            found = Recorded(float(np.mean(scores)), error, RECORDED)
        else:
            found = known[key]
        lines.append([*key, f"{found.mean:.5g}", f"{found.standard_error:.3g}", found.seeds])
        sys.stdout.write(f"{row.name:40} {found.mean:8.4f} +- {found.standard_error:.4f}\n")
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["subject", "table", "mean", "standard_error", "seeds"])
        writer.writerows(lines)


if __name__ == "__main__":
    write(sys.argv[1:])
