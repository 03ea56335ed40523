"""Fields of categories and text: what a column may hold, and the coordinates of one of its values.

The full width of a number and two different categories are both at a squared distance of
``weight``. Everything here is public and works on one value at a time: bounds, categories and fills
are declared, never learned, and values outside are clipped or counted as "other".
"""

import contextlib
import decimal
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from dataclasses import field as dataclass_field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.schema.values import (
    Column,
    as_double,
    category_text,
    is_missing,
    other_spelling,
    parse_doubles,
    same_category,
    to_codes,
    to_texts,
)

__all__ = [
    "MAX_LEVELS",
    "MISSING",
    "OTHER",
    "ROLES",
    "Category",
    "Field",
    "Flag",
    "PartShape",
    "Text",
    "check_categories",
    "check_fill",
]

ROLES = ("feature", "describe", "user", "sample_weight", "ignore")
MISSING_WAYS = ("category", "fill", "refuse")
OTHER, MISSING = "other", "missing"
MAX_LEVELS = 1000  # each is a column, which gets noise of its own
TRUE, FALSE = ("true", "yes", "y", "t", "1"), ("false", "no", "n", "f", "0")


class PartShape(NamedTuple):
    """Columns that a field becomes: one of an interval, or several of a simplex."""

    kind: Literal["interval", "simplex"]
    names: tuple[str, ...]
    width: float


