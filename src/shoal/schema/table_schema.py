"""The file format: Frictionless Table Schema, with what shoal adds under one key of each field.

https://specs.frictionlessdata.io/table-schema: ``fields`` with ``name``, ``type``, ``constraints``
and ``missingValues``; ``categories`` and ``categoriesOrdered`` of version 2. Under ``shoal``:
``weight``, ``scale``, ``missing``, ``fill``, ``unit``, ``role``, ``other`` and the like. What the
standard has and shoal does not need is left aside; what it cannot read as it is meant is refused.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.exceptions import ParameterError
from shoal.schema.fields import Category, Field, Flag, Text
from shoal.schema.measures import Date, Number, Ordinal
from shoal.schema.places import Place

__all__ = ["field_from_dict", "field_to_dict", "import_table_schema", "read_json"]

NUMBERS = ("number", "integer", "year")
DATES = ("date", "datetime")
TYPES = ("string", "boolean", "any", "geopoint", *NUMBERS, *DATES)
USUAL_ROLE = "feature"  # of a file that says none
SHARED = ("weight", "missing", "fill", "unit", "role")
# What else the shoal key may hold, by the class of the field.
OWN: dict[type[Field], tuple[str, ...]] = {
    Number: ("scale",),
    Category: ("other",),
    Place: ("longitude", "latitude", "center", "radius"),
    Field: (),
    Date: (),
    Ordinal: (),
    Flag: (),
    Text: (),
}
# Of the standard, and nothing that shoal encodes.
NOT_ENCODED = ("time", "yearmonth", "duration", "object", "array", "list", "geojson")
UNREAD = {"decimalChar": ".", "groupChar": None, "bareNumber": True}  # as shoal reads numbers


def field_from_dict(plain: Any) -> Field:
    """Return the field that a description of the Table Schema means."""
    if not isinstance(plain, Mapping) or not isinstance(plain.get("name"), str):
        raise ParameterError(f"a field of a schema must be an object with a name, got {plain!r}")
    name = plain["name"]
    ours = plain.get("shoal", {})
    constraints = plain.get("constraints", {})
    for key, value in (("shoal", ours), ("constraints", constraints)):
        if not isinstance(value, Mapping):
            raise ParameterError(
                f"{key} of field {name!r} must be an object, got {value!r}", parameter=key
            )
    kind, kwargs = _kind_of(plain, constraints, ours)
    allowed = (*SHARED, *OWN.get(kind, ()))
    unknown = sorted(set(ours) - set(allowed))
    if unknown:
        raise ParameterError(
            f"shoal of field {name!r} must hold some of {allowed}, got {unknown[0]!r}"
        )
    if "missing" not in ours and constraints.get("required") is True:
        kwargs["missing"] = "refuse"
    for key in ("title", "description"):
        if plain.get(key) is not None:
            kwargs[key] = plain[key]
    kwargs["missing_values"] = _words(name, plain.get("missingValues", ()))
    return kind(name=name, **kwargs, **ours)


def field_to_dict(field: Field) -> dict[str, Any]:
    """Return the description of a field, without what is as usual."""
    plain: dict[str, Any] = {"name": field.name, "type": _type_of(field)}
    for key in ("title", "description"):
        if getattr(field, key):
            plain[key] = getattr(field, key)
    if field.missing_values:
        plain["missingValues"] = list(field.missing_values)
    constraints: dict[str, Any] = {"required": True} if field.missing == "refuse" else {}
    if isinstance(field, Date | Place) and field.format not in ("", "default"):
        plain["format"] = field.format
    if isinstance(field, Number | Date):
        bounds = {"minimum": field.minimum, "maximum": field.maximum}
        constraints |= {key: _whole(value) for key, value in bounds.items() if value is not None}
    elif isinstance(field, Ordinal):
        plain |= {"categories": list(field.categories), "categoriesOrdered": True}
    elif isinstance(field, Category) and not isinstance(field, Flag):
        constraints["enum"] = list(field.categories)
    if constraints:
        plain["constraints"] = constraints
    usual = type(field)(name=field.name)
    kept = [key for key in SHARED if (key, field.missing) != ("missing", "refuse")]
    ours = {
        key: _whole(getattr(field, key))
        for key in (*kept, *OWN.get(type(field), ()))
        if getattr(field, key) != (USUAL_ROLE if key == "role" else getattr(usual, key))
    }
    return {**plain, **({"shoal": ours} if ours else {})}


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return what a JSON file holds."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as failure:
        raise ParameterError(
            f"schema must be a JSON file, got {str(path)!r}: {failure.strerror}",
            parameter="schema",
            code="format",
        ) from None
    except (TypeError, ValueError, RecursionError):  # also no path, and what is not UTF-8
        raise ParameterError(
            f"schema must be a JSON file, got {str(path)!r}, which is no JSON",
            parameter="schema",
            code="format",
        ) from None


def import_table_schema(
    source: str | os.PathLike[str] | Mapping[str, Any], *, table: str | None = None
) -> dict[str, Any]:
    """Convert a Table Schema from another source to one for :meth:`Schema.from_dict`.

    Parameters
    ----------
    source : path-like or dict
        A Table Schema of Frictionless, or a Data Resource or Data Package that contains one.
    table : str, default=None
        Name or file name of the resource, if there are several.

    Returns
    -------
    schema : dict
        A Table Schema. Fields of types that shoal does not encode, such as durations, have the
        role ``"ignore"``.

    Raises
    ------
    ParameterError
        If there is no schema, or there are several and ``table`` does not choose one.

    Examples
    --------
    >>> from shoal.schema import import_table_schema
    >>> fields = [{"name": "took", "type": "duration"}]
    >>> package = {"resources": [{"path": "people.csv", "schema": {"fields": fields}}]}
    >>> import_table_schema(package)
    {'fields': [{'name': 'took', 'type': 'any', 'shoal': {'role': 'ignore'}}]}
    """
    plain = source if isinstance(source, Mapping) else read_json(source)
    resources = plain.get("resources", [plain]) if isinstance(plain, Mapping) else []
    if not isinstance(resources, list) or not all(isinstance(one, Mapping) for one in resources):
        raise ParameterError("resources of a data package must be a list of objects")
    if len(resources) > 1:
        known = {str(one.get("name", one.get("path", ""))): one for one in resources}
        resources = [
            one
            for name, one in known.items()
            if table is not None and table in (name, str(one.get("path", "")).rpartition("/")[2])
        ]
        if len(resources) != 1:
            raise ParameterError(
                f"one resource of a data package must be meant, got {table!r} where there are "
                f"{sorted(known)}"
            )
    schema = resources[0].get("schema", resources[0]) if resources else None
    if not isinstance(schema, Mapping) or not isinstance(schema.get("fields"), list):
        raise ParameterError(
            "a schema must be a JSON object with a list of fields, got something else"
        )
    return {**schema, "fields": [_tidied(field) for field in schema["fields"]]}


def _tidied(field: Any) -> Any:
    if not isinstance(field, Mapping) or field.get("type") not in NOT_ENCODED:
        return field
    kept = {key: field[key] for key in ("name", "title", "description") if key in field}
    return {**kept, "type": "any", "shoal": {"role": "ignore"}}


def _kind_of(
    plain: Mapping[str, Any], constraints: Mapping[str, Any], ours: Mapping[str, Any]
) -> tuple[type[Field], dict[str, Any]]:
    """Return the class of a field, and what is declared outside the shoal key."""
    name, kind = plain["name"], plain.get("type", "any")
    listed = plain.get("categories", constraints.get("enum"))
    bounds = {key: constraints[key] for key in ("minimum", "maximum") if key in constraints}
    if listed is not None and kind in ("string", "any", *NUMBERS):
        ordered = plain.get("categoriesOrdered") is True
        return (Ordinal if ordered else Category), {"categories": _labels(name, listed)}
    if kind in NUMBERS:
        _refuse_formats(plain)
        return Number, {**bounds, "whole": kind != "number"}
    if kind in DATES:
        pattern = plain.get("format", "default")
        return Date, {**bounds, "format": "" if pattern in ("default", "any") else pattern}
    unread = ours.get("role") in ("user", "ignore")
    named: dict[str, type[Field]] = {
        "boolean": Flag,
        "any": Field,
        "string": Category,
        "geopoint": Place,
    }
    if unread and kind not in ("boolean", "geopoint"):
        return Field, {}
    if kind == "string" and ours.get("role") == "describe":
        return Text, {}
    if not isinstance(kind, str) or kind not in named:
        raise ParameterError(
            f"type of field {name!r} must be one of {TYPES}, got {kind!r}: give the field the "
            "role 'ignore'",
            parameter="type",
            code="choice",
        )
    return named[kind], {"format": plain.get("format", "default")} if kind == "geopoint" else {}


def _labels(name: str, listed: Any) -> list[Any]:
    """Return the values of categories, which version 2 may give labels."""
    if not isinstance(listed, list | tuple):
        raise ParameterError(
            f"categories of field {name!r} must be a list, got {listed!r}",
            parameter="categories",
            code="type",
        )
    return [one["value"] if isinstance(one, Mapping) and "value" in one else one for one in listed]


def _words(name: str, values: Any) -> tuple[str, ...]:
    """Return the text of missing values, which version 2 may give labels."""
    if isinstance(values, str) or not isinstance(values, list | tuple):
        raise ParameterError(f"missingValues of field {name!r} must be a list, got {values!r}")
    return tuple(
        str(one["value"]) if isinstance(one, Mapping) and "value" in one else str(one)
        for one in values
    )


def _refuse_formats(plain: Mapping[str, Any]) -> None:
    for key, usual in UNREAD.items():
        if plain.get(key, usual) != usual:
            raise ParameterError(
                f"{key} of field {plain['name']!r} must be left out, got {plain[key]!r}: write "
                "numbers as 1234.5",
                parameter=key,
                code="unexpected",
            )


def _type_of(field: Field) -> str:
    if isinstance(field, Number) and field.whole:
        return "integer"
    return field.type


def _whole(value: Any) -> Any:
    """Write whole numbers as such, and pairs as lists."""
    if isinstance(value, tuple):
        return [_whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
