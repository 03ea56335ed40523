"""The average band: against block sums, against PyWavelets, and one record through all cells."""

import itertools

import numpy as np
import pytest
import pywt

from shoal.cluster.wavecluster._band import MAX_SENSITIVE, Band, band_of, sparse_band
from shoal.exceptions import ParameterError

WAVELETS = ["haar", "db2", "bior2.2", "sym5"]
EVERY = pywt.wavelist(kind="discrete")


def table(cells, columns, seed=0):
    rng = np.random.default_rng([cells, columns, seed])
    return rng.integers(0, 1000, (cells,) * columns)


def by_pywt(counts, wavelet, level):
    """Averages along all columns, borders wrapped around."""
    values = counts.astype(float)
    for axis in range(counts.ndim):
        for _ in range(level):
            values, _ = pywt.dwt(values, wavelet, mode="periodization", axis=axis)
    return values


def test_haar_adds_up_blocks(subtests):
    for columns in [1, 2, 3, 4]:
        for level in [1, 2, 3]:
            with subtests.test(columns=columns, level=level):
                counts = table(16, columns)
                band = band_of("haar", level, 16, columns)
                side, block = 16 // 2**level, 2**level
                blocks = counts.reshape((side, block) * columns).sum(
                    axis=tuple(range(1, 2 * columns, 2))
                )
                found = band.dense(counts)
                assert found.dtype == np.int64
                assert band.shape == (side,) * columns
                assert (found == blocks).all()
                assert (band.sensitivity, band.touched, band.signed) == (1, 1, False)
                assert (band_of("db1", level, 16, columns).dense(counts) == blocks).all()


@pytest.mark.parametrize("wavelet", ["db2", "bior2.2", "sym5", "bior4.4", "rbio3.1", "coif2"])
def test_others_are_those_of_pywavelets(wavelet):
    """Up to the cells that the circle is turned by, and one factor for all coefficients."""
    for level in [1, 2]:
        for columns in [1, 2, 3]:
            cells = 16
            counts = table(cells, columns)
            band = band_of(wavelet, level, cells, columns)
            found = band.dense(counts)
            assert np.issubdtype(found.dtype, np.int64)

            one = band_of(wavelet, level, cells, 1)
            impulse = np.zeros(cells, dtype=np.int64)
            impulse[0] = 1
            turns = []
            for turn in range(cells):  # of the cells of one column: the same for all of them
                mine = one.dense(impulse)
                theirs = by_pywt(np.roll(impulse, turn), wavelet, level)
                factor = np.abs(mine).max() / np.abs(theirs).max()
                turns.append(np.abs(mine - factor * theirs).max() / factor)
            turn = int(np.argmin(turns))
            theirs = by_pywt(np.roll(counts, (turn,) * columns, range(columns)), wavelet, level)
            factor = (found * theirs).sum() / (theirs**2).sum()
            # Each coefficient is rounded by half a unit of the largest one's 2^bits.
            assert np.abs(found / factor - theirs).max() < 0.01 * np.abs(theirs).max()
            assert np.corrcoef(found.ravel(), theirs.ravel())[0, 1] > 0.9999


def test_filters_longer_than_the_circle_wrap_around(subtests):
    """The band of each single cell, up to where the circle starts and to rounding."""
    for cells in [2, 4, 6, 10]:
        for wavelet in ["db2", "sym5", "coif3", "dmey"]:
            with subtests.test(cells=cells, wavelet=wavelet):
                band = band_of(wavelet, 1, cells, 1)
                mine = band.matrix.toarray() / np.abs(band.matrix).max()
                theirs = np.array([by_pywt(cell, wavelet, 1) for cell in np.eye(cells)]).T
                theirs /= np.abs(theirs).max()
                gaps = [np.abs(mine - np.roll(theirs, turn, axis=1)).max() for turn in range(cells)]
                assert min(gaps) <= 2.0**-10


def test_one_record_in_every_cell(subtests):
    for wavelet in [*WAVELETS, "bior4.4", "rbio2.4"]:
        with subtests.test(wavelet=wavelet):
            for level in [1, 2]:
                for columns in [1, 2, 3]:
                    cells = 8
                    band = band_of(wavelet, level, cells, columns)
                    effects = []
                    for cell in itertools.product(range(cells), repeat=columns):
                        counts = np.zeros((cells,) * columns, dtype=np.int64)
                        counts[cell] = 1
                        effects.append(band.dense(counts))
                    assert band.sensitivity == max(int(np.abs(effect).sum()) for effect in effects)
                    assert band.touched == max(int((effect != 0).sum()) for effect in effects)
                    assert band.signed == any((effect < 0).any() for effect in effects)


