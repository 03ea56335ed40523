import os
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from shoal.engines import ArrayEngine, Part, _parallel, total_weight
from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.tables import usable_threads

HALF = 2**19


class Watch:
    """A kernel that writes down the parts it gets and who asks."""

    def __init__(self, rows):
        self.rows = rows
        self.parts = []
        self.threads = set()
        self.blas = set()

    def __call__(self, part):
        self.parts.append(part)
        self.threads.add(threading.get_ident())
        self.blas |= blas_threads()
        return (part.records.sum(axis=0, dtype=np.int64), np.array([len(part.records)]))


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_each_record_is_in_one_part(subtests):
    for n, rows in [(0, 5), (1, 5), (5, 5), (6, 5), (100, 7), (1000, 999)]:
        with subtests.test(n=n, rows=rows):
            for threads in [None, 1, 2, 7]:
                records = np.arange(2 * n, dtype=np.int32).reshape(n, 2)
                watch = Watch(rows)
                sums, count = ArrayEngine(records, threads=threads).add_up(watch)
                assert count.tolist() == [n]
                assert sums.tolist() == records.sum(axis=0).tolist()
                assert max(len(part.records) for part in watch.parts) <= rows
                together = np.concatenate([part.records for part in watch.parts])
                assert (together[together[:, 0].argsort()] == records).all()


def test_parts_are_views_and_split_evenly():
    records = np.zeros((1001, 2), dtype=np.int32)
    watch = Watch(300)
    ArrayEngine(records, threads=3).add_up(watch)
    assert all(np.shares_memory(part.records, records) for part in watch.parts)
    assert sorted(len(part.records) for part in watch.parts) == [166, 167, 167, 167, 167, 167]


def test_one_part_runs_in_the_calling_thread():
    watch = Watch(100)
    ArrayEngine(np.zeros((100, 2), dtype=np.int32), threads=4).add_up(watch)
    assert watch.threads == {threading.get_ident()}


def test_threads_and_blas_do_not_multiply():
    before = blas_threads()
    watch = Watch(10)
    ArrayEngine(np.zeros((100, 2), dtype=np.int32), threads=3).add_up(watch)
    assert threading.get_ident() not in watch.threads
    assert 1 <= len(watch.threads) <= 3
    assert watch.blas == {1}
    assert blas_threads() == before


def test_the_last_engine_to_finish_restores_blas(monkeypatch):
    class Blas:
        threads = 8

        @contextmanager
        def limit(self, limits):
            before, self.threads = self.threads, limits
            yield
            self.threads = before

    blas = Blas()
    monkeypatch.setattr(_parallel, "_blas", lambda: blas)
    first, second = _parallel.one_blas_thread(), _parallel.one_blas_thread()
    first.__enter__()
    second.__enter__()
    assert blas.threads == 1
    first.__exit__(None, None, None)
    assert blas.threads == 1
    second.__exit__(None, None, None)
    assert blas.threads == 8


def test_as_many_threads_as_the_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert usable_threads() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_threads() == os.cpu_count()


def test_an_error_in_a_part_reaches_the_caller():
    def kernel(part):
        raise MemoryError

    kernel.rows = 1
    with pytest.raises(MemoryError):
        ArrayEngine(np.zeros((5, 1), dtype=np.int32), threads=2).add_up(kernel)


def test_total_weight():
    records = np.zeros((1000, 2), dtype=np.int32)
    assert total_weight(records) == 1000
    assert total_weight(records[:0]) == 0
    for rows in (1, 10, 1000):
        engine = ArrayEngine(records, np.full(1000, 256), rows=rows, threads=2)
        assert total_weight(engine) == 256_000


@pytest.mark.parametrize("make", [lambda r: r, lambda r: r[::2], lambda r: r.astype("u4")])
def test_other_integers_are_copied(make):
    given = make(np.arange(40).reshape(10, 4))
    watch = Watch(100)
    ArrayEngine(given).add_up(watch)
    records = watch.parts[0].records
    assert records.dtype == np.int32
    assert records.flags.c_contiguous
    assert (records == given).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_contiguous_records_are_used_in_place(order):
    given = np.array(np.arange(40).reshape(10, 4), dtype=np.int32, order=order)
    watch = Watch(3)
    ArrayEngine(given, threads=1).add_up(watch)
    assert all(np.shares_memory(part.records, given) for part in watch.parts)
    copied = Watch(100)
    ArrayEngine(given.astype(np.int64)).add_up(copied)
    assert copied.parts[0].records.strides == given.strides


def test_bad_records(subtests):
    for records, options, error in [
        (np.zeros(3, dtype=int), {}, DataError),
        (np.zeros((3, 0), dtype=int), {}, DataError),
        (np.zeros((3, 8193), dtype=int), {}, DataError),
        (np.zeros((3, 2)), {}, DataTypeError),
        (np.array([[HALF + 1]]), {}, DataError),
        (np.array([[-HALF - 1]]), {}, DataError),
        (np.array([[2**32]]), {}, DataError),
        (np.zeros((3, 2), dtype=int), {"weights": np.ones(2, dtype=int)}, DataError),
        (np.zeros((3, 2), dtype=int), {"weights": np.ones(3)}, DataTypeError),
        (np.zeros((1, 2), dtype=int), {"weights": np.array([-1])}, DataError),
        (np.zeros((1, 2), dtype=int), {"weights": np.array([257])}, DataError),
        (np.zeros((1, 2), dtype=int), {"threads": 0}, ParameterError),
        (np.zeros((1, 2), dtype=int), {"rows": 2**24 + 1}, ParameterError),
    ]:
        with subtests.test(records=records, options=options, error=error):
            with pytest.raises(error) as caught:
                ArrayEngine(records, **options)
            for secret in ("524289", "4294967296", "257"):  # no value of a record in a message
                assert secret not in str(caught.value)


def test_a_part_too_long_to_be_exact_is_refused():
    records = np.broadcast_to(np.zeros(1, dtype=np.int32), (2**24 + 1, 1))
    with pytest.raises(DataError, match="split"):
        Part(records)


def test_blocks_cover_a_part():
    part = Part(np.arange(10, dtype=np.int32)[:, None], np.arange(10, dtype=np.int32))
    blocks = list(part.blocks(4))
    assert [len(block.records) for block in blocks] == [4, 4, 2]
    assert np.concatenate([block.weights for block in blocks]).tolist() == list(range(10))
    assert list(Part(part.records[:0]).blocks(4)) == []
