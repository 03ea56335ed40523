"""Clusters of any shape on records that are nobody's, or of a release that was bought.

A density is estimated once for each choice of records, columns and epsilon. Thresholds are moved
afterward on what was published: :meth:`shoal.cluster.DPDensity.refine` sees no record, and neither
does anything else here. True records of a table are never read.
"""

import dataclasses
import hashlib
import re
import threading
from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.datasets import make_moons

from shoal._numbers import readable
from shoal._typing import Floats
from shoal.cluster import DPDensity
from shoal.datasets import make_circle, make_spirals
from shoal.plotting import ShapesAxis
from shoal.privacy import Adjacency, Guarantee, Release
from shoal.schema import Category, Date, Field, Number, Ordinal, Place, Schema
from shoal.service import RefusedError
from shoal.studio.nobodys_records import MAX_ROWS, SEED, WORDS, explored_records
from shoal.studio.workspace import StudioTable

__all__ = [
    "ALPHAS",
    "EPSILONS",
    "SHAPES",
    "SIZES",
    "Cut",
    "Density",
    "ShapesSource",
    "Thresholds",
    "cell_fields",
    "cut",
    "density_releases",
    "estimate_density",
    "file_stem",
]

ShapesSource = Literal["made-up", "copy", "shapes", "release"]
MEASURED = Number | Date | Ordinal | Place
MAX_COLUMNS = 4
PLANE = 2
MAX_KEPT = 12  # densities of a table: going back with a slider is quick
MOON_NOISE, MARGIN = 0.06, 0.06  # of generated shapes; the margin is a part of the bounds
TICKS = np.arange(5) / 4  # of an axis that has words instead of numbers
EPSILONS = (0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 12, 16)
ALPHAS = (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
SIZES = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000)
SHAPES = {
    "moons": "two half moons",
    "rings": "a ring in a ring",
    "spirals": "three spirals",
}
SHAPE_WORDS = "generated shapes"
RELEASE_WORDS = "a release of your table: its published density, no records"
NO_COLUMNS = (
    "None of this table's features is a number, date or place, so its clusters have no shape: "
    "choose another table, or find its clusters on the Explore page."
)


class Thresholds(NamedTuple):
    """What a reader moves; None leaves it to DPDensity.

    Parameters
    ----------
    alpha : float or None
        Probability of any false cluster.
    min_size : float or None
        Records below which a part is no cluster of its own.
    level : float or None
        Density at which the tree is cut, in the unit of the chart.
    """

    alpha: float | None = None
    min_size: float | None = None
    level: float | None = None


class Density(NamedTuple):
    """A published density, and how its columns are shown.

    Parameters
    ----------
    key : str
        Names the choice of records, columns and epsilon.
    words : str
        Whose records they are.
    model : DPDensity
        Fitted, with nothing chosen by a reader.
    axes : tuple of ShapesAxis
        One for each column of the cells.
    guarantee : Guarantee
        What a release like this promises.
    """

    key: str
    words: str
    model: DPDensity
    axes: tuple[ShapesAxis, ...]
    guarantee: Guarantee

    @property
    def strata(self) -> list[str]:
        """Combinations of categories that have a density of their own; empty for one."""
        levels = self.model.strata_
        named = [", ".join(f"{name}: {one}" for name, one in level.items()) for level in levels]
        return named if len(levels) > 1 else []


class Cut(NamedTuple):
    """Clusters of a density at some thresholds, as charts read them.

    Parameters
    ----------
    model : DPDensity
        With these clusters.
    shown : object with ``values``
        What is drawn: the release, or one stratum of it.
    level : float or None
        Density of the cut, in the unit of the tree.
    volume : float
        Of the finest cell: a density of the tree times this is one of the chart.
    """

    model: DPDensity
    shown: Any
    level: float | None
    volume: float


def cell_fields(schema: Schema) -> tuple[Field, ...]:
    """Return the fields whose values can be columns of cells.

    Parameters
    ----------
    schema : Schema
        The public description of a table.

    Returns
    -------
    fields : tuple of Field
        Numbers, dates, ordered categories and places among its features.
    """
    return tuple(one for one in schema.features if isinstance(one, MEASURED))


def density_releases(table: StudioTable) -> dict[str, Release]:
    """Return the releases of a table that hold a density, by their keys.

    Parameters
    ----------
    table : StudioTable
        The table.

    Returns
    -------
    releases : dict of str to Release
        Oldest first.
    """
    held = {str(one.key): one.release for one in table.releases}
    return {key: release for key, release in held.items() if release.kind == DPDensity.__name__}


