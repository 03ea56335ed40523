"""What the values of a release of clusters must be: labels, tables and pictures rely on it.

A release may come from anywhere. It is checked whole before it is used, so that a device or a
curator learns at once that a file is broken, and not when a label or a picture fails.
"""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from shoal import _numbers
from shoal._bounds import public_box
from shoal._boxes import find_boxes
from shoal.exceptions import ParameterError, ReleaseError
from shoal.privacy import Release
from shoal.schema import Category, Schema

__all__ = ["check_labels", "check_release"]

Values = Mapping[str, Any]
Array = npt.NDArray[Any]

# What a release has to hold for labels by its metric.
NEEDED = {
    "bounds": ("centers", "low", "high", "half"),
    "schema": ("centers", "schema", "low", "high", "half"),
    "cosine": ("centers", "low", "high", "half"),
    "euclidean": ("centers",),
    "cells": ("cells", "clusters", "shape", "grid", "low", "high", "half"),
    "boxes": ("cells", "clusters", "cell_low", "cell_high", "low", "high", "half"),
    "strata": ("strata", "schema", "category_blocks", "cell_columns", "low", "high", "half"),
}
LARGEST_HALF = 2**19  # of a lattice whose squared distances are exact in doubles
MAX_CELLS = 2**26  # of a grid that is drawn: an array holds them all
MAX_CODE = 2**62  # cells of any grid: machines count as far
MAX_CLUSTERS = 2**31 - 1  # labels are 32 bits wide
DRAWN_COLUMNS = 4  # of a density
LARGEST = 1e150  # of what is added up and squared
FINITE = (-sys.float_info.max, sys.float_info.max)
ANY, SOME, RADIUS = (-LARGEST, LARGEST), (0.0, LARGEST), (0.0, math.inf)
POSITIVE = (sys.float_info.min, sys.float_info.max)
TRUTH = (False, True)


def check_release(release: Release) -> None:
    """Refuse a release of which no labels, no table of clusters and no picture can be made.

    Parameters
    ----------
    release : Release
        A release of clusters.

    Raises
    ------
    ReleaseError
        If a value is missing, is of another kind, shape or size than the others ask for, or
        disagrees with them.

    Examples
    --------
    >>> from shoal.labels import check_release
    >>> from shoal.privacy import Guarantee, Release
    >>> values = {"metric": "euclidean", "centers": [[0.0, 1.0], ["x", 0.0]]}
    >>> check_release(Release("NoiseAwareKMeans", values, Guarantee("local", epsilon=1.0)))
    Traceback (most recent call last):
    shoal.exceptions.ReleaseError: centers of a release must be numbers, got list: \
ask whoever made it for the file again
    """
    check_labels(release)
    values = release.values
    if "centers" in values:
        _check_centers(values)
        return
    schema = _schema(values)
    strata = _strata(values, schema)
    if schema is not None and "strata" in values:
        _check_levels(values, schema)
    counts = [_check_clusters(part, columns) for part, columns in strata]
    if "sizes" in values:
        _array(values, "sizes", (sum(counts),), ANY, frozen=True)
        _number(values, "records", SOME)


def check_labels(release: Release) -> None:
    """Refuse a release by which no record can be labeled: a device needs no more than labels."""
    values = release.values
    metric = values.get("metric")
    if not isinstance(metric, str) or metric not in NEEDED:
        _refuse(values, "metric", f"be one of {tuple(NEEDED)}")
    for name in NEEDED[metric]:
        if name not in values:
            _refuse(values, name, f"be there for labels by the metric {metric!r}")
    schema = _schema(values)
    if "centers" not in NEEDED[metric]:
        for part, columns in _strata(values, schema):
            _check_places(part, columns)
        return
    count, columns = _array(values, "centers", (None, None)).shape
    if not count or not columns:
        _refuse(values, "centers", "be at least one")
    _check_columns(values, columns, schema)
    if "half" in NEEDED[metric]:
        _check_lattice(values, columns)
        if "column_weights" in values:
            _array(values, "column_weights", (columns,), POSITIVE)


def _check_centers(values: Values) -> None:
    """Refuse centers of which too little is said."""
    count, columns = _array(values, "centers", (None, None), frozen=True).shape
    _check_box(values, columns)
    named = {"sizes": ANY, "radii": RADIUS, "certain": TRUTH}
    if "sizes" not in values:
        named = {"weights": SOME, "center_radius": RADIUS}
    for name, limits in named.items():
        _array(values, name, (count,), limits, frozen=True)


def _check_columns(values: Values, columns: int, schema: Schema | None) -> None:
    """Refuse names of columns, or a schema, of other columns."""
    if schema is not None and schema.space.columns != columns:
        _refuse(values, "schema", f"describe {columns} encoded columns")
    names = values.get("columns")
    if names is None:
        return
    listed = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not listed or len(set(names)) < len(names) or not all(map(_numbers.is_printable, names)):
        _refuse(values, "columns", "be different names, or null")
    if schema is None and len(names) != columns:
        _refuse(values, "columns", f"name {columns} columns")


