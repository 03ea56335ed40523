"""A release as a table of clusters: computed from the release alone, so nothing more is spent."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal import _html
from shoal._numbers import readable
from shoal._typing import Floats
from shoal.density import place_cells
from shoal.exceptions import ParameterError
from shoal.schema import Category, FieldPoints, Schema, describe_points

if TYPE_CHECKING:
    from shoal.privacy import Release

__all__ = ["ClusterTable", "ShownWithClusters", "cluster_table", "released_html"]

RADIUS = "radius: in units of the bounds, 1 is a column's width"
BLIND = "by the reports, these are not better than points spread over the box"
SIZE = "noisy_size"
MANY = 12  # clusters that do not fit side by side


class ClusterTable(NamedTuple):
    """One row a cluster, in the order of the release, which is the order of labels.

    Rows that are not ``certain`` may be noise alone, and are no segments. ``columns`` are as many
    of the names as a reader needs of those that are, the last ``measures`` of them not the table's
    own, and ``caption`` explains them. ``described`` says the same in the words of a schema, where
    the release has one.
    """

    file: str
    names: tuple[str, ...]
    values: npt.NDArray[Any]
    certain: npt.NDArray[np.bool_]
    columns: int
    caption: str = ""
    measures: int = 0
    described: tuple[FieldPoints, ...] = ()
    sizes: Floats | None = None
    shares: Floats | None = None

    def rows(self, *, certain: bool) -> list[dict[str, Any]]:
        """Return the values of these clusters by name, and their number; None is not known."""
        names = (*self.names, *_apart(("cluster",), self.names))
        return [
            dict(zip(names, (*map(_finite, self.values[number]), int(number)), strict=True))
            for number in np.flatnonzero(self.certain == certain)
        ]

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and rows for a reader: certain clusters alone, in words if there are any.

        With a schema a row is a field and a column a cluster, unless there are many of these; else
        a row is a cluster.
        """
        numbers = np.flatnonzero(self.certain).tolist()
        if self.described:
            lines = [(field.name, field.texts()) for field in self.described]
            if self.sizes is not None:
                lines.insert(0, ("size (noisy)", [readable(float(size)) for size in self.sizes]))
            if self.shares is not None:
                lines.insert(0, ("share", [f"{share:.1%}" for share in self.shares]))
            if len(numbers) > MANY:
                rows = [[str(n), *(cells[n] for _, cells in lines)] for n in numbers]
                return ["cluster", *(name for name, _ in lines)], rows
            headings = ["", *(f"cluster {number}" for number in numbers)]
            return headings, [[name, *(cells[n] for n in numbers)] for name, cells in lines]
        shown = self.values[:, : self.columns]
        rows = [[str(number), *map(_readable, shown[number].tolist())] for number in numbers]
        return ["cluster", *self.names[: self.columns]], rows

    def to_html(self) -> str:
        """Return the same for a notebook."""
        headings, rows = self.texts()
        unsure = int((~self.certain).sum())
        notes = [self.caption] if self.caption else []
        notes += [f"{unsure} more may be noise alone"] if unsure else []
        count = int(self.certain.sum())
        clusters = f"{count} cluster{'' if count == 1 else 's'}"
        heading = f"{clusters}{': ' if notes else ''}{'; '.join(notes)}"
        return _html.table(headings, rows, caption=heading)


def cluster_table(release: "Release", columns: Sequence[str] | None = None) -> ClusterTable:
    """Return what a release says about each cluster, and the name of a file for it.

    Of centers: their noisy sizes, 95% radii in units of the bounds (inf: unknown), and whether they
    are certain (1) or may be noise alone (0); of reports, shares and radii in the unit of records.
    Of cells: the extent of each cluster's; of those of a density also their noisy size, its share
    of all records, and their center of mass. `columns` are names of columns, where the release has
    none.
    """
    values = release.values
    if "centers" in values:
        return _table_of_centers(values, columns)
    if "clusters" in values or "strata" in values:
        return _table_of_cells(values, columns)
    raise ParameterError(f"release must hold centers or cells of clusters, got {release.kind}")


