"""Descriptions of tables in the words of W3C's "CSV on the Web", as Frictionless Table Schemas.

The metadata vocabulary (https://www.w3.org/TR/tabular-metadata/) says of each column its name, its
datatype with limits, what stands for a missing value, and whether it may be missing. What it cannot
say, such as weights, is left for the curator. No file of records is opened: ``url`` is only a name.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shoal.exceptions import ParameterError
from shoal.schema.table_schema import read_json

__all__ = ["table_schema_from_csvw"]

WHOLE = (
    "integer long int short byte nonNegativeInteger positiveInteger nonPositiveInteger "
    "negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte"
)
TEXT = (
    "string normalizedString token language Name NMTOKEN anyURI anyAtomicType any xml html json "
    "QName base64Binary binary hexBinary"
)
# Datatypes of the recommendation by those of a Table Schema.
TYPES = {
    **dict.fromkeys(WHOLE.split(), "integer"),
    **dict.fromkeys(["decimal", "double", "float", "number"], "number"),
    **dict.fromkeys(TEXT.split(), "string"),
    **dict.fromkeys(["dateTime", "datetime", "dateTimeStamp"], "datetime"),
    "boolean": "boolean",
    "date": "date",
    "gYear": "year",
    # What shoal cannot encode is left out of clusters.
    **dict.fromkeys(["time", "duration", "dayTimeDuration", "yearMonthDuration"], "any"),
    **dict.fromkeys(["gDay", "gMonth", "gMonthDay", "gYearMonth"], "any"),
}
FLAGS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"1", "0"})  # as Flag reads them
# Limits that a datatype says by itself; those of int and long are limits of computers.
LIMITS: dict[str, dict[str, int]] = {
    "nonNegativeInteger": {"minimum": 0},
    "positiveInteger": {"minimum": 1},
    "nonPositiveInteger": {"maximum": 0},
    "negativeInteger": {"maximum": -1},
    "unsignedLong": {"minimum": 0},
    "unsignedInt": {"minimum": 0},
    "unsignedShort": {"minimum": 0},
    "unsignedByte": {"minimum": 0, "maximum": 255},
    "byte": {"minimum": -128, "maximum": 127},
}
ENDS = {
    "minimum": ("minimum", "minInclusive", "minExclusive"),
    "maximum": ("maximum", "maxInclusive", "maxExclusive"),
}
DATE_PARTS = {
    "yyyy": "%Y",
    "MM": "%m",
    "M": "%m",
    "dd": "%d",
    "d": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "T": "T",
}
DESCRIPTIONS = ("dc:description", "dcterms:description", "schema:description", "rdfs:comment")


def table_schema_from_csvw(
    source: str | os.PathLike[str] | Mapping[str, Any], *, table: str | None = None
) -> dict[str, Any]:
    """Return the Table Schema of a table that CSVW metadata describe.

    ``source`` is a JSON file or what it holds; ``table`` the ``url`` of one of several tables, or
    its file name.
    """
    folder = None if isinstance(source, Mapping) else Path(source).parent
    metadata = source if isinstance(source, Mapping) else read_json(source)
    if not isinstance(metadata, Mapping):
        raise _wrong("they must be a JSON object")
    described = _one_table(metadata, table)
    schema = described.get("tableSchema", {})
    if isinstance(schema, str):
        if folder is None or re.match(r"\w+:", schema):
            raise _wrong("tableSchema must be written out or name a file beside the metadata")
        schema = read_json(folder / schema)
    if not isinstance(schema, Mapping):
        raise _wrong("tableSchema must be an object")
    columns = schema.get("columns")
    if not isinstance(columns, list) or not all(isinstance(one, Mapping) for one in columns):
        raise _wrong("tableSchema must have a list of columns")
    outer = {**_inherited(metadata), **_inherited(described), **_inherited(schema)}
    language = _language(metadata, described)
    fields = [
        _field({**outer, **column}, number, language)
        for number, column in enumerate(columns, 1)
        if not column.get("virtual", False)
    ]
    if not fields:
        raise _wrong("tableSchema must have at least one column that is not virtual")
    return {"fields": fields}


def _one_table(metadata: Mapping[str, Any], wanted: str | None) -> Mapping[str, Any]:
    """Return the table of a description, or the wanted one of a group."""
    tables = metadata.get("tables", [metadata])
    if not isinstance(tables, list) or not all(isinstance(one, Mapping) for one in tables):
        raise _wrong("tables must be a list of objects")
    urls = [str(one.get("url", "")) for one in tables]
    if len(tables) > 1:
        listed = zip(tables, urls, strict=True)
        tables = [one for one, url in listed if wanted in (url, url.rpartition("/")[2])]
    if len(tables) != 1:
        raise _wrong(f"one table must be meant of {urls}, got {wanted!r}")
    one: Mapping[str, Any] = tables[0]
    return one


def _inherited(level: Mapping[str, Any]) -> dict[str, Any]:
    """Return what columns take over from the table, its schema and its group."""
    return {name: level[name] for name in ("datatype", "null", "required") if name in level}


def _language(*levels: Mapping[str, Any]) -> str:
    language = "und"
    for level in levels:
        context = level.get("@context")
        for part in context if isinstance(context, list) else []:
            if isinstance(part, Mapping):
                language = str(part.get("@language", language))
        language = str(level.get("lang", language))
    return language


def _field(column: Mapping[str, Any], number: int, language: str) -> dict[str, Any]:
    titles = list(_texts(column.get("titles"), language))
    name = str(column.get("name", titles[0] if titles else f"_col.{number}"))
    # The header line of the file holds a title where there is one, else the name.
    field: dict[str, Any] = {"name": titles[0] if titles else name}
    if titles and name != titles[0]:
        field["title"] = name
    for key in DESCRIPTIONS:
        for text in _texts(column.get(key), language):
            field.setdefault("description", text)
    kind, facets = _datatype(field["name"], column.get("datatype", "string"))
    field["type"] = TYPES[kind]
    if field["type"] == "any":
        return {**field, "shoal": {"role": "ignore"}}
    constraints = {**LIMITS.get(kind, {}), **_limits(facets, field["type"])}
    if column.get("required") is True:
        constraints["required"] = True
    categories = _alternatives(facets.get("format")) if kind in ("string", "boolean") else None
    if categories is None:
        field.update(_format(field["type"], facets.get("format")))
    elif kind == "string" or {word.lower() for word in categories} not in FLAGS:
        field["type"] = "string"
        constraints["enum"] = categories
    if constraints:
        field["constraints"] = constraints
    nulls = column.get("null", "")
    words = [str(one) for one in (nulls if isinstance(nulls, list) else [nulls])]
    if words != [""]:
        field["missingValues"] = words
    return field


def _texts(value: Any, language: str) -> Iterator[str]:
    """Yield the texts of a natural-language property, the wanted language first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, language)
    elif isinstance(value, Mapping):
        order = sorted(value, key=lambda tag: (tag not in (language, "@value"), tag != "und"))
        for tag in order:
            if tag != "@language":
                yield from _texts(value[tag], language)


