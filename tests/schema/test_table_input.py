"""Estimators take encoded records from a schema's own tables only."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from shoal import Category, Number, Schema
from shoal._table_input import validate_table
from shoal.cluster import learn_schema
from shoal.exceptions import DataError, ParameterError
from shoal.schema import Field
from shoal.tables import ArrayTable, read_table

SCHEMA = Schema([Number("age", minimum=0, maximum=100), Category("city", ["A", "B"])])
TABLE = {"age": [10, None], "city": ["A", "zz"]}


def open_encoded(X, schema=SCHEMA, **kwargs):
    return validate_table(X, estimator=BaseEstimator(), schema=schema, **kwargs)


def test_columns_are_noted_as_the_table_has_them():
    estimator = BaseEstimator()
    table = validate_table(TABLE, estimator=estimator, schema=SCHEMA)
    assert np.array_equal(table.X, SCHEMA.encode(TABLE))
    assert list(estimator.feature_names_in_) == ["age", "city"]
    assert open_encoded(table).X is table.X


@pytest.mark.parametrize("row", [[0.5, 0, 1, 1, 0, 0], [2.0, 0, 0, 0, 0, 0], [0.5, 0, 0, 0, 0, 0]])
def test_records_that_no_encoder_made_are_refused(row):
    """A record with two cities would move sums by more than noise is made for."""
    X = np.array([row]) * SCHEMA.space.widths
    with pytest.raises(DataError, match="read with the schema"):
        open_encoded(ArrayTable(X, SCHEMA.space.names, schema=SCHEMA))


def test_tables_of_another_schema_are_refused():
    other = Schema([Number("age", minimum=0, maximum=50), Category("city", ["A", "B"])])
    with pytest.raises(DataError, match="read with the schema"):
        open_encoded(ArrayTable(other.encode(TABLE), other.space.names, schema=other))
    with pytest.raises(ParameterError, match="must be a Schema"):
        open_encoded(TABLE, schema={"fields": []})


def test_a_promise_to_people_needs_to_know_them():
    schema = Schema([*SCHEMA.fields, Field("id", role="user")])
    with pytest.raises(DataError, match="got none named 'id'"):
        open_encoded(TABLE, schema)
    with pytest.raises(DataError, match="whose record each row is"):
        open_encoded(ArrayTable(schema.encode(TABLE), schema.space.names, schema=schema), schema)
    assert list(open_encoded({**TABLE, "id": [7, 8]}, schema).user_ids) == [7, 8]
    assert open_encoded(TABLE, schema, reset=False).user_ids is None  # predict asks for none


@pytest.mark.parametrize("word", ["", " ", "NA", "?", "unknown"])
def test_rows_of_nobody_are_not_those_of_one_user(word, tmp_path):
    """Without the first of them, the row of another person would count in its place."""
    nobody = Field("id", role="user", missing_values=["unknown"])
    schema = Schema([*SCHEMA.fields, nobody], missing_values=("?",))
    template = replace(schema, fields=[Number("age", minimum=0), *schema.fields[1:]])
    table = {**TABLE, "id": ["7", word]}
    (tmp_path / "people.csv").write_text(f"age,city,id\n10,A,7\n20,B,{word}\n")
    for X in (table, pd.DataFrame(table)):
        with pytest.raises(DataError, match="got rows without"):
            open_encoded(X, schema)
        with pytest.raises(DataError, match="got rows without"):
            learn_schema(X, template, epsilon=1.0)
    with pytest.raises(DataError, match="got rows without"):
        read_table(tmp_path / "people.csv", schema=schema)


def test_users_that_a_table_knows_are_not_forgotten_with_a_schema(tmp_path):
    (tmp_path / "people.csv").write_text("age,city,id\n10,A,7\n20,B,7\n")
    table = read_table(tmp_path / "people.csv", schema=SCHEMA, user="id")
    with pytest.raises(ParameterError, match="user_ids must be given"):
        open_encoded(table)
    assert open_encoded(table, user_ids=table.user_ids) is table
    assert open_encoded(table, reset=False) is table


def test_columns_of_pandas_belong_to_the_same_rows():
    frame = pd.DataFrame(TABLE)
    mixed = {"age": frame["age"], "city": frame["city"][::-1]}
    with pytest.raises(DataError, match="one index"):
        open_encoded(mixed)
    assert len(open_encoded({**mixed, "city": mixed["city"].to_numpy()}).X) == 2