@dataclass(frozen=True)
class Field:
    """A column of a table without a type: an identifier, or a column whose type is still unknown.

    It is the base class of :class:`Number`, :class:`Category` and the other types of fields.

    Parameters
    ----------
    name : str
        Name of the column.
    weight : float, default=1.0
        Importance of the field in distances: the squared distance between two different
        categories, or between the bounds of a number.
    missing : {"category", "fill", "refuse"}, default="category"
        How a missing value is encoded. ``"category"``: as a category of its own; for a number, as
        the midpoint and a further column that flags it. ``"fill"``: as the value ``fill``.
        ``"refuse"``: not at all; it is an error.
    fill : object, default=None
        Public value that replaces missing ones with ``missing="fill"``.
    unit : str, default=""
        Unit of the values, shown in descriptions.
    role : {"feature", "describe", "user", "sample_weight", "ignore"}, default="feature"
        What the column is used for. ``"feature"``: clustering, and description of the clusters.
        ``"describe"``: description only. ``"user"``: identifies the person whose record a row is.
        ``"sample_weight"``: weight of the row. ``"ignore"``: nothing.
    title, description : str, default=""
        Texts for readers of the schema.
    missing_values : sequence of str, default=()
        Texts that mean missing in this field, in addition to those of the schema.

    Examples
    --------
    >>> from shoal.schema import Field
    >>> Field("customer", role="user").role
    'user'
    """

    name: str
    _: KW_ONLY
    weight: float = 1.0
    missing: str = "category"
    fill: Any = None
    unit: str = ""
    role: str = "feature"
    title: str = ""
    description: str = ""
    missing_values: Sequence[str] = ()

    type: ClassVar[str] = "any"  # of the Table Schema
    roles: ClassVar[tuple[str, ...]] = ("feature", "user", "ignore")

    def __post_init__(self) -> None:
        """Check what every field has, then what this kind has."""
        for name in ("name", "unit", "title"):
            _numbers.printable(name, getattr(self, name))
        _numbers.unicode_text("description", self.description)
        if not self.name:
            raise ParameterError(
                "name must be that of a column, got an empty one", parameter="name", code="empty"
            )
        weight = _numbers.positive("weight", self.weight, of=f" of field {self.name!r}")
        object.__setattr__(self, "weight", weight)  # which every release can hold
        self._one_of("missing", MISSING_WAYS)
        self._one_of("role", self.roles)
        if (self.missing == "fill") != (self.fill is not None):
            raise ParameterError(
                f"fill of field {self.name!r} must be given where missing is 'fill', and only "
                f"there, got {_numbers.shown(self.fill)} where it is {self.missing!r}",
                parameter="fill",
                code="conflict",
            )
        object.__setattr__(self, "missing_values", _texts("missing_values", self.missing_values))
        self._check()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table that hold the field."""
        return (self.name,)

    @property
    def lacking(self) -> str:
        """What must still be declared before records can be encoded; empty if complete."""
        return "a type" if self.role == "feature" else ""

    @property
    def shapes(self) -> tuple[PartShape, ...]:
        """Return the encoded columns of a value."""
        return ()

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Any:
        """Parse the columns of the table that hold this field.

        Parameters
        ----------
        columns : mapping of Column
            All columns of the field, by name.
        words : sequence of str
            Texts that mean missing in all fields.

        Returns
        -------
        values : ndarray of float64 or int64
            The canonical values: numbers clipped to the bounds, NaN if missing; or codes of levels.
        """
        raise ParameterError(f"field {self.name!r} must have a type to be read, got none")

    def encode(self, values: Any) -> list[Floats]:
        """Encode canonical values, as :meth:`read` returns them."""
        return []

    def decode(self, block: Floats) -> dict[str, Any]:
        """Decode points of the encoded columns, shape (n, columns), to values by name."""
        return {}

    def restore(self, block: Floats) -> list[list[Any]]:
        """Return the values nearest to points, for each column of the table.

        Parameters
        ----------
        block : ndarray of shape (n, columns)
            Points of the encoded columns.

        Returns
        -------
        values : list of list
            Values of each column; None for a missing value.
        """
        return []

    def _check(self) -> None:
        """Check what only this kind of field has."""

    def _one_of(self, name: str, allowed: Sequence[str]) -> None:
        if getattr(self, name) not in allowed:
            raise ParameterError(
                f"{name} of field {self.name!r} must be one of {tuple(allowed)}, got "
                f"{_numbers.shown(getattr(self, name))}",
                parameter=name,
                code="choice",
            )

    def _refuse_missing(self) -> DataError:
        return DataError(
            f"column {self.name!r} must have no missing value where its field refuses them, got "
            "some: declare them a category, or a fill"
        )


def _texts(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise ParameterError(
            f"{name} must be a list of text, got {_numbers.shown(values)}",
            parameter=name,
            code="type",
        )
    return tuple(_numbers.unicode_text(name, value) for value in values)


@dataclass(frozen=True)
class Category(Field):
    """A column with one of several public categories; any other value counts as "other".

    It is encoded as one column for each level, as by one-hot encoding.

    Parameters
    ----------
    name : str
        Name of the column.
    categories : sequence, default=()
        Public categories. Values are compared as text, without blanks at the ends, and numbers
        as numbers: 7, 7.0 and 007 are one category, as are 1 and true. Times are refused.
    other : str, default="other"
        Level for all other values: one of the categories, or else an additional level.
    weight, missing, fill, unit, role, title, description, missing_values
        As for :class:`Field`.

    Examples
    --------
    >>> from shoal.schema import Category
    >>> Category("city", ["A", "B"]).levels
    ('A', 'B', 'other', 'missing')
    """

    categories: Sequence[Any] = ()
    _: KW_ONLY
    other: str = OTHER

    type: ClassVar[str] = "string"
    roles: ClassVar[tuple[str, ...]] = ("feature", "describe", "ignore")

    def _check(self) -> None:
        _numbers.printable("other", self.other)
        object.__setattr__(self, "categories", check_categories(self.name, self.categories))
        if self.fill is not None:
            object.__setattr__(self, "fill", check_fill(self.name, self.fill, self.levels))

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the categories, the level for others, and that for missing values, if any."""
        further = (self.other, *((MISSING,) if self.missing == "category" else ()))
        return tuple(dict.fromkeys((*self.categories, *further)))

    @property
    def lacking(self) -> str:
        """What must still be declared before records can be encoded; empty if complete."""
        return "" if self.categories or self.role == "ignore" else "categories"

    @property
    def shapes(self) -> tuple[PartShape, ...]:
        """Return the encoded columns of a value."""
        names = tuple(f"{self.name}={level}" for level in self.levels)
        return (PartShape("simplex", names, math.sqrt(self.weight / 2)),)

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Ints:
        """Return codes of levels."""
        return self._read(columns, words, self.levels.index(self.other))

    def encode(self, values: Ints) -> list[Floats]:
        """Return one column for each level."""
        width = self.shapes[0].width
        return [(values == code) * width for code in range(len(self.levels))]

    def decode(self, block: Floats) -> dict[str, Any]:
        """Return the share of each level."""
        shares = np.maximum(block / self.shapes[0].width, 0.0)
        totals = shares.sum(axis=1, keepdims=True)
        shares = np.divide(shares, totals, out=np.zeros_like(shares), where=totals > 0)
        return {self.name: [dict(zip(self.levels, row, strict=True)) for row in shares.tolist()]}

    def restore(self, block: Floats) -> list[list[Any]]:
        """Return the level with the largest share."""
        nearest = [self.levels[code] for code in block.argmax(axis=1).tolist()]
        return [[None if level == MISSING else level for level in nearest]]

    def _read(self, columns: Mapping[str, Column], words: Sequence[str], other: int) -> Ints:
        codes = {level: code for code, level in enumerate(self.levels)}
        absent = -1
        if self.missing == "category":
            absent = codes[MISSING]
        elif self.fill is not None:
            absent = codes[self.fill]
        codes |= {word: absent for word in (*words, *self.missing_values) if word not in codes}
        found = to_codes(columns[self.name], codes, other if other >= 0 else absent, absent)
        if (found < 0).any():
            raise self._refuse_missing()
        return found


