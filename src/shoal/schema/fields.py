"""Fields of categories and text: what a column may hold, and the coordinates of one of its values.

The full width of a number and two different categories are both at a squared distance of
``weight``. Everything here is public and works on one value at a time: bounds, categories and fills
are declared, never learned, and values outside are clipped or counted as "other".
"""

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
from shoal.exceptions import DataError, ParameterError
from shoal.schema.values import Column, category_text, other_spelling, to_codes, to_texts

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
    """A column that is described, and not encoded: an identifier, or one still to be described.

    Parameters
    ----------
    name : str
        Name of the column.
    weight : float, default=1.0
        Squared distance between two different categories, or the two ends of a number.
    missing : {"category", "fill", "refuse"}, default="category"
        What a missing value is: a category of its own (of a number the midpoint and a flag), the
        declared ``fill``, or an error.
    fill : object, default=None
        Public value that stands for missing ones with ``missing="fill"``.
    unit : str, default=""
        Unit of the values, for descriptions.
    role : {"feature", "describe", "user", "sample_weight", "ignore"}, default="feature"
        ``"feature"``: clustered on and described. ``"describe"``: described only. ``"user"``: says
        whose record each row is. ``"sample_weight"``: how much each row counts.
    title, description : str, default=""
        For readers.
    missing_values : sequence of str, default=()
        Text that means missing, beside that of the schema.

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
        _numbers.text("description", self.description)
        if not self.name:
            raise ParameterError("name must be that of a column, got an empty one")
        _numbers.positive(f"weight of field {self.name!r}", self.weight)
        self._one_of("missing", MISSING_WAYS)
        self._one_of("role", self.roles)
        if (self.missing == "fill") != (self.fill is not None):
            raise ParameterError(
                f"fill of field {self.name!r} must be given where missing is 'fill', and only "
                f"there, got {self.fill!r} where it is {self.missing!r}"
            )
        object.__setattr__(self, "missing_values", _texts("missing_values", self.missing_values))
        self._check()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table that hold it."""
        return (self.name,)

    @property
    def lacking(self) -> str:
        """What must still be declared before records can be encoded; empty if nothing."""
        return "a type" if self.role == "feature" else ""

    @property
    def shapes(self) -> tuple[PartShape, ...]:
        """Return the columns that a value becomes."""
        return ()

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Any:
        """Return the values of the table's columns in canonical form.

        Parameters
        ----------
        columns : mapping of Column
            All columns of the field, by name.
        words : sequence of str
            Text that means missing in all fields.

        Returns
        -------
        values : ndarray of float64 or int64
            Numbers inside the bounds, NaN where one is missing; or codes of levels.
        """
        raise ParameterError(f"field {self.name!r} must have a type to be read, got none")

    def encode(self, values: Any) -> list[Floats]:
        """Return the encoded columns of canonical values."""
        return []

    def decode(self, block: Floats) -> dict[str, Any]:
        """Return what points of the encoded columns, shape (n, columns), mean."""
        return {}

    def restore(self, block: Floats) -> list[list[Any]]:
        """Return the values that points are nearest to, for each column of the table.

        Parameters
        ----------
        block : ndarray of shape (n, columns)
            Points of the encoded columns.

        Returns
        -------
        values : list of list
            None where a value is missing.
        """
        return []

    def _check(self) -> None:
        """Check what only this kind of field has."""

    def _one_of(self, name: str, allowed: Sequence[str]) -> None:
        if getattr(self, name) not in allowed:
            raise ParameterError(
                f"{name} of field {self.name!r} must be one of {tuple(allowed)}, got "
                f"{getattr(self, name)!r}"
            )

    def _refuse_missing(self) -> DataError:
        return DataError(
            f"column {self.name!r} must have no missing value where its field refuses them, got "
            "some: declare them a category, or a fill"
        )


