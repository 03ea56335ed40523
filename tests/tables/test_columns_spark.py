"""Records of a schema are the same numbers in Spark as in memory, whatever Spark's types are."""

import datetime
import decimal

import numpy as np
import pytest

from helpers.mixed_tables import SCHEMA, SPARK_TYPES, mixed_columns
from helpers.spark import SPARK, spark_session
from shoal._table_input import validate_table
from shoal.cluster import DPKMeans
from shoal.exceptions import DataError
from shoal.schema import Category, Date, Flag, Number, Schema
from shoal.tables import SparkTable

pytestmark = SPARK


class Rows:
    """Keeps the blocks of a partition, as integers of their bits."""

    looks = True

    def start(self):
        return Kept()

    def combine(self, parts):
        return (np.concatenate([part[0] for part in parts]),)


class Kept:
    def __init__(self):
        self.blocks = []

    def add(self, block):
        self.blocks.append(np.array(block).T.copy().view(np.int64))

    def result(self):
        return (np.concatenate(self.blocks),)


def encoded(frame, schema):
    """Return the records of a frame as Spark's workers encode them."""
    return SparkTable(frame, schema=schema).fold(Rows())[0].view(np.float64)


def test_same_bits_as_in_memory():
    columns = mixed_columns(0)
    rows = list(zip(*columns.values(), strict=True))
    frame = spark_session().createDataFrame(rows, SPARK_TYPES).coalesce(1)
    assert encoded(frame, SCHEMA).tobytes() == SCHEMA.encode(columns).tobytes()


MOON = datetime.datetime(1969, 7, 20, 20, 17, 40, 1)
# A column of each type: its field, a value, and what that means.
CELLS = {
    "decimal(20,4)": (Number("a", minimum=-10, maximum=10), decimal.Decimal("2.5000"), 2.5),
    "decimal(38,0)": (Category("b", [1]), decimal.Decimal(1), 1),
    "float": (Category("c", [2.5]), 2.5, 2.5),
    "tinyint": (Flag("d"), 1, True),
    "string": (Category("e", [2.5]), " 2.50 ", 2.5),
    "bigint": (Number("f", minimum=-10, maximum=10), 2**63 - 1, 10),
    # An instant, in whatever zone the session shows it.
    "timestamp": (Date("g", minimum="1960-01-01", maximum="2030-01-01"), MOON, MOON.astimezone()),
}


def test_types_of_spark():
    schema = Schema([field for field, _, _ in CELLS.values()])
    types = ", ".join(f"{field.name} {kind}" for kind, (field, _, _) in CELLS.items())
    rows = [[cell for _, cell, _ in CELLS.values()], [None] * len(CELLS)]
    frame = spark_session().createDataFrame([tuple(row) for row in rows], types).coalesce(1)
    expected = {field.name: [meaning, None] for field, _, meaning in CELLS.values()}
    assert encoded(frame, schema).tobytes() == schema.encode(expected).tobytes()


def test_a_column_that_is_something_else_is_one_line():
    frame = spark_session().createDataFrame([("98765x",)], "age string").coalesce(1)
    schema = Schema([Number("age", minimum=0, maximum=120)])
    with pytest.raises(DataError, match="'age' must hold numbers") as refused:
        validate_table(frame, estimator=DPKMeans(), schema=schema).check()
    assert "98765" not in str(refused.value)
