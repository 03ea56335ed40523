"""The report on WaveCluster: measures against epsilon, printed figures beside ours, clusters."""

import math
from collections.abc import Sequence
from typing import Any

from shoal.experiments.book import Book
from shoal.papers.study import Records
from shoal.papers.wavecluster import (
    TECHNIQUES,
    Measurement,
    PublishedWaveCluster,
    judge_claims,
)
from shoal.papers.wavecluster.mean_rows import TITLES, mean_rows
from shoal.papers.wavecluster.measure_cell import read_measurement
from shoal.papers.wavecluster.picture_cell import NONE, read_cells
from shoal.papers.wavecluster.printed_figures import HEADINGS, printed_figures
from shoal.papers.wavecluster.versions import PLAIN, VERSIONS
from shoal.plotting import draw_cells, draw_lines

__all__ = ["tell_figures"]

Rows = list[dict[str, Any]]

NAMES = {
    "thr": "PrivTHR",
    "thr-em": "PrivTHR_EM",
    "qt": "PrivQT",
    "baseline": "Baseline",
    "oneshot": "ours",
}
SAYS = {
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
LONG = 10_000.0  # numbers from here on are written in thousands
CURVES: dict[str, Any] = {
    "x": "epsilon",
    "y": "value",
    "low": "low",
    "high": "high",
    "group": "mechanism",
    "dash": "version",
    "log_x": True,
}


def tell_figures(book: Book, records: Records) -> None:
    """Put everything into the report.

    Parameters
    ----------
    book : Book
        The report.
    records : mapping of str to list of dict
        Of the parts ``"techniques"``, ``"gowalla"`` and ``"clusters"``.
    """
    measured = [read_measurement(record) for record in records["techniques"]]
    _introduce(book)
    book.section("Measures against epsilon")
    book.text(
        "Means over the runs with bands of 95%; full lines keep their promise, broken lines are "
        "the techniques as published. Each is compared with WaveCluster without privacy on the "
        "same cells."
    )
    rows = mean_rows(records["techniques"])
    for measure, says in SAYS.items():
        some = [row for row in rows if row["measure"] == measure]
        extra: dict[str, Any] = {}
        if measure == "k":
            some += _levels(records["techniques"])
            extra = {"published": "published"}
        title = TITLES[measure]
        book.figure(
            draw_lines, measure, some, **CURVES, panels="dataset", y_label=title, says=says, **extra
        )
    book.section("Figures printed in the source's text")
    book.text("Means over the runs, with standard errors.")
    book.table(HEADINGS, printed_figures(measured, records["clusters"]), text=1)
    _tell_fourth(book, records["gowalla"])
    _tell_clusters(book, records["clusters"])


def _introduce(book: Book) -> None:
    book.section("What is compared")
    book.table(
        ["technique", "in the source", "as published it has no guarantee, because"],
        [
            [technique, NAMES[technique], _reason(technique)]
            for technique in (*TECHNIQUES, "oneshot")
        ],
        text=3,
    )
    book.text(
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


def _levels(records: Sequence[dict[str, Any]]) -> Rows:
    """Return one row a set for k itself, at an epsilon without privacy."""
    true = {record["dataset"]: record["k"] for record in records}
    return [
        {"dataset": name, "mechanism": "k", "version": "corrected", "epsilon": math.inf}
        | {"value": k, "low": math.nan, "high": math.nan, "published": None}
        for name, k in true.items()
    ]


def _tell_fourth(book: Book, records: Sequence[dict[str, Any]]) -> None:
    book.section("The fourth set: Gowalla")
    book.text(
        "The source draws a million check-ins at random from 6.4 million and prints neither the "
        "sample nor its grid. Here are 620,683 check-ins of active users on a grid of 128 cells a "
        "side over all longitudes and latitudes. Most of its cells are empty, and noise lifts "
        "about half of them above 0. These figures are shown, and counted in no verdict."
    )
    rows = mean_rows(records)
    for name, measures, says in (
        ("gowalla_cells", ("k_share", "dsg"), "Gowalla: cells and clusters of cells."),
        ("gowalla_records", ("f_measure", "ocm", "two_ce"), "Gowalla: clusters and classes."),
    ):
        some = [row for row in rows if row["measure"] in measures]
        book.figure(draw_lines, name, some, **CURVES, panels="title", y_label="measure", says=says)
    _tell_fourth_claims(book, [read_measurement(record) for record in records])


def _tell_fourth_claims(book: Book, measured: Sequence[Measurement]) -> None:
    held: dict[str, list[str]] = {}
    for verdict in judge_claims(measured):
        words = f"{', '.join(verdict.claim.techniques)}: {verdict.claim.text}"
        held.setdefault(words, []).append(f"{verdict.held} of {verdict.means}")
    book.text("How many means surely do what the source says of all sets, on this one:")
    book.table(
        ["what the source says", *VERSIONS.values()], [[words, *of] for words, of in held.items()]
    )


def _tell_clusters(book: Book, records: Sequence[dict[str, Any]]) -> None:
    epsilon = records[0]["epsilon"]
    book.section("Cells and clusters")
    book.text(
        f"One fit each at epsilon {epsilon:g}. A cluster has the color of the one without privacy "
        "that it shares most cells with; clusters without a partner come after them; after ten, "
        "colors come again."
    )
    for name in dict.fromkeys(record["dataset"] for record in records):
        some = [record for record in records if record["dataset"] == name]
        for version in VERSIONS.values():
            book.figure(
                draw_cells,
                f"cells_{name}_{version.replace(' ', '_')}",
                {
                    PLAIN if one["version"] == PLAIN else one["mechanism"]: read_cells(one["cells"])
                    for one in _in_order(some)
                    if one["version"] in (PLAIN, version)
                },
                **_frame(some[0]),
                title=f"{name}, {version}",
                says=f"{name}: significant cells and their clusters, {version}.",
            )


def _in_order(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the truth first, then ours, then the source's techniques."""
    order = [NONE, "oneshot", *TECHNIQUES]
    return sorted(records, key=lambda record: order.index(record["mechanism"]))


def _frame(record: dict[str, Any]) -> dict[str, Any]:
    """Return the box and the names of the columns; long numbers would not fit below the axes."""
    low, high = ((record[f"x_{end}"], record[f"y_{end}"]) for end in ("low", "high"))
    names = (record["x_name"], record["y_name"])
    if max(map(abs, (*low, *high))) < LONG:
        return {"bounds": (low, high), "columns": names}
    return {
        "bounds": tuple(tuple(value / 1000 for value in corner) for corner in (low, high)),
        "columns": tuple(f"{name} (thousands)" for name in names),
    }
