"""Units of distance: which can be compared, and how they convert.

A metric epsilon is per unit of distance, so 1 per km and 1 per m differ by a factor of 1,000. A
unit is a name, with a number in front for a multiple of it: ``"km"``, ``"80 m"``, ``"year"``.
Lengths and times convert into each other; every other name is a kind of its own.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from shoal import _numbers
from shoal.exceptions import GuaranteeError, ParameterError

__all__ = ["DistanceUnit", "convert_epsilon", "parse_unit"]

_METERS = {
    "mm": Fraction(1, 1000),
    "cm": Fraction(1, 100),
    "m": Fraction(1),
    "km": Fraction(1000),
    "in": Fraction(254, 10_000),
    "ft": Fraction(3048, 10_000),
    "yd": Fraction(9144, 10_000),
    "mi": Fraction(1_609_344, 1000),
    "nmi": Fraction(1852),
}
_SECONDS = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "day": Fraction(86_400),
    "week": Fraction(604_800),
}
_KNOWN = {
    **{name: ("m", scale) for name, scale in _METERS.items()},
    **{name: ("s", scale) for name, scale in _SECONDS.items()},
}
_FORM = re.compile(
    r"(?:(?P<number>[0-9]{1,30}(?:\.[0-9]{0,30})?(?:e[+-]?[0-9]{1,2})?) +)?(?P<name>[^\W\d_].*)"
)


class DistanceUnit(NamedTuple):
    """A kind of distance, and how much of its base unit one unit is."""

    kind: str
    scale: Fraction


def parse_unit(unit: str) -> DistanceUnit:
    """Parse a unit of distance into its kind (such as length) and its scale.

    Parameters
    ----------
    unit : str
        A name, or a number, a space and a name, such as ``"km"`` or ``"80 m"``. ``""`` is an
        unnamed unit, which cannot be compared with any other.

    Returns
    -------
    parsed : DistanceUnit
        The kind and the scale; units of the same kind can be converted into each other.

    Raises
    ------
    ParameterError
        If the text is not a unit.

    Examples
    --------
    >>> parse_unit("km"), parse_unit("16 pixel").kind
    (DistanceUnit(kind='m', scale=Fraction(1000, 1)), 'pixel')
    """
    text = _numbers.text("unit", unit)
    if text == "":
        return DistanceUnit("", Fraction(1))
    form = _FORM.fullmatch(text) if text.isprintable() else None
    number = Fraction(form["number"] or 1) if form else Fraction(0)
    if form is None or number == 0 or text != text.strip():
        raise ParameterError(
            "unit must be a name such as 'km', or a number and a name such as '80 m', got "
            f"{unit!r}",
            parameter="unit",
            code="text",
        )
    kind, scale = _KNOWN.get(form["name"], (form["name"], Fraction(1)))
    return DistanceUnit(kind, number * scale)


def convert_epsilon(epsilon: Fraction, unit: str, wanted: str) -> Fraction:
    """Convert a metric epsilon from one unit of distance to another.

    Parameters
    ----------
    epsilon : Fraction
        Metric epsilon per ``unit``.
    unit, wanted : str
        The unit it is per, and the unit to convert to; both of one kind.

    Returns
    -------
    epsilon : Fraction
        The same metric epsilon, per ``wanted``.

    Raises
    ------
    GuaranteeError
        If the units are of different kinds, or one has no name.

    Examples
    --------
    >>> convert_epsilon(Fraction(1), "m", "km")
    Fraction(1000, 1)
    """
    given, other = parse_unit(unit), parse_unit(wanted)
    if not given.kind:
        raise GuaranteeError(
            "a metric spend needs the name of its unit of distance, because an epsilon per km "
            "and one per m are not the same",
            parameter="unit",
            code="missing",
            in_python="give the mechanism a unit, such as unit='km'",
        )
    if given.kind != other.kind:
        raise GuaranteeError(
            f"an epsilon per {unit} and one per {wanted} cannot be compared: state both in one "
            "unit, such as '80 m'"
        )
    return epsilon * other.scale / given.scale