def estimate_density(
    table: StudioTable,
    source: ShapesSource,
    *,
    columns: tuple[int, ...] = (),
    epsilon: float = 1.0,
    shape: str = "moons",
    release: str = "",
) -> Density:
    """Return a density to cluster; the same one for the same choice, kept in memory.

    Parameters
    ----------
    table : StudioTable
        Described; its own records are not read.
    source : {"made-up", "copy", "shapes", "release"}
        Which records, or a release.
    columns : tuple of int, default=()
        Indices of :func:`cell_fields`; empty for the first two columns.
    epsilon : float, default=1
        Of the density; a release has its own.
    shape : str, default="moons"
        Which generated shape.
    release : str, default=""
        Key of a release.

    Returns
    -------
    density : Density
        With the clusters that DPDensity chooses without settings.
    """
    if source == "release":
        choice = f"release {release}"
        return _kept(table, choice, partial(_published, table=table, release=release))
    schema = _cell_schema(table.described, columns, plane=source == "shapes")
    names = tuple(field.name for field in schema.features)
    which = shape if source == "shapes" else id(table.copy) if source == "copy" else ""
    choice = repr((source, which, names, schema.to_dict(), epsilon, table.n_guess))
    make = partial(_explored, table=table, schema=schema, source=source, shape=shape)
    return _kept(table, choice, partial(make, epsilon=epsilon))


def cut(density: Density, thresholds: Thresholds, *, stratum: int = 0) -> Cut:
    """Find the clusters of a published density at some thresholds: this costs nothing.

    Parameters
    ----------
    density : Density
        The density.
    thresholds : Thresholds
        What the reader chose.
    stratum : int, default=0
        Which of several strata is shown.

    Returns
    -------
    cut : Cut
        The clusters.
    """
    model, level = density.model, None
    values = _stratum(model, stratum)
    volume = _finest(values)
    if thresholds.level is not None:
        level = thresholds.level / volume
    if thresholds != Thresholds():
        model = model.refine(
            alpha=thresholds.alpha, min_cluster_size=thresholds.min_size, level=level
        )
        values = _stratum(model, stratum)
    return Cut(model, SimpleNamespace(values=values), level, volume)


def _stratum(model: DPDensity, stratum: int) -> Mapping[str, Any]:
    """Return what was published of one stratum."""
    values = model.release_.values
    if "strata" not in values:
        return values
    if not 0 <= stratum < len(values["strata"]):
        raise RefusedError("invalid-parameter", "There is no such combination of categories.")
    return {**values, **values["strata"][stratum]}


def _finest(values: Mapping[str, Any]) -> float:
    """Return the volume of the finest cell, in the unit of the tree's densities."""
    if "cell_low" not in values:
        return 1.0
    widths = np.asarray(values["cell_high"], dtype=np.float64) - values["cell_low"]
    return float((widths / (2 * values["half"])).prod(axis=1).min())


def _kept(table: StudioTable, choice: str, make: Callable[[str], Density]) -> Density:
    key = hashlib.sha256(choice.encode()).hexdigest()[:16]
    with table.lock:
        densities: dict[str, Density] = table.cache.setdefault("shapes", {})
        fitting: threading.Lock = table.cache.setdefault("shapes fitting", threading.Lock())
    with fitting:  # a fit may take seconds: other pages of the table go on meanwhile
        if key not in densities:
            while len(densities) >= MAX_KEPT:
                del densities[next(iter(densities))]
            densities[key] = make(key)
        return densities[key]


def _explored(
    key: str,
    *,
    table: StudioTable,
    source: ShapesSource,
    schema: Schema,
    epsilon: float,
    shape: str,
) -> Density:
    """Estimate the density of records that are nobody's."""
    if source == "shapes":
        words = f"{SHAPE_WORDS} ({SHAPES[shape]})"
        records = _shape_columns(schema, shape)
    else:
        words = WORDS["made-up" if source == "made-up" else "copy"]
        explored = explored_records(table, "made-up" if source == "made-up" else "copy")
        records = _without_gaps(schema, explored.columns)
    model = DPDensity(epsilon=epsilon, schema=schema, random_state=SEED).fit(records)
    promise = Guarantee("central", epsilon=epsilon, adjacency=Adjacency.ADD_REMOVE)
    return Density(key, words, model, _axes(schema), promise)


def _published(key: str, *, table: StudioTable, release: str) -> Density:
    """Read the density of a release that was bought."""
    held = density_releases(table).get(release)
    if held is None:
        raise RefusedError(
            "not-found", "There is no such release with a density: choose another one."
        )
    model = DPDensity.from_release(held)
    schema = model.schema
    if schema is None:
        values = held.values
        names = values.get("columns") or [f"column {n + 1}" for n in range(len(values["low"]))]
        bounds = zip(names, values["low"], values["high"], strict=True)
        axes = tuple(ShapesAxis(name, float(low), float(high)) for name, low, high in bounds)
    else:
        axes = _axes(schema)
    return Density(key, RELEASE_WORDS, model, axes, held.guarantee)


