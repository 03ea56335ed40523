"""Thresholds from the known noise: the plain rule without it, the truth within an error with it."""

import numpy as np
import pytest

from shoal.cluster.wavecluster import top_cells
from shoal.cluster.wavecluster._deconvolve import Significance, significant, with_neighbors
from shoal.noise import SeededSource, discrete_laplace

PARTS = [0.0, 0.1, 0.25, 0.3, 0.6, 0.9]


def noisy(true, scale, seed):
    """What is released of integers in units of one record."""
    return true + discrete_laplace(true.shape, scale=scale, source=SeededSource(seed))


def band(empty, *groups, seed=0):
    """Many empty cells, and groups of cells with (how many, mean) records."""
    rng = np.random.default_rng(seed)
    parts = [np.zeros(empty, dtype=np.int64)]
    parts += [1 + rng.poisson(mean - 1, size) for size, mean in groups]
    return rng.permutation(np.concatenate(parts))


# Hardly any noise


def test_without_noise_it_is_the_plain_rule(subtests):
    for part in PARTS:
        for cells in [10, 37, 400]:
            with subtests.test(part=part, cells=cells):
                for seed in range(2):
                    rng = np.random.default_rng([cells, seed])
                    true = rng.integers(0, 70, cells) * (rng.random(cells) < 0.6)
                    true[:2] = [0, 7]
                    kept = significant(true.astype(float), scale=0.01, part=part)
                    plain = top_cells(true.astype(float), (1 - part) * float((true > 0).sum()))
                    assert np.flatnonzero(kept.mask).tolist() == plain.codes.tolist()
                    assert kept.threshold == plain.threshold


def test_ties_are_all_kept(subtests):
    for part in PARTS:
        with subtests.test(part=part):
            true = np.repeat([0.0, 5.0, 9.0], [50, 30, 20])
            kept = significant(true, scale=0.01, part=part)
            assert kept.mask.sum() == (50 if part < 0.6 else 20)
            assert kept.threshold == (5.0 if part < 0.6 else 9.0)


def test_exactly_the_share_is_dropped():
    """Twenty different values: a tenth is two, and the third is the first to keep."""
    true = np.concatenate([np.zeros(30), np.arange(1.0, 21.0)])
    kept = significant(true, scale=0.01, part=0.1)
    assert kept.threshold == 3.0
    assert kept.mask.sum() == 18


def test_large_values_beside_small_ones():
    """Values beyond the noise's reach are taken as they are, and count with the others."""
    rng = np.random.default_rng(4)
    true = np.concatenate([np.zeros(500), rng.integers(1, 80, 200), rng.integers(80, 5000, 300)])
    for part in PARTS:
        kept = significant(true.astype(float), scale=0.01, part=part)
        plain = top_cells(true.astype(float), (1 - part) * 500)
        # The pseudo-zeros may take the place of a few of the small ones.
        assert abs(int(kept.mask.sum()) - len(plain.codes)) <= 0.02 * 500


# Noise


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 10.0])
def test_positive_cells_are_counted(scale):
    """Counts of eight scales and more are told from 0: within 5% on the mean of ten bands."""
    found = []
    for seed in range(10):
        true = band(600, (400, 12 * scale), seed=seed)
        kept = significant(noisy(true, scale, seed), scale=scale, part=0.0)
        found.append(kept.mask.sum())
    assert np.mean(found) == pytest.approx(400, rel=0.05)
    assert np.abs(np.array(found) - 400).max() < 0.1 * 400


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_threshold_is_near_the_true_quantile(scale, subtests):
    """Where the values range over many scales: within two of them, on the mean of ten bands."""
    for part in [0.1, 0.5]:
        with subtests.test(part=part):
            gaps = []
            for seed in range(10):
                rng = np.random.default_rng(seed)
                true = np.concatenate(
                    [np.zeros(500), np.rint(rng.uniform(6, 60, 500) * max(1, scale))]
                )
                kept = significant(
                    noisy(true.astype(np.int64), scale, seed), scale=scale, part=part
                )
                gaps.append(kept.threshold - np.quantile(true[500:], part))
            assert abs(np.mean(gaps)) < 2 * max(1.0, scale)


def test_better_than_counting_all_positive_values():
    """Half of the empty cells look positive: the rule for counts without noise keeps them."""
    true = band(2000, (150, 20), seed=1)
    shown = noisy(true, 1.0, 1).astype(float)
    kept = significant(shown, scale=1.0, part=0.1)
    plain = top_cells(shown, 0.9 * (shown > 0).sum())
    assert abs(int(kept.mask.sum()) - 135) < 15
    assert len(plain.codes) > 500


@pytest.mark.parametrize("signed", [False, True])
def test_larger_values_are_kept_first(signed):
    rng = np.random.default_rng(8)
    for seed in range(12):
        scale = float(10 ** rng.uniform(-3, 3))
        true = np.rint(rng.normal(0, 10 ** rng.uniform(0, 4), 300)) * (rng.random(300) < 0.5)
        true = true if signed else np.abs(true)
        values = true + scale * rng.laplace(size=300)
        kept = significant(values, scale=scale, part=float(rng.random()), signed=signed)
        order = np.argsort(values, kind="stable")
        assert (np.diff(kept.mask[order].astype(int)) >= 0).all(), seed
        assert (np.diff(kept.chances[order]) > -1e-6).all(), seed


def test_the_shape_of_the_band_does_not_matter():
    shown = noisy(band(900, (124, 15)), 1.0, 0).astype(float)
    flat = significant(shown, scale=1.0, part=0.1)
    table = significant(shown.reshape(32, 32), scale=1.0, part=0.1)
    assert table.mask.shape == table.chances.shape == (32, 32)
    assert (table.mask.ravel() == flat.mask).all()
    assert table.threshold == flat.threshold


