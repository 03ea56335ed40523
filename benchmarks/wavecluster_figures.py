"""The figures of DP-WaveCluster again, as published (no guarantee) and corrected.

`SHOAL_DATA=... python benchmarks/wavecluster_figures.py [--runs 10] [--epsilons 0.1 0.25 ...]
[--sets ds1 ds2 ds3] [--jobs 1] [--out FOLDER]`

Tables of means and standard errors for each set and measure, the source's k' beside ours, and a
verdict on each of its claims. With --out also one figure a measure, which needs shoal[plot].
"""

import argparse
import itertools
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from shoal.papers.wavecluster import (
    EPSILONS,
    FIGURE_SETS,
    METHODS,
    PUBLISHED_K,
    Measurement,
    Method,
    compare_techniques,
    judge_claims,
    load_figure_set,
    mean_measure,
)
from shoal.plotting import COLOURS, MARKERS, panels

LINES = {"published": (0, (4, 2)), "corrected": "-"}
WORDS = {"published": "as published", "corrected": "corrected", "oneshot": "ours"}

MEASURES = {
    "k_private": "significant cells k'",
    "dsg": "DSG_C",
    "f_measure": "F-measure",
    "ocm": "OCM",
    "two_ce": "2CE",
    "ocm_with_noise": "OCM, noise as a class",
}
FILES = {name: f"{name.removesuffix('_private')}.png" for name in MEASURES}

Cells = dict[tuple[str, Method, float], list[Measurement]]


def measure(sets: list[str], epsilons: list[float], runs: int, jobs: int) -> Cells:
    """Measure all methods; what is found does not depend on the number of processes."""
    loaded = [load_figure_set(name) for name in sets]
    pieces = Parallel(n_jobs=jobs)(
        delayed(compare_techniques)(one, epsilons=epsilons, seeds=[seed])
        for one, seed in itertools.product(loaded, range(runs))
    )
    cells: Cells = {}
    for found in itertools.chain(*pieces):
        cells.setdefault((found.dataset, found.method, found.epsilon), []).append(found)
    return cells


def mean_and_error(runs: list[Measurement], name: str) -> tuple[float, float]:
    """Give a mean and its standard error."""
    values = [getattr(one, name) for one in runs]
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return float(np.mean(values)), float(error)


def tables(cells: Cells, sets: list[str], epsilons: list[float], out: TextIO = sys.stdout) -> None:
    """Print one table for each set and measure."""
    for dataset in sets:
        some = next(runs for (name, _, _), runs in cells.items() if name == dataset)
        for name, title in MEASURES.items():
            print(f"\n{dataset}: {title}, {len(some)} runs; k = {some[0].k}", file=out)
            print("epsilon" + "".join(f"{method!s:>21}" for method in METHODS), file=out)
            for epsilon in epsilons:
                row = "".join(
                    f"{_entry(cells[dataset, method, epsilon], name):>21}" for method in METHODS
                )
                print(f"{epsilon:>7g}{row}", file=out)


def _entry(runs: list[Measurement], name: str) -> str:
    mean, error = mean_and_error(runs, name)
    if name == "k_private":
        return f"{mean:.1f} +-{error:.1f} ({mean_measure(runs, 'k_error'):.1%})"
    return f"{mean:.3f} +-{error:.3f}"


def beside_the_source(cells: Cells, out: TextIO = sys.stdout) -> None:
    """Print the source's k' on ds2 beside ours."""
    print("\nds2: k' in the source, as published here, and corrected", file=out)
    for epsilon, printed in PUBLISHED_K.items():
        for technique, theirs in printed.items():
            pair = [
                cells.get(("ds2", Method(source, technique), epsilon))
                for source in ("published", "corrected")
            ]
            ours = [_entry(runs, "k_private") if runs else "not run" for runs in pair]
            print(
                f"epsilon {epsilon:<5g}{technique:<10}{theirs:>6.1f}{ours[0]:>24}{ours[1]:>24}",
                file=out,
            )


def figures(cells: Cells, sets: list[str], epsilons: list[float], folder: Path) -> None:
    """Draw one figure a measure, one panel a set."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, title in MEASURES.items():
        with panels(len(sets), width=4.2 * len(sets), height=4.2) as (drawing, axes):
            for axis, dataset in zip(axes, sets, strict=True):
                _panel(axis, cells, dataset, epsilons, name)
            if name != "k_private":  # the number of cells is each set's own
                top = max(axis.get_ylim()[1] for axis in axes)
                for axis in axes:
                    axis.set_ylim(0, top)
            axes[0].set_ylabel(title)
            handles, labels = axes[0].get_legend_handles_labels()
            drawing.legend(handles, labels, loc="outside lower center", ncols=5, handlelength=3.2)
            drawing.savefig(folder / FILES[name])


def _panel(axis: Any, cells: Cells, dataset: str, epsilons: list[float], name: str) -> None:
    # One technique after the other, so that the legend has them in one column each.
    for method in sorted(METHODS, key=lambda one: list(COLOURS).index(one.technique)):
        found = [mean_and_error(cells[dataset, method, epsilon], name) for epsilon in epsilons]
        mean, error = np.array(found).T
        colour, published = COLOURS[method.technique], method.source == "published"
        axis.fill_between(epsilons, mean - error, mean + error, color=colour, alpha=0.18, lw=0)
        axis.plot(
            epsilons,
            mean,
            color=colour,
            linestyle=LINES[method.source],
            marker=MARKERS[method.technique],
            markersize=4.5,
            markerfacecolor="white" if published else colour,
            label=f"{method.technique}, {WORDS.get(method.technique, WORDS[method.source])}",
        )
    if name == "k_private":
        k = cells[dataset, METHODS[0], epsilons[0]][0].k
        axis.axhline(k, color="black", lw=0.8, ls=":", label="k without privacy")
    axis.set_xscale("log")
    axis.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axis.minorticks_off()
    axis.set_ylim(bottom=0)
    axis.set_xlabel("epsilon (band: standard error)")
    axis.set_title(dataset)


def verdicts(cells: Cells, out: TextIO = sys.stdout) -> None:
    """Print what became of each claim."""
    every: Iterable[Measurement] = itertools.chain(*cells.values())
    print("\nclaims of the source, by means over the runs", file=out)
    print(*judge_claims(every), sep="\n", file=out)


def main() -> None:
    """Print the tables, and draw the figures where a folder is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--epsilons", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--sets", nargs="+", default=list(FIGURE_SETS), choices=list(FIGURE_SETS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None, help="folder for the figures")
    words = parser.parse_args()
    cells = measure(words.sets, words.epsilons, words.runs, words.jobs)
    tables(cells, words.sets, words.epsilons)
    beside_the_source(cells)
    verdicts(cells)
    if words.out is not None:
        figures(cells, words.sets, words.epsilons, words.out)


if __name__ == "__main__":
    main()