def _check_lattice(values: Values, columns: int) -> None:
    _check_box(values, columns)
    half = values["half"]
    several = isinstance(half, list) and len(half) == columns and "centers" in values
    for one in half if several else [half]:
        if not _is_whole(one) or not 0 < one <= LARGEST_HALF:
            _refuse(values, "half", f"be a whole number from 1 to {LARGEST_HALF}")


def _check_box(values: Values, columns: int) -> None:
    low, high = (_array(values, end, (columns,)) for end in ("low", "high"))
    try:
        public_box((low, high), columns)
    except ParameterError:
        _refuse(values, "low", "be below high in every column")


def _check_places(values: Values, columns: int) -> int:
    """Refuse cells in which no record can be found; return how many the grid or the tree has."""
    if "cell_low" in values:
        half = values["half"]
        low, high = (
            _array(values, end, (None, columns), (-half, half), whole=True)
            for end in ("cell_low", "cell_high")
        )
        try:
            find_boxes(low, high, np.empty((0, columns)))
        except ParameterError:
            _refuse(values, "cell_low", "be, with cell_high, corners of boxes made by halving")
        count = len(low)
    else:
        shape, grid = values["shape"], values["grid"]
        fine = grid if isinstance(grid, list) else [grid] * columns
        sides = isinstance(shape, list) and len(shape) == len(fine) == columns
        if not sides or not all(map(_is_whole, (*shape, *fine))) or min(shape) < 1:
            _refuse(values, "shape", f"be {columns} whole numbers, as grid")
        count = math.prod(shape)
        if count > MAX_CODE or not all(map(int.__le__, shape, fine)) or max(fine) > 2**31:
            _refuse(values, "shape", "be at most the grid in every column, and 2^62 cells")
    cells = _array(values, "cells", (None,), (0, count - 1), whole=True)
    if not (cells[:-1] < cells[1:]).all():
        _refuse(values, "cells", "be numbers of cells in increasing order")
    _array(values, "clusters", (len(cells),), (-1, MAX_CLUSTERS), whole=True)
    return count


def _check_clusters(values: Values, columns: int) -> int:
    """Refuse cells of which nothing can be said; return the number of their clusters."""
    for name in ("cells", "clusters"):
        _array(values, name, (None,), (-1, MAX_CODE), whole=True, frozen=True)
    cells, clusters = values["cells"], values["clusters"]
    found = np.unique(clusters[clusters >= 0])
    count = len(found)
    if count and found[-1] != count - 1:
        _refuse(values, "clusters", "be numbered from 0, each with a cell")
    if "sizes" in values:
        _array(values, "sizes", (count,), ANY, frozen=True)
        weights = _array(values, "values", (len(cells),), ANY, frozen=True)
        inside = clusters >= 0
        if not np.bincount(clusters[inside], weights[inside], count).all():
            _refuse(values, "values", "add up to other numbers than 0 in each cluster")
    if "tree" in values or "density" in values:
        _check_tree(values, columns, count)
    if "band" in values:
        band = _array(values, "band", (None,) * columns, ANY, frozen=True)
        if band.size != math.prod(values["shape"]):
            _refuse(values, "band", "have the cells of the shape")
        _need(values, ["threshold"])
    if values.get("threshold") is not None:
        _number(values, "threshold", ANY)
    return count


def _check_tree(values: Values, columns: int, count: int) -> None:
    """Refuse a density and its tree that cannot be drawn."""
    if "cell_low" in values:
        shape: tuple[int | None, ...] = (len(values["cell_low"]),)
    else:
        shape = tuple(values["shape"])
    if columns > DRAWN_COLUMNS or math.prod(one or 1 for one in shape) > MAX_CELLS:
        _refuse(values, "tree", f"be of at most {DRAWN_COLUMNS} columns and 2^26 cells")
    if "density" in values or "cell_low" in values:
        _array(values, "density", shape, ANY, frozen=True)
    tree = values.get("tree")
    if not isinstance(tree, Mapping) or "sizes" not in values:
        _refuse(values, "tree", "be arrays by name")
    parent = _array(tree, "parent", (None,), (-1, MAX_CODE), whole=True, frozen=True)
    before = np.arange(len(parent))
    if not len(parent) or parent[0] != -1 or not ((parent >= 0) & (parent < before))[1:].all():
        _refuse(tree, "parent", "have the root first, and each node after its parent")
    for name in ("base", "top", "size"):
        _array(tree, name, (len(parent),), ANY, frozen=True)
    nodes = _array(values, "nodes", (count,), (0, len(parent) - 1), whole=True, frozen=True)
    if len(np.unique(nodes)) < count:
        _refuse(values, "nodes", "be different nodes of the tree")


