"""What the values of a plain column mean: numbers, levels, days and text, each by itself.

A column is one of five kinds: numbers (doubles, NaN where there is none), booleans (likewise, 0 and
1), text, times, or Python objects of mixed types. What is made of a value depends on the value
alone, and nothing is remembered from one value to the next. No message names a row or a value.
"""

import datetime
import decimal
import math
import numbers
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal._numbers import raise_alone
from shoal._typing import Floats, Ints
from shoal.exceptions import DataTypeError

__all__ = [
    "MISSING_NUMBERS",
    "Column",
    "as_double",
    "category_text",
    "days_of",
    "exact_below",
    "is_missing",
    "other_spelling",
    "parse_day",
    "parse_doubles",
    "read_numbers",
    "same_category",
    "to_codes",
    "to_days",
    "to_numbers",
    "to_texts",
]

#: Texts that mean a missing number, in upper or lower case; not for categories (NA is Namibia).
MISSING_NUMBERS = ("", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none")
MISSING_DAYS = (*MISSING_NUMBERS, "nat")
EPOCH = datetime.datetime(1970, 1, 1)
DAY = 86_400_000_000  # microseconds
MIDNIGHT = "T00:00:00"
TRUTHS = {"true": "1", "false": "0"}  # as which numpy writes them beside a gap
HOUR_24 = re.compile(r"\d{4}-?(\d\d-?\d\d|W\d\d(-?\d)?)\D24")  # after a day or a week
NO_VALUES = ("NAType", "NaTType")  # of pandas, which may not be loaded
MAX_EXACT = 2**53  # doubles tell whole numbers below apart
MAX_BITS, MAX_POWER = 1024, 308  # of numbers that doubles reach; writing larger ones takes long
WHOLE = re.compile(r"[+-]?[0-9]+")
NAMES: tuple[type, ...] = (str, bool, np.bool_, numbers.Integral)  # of categories to be learned
TIMES: tuple[type, ...] = (datetime.date, np.datetime64)
UNKNOWN = -2  # code of text that is no category as it stands
UNCLEAR = (
    "X must hold categories as text, truths, or numbers that their type tells apart (fractions "
    "below 2^53, whole ones below 2^1024), got times or others: read category columns as text"
)


@dataclass(frozen=True, eq=False)
class Column:
    """Values of a column, and their kind: number, boolean, text, time or object.

    Examples
    --------
    >>> from shoal.schema import plain_column
    >>> column = plain_column(["A", "B"])
    >>> column.kind
    'text'
    """

    kind: Literal["number", "boolean", "text", "time", "object"]
    values: Any  # float64 for numbers and booleans, datetime64[us] for times, else a list
    # Finite where the column is of a floating type, which whole numbers become beside a gap: it
    # tells whole numbers below apart.
    exact: float = math.inf


def read_numbers(column: Column, missing: Collection[str] = ()) -> Floats | None:
    """Return a column as floats, NaN for a missing value; None if it does not hold numbers.

    Examples
    --------
    >>> from shoal.schema import plain_column, read_numbers
    >>> read_numbers(plain_column(["30", "", "n/a"]), missing=["n/a"]).tolist()
    [30.0, nan, nan]
    """
    if column.kind == "text":
        numbers_ = parse_doubles(column.values, missing)
    elif column.kind == "object":
        numbers_ = _each(column.values, lambda value: _number(value, missing))
    else:
        numbers_ = None if column.kind == "time" else column.values
    words = _missing_numbers(tuple(missing))
    if numbers_ is None or not words:
        return numbers_
    return np.where(np.isin(numbers_, words), np.nan, numbers_)


@lru_cache(maxsize=256)
def _missing_numbers(missing: tuple[str, ...]) -> list[float]:
    """Return the numbers that stand for none."""
    return [number for word in missing if (number := _plain_number(word)) is not None]


def to_numbers(column: Column, name: str, missing: Collection[str]) -> Floats:
    """Return the doubles of a column that must hold numbers, NaN where there is none."""
    doubles = read_numbers(column, missing)
    if doubles is None:
        raise DataTypeError(
            f"column {name!r} must hold numbers, got text or times: choose another type for it in "
            "the schema"
        )
    return doubles


def to_codes(column: Column, codes: Mapping[str, int], other: int, missing: int) -> Ints:
    """Return the code of each value by its text; that of unknown ones, and of missing ones.

    A category that is a number, such as 007, is also found as 7, and true as 1: whether a column
    holds numbers, truths or text is often decided by other records, where somebody reads a file for
    us. Times are refused: text that is none is as it was written, and times no longer tell that.
    """
    codes = _all_spellings(tuple(codes.items()))
    if column.kind == "time":
        raise DataTypeError(UNCLEAR)

    def code(value: Any) -> int:
        text = _text(value)
        if text is None:
            return missing
        if isinstance(value, TIMES):
            raise DataTypeError(UNCLEAR)
        return codes.get(same_category(text), other)

    if column.kind == "text":
        listed = [
            missing if value is None else codes.get(value, UNKNOWN) for value in column.values
        ]
        found = np.array(listed, dtype=np.int64)
        for index in np.flatnonzero(found == UNKNOWN):
            found[index] = code(column.values[index])
        return found
    if column.kind == "object":
        return np.array([code(value) for value in column.values], dtype=np.int64)
    if column.kind == "number" and (np.abs(column.values) >= column.exact).any():
        raise DataTypeError(UNCLEAR)
    distinct, inverse = np.unique(column.values, return_inverse=True)
    plain: list[Any] = distinct.tolist()
    if column.kind == "boolean":
        plain = [None if math.isnan(value) else bool(value) for value in plain]
    each = np.array([code(value) for value in plain], dtype=np.int64)
    result: Ints = each[inverse] if len(each) else np.empty(0, dtype=np.int64)
    return result


@lru_cache(maxsize=256)  # words of a schema, which are public; never those of a record
def _all_spellings(codes: tuple[tuple[str, int], ...]) -> Mapping[str, int]:
    """Return the code of each word as it stands and as the number or truth that it is.

    Of two words that are one number or truth, the first counts: which of them a value is must not
    be up to the type of its column.
    """
    numbers_: dict[str, int] = {}
    for word, code in codes:
        numbers_.setdefault(same_category(word), code)
    return {**{word: numbers_[same_category(word)] for word, _ in codes}, **numbers_}


def to_texts(
    column: Column,
    missing: Collection[str] = (),
    *,
    name: str = "",
    as_written: bool = False,
) -> list[str | None]:
    """Return values as text; None for a missing value.

    A value has one text, whatever type its column was given because of other records: text that
    is a whole number or a truth is written as that is, 01001 as 1001. Other types are refused.
    Whole numbers become floating-point ones beside a gap and are then no longer told apart, as the
    ends of intervals do; and text becomes times where all of a column is some, which are refused
    unless each value is as it was written.

    Examples
    --------
    >>> from shoal.schema import plain_column, to_texts
    >>> to_texts(plain_column(["A", "01001", 1001, None]))
    ['A', '1001', '1001', None]
    >>> to_texts(plain_column(["A", "01001"]), as_written=True)
    ['A', '01001']
    """
    if not _holds_names(column, NAMES + TIMES * as_written):
        raise DataTypeError(
            f"column {name!r} must hold text, whole numbers or truths, got floating-point numbers, "
            "times or others: read category columns as text, or pass the file"
        )
    plain = column.values if column.kind in ("text", "object") else column.values.tolist()
    if column.kind == "boolean":
        plain = [None if math.isnan(value) else bool(value) for value in plain]
    elif column.kind == "number":
        plain = [None if math.isnan(value) else int(value) for value in plain]
    tidy: Callable[[str], str] = str.strip if as_written else _same_text
    words = {tidy(word) for word in missing}
    texts = [None if text is None else tidy(text) for text in map(_text, plain)]
    return [None if text in words else text for text in texts]


def _holds_names(column: Column, names: tuple[type, ...]) -> bool:
    """Return whether a column is of text, whole numbers and truths, or of others that may be."""
    if column.kind == "number":
        return not math.isfinite(column.exact) or bool(np.isnan(column.values).all())
    if column.kind == "time":
        return np.datetime64 in names
    return column.kind != "object" or all(
        (isinstance(one, names) and not isinstance(one, np.timedelta64)) or is_missing(one)
        for one in column.values
    )


def _same_text(text: str) -> str:
    """Return the text that a value has as text, as a whole number and as a truth."""
    plain = text.strip()
    if WHOLE.fullmatch(plain):
        digits = plain.lstrip("+-").lstrip("0")
        return ("-" if plain[0] == "-" else "") + digits if digits else "0"
    return plain.lower() if plain.lower() in ("true", "false") else plain


def category_text(value: Any) -> str:
    """Return the text by which a declared category is compared with values."""
    if is_missing(value) or isinstance(value, Mapping | list | tuple):
        raise DataTypeError(UNCLEAR)
    return str(_text(value)).strip()


def to_days(column: Column, name: str, missing: Collection[str], pattern: str) -> Floats:
    """Return days since 1970, with their fractions, NaN where there is none."""
    days: Floats | None = None
    if column.kind == "time":
        days = days_of(column.values)
    elif column.kind == "text":
        days = _each(column.values, lambda value: _day_of_text(value, missing, pattern))
    elif column.kind == "object":
        days = _each(column.values, lambda value: _day(value, missing, pattern))
    elif column.kind == "number" and np.isnan(column.values).all():
        days = column.values  # a column without a value has no type
    if days is None:
        raise DataTypeError(
            f"column {name!r} must hold dates ({pattern or 'YYYY-MM-DD'}), got something else: "
            "name the format in the schema"
        )
    return days


def days_of(times: npt.NDArray[np.datetime64]) -> Floats:
    """Return days since 1970 of times in microseconds."""
    days: Floats = times.astype(np.int64) / DAY
    return np.where(np.isnat(times), np.nan, days)


def parse_day(text: str, pattern: str = "") -> float:
    """Return days since 1970 of a date or time, by ISO 8601 or a pattern of ``strptime``.

    >>> parse_day("1970-01-02"), parse_day("02.01.1970 12:00", "%d.%m.%Y %H:%M")
    (1.0, 1.5)
    """
    if pattern:
        time = datetime.datetime.strptime(text, pattern)
    elif HOUR_24.match(text):  # Python 3.14 takes it, others and the JavaScript client do not
        raise ValueError("hour must be in 0..23")
    else:
        time = datetime.datetime.fromisoformat(text)
    return _days_since(time)


def parse_doubles(values: Sequence[Any], missing: Collection[str] = ()) -> Floats | None:
    """Parse texts as floats, NaN for a missing number; return None if any is not a number.

    A number consists of ASCII digits, optionally with a decimal point and an exponent; spaces and
    tabs around it are ignored. ``true``, ``1_000`` and ``0x10`` are not numbers.

    Examples
    --------
    >>> from shoal.schema import parse_doubles
    >>> parse_doubles(["1.5", "", " 2e3 "]).tolist()
    [1.5, nan, 2000.0]
    >>> parse_doubles(["1_000"]) is None
    True
    """
    words = _missing_words(tuple(missing))
    kept = [
        "nan" if value is None or value.strip(" \t").lower() in words else value for value in values
    ]
    # Python reads these as numbers or blanks, and pyarrow does not.
    text = "".join(kept).replace("\t", " ")
    if "_" in text or not (text.isascii() and text.isprintable()):
        return None
    try:
        return np.array(kept, dtype=np.float64)
    except ValueError:
        return None


@lru_cache(maxsize=256)
def _missing_words(missing: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.strip().lower() for word in (*missing, *MISSING_NUMBERS))


def _each(values: Sequence[Any], convert: Callable[[Any], float | None]) -> Floats | None:
    """Convert values one by one; None where one of them cannot be."""
    converted = [convert(value) for value in values]
    return None if None in converted else np.array(converted, dtype=np.float64)


def is_missing(value: Any) -> bool:
    """Return whether a value of any library stands for none."""
    if value is None or type(value).__name__ in NO_VALUES:
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    return isinstance(value, numbers.Number) and bool(value != value)  # noqa: PLR0124


def _number(value: Any, missing: Collection[str]) -> float | None:
    if is_missing(value):
        return math.nan
    if isinstance(value, str):
        parsed = parse_doubles([value], missing)
        return None if parsed is None else float(parsed[0])
    if isinstance(value, np.timedelta64):  # which numpy counts among the numbers
        return None
    if isinstance(value, bool | np.bool_ | numbers.Real | decimal.Decimal):
        return as_double(value)
    return None


def as_double(value: Any) -> float:
    """Return the nearest double, infinite as that of text is where a number is beyond them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _plain_number(word: str) -> float | None:
    parsed = parse_doubles([word])
    return None if parsed is None or math.isnan(parsed[0]) else float(parsed[0])


def _text(value: Any) -> str | None:
    """Return the text by which a value is compared with categories; None for none."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        to = "datetime64[us]" if isinstance(value, np.datetime64) else "timedelta64[us]"
        value = value.astype(to).item()
    if type(value) is str:
        return value
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, numbers.Number | decimal.Decimal):
        return _number_text(value)
    if isinstance(value, bytes):  # text that one of them has made bytes of
        raise DataTypeError(UNCLEAR)
    try:
        return _time_text(value) if isinstance(value, datetime.date) else str(value)
    # A zone may move a time out of the calendar, and a list may hold numbers that are too long.
    except (ValueError, OverflowError, RecursionError):
        raise_alone(DataTypeError(UNCLEAR))


