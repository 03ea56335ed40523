"""The body that one record lies in: what it costs there, exactly, and how little noise it needs."""

import itertools
import math

import numpy as np
import pytest

from shoal.cluster._noise import Body, GDPNoise, PureNoise
from shoal.engines import HALF, ArrayEngine, nearest_statistics
from shoal.noise import Lattice, SeededSource, observed

SIMPLICES = (slice(0, 3), slice(4, 9))
BODY = Body.scaled(np.array([0.7] * 3 + [1.0] + [0.3] * 5 + [0.9]), HALF, SIMPLICES)
# As a schema encodes adult: 8 categories with their other and missing, 4 numbers with their flags.
ADULT_LEVELS = (10, 18, 9, 16, 8, 7, 4, 43)
NOISES = {"pure": PureNoise(0.8), "gaussian": GDPNoise(0.8)}


def points(count, rng, body=BODY):
    """Records of a body, some of them at its corners."""
    made = rng.integers(-body.reaches, body.reaches + 1, (count, body.columns))
    made[::2] = np.where(made[::2] < 0, -body.reaches, body.reaches)
    for simplex in body.simplices:
        made[:, simplex] = -body.reaches[simplex]
        chosen = rng.integers(simplex.start, simplex.stop, count)
        made[np.arange(count), chosen] = body.reaches[chosen]
    return made.astype(np.int32)


def adult_body():
    """Return the body of adult's encoded records."""
    widths, simplices = [], []
    for levels in ADULT_LEVELS:
        simplices.append(slice(len(widths), len(widths) + levels))
        widths += [math.sqrt(0.5)] * levels
    return Body.scaled(np.array(widths + [1.0, math.sqrt(0.75)] * 4), HALF, tuple(simplices))


class Costs:
    """Adds up what a second table costs where the first one's values were released."""

    def __init__(self, first=None):
        self.first = first
        self.steps = []
        self.declared = 0.0

    def release(self, exact, noise, cost, released):
        self.steps.append((exact, noise))
        self.declared += cost
        return released

    @property
    def loss(self):
        return sum(
            noise.privacy_loss(exact, other)
            for (exact, noise), (other, _) in zip(self.first.steps, self.steps, strict=True)
        )


def costs(noise, fewer, more, centers, *, contribution=1, budget=0.8, body=BODY):
    first = Costs()
    second = Costs(first)
    for observer, records in ((first, fewer), (second, more)):
        with observed(observer):
            noise.parts(
                nearest_statistics(ArrayEngine(records), centers),
                body,
                budget,
                contribution=contribution,
                source=SeededSource(1),
            )
    return second


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_one_record_costs_the_budget_at_a_corner_and_never_more(noise):
    rng = np.random.default_rng(0)
    records, centers = points(40, rng), points(3, rng).astype(np.int64)
    losses = []
    for added in points(60, rng):
        found = costs(noise, records, np.vstack([records, added]), centers)
        assert found.declared == pytest.approx(0.8, rel=1e-12)
        losses.append(found.loss)
    assert max(losses) <= 0.8 * (1 + 1e-12)
    assert max(losses) >= 0.8 * (1 - 1e-9)  # a corner costs all of it: the noise is no larger


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_records_of_one_user_in_several_clusters(noise):
    rng = np.random.default_rng(1)
    records, centers = points(40, rng), points(3, rng).astype(np.int64)
    losses = []
    for _ in range(30):
        mine = points(3, rng)
        found = costs(noise, records, np.vstack([records, mine]), centers, contribution=3)
        losses.append(found.loss)
        same = np.repeat(mine[:1], 3, axis=0)
        found = costs(noise, records, np.vstack([records, same]), centers, contribution=3)
        losses.append(found.loss)
    assert 0.8 * (1 - 1e-9) <= max(losses) <= 0.8 * (1 + 1e-12)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_noise_is_as_large_as_it_says(noise):
    """400 rows: a deviation is off by 4% or so; 25% has a false-alarm rate below 1e-6."""
    body = BODY
    nobody = np.zeros((400, body.columns), dtype=np.int64)
    exact = nearest_statistics(ArrayEngine(points(1, np.random.default_rng(0))), nobody)
    noisy = noise.parts(exact, body, 0.5, contribution=2, source=SeededSource(3))
    said = noise.part_deviations(0.5, body, contribution=2)
    assert noisy.sums[1:].std(axis=0) == pytest.approx(said.columns, rel=0.25)
    assert noisy.counts[1:].std() == pytest.approx(noisy.deviations.counts, rel=0.25)
    assert noisy.deviations.counts < said.counts  # levels say how many there are, too