def _schema(values: Values) -> Schema | None:
    if "schema" not in values:
        return None
    try:
        schema = Schema.from_dict(values["schema"])
    except ParameterError as failure:
        _refuse(values, "schema", f"be one of shoal ({failure.message})")
    if not schema.features or schema.lacking():
        _refuse(values, "schema", "be complete")
    return schema


def _strata(values: Values, schema: Schema | None) -> list[tuple[Values, int]]:
    """Return the values of each stratum with its number of columns; one where there are no others.

    The schema says which strata there are, and a release says the same.
    """
    columns = len(_array(values, "low", (None,)))
    _check_lattice(values, columns)
    if "strata" not in values:
        _check_columns(values, columns, schema)
        return [(values, columns)]
    if schema is None:  # the metric asks for it
        _refuse(values, "metric", "be 'strata' where there are some")
    parts = schema.space.parts
    blocks = [part for part in parts if isinstance(schema[part.field], Category)]
    cells = [part.start for part in parts if part not in blocks]
    ends = [[part.start, part.stop] for part in blocks]
    for name, wanted in (("category_blocks", ends), ("cell_columns", cells)):
        # Of its text, since 0.0 and false equal 0 and are no columns.
        if repr(values[name]) != repr(wanted) or len(cells) != columns:
            _refuse(values, name, "be the columns of the schema")
    strata = values["strata"]
    sizes = [part.stop - part.start for part in blocks]
    held = isinstance(strata, list) and all(isinstance(one, Mapping) for one in strata)
    if not held or len(strata) != math.prod(sizes):
        _refuse(values, "strata", "be one for each combination of categories")
    _check_columns({"columns": values.get("columns")}, schema.space.columns, schema)
    for one in strata:
        metric = "boxes" if "cell_low" in one else "cells"
        if one.get("metric") != metric:
            _refuse(one, "metric", f"be {metric!r}")
        _need(one, (*NEEDED[metric][:-3], "sizes"))  # the box is that of all
        _array(one, "sizes", (None,), ANY)
    return [({**values, **one}, columns) for one in strata]


def _check_levels(values: Values, schema: Schema) -> None:
    """Refuse strata that do not say which combination of categories each of them is."""
    fields = [(one.name, one.levels) for one in schema.features if isinstance(one, Category)]
    for index, one in enumerate(values["strata"]):
        chosen = np.unravel_index(index, [len(levels) for _, levels in fields])
        levels = [[name, own[at]] for (name, own), at in zip(fields, chosen, strict=True)]
        if one.get("levels") != levels:
            _refuse(one, "levels", "be those of its combination of categories")


def _need(values: Values, names: Iterable[str]) -> None:
    for name in names:
        if name not in values:
            _refuse(values, name, "be there")


def _array(
    values: Values,
    name: str,
    shape: Sequence[int | None],
    limits: tuple[float, float] = FINITE,
    *,
    whole: bool = False,
    frozen: bool = False,
) -> Array:
    """Return an array of such numbers; ``frozen`` asks for one as files have it, not for a list."""
    _need(values, [name])
    given = values[name]
    if frozen and not isinstance(given, np.ndarray):
        _refuse(values, name, "be an array")
    try:
        array = np.asarray(given)
    except ValueError:  # of numpy, about lists of several lengths
        _refuse(values, name, "be numbers, as many in each row")
    kinds, noun = ("iu", "whole numbers") if whole else ("iuf", "numbers")
    if limits is TRUTH:
        kinds, noun = "b", "truths"
    if array.size and array.dtype.kind not in kinds:
        _refuse(values, name, f"be {noun}")
    fits = len(shape) == array.ndim and all(
        wanted in (None, length) for wanted, length in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = " x ".join("any" if one is None else str(one) for one in shape)
        _refuse(values, name, f"be of shape {wanted}")
    low, high = limits
    if not ((array >= low) & (array <= high)).all():  # nor is NaN
        _refuse(values, name, f"be {noun} from {low:g} to {high:g}")
    return array


def _number(values: Values, name: str, limits: tuple[float, float]) -> None:
    number = values.get(name)
    real = isinstance(number, int | float) and not isinstance(number, bool)
    if number is None or not real or not limits[0] <= number <= limits[1]:
        _refuse(values, name, f"be a number from {limits[0]:g} to {limits[1]:g}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _refuse(values: Values, name: str, rule: str) -> NoReturn:
    given = values.get(name)
    found = type(given).__name__
    if isinstance(given, np.ndarray):
        found = f"an array of {given.dtype} of shape {' x '.join(map(str, given.shape))}"
    elif given is None or isinstance(given, int | float | str):
        found = _numbers.shown(given)
    raise ReleaseError(
        f"{name} of a release must {rule}, got {found}: ask whoever made it for the file again",
        parameter="release",
        code="format",
    )