def _time_text(value: datetime.date) -> str:
    """Return a date as such, whatever the type of its column, and a time in UTC, to microseconds.

    A column has one zone and one precision, or holds objects, by what other records have.
    """
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    time = _in_utc(value)
    plain = datetime.datetime.combine(time.date(), time.time())
    return plain.isoformat().removesuffix(MIDNIGHT)


def _number_text(value: Any) -> str:
    """Return a whole number as such, whatever its type, and others as doubles.

    Refused are numbers that are too long to be written in constant time, and those of a floating
    type that other whole numbers would be, too.
    """
    if isinstance(value, decimal.Decimal) and value.is_finite():
        if value and value.adjusted() > MAX_POWER:
            raise DataTypeError(UNCLEAR)
        if not value or value == value.to_integral_value():
            return str(int(value or 0))
    elif isinstance(value, numbers.Rational) and value.denominator == 1:
        whole = int(value.numerator)
        if whole.bit_length() > MAX_BITS:
            raise DataTypeError(UNCLEAR)
        return str(whole)
    elif not isinstance(value, numbers.Real | decimal.Decimal):
        raise DataTypeError(UNCLEAR)
    number = as_double(value)
    if not abs(number) < _exact(value):
        raise DataTypeError(UNCLEAR)
    return str(int(number)) if number.is_integer() else repr(number)


