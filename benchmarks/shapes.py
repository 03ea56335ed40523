"""Clusters of odd shapes without settings, beside HDBSCAN without privacy.

`python benchmarks/shapes.py [--sets moons,circles] [--methods density] [--epsilons 0.5,1]`
`python benchmarks/shapes.py --solve` finds the least epsilon at which a set is solved.
`python benchmarks/shapes.py --cells` compares DPWaveCluster's thresholds on the WaveCluster sets.
`python benchmarks/shapes.py --limits` prints what labels of the cells of a grid could reach.
`python benchmarks/shapes.py --final` runs the other sets, with seeds that no choice has seen.

ARI is the adjusted Rand index over all records, noise as a class of its own, with the standard
error over seeds. HDBSCAN is at its best over nine settings, chosen by the true labels
(`shape_reference.py`). `shape_figures.csv` holds the figures beside them: `before` (DPWaveCluster
with its defaults), `prototype`, and what DPDensity has to reach: `target`, or `margin` below
HDBSCAN. `--out` keeps every fit, and fits that it holds are not repeated: begin a new file after a
change of the code.
"""

import argparse
import csv
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from kept_runs import KeptRuns
from scipy.sparse import coo_array
from shape_reference import Peer, with_reference
from shape_sets import DESIGN, FINAL, Shapes
from sklearn.base import BaseEstimator
from sklearn.metrics import adjusted_rand_score
from wavecluster_utility import SETS, Comparison

from shoal.cluster import DPDensity, DPWaveCluster
from shoal.datasets.fetching import cache_folder
from shoal.exceptions import DataError, ParameterError

FIGURES = Path(__file__).with_name("shape_figures.csv")
FINAL_SEED = 100  # the first; design has those from 0
SOLVED = 0.9  # mean ARI
LADDER = [float(f"{epsilon:.2g}") for epsilon in np.geomspace(0.01, 100, 20)]
SIDES = (16, 32, 64, 128, 256)  # of the grids whose limit is asked for
CELL_SETS, CELL_EPSILONS = ("ds1", "ds2", "ds3"), (0.1, 0.25, 0.5)

METHODS: dict[str, Callable[..., BaseEstimator]] = {
    "wave": DPWaveCluster,
    "wave_auto": lambda **given: DPWaveCluster(threshold="auto", grid="auto", **given),
    "density": DPDensity,
}


@dataclass(frozen=True)
class Fit:
    """One fit of one set; a refused one has no ARI."""

    set: str
    method: str
    epsilon: float
    seed: int
    ari: float
    clusters: int
    noise: float
    seconds: float


KEY = ("set", "method", "epsilon", "seed")  # of a fit


def cell(
    kept: KeptRuns[Fit],
    name: str,
    shapes: Shapes,
    *,
    method: str,
    epsilon: float,
    seeds: Iterable[int],
    jobs: int = 1,
) -> list[Fit]:
    """Return a fit for each seed; make and keep those that are missing."""
    missing = [seed for seed in seeds if (name, method, epsilon, seed) not in kept]
    kept.add(
        Parallel(n_jobs=jobs)(
            delayed(measure)(name, shapes, method, epsilon, seed) for seed in missing
        )
    )
    return [kept[name, method, epsilon, seed] for seed in seeds]


def measure(name: str, shapes: Shapes, method: str, epsilon: float, seed: int) -> Fit:
    """Fit once, and compare with the labels of the set."""
    model = METHODS[method](epsilon=epsilon, bounds=shapes.bounds, random_state=seed)
    start = time.perf_counter()
    try:
        model.fit(shapes.X)
    except (DataError, ParameterError) as refusal:
        print(f"{name}, {method}, epsilon {epsilon:g}: {refusal}")
        return Fit(name, method, epsilon, seed, math.nan, 0, math.nan, math.nan)
    seconds = time.perf_counter() - start
    ari = float(adjusted_rand_score(shapes.labels, model.labels_))
    noise = float(np.mean(model.labels_ < 0))
    return Fit(name, method, epsilon, seed, ari, int(model.n_clusters_), noise, seconds)


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return float(np.mean(values)), float(error)


