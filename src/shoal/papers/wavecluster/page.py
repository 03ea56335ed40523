"""The report on WaveCluster: measures against epsilon, printed figures beside ours, clusters."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from shoal.experiments import Report
from shoal.papers.measurements import Measurement, Measurements, estimate_mean, select
from shoal.papers.wavecluster.claims import PUBLISHED_K
from shoal.papers.wavecluster.experiments import NONE, PLAIN, read_cells
from shoal.papers.wavecluster.figure_sets import FIGURE_SETS
from shoal.papers.wavecluster.published import TECHNIQUES, PublishedWaveCluster
from shoal.papers.wavecluster.techniques import CORRECTED, PUBLISHED, VERSIONS
from shoal.papers.wavecluster.verdicts import SHARES, judge_means, mean_measure
from shoal.plotting import draw_cells, draw_lines

__all__ = ["mean_rows", "printed_figures", "render_figures"]

NAMES = {
    "thr": "PrivTHR",
    "thr-em": "PrivTHR_EM",
    "qt": "PrivQT",
    "baseline": "Baseline",
    "oneshot": "ours",
}
# By the name of the figure: a column of the records, and how it is called.
TITLES = {
    "k": "significant cells k'",
    "dsg": "DSG_C",
    "f_measure": "F-measure",
    "ocm": "OCM",
    "two_ce": "2CE",
    "k_share": "k' / k",
}
CAPTIONS = {
    "k": "How many cells are significant. Dotted: without privacy. Large hollow markers: "
    "the means that the source prints for ds2.",
    "dsg": "How far clusters of cells are from those without privacy (0 = the same).",
    "f_measure": "How alike clusters of records are to those without privacy (1 = the same). "
    "Clusters that are merged or split are forgiven, so it tells the techniques apart less.",
    "ocm": "Share of left-out records whose class differs from that without privacy, under the "
    "best matching of classes (0 = none).",
    "two_ce": "Share of pairs of left-out records that are together in one result and apart in "
    "the other (0 = none).",
}
CURVES: dict[str, Any] = {
    "x": "epsilon",
    "y": "value",
    "low": "low",
    "high": "high",
    "group": "mechanism",
    "dash": "version",
    "log_x": True,
}
LONG = 10_000.0  # numbers from here on are written in thousands

HEADINGS = ("figure in the text", "printed", "as published here", "corrected")
SPIRALS = "ds2"  # the set of most of the printed figures
LOWEST = 0.5
# Section 7.2: |Z| and k of ds2, and the range of the relative errors of PrivQT and Baseline.
PRINTED_SIGNS, PRINTED_K, PRINTED_RANGE = 241, 144, (0.322, 1.505)


def render_figures(report: Report, measurements: Measurements) -> None:
    """Render everything."""
    measured, pictures = measurements["techniques"], measurements["clusters"]
    _render_techniques(report)
    report.section("Measures against epsilon")
    report.text(
        "Means over the runs with bands of 95%; full lines keep their promise, broken lines are "
        "the techniques as published. Each is compared with WaveCluster without privacy on the "
        "same cells."
    )
    rows = mean_rows(measured)
    for measure, caption in CAPTIONS.items():
        some = [row for row in rows if row["measure"] == measure]
        extra: dict[str, Any] = {}
        if measure == "k":
            some += _levels(measured)
            extra = {"published": "published"}
        report.figure(
            draw_lines,
            measure,
            some,
            **CURVES,
            panels="dataset",
            y_label=TITLES[measure],
            says=caption,
            **extra,
        )
    report.section("Figures printed in the source's text")
    report.text("Means over the runs, with standard errors.")
    report.table(HEADINGS, printed_figures(measured, pictures), text=1)
    _render_fourth(report, measurements["gowalla"])
    _render_clusters(report, pictures)


def mean_rows(rows: Iterable[Measurement]) -> list[dict[str, Any]]:
    """Take means over repeats: one row for each measure, as curves are drawn from."""
    groups: dict[tuple[Any, ...], list[Measurement]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("version", "dataset", "mechanism", "epsilon"))
        groups.setdefault(key, []).append(row)
    means = []
    for key, runs in sorted(groups.items(), key=lambda group: -VERSIONS.index(group[0][0])):
        for measure, title in TITLES.items():
            mean = estimate_mean(
                (_value(run, measure) for run in runs),
                lowest=0.0,
                highest=1.0 if measure in SHARES else math.inf,
            )
            means.append(
                {
                    **dict(zip(("version", "dataset", "mechanism", "epsilon"), key, strict=True)),
                    "measure": measure,
                    "title": title,
                    "value": mean.mean,
                    "low": mean.low,
                    "high": mean.high,
                    "published": _printed_k(*key) if measure == "k" else None,
                }
            )
    return means


def printed_figures(
    rows: Sequence[Measurement], pictures: Iterable[Measurement]
) -> list[list[str]]:
    """List the source's printed figures beside ours, with standard errors."""
    at = f"on {SPIRALS} at epsilon"
    table = [
        [
            f"k' of {technique} {at} {epsilon:g}",
            f"{printed:.1f}",
            *_means(rows, technique, epsilon, lambda row: row["k_private"]),
        ]
        for epsilon, some in PUBLISHED_K.items()
        for technique, printed in some.items()
    ]
    table.append(
        [
            f"k' - k of qt {at} 1 (bound (1 - p)|Z|/2 = 108.45)",
            f"{PUBLISHED_K[1.0]['qt'] - PRINTED_K:.1f}",
            *_means(rows, "qt", 1.0, lambda row: row["k_private"] - row["k"]),
        ]
    )
    low, high = PRINTED_RANGE
    table += [
        [
            f"relative error of k' of qt and baseline, from epsilon {LOWEST:g} on",
            f"{low:.1%} to {high:.1%}",
            *_ranges(rows, ("qt", "baseline")),
        ],
        [
            f"the same of thr and thr-em, from epsilon {LOWEST:g} on",
            "below 4.7% on average",
            *_ranges(rows, ("thr", "thr-em")),
        ],
    ]
    return [*_plain_figures(pictures), *table]


