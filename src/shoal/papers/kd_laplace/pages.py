"""The report on the thesis: its chapter 6, its drafts, what it leaks, and two controls."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.experiments.book import Book
from shoal.papers.by_repeat import select
from shoal.papers.kd_laplace.draft_work import DRAFT_CLUSTERERS
from shoal.papers.kd_laplace.published_figures import distances, with_published
from shoal.papers.kd_laplace.setting_pictures import tell_settings
from shoal.papers.kd_laplace.settings import CLUSTERERS, REAL, SHAPES
from shoal.papers.study import Records
from shoal.plotting import draw_bars, draw_heat_map, draw_lines

__all__ = ["tell_all"]

Rows = Sequence[Mapping[str, Any]]

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
VERSIONS = ("as published", "corrected")
BY = ("mechanism", "clusterer")


def tell_all(book: Book, records: Records) -> None:
    """Put all figures and tables into the report.

    Parameters
    ----------
    book : Book
        The report.
    records : mapping of str to list of dict
        Records of all parts.
    """
    utility = [row for name in records if name.startswith("utility") for row in records[name]]
    attack = [row for name in records if name.startswith("attack") for row in records[name]]
    book.text(
        "As published, the methods promise nothing (their flaws are in the documentation); "
        "corrected, nd-Laplace is Laplace, the remaps are GridRemap and BayesRemap of its reports, "
        "and Piecewise splits its epsilon over the columns. An epsilon of nd-Laplace is one for a "
        "unit of the table, an epsilon of Piecewise one for any two records: their numbers do not "
        "mean the same. Curves are means over repeats with bands of 95%; hollow markers are the "
        "published figures."
    )
    _against_published(book, utility, attack)
    tell_settings(book)
    _clusterers(book, utility)
    _maps(book, utility, attack)
    _mechanisms(book, utility, attack)
    _drafts(book, records["drafts"])
    _leaks(book, records["leak"])
    _controls(book, records)


def _against_published(book: Book, utility: Rows, attack: Rows) -> None:
    book.section("How near we come to the published figures")
    rows = []
    for measure, found in (("ami", utility), ("distance", utility), ("advantage", attack)):
        # One distance stands in the records of all clusterers.
        kept = found
        if measure == "distance":
            kept = [{**row, "clusterer": ""} for row in select(found, clusterer="KMeans")]
        for (name, clusterer), one in distances(kept, measure, by=BY).items():
            rows.append(
                [
                    MEASURES[measure],
                    name,
                    clusterer or "",
                    f"{one.published:.3f}",
                    f"{one.again:.3f}",
                    f"{one.absolute:.3f}",
                    str(one.figures),
                ]
            )
    if not rows:
        book.text("The published figures are not here (a folder targets beside SHOAL_DATA).")
        return
    book.text(
        "Means of the published figures and of the same methods run again, and the mean of the "
        "absolute differences of single figures. The source perturbs once for each figure, so "
        "each of its numbers carries the noise of one draw."
    )
    heading = ["measure", "mechanism", "clusterer", "published", "again", "difference", "figures"]
    book.table(heading, rows, text=3)


def _clusterers(book: Book, utility: Rows) -> None:
    book.section("Utility by clusterer (section 6.1 and its appendix)")
    for dataset in (*REAL, *SHAPES):
        widths = sorted({row["columns"] for row in select(utility, dataset=dataset)})
        for columns in dict.fromkeys((*widths[:2], widths[-1])):
            chosen = select(utility, dataset=dataset, columns=columns)
            for measure in ("ami", "sc"):
                rows = _panelled(chosen, measure)
                book.figure(
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


def _panelled(rows: Rows, measure: str) -> list[dict[str, Any]]:
    """Return each clusterer and version a panel; clusters of plain records become level lines."""
    wide = with_published(rows, measure)
    found = [
        {**row, "panel": f"{row['clusterer']}, {version}"}
        for version in VERSIONS
        for clusterer in CLUSTERERS
        for row in wide
        if row["version"] == version and row["clusterer"] == clusterer
    ]
    if measure == "sc":
        plain = {(row["panel"], row["plain_sc"]) for row in found if row["plain_sc"] is not None}
        found += [
            {
                "panel": panel,
                "mechanism": "plain records",
                "epsilon": float("inf"),
                "sc": value,
                "published": None,
            }
            for panel, value in sorted(plain)
        ]
    return found


def _maps(book: Book, utility: Rows, attack: Rows) -> None:
    book.section("Epsilon and number of columns (sections 6.2 and 6.3)")
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
            book.figure(
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
    for row in select(rows, mechanism="nd-Laplace"):
        means.setdefault((row["version"], row["columns"], row["epsilon"]), []).append(
            row["distance"]
        )
    return 0.0, max(sum(found) / len(found) for found in means.values())


def _mechanisms(book: Book, utility: Rows, attack: Rows) -> None:
    book.section("Mechanisms compared (section 6.3.6)")
    means = select(utility, clusterer="KMeans")
    for measure, rows in (("ami", means), ("advantage", attack)):
        for dataset in (*REAL, *SHAPES):
            book.figure(
                draw_bars,
                f"bars-{dataset}-{measure}",
                with_published(select(rows, dataset=dataset), measure),
                value=measure,
                sets="epsilon",
                shade="version",
                title=dataset,
                says=f"{dataset}: {MEASURES[measure]}, by epsilon, averaged over all widths.",
            )


def _drafts(book: Book, rows: Rows) -> None:
    book.section("The drafts: fifty generated records in two columns")
    book.text(
        "The drafts choose epsilon as level / radius, with a radius read from the raw records, and "
        "draw again until a report lies in their box. Corrected, the radius comes from a public "
        "box, which is wider, and reports are moved to its side: so much more noise is what the "
        "promise costs. Their figures have no published numbers."
    )
    for measure in ("ami", "ari", "sc", "ch"):
        book.figure(
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
        book.figure(
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


def _leaks(book: Book, rows: Rows) -> None:
    book.section("What a report tells, measured")
    book.text(
        "One record of seeds moves by a standard deviation of the first column. The claim is "
        "epsilon times that distance; the bound is what an audit finds, with a confidence of 99.9%."
    )
    book.table(
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


def _controls(book: Book, records: Records) -> None:
    book.section("Two controls of our own")
    book.text(
        "A metric epsilon is one for a unit of the table. With the unit set to the spread of each "
        "table's records, nearly all of the difference between the tables is gone (questions 1 "
        "and 3): what looked like the shape of the data was the unit."
    )
    book.figure(
        draw_lines,
        "unit",
        [
            {**row, "panel": f"{row['clusterer']}, {row['version']}"}
            for version in VERSIONS
            for row in select(records["unit"], version=version)
        ],
        x="epsilon",
        y="ami",
        group="dataset",
        panels="panel",
        log_x=True,
        x_label="epsilon for one spread",
        says="nd-Laplace on two columns of every table, with epsilon for one spread of records.",
    )
    book.figure(
        draw_lines,
        "search",
        [{**row, "columns": f"{row['columns']} columns"} for row in records["search"]],
        x="points",
        y="nodes",
        group="columns",
        log_x=True,
        log_y=True,
        x_label="points in the tree",
        y_label="nodes looked at in a search",
        says="Nearest neighbor in a kd-tree of uniform points (research question 3).",
    )
