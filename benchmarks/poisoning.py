"""What devices that lie do to clusters of reports, and what a robust analysis saves.

`python benchmarks/poisoning.py [--tables main,lies,mechanisms,density] [--sets s1,mopsi,gaussians]
[--devices 10000,100000] [--epsilons 1,2] [--seeds 0-9] [--out CSV] [--update] [--picture PNG]`

Every report of a liar is one that the mechanism could have drawn (`shoal.experiments.LIES`). The
records of a set are drawn with replacement to the number of devices. Tables:

* `main`: `PartitionResponse`, liars who plant a cluster, by number of devices and epsilon;
* `lies`: the same at epsilon 4 and 10,000 devices, by what liars send;
* `mechanisms`: other mechanisms, 10,000 devices at epsilon 4 (`Laplace`: 4 per unit of a box that
  is 2 wide), and k-means on clipped reports;
* `density`: `NoiseAwareDensity`, share of the records in the cluster that is planted.

Shift is the largest distance from a center of the true records to the nearest one found, over the
typical distance between clusters (and, in the CSV, over the diagonal of the box); cost is over that
of k-means on the true records. `--out` keeps every fit, and fits that it holds are not repeated:
begin a new file after a change of the code. `--update` stores the means beside this file, and a
cell that is not run shows the stored one.
"""

import argparse
import csv
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from kept_runs import KeptRuns
from strict_local_sets import BOX, DESIGN, FINAL, Floats, resampled

from shoal.datasets import make_gaussians
from shoal.experiments import measure_poisoning
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    Mechanism,
    PartitionResponse,
    Piecewise,
    SquareWave,
)
from shoal.plotting import draw_lines

FIGURES = Path(__file__).with_name("poisoning_figures.csv")
NAMES = {"mopsi": "mopsi_finland"}  # of files, where they are others
GAUSSIANS = 6  # clusters
SETS = ("s1", "mopsi", "gaussians")
SHARES = (0.0, 0.01, 0.05)
MECHANISMS: dict[str, type[Mechanism]] = {
    kind.__name__: kind for kind in (Laplace, Piecewise, SquareWave, Hybrid, Duchi)
}


class Grid(NamedTuple):
    """Cells of a table: all combinations of these."""

    mechanisms: Sequence[str] = ("PartitionResponse",)
    devices: Sequence[int] = (100_000,)
    epsilons: Sequence[float] = (2.0,)
    lies: Sequence[str] = ("plant",)
    shares: Sequence[float] = SHARES
    contaminations: Sequence[float | None] = (None, 0.01, 0.05)
    others: Sequence[str] = ()
    sets: Sequence[str] | None = None


TABLES = {
    "main": Grid(devices=(10_000, 100_000), epsilons=(0.5, 1.0, 2.0, 4.0)),
    "lies": Grid(
        devices=(10_000,),
        epsilons=(4.0,),
        lies=("fake", "move", "erase", "crude"),
        contaminations=(None, 0.0, 0.01),
    ),
    "mechanisms": Grid(
        mechanisms=tuple(MECHANISMS),
        devices=(10_000,),
        epsilons=(4.0,),
        lies=("plant", "crude"),
        shares=(0.0, 0.05),
        contaminations=(None, 0.0, 0.05),
        others=("plain",),
        sets=("gaussians",),
    ),
    "density": Grid(
        devices=(10_000,),
        epsilons=(4.0,),
        contaminations=(),
        others=("density",),
        sets=("gaussians",),
    ),
}


@dataclass(frozen=True)
class Fit:
    """One analysis of one campaign."""

    set: str
    mechanism: str
    devices: int
    epsilon: float
    lie: str
    share: float
    analysis: str
    seed: int
    shift: float
    shift_typical: float
    cost: float
    planted: float
    left_out: float


MEASURES = ("shift", "shift_typical", "cost", "planted", "left_out")
CELL = tuple(f.name for f in fields(Fit) if f.name not in ("seed", *MEASURES))
Cell = tuple[str | float, ...]


class Figure(NamedTuple):
    """Means over seeds, standard errors, and how many there are."""

    means: dict[str, float]
    errors: dict[str, float]
    seeds: int

    def text(self, measure: str) -> str:
        """Write a mean and its standard error."""
        mean, error = self.means[measure], self.errors[measure]
        if math.isnan(mean):
            return ""
        return f"{mean:.2f}" if math.isnan(error) else f"{mean:.2f} ± {error:.2f}"


