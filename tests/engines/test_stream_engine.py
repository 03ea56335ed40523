"""Statistics of records that are handed out in blocks: those of an array, whatever the blocks."""

import itertools
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import engine_equivalence
from shoal.engines import (
    HALF,
    ArrayEngine,
    StreamEngine,
    adaptive_counts,
    column_counts,
    grid_counts,
    load_array_engine,
    magnitude_counts,
    nearest_centers,
    nearest_statistics,
    sparse_grid_counts,
    stream_engine,
    total_weight,
)
from shoal.engines.grid import GridKernel
from shoal.engines.nearest import NearestKernel
from shoal.engines.stream_engine import LatticeJob
from shoal.exceptions import DataError
from shoal.noise import Lattice
from shoal.tables import ArrowTable

D = 3
LATTICE = Lattice.box(np.full(D, -2.0), np.full(D, 2.0), half=HALF)
rng = np.random.default_rng(8)
X = rng.normal(size=(700, D))
X[:3] = [[-2.0] * D, [2.0] * D, [np.nextafter(2.0, 3.0)] * D]
CENTERS = rng.integers(-HALF, HALF, (6, D))

STATISTICS = {
    "nearest": lambda engine: nearest_statistics(engine, CENTERS),
    "cube": lambda engine: nearest_statistics(engine, CENTERS, clip_radius=2**17),
    "ball": lambda engine: nearest_statistics(engine, CENTERS, clip_radius=2**17, shape="ball"),
    "grid": lambda engine: grid_counts(engine, (5, 6, 7)),
    "columns": lambda engine: column_counts(engine, 9),
    "adaptive": lambda engine: adaptive_counts(engine, 2, np.arange(1, 9)),
    "sparse": lambda engine: sparse_grid_counts(engine, (100, 100, 100)),
    "weight": total_weight,
    **engine_equivalence.STATISTICS,
}


class Blocks:
    """Records in blocks that end where the test says, shared out among some workers."""

    def __init__(self, records, ends, workers=1):
        self.columns, self.rows = records.shape[1], len(records)
        places = [0, *sorted(ends), len(records)]
        self.blocks = [
            [np.ascontiguousarray(column) for column in records[start:stop].T]
            for start, stop in itertools.pairwise(places)
        ]
        self.workers = workers

    def fold(self, job):
        job = pickle.loads(pickle.dumps(job))  # as it would travel to another machine
        folds = [job.start() for _ in range(self.workers)]
        for place, block in enumerate(self.blocks):
            folds[place % self.workers].add(block)
        return job.combine([fold.result() for fold in folds])

    def collect(self, label):
        return np.concatenate([label(block) for block in self.blocks])


def values(found):
    """Return all arrays of a statistic."""
    parts = vars(found).values() if hasattr(found, "__dict__") else [found]
    return [np.asarray(part) for part in parts]


def same(one, other):
    return all(
        a.dtype == b.dtype and (a == b).all()
        for a, b in zip(values(one), values(other), strict=True)
    )


@pytest.fixture(scope="module")
def expected():
    engine = ArrayEngine(LATTICE.encode(X).astype(np.int32))
    return {name: statistic(engine) for name, statistic in STATISTICS.items()}


@pytest.mark.parametrize("name", STATISTICS)
def test_the_statistics_of_an_array(name, expected, monkeypatch, subtests):
    """Parts are filled to the last row, whatever the blocks; 1 row: a part for each record."""
    for workers in [1, 4]:
        with subtests.test(workers=workers):
            for rows in [1, 64, 1 << 14]:
                monkeypatch.setattr(stream_engine, "MIN_ROWS", 1)
                monkeypatch.setattr(stream_engine, "MAX_VALUES", rows * D)
                engine = StreamEngine(Blocks(X, [1, 64, 65, 65, 400], workers), LATTICE)
                assert same(STATISTICS[name](engine), expected[name])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    ends=st.lists(st.integers(0, len(X)), max_size=6),
    workers=st.integers(1, 9),
    rows=st.integers(1, 900),
)
def test_any_blocks(ends, workers, rows):
    kernel = NearestKernel(CENTERS, 2**17)
    job = LatticeJob(kernel, LATTICE, D)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_engine, "MIN_ROWS", 1)
        patch.setattr(stream_engine, "MAX_VALUES", rows * D)
        found = Blocks(X, ends, workers).fold(job)
    whole = ArrayEngine(LATTICE.encode(X).astype(np.int32)).add_up(kernel)
    assert all((a == b).all() for a, b in zip(found, whole, strict=True))


def test_magnitudes():
    assert (magnitude_counts(Blocks(X, [5, 300], 2)) == magnitude_counts(X)).all()


def test_labels():
    engine = StreamEngine(Blocks(X, [5, 300]), LATTICE)
    assert (nearest_centers(engine, CENTERS) == nearest_centers(LATTICE.encode(X), CENTERS)).all()


def test_no_records_give_zeros():
    for kernel in (GridKernel((2, 2, 2), HALF), NearestKernel(CENTERS)):
        found = LatticeJob(kernel, LATTICE, D).start().result()
        assert not any(part.any() for part in found)


def test_a_part_is_no_longer_than_memory_allows():
    """Kernels that like long parts get them only while there are few columns."""
    wide = LatticeJob(GridKernel((2,) * 20 + (1,) * 4000, HALF), LATTICE, 4020).start()
    assert wide._lattice.nbytes <= 4 * stream_engine.MAX_VALUES


def test_too_many_columns_are_refused():
    with pytest.raises(DataError, match="1 to 8192 columns, got 8193"):
        StreamEngine(Blocks(np.zeros((1, 8193)), []), LATTICE)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_pass_looks_at_records_again(bad, tmp_path):
    """They were looked at before the spend; files may have changed since."""
    wrong = X.copy()
    wrong[-1, 1] = bad
    engine = StreamEngine(Blocks(wrong, [300]), LATTICE)
    for statistic in STATISTICS.values():
        if statistic is not total_weight:
            with pytest.raises(DataError, match="finite"):
                statistic(engine)
    with pytest.raises(DataError, match="finite"):
        nearest_centers(engine, CENTERS)
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(D)}), path)
    table = ArrowTable(path, columns=[f"x{j}" for j in range(D)])
    table.check()
    pq.write_table(pa.table({f"x{j}": wrong[:, j] for j in range(D)}), path)
    for reading in (lambda: load_array_engine(table, LATTICE), lambda: magnitude_counts(table)):
        with pytest.raises(DataError, match=r"finite|damaged"):
            reading()


def test_held_records_are_those_of_the_files(tmp_path, expected):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(D)}), path, row_group_size=90)
    table = ArrowTable(path, columns=[f"x{j}" for j in range(D)], threads=3)
    assert not table.fits_in_memory  # before they are counted
    table.check()
    assert table.fits_in_memory
    engine = load_array_engine(table, LATTICE)
    for name, statistic in STATISTICS.items():
        assert same(statistic(engine), expected[name])
    labels = nearest_centers(engine, CENTERS)
    assert (labels == nearest_centers(LATTICE.encode(X), CENTERS)).all()
    pq.write_table(pa.table({f"x{j}": X[:-1, j] for j in range(D)}), path, row_group_size=90)
    with pytest.raises(DataError, match=r"stay as it is|damaged"):
        load_array_engine(table, LATTICE)