def test_sensitivities_that_the_proof_quotes():
    assert band_of("db2", 1, 64, 2).touched == 4
    assert band_of("bior4.4", 1, 64, 2).touched == 25


@pytest.mark.parametrize("columns", [1, 2, 3, 6])
def test_no_record_changes_more_than_noise_can_be_drawn_for(columns):
    for wavelet in EVERY:
        for level in (1, 2):
            assert band_of(wavelet, level, 32, columns).sensitivity <= MAX_SENSITIVE


@pytest.mark.parametrize("level", [1, 2])
def test_filters_are_centered(level):
    """A full cell shows most in the value that stands for it."""
    for wavelet in EVERY:
        cells = 128
        matrix = band_of(wavelet, level, cells, 1).matrix.toarray()
        own = matrix[np.arange(cells) // 2**level, np.arange(cells)]
        assert (own == matrix.max(axis=0)).all()
        assert (own > 0).all()


@pytest.mark.parametrize("wavelet", WAVELETS)
def test_a_full_block_shows_most_in_its_own_value(wavelet, subtests):
    for columns in [1, 2, 3]:
        with subtests.test(columns=columns):
            cells, block = 32, 2
            counts = np.zeros((cells,) * columns, dtype=np.int64)
            place = (5, 9, 12)[:columns]
            counts[tuple(slice(block * p, block * p + block) for p in place)] = 100
            values = band_of(wavelet, 1, cells, columns).dense(counts)
            assert np.unravel_index(values.argmax(), values.shape) == place
            assert (values == values.max()).sum() == 1


@pytest.mark.parametrize("wavelet", [*WAVELETS, "rbio3.1", "coif2"])
def test_sparse_is_dense(wavelet):
    for columns in [1, 2, 3, 4]:
        for level in [1, 2]:
            cells = 8
            band = band_of(wavelet, level, cells, columns)
            rng = np.random.default_rng([columns, level])
            for filled in (0, 1, 3, 40):
                codes = np.unique(rng.integers(0, cells**columns, filled))
                counts = rng.integers(1, 10**6, len(codes))
                found, values = sparse_band(codes, counts, cells, band)
                dense = np.zeros(cells**columns, dtype=np.int64)
                dense[codes] = counts
                expected = band.dense(dense.reshape((cells,) * columns)).ravel()
                assert (np.diff(found) > 0).all()
                assert (expected[found] == values).all()
                rest = np.ones(len(expected), dtype=bool)
                rest[found] = False
                assert not expected[rest].any()
                assert len(found) <= len(codes) * band.touched


def test_sparse_codes_of_huge_grids():
    """Ten columns of 64 cells: 2^50 values, of which four records touch four."""
    cells, columns = 64, 10
    places = np.random.default_rng(3).integers(0, cells, (4, columns))
    codes = np.array([int(sum(p * cells ** (9 - j) for j, p in enumerate(r))) for r in places])
    order = np.argsort(codes)
    found, values = sparse_band(
        codes[order], np.arange(1, 5)[order], cells, band_of("haar", 1, 64, 10)
    )
    expected = {
        sum(int(p) // 2 * 32 ** (9 - j) for j, p in enumerate(record)): i + 1
        for i, record in enumerate(places.tolist())
    }
    assert dict(zip(found.tolist(), values.tolist(), strict=True)) == expected


def test_matrix_of_a_fine_grid_takes_little_memory():
    """As a table of all cells and values it would be 17 terabytes."""
    band = band_of("db2", 1, 2**20, 1)
    assert isinstance(band, Band)
    assert band.matrix.nnz == 4 * 2**19


def test_bad_parameters(subtests):
    for arguments, message in [
        (("morl", 1, 8, 1), "wavelet must be a discrete wavelet of PyWavelets, got 'morl'"),
        ((None, 1, 8, 1), "wavelet must be a discrete wavelet of PyWavelets, got None"),
        (("haar", 2, 6, 1), "grid must be a multiple of 2\\^level = 4, got 6: try 8"),
        (("haar", 1, 1, 1), "grid must be a multiple of 2\\^level = 2, got 1: try 2"),
        (("sym5", 1, 8, 40), "wavelet must be \"haar\" for 40 columns, got 'sym5'"),
    ]:
        with (
            subtests.test(arguments=arguments, message=message),
            pytest.raises(ParameterError, match=f"^{message}"),
        ):
            band_of(*arguments)