def records_of(name: str) -> tuple[Callable[[int], Floats], int]:
    """Return how so many records of a set are drawn, and its number of clusters."""
    if name == "gaussians":
        return lambda n: np.asarray(
            make_gaussians(n, n_clusters=GAUSSIANS, random_state=1).X
        ), GAUSSIANS
    return partial(resampled, NAMES.get(name, name)), (DESIGN | FINAL)[name].n_clusters


def mechanism_of(name: str, epsilon: float, k: int) -> Mechanism:
    """Return the mechanism of a campaign in the plane."""
    box = ([BOX[0]] * 2, [BOX[1]] * 2)
    if name == "PartitionResponse":
        return PartitionResponse(epsilon, bounds=box, n_clusters=k)
    return MECHANISMS[name](epsilon, bounds=box)


def run(name: str, grid: Grid, seed: int, kept: KeptRuns[Fit]) -> None:
    """Run what is not kept of one set, with one seed."""
    draw, k = records_of(name)
    for mechanism, n, epsilon in (
        (m, n, e) for m in grid.mechanisms for n in grid.devices for e in grid.epsilons
    ):
        campaign = (name, mechanism, n, epsilon)
        if all((*cell, seed) in kept for cell in cells(campaign, grid)):
            continue
        rows = measure_poisoning(
            draw(n),
            mechanism_of(mechanism, epsilon, k),
            k,
            lies=grid.lies,
            shares=grid.shares,
            contaminations=grid.contaminations,
            others=grid.others,
            seed=seed,
        )
        for row in rows:
            kept.add([Fit(*campaign, **vars(row))])
        print(*campaign, f"seed {seed}", flush=True)


def cells(campaign: Cell, grid: Grid) -> Iterator[Cell]:
    """Yield the cells of a campaign."""
    names = ["trusting" if c is None else f"contamination {c:g}" for c in grid.contaminations]
    for share in grid.shares:
        for lie in grid.lies if share else ("none",):
            for analysis in (*names, *grid.others):
                yield (*campaign, lie, share, analysis)


def measured(fits: Sequence[Fit]) -> Figure:
    """Return means and standard errors over seeds."""
    values = {m: np.array([getattr(fit, m) for fit in fits]) for m in MEASURES}
    many = len(fits)
    errors = {
        m: float(v.std(ddof=1) / math.sqrt(many)) if many > 1 else math.nan
        for m, v in values.items()
    }
    return Figure({m: float(v.mean()) for m, v in values.items()}, errors, many)


def stored_figures() -> dict[Cell, Figure]:
    """Read the figures that were stored."""
    if not FIGURES.exists():
        return {}
    kinds = {f.name: f.type for f in fields(Fit)}
    with FIGURES.open(newline="") as file:
        return {
            tuple(kinds[c](row[c]) for c in CELL): Figure(
                {m: float(row[m]) for m in MEASURES},
                {m: float(row[f"{m}_error"]) for m in MEASURES},
                int(row["seeds"]),
            )
            for row in csv.DictReader(file)
        }


def store(figures: dict[Cell, Figure]) -> None:
    """Write all figures."""
    with FIGURES.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*CELL, *MEASURES, *(f"{m}_error" for m in MEASURES), "seeds"])
        for cell, figure in sorted(figures.items()):
            numbers = [f"{figure.means[m]:.4f}" for m in MEASURES]
            numbers += [f"{figure.errors[m]:.4f}" for m in MEASURES]
            shown = [f"{part:g}" if isinstance(part, float) else part for part in cell]
            rows.writerow([*shown, *numbers, figure.seeds])


