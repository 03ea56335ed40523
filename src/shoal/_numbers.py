"""Checks of numbers and texts; each error names the parameter, the rule and the value."""

import math
import numbers
import re
import unicodedata
from collections.abc import Collection, Hashable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

from shoal.exceptions import Code, ParameterError, ShoalError

# A fill that is computed from the records would be read from them without noise.
BY_SCHEMA = "describe the table with a schema (`shoal schema FILE`, or shoal.Schema)"
FINITE = f"X must hold finite numbers, got NaN or inf: drop those records, or {BY_SCHEMA}"

# A sum of shares such as 0.1 is off by so little, and ledgers accept it (proofs/ledger.md).
SLACK = Decimal("1e-12")
LONGEST = 1024  # bits of a whole number, or characters at either end, that a message shows

# Centers that a k-means looks for, so that the distances between all of them, 2^28 doubles, take
# 2 GiB at most. More would end for want of memory, after the spend.
MAX_CENTERS = 2**14

Kind = TypeVar("Kind")

HOST = re.compile(r"[\w.:\[\]-]+", re.ASCII)  # ends no quoted text, no policy of a page
LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")


def raise_alone(error: ShoalError) -> NoReturn:
    """Raise an error in place of the one that is handled.

    ``from None`` only hides the other, whose text may hold values of a record.
    """
    try:
        raise error
    finally:
        error.__context__ = None


def positive(name: str, value: Any, *, of: str = "") -> float:
    """Return ``value`` as a finite float above zero; messages name its owner after its name."""
    rule = "a finite number > 0"
    number = _real(name, value, rule, of)
    if not (math.isfinite(number) and number > 0):
        raise _refused(name, rule, value, "positive", of)
    return number


def finite(name: str, value: Any, *, of: str = "") -> float:
    """Return ``value`` as a finite float; messages name its owner after its name."""
    rule = "a finite number"
    number = _real(name, value, rule, of)
    if not math.isfinite(number):
        raise _refused(name, rule, value, "finite", of)
    return number


def non_negative(name: str, value: Any) -> float:
    """Return ``value`` as a finite float that is zero or more."""
    rule = "a finite number >= 0"
    number = _real(name, value, rule)
    if not (math.isfinite(number) and number >= 0):
        raise _refused(name, rule, value, "range")
    return number


def probability(name: str, value: Any) -> float:
    """Return ``value`` as a float with 0 <= value < 1."""
    rule = "a number in [0, 1)"
    number = _real(name, value, rule)
    if not 0 <= number < 1:
        raise _refused(name, rule, value, "range")
    return number


def positive_probability(name: str, value: Any) -> float:
    """Return ``value`` as a float with 0 < value < 1."""
    rule = "a number in (0, 1)"
    number = _real(name, value, rule)
    if not 0 < number < 1:
        raise _refused(name, rule, value, "range")
    return number


def count(name: str, value: Any, *, least: int = 1, most: int = 2**53) -> int:
    """Return ``value`` as an int of at least 1 and at most 2^53, where floats count exactly."""
    whole = _is_number(value, numbers.Integral)
    if not whole or not least <= value <= most:
        rule = f"a whole number from {least} to {'2^53' if most == 2**53 else most}"
        raise _refused(name, rule, value, "range" if whole else "whole")
    return int(value)


def choice(name: str, value: Any, allowed: Collection[Any]) -> None:
    """Refuse a value that is not one of those allowed, which the message lists."""
    # Only what hashes is looked up: an array compares element by element.
    if not isinstance(value, Hashable) or value not in allowed:
        raise _refused(name, f"one of {allowed}", value, "choice")


def flag(name: str, value: Any) -> None:
    """Refuse a value that is neither True nor False."""
    if not isinstance(value, bool):
        raise _refused(name, "True or False", value, "type")


