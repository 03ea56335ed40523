"""The page on the thesis: its chapter 6, its drafts, what it leaks, and two controls."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.experiments import Report
from shoal.papers.kd_laplace.drafts import DRAFT_CLUSTERERS
from shoal.papers.kd_laplace.figures import compare_with_published, with_published
from shoal.papers.kd_laplace.settings import (
    CLUSTERERS,
    PLAIN,
    REAL,
    SHAPES,
    VERSIONS,
    Table,
    corrected_reports,
    load_table,
)
from shoal.papers.measurements import Measurement, Measurements, select
from shoal.plotting import (
    draw_bars,
    draw_heat_map,
    draw_lines,
    draw_n_clusters,
    draw_perturbation_area,
    draw_scatter,
)
from shoal.reports import select_n_clusters

__all__ = ["render_page"]

Rows = Sequence[Measurement]

MEASURES = {
    "ami": "AMI with the clusters of the plain records",
    "ari": "ARI with the clusters of the plain records",
    "sc": "silhouette of the clusters found",
    "ch": "Calinski-Harabasz index of the clusters found",
    "advantage": "the adversary's advantage",
    "tpr": "the adversary's true-positive rate",
    "distance": "distance between record and report",
}
REMARKS = {"ami": " (k-means)", "distance": " (colors end with those of nd-Laplace)"}
BY = ("mechanism", "clusterer")
CANDIDATES = range(2, 9)  # numbers of clusters
DRAWS = 4000  # reports of one record


def render_page(report: Report, measurements: Measurements) -> None:
    """Put all figures and tables into the report."""
    utility = [
        row for name in measurements if name.startswith("utility") for row in measurements[name]
    ]
    attack = [
        row for name in measurements if name.startswith("attack") for row in measurements[name]
    ]
    report.text(
        "As published, the methods promise nothing (their flaws are in the documentation); "
        "corrected, nd-Laplace is Laplace, the remaps are GridRemap and BayesRemap of its reports, "
        "and Piecewise splits its epsilon over the columns. An epsilon of nd-Laplace is one for a "
        "unit of the table, an epsilon of Piecewise one for any two records: their numbers do not "
        "mean the same. Curves are means over repeats with bands of 95%; hollow markers are the "
        "published figures."
    )
    _render_against_published(report, utility, attack)
    _render_settings(report)
    _render_clusterers(report, utility)
    _render_maps(report, utility, attack)
    _render_mechanisms(report, utility, attack)
    _render_drafts(report, measurements["drafts"])
    _render_leaks(report, measurements["leak"])
    _render_controls(report, measurements)


def _render_against_published(report: Report, utility: Rows, attack: Rows) -> None:
    report.section("How near we come to the published figures")
    rows = []
    for measure, kept in (("ami", utility), ("distance", utility), ("advantage", attack)):
        some = kept
        if measure == "distance":
            # All clusterers have the same one.
            some = [{**row, "clusterer": ""} for row in select(kept, clusterer="KMeans")]
        for (name, clusterer), one in compare_with_published(some, measure, by=BY).items():
            rows.append(
                [
                    MEASURES[measure],
                    name,
                    clusterer or "",
                    f"{one.published:.3f}",
                    f"{one.again:.3f}",
                    f"{one.difference:.3f}",
                    str(one.figures),
                ]
            )
    if not rows:
        report.text("The published figures are not here (a folder targets beside SHOAL_DATA).")
        return
    report.text(
        "Means of the published figures and of the same methods run again, and the mean of the "
        "absolute differences of single figures. The source perturbs once for each figure, so "
        "each of its numbers carries the noise of one draw."
    )
    heading = ["measure", "mechanism", "clusterer", "published", "again", "difference", "figures"]
    report.table(heading, rows, text=3)


def _render_settings(report: Report) -> None:
    """Show chapter 5: the generated tables, how k was chosen, what noise does to a record."""
    report.section("The tables and the noise (chapters 3 and 5)")
    for columns in (2, 3):
        report.figure(
            draw_scatter,
            f"shapes-{columns}",
            {name: load_table(name, columns).X for name in SHAPES},
            records=False,
            says=f"The generated tables, {columns} columns (figures 5.1 and 5.2), on the same "
            "axes: one epsilon hides more of a small table.",
        )
    for name in ("seeds", "line"):
        records = load_table(name, 2).X
        choices = [
            select_n_clusters(
                records, candidates=CANDIDATES, method=method, standardize=True, random_state=0
            )
            for method in ("elbow", "silhouette", "gap")
        ]
        report.figure(
            draw_n_clusters,
            f"n-clusters-{name}",
            choices,
            says=f"{name}, two columns: how the number of clusters can be chosen.",
        )
    table = load_table("seeds", 2)
    record = np.median(table.X, axis=0)
    reports = {
        f"epsilon {epsilon:g}": corrected_reports(
            PLAIN, epsilon, Table(np.tile(record, (DRAWS, 1)), table.bounds), 0
        )
        for epsilon in (0.5, 2.0, 9.0)
    }
    report.figure(
        draw_perturbation_area,
        "perturbation-area",
        reports,
        record,
        bounds=table.bounds,
        says="Where reports of one made-up record lie, in two columns of seeds.",
    )


def _render_clusterers(report: Report, utility: Rows) -> None:
    report.section("Utility by clusterer (section 6.1 and its appendix)")
    for dataset in (*REAL, *SHAPES):
        widths = sorted({row["columns"] for row in select(utility, dataset=dataset)})
        for columns in dict.fromkeys((*widths[:2], widths[-1])):
            chosen = select(utility, dataset=dataset, columns=columns)
            for measure in ("ami", "sc"):
                rows = _with_panels(chosen, measure)
                report.figure(
                    draw_lines,
                    f"{dataset}-{columns}-{measure}",
                    rows,
                    x="epsilon",
                    y=measure,
                    panels="panel",
                    published=_published(rows),
                    log_x=True,
                    title=f"{dataset}, {columns} columns",
                    says=f"{dataset}, {columns} columns: {MEASURES[measure]}, against epsilon.",
                )


def _published(rows: Rows) -> str | None:
    """Name the column of published figures if it holds any."""
    return "published" if any(row.get("published") is not None for row in rows) else None


def _with_panels(rows: Rows, measure: str) -> list[dict[str, Any]]:
    """Return each clusterer and version a panel; clusters of plain records become level lines."""
    wide = with_published(rows, measure)
    paneled = [
        {**row, "panel": f"{row['clusterer']}, {version}"}
        for version in VERSIONS
        for clusterer in CLUSTERERS
        for row in wide
        if row["version"] == version and row["clusterer"] == clusterer
    ]
    if measure == "sc":
        plain = {(row["panel"], row["plain_sc"]) for row in paneled if row["plain_sc"] is not None}
        paneled += [
            {
                "panel": panel,
                "mechanism": "plain records",
                "epsilon": float("inf"),
                "sc": value,
                "published": None,
            }
            for panel, value in sorted(plain)
        ]
    return paneled


def _render_maps(report: Report, utility: Rows, attack: Rows) -> None:
    report.section("Epsilon and number of columns (sections 6.2 and 6.3)")
    means = select(utility, clusterer="KMeans")
    for measure, rows in (
        ("ami", means),
        ("advantage", attack),
        ("tpr", attack),
        ("distance", means),
    ):
        for dataset in (*REAL, *SHAPES):
            chosen = [
                {**row, "panel": f"{row['mechanism']}, {row['version']}"}
                for version in VERSIONS
                for row in select(rows, dataset=dataset, version=version)
            ]
            if measure != "tpr":  # the source prints none
                chosen = with_published(chosen, measure)
            report.figure(
                draw_heat_map,
                f"map-{dataset}-{measure}",
                chosen,
                x="epsilon",
                y="columns",
                value=measure,
                panels="panel",
                published=_published(chosen),
                title=dataset,
                y_label="columns",
                limits=_largest(chosen) if measure == "distance" else None,
                says=f"{dataset}: {MEASURES[measure]}, by epsilon and number of columns"
                f"{REMARKS.get(measure, '')}.",
            )


def _largest(rows: Rows) -> tuple[float, float]:
    """End the colors of distances where those of nd-Laplace do: Piecewise's are far larger."""
    means: dict[tuple[Any, ...], list[float]] = {}
    for row in select(rows, mechanism=PLAIN):
        means.setdefault((row["version"], row["columns"], row["epsilon"]), []).append(
            row["distance"]
        )
    return 0.0, max(sum(some) / len(some) for some in means.values())


