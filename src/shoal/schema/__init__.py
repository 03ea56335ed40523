"""Public descriptions of tables: a :class:`Schema` lists fields, which say how to encode records.

A field declares the type, the bounds or categories, and the treatment of missing values of a
column. The encoding follows from the schema alone and learns nothing from records.
``SchemaEncoder`` is imported on first use: it needs scikit-learn, whose import takes seconds, and
reading a table does not.
"""

import importlib
from typing import TYPE_CHECKING, Any

from shoal.schema.columns import named_columns, plain_column, raw_columns
from shoal.schema.descriptions import FieldPoints, describe_points
from shoal.schema.fields import Category, Field, Flag, Text
from shoal.schema.measures import Date, Number, Ordinal
from shoal.schema.places import Place
from shoal.schema.schema import Schema
from shoal.schema.space import EncodedSpace, Part
from shoal.schema.table_schema import import_table_schema
from shoal.schema.values import (
    MISSING_NUMBERS,
    Column,
    parse_day,
    parse_doubles,
    read_numbers,
    to_texts,
)

if TYPE_CHECKING:
    from shoal.schema.encoder import SchemaEncoder

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
    "Place",
    "Schema",
    "SchemaEncoder",
    "Text",
    "describe_points",
    "import_table_schema",
    "named_columns",
    "parse_day",
    "parse_doubles",
    "plain_column",
    "raw_columns",
    "read_numbers",
    "to_texts",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name != "SchemaEncoder":
            raise AttributeError(f"module 'shoal.schema' has no attribute {name!r}")
        return importlib.import_module("shoal.schema.encoder").SchemaEncoder
