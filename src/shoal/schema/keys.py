"""Keys of a Table Schema: those that are read, those left aside knowingly, and no others.

A key that nobody reads is a table that is fitted otherwise than declared. So each key of the
standard is here, for the types of fields whose values it speaks of, and every other one is refused.
``docs/schema.md`` shows the same table, and a test compares them.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from shoal import _numbers
from shoal.exceptions import ParameterError

__all__ = [
    "DATES",
    "KEYS",
    "LEFT_ASIDE",
    "LISTED",
    "NOT_ENCODED",
    "NUMBERS",
    "check_field",
    "check_keys",
]

NUMBERS = ("number", "integer", "year")
DATES = ("date", "datetime")
TYPES = ("string", "boolean", "any", "geopoint", *NUMBERS, *DATES)
# Of the standard, and nothing that shoal encodes.
NOT_ENCODED = ("time", "yearmonth", "duration", "object", "array", "list", "geojson")
LISTED = ("string", "any", *NUMBERS)
UNREAD_ROLES = ("user", "ignore")
MAX_KEY = 64  # letters of a key that are compared with others: a document may come from strangers

#: Keys of a schema that change nothing about how a value is read.
LEFT_ASIDE: dict[str, tuple[str, ...]] = {
    "schema": (
        "name", "$schema", "profile", "fieldsMatch", "primaryKey", "uniqueKeys", "foreignKeys",
    ),
    "field": ("example", "rdfType"),
    "constraints": ("unique", "minLength", "maxLength", "pattern", "jsonSchema"),
}  # fmt: skip
#: Keys at each level, with the types of fields that may have them; none where no field may.
KEYS: dict[str, dict[str, Collection[str]]] = {
    "schema": dict.fromkeys(
        ("fields", "missingValues", "title", "description", "shoal", *LEFT_ASIDE["schema"]), TYPES
    ),
    "field": {
        **dict.fromkeys(("name", "type", "format", "title", "description"), TYPES),
        **dict.fromkeys(("missingValues", "constraints", "shoal", *LEFT_ASIDE["field"]), TYPES),
        **dict.fromkeys(("categories", "categoriesOrdered"), LISTED),
        **dict.fromkeys(("trueValues", "falseValues"), ("boolean",)),
        **dict.fromkeys(("decimalChar", "groupChar", "bareNumber"), NUMBERS),
        **dict.fromkeys(("itemType", "delimiter"), ()),
    },
    "constraints": {
        **dict.fromkeys(("required", *LEFT_ASIDE["constraints"]), TYPES),
        **dict.fromkeys(("minimum", "maximum"), (*NUMBERS, *DATES)),
        "enum": LISTED,
        **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), ()),
    },
    # Which of them a class of fields has is up to the class.
    "shoal": dict.fromkeys(
        (
            "weight", "missing", "fill", "unit", "role", "scale", "other", "longitude", "latitude",
            "center", "radius",
        ),
        TYPES,
    ),
}  # fmt: skip
# The only values that mean what shoal reads.
AS_READ: dict[str, tuple[Any, ...]] = {
    "decimalChar": (".",),
    "groupChar": ("", None),
    "bareNumber": (True,),
}
FORMATS = {
    **dict.fromkeys(("boolean", "any", *NUMBERS), ("default",)),
    "string": ("default", "email", "uri", "binary", "uuid"),  # all of them are compared as text
}


def check_keys(plain: Iterable[Any], level: str, of: str, known: Collection[str] = ()) -> None:
    """Refuse a key that is not known at a level, and name the nearest one that is known."""
    allowed = known or KEYS[level]
    for key in plain:
        if key in allowed:
            continue
        levels = dict.fromkeys((level, *KEYS))
        homes = {name: one for one in levels for name in (allowed if one == level else KEYS[one])}
        homes |= dict.fromkeys(allowed, level)
        near = difflib.get_close_matches(str(key)[:MAX_KEY], homes, n=1)
        where = "" if not near or homes[near[0]] == level else f" under {homes[near[0]]}"
        help_ = f"the nearest is {near[0]}{where}" if near else f"use {', '.join(allowed)}"
        raise ParameterError(
            f"{_numbers.shown(key)} of {of} is not a key that shoal knows: {help_}",
            parameter=str(key)[:MAX_KEY],
            code="unknown",
        )


def check_field(plain: Mapping[str, Any], constraints: Any, ours: Any) -> None:
    """Refuse keys of a field that are unknown, or that do not apply to its type."""
    name, kind = plain["name"], plain.get("type", "any")
    of = f"field {_numbers.shown(name)}"
    check_keys(plain, "field", of)
    check_keys(constraints, "constraints", of)
    check_keys(ours, "shoal", of)
    unread = ours.get("role") in UNREAD_ROLES
    if kind not in (*TYPES, *NOT_ENCODED) if unread else kind not in TYPES:
        raise ParameterError(
            f"type of {of} must be one of {TYPES}, got {_numbers.shown(kind)}: give the field the "
            "role 'ignore'",
            parameter="type",
            code="choice",
        )
    if unread:
        return
    for level, given in (("field", plain), ("constraints", constraints)):
        for key in given:
            types = KEYS[level][key]
            if kind not in types:
                help_ = f"it is for {', '.join(types)}" if types else "shoal does not read it"
                raise _unexpected(key, of, f"of type {kind}: {help_}")
    for key, values in {**AS_READ, "format": FORMATS.get(kind, ())}.items():
        if values and key in plain and plain[key] not in values:
            got = f"got {_numbers.shown(plain[key])}"
            raise _unexpected(key, of, f"{got}: write numbers as 1234.5, and text as it is")


def _unexpected(key: str, of: str, why: str) -> ParameterError:
    return ParameterError(
        f"{key} must be left out of {of}, {why}", parameter=key, code="unexpected"
    )
