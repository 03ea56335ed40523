"""The file format: Frictionless Table Schema, with what shoal adds under one key of each field.

https://specs.frictionlessdata.io/table-schema: ``fields`` with ``name``, ``type``, ``constraints``
and ``missingValues``; ``categories`` and ``categoriesOrdered`` of version 2. Under ``shoal``:
``weight``, ``scale``, ``missing``, ``fill``, ``unit``, ``role``, ``other`` and the like. ``keys``
lists what the standard has: what changes nothing about how a value is read is left aside, and what
cannot be read as it is meant is refused, as is every other key.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal import _numbers
from shoal._json_text import read_json as read_strictly
from shoal.exceptions import ParameterError
from shoal.schema.fields import Category, Field, Flag, Text
from shoal.schema.keys import DATES, LISTED, NOT_ENCODED, NUMBERS, check_field, check_keys
from shoal.schema.measures import Date, Number, Ordinal
from shoal.schema.places import Place

__all__ = ["field_from_dict", "field_to_dict", "import_table_schema", "read_json", "words_of"]

USUAL_ROLE = "feature"  # of a file that says none
SHARED = ("weight", "missing", "fill", "unit", "role")
NO_SCHEMA = "a schema must be a JSON object with a list of fields, got something else"
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
# Of a data package and its resources; only the dialect and the encoding say how values are read.
PACKAGE = (
    "resources", "name", "id", "title", "description", "profile", "$schema", "homepage", "version",
    "created", "keywords", "contributors", "sources", "licenses", "image",
)  # fmt: skip
RESOURCE = (
    "name", "path", "data", "schema", "title", "description", "type", "profile", "$schema",
    "format", "mediatype", "encoding", "bytes", "hash", "sources", "licenses", "homepage",
    "dialect",
)  # fmt: skip
# How shoal reads CSV files, whatever the dialect of a resource says.
DIALECT = {
    "delimiter": ",",
    "quoteChar": '"',
    "doubleQuote": True,
    "header": True,
    "headerRows": [1],
    "skipInitialSpace": False,
}
ENCODINGS = ("utf-8", "utf8", "utf-8-sig", "ascii")
DIALECT_ASIDE = ("$schema", "profile", "lineTerminator", "csvddfVersion", "caseSensitiveHeader")


def field_from_dict(plain: Any) -> Field:
    """Return the field that a description of the Table Schema means."""
    if not isinstance(plain, Mapping) or not isinstance(plain.get("name"), str):
        raise ParameterError(
            f"a field of a schema must be an object with a name, got {_numbers.shown(plain)}"
        )
    name = plain["name"]
    ours = plain.get("shoal", {})
    constraints = plain.get("constraints", {})
    for key, value in (("shoal", ours), ("constraints", constraints)):
        if not isinstance(value, Mapping):
            raise ParameterError(
                f"{key} of field {name!r} must be an object, got {value!r}", parameter=key
            )
    check_field(plain, constraints, ours)
    kind, kwargs = _kind_of(plain, constraints, ours)
    check_keys(ours, "shoal", f"field {_numbers.shown(name)}", (*SHARED, *OWN[kind]))
    if _is_true(name, constraints, "required"):
        if ours.get("missing", "refuse") != "refuse":
            raise ParameterError(
                f"missing of field {name!r} must be 'refuse' or left out where a value is "
                f"required, got {_numbers.shown(ours['missing'])}",
                parameter="missing",
                code="conflict",
            )
        kwargs["missing"] = "refuse"
    for key in ("title", "description"):
        if plain.get(key) is not None:
            kwargs[key] = plain[key]
    kwargs["missing_values"] = words_of("missingValues", plain, f"field {_numbers.shown(name)}")
    return kind(**{"name": name, **kwargs, **ours})


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
    elif isinstance(field, Flag):
        for key, words in (("trueValues", field.true_values), ("falseValues", field.false_values)):
            if words:
                plain[key] = list(words)
    elif isinstance(field, Category):
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
        return read_strictly(Path(path).read_text(encoding="utf-8"))
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
    if not isinstance(plain, Mapping):
        raise ParameterError(NO_SCHEMA, parameter="schema", code="format")
    resources = plain.get("resources", [plain])
    if not isinstance(resources, list) or not all(isinstance(one, Mapping) for one in resources):
        raise ParameterError("resources of a data package must be a list of objects")
    if "resources" in plain:
        check_keys(plain, "package", "a data package", PACKAGE)
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
    schema = resources[0] if resources else None
    if isinstance(schema, Mapping) and "schema" in schema:
        _check_resource(schema)
        schema = schema["schema"]
    if not isinstance(schema, Mapping) or not isinstance(schema.get("fields"), list):
        raise ParameterError(NO_SCHEMA, parameter="schema", code="format")
    return {**schema, "fields": [_tidied(field) for field in schema["fields"]]}


def _check_resource(resource: Mapping[str, Any]) -> None:
    """Refuse what a resource says about its file if shoal would read the file otherwise."""
    check_keys(resource, "resource", "a data resource", RESOURCE)
    dialect = resource.get("dialect", {})
    if not isinstance(dialect, Mapping):
        raise ParameterError(
            f"dialect must be an object, got {_numbers.shown(dialect)}",
            parameter="dialect",
            code="type",
        )
    check_keys(dialect, "dialect", "a data resource's dialect", (*DIALECT, *DIALECT_ASIDE))
    wrong = {key: value for key, value in dialect.items() if DIALECT.get(key, value) != value}
    if str(resource.get("encoding", "utf-8")).lower() not in ENCODINGS:
        wrong["encoding"] = resource["encoding"]
    for key, value in wrong.items():
        raise ParameterError(
            f"{key} of a data resource must be as shoal reads CSV, got {_numbers.shown(value)}: "
            "write the file with commas, double quotes and one header line, in UTF-8",
            parameter=key,
            code="unsupported",
        )


def _tidied(field: Any) -> Any:
    encoded = not isinstance(field, Mapping) or field.get("type") not in NOT_ENCODED
    if encoded or "shoal" in field:
        return field
    return {**field, "type": "any", "shoal": {"role": "ignore"}}


def _kind_of(
    plain: Mapping[str, Any], constraints: Mapping[str, Any], ours: Mapping[str, Any]
) -> tuple[type[Field], dict[str, Any]]:
    """Return the class of a field, and what is declared outside the shoal key."""
    name, kind = plain["name"], plain.get("type", "any")
    bounds = {key: constraints[key] for key in ("minimum", "maximum") if key in constraints}
    ordered = _is_true(name, plain, "categoriesOrdered")
    listed = [given for given in (plain, constraints) if {"categories", "enum"} & set(given)]
    if (listed or ordered) and kind in LISTED:
        if len(listed) > 1 or bounds:
            raise ParameterError(
                f"categories of field {name!r} must be the only statement of its values, got "
                f"{'two lists' if len(listed) > 1 else 'bounds, too'}",
                parameter="categories",
                code="conflict",
            )
        given = {**plain, **constraints}
        values = given.get("categories", given.get("enum", ()))
        labels = _values("categories", values, f"field {_numbers.shown(name)}")
        return (Ordinal if ordered else Category), {"categories": labels}
    pattern = plain.get("format", "default")
    if kind in NUMBERS:
        return Number, {**bounds, "whole": kind != "number"}
    if kind in DATES:
        return Date, {**bounds, "format": "" if pattern in ("default", "any") else pattern}
    if kind == "boolean":
        truths = {"true_values": "trueValues", "false_values": "falseValues"}
        of = f"field {_numbers.shown(name)}"
        return Flag, {own: words_of(key, plain, of) for own, key in truths.items()}
    if kind == "geopoint":
        return Place, {"format": pattern}
    role, named = ours.get("role", USUAL_ROLE), Field
    if kind == "string" and role != "user":
        named = Text if role in Text.roles else Category
    return named, {}


def words_of(key: str, plain: Mapping[str, Any], of: str, usual: Any = ()) -> tuple[str, ...]:
    """Return a list of text, of which version 2 may give labels; numbers are text, too."""
    words = _values(key, plain.get(key, usual), of)
    if not all(isinstance(word, str | int | float) for word in words):
        raise ParameterError(f"{key} of {of} must be a list of text", parameter=key, code="type")
    return tuple(map(str, words))


def _values(key: str, listed: Any, of: str) -> list[Any]:
    """Return the values of a list, which version 2 may give labels."""
    if not isinstance(listed, list | tuple):
        raise ParameterError(
            f"{key} of {of} must be a list, got {_numbers.shown(listed)}",
            parameter=key,
            code="type",
        )
    for one in listed:
        if isinstance(one, Mapping):
            check_keys(one, key, f"{key} of {of}", ("value", "label"))
            if "value" not in one:
                raise ParameterError(
                    f"{key} of {of} must have a value with each label, got none",
                    parameter=key,
                    code="missing",
                )
    return [one["value"] if isinstance(one, Mapping) else one for one in listed]


def _is_true(name: str, plain: Mapping[str, Any], key: str) -> bool:
    if not isinstance(plain.get(key, False), bool):
        raise ParameterError(
            f"{key} of field {name!r} must be true or false, got {_numbers.shown(plain[key])}",
            parameter=key,
            code="type",
        )
    return bool(plain.get(key, False))


def _type_of(field: Field) -> str:
    if isinstance(field, Number) and field.whole:
        return "integer"
    return field.type


def _whole(value: Any) -> Any:
    """Write whole numbers as such, and pairs as lists."""
    if isinstance(value, tuple):
        return [_whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
