"""Nothing of the records outlives a fit: all arrays of the process are looked through."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from shoal.cluster import DPDensity, DPKMeans
from shoal.engines import HALF, ArrayEngine, StreamEngine, _parallel, nearest_statistics
from shoal.engines.stream_engine import LatticeJob, LatticeLabel
from shoal.noise import Lattice
from shoal.tables import ArrowTable

N = 5_000
FEW = 20  # numbers that two arrays share by chance: cells, labels and sizes are small
BOX = (-1.0, 1.0)
LATTICE = Lattice.box(np.full(2, -1.0), np.full(2, 1.0), half=HALF)


def records():
    """Return records whose lattice indices no other array holds by chance."""
    return np.random.default_rng(7).uniform(-1.0, 1.0, (N, 2))


def arrays():
    """Return all arrays that anything of this process refers to."""
    gc.collect()
    # A dictionary of arrays alone is no concern of the collector: it is reached from its owner.
    waiting = gc.get_objects()
    seen, found = {id(one) for one in waiting}, []
    while waiting:
        for one in gc.get_referents(waiting.pop()):
            if id(one) not in seen:
                seen.add(id(one))
                waiting.append(one)
                if isinstance(one, np.ndarray):
                    found.append(one)
    return found


def kept():
    """Return the largest number of lattice indices of records that an array holds."""
    alive = arrays()  # before there are those that they are compared with
    indices = np.unique(LATTICE.encode(records()))
    indices = indices[np.abs(indices) > 2**12]
    most = 0
    for one in alive:
        if one.dtype.kind in "iuf" and one.size >= FEW:
            # Memory that is used again holds numbers of another width, too.
            views = [one, one.ravel().view(np.int32) if one.dtype == np.float64 else one]
            held = max(int(np.isin(indices, view).sum()) for view in views)
            # All whole numbers in a row hold those of the records as well.
            if held >= FEW and held > len(np.unique(one)) / 50:
                most = max(most, held)
    return most


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
