"""Every central estimator gives the same bits wherever its records are."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from helpers.engine_equivalence import (
    ESTIMATORS,
    LATTICE,
    NAMES,
    STATISTICS,
    arrays,
    named,
    outcome,
    plane_labels,
    records,
    write_files,
)
from shoal.engines import ArrayEngine, StreamEngine
from shoal.tables import ArrowTable

X = records()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the folder with so many files of one kind."""
    made = {}

    def folder(number, kind="parquet"):
        if (number, kind) not in made:
            path = tmp_path_factory.mktemp(f"{kind}-{number}")
            made[number, kind] = write_files(path, X, number, kind)
        return made[number, kind]

    return folder


@pytest.fixture(scope="module")
def in_memory():
    """Return what an estimator finds in a data frame, once."""
    found = {}

    def of(name):
        if name not in found:
            found[name] = outcome(ESTIMATORS[name], named(X))
        return found[name]

    return of


def test_an_entry_of_the_ledger_is_compared(in_memory):
    _, release, spends = in_memory("DPKMeans")
    assert json.loads(release)["values"]
    assert len(json.loads(spends)) == 1
    assert outcome(ESTIMATORS["DPKMeans"], named(X), seed=12)[1] != release


FEW = ["DPDensity", "DPKMeans", "DPWaveCluster-oneshot", "DPKMeans-private-bounds"]


@pytest.mark.parametrize(
    ("name", "number"), [*((k, 7) for k in ESTIMATORS), *((k, 1) for k in FEW)]
)
def test_files(name, number, files, in_memory):
    table = ArrowTable(files(number), columns=NAMES, memory=0)
    model, release, spends = outcome(ESTIMATORS[name], table)
    reference, *same = in_memory(name)
    assert [release, spends] == same
    assert model.feature_names_in_.tolist() == NAMES
    assert not hasattr(model, "labels_")
    if hasattr(reference, "labels_"):
        assert (model.predict(files(number)) == reference.labels_).all()


@pytest.mark.parametrize("name", FEW)
def test_files_that_fit_in_memory(name, files, in_memory):
    table = ArrowTable(files(7), columns=NAMES)
    assert outcome(ESTIMATORS[name], table)[1:] == in_memory(name)[1:]
    assert table.fits_in_memory


@pytest.mark.parametrize(("kind", "threads"), [("feather", 3), ("csv", 1), ("csv", 3)])
@pytest.mark.parametrize("name", FEW)
def test_other_kinds_of_files(name, kind, threads, files, in_memory):
    table = ArrowTable(files(3, kind), columns=NAMES, threads=threads, memory=0)
    assert outcome(ESTIMATORS[name], table)[1:] == in_memory(name)[1:]


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_of_files(name, files):
    table = ArrowTable(files(7), columns=NAMES, memory=0)
    table.check()
    found = STATISTICS[name](StreamEngine(table, LATTICE))
    lattice = LATTICE.encode(X).astype(np.int32)
    for given in (lattice, np.asfortranarray(lattice)):
        for threads, rows in ((1, None), (3, 170)):
            engine = ArrayEngine(given, threads=threads, rows=rows)
            assert arrays(STATISTICS[name](engine)) == arrays(found)


def test_labels_of_projected_files(files):
    table = ArrowTable(files(3), columns=NAMES, memory=0)
    table.check()
    labels = plane_labels(StreamEngine(table, LATTICE))
    assert (labels == plane_labels(ArrayEngine(LATTICE.encode(X)))).all()


def test_a_dataset(tmp_path, in_memory):
    """Columns need not be chosen where all are numbers: its names are in the curator's hands."""
    write_files(tmp_path / "named", X, 2)
    table = ds.dataset(tmp_path / "named").to_table(columns=NAMES)
    pq.write_table(table, tmp_path / "plain.parquet")
    source = ds.dataset(tmp_path / "plain.parquet")
    assert outcome(ESTIMATORS["DPKMeans"], source)[1:] == in_memory("DPKMeans")[1:]


def test_narrow_numbers_are_those_of_an_array(tmp_path):
    """Whole numbers, single precision and booleans become the doubles that numpy makes of them."""
    rng = np.random.default_rng(0)
    columns: dict[str, np.ndarray] = {
        "a": rng.integers(-9, 9, 500).astype(np.int8),
        "b": rng.normal(size=500).astype(np.float32),
        "c": rng.random(500) < 0.3,
        "d": rng.integers(-(2**62), 2**62, 500),
    }
    pq.write_table(pa.table(columns), tmp_path / "narrow.parquet")
    array = np.column_stack([column.astype(np.float64) for column in columns.values()])
    estimator = ESTIMATORS["DPKMeans"]
    table = ArrowTable(tmp_path / "narrow.parquet", columns=list(columns))
    assert outcome(estimator, table)[1:] == outcome(estimator, named(array, columns))[1:]