def _render_techniques(report: Report) -> None:
    report.section("What is compared")
    report.table(
        ["technique", "in the source", "as published it has no guarantee, because"],
        [
            [technique, NAMES[technique], _reason(technique)]
            for technique in (*TECHNIQUES, "oneshot")
        ],
        text=3,
    )
    report.text(
        "Corrected: exact discrete noise under add/remove of one record; thresholds of thr-em are "
        "drawn from a range that the noisy counts give. The box of each set is taken as public for "
        "all, as in the source's figures. A sentence holds where every mean that it speaks of does "
        "what it says, on ds1, ds2 and ds3; a finding holds where its main sentences do "
        "(1a and 1b, 2a, 3a, 4a)."
    )


def _reason(technique: str) -> str:
    if technique not in TECHNIQUES:
        return "not published: one-shot, all of epsilon on the sums that the band needs"
    published = PublishedWaveCluster(technique, coarse=10, bounds=(0.0, 1.0))
    return str(published.guarantee_.reason).partition(": ")[2]


def _levels(rows: Iterable[Measurement]) -> list[dict[str, Any]]:
    """Return one row for each set with k itself, at an epsilon without privacy."""
    true = {row["dataset"]: row["k"] for row in rows}
    return [
        {"dataset": name, "mechanism": "k", "version": CORRECTED, "epsilon": math.inf}
        | {"value": k, "low": math.nan, "high": math.nan, "published": None}
        for name, k in true.items()
    ]


def _render_fourth(report: Report, rows: Sequence[Measurement]) -> None:
    report.section("The fourth set: Gowalla")
    report.text(
        "The source draws a million check-ins at random from 6.4 million and prints neither the "
        "sample nor its grid. Here are 620,683 check-ins of active users on a grid of 128 cells a "
        "side over all longitudes and latitudes. Most of its cells are empty, and noise lifts "
        "about half of them above 0. These figures are shown, and counted in no verdict."
    )
    means = mean_rows(rows)
    for name, measures, caption in (
        ("gowalla_cells", ("k_share", "dsg"), "Gowalla: cells and clusters of cells."),
        ("gowalla_records", ("f_measure", "ocm", "two_ce"), "Gowalla: clusters and classes."),
    ):
        some = [row for row in means if row["measure"] in measures]
        report.figure(
            draw_lines, name, some, **CURVES, panels="title", y_label="measure", says=caption
        )
    held: dict[str, list[str]] = {}
    for judged in judge_means(rows):
        text = f"{', '.join(judged.claim.techniques)}: {judged.claim.text}"
        held.setdefault(text, []).append(f"{judged.held} of {judged.means}")
    report.text("How many means surely do what the source says of all sets, on this one:")
    report.table(
        ["what the source says", *VERSIONS], [[text, *counts] for text, counts in held.items()]
    )