def _texts(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise ParameterError(f"{name} must be a list of text, got {values!r}")
    return tuple(values)


@dataclass(frozen=True)
class Category(Field):
    """One of several public categories; a value that is none of them counts as "other".

    Parameters
    ----------
    name : str
        Name of the column.
    categories : sequence, default=()
        Public categories; values are compared by their text, without blanks around it.
    other : str, default="other"
        Level that other values count as: a further one, unless it is one of the categories.
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
        """Return what a value counts as: a category, other, or missing."""
        further = (self.other, *((MISSING,) if self.missing == "category" else ()))
        return tuple(dict.fromkeys((*self.categories, *further)))

    @property
    def lacking(self) -> str:
        """What must still be declared before records can be encoded; empty if nothing."""
        return "" if self.categories or self.role == "ignore" else "categories"

    @property
    def shapes(self) -> tuple[PartShape, ...]:
        """Return the columns that a value becomes."""
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
    """Yes or no; a value that is neither is missing.

    Parameters
    ----------
    name : str
        Name of the column: booleans, 0 and 1, or text such as true, false, yes and no.
    weight, missing, fill, unit, role, title, description, missing_values
        As for :class:`Field`.

    Examples
    --------
    >>> from shoal.schema import Flag
    >>> Flag("member").levels
    ('false', 'true', 'missing')
    """

    categories: Sequence[Any] = dataclass_field(default=("false", "true"), init=False)
    other: str = dataclass_field(default=MISSING, init=False)

    type: ClassVar[str] = "boolean"

    @property
    def levels(self) -> tuple[str, ...]:
        """Return false, true, and missing."""
        return (*self.categories, *((MISSING,) if self.missing == "category" else ()))

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Ints:
        """Return codes of levels."""
        column = columns[self.name]
        if column.kind in ("text", "object"):
            column = Column(column.kind, [_truth(value) for value in column.values])
        elif column.kind == "number":
            truth = np.where(np.isin(column.values, (0.0, 1.0)), column.values, np.nan)
            column = Column("boolean", truth)
        return self._read({self.name: column}, words, -1)


@dataclass(frozen=True)
class Text(Field):
    """Free text: not encoded; a profile may release its keywords.

    Parameters
    ----------
    name : str
        Name of the column.
    role : {"describe", "ignore"}, default="describe"
        Text is never clustered on.
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
        """Return the text, None where there is none."""
        return to_texts(columns[self.name], (*words, *self.missing_values))

    @property
    def lacking(self) -> str:
        """Text needs nothing more."""
        return ""


def _truth(value: Any) -> Any:
    """Return the flag that text means; other values as they are."""
    if isinstance(value, str):
        word = other_spelling(value).lower()
        return "true" if word in TRUE else "false" if word in FALSE else None
    if isinstance(value, bool | np.bool_) or value is None:
        return value
    number = isinstance(value, numbers.Real | decimal.Decimal)
    return {0: "false", 1: "true"}.get(value) if number else None


def check_categories(name: str, values: Sequence[Any]) -> tuple[str, ...]:
    """Return categories by their text, as values of a table are; none twice, and not too many."""
    if isinstance(values, str):
        raise ParameterError(f"categories of field {name!r} must be a list, got {values!r}")
    rule = f"categories of field {name!r}"
    known = tuple(_numbers.printable(rule, category_text(value)) for value in values)
    if len(set(known)) < len(known):
        raise ParameterError(f"categories of field {name!r} must be different, got one twice")
    if len(known) > MAX_LEVELS:
        raise ParameterError(
            f"categories of field {name!r} must be at most {MAX_LEVELS}, because each gets noise "
            f"of its own, got {len(known)}: name the common ones, all else counts as other"
        )
    return known


def check_fill(name: str, fill: Any, levels: Sequence[str]) -> str:
    """Return a fill by its text, which must be one of the levels."""
    if (text := category_text(fill)) not in levels:
        raise ParameterError(f"fill of field {name!r} must be one of its categories, got {fill!r}")
    return text