def _exact(value: Any) -> float:
    return exact_below(value.dtype) if isinstance(value, np.floating) else MAX_EXACT


def exact_below(dtype: Any) -> float:
    """Return below what a floating type tells whole numbers apart; infinity for other types."""
    if dtype.kind != "f":
        return math.inf
    return min(2.0 ** (np.finfo(dtype).nmant + 1), MAX_EXACT)


def other_spelling(text: str) -> str:
    """Return how a number or a truth would be written if it were one: 1.0 is 1, True is true."""
    plain = text.strip()
    if plain.lower() in ("true", "false"):
        return plain.lower()
    number = _plain_number(plain)
    # Doubles do not tell larger whole numbers apart.
    return str(_text(number)) if number is not None and abs(number) < MAX_EXACT else plain


def same_category(text: str) -> str:
    """Return what is the same of all texts that one category may have: truths are numbers, too."""
    spelled = other_spelling(text)
    return TRUTHS.get(spelled, spelled)


def _day(value: Any, missing: Collection[str], pattern: str) -> float | None:
    if is_missing(value):
        return math.nan
    if isinstance(value, str):
        return _day_of_text(value, missing, pattern)
    if isinstance(value, datetime.date):
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime(value.year, value.month, value.day)
        try:
            return _days_since(value)
        except (OverflowError, ValueError):  # its zone moves it out of the calendar
            return None
    if isinstance(value, np.datetime64):
        return float(days_of(np.array([value], dtype="datetime64[us]"))[0])
    return None


def _day_of_text(value: str | None, missing: Collection[str], pattern: str) -> float | None:
    if value is None or value.strip() in missing or value.strip().lower() in MISSING_DAYS:
        return math.nan
    try:
        return parse_day(value.strip(), pattern)
    except (ValueError, OverflowError):  # a zone may move it out of the calendar
        return None


def _days_since(time: datetime.datetime) -> float:
    # As doubles, as whole columns are divided: whole numbers would be divided more exactly.
    return float((_in_utc(time) - EPOCH) // datetime.timedelta(microseconds=1)) / DAY


def _in_utc(time: datetime.datetime) -> datetime.datetime:
    """Return a time without a zone; one that has none is taken as it is."""
    return time if time.tzinfo is None else time.astimezone(datetime.UTC).replace(tzinfo=None)
