"""Clusters of records that only their devices see, at strict local epsilons, on known tables.

`python benchmarks/strict_local.py [--sets s1,mopsi] [--methods one_round,blind] [--epsilons 1,2]
[--seeds 10] [--out CSV] [--update]`
`python benchmarks/strict_local.py --final` runs the other sets, with seeds that no choice has seen.

Costs are mean squared distances of the true records over those of the best of 10 starts of k-means
without privacy, with the standard error over seeds. Epsilon is the worst case for all methods: for
a person whose record is exchanged for any other of the box. The methods:

* `one_round`: `PartitionResponse`, clustered by `NoiseAwareKMeans`;
* `two_rounds`: the same by a `TwoRoundCampaign`, in which each device reports once too;
* `laplace`, `piecewise`: their reports, clustered by `NoiseAwareKMeans`;
* `blind`: centers spread over the box, which ask no record;
* `central`: `DPKMeans` of a curator who sees all records.

`--out` keeps every fit, and fits that it holds are not repeated: begin a new file after a change of
the code. `strict_local_figures.csv` holds figures of the prototype, and the last ones of each
method here; a cell that is not run shows the one that is stored. `--update` stores the means, and
`--picture` draws those of each set, cost against epsilon.
"""

import argparse
import csv
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kept_runs import KeptRuns
from strict_local_sets import (
    BOX,
    DESIGN,
    FINAL,
    TRIAL,
    Floats,
    Table,
    blind_centers,
    reference_centers,
)

from shoal.cluster import DPKMeans
from shoal.datasets.fetching import cache_folder
from shoal.experiments.compare import own_epsilon
from shoal.mechanisms import Laplace, PartitionResponse, Piecewise
from shoal.metrics import nicv
from shoal.plotting import draw_lines
from shoal.reports import NoiseAwareKMeans, TwoRoundCampaign

FIGURES = Path(__file__).with_name("strict_local_figures.csv")
FINAL_SEED = 100  # the first; design has those from 0
LATER = 10_000  # added to the seed of a second round
EPSILONS = (0.5, 1.0, 2.0, 4.0)
NEAR = 1.1  # of a figure of the prototype, which is the mean of three seeds
PROTOTYPE = "prototype"
ROUNDS = ("one_round", "two_rounds")
OTHERS = ("laplace", "piecewise", "blind")  # local, or without a report
# What is drawn: a curve of this mechanism, and which of several it is.
CURVES = {
    "one_round": ("PartitionResponse", "one round"),
    "two_rounds": ("PartitionResponse", "two rounds"),
    "laplace": ("Laplace", "one round"),
    "piecewise": ("Piecewise", "one round"),
    "central": ("DPKMeans", "one round"),
}


@dataclass(frozen=True)
class Fit:
    """One fit of one table: its mean squared distance over that of k-means."""

    set: str
    method: str
    epsilon: float
    seed: int
    ratio: float
    seconds: float


@dataclass(frozen=True)
class Figure:
    """A mean over seeds, here or of the prototype."""

    cost: float
    error: float = math.nan
    seeds: int = 0

    def __str__(self) -> str:
        if math.isnan(self.error):
            return f"{self.cost:.3g}"
        return f"{self.cost:.2f} ± {self.error:.2f}"


Cell = tuple[str, str, float]  # set, method, epsilon
KEY = ("set", "method", "epsilon", "seed")  # of a fit


def _one_round(X: Floats, k: int, epsilon: float, seed: int) -> Floats:
    mechanism = PartitionResponse(epsilon, bounds=BOX, n_clusters=k, random_state=seed)
    return _from_reports(mechanism, X, k, seed)


def _laplace(X: Floats, k: int, epsilon: float, seed: int) -> Floats:
    own = own_epsilon("metric", epsilon, X.shape[1])
    return _from_reports(Laplace(own, bounds=BOX, random_state=seed), X, k, seed)


def _piecewise(X: Floats, k: int, epsilon: float, seed: int) -> Floats:
    return _from_reports(Piecewise(epsilon, bounds=BOX, random_state=seed), X, k, seed)


def _from_reports(
    mechanism: Laplace | Piecewise | PartitionResponse, X: Floats, k: int, seed: int
) -> Floats:
    reports = mechanism.fit_transform(X)
    return NoiseAwareKMeans(k, mechanism=mechanism, random_state=seed).fit(reports).cluster_centers_


def _two_rounds(X: Floats, k: int, epsilon: float, seed: int) -> Floats:
    box = tuple(np.full(X.shape[1], side) for side in BOX)
    mechanism = PartitionResponse(epsilon, bounds=box, n_clusters=k, random_state=seed)
    campaign = TwoRoundCampaign(k, mechanism=mechanism)
    rounds = campaign.draw_rounds(len(X), random_state=seed)
    first = campaign.first_mechanism.fit_transform(X[rounds == 1])
    campaign.second(first)
    # Another seed: devices of one round do not draw what those of the other did.
    later = campaign.second_mechanism.set_params(random_state=LATER + seed)
    second = later.fit_transform(X[rounds == 2])
    return campaign.cluster(first, second, random_state=seed).cluster_centers_


