"""Bad tables are refused in one line that says nothing about a record, and nothing is spent."""

import datetime
import functools
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from contracts.promises import roomy_limits
from helpers.ledgers import roomy_ledger
from shoal.cluster import DPKMeans
from shoal.exceptions import DataError, ShoalError
from shoal.privacy import Ledger
from shoal.tables import ArrowTable
from subjects import having, subject

pytestmark = pytest.mark.filterwarnings("ignore:X has feature names")

N = 2357
MARK = 7654321.0
X = np.random.default_rng(0).normal(size=(N, 2))
X[7] = MARK


def spoiled(value):
    records = X.copy()
    records[11, 0] = value
    return records


def mixed(value):
    return [*X[:-1].tolist(), [value, MARK]]


NAMES = ["alice", *["bob"] * (N - 1)]
TABLES = {
    "nan": spoiled(np.nan),
    "inf": spoiled(np.inf),
    "nan in a frame": pd.DataFrame(spoiled(np.nan), columns=["a", "b"]),
    "gaps": pl.DataFrame({"a": [None, *[MARK] * (N - 1)]}),
    "one dimension": X[:, 0],
    "three dimensions": X[:, :, None],
    "no columns": np.empty((N, 0)),
    "no records": X[:0],
    "ragged": [*X.tolist(), [MARK]],
    "text": mixed("alice"),
    "numbers as text": mixed("7654321"),
    "text array": X.astype(str),
    "bytes": mixed(b"alice"),
    "nothing": mixed(None),
    "objects": mixed({"alice": MARK}),
    "lists": mixed([MARK]),
    "dates": mixed(datetime.date(2001, 2, 3)),
    "days": np.full((N, 2), "2001-02-03", dtype="M8[D]"),
    "no day": np.full((N, 2), "NaT", dtype="M8[ns]"),
    "spans": np.full((N, 2), 7654321, dtype="m8[s]"),
    "a day": mixed(np.datetime64("2001-02-03")),
    "a span": mixed(np.timedelta64(7654321, "s")),
    "a day in a list": [*X.tolist(), [np.datetime64("2001-02-03"), MARK]],
    "days in a list": [*X[1:], np.array(["2001-02-03"] * 2, dtype="M8[ns]")],
    "bytes of Python": mixed(bytearray(b"7654321")),
    "masked": np.ma.array(X, mask=np.arange(2 * N).reshape(N, 2) == 7),
    "masked in a list": [np.ma.array(row, mask=[True, False]) for row in X],
    "text series": pd.Series(NAMES, dtype=object),
    "complex": mixed(MARK * 1j),
    "beyond float64": mixed(10**400 + 7654321),
    "text column": pd.DataFrame({"a": X[:, 0], "b": NAMES}),
    "text column, polars": pl.DataFrame({"a": X[:, 0], "b": NAMES}),
    "text column, arrow": pa.table({"a": X[:, 0], "b": NAMES}),
    "text in a batch": pa.record_batch({"a": X[:, 0], "b": ["7654321"] * N}),
    "days in a batch": pa.record_batch({"a": [datetime.datetime(2001, 2, 3)] * N}),
    "categories": pd.DataFrame({"a": pd.Categorical(NAMES)}),
    "categories, polars": pl.DataFrame(
        {"a": pl.Series(NAMES, dtype=pl.Enum(["alice", "bob"])), "b": X[:, 0]}
    ),
    "dictionary, arrow": pa.table({"a": pa.array(NAMES).dictionary_encode()}),
    "repeated columns": pd.DataFrame(X, columns=["a", "a"]),
    "repeated columns, arrow": pa.table([X[:, 0], X[:, 1]], names=["a", "a"]),
    "dates, pandas": pd.DataFrame({"a": pd.to_datetime(["2001-02-03"] * N)}),
    "number": MARK,
    "set": {MARK},
    "no table": None,
}


def check(refused):
    """Look at the whole chain of errors: a traceback prints it."""
    error = refused.value
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    text = str(error)
    assert "\n" not in text
    assert not re.search(r"\b2[,_]?357\b|\b2[,_]?35[68]\b", text), text
    assert not re.search(r"7\.?654|alice|2001", text), text


@functools.cache
def fitted(name):
    """Fit an estimator once, with a ledger that shows whether anything is spent later."""
    row = subject(name)
    estimator = row.make(ledger=roomy_ledger(**roomy_limits(row)))
    row.output(estimator, X)
    return estimator


