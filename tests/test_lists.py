"""Columns of lists in memory: one table of numbers, whoever made them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal._lists import array_of_lists
from shoal._records import column_names, validate_floats, validate_records
from shoal.exceptions import DataError, DataTypeError

X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
FIXED = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 4)
LISTS = pa.array(list(X), pa.list_(pa.float32()))
LARGE = pa.array(list(X), pa.large_list(pa.float32()))
HALF = pa.array(list(X.astype(np.float16)), pa.list_(pa.float16()))

COLUMNS = {
    "Arrow, fixed": pa.table({"v": FIXED}),
    "Arrow, a part": pa.table({"v": FIXED}).slice(0, 60),
    "Arrow, batch": pa.record_batch({"v": LISTS}),
    "Arrow, chunks": pa.chunked_array([LISTS[:7], LISTS[7:7], LISTS[7:]]),
    "Arrow, array": LARGE,
    "pandas of arrays": pd.DataFrame({"v": list(X)}),
    "pandas of lists": pd.DataFrame({"v": X.tolist()}),
    "pandas of Arrow": pd.DataFrame({"v": pd.Series(FIXED, dtype=pd.ArrowDtype(FIXED.type))}),
    "pandas column": pd.Series(list(X), name="v"),
    "polars, fixed": pl.DataFrame({"v": X}),
    "polars of lists": pl.DataFrame({"v": X.tolist()}),
    "polars column": pl.Series("v", X.tolist()),
    "array of arrays": pd.Series(list(X)).to_numpy(),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_lists_is_a_table(column):
    assert (validate_records(column) == X).all()
    assert column_names(column) is None


@pytest.mark.parametrize("name", ["Arrow, fixed", "Arrow, chunks", "pandas of arrays"])
def test_precision_stays(name):
    assert validate_floats(COLUMNS[name]).dtype == np.float32
    assert validate_floats(pa.table({"v": HALF})).dtype == np.float16
    assert validate_floats(pl.DataFrame({"v": X})).dtype == np.float32


def test_a_part_of_an_arrow_column_is_that_part():
    assert (array_of_lists(LISTS[20:30]) == X[20:30]).all()
    assert (array_of_lists(FIXED[20:30]) == X[20:30]).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ([[98765.0, 2.0], [3.0]], "lists of one length"),
        ([[], []], "lists of one length"),
        ([["98765"], ["x"]], "lists of numbers"),
        ([[98765.0, 2.0], None], "finite numbers"),
        ([[98765.0, 2.0], [3.0, float("nan")]], "finite numbers"),
        ([[[98765.0]], [[2.0]]], "lists of numbers"),
    ],
)
def test_refusals(make, cells, text):
    with pytest.raises(DataError, match=f"^X must hold {text}") as refused:
        validate_records(make({"v": cells}))
    assert "98765" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_lists_beside_other_columns(make):
    with pytest.raises(DataTypeError, match="in column 'v': drop it, or pass it alone"):
        validate_records(make({"v": [[1.0, 2.0]], "w": [1.0]}))


def test_columns_of_text_are_no_lists():
    for frame in (pd.DataFrame({"v": ["ab", "cd"]}), pl.DataFrame({"v": ["ab", "cd"]})):
        assert array_of_lists(frame) is None
        with pytest.raises(DataTypeError, match="numbers only"):
            validate_records(frame)
