"""A schema and points of its space for readers: what a center says of each field, in its unit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal import _html
from shoal._numbers import readable
from shoal._typing import Floats
from shoal.schema.fields import MISSING, Field
from shoal.schema.measures import Number
from shoal.schema.places import Place

if TYPE_CHECKING:
    from shoal.schema.schema import Schema

__all__ = ["FieldPoints", "describe_points", "schema_html"]

MAX_SHOWN = 8  # categories that a table lists
DEGREE_DECIMALS = 3  # a hundred meters
MOSTLY = 0.5  # share of missing values from which there is no more to say


@dataclass(frozen=True, eq=False)
class FieldPoints:
    """Values of one field at points of the encoded space, such as cluster centers.

    Parameters
    ----------
    name, unit : str
        Name of the field and unit of its values.
    values : list
        For each point a number, a date, or the most common level; None if all are missing.
    decimals : int, default=None
        Decimal places of numbers; None for three significant digits.
    positions : ndarray of shape (n,), default=None
        For numbers, dates and ordered levels: position between the bounds, from 0 to 1.
    levels : list of dict, default=None
        For categories: share of every level.
    missing : ndarray of shape (n,), default=None
        Share of missing values; None if the field cannot have any.

    Examples
    --------
    >>> from shoal.schema import FieldPoints
    >>> FieldPoints("age", "years", [30.0, 41.5], decimals=1).values
    [30.0, 41.5]
    """

    name: str
    unit: str
    values: list[Any]
    decimals: int | None = None
    positions: Floats | None = None
    levels: list[dict[str, float]] | None = None
    missing: Floats | None = None

    @property
    def shares(self) -> list[float] | None:
        """Share of the most common level; for categories only."""
        if self.levels is None:
            return None
        pairs = zip(self.levels, self.values, strict=True)
        return [shares.get(level, 0.0) for shares, level in pairs]

    def texts(self) -> list[str]:
        """Return the value at each point as text, such as ``34 years`` or ``B 61%``.

        Returns
        -------
        texts : list of str
            One text for each point; it says so if most values are missing.
        """
        shares = self.shares
        texts = []
        for index, value in enumerate(self.values):
            if self._is_missing(index):
                texts.append(f"{MISSING} {self._share_missing(index):.0%}")
            elif shares is not None:
                texts.append(f"{value} {shares[index]:.0%}")
            elif isinstance(value, float):
                number = readable(value) if self.decimals is None else f"{value:,.{self.decimals}f}"
                texts.append(f"{number} {self.unit}".rstrip())
            else:
                texts.append(str(value))
        return texts

    def compared_with(self, overall: "FieldPoints") -> Floats:
        """Return the difference of each point from a reference point, from -1 to 1.

        Parameters
        ----------
        overall : FieldPoints
            The same field at a single point, the reference.

        Returns
        -------
        differences : ndarray of shape (n,)
            Differences of what :meth:`texts` shows: of positions between the bounds, or of shares.
        """
        differences = np.zeros(len(self.values))
        for index, value in enumerate(self.values):
            if self._is_missing(index):
                mine, other = self._share_missing(index), overall._share_missing(0)
            elif self.levels is not None and overall.levels is not None:
                mine, other = self.levels[index][value], overall.levels[0][value]
            elif self.positions is not None and overall.positions is not None:
                mine, other = float(self.positions[index]), float(overall.positions[0])
            else:
                continue
            differences[index] = mine - other
        return differences

    def _is_missing(self, index: int) -> bool:
        return self.values[index] is None or self._share_missing(index) > MOSTLY

    def _share_missing(self, index: int) -> float:
        return 0.0 if self.missing is None else float(self.missing[index])


def describe_points(schema: "Schema", points: Any) -> list[FieldPoints]:
    """Describe points of the encoded space, such as cluster centers, feature by feature.

    Parameters
    ----------
    schema : Schema
        Public description of the table.
    points : array-like of shape (n, space.columns)
        Points in the encoded space of the schema.

    Returns
    -------
    described : list of FieldPoints
        One for each feature, in the order of the features.

    Examples
    --------
    >>> from shoal.schema import Category, Number, Schema, describe_points
    >>> schema = Schema([
    ...     Number("age", minimum=0, maximum=120, unit="years"), Category("city", ["A", "B"])
    ... ])
    >>> center = schema.encode({"age": [30, 40], "city": ["B", "B"]}).mean(axis=0)
    >>> [field.texts() for field in describe_points(schema, [center])]
    [['35 years'], ['B 100%']]
    """
    pairs = schema.blocks(points)
    return [one for field, block in pairs for one in _described(field, block)]


def _described(field: Field, block: Floats) -> list[FieldPoints]:
    """Describe one field; a place has two coordinates, each described by itself."""
    decoded = field.decode(block)
    missing = decoded.pop(f"{field.name} {MISSING}", None)
    described = []
    for index, (name, values) in enumerate(decoded.items()):
        if isinstance(values, list):
            described.append(_category(field, values))
            continue
        gone = np.zeros(len(values)) if missing is None else np.asarray(missing)
        plain = [
            None if share >= 1.0 else value
            for value, share in zip(np.asarray(values).tolist(), gone, strict=True)
        ]
        width = field.shapes[index].width
        described.append(
            FieldPoints(
                name,
                field.unit,
                plain,
                decimals=_decimals(field),
                positions=np.clip(block[:, index] / width, 0.0, 1.0),
                missing=missing,
            )
        )
    return described


def _decimals(field: Field) -> int | None:
    if isinstance(field, Place):
        return DEGREE_DECIMALS
    return 0 if isinstance(field, Number) and field.whole else None


def _category(field: Field, levels: list[dict[str, float]]) -> FieldPoints:
    known = [_without_missing(field, shares) for shares in levels]
    tops = [
        max(shares, key=shares.__getitem__) if any(shares.values()) else None for shares in known
    ]
    missing = None
    if field.missing == "category":
        missing = np.array([shares.get(MISSING, 0.0) for shares in levels])
    return FieldPoints(field.name, field.unit, tops, levels=levels, missing=missing)


def _without_missing(field: Field, shares: Mapping[str, float]) -> dict[str, float]:
    return {
        level: share
        for level, share in shares.items()
        if not (field.missing == "category" and level == MISSING)
    }


def schema_html(schema: "Schema") -> str:
    """Return the fields of a schema for a notebook."""
    rows = [
        (
            field.name,
            type(field).__name__.lower(),
            field.role,
            _values_of(field),
            field.unit,
            f"{field.weight:g}",
            field.missing if field.fill is None else f"{field.missing}: {field.fill}",
        )
        for field in schema.fields
    ]
    headings = ("field", "type", "role", "values", "unit", "weight", "missing")
    return _html.block(_html.table(headings, rows, caption=schema.title or "Schema"))


def _values_of(field: Field) -> str:
    """Return what anyone may enter, in few words."""
    if field.lacking:
        return f"needs {field.lacking}"
    categories = getattr(field, "categories", ())
    if categories:
        more = len(categories) - MAX_SHOWN
        listed = ", ".join(categories[:MAX_SHOWN])
        return f"{listed} and {more} more" if more > 0 else listed
    low, high = (getattr(field, end, None) for end in ("minimum", "maximum"))
    if low is None and high is None:
        return ""
    ends = [f"{end:g}" if isinstance(end, float) else str(end) for end in (low, high)]
    scale = ", log" if getattr(field, "scale", "") == "log" else ""
    return f"{ends[0]} to {ends[1]}{scale}"