def _render_mechanisms(report: Report, utility: Rows, attack: Rows) -> None:
    report.section("Mechanisms compared (section 6.3.6)")
    means = select(utility, clusterer="KMeans")
    for measure, rows in (("ami", means), ("advantage", attack)):
        for dataset in (*REAL, *SHAPES):
            report.figure(
                draw_bars,
                f"bars-{dataset}-{measure}",
                with_published(select(rows, dataset=dataset), measure),
                value=measure,
                sets="epsilon",
                shade="version",
                title=dataset,
                says=f"{dataset}: {MEASURES[measure]}, by epsilon, averaged over all widths.",
            )


def _render_drafts(report: Report, rows: Rows) -> None:
    report.section("The drafts: fifty generated records in two columns")
    report.text(
        "The drafts choose epsilon as level / radius, with a radius read from the raw records, and "
        "draw again until a report lies in their box. Corrected, the radius comes from a public "
        "box, which is wider, and reports are moved to its side: so much more noise is what the "
        "promise costs. Their figures have no published numbers."
    )
    for measure in ("ami", "ari", "sc", "ch"):
        report.figure(
            draw_lines,
            f"drafts-{measure}",
            [row for row in rows if row["clusterer"] in DRAFT_CLUSTERERS],
            x="epsilon",
            y=measure,
            group="version",
            panels="clusterer",
            log_x=True,
            x_label="level",
            says=f"Drafts: {MEASURES[measure]}, against the level.",
        )
    for measure in ("advantage", "distance"):
        report.figure(
            draw_lines,
            f"drafts-{measure}",
            select(rows, clusterer=DRAFT_CLUSTERERS[0]),
            x="epsilon",
            y=measure,
            group="version",
            log_x=True,
            x_label="level",
            says=f"Drafts: {MEASURES[measure]}, against the level.",
        )