def _table_of_cells(values: Mapping[str, Any], columns: Sequence[str] | None) -> ClusterTable:
    if "schema" in values:
        return _described_cells(values)
    names = _names(values, len(values["low"]), columns)
    sides = tuple(f"{column} {side}" for column in names for side in ("from", "to"))
    extents = _extents(values)
    certain = np.ones(len(extents), dtype=bool)
    if "sizes" not in values:
        names = (*_apart(("cells",), sides), *sides)
        return ClusterTable("clusters.csv", names, extents, certain, len(names))
    shares, caption = _shares(values)
    heads = (*names, *_apart((SIZE, "share"), (*names, *sides)), *sides)
    parts = [_middles(values), values["sizes"], shares, extents[:, 1:]]
    return ClusterTable(
        "clusters.csv",
        heads,
        np.column_stack(parts),
        certain,
        len(names) + 2,
        caption,
        measures=2,
        sizes=np.asarray(values["sizes"], dtype=np.float64),
    )


def _described_cells(values: Mapping[str, Any]) -> ClusterTable:
    """Describe clusters of cells by a schema: their middles, and the categories of their strata."""
    fields = Schema.from_dict(values["schema"]).features
    strata = [{**values, **one} for one in values.get("strata", [values])]
    measured = Schema([field for field in fields if not isinstance(field, Category)])
    middles = [_middles(one) for one in strata]
    described = describe_points(measured, np.concatenate(middles))
    counts = [len(some) for some in middles]
    for field in fields:
        if isinstance(field, Category):
            levels = [dict(one["levels"])[field.name] for one in strata]
            each = np.repeat(np.array(levels, dtype=object), counts).tolist()
            described.append(FieldPoints(field.name, field.unit, each))
    columns: list[tuple[str, Any]] = [(field.name, field.values) for field in described]
    sizes, caption = None, "middle of each cluster's cells"
    if "sizes" in values:
        sizes = np.asarray(values["sizes"], dtype=np.float64)
        shares, caption = _shares(values)
        columns += [(SIZE, sizes.tolist()), ("share", shares.tolist())]
    heads, table = _object_table(columns, [field.name for field in described])
    certain = np.ones(len(table), dtype=bool)
    return ClusterTable(
        "clusters.csv",
        heads,
        table,
        certain,
        len(heads),
        caption,
        described=tuple(described),
        sizes=sizes,
    )


def _table_of_centers(values: Mapping[str, Any], columns: Sequence[str] | None) -> ClusterTable:
    centers = np.asarray(values["centers"], dtype=np.float64)
    certain = np.asarray(values.get("certain", np.ones(len(centers))), dtype=np.bool_)
    measures, caption = _measures(values, certain)
    sizes = measures.get(SIZE)
    if "schema" not in values:
        names = _names(values, centers.shape[1], columns)
        heads = (*names, *_apart(tuple(measures), names))
        table = np.column_stack([centers, *measures.values()])
        shown = len(names) + 2
        return ClusterTable(
            "centers.csv", heads, table, certain, shown, caption, measures=2, sizes=sizes
        )
    described = describe_points(Schema.from_dict(values["schema"]), centers)
    named: list[tuple[str, Any]] = []
    for field in described:
        named.append((field.name, field.values))
        if field.shares is not None:
            named.append((f"{field.name} share", field.shares))
        if field.missing is not None:
            named.append((f"{field.name} missing", field.missing.tolist()))
    named += [(name, each.tolist()) for name, each in measures.items()]
    heads, table = _object_table(named, [field.name for field in described])
    return ClusterTable(
        "centers.csv",
        heads,
        table,
        certain,
        len(heads),
        caption="" if values.get("better_than_blind", True) else BLIND,
        described=tuple(described),
        sizes=sizes,
        shares=measures.get("share"),
    )


def _object_table(
    columns: Sequence[tuple[str, Any]], own: Sequence[str]
) -> tuple[tuple[str, ...], npt.NDArray[np.object_]]:
    """Return names, those of ours unlike the table's own, and one column of values for each."""
    others = [name for name, _ in columns if name not in own]
    renamed = dict(zip(others, _apart(others, own), strict=True))
    table = np.empty((len(columns[0][1]), len(columns)), dtype=object)
    for index, (_, each) in enumerate(columns):
        table[:, index] = each
    return tuple(renamed.get(name, name) for name, _ in columns), table