def _render_clusters(report: Report, rows: Sequence[Measurement]) -> None:
    report.section("Cells and clusters")
    report.text(
        f"One fit each at epsilon {rows[0]['epsilon']:g}. A cluster has the color of the one "
        "without privacy that it shares most cells with; clusters without a partner come after "
        "them; after ten, colors come again."
    )
    # The truth first, then ours, then the source's techniques.
    order = (NONE, "oneshot", *TECHNIQUES)
    for name in dict.fromkeys(row["dataset"] for row in rows):
        some = sorted(
            select(rows, dataset=name), key=lambda row: order.index(str(row["mechanism"]))
        )
        for version in VERSIONS:
            report.figure(
                draw_cells,
                f"cells_{name}_{version.replace(' ', '_')}",
                {
                    PLAIN if row["version"] == PLAIN else row["mechanism"]: read_cells(row["cells"])
                    for row in some
                    if row["version"] in (PLAIN, version)
                },
                **_axes(some[0]),
                title=f"{name}, {version}",
                says=f"{name}: significant cells and their clusters, {version}.",
            )


def _axes(row: Measurement) -> dict[str, Any]:
    """Return the box and the names of the columns; long numbers would not fit below the axes."""
    low, high = ([row[f"x_{end}"], row[f"y_{end}"]] for end in ("low", "high"))
    names = (row["x_name"], row["y_name"])
    if max(map(abs, (*low, *high))) < LONG:
        return {"bounds": (low, high), "columns": names}
    return {
        "bounds": tuple([value / 1000 for value in corner] for corner in (low, high)),
        "columns": tuple(f"{name} (thousands)" for name in names),
    }


def _value(row: Measurement, measure: str) -> float:
    if measure == "k":
        return float(row["k_private"])
    if measure == "k_share":
        return float(row["k_private"] / row["k"])
    return float(row[measure])


def _printed_k(version: str, dataset: str, technique: str, epsilon: float) -> float | None:
    if (version, dataset) != (PUBLISHED, SPIRALS):
        return None
    return PUBLISHED_K.get(epsilon, {}).get(technique)


def _plain_figures(pictures: Iterable[Measurement]) -> list[list[str]]:
    """Return what is printed of ds2 without privacy, if it was run."""
    for one in select(pictures, dataset=SPIRALS, version=PLAIN):
        zeros, significant = str(one["not_positive"]), str(one["significant"])
        return [
            ["|Z| of ds2, without privacy", str(PRINTED_SIGNS), zeros, zeros],
            ["k of ds2, without privacy", str(PRINTED_K), significant, significant],
        ]
    return []


def _means(
    rows: Sequence[Measurement],
    technique: str,
    epsilon: float,
    value: Callable[[Measurement], float],
) -> Iterable[str]:
    """Write mean and standard error on ds2 for each version."""
    for version in VERSIONS:
        some = select(rows, dataset=SPIRALS, epsilon=epsilon, version=version, mechanism=technique)
        values = [value(row) for row in some]
        if not values:
            yield "not run"
            continue
        error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
        yield f"{np.mean(values):.1f} ± {error:.1f}"


def _ranges(rows: Sequence[Measurement], techniques: tuple[str, ...]) -> Iterable[str]:
    """Write the range of the relative errors of k' for each version."""
    for version in VERSIONS:
        some = select(rows, dataset=tuple(FIGURE_SETS), version=version, mechanism=techniques)
        runs: dict[tuple[str, str, float], list[Measurement]] = {}
        for row in some:
            if row["epsilon"] >= LOWEST:
                key = (row["dataset"], row["mechanism"], row["epsilon"])
                runs.setdefault(key, []).append(row)
        errors = [mean_measure(each, "k_error").mean for each in runs.values()]
        if errors:
            yield f"{min(errors):.1%} to {max(errors):.1%}, mean {np.mean(errors):.1%}"
        else:
            yield "not run"
