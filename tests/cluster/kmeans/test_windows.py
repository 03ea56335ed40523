"""From a round's noisy windows to centers: shrinking, respawning, merging."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from helpers.kmeans_problems import blobs, corners, problem
from shoal.cluster._noise import NoisyWindows, WindowDeviations
from shoal.cluster.kmeans._windows import (
    BESIDE,
    Round,
    Space,
    Windows,
    decreasing,
    first_windows,
    merge_cells,
    respawn,
    shrink_to_last,
    shrink_to_mean,
    take_round,
)
from shoal.engines import HALF, ArrayEngine
from shoal.noise import SeededSource

RNG = np.random.default_rng(0)


def space(columns, *, center=0.0, axes=None, variances=None):
    engine = ArrayEngine(np.zeros((1, columns), dtype=np.int32))
    return Space(engine, np.full(columns, center), HALF, axes, variances)


def a_round(moves, *, noise, counts=None, centers=None, spreads=None):
    k, columns = moves.shape
    counts = np.full(k, 100.0) if counts is None else counts
    whole = counts.astype(np.int64)
    deviations = WindowDeviations(10.0, noise * counts, 1.0)
    noisy = NoisyWindows(whole, np.zeros((k, columns), np.int64), whole, deviations, np.ones(k))
    places = np.zeros((k, columns), np.int64) if centers is None else centers
    widths = np.full(k, 50.0) if spreads is None else spreads
    return Round(
        places, noisy, counts, moves, np.full(k, noise**2), widths, widths.astype(np.int64)
    )


def test_decreasing_as_isotonic_regression():
    for size in (1, 2, 7, 40):
        values = RNG.normal(size=size)
        expected = IsotonicRegression(increasing=False).fit_transform(np.arange(size), values)
        assert decreasing(values) == pytest.approx(expected)
    assert len(decreasing(np.zeros(0))) == 0


def test_noise_alone_is_shrunk_to_nothing():
    axes = np.linalg.qr(RNG.normal(size=(6, 6)))[0]
    for known in (None, axes):
        moves = RNG.normal(0.0, 20.0, (400, 6))
        last = a_round(moves, noise=20.0)
        for shrunk in (
            shrink_to_mean(space(6, axes=known), last),
            shrink_to_last(space(6, axes=known), last, 6),
        ):
            assert np.linalg.norm(shrunk) < 0.15 * np.linalg.norm(moves)


def test_shrinking_knows_directions():
    """Signal in one direction of three: that one stays, the others go."""
    axes = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    true = RNG.normal(0.0, 100.0, (500, 1)) * axes[:, 0]
    noisy = true + RNG.normal(0.0, 20.0, (500, 3))
    last = a_round(noisy, noise=20.0)
    aware = shrink_to_mean(space(3, axes=axes), last) - true
    blind = shrink_to_mean(space(3), last) - true
    assert (aware**2).sum() < 0.5 * (blind**2).sum()
    assert (blind**2).sum() < ((noisy - true) ** 2).sum()


def test_unknown_directions_are_judged_by_themselves():
    """No move in the first direction, a large one in the second: pooled, both would shrink."""
    moves = np.column_stack([RNG.normal(0.0, 20.0, 500), RNG.normal(0.0, 200.0, 500)])
    last = a_round(moves, noise=20.0)
    flat = space(2, axes=np.eye(2))
    apart = shrink_to_last(flat, last, 1)
    assert np.linalg.norm(apart[:, 0]) < 0.2 * np.linalg.norm(moves[:, 0])
    assert np.linalg.norm(apart[:, 1]) > 0.95 * np.linalg.norm(moves[:, 1])
    together = shrink_to_last(flat, last, 2)
    assert np.linalg.norm(together[:, 0]) > 0.9 * np.linalg.norm(moves[:, 0])


def test_a_move_that_no_noise_explains_is_made():
    moves = RNG.normal(0.0, 20.0, (100, 50))
    moves[7] += 100.0
    for axes in (None, np.linalg.qr(RNG.normal(size=(50, 50)))[0]):
        shrunk = shrink_to_last(space(50, axes=axes), a_round(moves, noise=20.0), 50)
        assert shrunk[7] == pytest.approx(moves[7], rel=0.1)
        others = np.arange(100) != 7
        assert np.linalg.norm(shrunk[others]) < 0.3 * np.linalg.norm(moves[others])


def test_shrinking_goes_toward_the_mean_or_the_last_center():
    centers = np.full((300, 4), 1000)
    last = a_round(RNG.normal(0.0, 30.0, (300, 4)), noise=30.0, centers=centers)
    assert shrink_to_last(space(4), last, 4) == pytest.approx(1000.0, abs=30)
    here = space(4, center=1000.0)
    assert shrink_to_mean(here, last) == pytest.approx(1000.0, abs=30)
    # Seen from far away, where all are together is signal.
    assert shrink_to_mean(space(4), last).mean() == pytest.approx(1000.0, rel=0.01)


def test_dead_centers_move_beside_the_largest_cost():
    counts = np.array([500.0, 5.0, 900.0, 12.0])  # deviation 10: fewer than 20 may be nobody
    spreads = np.array([100.0, 100.0, 10.0, 40.0])
    last = a_round(np.zeros((4, 3)), noise=1.0, counts=counts, spreads=spreads)
    points = np.array([[1000.0] * 3, [0.0] * 3, [-1000.0] * 3, [5.0] * 3])
    moved = respawn(space(3), last, points, SeededSource(0))
    assert last.dead.tolist() == [1, 3]
    assert np.array_equal(moved.points[[0, 2]], points[[0, 2]])
    for j in (1, 3):
        gap = np.linalg.norm(moved.points[j] - points[0])
        assert gap == pytest.approx(BESIDE * 100.0)
        assert moved.radii[j] == 100
    assert not np.array_equal(moved.points[1], moved.points[3])


def test_where_all_are_dead_none_moves():
    last = a_round(np.zeros((3, 2)), noise=1.0, counts=np.full(3, 10.0))
    points = RNG.normal(size=(3, 2))
    assert np.array_equal(respawn(space(2), last, points, SeededSource(0)).points, points)


def test_merging_drops_the_dead_and_widens_windows():
    counts = np.array([100.0, 100.0, 100.0, 10.0])
    points = np.array([[0.0, 0.0], [2e4, 0.0], [3e5, 0.0], [-4e5, 0.0]])
    last = a_round(np.zeros((4, 2)), noise=1.0, counts=counts, spreads=np.full(4, 2e4))
    merged = merge_cells(space(2), last, points, 2, SeededSource(0))
    order = merged.points[:, 0].argsort()
    assert merged.points[order] == pytest.approx(np.array([[1e4, 0.0], [3e5, 0.0]]))
    wide, narrow = merged.radii[order]
    assert wide / narrow == pytest.approx(np.sqrt((2e4**2 + 1e4**2) / 2e4**2), rel=1e-3)


def test_cells_at_one_point_are_merged_without_a_word(recwarn):
    last = a_round(np.zeros((8, 2)), noise=1.0)
    merged = merge_cells(space(2), last, np.zeros((8, 2)), 3, SeededSource(0))
    assert merged.points.shape == (3, 2)
    assert len(np.unique(merged.points, axis=0)) == 3
    assert not recwarn.list


def test_first_centers_follow_the_released_variances():
    axes = np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    variances = np.array([1e10, 1e8, 0.0, 0.0, 0.0])
    here = space(5, center=7.0, axes=axes, variances=variances)
    found = first_windows(here, 12, SeededSource(0))
    turned = (found.points - 7.0) @ axes
    assert turned[:, 0].std() > 5 * turned[:, 1].std() > 0
    assert np.abs(turned[:, 2:]).max() < 1.0
    for unknown in (space(5, center=7.0), space(5, center=7.0, axes=axes, variances=np.zeros(5))):
        blind = first_windows(unknown, 12, SeededSource(0))
        assert np.linalg.norm(blind.points - 7.0, axis=1) == pytest.approx(0.3 * HALF)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_round_measures_cells(delta):
    """At a large budget: counts, means and widths of five round clusters."""
    centers = corners(20, 5)
    given = problem(blobs(5000, centers), 5, epsilon=1000.0, delta=delta)
    whole = Space(given.engine, np.zeros(20), given.radius, None, None)
    start = Windows(centers * HALF, whole.window(np.full(5, 0.5 * given.radius)))
    found = take_round(given, whole, start, given.budget)
    assert found.noisy.counts.sum() == pytest.approx(5000, abs=50)
    assert np.abs(found.moves).max() < 0.01 * HALF
    # 20 columns of deviation 0.05
    assert found.spreads / HALF == pytest.approx(0.05 * np.sqrt(20), rel=0.05)
    assert len(found.dead) == 0
