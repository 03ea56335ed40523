"""Private clusters of mixed tables: numbers, categories and gaps, by a schema.

`python benchmarks/mixed.py [--sets adult] [--methods schema,box] [--epsilons 0.5,1] [--out CSV]`
`python benchmarks/mixed.py --profile` measures profiles of clusters (`mixed_profiles.py`).
`python benchmarks/mixed.py --final` runs the sets that no choice has seen, with other seeds.

Costs are mean squared distances in the encoded space (categories as one-hot blocks, numbers in
units of their bounds, weighed by the schema) over those of the best of 20 starts of k-means without
privacy there, with the standard error over seeds. The methods:

* `schema`: `DPKMeans(schema=...)` on the table;
* `box`: the encoded columns with `DPKMeans(bounds=...)`, whose noise knows nothing but their box
  (distances are in units of the bounds, which is another weighing of the columns);
* `cube`: the same with one width for all columns, which keeps the schema's distances;
* `diffprivlib`: its KMeans on the same encoded columns and box (`mixed_peer.py`);
* `public`: centers of made-up records of the schema, which cost no privacy;
* `prototypes`: k-prototypes without privacy, as a check of the reference;
* `one`: the mean of all records without privacy, for a sense of the scale.

`--out` keeps every fit, and fits that it holds are not repeated: begin a new file after a change of
the code.
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kept_runs import KeptRuns
from mixed_peer import peer_centers, peer_python
from mixed_profiles import profile_lines
from mixed_sets import (
    CLUSTERS,
    DESIGN,
    DRAWN,
    FINAL,
    Mixed,
    best_cost,
    prototype_cost,
    public_centers,
)

from shoal.cluster import DPKMeans
from shoal.metrics import nicv

FINAL_SEED = 100  # the first; design has those from 0
EPSILONS = (0.1, 0.5, 1.0, 2.0)
PEER = "diffprivlib"
REFERENCE = "kmeans"
FREE = 0.0  # the epsilon of what is not private, or asks no record


@dataclass(frozen=True)
class Fit:
    """One fit of one table: its mean squared distance."""

    set: str
    method: str
    epsilon: float
    seed: int
    cost: float
    seconds: float


KEY = ("set", "method", "epsilon", "seed")  # of a fit


def _by_schema(table: Mixed, epsilon: float, seed: int) -> np.ndarray:
    model = DPKMeans(CLUSTERS, epsilon=epsilon, schema=table.schema, random_state=seed)
    return model.fit(table.table).cluster_centers_


def _in_box(table: Mixed, epsilon: float, seed: int) -> np.ndarray:
    bounds = (np.zeros_like(table.widths), table.widths)
    model = DPKMeans(CLUSTERS, epsilon=epsilon, bounds=bounds, random_state=seed)
    return model.fit(table.X).cluster_centers_


def _in_cube(table: Mixed, epsilon: float, seed: int) -> np.ndarray:
    bounds = (0.0, float(table.widths.max()))
    model = DPKMeans(CLUSTERS, epsilon=epsilon, bounds=bounds, random_state=seed)
    return model.fit(table.X).cluster_centers_


PRIVATE: dict[str, Callable[[Mixed, float, int], np.ndarray]] = {
    "schema": _by_schema,
    "box": _in_box,
    "cube": _in_cube,
}
WITHOUT: dict[str, Callable[[Mixed, int], float]] = {
    "public": lambda table, seed: nicv(table.X, public_centers(table, seed)),
    "prototypes": prototype_cost,
    "one": lambda table, _: float(table.X.var(axis=0).sum()),
}
METHODS = (*PRIVATE, PEER, *WITHOUT)


class Bench:
    """Fits of the tables, kept in a file if there is one."""

    def __init__(self, path: Path | None, tables: dict[str, Callable[[int], Mixed]]) -> None:
        self._kept, self._tables = KeptRuns(Fit, KEY, path), tables

    def ratios(self, name: str, method: str, epsilon: float, seeds: Sequence[int]) -> np.ndarray:
        """Return the costs over those of k-means without privacy, one a seed."""
        for seed in seeds:
            if (name, method, epsilon, seed) not in self._kept:
                self._kept.add([self._fit(name, method, epsilon, seed)])
        return np.array(
            [
                self._kept[name, method, epsilon, seed].cost / self._reference(name, seed)
                for seed in seeds
            ]
        )

    def run_peer(self, python: Path, name: str, epsilons: Sequence[float], seeds: range) -> None:
        """Make the fits of diffprivlib that are missing, those of a table in one process."""
        missing = [
            (epsilon, seed)
            for epsilon in epsilons
            for seed in seeds
            if (name, PEER, epsilon, seed) not in self._kept
        ]
        for which in {seed if name in DRAWN else seeds[0] for _, seed in missing}:
            pairs = [(e, seed) for e, seed in missing if name not in DRAWN or seed == which]
            table, start = self._tables[name](which), time.perf_counter()
            found = peer_centers(python, table.X, table.widths, CLUSTERS, pairs)
            seconds = (time.perf_counter() - start) / len(pairs)
            self._kept.add(
                Fit(name, PEER, epsilon, seed, nicv(table.X, centers), seconds)
                for (epsilon, seed), centers in zip(pairs, found, strict=True)
            )

    def _reference(self, name: str, seed: int) -> float:
        seed = seed if name in DRAWN else 0
        key = (name, REFERENCE, FREE, seed)
        if key not in self._kept:
            start = time.perf_counter()
            cost = best_cost(self._tables[name](seed))
            self._kept.add([Fit(*key, cost, time.perf_counter() - start)])
        return self._kept[key].cost

    def _fit(self, name: str, method: str, epsilon: float, seed: int) -> Fit:
        table, start = self._tables[name](seed), time.perf_counter()
        if method in WITHOUT:
            cost = WITHOUT[method](table, seed)
        else:
            cost = nicv(table.X, PRIVATE[method](table, epsilon, seed))
        return Fit(name, method, epsilon, seed, cost, time.perf_counter() - start)


def mean_and_error(values: np.ndarray) -> str:
    """Format the mean and its standard error."""
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{values.mean():8.3f} +- {error:.3f}"


def lines(options: argparse.Namespace, seeds: range) -> Iterator[str]:
    """Yield a line for each table and method, with a column for each epsilon."""
    bench = Bench(options.out, FINAL if options.final else DESIGN)
    python = peer_python() if PEER in options.methods else None
    yield f"{'set':<12}{'method':<13}" + "".join(
        f"{f'epsilon {e:g}':>18}" for e in options.epsilons
    )
    for name in options.sets:
        for method in options.methods:
            if method == PEER:
                if python is None:
                    continue
                bench.run_peer(python, name, options.epsilons, seeds)
            epsilons = [FREE] if method in WITHOUT else options.epsilons
            cells = [mean_and_error(bench.ratios(name, method, e, seeds)) for e in epsilons]
            yield f"{name:<12}{method:<13}" + "".join(f"{cell:>18}" for cell in cells)


def main() -> None:
    """Print the table that was asked for."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parts: Callable[[str], list[str]] = lambda text: text.split(",")  # noqa: E731
    words.add_argument("--sets", type=parts, help="all by default")
    words.add_argument("--methods", type=parts, default=list(METHODS))
    words.add_argument(
        "--epsilons",
        type=lambda text: [float(part) for part in text.split(",")],
        default=list(EPSILONS),
    )
    words.add_argument("--seeds", type=int, default=10, help="how many")
    words.add_argument("--final", action="store_true", help="the sets that are run once")
    words.add_argument("--profile", action="store_true", help="errors of profiles instead")
    words.add_argument("--out", type=Path, help="CSV file with a line for each fit")
    options = words.parse_args()
    known = FINAL if options.final else DESIGN
    options.sets = options.sets or list(known)
    for given, allowed in ((options.sets, known), (options.methods, METHODS)):
        unknown = [name for name in given if name not in allowed]
        if unknown:
            raise SystemExit(f"must be some of {', '.join(allowed)}, got {unknown[0]!r}")
    first = FINAL_SEED if options.final else 0
    seeds = range(first, first + options.seeds)
    found = profile_lines(options, seeds, known) if options.profile else lines(options, seeds)
    for line in found:
        print(line, flush=True)


if __name__ == "__main__":
    main()
