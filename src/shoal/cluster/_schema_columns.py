"""Records of a schema as grids and histograms count them, not as distances need them.

A category is a block of columns of which one is full: as columns of a grid they would be wasted.
:class:`Strata` takes them for the number of a stratum, and :class:`CodedColumns` for one column of
codes. Both work on one lattice record at a time, so that a record still adds to one count by one,
and see it through the engine that holds it, wherever that is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal._bounds import Box, public_box
from shoal._table_input import refuse_users
from shoal._typing import Floats, Ints
from shoal.engines import HALF, Engine, Kernel, MergeKernel, Part
from shoal.exceptions import ParameterError
from shoal.schema import Category, Schema

__all__ = ["MAX_STRATA", "CodedColumns", "Strata", "schema_box"]

MAX_STRATA = 64  # each has a density of its own, and records of the others do not help it
ROWS = 1 << 18


def schema_box(bounds: Any, schema: Schema | None, columns: int) -> Box:
    """Return the public box: that of the bounds, or of the encoded records of a schema."""
    if schema is None:
        return public_box(bounds, columns)
    if bounds is not None:
        raise ParameterError(
            "bounds must be left out where a schema is given, got both: the schema says what its "
            "columns may hold",
            parameter="bounds",
            code="unexpected",
        )
    refuse_users(schema)
    return public_box(schema.space.bounds, columns)


@dataclass(frozen=True, eq=False)
class Strata:
    """Which columns of a record are counted in cells, and which say its stratum."""

    grid: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...]  # first column of a category, and the one after its last
    levels: tuple[dict[str, str], ...]  # of each stratum, by the name of the field

    @classmethod
    def plan(cls, schema: Schema | None, columns: int) -> "Strata":
        """Return the strata of a schema; one where there is none, or no category."""
        if schema is None:
            return cls(tuple(range(columns)), (), ({},))
        grid, blocks = _grid_columns(schema), []
        levels: list[dict[str, str]] = [{}]
        for part in schema.space.parts:
            field = schema[part.field]
            if isinstance(field, Category):
                blocks.append((part.start, part.stop))
                levels = [{**one, field.name: level} for one in levels for level in field.levels]
        if len(levels) > MAX_STRATA:
            raise ParameterError(
                f"schema must have at most {MAX_STRATA} combinations of categories, each of which "
                f"is a stratum, got {len(levels)}: name fewer categories, or give a field the role "
                "'describe'",
                parameter="schema",
                code="size",
            )
        if not grid:
            raise ParameterError(
                "schema must have a number, date or place among its features, got categories only: "
                "use DPKMeans",
                parameter="schema",
                code="unsupported",
            )
        return cls(grid, tuple(blocks), tuple(levels))

    @property
    def count(self) -> int:
        """Number of strata."""
        return len(self.levels)

    def find(self, records: npt.NDArray[np.int32]) -> Ints:
        """Return the stratum of each lattice record."""
        return _mixed_radix(
            [(records[:, first:last].argmax(axis=1), last - first) for first, last in self.blocks],
            len(records),
        )

    def pick(self, records: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the columns that are counted in cells."""
        return records if not self.blocks else _side_by_side([records[:, i] for i in self.grid])

    def box(self, box: Box) -> Box:
        """Return the box of the columns that are counted in cells."""
        grid = list(self.grid)
        return Box(box.low[grid], box.high[grid])

    def engines(self, engine: Engine) -> list[Engine]:
        """Return an engine for each stratum: a record is in exactly one of them."""
        if not self.blocks:
            return [engine]
        return [
            _MappedEngine(engine, _InStratum(self, index), len(self.grid))
            for index in range(self.count)
        ]


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Records with one column of codes for each category."""

    schema: Schema

    def box(self) -> Box:
        """Return the box of these columns."""
        widths = [part.width for part in self.schema.space.parts]
        return Box(np.zeros(len(widths)), np.array(widths))

    def engine(self, engine: Engine) -> Engine:
        """Return an engine of these columns."""
        return _MappedEngine(engine, _Coded(self._sizes()), len(self.schema.space.parts))

    def decode(self, records: Floats) -> npt.NDArray[np.object_]:
        """Return points of the box as records in the fields' own values."""
        columns: list[Floats] = []
        for values, part in zip(records.T, self.schema.space.parts, strict=True):
            size = part.stop - part.start
            if part.kind == "interval":
                columns.append(values)
                continue
            codes = np.minimum((values / part.width * size).astype(np.int64), size - 1)
            columns.extend((codes == code) * part.width for code in range(size))
        return self.schema.restore(np.stack(columns, axis=1))

    def _sizes(self) -> tuple[int, ...]:
        return tuple(part.stop - part.start for part in self.schema.space.parts)


