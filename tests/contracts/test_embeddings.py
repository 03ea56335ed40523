"""Embeddings as users have them: narrow floats, memory maps, files of numpy, columns of lists."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from helpers.engine_equivalence import ESTIMATORS, outcome, records
from shoal.cluster import DPKMeans
from shoal.cluster._engines import open_engine
from shoal.engines import ArrayEngine, StreamEngine, nearest_statistics, stream_engine
from shoal.exceptions import DataError, DataTypeError
from shoal.mechanisms import Laplace
from shoal.noise import Lattice
from shoal.tables import ArrayTable, ArrowTable, array_table

X = np.clip(records(), -1e30, 1e30).astype(np.float32)
WIDE = np.random.default_rng(1).normal(0.0, 0.3, (2000, 40)).astype(np.float32)
KMEANS = DPKMeans(4, bounds=(-20.0, 20.0))


def lists(X, width=None):
    """Return records as a column of Arrow, of lists or of lists of a fixed size."""
    if width is None:
        return pa.array(list(X), pa.list_(pa.from_numpy_dtype(X.dtype)))
    return pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), width)


@pytest.fixture
def files(tmp_path):
    """The same records in files of every kind."""
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    np.savez(tmp_path / "x.npz", words=np.array(["w"] * len(X)), vectors=X)
    (tmp_path / "lists").mkdir()
    for part, rows in enumerate(np.array_split(np.arange(len(X)), 3)):
        kind = lists(X[rows], 3) if part == 1 else lists(X[rows])
        table = pa.table({"name": ["x"] * len(rows), "v": kind})
        pq.write_table(table, tmp_path / "lists" / f"{part}.parquet", row_group_size=300)
    pq.write_table(pa.table({"v": lists(X)}), tmp_path / "alone.parquet")
    return tmp_path


def sources(folder):
    """Yield the same records from every place."""
    yield "float32", X
    yield "strided", np.repeat(X, 2, axis=0)[::2]
    yield "memory map", np.load(folder / "x.npy", mmap_mode="r")
    yield "part of a memory map", np.load(folder / "x.npy", mmap_mode="r")[:]
    yield "npy", folder / "x.npy"
    yield "npy by column", str(folder / "f.npy")
    yield "npz", folder / "x.npz"
    yield "npz by name", f"{folder / 'x.npz'}::vectors"
    yield "streamed Parquet", ArrowTable(folder / "lists", columns=["v"], memory=0)
    yield "Parquet", ArrowTable(folder / "lists", columns=["v"])
    yield "dataset", ds.dataset(folder / "alone.parquet")
    yield "Arrow", pa.table({"v": lists(X, 3)})
    yield "pandas", pd.DataFrame({"v": list(X)})
    yield "polars", pl.DataFrame({"v": X})


@pytest.mark.parametrize("held", [2**30, 0])
def test_the_same_bits_from_every_place(files, held, subtests, monkeypatch):
    """With nothing held, memory maps are read anew in every pass."""
    monkeypatch.setattr(array_table, "HELD", held)
    monkeypatch.setattr(array_table, "BLOCK_VALUES", 999)
    reference, *expected = outcome(KMEANS, X.astype(np.float64))
    for name, table in sources(files):
        with subtests.test(name):
            model, *found = outcome(KMEANS, table)
            assert found == expected
            assert not hasattr(model, "feature_names_in_")
            assert (reference.predict(table) == reference.labels_).all()
            if not isinstance(table, ArrowTable | ds.Dataset):
                assert (model.labels_ == reference.labels_).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator(name, files, monkeypatch):
    monkeypatch.setattr(array_table, "HELD", 0)
    expected = outcome(ESTIMATORS[name], X.astype(np.float64))[1:]
    assert outcome(ESTIMATORS[name], X)[1:] == expected
    assert outcome(ESTIMATORS[name], files / "x.npy")[1:] == expected
    assert outcome(ESTIMATORS[name], ArrowTable(files / "lists", columns=["v"]))[1:] == expected


def test_directions_from_every_place(files, monkeypatch, subtests):
    monkeypatch.setattr(array_table, "HELD", 0)
    monkeypatch.setattr(array_table, "BLOCK_VALUES", 999)
    model = DPKMeans(4, metric="cosine")
    reference, *expected = outcome(model, X.astype(np.float64))
    for name, table in sources(files):
        with subtests.test(name):
            assert outcome(model, table)[1:] == tuple(expected)
            assert (reference.predict(table) == reference.labels_).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_many_columns(dtype):
    table = WIDE.astype(dtype)
    model = DPKMeans(4, delta=1e-6, bounds=(-1.0, 1.0))
    assert outcome(model, table)[1:] == outcome(model, table.astype(np.float64))[1:]


def test_weights_and_users(tmp_path, monkeypatch):
    monkeypatch.setattr(array_table, "HELD", 0)
    np.save(tmp_path / "x.npy", X)
    given = {"sample_weight": np.linspace(0, 1, len(X)), "user_ids": np.arange(len(X)) // 3}
    releases = [
        DPKMeans(4, bounds=(-20.0, 20.0), random_state=0).fit(table, **given).release_.to_json()
        for table in (X.astype(np.float64), X, tmp_path / "x.npy")
    ]
    assert len(set(releases)) == 1


@pytest.mark.parametrize("place", ["array", "memory map", "streamed", "Parquet"])
@pytest.mark.parametrize("d", [3, 40])
def test_unit_length_is_the_same_everywhere(place, d, tmp_path, monkeypatch):
    table = (X if d == 3 else WIDE)[:, :d].copy()
    table[5] = 0.0
    expected = open_engine(ArrayTable(table.astype(np.float64)), lattice(d), unit_length=True)
    np.save(tmp_path / "x.npy", table)
    pq.write_table(pa.table({"v": lists(table)}), tmp_path / "x.parquet", row_group_size=700)
    monkeypatch.setattr(array_table, "HELD", 0 if place == "streamed" else 2**30)
    given: ArrayTable | ArrowTable = ArrayTable(np.asfortranarray(table))
    if place in ("memory map", "streamed"):
        given = ArrayTable(np.load(tmp_path / "x.npy", mmap_mode="r"))
    elif place == "Parquet":
        given = ArrowTable(tmp_path / "x.parquet", columns=["v"], memory=0)
        given.check()
    engine = open_engine(given, lattice(d), unit_length=True)
    assert isinstance(engine, StreamEngine if place in ("streamed", "Parquet") else ArrayEngine)
    assert all(map(np.array_equal, statistics(engine, d), statistics(expected, d)))
    plain = open_engine(ArrayTable(table), lattice(d))
    assert not all(map(np.array_equal, statistics(plain, d), statistics(expected, d)))


def lattice(d):
    return Lattice.box(np.full(d, -1.0), np.full(d, 1.0))


def statistics(engine, d):
    centers = np.random.default_rng(3).integers(-(2**17), 2**17, (5, d))
    found = nearest_statistics(engine, centers)
    return [found.counts, found.sums]


def peak(fit):
    """Return the most bytes that were taken during a fit."""
    tracemalloc.start()
    try:
        fit()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_no_copy_of_all_records_but_the_lattice(tmp_path, monkeypatch):
    """A float64 copy alone would take twice the lattice."""
    n, d = 400_000, 64
    large = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    np.save(tmp_path / "x.npy", large)
    held = 4 * n * d
    slack = 60 * 2**20  # blocks of two threads, and what kernels keep
    monkeypatch.setattr(array_table, "usable_threads", lambda: 2)

    def fitted(table):
        # Gaussian steps of one pass: what they keep is small.
        DPKMeans(2, delta=1e-6, bounds=(-4.0, 4.0), method="lloyd", max_iter=1).fit(table)

    assert peak(lambda: fitted(large)) < held + slack
    assert peak(lambda: fitted(tmp_path / "x.npy")) < held + slack
    monkeypatch.setattr(array_table, "HELD", 0)
    monkeypatch.setattr(stream_engine, "MAX_VALUES", 1 << 20)
    assert peak(lambda: fitted(tmp_path / "x.npy")) < slack < 0.7 * held


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_bad_numbers_are_refused_before_anything_is_spent(tmp_path, bad, dtype):
    table = np.zeros((50, 4), dtype)
    table[20, 2] = bad
    np.save(tmp_path / "x.npy", table)
    pq.write_table(pa.table({"v": lists(table)}), tmp_path / "x.parquet")
    for given in (table, tmp_path / "x.npy", ArrowTable(tmp_path / "x.parquet", columns=["v"])):
        with pytest.raises(DataError, match="finite numbers, got NaN or inf"):
            DPKMeans(2, bounds=(-1.0, 1.0)).fit(given)


def test_refusals_of_lists_in_files(tmp_path):
    cells = {"short": [[1.0, 2.0], [98765.0]], "text": [["a"], ["b"]]}
    more = {"none": [[1.0], None], "hole": [[1.0, 2.0], [1.0, None]], "w": [1.0, 2.0]}
    file = tmp_path / "x.parquet"
    empty = {"empty": pa.array([[], []], pa.list_(pa.float32()))}
    pq.write_table(pa.table(cells | more | empty), file)
    for columns, text in {
        ("short",): "lists of one length",
        ("empty",): "lists of one length",
        ("text",): "column 'text' must hold numbers, got list",
        ("none",): "finite numbers",
        ("hole",): "finite numbers",
        ("w", "short"): "column 'short' must hold numbers, .* or it alone",
    }.items():
        with pytest.raises(DataError, match=text) as refused:
            DPKMeans(2, bounds=(-1.0, 1.0)).fit(ArrowTable(file, columns=columns))
        assert "98765" not in str(refused.value)


def test_columns_of_fit_are_compared(files):
    model = KMEANS.fit(files / "x.npy")
    with pytest.raises(DataError, match="expecting 3 features"):
        model.predict(WIDE)
    pq.write_table(pa.table({"v": lists(WIDE)}), files / "wide.parquet")
    with pytest.raises(DataError, match="columns of fit"):
        model.predict(ArrowTable(files / "wide.parquet", columns=["v"]))


def test_users_of_a_column_of_lists_have_its_index():
    column = pd.Series(list(X))
    users = pd.Series(np.arange(len(X)) // 3)[::-1]
    with pytest.raises(DataError, match="user_ids must have the index of X"):
        KMEANS.fit(column, user_ids=users)


def test_names_of_an_earlier_fit_are_forgotten(files):
    model = DPKMeans(4, bounds=(-20.0, 20.0)).fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    assert model.release_.values["columns"] == ["a", "b", "c"]
    table = ArrowTable(files / "lists", columns=["v"])
    assert model.fit(table).release_.values["columns"] is None
    assert len(model.predict(table)) == len(X)


def test_reports_of_narrow_floats_and_lists(files, tmp_path):
    mechanism = Laplace(bounds=(-20.0, 20.0), random_state=0)
    expected = mechanism.fit_transform(X.astype(np.float64))
    assert (mechanism.fit_transform(X) == expected).all()
    assert (mechanism.fit_transform(files / "x.npy") == expected).all()
    table = ArrowTable(files / "lists", columns=["v"])
    with pytest.raises(DataTypeError, match="reports must be of columns of numbers, got a column"):
        mechanism.fit(table).transform(table, out=tmp_path / "reports")
