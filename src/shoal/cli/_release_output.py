"""What ``shoal cluster`` shows of a release: a picture, tables that fit on the screen, JSON."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from shoal.exceptions import MissingPackageError

if TYPE_CHECKING:
    from shoal._cluster_table import ClusterTable

__all__ = [
    "FILES",
    "OUTLINES",
    "PICTURE",
    "RELEASE",
    "draw_picture",
    "plain_release",
    "print_release",
]

RELEASE, PICTURE, OUTLINES = "release.json", "release.png", "outlines.geojson"
FILES = (RELEASE, PICTURE, OUTLINES, "centers.csv", "clusters.csv")
MAX_SHOWN = 8  # columns that fit on a screen
FEW_SHOWN = 4  # of more than that, beside size and radius, so that numbers stay whole


def draw_picture(release: Any, names: tuple[str, ...] | None, path: Path) -> list[str]:
    """Draw the release; return a note where there is no picture."""
    from shoal.plotting import draw_release

    try:
        drawn = draw_release(release, names, path=path)
    except MissingPackageError as missing:
        return [f"no picture: {missing}"]
    if drawn:
        return []
    if "strata" in release.values:
        return ["no picture: with several strata, see clusters.csv for where the clusters are"]
    return ["no picture: a sparse grid releases only its significant cells"]


def print_release(
    release: Any, clusters: "ClusterTable", files: list[Path], labels: Path | None, notes: list[str]
) -> None:
    """Print the clusters, the promise, and the files that hold them."""
    # Names of columns are the user's: square brackets in them are no markup.
    screen = Console(markup=False, highlight=False)
    for table in _tables(release.kind, clusters, screen.width):
        screen.print(table)
    screen.print(f"{release.guarantee}\n", soft_wrap=True)
    if release.ledger is not None:
        screen.print(f"ledger: {release.ledger}")
    for note in notes:
        screen.print(note, soft_wrap=True)
    state = "may be published" if release.guarantee.holds else "not to be published"
    for file in files:
        screen.print(f"{state}: {file.resolve()}", soft_wrap=True)
    if labels is not None:
        screen.print(f"for the curator only: {labels.resolve()}", soft_wrap=True)


def _tables(kind: str, clusters: "ClusterTable", width: int) -> list[Table]:
    """Return the clusters as tables that fit on the screen."""
    if not clusters.described:
        return [_table(kind, clusters)]
    heads, rows = clusters.texts()
    sizes = [max(map(len, column)) + 3 for column in zip(heads, *rows, strict=True)]
    tables: list[Table] = []
    first = 1
    while first < len(heads) or not tables:
        last = first + 1
        while last < len(heads) and sum([sizes[0], 1, *sizes[first : last + 1]]) <= width:
            last += 1
        caption = clusters.caption if last >= len(heads) else None
        title = None if tables else _title(kind, clusters)
        table = Table(title=title, caption=caption or None)
        for index in (0, *range(first, min(last, len(heads)))):
            table.add_column(heads[index], justify="right" if index else "left")
        for row in rows:
            table.add_row(row[0], *row[first:last])
        tables.append(table)
        first = last
    return tables


def _title(kind: str, clusters: "ClusterTable") -> str:
    known = int(clusters.certain.sum())
    return f"Released by {kind}: {known} cluster{'' if known == 1 else 's'}"


def _table(kind: str, clusters: "ClusterTable") -> Table:
    shown = list(range(clusters.columns))
    if clusters.columns > MAX_SHOWN:
        own = clusters.columns - clusters.measures
        shown = [*range(own, clusters.columns), *range(min(own, FEW_SHOWN))]
    hidden = clusters.columns - len(shown)
    captions = [f"and {hidden} more columns in {clusters.file}"] if hidden else []
    table = Table(
        title=_title(kind, clusters),
        caption="; ".join([*captions, *filter(None, [clusters.caption])]) or None,
    )
    for heading in ("cluster", *(clusters.names[index] for index in shown)):
        table.add_column(heading, justify="right")
    digits = 3 if hidden else 6
    for number in clusters.certain.nonzero()[0]:
        table.add_row(
            str(number), *(_short(value, digits) for value in clusters.values[number, shown])
        )
    return table


def _short(value: float, digits: int) -> str:
    if math.isinf(value):
        return "unknown"
    return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"


def plain_release(
    release: Any, clusters: "ClusterTable", files: list[Path], labels: Path | None, notes: list[str]
) -> dict[str, object]:
    """Return the same as plain values that JSON can hold."""
    return {
        "target": release.kind,
        "guarantee": {**release.guarantee.to_dict(), "text": str(release.guarantee)},
        "may_be_published": release.guarantee.holds,
        "ledger": None if release.ledger is None else release.ledger.to_dict(),
        "clusters": clusters.rows(certain=True),
        "may_be_noise": clusters.rows(certain=False),
        "files": [str(file) for file in files],
        "labels_for_the_curator_only": None if labels is None else str(labels),
        "notes": notes,
    }
