"""How often DPDensity finds more than one cluster where there is one.

`python benchmarks/false_clusters.py [--shapes uniform,gaussian] [--runs 1000] [--out CSV]`
`python benchmarks/false_clusters.py --harsh` runs other densities with a single peak.

Every run draws records and noise of its own. `p` is that of the one-sided binomial test of "at most
alpha": a row is missed where it is below 0.001, which happens to one right row in a thousand. The
test is harder than the promise where records are few or noise is large, since no cluster at all
counts as right. `--out` keeps every run, and runs that it holds are not repeated: begin a new file
after a change of the code.
"""

import argparse
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from kept_runs import KeptRuns
from scipy.stats import binomtest

from shoal.cluster import DPDensity

SIZES, EPSILONS = (2_000, 20_000), (0.1, 1.0, 100.0)
LEVEL = 0.001  # of the test of a row
BATCH = 50  # runs that are kept at once

Draw = Callable[[np.random.Generator, int], np.ndarray]


def uniform(columns: int) -> Draw:
    """Spread records evenly over the box."""
    return lambda rng, n: rng.random((n, columns))


def gaussian(spread: float, columns: int = 2) -> Draw:
    """Draw around the middle of the box, again where a record falls outside."""
    return _in_box(lambda rng, n: rng.normal(0.5, spread, (n, columns)))


def triangular(columns: int) -> Draw:
    """Draw each column from a triangle over the width of the box."""
    return lambda rng, n: rng.triangular(0, 0.5, 1, (n, columns))


def exponential(columns: int) -> Draw:
    """Draw a peak at a corner that falls off by e in a fifth of the box."""
    return _in_box(lambda rng, n: rng.exponential(0.2, (n, columns)))


def plateau(columns: int) -> Draw:
    """Spread records evenly over a third of each column, with empty space beside them."""
    return lambda rng, n: rng.uniform(0.35, 0.7, (n, columns))


def ridge(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw along a line across the box, a hundredth of the box wide."""
    along = rng.uniform(0.1, 0.9, n)
    return np.column_stack([along, 0.2 + 0.6 * along]) + rng.normal(0, 0.01, (n, 2))


def _in_box(draw: Draw) -> Draw:
    def inside(rng: np.random.Generator, n: int) -> np.ndarray:
        X = draw(rng, n)
        while (out := ((X < 0) | (X > 1)).any(axis=1)).any():
            X[out] = draw(rng, int(out.sum()))
        return X

    return inside


SHAPES: dict[str, Draw] = {
    "uniform": uniform(2),
    "gaussian": gaussian(0.15),
    "gaussian_05": gaussian(0.05),
}
HARSH: dict[str, Draw] = {
    "triangular": triangular(2),
    "exponential": exponential(2),
    "ridge": ridge,
    "plateau": plateau(2),
    "plateau_1d": plateau(1),
    "uniform_1d": uniform(1),
    "gaussian_1d": gaussian(0.15, 1),
    "exponential_1d": exponential(1),
    "uniform_3d": uniform(3),
    "gaussian_3d": gaussian(0.15, 3),
    "exponential_3d": exponential(3),
}


@dataclass(frozen=True)
class Run:
    """One fit of one draw."""

    shape: str
    n: int
    epsilon: float
    seed: int
    clusters: int


def run(shape: str, n: int, epsilon: float, seed: int) -> Run:
    """Draw records and fit them."""
    X = (SHAPES | HARSH)[shape](np.random.default_rng([seed, n]), n)
    model = DPDensity(epsilon=epsilon, bounds=(0.0, 1.0), random_state=seed).fit(X)
    return Run(shape, n, epsilon, seed, int(model.n_clusters_))


def cells(options: argparse.Namespace) -> Iterator[list[Run]]:
    """Make and keep the runs that are missing; yield those of one cell at a time."""
    kept = KeptRuns(Run, ("shape", "n", "epsilon", "seed"), options.out)
    seeds = range(options.first_seed, options.first_seed + options.runs)
    for at in itertools.product(options.shapes, options.sizes, options.epsilons):
        missing = [seed for seed in seeds if (*at, seed) not in kept]
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            kept.add(Parallel(n_jobs=options.jobs)(delayed(run)(*at, seed) for seed in batch))
        yield [kept[*at, seed] for seed in seeds]


def row(runs: list[Run], alpha: float) -> str:
    """Format a cell: how many runs found no cluster, one, and more."""
    found = np.array([one.clusters for one in runs])
    none, several = int((found == 0).sum()), int((found > 1).sum())
    p = binomtest(several, len(runs), alpha, alternative="greater").pvalue
    at = f"{runs[0].shape:<24}{runs[0].n:>7,}{runs[0].epsilon:>6g}{len(runs):>6}"
    counts = f"{none:>6}{len(runs) - none - several:>6}{several:>6}{found.max():>6}"
    return f"{at}{counts}{several / len(runs):>8.3f}{p:>8.3f}  {'missed' if p < LEVEL else 'held'}"


def main() -> None:
    """Print a line for each density, number of records and epsilon."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    words.add_argument("--shapes", type=_list_of(str), help="all by default")
    words.add_argument("--harsh", action="store_true", help="the other densities")
    words.add_argument("--sizes", type=_list_of(int), default=list(SIZES))
    words.add_argument("--epsilons", type=_list_of(float), default=list(EPSILONS))
    words.add_argument("--runs", type=int, default=1_000)
    words.add_argument("--first-seed", type=int, default=0)
    words.add_argument("--jobs", type=int, default=2)
    words.add_argument("--out", type=Path, help="CSV file with a line for each run")
    options = words.parse_args()
    options.shapes = options.shapes or list(HARSH if options.harsh else SHAPES)
    for shape in options.shapes:
        if shape not in SHAPES | HARSH:
            raise SystemExit(f"shapes must be some of {', '.join(SHAPES | HARSH)}, got {shape!r}")
    alpha = DPDensity().alpha
    print(f"clusters found where there is one; alpha {alpha:g}")
    print(
        f"{'density':<24}{'n':>7}{'eps':>6}{'runs':>6}{'none':>6}{'one':>6}{'more':>6}{'most':>6}"
        f"{'rate':>8}{'p':>8}"
    )
    for runs in cells(options):
        print(row(runs, alpha), flush=True)


def _list_of(kind: type) -> Callable[[str], list]:
    return lambda text: [kind(part) for part in text.split(",")]


if __name__ == "__main__":
    main()