def _blind(X: Floats, k: int, epsilon: float, seed: int) -> Floats:
    return blind_centers(k, X.shape[1], seed)


def _central(X: Floats, k: int, epsilon: float, seed: int) -> Floats:
    own = own_epsilon("central", epsilon, X.shape[1])
    return DPKMeans(k, epsilon=own, bounds=BOX, random_state=seed).fit(X).cluster_centers_


METHODS: dict[str, Callable[[Floats, int, float, int], Floats]] = {
    "one_round": _one_round,
    "two_rounds": _two_rounds,
    "laplace": _laplace,
    "piecewise": _piecewise,
    "blind": _blind,
    "central": _central,
}
FREE = ("blind",)  # the same at every epsilon, and run once


def reference(name: str, table: Table, X: Floats, cache: Path) -> float:
    """Return the cost of k-means without privacy, computed once."""
    costs = json.loads(cache.read_text()) if cache.exists() else {}
    key = f"{name}, n={len(X)}, k={table.n_clusters}, n_init={table.restarts}"
    if key not in costs:
        costs[key] = nicv(X, reference_centers(X, table))
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps(costs, indent=1))
    return float(costs[key])


def run(name: str, table: Table, options: argparse.Namespace, kept: KeptRuns[Fit]) -> None:
    """Run what is asked for of one table and not kept, a line for each cell."""
    first = FINAL_SEED if options.final else 0
    X: Floats | None = None
    for epsilon, method in ((e, m) for e in options.epsilons for m in options.methods):
        at = EPSILONS[0] if method in FREE else epsilon
        keys = [(name, method, at, seed) for seed in range(first, first + options.seeds)]
        missing = [key for key in keys if key not in kept]
        if missing and X is None:
            X = table.records()
            best = reference(name, table, X, options.cache)
        for key in missing:
            start = time.perf_counter()
            centers = METHODS[method](X, table.n_clusters, at, key[-1])
            seconds = time.perf_counter() - start
            kept.add([Fit(*key, ratio=nicv(X, centers) / best, seconds=seconds)])
        if missing:
            fits = [kept[key] for key in keys]
            seconds = np.median([fit.seconds for fit in fits])
            cell = f"{name:<14}{epsilon:>5g}  {method:<12}"
            print(f"{cell}{summary(fits)!s:>14}{seconds:>8.1f} s", flush=True)


def summary(fits: Sequence[Fit]) -> Figure:
    """Return the mean ratio and its standard error."""
    ratios = [fit.ratio for fit in fits]
    error = np.std(ratios, ddof=1) / math.sqrt(len(ratios)) if len(ratios) > 1 else math.nan
    return Figure(float(np.mean(ratios)), float(error), len(ratios))


def stored_figures() -> dict[Cell, Figure]:
    """Read the figures of the prototype and those that were stored."""
    with FIGURES.open(newline="") as file:
        return {
            (row["set"], row["method"], float(row["epsilon"])): Figure(
                float(row["cost"]), float(row["error"] or math.nan), int(row["seeds"])
            )
            for row in csv.DictReader(file)
        }


def store(figures: dict[Cell, Figure]) -> None:
    """Write all figures."""
    with FIGURES.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["set", "method", "epsilon", "cost", "error", "seeds"])
        for (name, method, epsilon), figure in sorted(figures.items()):
            error = "" if math.isnan(figure.error) else f"{figure.error:.4f}"
            cost = f"{figure.cost:.4f}" if error else f"{figure.cost:g}"
            rows.writerow([name, method, f"{epsilon:g}", cost, error, figure.seeds])


def measured(
    names: Sequence[str], options: argparse.Namespace, kept: KeptRuns[Fit]
) -> dict[Cell, Figure]:
    """Return the figures of the cells all of whose fits are kept."""
    first = FINAL_SEED if options.final else 0
    figures = {}
    for name, method, epsilon in (
        (n, m, e) for n in names for m in options.methods for e in options.epsilons
    ):
        at = EPSILONS[0] if method in FREE else epsilon
        keys = [(name, method, at, seed) for seed in range(first, first + options.seeds)]
        if all(key in kept for key in keys):
            figures[name, method, epsilon] = summary([kept[key] for key in keys])
    return figures