def refuses(name, table, methods):
    """Expect every method to refuse a table, and to spend nothing."""
    estimator = fitted(name)
    entries = len(estimator.ledger)
    asked = [method for method in methods if hasattr(estimator, method)]
    for method in asked:
        refusing = clone(estimator) if method.startswith("fit") else estimator
        with pytest.raises(ShoalError) as refused:
            getattr(refusing, method)(table)
        check(refused)
        assert str(refused.value).startswith("X ")
        if method.startswith("fit"):
            assert isinstance(refused.value, DataError)
            assert str(refused.value).startswith("X must")
    assert len(estimator.ledger) == entries


FITS = ("fit", "fit_predict", "fit_transform")
ASKS = ("predict", "transform", "score")


# All kinds in each trust model; tables are read in one place.
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", ["DPKMeans", "Laplace"])
def test_bad_tables(name, kind):
    refuses(name, TABLES[kind], FITS + ASKS)


@pytest.mark.parametrize("name", [one.name for one in having("any columns")])
def test_every_estimator_reads_tables_so(name):
    for kind in ("nan", "ragged", "text column", "masked", "no records"):
        refuses(name, TABLES[kind], FITS + ASKS)


@pytest.mark.parametrize("name", [one.name for one in having("class")])
def test_other_columns(name):
    for records in (X[:, :1], np.hstack([X, X]), pd.DataFrame(X[:, :1], columns=["a"])):
        refuses(name, records, ASKS)


WEIGHTS = {
    "few": np.ones(N - 1),
    "many": np.full(N + 1, MARK),
    "table": np.ones((N, 1)),
    "ragged": [[MARK], *[[1.0, 2.0]] * (N - 1)],
    "below 0": np.where(np.arange(N) == 7, -MARK, 1.0),
    "nan": np.where(np.arange(N) == 7, np.nan, MARK),
    "masked": np.ma.array(np.ones(N), mask=np.arange(N) == 7),
    "zero": np.zeros(N),
    "text": ["alice"] * N,
    "number": MARK,
}
IDS = {
    "few": np.arange(N - 1),
    "many": [int(MARK)] * (N + 1),
    "table": np.ones((N, 1), dtype=int),
    "floats": np.full(N, MARK),
    "one float": [*range(N - 1), MARK],
    "missing": ["alice", *[None] * (N - 1)],
    "not UTF-8": pa.array([b"alice\xff"] * N).view(pa.string()),
    "dates": [datetime.date(2001, 2, 3)] * N,
    "tuples": [("alice", int(MARK))] * N,
    "number": int(MARK),
    "text": "alice",
}


@pytest.mark.parametrize(
    ("name", "kind"), [("sample_weight", k) for k in WEIGHTS] + [("user_ids", k) for k in IDS]
)
def test_bad_contributions(name, kind):
    ledger = Ledger(epsilon=1.0)
    model = DPKMeans(bounds=(-1.0, 1.0), ledger=ledger)
    with pytest.raises(ShoalError) as refused:
        model.fit(X, **{name: (WEIGHTS if name == "sample_weight" else IDS)[kind]})
    check(refused)
    assert str(refused.value).startswith(f"{name} must")
    assert len(ledger) == 0


def fit_file(estimator, path, **words):
    return clone(estimator).fit(ArrowTable(path, columns=["a"], **words))


@pytest.mark.parametrize("name", ["DPDensity", "DPKMeans", "DPWaveCluster-oneshot", "PrivateCopy"])
def test_bad_files(name, tmp_path):
    """Records that are read later are refused as records in memory are."""
    for kind, table in {
        "nan": pa.table({"a": spoiled(np.nan)[:, 0]}),
        "gaps": pa.table({"a": pa.array([None, *[MARK] * (N - 1)], pa.float64())}),
        "text": pa.table({"a": NAMES}),
        "dictionary": pa.table({"a": pa.array(NAMES).dictionary_encode()}),
        "no records": pa.table({"a": X[:0, 0]}),
    }.items():
        pq.write_table(table, tmp_path / f"{kind}.parquet")
        for words in ({}, {"memory": 0}):
            with pytest.raises(DataError) as refused:
                fit_file(subject(name).make(), tmp_path / f"{kind}.parquet", **words)
            check(refused)
