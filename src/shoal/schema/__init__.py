"""The public description of a table: fields, and the encoding that follows from them alone."""

from shoal.schema.columns import (
    MISSING_NUMBERS,
    Column,
    named_columns,
    parse_doubles,
    plain_column,
    raw_columns,
    read_numbers,
    to_texts,
)
from shoal.schema.encoder import SchemaEncoder
from shoal.schema.fields import Category, Field, Flag, Text
from shoal.schema.measures import Date, Number, Ordinal
from shoal.schema.places import Place
from shoal.schema.schema import Schema
from shoal.schema.space import EncodedSpace, Part
from shoal.schema.table_schema import import_table_schema

__all__ = [
    "MISSING_NUMBERS",
    "Category",
    "Column",
    "Date",
    "EncodedSpace",
    "Field",
    "Flag",
    "Number",
    "Ordinal",
    "Part",
    "Place",
    "Schema",
    "SchemaEncoder",
    "Text",
    "import_table_schema",
    "named_columns",
    "parse_doubles",
    "plain_column",
    "raw_columns",
    "read_numbers",
    "to_texts",
]
