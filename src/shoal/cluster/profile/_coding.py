"""Records as a cluster and a level of each field: all that a profile counts.

A record becomes small whole numbers, by public rules and by itself alone: its cluster by the
published release, of a category its level, of a number or a date one of several public bins. Tables
in memory, in files and in Spark are read by the same :class:`Coding`, so they give the same counts.
"""

import datetime
import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from dataclasses import field as dataclass_field
from typing import Any, Literal

import numpy as np

from shoal._typing import Floats, Ints, Labels
from shoal.cluster.profile._words import PARTS, word_columns
from shoal.exceptions import DataError, ParameterError
from shoal.labels import label_encoded
from shoal.privacy import Release
from shoal.reports import load_release
from shoal.schema import (
    Category,
    Column,
    Date,
    EncodedSpace,
    Field,
    Number,
    Ordinal,
    Place,
    Schema,
    read_numbers,
)
from shoal.tables import refuse_infinite

__all__ = ["NO_CLUSTER", "Coding", "Histogram", "Labeler", "histogram_of"]

MISSING = "missing"
WORD_LIMIT = 2**48
NO_CLUSTER = -1
EPOCH = datetime.date(1970, 1, 1)
DIRECTIONS = (
    "east",
    "northeast",
    "north",
    "northwest",
    "west",
    "southwest",
    "south",
    "southeast",
)
CENTER = "center"
NEAR = 1 / 3  # of a place's radius, around its center


@dataclass(frozen=True)
class Histogram:
    """The public levels of a field that records are counted in, missing ones last.

    Parameters
    ----------
    field : Field
        A field with a type.
    kind : {"levels", "numbers", "dates"}
        Categories, or bins of numbers or dates.
    levels : tuple of str
        Names of all levels; that of missing values is the last, where the field has it.
    edges : tuple of float, default=()
        Of bins, in the field's unit or in days since 1970: a bin reaches from its edge to the next,
        the last one with both.
    """

    field: Field
    kind: Literal["levels", "numbers", "dates"]
    levels: tuple[str, ...]
    edges: tuple[float, ...] = ()

    @property
    def bins(self) -> int:
        """Number of levels that are not "missing"."""
        return len(self.levels) - (self.levels[-1] == MISSING and self.field.missing == "category")

    def codes(self, values: Any) -> Ints:
        """Return the level of each canonical value."""
        if isinstance(self.field, Category):
            codes: Ints = values
            return codes
        absent = np.isnan(values if values.ndim == 1 else values[:, 0])
        if self.field.missing != "category" and absent.any():
            self.field.encode(values)  # refuses them, as it does for features
        if isinstance(self.field, Place):
            found = _directions(np.where(absent[:, None], 0.0, values), self.field)
        elif self.edges:
            found = np.searchsorted(np.array(self.edges[1:-1]), values, side="right")
        else:
            found = np.where(absent, 0.0, values).astype(np.int64)
        return np.where(absent, self.bins, found)


def histogram_of(field: Field, bins: int) -> Histogram | None:
    """Return the levels of a field, numbers in about so many bins; None where it has none."""
    absent = (MISSING,) if field.missing == "category" else ()
    if isinstance(field, Category):
        return Histogram(field, "levels", field.levels)
    if isinstance(field, Ordinal):
        return Histogram(field, "levels", (*field.levels, *absent))
    if isinstance(field, Place):
        return Histogram(field, "levels", (CENTER, *DIRECTIONS, *absent))
    if not isinstance(field, Number | Date):
        return None
    edges = _edges(field, bins)
    kind: Literal["numbers", "dates"] = "dates" if isinstance(field, Date) else "numbers"
    names = [
        f"{_name(kind, low)} to {_name(kind, high)}" for low, high in itertools.pairwise(edges)
    ]
    return Histogram(field, kind, (*names, *absent), edges)


def _directions(plane: Floats, field: Place) -> Ints:
    """Return 0 near the center of a place's disc, and else which of eight directions it lies in."""
    east, north = np.ascontiguousarray(plane.T)
    turns = np.arctan2(north, east) / (2 * np.pi) * len(DIRECTIONS)
    near = np.hypot(east, north) <= NEAR * float(field.radius or 0.0)
    return np.where(near, 0, 1 + np.rint(turns).astype(np.int64) % len(DIRECTIONS))


def _edges(field: Number | Date, bins: int) -> tuple[float, ...]:
    """Cut the public range into bins that are alike on the field's own scale."""
    low, high = field.limits
    positions = np.linspace(0.0, 1.0, bins + 1)
    inner = field.at(positions)
    if isinstance(field, Date) or field.whole:
        inner = np.ceil(inner)
    middle = np.unique(inner[(inner > low) & (inner < high)])
    return (low, *middle.tolist(), high)


def _name(kind: str, value: float) -> str:
    return str(EPOCH + datetime.timedelta(days=value)) if kind == "dates" else f"{value:.6g}"


