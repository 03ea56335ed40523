"""Cost of DPKMeans on concentrated, wide and small tables, beside published figures.

`python benchmarks/wild_tables.py [--sets gowalla,wine] [--epsilons 0.5,1] [--seeds 10] [--out CSV]`
`python benchmarks/wild_tables.py --final` runs the other sets, with seeds that no choice has seen.

Costs are mean squared distances over those of k-means without privacy (the best of 10 starts, of 3
on the largest tables), with the standard error over seeds. `wild_figures.csv` holds the figures
beside them: `before` (DPKMeans with nothing but a uniform grid and a tree of hyperplanes, measured
by this file), `prototype`, the best public `peer`, and `target`. A target holds or it does not; the
other figures are means too, and hold within the error of the difference (ours stands for theirs
where none was published).
"""

import argparse
import csv
import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.cluster import KMeans
from wild_sets import DESIGN, FINAL, Table

from shoal.cluster import DPKMeans
from shoal.datasets.fetching import cache_folder
from shoal.metrics import nicv

FIGURES = Path(__file__).with_name("wild_figures.csv")
COLUMNS = ("before", "prototype", "peer")
FINAL_SEED = 100  # the first; design has those from 0


@dataclass(frozen=True)
class Fit:
    """One fit of one table."""

    set: str
    epsilon: float
    delta: float
    seed: int
    method: str
    ratio: float
    seconds: float


@dataclass(frozen=True)
class Figure:
    """A published cost, or a target."""

    set: str
    epsilon: float
    kind: str
    name: str
    cost: float
    error: float | None


def figures() -> list[Figure]:
    """Read the published figures."""
    with FIGURES.open(newline="") as file:
        return [
            Figure(
                row["set"],
                float(row["epsilon"]),
                row["kind"],
                row["name"],
                float(row["cost"]),
                float(row["error"]) if row["error"] else None,
            )
            for row in csv.DictReader(file)
        ]


def reference(name: str, table: Table, X: np.ndarray, cache: Path) -> float:
    """Return the cost of k-means without privacy, computed once."""
    costs = json.loads(cache.read_text()) if cache.exists() else {}
    key = f"{name}, k={table.n_clusters}, n_init={table.restarts}"
    if key not in costs:
        model = KMeans(table.n_clusters, n_init=table.restarts, random_state=0).fit(X)
        costs[key] = nicv(X, model.cluster_centers_)
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps(costs, indent=1))
    return float(costs[key])


def fit(name: str, X: np.ndarray, reference: float, model: DPKMeans) -> Fit:
    """Fit once, and compare its cost with the reference."""
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    ratio = nicv(X, model.cluster_centers_) / reference
    return Fit(name, model.epsilon, model.delta, model.random_state, model.method_, ratio, seconds)


def run(options: argparse.Namespace) -> Iterator[list[Fit]]:
    """Fit every set at every epsilon with every seed; yield the fits of one cell at a time."""
    tables, first = (FINAL, FINAL_SEED) if options.final else (DESIGN, 0)
    for name in options.sets or tables:
        if name not in tables:
            raise SystemExit(f"sets must be some of {', '.join(tables)}, got {name!r}")
        table = tables[name]
        X = table.records()
        cost = reference(name, table, X, options.cache)
        model = DPKMeans(
            table.n_clusters,
            delta=table.delta,
            bounds=table.bounds,
            method=options.method,
            n_public=len(X) if options.declared_n else None,
        )
        for epsilon in options.epsilons:
            yield Parallel(n_jobs=options.jobs)(
                delayed(fit)(
                    name, X, cost, clone(model).set_params(epsilon=epsilon, random_state=seed)
                )
                for seed in range(first, first + options.seeds)
            )


def mean_and_error(fits: list[Fit]) -> tuple[float, float]:
    """Return the mean ratio and its standard error."""
    ratios = [found.ratio for found in fits]
    error = np.std(ratios, ddof=1) / math.sqrt(len(ratios)) if len(ratios) > 1 else math.nan
    return float(np.mean(ratios)), float(error)


def row(fits: list[Fit], known: list[Figure]) -> str:
    """Format a cell beside the published figures."""
    mean, error = mean_and_error(fits)
    chosen = ",".join(sorted({found.method for found in fits}))
    seconds = np.median([found.seconds for found in fits])
    costs = {figure.kind: f"{figure.cost:.4g}" for figure in known}
    beside = "".join(f"{costs.get(kind, ''):>11}" for kind in COLUMNS)
    cell = f"{fits[0].set:<14}{fits[0].epsilon:>5g}"
    return f"{cell}{mean:>10.4f} +- {error:<8.4f}{chosen:<12}{seconds:>7.2f}{beside}"


def verdict(fits: list[Fit], figure: Figure) -> str:
    """Say whether a figure is reached."""
    mean, error = mean_and_error(fits)
    slack = 0.0
    if figure.kind != "target":
        slack = 1.96 * math.hypot(error, error if figure.error is None else figure.error)
    what = f"{figure.kind} {figure.name}".rstrip()
    held = "held" if mean <= figure.cost + slack else "missed"
    return (
        f"{figure.set:<14}{figure.epsilon:>5g}  <= {figure.cost:g} ({what}): "
        f"{mean:.4f} +- {error:.4f} {held}"
    )


def main() -> None:
    """Print the table, and whether each figure is reached."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    words.add_argument("--sets", type=lambda text: text.split(","), help="all by default")
    words.add_argument(
        "--epsilons",
        type=lambda text: [float(part) for part in text.split(",")],
        default=[0.1, 0.5, 1.0, 2.0, 4.0],
    )
    words.add_argument("--seeds", type=int, default=10, help="how many")
    words.add_argument("--final", action="store_true", help="the sets that are run once")
    words.add_argument("--method", default="auto")
    words.add_argument("--declared-n", action="store_true", help="the number of records is public")
    words.add_argument("--jobs", type=int, default=1)
    words.add_argument("--out", type=Path, help="CSV file with a line for each fit")
    words.add_argument("--cache", type=Path, default=cache_folder() / "wild_tables.json")
    options = words.parse_args()
    published = figures()
    heads = "".join(f"{kind:>11}" for kind in COLUMNS)
    print(f"{'set':<14}{'eps':>5}{'cost':>10} +- {'error':<8}{'method':<12}{'s':>7}{heads}")
    verdicts: list[str] = []
    fits: list[Fit] = []
    for cell in run(options):
        at = cell[0].set, cell[0].epsilon
        known = [figure for figure in published if (figure.set, figure.epsilon) == at]
        print(row(cell, known), flush=True)
        verdicts += [verdict(cell, figure) for figure in known]
        fits += cell
        if options.out is not None:
            write(options.out, fits)
    print("\n".join(verdicts))


def write(path: Path, fits: list[Fit]) -> None:
    """Write a line for each fit."""
    with path.open("w", newline="") as file:
        rows = csv.DictWriter(file, [field.name for field in fields(Fit)], lineterminator="\n")
        rows.writeheader()
        rows.writerows(asdict(found) for found in fits)


if __name__ == "__main__":
    main()
