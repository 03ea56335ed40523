"""What every estimator that takes a schema promises: the same bits wherever the records are."""

import numpy as np
import pytest
from sklearn.base import clone

from helpers.engine_equivalence import outcome
from helpers.mixed_tables import IN_MEMORY, mixed_columns, write_folder
from shoal.cluster import ClusterProfile, DPKMeans
from shoal.exceptions import DataError, ParameterError
from shoal.schema import Category, Date, Flag, Number, Place, Schema
from shoal.tables import ArrowTable, read_table
from subjects import having, subject

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120),
        Number("income", minimum=0, maximum=1e6, scale="log", missing="fill", fill=1000),
        Category("city", ["A", "B", "NA"], weight=2.0),
    ]
)
# Cells have no place for a missing number.
CELLS = Schema(
    [
        Number("age", minimum=0, maximum=120, missing="fill", fill=40),
        Number("income", minimum=0, maximum=1e6, scale="log", missing="fill", fill=1000),
    ]
)
# Everything there is, for those who take any number of columns.
FULL = Schema(
    [
        *SCHEMA.fields,
        Flag("member"),
        Date("joined", minimum="2010-01-01", maximum="2026-12-31"),
        Place("home", longitude="lon", latitude="lat", center=(24.9, 60.2), radius=50.0),
    ]
)
COLUMNS = mixed_columns(3, n=90)


def described(row):
    """Return a row's estimator for tables with a schema, at an epsilon where noise matters."""
    changes = {"schema": CELLS if "cells" in row.tags else SCHEMA}
    if "metric" in row.tags:
        changes["unit"] = ""  # meters are for places
    if row.tags >= {"central"} and "cells" not in row.tags:
        changes["epsilon"] = 1.0
    return row.make(bounds=None, **changes)


DESCRIBED = {one.name: described(one) for one in having("schema", "any columns")}
CENTRAL = {one.name: DESCRIBED[one.name] for one in having("schema", "any columns", "central")}
CENTRAL["DPKMeans-full"] = DPKMeans(3, schema=FULL)
PROFILED = DPKMeans(3, schema=FULL, random_state=0).fit(COLUMNS)
CENTRAL["ClusterProfile"] = ClusterProfile(PROFILED.release_)
FORMS = ("pandas", "pandas, nullable", "polars", "Arrow", "text")
EVERY_FORM = ("DPKMeans", "DPKMeans-full", "ClusterProfile")  # the others read tables as these do


@pytest.fixture(scope="module")
def expected():
    """Return what an estimator makes of the columns as they are, once."""
    found = {}

    def of(name):
        if name not in found:
            found[name] = outcome(CENTRAL[name], COLUMNS)[1:]
        return found[name]

    return of


def test_those_that_take_a_schema_are_checked():
    assert {"DPKMeans", "Laplace", "Piecewise"} <= set(DESCRIBED)


@pytest.mark.parametrize("name", CENTRAL)
def test_same_release_from_every_table(name, expected, tmp_path):
    schema = CENTRAL[name].schema or FULL
    folder = write_folder(tmp_path / "folder", COLUMNS)
    tables = {"folder": ArrowTable(folder, schema=schema, threads=2, memory=0)}
    if name in EVERY_FORM:
        tables |= {form: IN_MEMORY[form](COLUMNS) for form in FORMS}
        tables["path"] = folder
    if name == "DPKMeans":
        tables["at once"] = read_table(one_csv_file(tmp_path), schema=schema)
    for form, table in tables.items():
        assert outcome(CENTRAL[name], table)[1:] == expected(name), form


def one_csv_file(tmp_path):
    """Write all records to one file of text."""
    return write_folder(tmp_path / "text", COLUMNS, "csv", files=1) / "part-0.csv"


@pytest.mark.parametrize("name", [name for name in DESCRIBED if name not in CENTRAL])
def test_same_reports_from_every_table(name):
    mechanism = DESCRIBED[name].set_params(random_state=0)
    row = subject(name)
    reports = row.output(clone(mechanism), COLUMNS)
    cells = "partition" in row.reported
    assert reports.shape == (90, 2 if cells else SCHEMA.space.columns)
    for form in ("pandas", "polars", "text"):
        assert row.output(clone(mechanism), IN_MEMORY[form](COLUMNS)).tobytes() == reports.tobytes()


@pytest.mark.parametrize("name", ["DPKMeans", "DPKMeans-full"])
def test_labels_follow_from_each_record_alone(name):
    model = clone(CENTRAL[name]).set_params(random_state=0).fit(COLUMNS)
    labels = model.predict(IN_MEMORY["polars"](COLUMNS))
    assert (labels == model.labels_).all()
    one = {column: values[5:6] for column, values in COLUMNS.items()}
    assert model.predict(one).tolist() == labels[5:6].tolist()


@pytest.mark.parametrize("name", DESCRIBED)
def test_bad_schemas_and_tables_are_one_line(name):
    model, run = clone(DESCRIBED[name]), subject(name).output
    for settings, table, kind in (
        ({"bounds": (0.0, 1.0)}, COLUMNS, ParameterError),
        ({"schema": Schema([Number("age", minimum=0)])}, COLUMNS, ParameterError),
        ({"schema": "people.json"}, COLUMNS, ParameterError),
        ({}, {"age": [1.0]}, DataError),
        ({}, np.zeros((3, 5)), DataError),
        ({}, {**COLUMNS, "age": ["98765x"] * 90}, DataError),
        ({}, {column: [] for column in COLUMNS}, DataError),
    ):
        with pytest.raises(kind) as refused:
            run(clone(model).set_params(**settings), table)
        assert "\n" not in str(refused.value)
        assert "98765" not in str(refused.value)