def _measures(
    values: Mapping[str, Any], certain: npt.NDArray[np.bool_]
) -> tuple[dict[str, npt.NDArray[Any]], str]:
    """Return what is known of centers beside where they are."""
    if "sizes" not in values:  # of reports: shares, and radii in the records' unit
        measures = {"share": values["weights"], "radius": values["center_radius"]}
        better = values.get("better_than_blind", True)
        return measures, f"radius: in the unit of the records{'' if better else f'; {BLIND}'}"
    measures = {SIZE: values["sizes"], "radius": values["radii"], "certain": certain}
    return {name: np.asarray(each, dtype=np.float64) for name, each in measures.items()}, RADIUS


def _names(values: Mapping[str, Any], count: int, columns: Sequence[str] | None) -> tuple[str, ...]:
    if "schema" in values:
        columns = Schema.from_dict(values["schema"]).space.names
    named = columns or values.get("columns") or [f"column {one}" for one in range(1, count + 1)]
    return tuple(named)


def _extents(values: Mapping[str, Any]) -> Floats:
    """Count the cells of each cluster, and box them in."""
    starts, ends = (_placed(values, part) for part in place_cells(values))
    rows = []
    for cluster in range(int(values["clusters"].max(initial=-1)) + 1):
        mine = values["clusters"] == cluster
        sides = np.column_stack([starts[mine].min(axis=0), ends[mine].max(axis=0)])
        rows.append([mine.sum(), *sides.ravel()])
    return np.array(rows, dtype=np.float64).reshape(len(rows), 1 + 2 * len(values["low"]))


def _middles(values: Mapping[str, Any]) -> Floats:
    """Find the center of mass of each cluster's cells."""
    low, high = place_cells(values)
    part = (low + high) / 2
    middles = []
    weights = values["values"] if "sizes" in values else np.ones(len(part))
    for cluster in range(int(values["clusters"].max(initial=-1)) + 1):
        mine = values["clusters"] == cluster
        middles.append(np.average(part[mine], axis=0, weights=weights[mine]))
    return _placed(values, np.reshape(middles, (-1, part.shape[1])))


def _placed(values: Mapping[str, Any], part: Floats) -> Floats:
    """Return parts of the box as points; no difference of its ends is taken: it may overflow."""
    points: Floats = values["low"] * (1 - part) + values["high"] * part
    return points


def _shares(values: Mapping[str, Any]) -> tuple[Floats, str]:
    """Return which part of all records each cluster has, and a caption."""
    sizes = np.asarray(values["sizes"], dtype=np.float64)
    total = max(float(values["records"]), float(sizes.sum()))
    rest = 1.0 - float(sizes.sum()) / total
    caption = f"center of mass and size of each cluster; {rest:.0%} of records are in none"
    return sizes / total, caption


def _finite(value: Any) -> Any:
    """Return a value as JSON has it: None for a number that is not finite, a date as text."""
    if isinstance(value, int | float | np.number):
        return float(value) if np.isfinite(value) else None
    return None if value is None else str(value)


def _readable(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return readable(value) if np.isfinite(value) else "unknown"


def _apart(wanted: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Change names of ours until no column of the user's has the same name."""
    names: list[str] = []
    for name in wanted:
        free = name
        while free in taken or free in names:
            free += "_"
        names.append(free)
    return tuple(names)


class ShownWithClusters(_html.ShownWithPromise):
    """An estimator that a notebook shows with its promise, and the clusters that it released."""

    def _released_html(self) -> str:
        release = getattr(self, "release_", None)
        return "" if release is None else released_html(release)


def released_html(release: "Release") -> str:
    """Return the clusters of a release for a notebook; nothing where it holds none."""
    known = any(name in release.values for name in ("centers", "clusters", "strata"))
    return cluster_table(release).to_html() if known else ""