def _render_leaks(report: Report, rows: Rows) -> None:
    report.section("What a report tells, measured")
    report.text(
        "One record of seeds moves by a standard deviation of the first column. The claim is "
        "epsilon times that distance; the bound is what an audit finds, with a confidence of 99.9%."
    )
    report.table(
        ["mechanism as published", "columns", "epsilon", "claim", "loss at least", "caught"],
        [
            [
                row["mechanism"],
                str(row["columns"]),
                f"{row['epsilon']:g}",
                f"{row['claim']:.2f}",
                f"{row['bound']:.2f}",
                "yes" if row["caught"] else "no",
            ]
            for row in rows
        ],
    )


def _render_controls(report: Report, measurements: Measurements) -> None:
    report.section("Two controls of our own")
    report.text(
        "A metric epsilon is one for a unit of the table. With the unit set to the spread of each "
        "table's records, nearly all of the difference between the tables is gone (questions 1 "
        "and 3): what looked like the shape of the data was the unit."
    )
    report.figure(
        draw_lines,
        "unit",
        [
            {**row, "panel": f"{row['clusterer']}, {row['version']}"}
            for version in VERSIONS
            for row in select(measurements["unit"], version=version)
        ],
        x="epsilon",
        y="ami",
        group="dataset",
        panels="panel",
        log_x=True,
        x_label="epsilon for one spread",
        says="nd-Laplace on two columns of every table, with epsilon for one spread of records.",
    )
    report.figure(
        draw_lines,
        "search",
        [{**row, "columns": f"{row['columns']} columns"} for row in measurements["search"]],
        x="points",
        y="nodes",
        group="columns",
        log_x=True,
        log_y=True,
        x_label="points in the tree",
        y_label="nodes looked at in a search",
        says="Nearest neighbor in a kd-tree of uniform points (research question 3).",
    )