@dataclass(frozen=True)
class Flag(Category):
    """A column of yes or no; any other value counts as missing.

    Parameters
    ----------
    name : str
        Name of the column.
    true_values, false_values : sequence of str, default=()
        Texts and numbers that mean yes and no, in upper or lower case: by default true, yes, y, t
        and 1, and false, no, n, f and 0, unless they mean missing. Booleans, and the words true and
        false, always mean themselves, and 1 and 0 are these unless declared otherwise.
    weight, missing, fill, unit, role, title, description, missing_values
        As for :class:`Field`.

    Examples
    --------
    >>> from shoal.schema import Flag, plain_column
    >>> Flag("member").levels
    ('false', 'true', 'missing')
    >>> Flag("member", true_values=["ja"], false_values=["nein"]).read(
    ...     {"member": plain_column(["Ja", "nein", "?"])}, []
    ... ).tolist()
    [1, 0, 2]
    """

    categories: Sequence[Any] = dataclass_field(default=("false", "true"), init=False)
    other: str = dataclass_field(default=MISSING, init=False)
    true_values: Sequence[str] = ()
    false_values: Sequence[str] = ()

    type: ClassVar[str] = "boolean"

    @property
    def levels(self) -> tuple[str, ...]:
        """Return false, true, and missing."""
        return (*self.categories, *((MISSING,) if self.missing == "category" else ()))

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Ints:
        """Return codes of levels."""
        column = columns[self.name]
        truths = self._truths(words)
        if column.kind == "boolean" and [truths.get(one) for one in "10"] != ["true", "false"]:
            raise DataTypeError(
                f"column {self.name!r} must hold text or numbers where 1 and 0 are not yes and no "
                "in its field, got truths, which are 1 and 0 beside a gap: read that column as text"
            )
        numbers_ = {
            float(doubles[0]): truth
            for word, truth in truths.items()
            if (doubles := parse_doubles([word])) is not None
        }
        if column.kind in ("text", "object"):
            listed = [_truth(value, truths, numbers_) for value in column.values]
            column = Column(column.kind, listed)
        elif column.kind == "number":
            known = np.full(len(column.values), np.nan)
            for number, truth in numbers_.items():
                known[column.values == number] = truth == "true"
            column = Column("boolean", known)
        return self._read({self.name: column}, words, -1)

    def _check(self) -> None:
        for name in ("true_values", "false_values"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        given = {_truth_word(word) for word in (*self.true_values, *self.false_values)}
        yes, no = (
            {truth, *map(_truth_word, words or usual)} for truth, words, usual in self._declared
        )
        unclear = (yes & no) | (given & ({""} | set(map(_truth_word, self.missing_values))))
        if unclear:
            raise ParameterError(
                f"true_values and false_values of field {self.name!r} must mean one thing each, "
                f"got {_numbers.shown(min(unclear))}, which means two, or missing",
                parameter="true_values",
                code="conflict",
            )
        super()._check()

    @property
    def _declared(self) -> tuple[tuple[str, Sequence[str], Sequence[str]], ...]:
        """Return each level with the words declared for it, and the usual ones."""
        return ("true", self.true_values, TRUE), ("false", self.false_values, FALSE)

    def _truths(self, missing: Sequence[str]) -> dict[str, str]:
        """Return what words mean; one that means missing in the table means nothing as usual."""
        absent = {_truth_word(word) for word in (*missing, *self.missing_values)}
        # A column of truths is one of 1 and 0 beside a gap.
        truths = {one: truth for one, truth in (("1", "true"), ("0", "false")) if one not in absent}
        for truth, words, usual in self._declared:
            known = words or [one for one in usual if one not in absent]
            truths |= dict.fromkeys((truth, *map(_truth_word, known)), truth)
        return truths


@dataclass(frozen=True)
class Text(Field):
    """A column of free text, which is not encoded; a profile of clusters may release its keywords.

    Parameters
    ----------
    name : str
        Name of the column.
    role : {"describe", "ignore"}, default="describe"
        Text is never used for clustering; see :class:`Field`.
    unit, title, description, missing_values
        As for :class:`Field`.

    Examples
    --------
    >>> from shoal.schema import Text
    >>> Text("comment").role
    'describe'
    """

    role: str = "describe"

    type: ClassVar[str] = "string"
    roles: ClassVar[tuple[str, ...]] = ("describe", "ignore")

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Any:
        """Return the texts, None for a missing one."""
        return to_texts(columns[self.name], (*words, *self.missing_values), name=self.name)

    @property
    def lacking(self) -> str:
        """What must still be declared: always empty, as text needs nothing more."""
        return ""


def _truth_word(text: str) -> str:
    """Return the text by which words for yes and no are compared."""
    return other_spelling(text).lower()


def _truth(value: Any, truths: Mapping[str, str], numbers_: Mapping[float, str]) -> Any:
    """Return the flag that text or a number means; truths as they are."""
    if isinstance(value, str):
        return truths.get(_truth_word(value))
    if isinstance(value, bool | np.bool_) or value is None:
        return value
    # What a whole column becomes because of one of them is refused, as it is for other categories.
    if isinstance(value, bytes | complex | np.complexfloating):
        return value
    # A missing Decimal may have no hash.
    if isinstance(value, np.timedelta64):  # which numpy counts among the numbers
        return None
    number = isinstance(value, numbers.Real | decimal.Decimal) and not is_missing(value)
    return numbers_.get(as_double(value)) if number else None


def check_categories(name: str, values: Sequence[Any]) -> tuple[str, ...]:
    """Return categories by their text, as values of a table are; none twice, and not too many."""
    if isinstance(values, str):
        raise ParameterError(
            f"categories of field {name!r} must be a list, got {values!r}",
            parameter="categories",
            code="type",
        )
    rule = f"categories of field {name!r}"
    try:
        known = tuple(_numbers.printable(rule, category_text(value)) for value in values)
    except DataTypeError:
        raise ParameterError(
            f"{rule} must be text, truths, or numbers that their type tells apart (fractions below "
            "2^53, whole ones below 2^1024), got something else: write them as text",
            parameter="categories",
            code="type",
        ) from None
    # A column of numbers does not tell 7 from 07, nor 1 from true, and whether it is one may be up
    # to one record.
    if len(set(map(same_category, known))) < len(known):
        raise ParameterError(
            f"categories of field {name!r} must be different, also as numbers or truths, got one "
            "twice",
            parameter="categories",
            code="duplicate",
        )
    if len(known) > MAX_LEVELS:
        raise ParameterError(
            f"categories of field {name!r} must be at most {MAX_LEVELS}, because each gets noise "
            f"of its own, got {len(known)}: name the common ones, all else counts as other",
            parameter="categories",
            code="size",
        )
    return known


def check_fill(name: str, fill: Any, levels: Sequence[str]) -> str:
    """Return a fill by its text, which must be one of the levels."""
    with contextlib.suppress(DataTypeError):  # of a value that is no category
        if (text := category_text(fill)) in levels:
            return text
    raise ParameterError(
        f"fill of field {name!r} must be one of its categories, got {_numbers.shown(fill)}",
        parameter="fill",
        code="choice",
    )