def _cell_schema(schema: Schema, columns: tuple[int, ...], *, plane: bool) -> Schema:
    """Return the description of the chosen columns; a generated shape has two."""
    fields = cell_fields(schema)
    if not fields:
        raise RefusedError("invalid-parameter", NO_COLUMNS)
    if any(not 0 <= index < len(fields) for index in columns):
        raise RefusedError("invalid-parameter", "A chosen column is no longer in this table.")
    chosen = [fields[index] for index in sorted(set(columns))] or _first(fields)
    if plane:
        chosen = _first(chosen)
    for field in chosen:
        if field.lacking:
            raise RefusedError(
                "invalid-parameter",
                f"The schema lacks {field.lacking} of {field.name!r}: see the Table page.",
            )
    # A record without a value is in no cell: such records are left out here.
    schema = Schema(
        [
            dataclasses.replace(field, missing="refuse") if field.missing == "category" else field
            for field in chosen
        ]
    )
    if plane and schema.space.columns != PLANE:
        raise RefusedError(
            "invalid-parameter", "Generated shapes need two columns: choose another source."
        )
    if schema.space.columns > MAX_COLUMNS:
        raise RefusedError(
            "invalid-parameter",
            f"Choose at most {MAX_COLUMNS} columns (a place counts as two): with more, cells hold "
            "too few records to show shapes.",
        )
    return schema


def _first(fields: Any) -> list[Field]:
    """Return the first fields that make two columns."""
    kept: list[Field] = []
    for field in fields:
        if len(kept) + (2 if isinstance(field, Place) else 1) <= PLANE:
            kept.append(field)
        if isinstance(field, Place) or len(kept) == PLANE:
            break
    return kept


def _without_gaps(schema: Schema, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return made-up records that have a value wherever the schema fills none in."""
    refused = [field for field in schema.features if field.missing == "refuse"]
    names = [name for field in refused for name in field.columns]
    full = np.ones(len(next(iter(columns.values()))), dtype=np.bool_)
    for name in names:
        full &= np.array([value is not None for value in columns[name]], dtype=np.bool_)
    return {name: np.asarray(columns[name], dtype=object)[full] for name in schema.columns}


def _shape_columns(schema: Schema, shape: str) -> dict[str, Any]:
    """Return a generated shape inside the public bounds of two columns."""
    points = MARGIN + (1 - 2 * MARGIN) * _unit_shape(shape)
    widths = np.array([part.width for part in schema.space.parts])
    return dict(zip(schema.columns, schema.restore(points * widths).T, strict=True))


def _unit_shape(shape: str) -> Floats:
    """Return points of a shape in the unit square."""
    if shape == "moons":
        points, _ = make_moons(MAX_ROWS, noise=MOON_NOISE, random_state=SEED)
        low, high = np.array([-1.2, -0.75]), np.array([2.2, 1.25])
    else:
        makers = {"rings": make_circle, "spirals": make_spirals}
        made = makers[shape](MAX_ROWS, random_state=SEED)
        points, (low, high) = made.X, made.bounds
    unit: Floats = np.clip((points - low) / (np.asarray(high) - low), 0.0, 1.0)
    return unit


def _axes(schema: Schema) -> tuple[ShapesAxis, ...]:
    """Return the columns of cells as readers know them."""
    axes: list[ShapesAxis] = []
    for field in schema.features:
        if isinstance(field, Category):  # a stratum, not a column of cells
            continue
        title = field.title or field.name
        if isinstance(field, Place):
            radius = float(field.radius or 0.0)
            axes += [
                ShapesAxis(f"{title}, km {way} of the center", -radius, radius)
                for way in ("east", "north")
            ]
            continue
        named = f"{title} ({field.unit})" if field.unit else title
        if isinstance(field, Number) and field.scale == "linear":
            axes.append(ShapesAxis(named, *field.limits))
            continue
        (values,) = field.restore(TICKS[:, np.newaxis] * field.shapes[0].width)
        axes.append(ShapesAxis(named, 0.0, 1.0, tuple(_tick(value) for value in values)))
    return tuple(axes)


def _tick(value: Any) -> str:
    return readable(float(f"{value:.3g}")) if isinstance(value, float | int) else str(value)


def file_stem(density: Density, source: str) -> str:
    """Return the beginning of the names of files: letters, digits and dashes.

    Parameters
    ----------
    density : Density
        What is saved.
    source : str
        Which records.

    Returns
    -------
    stem : str
        For example ``"shapes-made-up-age-income"``.
    """
    names = [axis.name for axis in density.axes]
    plain = re.sub(r"[^A-Za-z0-9]+", "-", " ".join(["shapes", source, *names]))
    return plain.strip("-").lower()[:80]