# Values that were not released


@pytest.mark.full
@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_unseen_values_change_little(scale, subtests):
    """The same bands, with and without the values below a limit: on the mean, 5% of the cells."""
    for part in [0.1, 0.5]:
        with subtests.test(part=part):
            gaps, differ = [], []
            for seed in range(8):
                true = band(20_000, (300, 12 * scale), (200, 40 * scale), seed=seed)
                shown = noisy(true, scale, seed).astype(float)
                limit = float(np.ceil(scale * np.log(len(true) / 256)))
                seen = shown >= limit
                whole = significant(shown, scale=scale, part=part)
                unseen = int((~seen).sum())
                found = significant(shown[seen], scale=scale, part=part, unseen=unseen, limit=limit)
                gaps.append(abs(found.threshold - whole.threshold))
                differ.append((found.mask != whole.mask[seen]).sum() + whole.mask[~seen].sum())
            # A quantile in a thin tail: values unseen are evidence lost.
            assert np.mean(gaps) < 5 * max(scale, 1.0)
            assert np.mean(differ) < 0.05 * 500


def test_unseen_values_on_a_finer_lattice():
    """Values in sixteenths of a record: noise is then nearly continuous."""
    true = 16 * band(20_000, (300, 12), (200, 40), seed=3)
    shown = noisy(true, 16.0, 3) / 16
    seen = shown >= 5.0
    whole = significant(shown, scale=1.0, part=0.1)
    unseen = int((~seen).sum())
    found = significant(
        shown[seen], scale=1.0, part=0.1, unseen=unseen, limit=5.0, steps_per_record=16
    )
    assert found.threshold == pytest.approx(whole.threshold, abs=2.0)
    assert (found.mask != whole.mask[seen]).sum() < 0.05 * 500


def test_nothing_was_released():
    kept = significant(np.empty(0), scale=1.0, part=0.1, unseen=2**62, limit=30.0)
    assert kept.mask.shape == (0,)
    assert np.isfinite(kept.threshold)


# Odd bands


@pytest.mark.full
def test_odd_bands(subtests):
    """No warnings (which are errors here), a finite threshold, and no negative value is kept."""
    for values in [
        np.zeros(64),
        np.full(64, 5.0),
        np.full(64, 1e7),
        np.full(64, -1e7),
        np.array([0.0]),
        np.array([3.0]),
        np.array([1e12]),
        np.linspace(-1e7, 1e7, 1001),
        np.linspace(-3.0, 3.0, 100),
        np.repeat([0.0, 1e7], 50),
    ]:
        with subtests.test(values=values):
            for signed in [False, True]:
                for part in [0.0, 0.1, 0.999]:
                    for scale in [1e-9, 1e-3, 1.0, 1e3, 1e8]:
                        kept = significant(values, scale=scale, part=part, signed=signed)
                        assert kept.mask.shape == values.shape
                        assert np.isfinite(kept.threshold)
                        assert kept.threshold > 0
                        assert np.isfinite(kept.chances).all()
                        assert not kept.mask[values < 0].any()
                        assert not kept.mask[values == 0].any()
                        sure = values > max(100.0, 50 * scale)
                        if sure.any() and part < 0.5:
                            assert kept.mask[sure].sum() > 0.4 * sure.sum()


def test_a_crowd_in_every_cell():
    """No value within the noise's reach of 0: nothing to learn, and all are above it."""
    counts = np.random.default_rng(2).integers(1000, 2000, 256).astype(float)
    kept = significant(counts, scale=1.0, part=0.0)
    assert kept.mask.all()
    assert significant(counts, scale=1.0, part=0.25).mask.sum() == 192


def test_negative_values_are_no_crowd():
    """Far below every candidate, among many positive values."""
    values = np.concatenate([np.full(90, 30.0), [-1e6, -500.0, -300.0]])
    for signed in (False, True):
        kept = significant(values, scale=0.1, part=0.1, signed=signed)
        assert kept.mask.tolist() == [True] * 90 + [False] * 3


def kept(chances, threshold):
    chances = np.asarray(chances, dtype=np.float64)
    return Significance(chances > 0.5, threshold, chances, 0.2)


def test_clear_values_are_left_alone():
    chances = np.full((5, 5), 0.9)
    chances[2, 2] = 0.4
    assert not with_neighbors(kept(chances, threshold=10.0), scale=1.0)[2, 2]


def test_a_doubtful_cell_follows_its_neighbors():
    chances = np.full((5, 5), 0.95)
    chances[2, 2] = 0.3
    assert with_neighbors(kept(chances, threshold=1.0), scale=1.0)[2, 2]
    lonely = np.full((5, 5), 0.02)
    lonely[2, 2] = 0.6
    assert not with_neighbors(kept(lonely, threshold=1.0), scale=1.0)[2, 2]


def test_a_certain_cell_is_not_overruled():
    chances = np.full((5, 5), 0.98)
    chances[2, 2] = 1e-6
    assert not with_neighbors(kept(chances, threshold=1.0), scale=1.0)[2, 2]
    chances = np.full((5, 5), 0.02)
    chances[2, 2] = 1 - 1e-6
    assert with_neighbors(kept(chances, threshold=1.0), scale=1.0)[2, 2]


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_any_number_of_columns_and_cells_at_the_border(columns):
    mask = with_neighbors(kept(np.ones((3,) * columns), threshold=1.0), scale=5.0)
    assert mask.shape == (3,) * columns
    assert mask.all()


def test_a_threshold_of_infinity_keeps_nothing_more():
    chances = np.zeros((4, 4))
    assert not with_neighbors(kept(chances, threshold=np.inf), scale=1.0).any()