def _datatype(name: str, datatype: Any) -> tuple[str, Mapping[str, Any]]:
    facets = datatype if isinstance(datatype, Mapping) else {"base": datatype}
    kind = facets.get("base", "string")
    if kind not in TYPES:
        raise _wrong(f"column {name!r} must have a datatype of CSVW, got {kind!r}")
    return str(kind), facets


def _limits(facets: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the limits, which the closed interval of a Table Schema can say."""
    found: dict[str, Any] = {}
    for end, names in ENDS.items():
        for name in names:
            if name not in facets:
                continue
            value = facets[name]
            if kind in ("integer", "number", "year"):
                value = _number(name, value)
                if name.endswith("Exclusive") and kind != "number":
                    value += 1 if end == "minimum" else -1
            found[end] = value
    return found


def _number(name: str, value: Any) -> float | int:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise _wrong(f"{name} must be a number, got {value!r}") from None
    return int(number) if number.is_integer() else number


def _format(kind: str, given: Any) -> dict[str, Any]:
    """Return how values are written, as a Table Schema says it."""
    if kind in ("integer", "number") and isinstance(given, Mapping):
        return {key: given[key] for key in ("decimalChar", "groupChar") if key in given}
    if kind in ("date", "datetime") and isinstance(given, str):
        return {"format": re.sub(r"T|[a-zA-SU-Z]+", _date_part, given)}
    return {}


def _date_part(found: re.Match[str]) -> str:
    if found.group() not in DATE_PARTS:
        raise _wrong(f"a date's format must be made of {', '.join(DATE_PARTS)}")
    return DATE_PARTS[found.group()]


def _alternatives(pattern: Any) -> list[str] | None:
    """Return the values of a pattern that only lists them: A|B|C, perhaps as ^(A|B|C)$."""
    if not isinstance(pattern, str):
        return None
    inner = re.fullmatch(r"\^?\(?(?:\?:)?([^()^$]+)\)?\$?", pattern)
    if inner is None or "|" not in pattern:
        return None
    values = inner.group(1).split("|")
    plain = all(re.fullmatch(r"[^\\.*+?\[\]{}]+", value) for value in values)
    return values if plain and len(set(values)) == len(values) else None


def _wrong(rule: str) -> ParameterError:
    return ParameterError(f"CSVW metadata cannot be read: {rule}")