def instance(name: str, value: Any, kind: type[Kind]) -> Kind:
    """Return ``value`` if it is of a class."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise _refused(name, f"{article} {kind.__name__}", value, "type")
    return value


def text(name: str, value: Any) -> str:
    """Return ``value`` if it is a string."""
    if not isinstance(value, str):
        raise _refused(name, "a string", value, "type")
    return str(value)


def unicode_text(name: str, value: Any) -> str:
    """Return ``value`` if it is a string that files can hold: half a surrogate pair is no text."""
    if any(unicodedata.category(letter) == "Cs" for letter in text(name, value)):
        raise ParameterError(
            f"{name} must be text that UTF-8 can write, got {shown(value)}",
            parameter=name,
            code="text",
        )
    return str(value)


def is_printable(value: str) -> bool:
    """Return whether terminals, pages and pictures can show a text: no control characters."""
    return not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in value)


def printable(name: str, value: Any) -> str:
    """Return ``value`` if it is text without control characters."""
    if not is_printable(text(name, value)):
        raise ParameterError(
            f"{name} must have no control characters, got {shown(value)}",
            parameter=name,
            code="text",
        )
    return str(value)


def web_address(name: str, value: Any) -> str:
    """Return ``value`` if nobody on the way can read or change what is sent there."""
    try:
        parts = urlsplit(printable(name, value))
        secure = parts.scheme == "https"
        own = parts.scheme == "http" and parts.hostname in LOCAL_HOSTS
        plain = not (parts.query or parts.fragment or "@" in parts.netloc) and parts.port != 0
        plain = plain and value.isascii() and " " not in value  # as HTTP writes it
        plain = plain and HOST.fullmatch(parts.netloc) is not None
        valid = (secure or own) and bool(parts.hostname) and plain
    except ValueError as failure:  # a port or a host that cannot be
        if isinstance(failure, ParameterError):
            raise
        valid = False
    if not valid:
        raise ParameterError(
            f"{name} must be an https address without a query (http only on the own machine), got "
            f"{value!r}",
            parameter=name,
            code="text",
        )
    return str(value)


def seed(name: str, value: Any) -> int | None:
    """Return ``value`` as a seed, an int of at least 0; None, for secure randomness, stays None."""
    whole = _is_number(value, numbers.Integral)
    if value is not None and not (whole and value >= 0):
        rule = "None (secure) or an integer >= 0"
        raise _refused(name, rule, value, "range" if whole else "type")
    return None if value is None else int(value)


def _real(name: str, value: Any, rule: str, of: str = "") -> float:
    if not _is_number(value, numbers.Real):
        raise _refused(name, rule, value, "type", of)
    try:
        return float(value)
    except OverflowError:
        raise ParameterError(
            f"{name}{of} must be {rule}, got a number beyond float64",
            parameter=name,
            code="finite",
        ) from None


def _is_number(value: Any, kind: type) -> bool:
    # To Python bool is a number, and to numpy a span of time; as an epsilon both are mistakes.
    odd = isinstance(value, bool) or type(value).__name__ == "timedelta64"
    return isinstance(value, kind) and not odd


def _refused(name: str, rule: str, value: Any, code: Code, of: str = "") -> ParameterError:
    return ParameterError(
        f"{name}{of} must be {rule}, got {shown(value)}", parameter=name, code=code
    )


def shown(value: Any) -> str:
    """Write a value for a message, without the middle of a long one."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and value.bit_length() > LONGEST:
        return f"a whole number of {value.bit_length():,} bits"
    try:
        text = repr(value)
    except ValueError:  # of a list, say, that holds such a number
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]}...{text[-LONGEST:]}"


def readable(value: float) -> str:
    """Write a number for people: three digits, or all before the point where there are more.

    Parameters
    ----------
    value : float
        Any finite number.

    Returns
    -------
    text : str
        Without an exponent unless the number is very small.

    Examples
    --------
    >>> readable(182_943.7), readable(0.31459), readable(12.0)
    ('182,944', '0.315', '12')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def rounded_up(value: float, digits: int = 6) -> str:
    """Write an epsilon or a delta that is promised or spent: rounded up, as a promise must be.

    What is above a shorter number by one part in 10^12 at most is written as that number.

    Parameters
    ----------
    value : float
        What is promised or spent.
    digits : int, default=6
        Significant digits.

    Returns
    -------
    text : str
        In the form of the format ``"g"``.

    Examples
    --------
    >>> rounded_up(1.0000049), rounded_up(0.1 + 0.2), rounded_up(0.12341, 3)
    ('1.00001', '0.3', '0.124')
    """
    return _rounded(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int = 6) -> str:
    """Write an epsilon or a delta that is left to spend: rounded down, so that it can be spent.

    Parameters
    ----------
    value, digits
        As for :func:`rounded_up`.

    Returns
    -------
    text : str
        In the form of the format ``"g"``.

    Examples
    --------
    >>> rounded_down(0.9999999), rounded_down(1 - 0.7)
    ('0.999999', '0.3')
    """
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    nearest = f"{value:.{digits}g}"
    if not math.isfinite(value):
        return nearest
    exact = Decimal(value)
    if abs(Decimal(nearest) - exact) <= abs(exact) * SLACK:
        return nearest
    place = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{float(exact.quantize(place, rounding=rounding)):.{digits}g}"