@dataclass(frozen=True)
class Labeler:
    """From the columns of a table to the cluster of each record, by a published release.

    Parameters
    ----------
    release : Release
        With clusters.
    columns : tuple of str
        Columns of the table that clusters depend on.
    schema : Schema, default=None
        That of the release, where it was made with one.
    """

    release: Release = dataclass_field(compare=False)
    columns: tuple[str, ...]
    schema: Schema | None = None

    @classmethod
    def of(cls, release: Any, described: Schema) -> "Labeler":
        """Return that of a release; without names of columns, of the features in their order."""
        schema = load_release(release).schema  # refuses a release without clusters
        if schema is not None:
            return cls(release, schema.columns, schema)
        return cls(release, tuple(release.values.get("columns") or described.columns))

    @property
    def clusters(self) -> tuple[int, ...]:
        """All labels that a record may get; -1, for no cluster, is the last."""
        count = load_release(self.release).n_clusters
        # Every record has a nearest center, and may be in no cell.
        none = () if "centers" in self.release.values else (NO_CLUSTER,)
        return (*range(count), *none)

    def labels(self, columns: Mapping[str, Column]) -> Labels:
        """Return the cluster of each record."""
        rows = len(columns[self.columns[0]].values)
        if not rows:
            return np.empty(0, dtype=np.int32)
        if self.schema is not None:
            encoded = self.schema.encode_columns(columns)
        else:
            encoded = [_numbers(name, columns[name]) for name in self.columns]
        return label_encoded(self.release, np.stack(encoded, axis=1))


def _numbers(name: str, column: Column) -> Floats:
    """Return the numbers of a column that a release without a schema was made of."""
    values = read_numbers(column)
    if values is None:
        raise DataError(
            f"column {name!r} must hold numbers, as the release was made of them, got text"
        )
    refuse_infinite(values)
    return values


@dataclass(frozen=True)
class CodedSpace(EncodedSpace):
    """What coded records may be: one of the clusters, and levels below these numbers."""

    clusters: tuple[int, ...]
    levels: tuple[int, ...]

    def holds(self, records: Floats) -> bool:
        """Return whether each row is what a record may be coded as."""
        if records.shape[1:] != (self.columns,):
            return False
        codes = records[:, 1:]
        whole = bool((codes == np.floor(codes)).all() and (codes >= 0).all())
        return whole and bool(
            (codes < self.levels).all() and np.isin(records[:, 0], self.clusters).all()
        )


@dataclass(frozen=True)
class Coding(Schema):
    """A schema that reads a record as its cluster, the level of each field, and words.

    Tables of every kind take it as their schema: their blocks have the cluster in the first column,
    a level in each further one, and then the words of texts.
    """

    _: KW_ONLY
    labeler: Labeler
    histograms: tuple[Histogram, ...]
    texts: tuple[tuple[str, int], ...] = ()  # names, and how many words of each record

    @classmethod
    def of(
        cls,
        described: Schema,
        labeler: Labeler,
        histograms: Sequence[Histogram],
        texts: Sequence[tuple[str, int]] = (),
    ) -> "Coding":
        """Return the coding of a described table; columns of the release are typed by its own."""
        known = set(described.all_columns)
        further = [
            field
            for field in (() if labeler.schema is None else labeler.schema.features)
            if not known & set(field.columns)
        ]
        return cls(
            (*described.fields, *further),
            described.missing_values,
            labeler=labeler,
            histograms=tuple(histograms),
            texts=tuple(texts),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table that are read, in the order of the schema."""
        read = {name for histogram in self.histograms for name in histogram.field.columns}
        read |= {*self.labeler.columns, *(name for name, _ in self.texts)}
        declared = self.all_columns
        unknown = (name for name in self.labeler.columns if name not in declared)
        return (*(name for name in declared if name in read), *unknown)

    @functools.cached_property
    def space(self) -> EncodedSpace:
        """Names of the columns of a block, and what they may hold."""
        levels = tuple(len(one.levels) for one in self.histograms)
        names = ("cluster", *(one.field.name for one in self.histograms))
        words = [f"{name} {part}" for name, most in self.texts for part in range(most * PARTS)]
        limits = (*levels, *[WORD_LIMIT] * len(words))
        return CodedSpace((), (*names, *words), self.labeler.clusters, limits)

    def first_word(self, name: str) -> int:
        """Return the first column of a block that holds words of a field."""
        # By its place: another field may have any name.
        before = itertools.takewhile(lambda text: text[0] != name, self.texts)
        return 1 + len(self.histograms) + PARTS * sum(most for _, most in before)

    def check_complete(self) -> None:
        """Refuse a field whose levels are not declared."""
        for histogram in self.histograms:
            if histogram.field.lacking:
                raise ParameterError(
                    f"field {histogram.field.name!r} of the schema must have "
                    f"{histogram.field.lacking}: declare what anyone may enter, without looking "
                    "at the records",
                    parameter="schema",
                    code="incomplete",
                )

    def encode_columns(self, columns: Mapping[str, Column]) -> list[Floats]:
        """Return the cluster and the level of each field, of every record."""
        labels = self.labeler.labels(columns)
        levels = (one.codes(self._read(one.field, columns)) for one in self.histograms)
        words = [
            column
            for name, most in self.texts
            for column in word_columns(self._read(self[name], columns), most)
        ]
        return [labels.astype(np.float64), *(one.astype(np.float64) for one in levels), *words]
