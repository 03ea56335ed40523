"""The public description of a table: fields, and the encoding that follows from them alone."""

from shoal.schema.columns import (
    MISSING_NUMBERS,
    Column,
    named_columns,
    parse_doubles,
    plain_column,
    raw_columns,
    read_numbers,
)
from shoal.schema.descriptions import FieldPoints, describe_points
from shoal.schema.encoder import SchemaEncoder
from shoal.schema.fields import Category, Field, Flag, Text
from shoal.schema.measures import Date, Number, Ordinal
from shoal.schema.schema import Schema
from shoal.schema.space import EncodedSpace, Part

__all__ = [
    "MISSING_NUMBERS",
    "Category",
    "Column",
    "Date",
    "EncodedSpace",
    "Field",
    "FieldPoints",
    "Flag",
    "Number",
    "Ordinal",
    "Part",
    "Schema",
    "SchemaEncoder",
    "Text",
    "describe_points",
    "named_columns",
    "parse_doubles",
    "plain_column",
    "raw_columns",
    "read_numbers",
]
