"""A release as a table of clusters: computed from the release alone, so nothing more is spent."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats
from shoal.density import place_cells

if TYPE_CHECKING:
    from shoal.privacy import Release

__all__ = [
    "Clusters",
    "released_clusters",
    "uncertain_centers",
]

RADIUS = "radius: in units of the bounds, 1 is a column's width"


class Clusters(NamedTuple):
    """One row a cluster, in the order of the release, which is the order of labels.

    Rows that are not ``certain`` may be noise alone, and are no segments. ``columns`` are as many
    of the names as a reader needs of those that are, the last ``measures`` of them not the table's
    own, and ``caption`` explains them.
    """

    file: str
    names: tuple[str, ...]
    values: Floats
    certain: npt.NDArray[np.bool_]
    columns: int
    caption: str = ""
    measures: int = 0

    def rows(self, *, certain: bool) -> list[dict[str, float | None]]:
        """Return the values of these clusters by name, and their number; None is not known."""
        names = (*self.names, *_apart(("cluster",), self.names))
        return [
            dict(zip(names, (*map(_finite, self.values[number]), int(number)), strict=True))
            for number in np.flatnonzero(self.certain == certain)
        ]


def released_clusters(release: "Release", columns: Sequence[str]) -> Clusters:
    """Return what a release says about each cluster, and the name of a file for it.

    Of centers: their noisy sizes, 95% radii in units of the bounds (inf: unknown), and whether they
    are certain (1) or may be noise alone (0). Of cells: the extent of each cluster's; of those of a
    density also their noisy size, its share of all records, and their center of mass.
    """
    if "centers" in release.values:
        names = (*columns, *_apart(("noisy_size", "radius", "certain"), columns))
        parts = [release.values[name] for name in ("centers", "sizes", "radii", "certain")]
        table = np.column_stack(parts).astype(np.float64)
        certain = release.values["certain"]
        return Clusters("centers.csv", names, table, certain, len(names) - 1, RADIUS, measures=2)
    sides = tuple(f"{column} {side}" for column in columns for side in ("from", "to"))
    extents = _extents(release)
    certain = np.ones(len(extents), dtype=bool)
    if "sizes" not in release.values:
        names = (*_apart(("cells",), sides), *sides)
        return Clusters("clusters.csv", names, extents, certain, len(names))
    shares, rest = _shares(release)
    names = (*columns, *_apart(("noisy_size", "share"), (*columns, *sides)), *sides)
    parts = [_middles(release), release.values["sizes"], shares, extents[:, 1:]]
    caption = f"center of mass and size of each cluster; {rest:.0%} of records are in none"
    shown = len(columns) + 2
    return Clusters(
        "clusters.csv", names, np.column_stack(parts), certain, shown, caption, measures=2
    )


def uncertain_centers(model: Any, clusters: Clusters) -> list[str]:
    """Return a line on the centers that may be noise alone and the options that help, or none."""
    if clusters.certain.all():
        return []
    known = int(clusters.certain.sum())
    numbers = ", ".join(map(str, np.flatnonzero(~clusters.certain)))
    option = f"--set n_clusters={known}" if known else "--epsilon"
    bounds = "LOW:HIGH,..." if isinstance(model.bounds, str) else "private"
    ways = f"--bounds {bounds} or {option}"
    return [f"{model.advice_} ({ways}); not listed as segments: {numbers}"]


def _extents(release: "Release") -> Floats:
    """Count the cells of each cluster, and box them in."""
    values = release.values
    starts, ends = (_placed(values, part) for part in place_cells(values))
    rows = []
    for cluster in range(int(values["clusters"].max(initial=-1)) + 1):
        mine = values["clusters"] == cluster
        sides = np.column_stack([starts[mine].min(axis=0), ends[mine].max(axis=0)])
        rows.append([mine.sum(), *sides.ravel()])
    return np.array(rows, dtype=np.float64).reshape(len(rows), 1 + 2 * len(values["low"]))


def _middles(release: "Release") -> Floats:
    """Find the center of mass of each cluster's cells."""
    values = release.values
    low, high = place_cells(values)
    part = (low + high) / 2
    middles = []
    for cluster in range(len(values["sizes"])):
        mine = values["clusters"] == cluster
        middles.append(np.average(part[mine], axis=0, weights=values["values"][mine]))
    return _placed(values, np.reshape(middles, (-1, part.shape[1])))


def _placed(values: Mapping[str, Any], part: Floats) -> Floats:
    """Return parts of the box as points; no difference of its ends is taken: it may overflow."""
    points: Floats = values["low"] * (1 - part) + values["high"] * part
    return points


def _shares(release: "Release") -> tuple[Floats, float]:
    """Return which part of all records each cluster has, and which part is in none."""
    sizes = np.asarray(release.values["sizes"], dtype=np.float64)
    total = max(float(release.values["records"]), float(sizes.sum()))
    return sizes / total, 1.0 - float(sizes.sum()) / total


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _apart(wanted: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Change names of ours until no column of the user's has the same name."""
    names: list[str] = []
    for name in wanted:
        free = name
        while free in taken:
            free += "_"
        names.append(free)
    return tuple(names)
