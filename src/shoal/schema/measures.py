"""Fields with an order: numbers, dates and ordered categories, as positions between public bounds.

A missing value is the midpoint and a flag. The flag is as wide as makes a missing value at most as
far from a number as the two bounds are from each other: its square is 3/4 of the weight, and the
midpoint is 1/4 from either bound.
"""

import datetime
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from shoal import _numbers
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.schema.fields import MISSING, Field, PartShape, check_categories, check_fill
from shoal.schema.values import Column, parse_day, to_codes, to_days, to_numbers

__all__ = ["Date", "Number", "Ordinal"]

SCALES = ("linear", "log")
MISSING_PART = 0.75  # of the weight


@dataclass(frozen=True)
class _Measured(Field, ABC):
    """Base of numbers, dates and ordered categories: a position, and a flag for missing."""

    roles: ClassVar[tuple[str, ...]] = ("feature", "describe", "ignore")

    @property
    def shapes(self) -> tuple[PartShape, ...]:
        """Return the encoded columns of a value."""
        position = PartShape("interval", (self.name,), math.sqrt(self.weight))
        if self.missing != "category":
            return (position,)
        flag = math.sqrt(MISSING_PART * self.weight)
        return position, PartShape("interval", (f"{self.name} {MISSING}",), flag)

    @property
    @abstractmethod
    def limits(self) -> tuple[float, float]:
        """Smallest and largest canonical value."""

    def encode(self, values: Floats) -> list[Floats]:
        """Return the position between the bounds, and the flag."""
        absent = np.isnan(values)
        if self.missing != "category" and absent.any():
            raise self._refuse_missing()
        with np.errstate(under="ignore"):  # of a value beside the minimum
            position = np.where(absent, 0.5, self.position(values))
            encoded = [position * self.shapes[0].width]
        if self.missing == "category":
            encoded.append(absent * self.shapes[1].width)
        return encoded

    def decode(self, block: Floats) -> dict[str, Any]:
        """Return values in the field's unit, and the share of missing ones."""
        position = np.clip(block[:, 0] / self.shapes[0].width, 0.0, 1.0)
        decoded: dict[str, Any] = {self.name: self._value(position)}
        if self.missing == "category":
            shares = np.clip(block[:, 1] / self.shapes[1].width, 0.0, 1.0)
            decoded[f"{self.name} {MISSING}"] = shares
            # A mean of missing ones at the midpoint and others elsewhere: that of the others.
            with np.errstate(divide="ignore", invalid="ignore"):
                others = (position - 0.5 * shares) / (1.0 - shares)
            decoded[self.name] = self._value(np.clip(np.nan_to_num(others, nan=0.5), 0.0, 1.0))
        return decoded

    def restore(self, block: Floats) -> list[list[Any]]:
        """Return the values nearest to points."""
        decoded = self.decode(block)
        absent = decoded.get(f"{self.name} {MISSING}", np.zeros(len(block))) > 1 / 2
        values = decoded[self.name].tolist()
        return [[None if gone else value for value, gone in zip(values, absent, strict=True)]]

    def position(self, values: Floats) -> Floats:
        """Return the position of canonical values between the bounds, from 0 to 1."""
        low, high = self.limits
        # Halves: the difference of two bounds may be too large for a double.
        position: Floats = (values / 2 - low / 2) / (high / 2 - low / 2)
        return position

    def at(self, position: Floats) -> Floats:
        """Return the canonical values at positions between the bounds."""
        low, high = self.limits
        return low * (1 - position) + high * position

    def _value(self, position: Floats) -> Any:
        """Return the values of positions as a table has them."""
        return self.at(position)

    def _bounded(self, values: Floats, fill: float | None) -> Floats:
        """Fill in what is missing, and clip the rest to the bounds."""
        if fill is not None:
            values = np.where(np.isnan(values), fill, values)
        return np.clip(values, *self.limits)