def test_counts_and_sums_come_back_without_noise():
    rng = np.random.default_rng(2)
    records, centers = points(50, rng), points(4, rng).astype(np.int64)
    exact = nearest_statistics(ArrayEngine(records), centers)
    noisy = PureNoise(1e7).parts(exact, BODY, 1e7, contribution=1, source=SeededSource(0))
    assert np.rint(noisy.counts).tolist() == exact.counts.tolist()
    ends = exact.sums + exact.counts[:, None] * BODY.reaches  # levels from their lower end
    for simplex in SIMPLICES:
        assert noisy.sums[:, simplex].tolist() == ends[:, simplex].tolist()
    assert noisy.sums[:, BODY.intervals] == pytest.approx(exact.sums[:, BODY.intervals], abs=10)


def uneven_body():
    """Return a body of two boxes of noise and a category."""
    widths = np.concatenate([np.full(4, math.sqrt(0.5)), np.linspace(0.05, 1.0, 300)])
    return Body.scaled(widths, HALF, (slice(0, 4),))


@pytest.mark.parametrize("make", [adult_body, uneven_body])
@pytest.mark.parametrize("root", [2, 3])
def test_the_division_of_the_budget_is_the_best(root, make, monkeypatch):
    """No step gets a hundredth too much or too little, and no other division does better."""
    noise = PureNoise(1.0) if root == 3 else GDPNoise(1.0)
    body, rng = make(), np.random.default_rng(0)
    best = body.split(root=root)
    assert best.sum() == pytest.approx(1.0)

    def total(parts):
        monkeypatch.setattr(Body, "split", lambda self, *, root: parts)
        deviations = noise.part_deviations(1.0, body, contribution=1)
        return (deviations.columns**2).sum() + (deviations.counts * HALF) ** 2

    least = total(best)
    for step, factor in itertools.product(range(len(best)), (0.99, 1.01)):
        other = best * np.where(np.arange(len(best)) == step, factor, 1.0)
        assert total(other / other.sum()) > least
    for _ in range(20):
        other = best * rng.uniform(0.8, 1.25, len(best))
        assert total(other / other.sum()) > least


def test_noise_on_adult_is_far_smaller_than_that_of_the_box():
    """Squared length of a row's noise: the body, the box, the ball, in columns of adult."""
    body, noise = adult_body(), PureNoise(1.0)
    assert body.columns == 123
    square = (noise.part_deviations(1.0, body, contribution=1).columns ** 2).sum()
    columns = body.columns + 1  # with the count
    box = ((columns + 1) * (columns + 2) / 3) * (body.reaches.astype(float) ** 2).sum()
    ball = body.columns * (body.columns + 1) * body.radius**2
    assert box / square > 6
    assert ball / square > 6
    gaussian = GDPNoise(1.0).part_deviations(1.0, body, contribution=1).columns
    cube = GDPNoise(1.0).pair_deviations(
        1.0, columns=body.columns, clip_radius=round(body.radius), contribution=1
    )
    assert body.columns * cube.sums**2 / (gaussian**2).sum() > 1.2


def test_a_box_of_many_columns_is_cut_into_several():
    body = Body.box(600, HALF)
    noise = PureNoise(1.0)
    exact = nearest_statistics(
        ArrayEngine(np.full((5, 600), HALF, dtype=np.int32)), np.zeros((1, 600), dtype=np.int64)
    )
    noisy = noise.parts(exact, body, 1.0, contribution=1, source=SeededSource(0))
    assert noisy.sums.shape == (1, 600)
    assert [len(box) for box in body.boxes] == [201, 200, 200]
    assert body.split(root=3).sum() == pytest.approx(1.0)


def test_a_lattice_step_is_as_long_in_every_column():
    widths = np.array([0.5, 2.0, math.sqrt(0.5)])
    body = Body.scaled(widths, HALF)
    lattice = Lattice.box(np.zeros(3), widths, half=body.reaches)
    assert lattice.step == pytest.approx(np.full(3, 1.0 / HALF), rel=1e-5)
    assert lattice.encode(np.array([[0.0] * 3, widths])).tolist() == [
        (-body.reaches).tolist(),
        body.reaches.tolist(),
    ]