@dataclass(frozen=True)
class Figure:
    """A figure of another program, or what DPDensity has to reach."""

    set: str
    epsilon: float
    kind: str
    ari: float


def figures() -> list[Figure]:
    """Read the figures."""
    with FIGURES.open(newline="") as file:
        return [
            Figure(line["set"], float(line["epsilon"]), line["kind"], float(line["ari"]))
            for line in csv.DictReader(file)
        ]


def row(fits: list[Fit], best: Peer, known: list[Figure]) -> str:
    """Format a cell beside HDBSCAN and the figures."""
    mean, error = mean_and_error([fit.ari for fit in fits])
    clusters, spread = mean_and_error([fit.clusters for fit in fits])
    noise, seconds = (np.mean([getattr(fit, key) for fit in fits]) for key in ("noise", "seconds"))
    beside = ", ".join(f"{figure.kind} {figure.ari:g}" for figure in known)
    return (
        f"{fits[0].set:<14}{fits[0].method:<10}{fits[0].epsilon:>6g}{mean:>8.3f} +- {error:<7.3f}"
        f"{clusters:>7.1f} +- {spread:<6.1f}{noise:>6.0%}{seconds:>8.2f}  {best}  {beside}"
    ).rstrip()


def verdict(fits: list[Fit], best: Peer, figure: Figure) -> str:
    """Say whether a figure is reached."""
    mean, error = mean_and_error([fit.ari for fit in fits])
    wanted, what = figure.ari, figure.kind
    if figure.kind == "margin":
        wanted, what = best.ari - figure.ari, f"HDBSCAN - {figure.ari:g}"
    held = "held" if mean >= wanted else "missed"
    at = f"{figure.set:<14}{figure.epsilon:>6g}"
    return f"{at}  >= {wanted:.3f} ({what}): {mean:.3f} +- {error:.3f} {held}"


def chosen_sets(options: argparse.Namespace) -> Iterator[tuple[str, Shapes, list[Peer]]]:
    """Load the sets that were asked for, with their labels and HDBSCAN's fits."""
    table = FINAL if options.final else DESIGN
    for name in options.sets or table:
        if name not in table:
            raise SystemExit(f"sets must be some of {', '.join(table)}, got {name!r}")
        yield name, *with_reference(name, table[name](), options.cache)


def print_table(options: argparse.Namespace, seeds: range) -> None:
    """Fit every set with every method at every epsilon; say which figures are reached."""
    kept, published = KeptRuns(Fit, KEY, options.out), figures()
    print(
        f"{'set':<14}{'method':<10}{'eps':>6}{'ARI':>8} +- {'error':<7}{'k':>7} +- {'error':<6}"
        f"{'noise':>6}{'s':>8}  HDBSCAN's best (min_cluster_size/min_samples)"
    )
    verdicts = []
    for name, shapes, peers in chosen_sets(options):
        for method in options.methods:
            for epsilon in options.epsilons:
                fits = cell(
                    kept,
                    name,
                    shapes,
                    method=method,
                    epsilon=epsilon,
                    seeds=seeds,
                    jobs=options.jobs,
                )
                known = [at for at in published if (at.set, at.epsilon) == (name, epsilon)]
                print(row(fits, peers[0], known), flush=True)
                if method == "density":
                    wanted = [at for at in known if at.kind in ("target", "margin")]
                    verdicts += [verdict(fits, peers[0], at) for at in wanted]
    print("\n".join(verdicts))


def print_least_epsilons(options: argparse.Namespace, seeds: range) -> None:
    """Find where each set is first solved, from the least epsilon upward."""
    kept = KeptRuns(Fit, KEY, options.out)
    print(f"least of {LADDER} with mean ARI >= {SOLVED:g} over {len(seeds)} seeds")
    print(f"{'set':<14}" + "".join(f"{method:>12}" for method in options.methods))
    for name, shapes, _ in chosen_sets(options):
        print(f"{name:<14}", end="", flush=True)
        for method in options.methods:
            fits = partial(cell, kept, name, shapes, method=method)
            solved = (at for at in LADDER if is_solved(partial(fits, epsilon=at), seeds))
            print(f"{next(solved, '-')!s:>12}", end="", flush=True)
        print()