@dataclass(frozen=True)
class Number(_Measured):
    """A column of numbers between two public bounds; values outside are clipped to them.

    Parameters
    ----------
    name : str
        Name of the column.
    minimum, maximum : float, default=None
        Public bounds, known without looking at the records.
    scale : {"linear", "log"}, default="linear"
        ``"log"`` measures distances between logarithms, as suits amounts of money and counts:
        those of value / minimum if the minimum is above 0, else of 1 + (value - minimum).
    whole : bool, default=False
        Whether values are integers; used in descriptions.
    weight, missing, fill, unit, role, title, description, missing_values
        As for :class:`Field`. With ``role="sample_weight"``, ``minimum`` may not be negative;
        None means 0.

    Examples
    --------
    >>> from shoal.schema import Number
    >>> Number("income", minimum=0, maximum=1_000_000, scale="log", unit="EUR").lacking
    ''
    """

    _: KW_ONLY
    minimum: float | None = None
    maximum: float | None = None
    scale: str = "linear"
    whole: bool = False

    type: ClassVar[str] = "number"
    roles: ClassVar[tuple[str, ...]] = ("feature", "describe", "user", "sample_weight", "ignore")

    def _check(self) -> None:
        self._one_of("scale", SCALES)
        for name in ("minimum", "maximum", "fill"):
            if getattr(self, name) is not None:
                object.__setattr__(
                    self,
                    name,
                    _numbers.finite(name, getattr(self, name), of=f" of field {self.name!r}"),
                )
        if self.minimum is not None and self.maximum is not None:
            if not self.minimum < self.maximum:
                raise ParameterError(
                    f"minimum of field {self.name!r} must be below its maximum, got "
                    f"{self.minimum:g} and {self.maximum:g}",
                    parameter="minimum",
                    code="order",
                )
            if not math.isfinite(self.maximum - self.minimum):
                raise ParameterError(
                    f"bounds of field {self.name!r} must be closer together",
                    parameter="bounds",
                    code="resolution",
                )
            if not self.minimum / 2 < self.maximum / 2:
                raise ParameterError(
                    f"bounds of field {self.name!r} must be further apart",
                    parameter="bounds",
                    code="resolution",
                )
        if self.role == "sample_weight" and (self.minimum or 0.0) < 0:
            raise ParameterError(
                f"minimum of field {self.name!r} must be at least 0 for a weight, got "
                f"{self.minimum:g}",
                parameter="minimum",
                code="range",
            )

    @property
    def lacking(self) -> str:
        """What must still be declared before records can be encoded; empty if complete."""
        if self.role not in ("feature", "describe", "sample_weight"):
            return ""
        if self.role == "sample_weight":
            return "a maximum" if self.maximum is None else ""
        absent = [name for name in ("minimum", "maximum") if getattr(self, name) is None]
        return " and ".join(f"a {name}" for name in absent)

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest canonical value."""
        return float(self.minimum or 0.0), float(self.maximum or 0.0)

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Floats:
        """Return numbers clipped to the bounds, NaN for a missing one."""
        missing = (*words, *self.missing_values)
        numbers = to_numbers(columns[self.name], self.name, missing)
        return self._bounded(numbers, None if self.fill is None else float(self.fill))

    def position(self, values: Floats) -> Floats:
        """Return the position of canonical values between the bounds, from 0 to 1."""
        if self.scale == "linear":
            return super().position(values)
        low, high = self.limits
        # One logarithm for both: another may differ in the last bit, and leave the interval.
        whole = np.log1p(np.array([high - low]) / self._unit)
        position: Floats = np.log1p((values - low) / self._unit) / whole
        return np.minimum(position, 1.0)

    def at(self, position: Floats) -> Floats:
        """Return the canonical values at positions between the bounds."""
        if self.scale == "linear":
            return super().at(position)
        low, high = self.limits
        beyond = self._unit * np.expm1(position * math.log1p((high - low) / self._unit))
        return np.clip(low + beyond, low, high)

    @property
    def _unit(self) -> float:
        """Return what 1 plus the distance from the minimum is counted in, on a log scale."""
        low, high = self.limits
        usual = low if low > 0 else 1.0
        return usual if math.isfinite((high - low) / usual) else 1.0


@dataclass(frozen=True)
class Date(_Measured):
    """A column of dates or times between two public bounds; those outside are clipped to them.

    Parameters
    ----------
    name : str
        Name of the column.
    minimum, maximum : str, date or datetime, default=None
        Public bounds; text is in ISO 8601, such as ``"2024-12-31"``.
    format : str, default=""
        Format of text in the column, in the codes of ``strptime``; empty for ISO 8601.
    weight, missing, fill, unit, role, title, description, missing_values
        As for :class:`Field`.

    Examples
    --------
    >>> from shoal.schema import Date
    >>> Date("joined", minimum="2010-01-01", maximum="2026-12-31").limits
    (14610.0, 20818.0)
    """

    _: KW_ONLY
    minimum: str | datetime.date | None = None
    maximum: str | datetime.date | None = None
    format: str = ""

    type: ClassVar[str] = "date"

    def _check(self) -> None:
        _numbers.unicode_text("format", self.format)
        for name in ("minimum", "maximum", "fill"):
            value = getattr(self, name)
            if value is None:
                continue
            text = value.isoformat() if isinstance(value, datetime.date) else value
            try:
                parse_day(text)
            except (TypeError, ValueError, OverflowError):  # its zone may move it out of years
                raise ParameterError(
                    f"{name} of field {self.name!r} must be a date as YYYY-MM-DD, got "
                    f"{_numbers.shown(value)}",
                    parameter=name,
                    code="text",
                ) from None
            object.__setattr__(self, name, text)
        if self.minimum is not None and self.maximum is not None:
            low, high = self.limits
            if not low < high:
                raise ParameterError(
                    f"minimum of field {self.name!r} must be before its maximum, got "
                    f"{self.minimum} and {self.maximum}",
                    parameter="minimum",
                    code="order",
                )

    @property
    def lacking(self) -> str:
        """What must still be declared before records can be encoded; empty if complete."""
        if self.role == "ignore":
            return ""
        absent = [name for name in ("minimum", "maximum") if getattr(self, name) is None]
        return " and ".join(f"a {name}" for name in absent)

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest canonical value, in days since 1970."""
        return parse_day(str(self.minimum)), parse_day(str(self.maximum))

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Floats:
        """Return days since 1970, clipped to the bounds, NaN for a missing date."""
        missing = (*words, *self.missing_values)
        days = to_days(columns[self.name], self.name, missing, self.format)
        return self._bounded(days, None if self.fill is None else parse_day(str(self.fill)))

    def _value(self, position: Floats) -> Any:
        days = np.rint(self.at(position)).astype(np.int64)
        return days.astype("datetime64[D]")