def table_lines(
    names: Sequence[str], epsilons: Sequence[float], figures: dict[Cell, Figure]
) -> Iterator[str]:
    """Yield a markdown table: a line for each set and epsilon."""
    heads = ["set", "epsilon", *(f"{r.replace('_', ' ')} (prototype)" for r in ROUNDS)]
    heads += [method for method in METHODS if method not in ROUNDS]
    yield "| " + " | ".join(heads) + " |"
    yield "| " + " | ".join("---" for _ in heads) + " |"
    for name, epsilon in ((n, e) for n in names for e in epsilons):
        cells = [name, f"{epsilon:g}"]
        for rounds in ROUNDS:
            ours = figures.get((name, rounds, epsilon))
            known = figures.get((name, f"{PROTOTYPE} {rounds}", epsilon))
            cells.append(f"{ours or ''} {beside(ours, known)}".strip())
        cells += [str(figures.get((name, m, epsilon), "")) for m in METHODS if m not in ROUNDS]
        yield "| " + " | ".join(cells) + " |"


def beside(ours: Figure | None, known: Figure | None) -> str:
    """Return a figure of the prototype and where ours is to it: below, near or above."""
    if known is None:
        return ""
    if ours is None:
        return f"({known})"
    mark = "below" if ours.cost <= known.cost else "near"
    return f"({known}: {mark if ours.cost <= NEAR * known.cost else 'ABOVE'})"


def verdicts(
    names: Sequence[str], epsilons: Sequence[float], figures: dict[Cell, Figure]
) -> Iterator[str]:
    """Count the cells at or near the prototype, and those below all that is local or blind."""
    cells = [(name, epsilon) for name in names for epsilon in epsilons]
    for rounds in ROUNDS:
        pairs = [
            (figures[name, rounds, epsilon].cost, known.cost)
            for name, epsilon in cells
            if (name, rounds, epsilon) in figures
            and (known := figures.get((name, f"{PROTOTYPE} {rounds}", epsilon))) is not None
        ]
        below = sum(ours <= known for ours, known in pairs)
        near = sum(ours <= NEAR * known for ours, known in pairs)
        yield f"{rounds}: of {len(pairs)} figures of the prototype {near} within 10%, {below} below"
        losses = [
            f"{name} {epsilon:g} ({method})"
            for name, epsilon in cells
            for method in OTHERS
            if (name, rounds, epsilon) in figures and (name, method, epsilon) in figures
            if figures[name, rounds, epsilon].cost >= figures[name, method, epsilon].cost
        ]
        yield f"{rounds}: not below a baseline: {', '.join(losses) or 'nowhere'}"


def draw(names: Sequence[str], figures: dict[Cell, Figure], path: Path) -> None:
    """Draw cost against epsilon, a panel for each set; blind centers are a level line."""
    rows = [
        {
            "set": name,
            "epsilon": epsilon,
            "mechanism": CURVES[method][0],
            "reports": CURVES[method][1],
            "cost": figure.cost,
            "low": figure.cost - 1.96 * figure.error,
            "high": figure.cost + 1.96 * figure.error,
        }
        for (name, method, epsilon), figure in sorted(figures.items())
        if name in names and method in CURVES
    ]
    blind = [figures[name, "blind", EPSILONS[0]].cost for name in names]
    draw_lines(
        rows,
        x="epsilon",
        y="cost",
        dash="reports",
        panels="set" if len(names) > 1 else None,
        low="low",
        high="high",
        log_x=True,
        log_y=True,
        x_label="worst-case epsilon",
        y_label="cost over k-means without privacy",
        reference={"centers spread over the box": blind[0]} if len(names) == 1 else None,
        path=path,
    )


def main() -> None:
    """Run, print the table beside stored figures, and what it says."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    words.add_argument("--sets", type=lambda text: text.split(","), help="all by default")
    words.add_argument(
        "--methods", type=lambda text: text.split(","), default=list(METHODS), help="all by default"
    )
    words.add_argument(
        "--epsilons", type=lambda text: [float(part) for part in text.split(",")], default=EPSILONS
    )
    words.add_argument("--seeds", type=int, default=10, help="how many; 0 shows stored figures")
    words.add_argument("--final", action="store_true", help="the sets that are run once")
    words.add_argument("--out", type=Path, help="CSV file with a line for each fit")
    words.add_argument("--update", action="store_true", help="store the means")
    words.add_argument("--picture", type=Path, help="file to draw: PNG, SVG, PDF, HTML or JSON")
    words.add_argument("--cache", type=Path, default=cache_folder() / "strict_local.json")
    options = words.parse_args()
    tables = FINAL if options.final else DESIGN
    names = options.sets or list(tables)
    kept = KeptRuns(Fit, KEY, options.out)
    for name in names:
        run(name, (tables | TRIAL)[name], options, kept)
    figures = stored_figures()
    if options.seeds:
        figures |= measured(names, options, kept)
    print("\n".join(table_lines(names, options.epsilons, figures)))
    print("\n".join(verdicts(names, options.epsilons, figures)))
    if options.update:
        store(figures)
    if options.picture is not None:
        draw(names, figures, options.picture)


if __name__ == "__main__":
    main()