def is_solved(fits: Callable[..., list[Fit]], seeds: range) -> bool:
    """Fit one seed after the other, until the mean can no longer reach what is wanted."""
    spare = (1 - SOLVED) * len(seeds)  # what all fits together may lack of an ARI of 1
    for seed in seeds:
        spare -= 1 - fits(seeds=[seed])[0].ari
        if not spare >= 0:  # also where a fit was refused
            return False
    return True


def print_cells(options: argparse.Namespace, seeds: range) -> None:
    """Compare the automatic threshold with the given one: less is better, of both measures."""
    print(f"{'set':<6}{'eps':>5}  {'measure':<8}{'oneshot':>9}{'auto':>9}{'more':>9} +- error")
    for name in CELL_SETS:
        comparison = Comparison(SETS[name])
        for epsilon in CELL_EPSILONS:
            given, auto = (
                np.array(
                    [
                        comparison.measure(epsilon=epsilon, random_state=seed, **threshold)[:2]
                        for seed in seeds
                    ]
                )
                for threshold in ({}, {"threshold": "auto"})
            )
            for column, what in enumerate(("DSG_C", "OCM")):
                more, error = mean_and_error(auto[:, column] - given[:, column])
                means = f"{given[:, column].mean():>9.4f}{auto[:, column].mean():>9.4f}"
                held = "held" if more <= 0 else "within error" if more <= 2 * error else "missed"
                print(
                    f"{name:<6}{epsilon:>5g}  {what:<8}{means}{more:>9.4f} +- {error:.4f} {held}",
                    flush=True,
                )


def print_limits(options: argparse.Namespace) -> None:
    """Give each cell the label that most of its records have, as no method could know.

    That is about the most that a grid allows; where cells are as many as records it is too much.
    """
    print(f"{'set':<14}" + "".join(f"{side:>8}" for side in SIDES) + "  cells to a side")
    for name, shapes, _ in chosen_sets(options):
        low, high = shapes.bounds
        aris = []
        for side in SIDES:
            places = np.minimum((shapes.X - low) / (high - low) * side, side - 1).astype(np.int64)
            _, cells = np.unique(places, axis=0, return_inverse=True)
            _, labels = np.unique(shapes.labels, return_inverse=True)
            votes = coo_array((np.ones(len(cells)), (cells, labels))).toarray()
            aris.append(adjusted_rand_score(labels, votes.argmax(axis=1)[cells]))
        print(f"{name:<14}" + "".join(f"{ari:>8.3f}" for ari in aris), flush=True)


def main() -> None:
    """Print the table that was asked for."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    words.add_argument("--sets", type=lambda text: text.split(","), help="all by default")
    words.add_argument(
        "--methods",
        type=lambda text: text.split(","),
        default=list(METHODS),
        help=f"some of {', '.join(METHODS)}",
    )
    words.add_argument(
        "--epsilons",
        type=lambda text: [float(part) for part in text.split(",")],
        default=[0.1, 0.5, 1.0, 4.0, 100.0],
    )
    words.add_argument("--seeds", type=int, default=10, help="how many")
    words.add_argument("--first-seed", type=int, help="0, or 100 for the final sets")
    words.add_argument("--final", action="store_true", help="the sets that are run once")
    words.add_argument("--solve", action="store_true", help="the least epsilon of each set")
    words.add_argument("--cells", action="store_true", help="DSG_C and OCM of DPWaveCluster")
    words.add_argument("--limits", action="store_true", help="what labels of cells could reach")
    words.add_argument("--jobs", type=int, default=1)
    words.add_argument("--out", type=Path, help="CSV file with a line for each fit")
    words.add_argument("--cache", type=Path, default=cache_folder() / "shapes.json")
    options = words.parse_args()
    for method in options.methods:
        if method not in METHODS:
            raise SystemExit(f"methods must be some of {', '.join(METHODS)}, got {method!r}")
    first = options.first_seed
    if first is None:
        first = FINAL_SEED if options.final else 0
    seeds = range(first, first + options.seeds)
    if options.cells:
        print_cells(options, seeds)
    elif options.limits:
        print_limits(options)
    elif options.solve:
        print_least_epsilons(options, seeds)
    else:
        print_table(options, seeds)


if __name__ == "__main__":
    main()