def table_lines(names: Sequence[str], grid: Grid, figures: dict[Cell, Figure]) -> Iterator[str]:
    """Yield a markdown table: a line for each campaign, lie and share."""
    analyses = ["trusting" if c is None else f"contamination {c:g}" for c in grid.contaminations]
    analyses += grid.others
    measures = ("planted",) if not grid.contaminations else ("shift_typical", "cost", "planted")
    heads = ["set", "mechanism", "devices", "epsilon", "liars", "lie"]
    heads += [f"{m.replace('_typical', '')}: {a}" for m in measures for a in analyses]
    yield "| " + " | ".join(heads) + " |"
    yield "| " + " | ".join("---" for _ in heads) + " |"
    for name, mechanism, n, epsilon in (
        (s, m, n, e)
        for s in names
        for m in grid.mechanisms
        for n in grid.devices
        for e in grid.epsilons
    ):
        for share in grid.shares:
            for lie in grid.lies if share else ("none",):
                key = (name, mechanism, n, epsilon, lie, share)
                found = [figures.get((*key, a)) for a in analyses]
                if not any(found):
                    continue
                line = [name, mechanism, f"{n:,}", f"{epsilon:g}", f"{share:.0%}", lie]
                line += [one.text(m) if one else "" for m in measures for one in found]
                yield "| " + " | ".join(line) + " |"


def draw(names: Sequence[str], kept: KeptRuns[Fit], seeds: Sequence[int], path: Path) -> None:
    """Draw shift against the share of liars: a panel a set, the robust analysis beside trust."""
    shares = (0.0, 0.005, 0.01, 0.02, 0.05)
    grid = Grid(devices=(10_000,), epsilons=(4.0,), shares=shares, contaminations=(None, 0.01))
    words = {"trusting": "trusting", "contamination 0.01": "contamination=0.01"}
    rows = []
    for name in names:
        for seed in seeds:
            run(name, grid, seed, kept)
        for cell in cells((name, "PartitionResponse", 10_000, 4.0), grid):
            rows += [
                {
                    "set": name,
                    "liars": 100 * fit.share,
                    "mechanism": "PartitionResponse",
                    "analysis": words[fit.analysis],
                    "shift": fit.shift_typical,
                }
                for fit in (kept[(*cell, seed)] for seed in seeds)
            ]
    draw_lines(
        rows,
        x="liars",
        y="shift",
        dash="analysis",
        panels="set" if len(names) > 1 else None,
        x_label="devices that lie, in %",
        y_label="shift, in distances between clusters",
        path=path,
    )


def seeds_of(text: str) -> list[int]:
    """Read seeds such as 0-9 or 3,5."""
    parts = [part.split("-") for part in text.split(",")]
    return [seed for part in parts for seed in range(int(part[0]), int(part[-1]) + 1)]


def main() -> None:
    """Run, and print the tables."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    words.add_argument("--tables", type=lambda text: text.split(","), default=list(TABLES))
    words.add_argument("--sets", type=lambda text: text.split(","), help="s1,mopsi,gaussians")
    words.add_argument("--devices", type=lambda text: [int(n) for n in text.split(",")])
    words.add_argument("--epsilons", type=lambda text: [float(e) for e in text.split(",")])
    words.add_argument("--seeds", type=seeds_of, default=[], help="such as 0-9; none shows figures")
    words.add_argument("--out", type=Path, help="CSV file with a line for each fit")
    words.add_argument("--update", action="store_true", help="store the means")
    words.add_argument("--picture", type=Path, help="file to draw: PNG, SVG, PDF, HTML or JSON")
    options = words.parse_args()
    kept = KeptRuns(Fit, (*CELL, "seed"), options.out)
    figures = stored_figures()
    for title in options.tables:
        grid = TABLES[title]
        grid = grid._replace(
            devices=options.devices or grid.devices, epsilons=options.epsilons or grid.epsilons
        )
        names = options.sets or grid.sets or SETS
        for seed in options.seeds:
            for name in names:
                run(name, grid, seed, kept)
        for campaign in (
            (s, m, n, e)
            for s in names
            for m in grid.mechanisms
            for n in grid.devices
            for e in grid.epsilons
        ):
            for cell in cells(campaign, grid):
                fits = [kept[(*cell, s)] for s in options.seeds if (*cell, s) in kept]
                if fits:
                    figures[cell] = measured(fits)
        print(f"\n{title}\n")
        print("\n".join(table_lines(names, grid, figures)))
    if options.update:
        store(figures)
    if options.picture is not None:
        draw(options.sets or SETS, kept, options.seeds, options.picture)


if __name__ == "__main__":
    main()
