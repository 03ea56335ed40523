"""Nothing of the records outlives a fit: all arrays of the process are looked through."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from helpers.kept_records import FEW, LATTICE, N, kept, records
from shoal.cluster import DPDensity, DPKMeans
from shoal.engines import ArrayEngine, StreamEngine, _parallel, nearest_statistics
from shoal.engines.stream_engine import LatticeJob, LatticeLabel
from shoal.tables import ArrowTable

BOX = (-1.0, 1.0)


def fit_centers():
    DPKMeans(3, bounds=BOX, random_state=0, method="lloyd").fit(records())


def fit_grid():
    DPKMeans(3, bounds=BOX, random_state=0, method="grid").fit(records())


def fit_density():
    DPDensity(bounds=BOX, random_state=0).fit(records())


def fit_wide():
    DPKMeans(3, bounds=BOX, random_state=0).fit(np.hstack([records()] * 10))


def predict():
    model = DPKMeans(3, bounds=BOX, random_state=0).fit(np.zeros((50, 2)))
    model.predict(records())


@pytest.fixture
def parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(dict(zip("ab", records().T, strict=True)))
    pq.write_table(table, tmp_path / "records.parquet")
    return tmp_path / "records.parquet"


WORK = [fit_centers, fit_grid, fit_density, fit_wide, predict]


def all_work():
    for work in WORK:
        work()


def test_nothing_is_left_in_the_main_thread():
    all_work()
    assert kept() < FEW


def test_nothing_is_left_in_a_thread_of_a_pool():
    with ThreadPoolExecutor(1) as pool:
        pool.submit(all_work).result()
        assert kept() < FEW  # the thread is still there


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("stream", [False, True])
def test_nothing_is_left_by_work_that_fails(failure, stream):
    def fail(part):
        _parallel.thread_scratch().take("columns", part.records.shape)[:] = part.records
        raise failure

    class Failing:
        rows = 1 << 20

        def __call__(self, part):
            return fail(part)

    def work():
        if stream:
            LatticeLabel(fail, LATTICE)(list(records().T))
        else:
            ArrayEngine(LATTICE.encode(records())).add_up(Failing())

    with pytest.raises(failure):
        work()
    sys.last_exc = None
    assert kept() < FEW


def test_nothing_is_left_by_streams(parquet):
    """As a worker of Spark folds the records of its partitions, and stays for the next ones."""
    table = ArrowTable(parquet, columns=["a", "b"])
    table.check()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(
            nearest_statistics, StreamEngine(table, LATTICE), np.zeros((2, 2), int)
        ).result()
        kernels = [np.zeros((2, 2), dtype=np.int64), np.ones((2, 2), dtype=np.int64)]

        def fold():
            from shoal.engines.nearest import NearestKernel

            for centers in kernels:
                one = LatticeJob(NearestKernel(centers), LATTICE, 2).start()
                one.add(list(records().T))
                one.result()

        pool.submit(fold).result()
        assert kept() < FEW


def test_the_walk_finds_what_is_kept():
    held = [LATTICE.encode(records()).astype(np.float64)]
    assert kept() > N
    held.clear()
    assert kept() < FEW
