import numpy as np
import pytest

from shoal.cluster import _engines
from shoal.cluster._engines import lattice_records
from shoal.noise import Lattice


@pytest.mark.parametrize("d", [1, 4, 15, 16, 30])
def test_same_records_however_the_table_lies_in_memory(monkeypatch, d):
    rng = np.random.default_rng(d)
    lattice = Lattice.box(np.full(d, -3.0), np.full(d, 2.5))
    X = rng.normal(scale=2.0, size=(5000, d))
    expected = lattice.encode(X)
    for values in (1 << 20, 700 * d):
        monkeypatch.setattr(_engines, "CHUNK_VALUES", values)
        for given in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
            records = lattice_records(given, lattice)
            assert records.dtype == np.int32
            assert (records == expected).all()


def test_few_columns_lie_one_after_the_other():
    narrow = lattice_records(np.zeros((9, 2)), Lattice.box(np.zeros(2), np.ones(2)))
    assert narrow.flags.f_contiguous
    wide = lattice_records(np.zeros((9, 20)), Lattice.box(np.zeros(20), np.ones(20)))
    assert wide.flags.c_contiguous