def _grid_columns(schema: Schema) -> tuple[int, ...]:
    """Return the columns of numbers, dates and places; none of them may be a flag for missing."""
    features = [field for field in schema.features if not isinstance(field, Category)]
    for field in features:
        if field.missing == "category":
            raise ParameterError(
                f"missing of field {field.name!r} must be 'fill' or 'refuse' for cells, got "
                "'category': a record without a value is in no cell",
                parameter="missing",
                code="unsupported",
            )
    names = {field.name for field in features}
    return tuple(part.start for part in schema.space.parts if part.field in names)


def _mixed_radix(digits: Sequence[tuple[Ints, int]], rows: int) -> Ints:
    code = np.zeros(rows, dtype=np.int64)
    for digit, base in digits:
        code = code * base + digit
    return code


def _side_by_side(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int32]:
    """Put columns one after the other in memory, which kernels are fastest with."""
    together: npt.NDArray[np.int32] = np.stack(columns).astype(np.int32, copy=False).T
    return together


class _PartMap(Protocol):
    def __call__(self, part: Part, /) -> Part: ...


@dataclass(frozen=True, eq=False)
class _InStratum:
    """The records of one stratum, with the columns that are counted in cells."""

    strata: Strata
    index: int

    def __call__(self, part: Part, /) -> Part:
        """Return what is left of one part."""
        inside = self.strata.find(part.records) == self.index
        weights = None if part.weights is None else part.weights[inside]
        return Part(_side_by_side([part.records[:, i][inside] for i in self.strata.grid]), weights)


@dataclass(frozen=True, eq=False)
class _Coded:
    """All records, with each block of columns as one."""

    sizes: tuple[int, ...]  # columns of each part

    def __call__(self, part: Part, /) -> Part:
        """Return one part."""
        columns, start = [], 0
        for size in self.sizes:
            block = part.records[:, start : start + size]
            start += size
            if size == 1:
                columns.append(block[:, 0])
                continue
            # The middle of one of so many equal parts of the lattice.
            middle = (2 * block.argmax(axis=1) + 1) * HALF // size - HALF
            columns.append(middle.astype(np.int32))
        return Part(_side_by_side(columns), part.weights)


@dataclass(frozen=True, eq=False)
class _MappedKernel:
    """A kernel on what a map makes of each part."""

    kernel: Any
    part_map: _PartMap

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        return int(self.kernel.rows)

    def __call__(self, part: Part, /) -> tuple[Ints, ...]:
        """Return the statistic of one part."""
        result: tuple[Ints, ...] = self.kernel(self.part_map(part))
        return result


@dataclass(frozen=True, eq=False)
class _MappedMergeKernel(_MappedKernel):
    """The same, where results merge."""

    def merge(self, *results: tuple[Ints, ...]) -> tuple[Ints, ...]:
        """Return the statistic of several parts."""
        merged: tuple[Ints, ...] = self.kernel.merge(*results)
        return merged


@dataclass(frozen=True, eq=False)
class _Weight:
    """The number of records."""

    rows: int = ROWS

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return that of one part."""
        weight = len(part.records) if part.weights is None else int(part.weights.sum())
        return (np.array([weight], dtype=np.int64),)


@dataclass(frozen=True, eq=False)
class _MappedEngine:
    """An engine of what a map makes of the records of another."""

    engine: Engine
    part_map: _PartMap
    columns: int

    @property
    def weight(self) -> int:
        """Number of records, each as often as its weight says."""
        return int(self.add_up(_Weight())[0][0])

    def add_up(self, kernel: Kernel | MergeKernel) -> tuple[Ints, ...]:
        """Return a kernel's results over all records, added up or merged."""
        wrapped = _MappedMergeKernel if isinstance(kernel, MergeKernel) else _MappedKernel
        return self.engine.add_up(wrapped(kernel, self.part_map))

    def collect(self, function: Callable[[Part], npt.NDArray[np.int32]], *, rows: int) -> Any:
        """Return a number for each record, where the map leaves none out."""
        return self.engine.collect(lambda part: function(self.part_map(part)), rows=rows)
