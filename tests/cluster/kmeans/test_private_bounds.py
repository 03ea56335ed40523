"""bounds="private": a box of powers of two that holds the records, for a tenth of the budget."""

import numpy as np
import pytest

from helpers.noise_recorder import recording
from shoal.cluster import DPKMeans
from shoal.cluster._noise import GDPNoise, PureNoise
from shoal.cluster.kmeans._private_bounds import private_box
from shoal.engines import magnitude_edges
from shoal.noise import SeededSource
from shoal.privacy import epsilon_to_gdp

RNG = np.random.default_rng(0)
TABLES = {
    "small": 1e-6 * RNG.standard_normal((10_000, 2)),
    "contribution": RNG.standard_normal((10_000, 2)),
    "large": 1e6 * RNG.standard_normal((10_000, 2)),
    "offset": RNG.uniform(1000.0, 1010.0, (10_000, 2)),
    "negative": RNG.uniform(-70.0, -20.0, (10_000, 2)),
    "zeros": np.zeros((10_000, 2)),
    "constant": np.full((10_000, 2), 7.0),
    "skewed": np.exp(RNG.standard_normal((10_000, 2))),
    "mixed": RNG.standard_normal((10_000, 3)) * [1e-9, 1.0, 1e9] + [0.0, 50.0, 0.0],
}


def learned(X, seed=0, **kwargs):
    model = DPKMeans(3, bounds="private", random_state=seed, **kwargs).fit(X)
    return model.bounds_, model


@pytest.mark.full
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_box_holds_nearly_all_records(delta, subtests):
    for name, X in TABLES.items():
        with subtests.test(name=name):
            powers = set(magnitude_edges().tolist())
            # A long tail is a bin of 1%, and three columns share what two do: 10,000
            # records need more.
            epsilon = 4.0 if name in ("skewed", "mixed") else 1.0
            for seed in range(5):
                (low, high), model = learned(X, seed, epsilon=epsilon, delta=delta, method="grid")
                inside = (np.clip(X, low, high) == X).all(axis=1)
                assert inside.mean() >= 0.99
                assert (low < high).all()
                assert set(low.tolist()) | set(high.tolist()) <= powers
                # Not much wider than it must be: a power of two on each side, and where zero lies.
                assert (high - low <= np.maximum(4 * np.abs(X).max(axis=0), 2.0**-39)).all()
                assert (low <= model.cluster_centers_).all()
                assert (model.cluster_centers_ <= high).all()


@pytest.mark.parametrize("method", ["auto", "ball", "lloyd", "kccm"])
def test_few_records_never_crash(method, subtests):
    for n in [1, 2, 10, 100]:
        with subtests.test(n=n):
            for seed in range(5):
                X = np.random.default_rng(seed).standard_normal((n, 3)) * [1e-300, 1.0, 1e300]
                (low, high), model = learned(X, seed, epsilon=0.5, method=method)
                assert (low < high).all()
                assert np.isfinite([low, high]).all()
                assert np.isfinite(model.cluster_centers_).all()


def test_too_few_records_for_any_bin_give_a_box_around_zero():
    noise = PureNoise(1.0)
    box = private_box(np.ones((3, 2)), None, noise, 1e-3, contribution=1, source=SeededSource(0))
    assert (box.low == -box.high).all()


def test_the_likeliest_magnitude_counts_both_signs_once():
    # Below the threshold of 21 or so: 14 records of magnitude 4 to 8 against 12 near zero.
    X = np.array([[5.0]] * 7 + [[-5.0]] * 7 + [[0.0]] * 12)
    highs = []
    for seed in range(20):
        box = private_box(X, None, PureNoise(1.0), 0.5, contribution=1, source=SeededSource(seed))
        highs.append(box.high[0])
    assert np.median(highs) == 8.0


@pytest.mark.parametrize("noise", [PureNoise(1.0), GDPNoise(1.0)])
def test_noise_alone_fills_no_bin(noise):
    # Each box of 2 columns is wrong with probability at most 1%; 100 of them, so 5 have 0.1%.
    wrong = 0
    for seed in range(100):
        box = private_box(
            np.full((500, 2), 3.0), None, noise, 0.5, contribution=1, source=SeededSource(seed)
        )
        wrong += not ((box.low == 2.0).all() and (box.high == 4.0).all())
    assert wrong <= 5


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_it_costs_a_tenth(delta):
    with recording() as tape:
        learned(TABLES["contribution"], epsilon=0.8, delta=delta, method="grid")
    draw, other = tape.draws[:2]  # one for each column
    assert draw == other
    assert draw.shape == (201,)
    if delta:
        budget = epsilon_to_gdp(0.8, delta) ** 2
        assert 2 / draw.scale**2 == pytest.approx(0.1 * budget)
    else:
        assert 2 / draw.scale == pytest.approx(0.08)
    assert draw.sampler == ("rounded_gaussian" if delta else "discrete_laplace")


def test_weights_count_in_the_box():
    X = np.concatenate([np.full((5000, 1), 3.0), np.full((5000, 1), 1000.0)])
    weights = np.repeat([1.0, 0.0], 5000)
    model = DPKMeans(2, bounds="private", random_state=0).fit(X, sample_weight=weights)
    assert model.bounds_.high[0] == 4.0


def test_release_names_the_learned_box():
    (low, high), model = learned(TABLES["offset"])
    assert (model.release_.values["low"] == low).all()
    assert (model.release_.values["high"] == high).all()