@dataclass(frozen=True)
class Ordinal(_Measured):
    """A column of ordered categories at equal distances; any other value counts as missing.

    Parameters
    ----------
    name : str
        Name of the column.
    categories : sequence, default=()
        Public categories, from the lowest to the highest.
    weight, missing, fill, unit, role, title, description, missing_values
        As for :class:`Field`.

    Examples
    --------
    >>> from shoal.schema import Ordinal
    >>> Ordinal("cut", ["Fair", "Good", "Ideal"]).limits
    (0.0, 2.0)
    """

    categories: Sequence[Any] = ()

    type: ClassVar[str] = "string"

    def _check(self) -> None:
        object.__setattr__(self, "categories", check_categories(self.name, self.categories))
        if self.fill is not None:
            object.__setattr__(self, "fill", check_fill(self.name, self.fill, self.categories))

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the categories; there is no level for missing values."""
        return tuple(self.categories)

    @property
    def lacking(self) -> str:
        """What must still be declared before records can be encoded; empty if complete."""
        few = len(self.categories) < 2 and self.role != "ignore"
        return "two or more categories" if few else ""

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest canonical value."""
        return 0.0, float(max(len(self.categories) - 1, 1))

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Floats:
        """Return ranks of categories, NaN for a missing value."""
        codes = {level: rank for rank, level in enumerate(self.categories)}
        codes |= {word: -1 for word in (*words, *self.missing_values) if word not in codes}
        ranks = to_codes(columns[self.name], codes, -1, -1).astype(np.float64)
        ranks[ranks < 0] = np.nan
        return self._bounded(ranks, None if self.fill is None else codes[self.fill])

    def _value(self, position: Floats) -> Any:
        ranks = np.rint(self.at(position)).astype(np.int64)
        return np.array(self.categories, dtype=object)[ranks]
