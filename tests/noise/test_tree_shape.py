"""The shape of a tree: its distribution and its privacy loss, against all shapes one by one."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2

from helpers import sizes
from helpers.cases import case
from helpers.noise_distributions import laplace_pmf
from shoal.exceptions import ParameterError
from shoal.noise import (
    SeededSource,
    SparseCounts,
    TreeShapeNoise,
    tree_shape,
    tree_shape_loss,
)
from shoal.noise.tree_shape import log_ratio

FALSE_ALARM = 1e-5
FAR = np.arange(-4000, 4001)
DRAWS = sizes.draws(6000, quick=2000)


def counts_of(cells):
    """All cells of a tiny tree as the noise takes them: those that hold somebody."""
    cells = np.asarray(cells)
    return SparseCounts(np.flatnonzero(cells), cells[cells > 0])


def chance(value, scale):
    """P[value + N >= 1], from the probabilities of N one by one."""
    return float(laplace_pmf(FAR, scale)[value + FAR >= 1].sum())


def shapes(noise, cells, depth=None, node=0):
    """All shapes below a node with their probabilities: tuples of (code, depth) of leaves."""
    depth = 0 if depth is None else depth
    width = 1 << (noise.depth - depth)
    if depth == noise.depth:
        return [(((node, depth),), 1.0)]
    halves = [
        shapes(noise, cells, depth + 1, node),
        shapes(noise, cells, depth + 1, node + width // 2),
    ]
    below = [(one + other, p * q) for (one, p), (other, q) in itertools.product(*halves)]
    if depth < noise.roots:
        return below
    held = int(np.sum(cells[node : node + width]))
    lowered = max(held - (depth - noise.roots) * noise.decay, -noise.decay)
    split, kept = chance(lowered, noise.scale), chance(1 - lowered, noise.scale)
    assert math.isclose(split + kept, 1.0)
    return [(((node, depth),), kept), *((shape, split * p) for shape, p in below)]


def drawn(shape):
    return tuple(zip(shape.codes.tolist(), shape.depths.tolist(), strict=True))


def p_value(noise, cells, draws=DRAWS):
    """Chi-squared of drawn shapes against their probabilities; rare shapes are taken together."""
    expected = dict(shapes(noise, np.asarray(cells)))
    assert math.isclose(sum(expected.values()), 1.0)
    source, seen = SeededSource(5), dict.fromkeys(expected, 0)
    for _ in range(draws):
        seen[drawn(noise.sample(counts_of(cells), source))] += 1
    common = [shape for shape, p in expected.items() if p * draws >= 10]
    observed = np.array([seen[shape] for shape in common], dtype=float)
    wanted = np.array([expected[shape] * draws for shape in common])
    observed = np.append(observed, draws - observed.sum())
    wanted = np.append(wanted, max(draws - wanted.sum(), 1.0))
    return float(chi2.sf(((observed - wanted) ** 2 / wanted).sum(), len(common)))


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
def test_chances_of_a_split(scale):
    values = np.arange(-12, 13)
    logs = np.array([math.log(chance(int(value), scale)) for value in values])
    for value, log in zip(values, logs, strict=True):
        found = log_ratio(np.full(25, value), values, scale)
        np.testing.assert_allclose(found, log - logs, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("noise", "cells"),
    [
        (TreeShapeNoise(0, 2, 1.5, 2), [3, 0, 0, 1]),
        (TreeShapeNoise(0, 3, 2.0, 1), [0, 0, 5, 0, 0, 0, 0, 2]),
        (TreeShapeNoise(1, 3, 1.0, 2), [0] * 8),
    ],
)
def test_drawn_as_all_shapes_say(noise, cells):
    assert p_value(noise, cells) > FALSE_ALARM


def test_a_split_by_the_true_count_is_noticed(monkeypatch):
    """Planted: no noise on the count of a node."""
    silent = lambda size, *, scale, source: np.zeros(size, dtype=np.int64)  # noqa: E731
    monkeypatch.setattr(tree_shape, "discrete_laplace", silent)
    assert p_value(TreeShapeNoise(0, 2, 1.5, 2), [3, 0, 0, 1], draws=2000) < FALSE_ALARM


def test_empty_nodes_that_are_not_visited_are_noticed(monkeypatch):
    """Planted: a node without records is a leaf."""
    right = TreeShapeNoise._lowered

    def skipping(self, counts, depth):
        return np.where(counts == 0, -(10**6), right(self, counts, depth))

    noise, cells = TreeShapeNoise(1, 3, 1.0, 1), [0, 0, 0, 4, 0, 0, 0, 0]
    assert p_value(noise, cells, draws=2000) > FALSE_ALARM
    monkeypatch.setattr(TreeShapeNoise, "_lowered", skipping)
    assert p_value(noise, cells, draws=2000) < FALSE_ALARM


def test_loss_is_the_largest_ratio_of_all_shapes():
    rng = np.random.default_rng(2)
    for roots, scale, decay in [(0, 1.5, 2), (1, 0.7, 1), (0, 6.0, 5)]:
        noise = TreeShapeNoise(roots, 3, scale, decay)
        for _ in range(12):
            first = rng.poisson(2.0, 8) * rng.integers(0, 2, 8)
            second = first.copy()
            for _ in range(rng.integers(1, 4)):
                second[rng.integers(8)] += 1
            one, other = dict(shapes(noise, first)), dict(shapes(noise, second))
            expected = max(abs(math.log(p) - math.log(other[shape])) for shape, p in one.items())
            found = noise.privacy_loss(counts_of(first), counts_of(second))
            assert found == pytest.approx(expected, rel=1e-9), (first, second)
            assert noise.privacy_loss(counts_of(second), counts_of(first)) == found
        assert noise.privacy_loss(counts_of(first), counts_of(first)) == 0.0


@pytest.mark.parametrize("epsilon", [1e-4, 0.05, 0.5, 1.0, 3.0, 40.0, 1e6])
@pytest.mark.parametrize("depth", [1, 2, 40, 62])
def test_one_record_costs_no_more_than_the_budget_and_nearly_all_of_it(epsilon, depth):
    noise = TreeShapeNoise.for_budget(epsilon, contribution=1, roots=0, depth=depth)
    assert noise.decay * (1 + 1e-11) >= noise.scale * math.log(2)
    code = np.array([(1 << depth) // 3])
    # From one decay to the next nothing new happens; the worst count is the last of a path.
    worst = (depth - 1) * noise.decay + 1 - noise.decay
    tried = {1, 2, noise.decay, noise.decay + 1, worst - 1, worst, worst + 1, 10**6}
    losses = [
        noise.privacy_loss(SparseCounts(code, np.array([c])), SparseCounts(code, np.array([c - 1])))
        for c in sorted(tried)
        if c >= 1
    ]
    assert max(losses) <= epsilon * (1 + 1e-13)
    loss = tree_shape_loss(noise.scale, noise.decay, depth)
    assert epsilon * (1 - 1e-11) < loss <= epsilon
    if depth > 2:
        assert max(losses) >= 0.99 * loss
    if epsilon < 1 and depth > 2:
        assert noise.scale < 2.61 / epsilon


def test_every_count_of_a_path():
    """The bound holds at all counts, not only the worst."""
    noise = TreeShapeNoise.for_budget(0.7, contribution=1, roots=1, depth=9)
    code = np.array([77])
    losses = [
        noise.privacy_loss(SparseCounts(code, np.array([c])), SparseCounts(code, np.array([c - 1])))
        for c in range(1, 12 * noise.decay)
    ]
    assert max(losses) <= 0.7
    assert max(losses) > 0.69


@pytest.mark.parametrize("contribution", [2, 7])
def test_a_person_with_weight_or_several_records(contribution):
    noise = TreeShapeNoise.for_budget(0.5, contribution=contribution, roots=2, depth=12)
    # Nodes of ten levels may be split: those of the roots are not asked.
    loss = contribution * tree_shape_loss(noise.scale, noise.decay, 10)
    assert 0.5 * (1 - 1e-11) < loss <= 0.5
    rng = np.random.default_rng(contribution)
    for _ in range(50):
        cells = np.zeros(1 << 12, dtype=np.int64)
        np.add.at(cells, rng.integers(0, 1 << rng.integers(1, 12), 400), 1)
        more = cells.copy()
        # All in one cell, or spread.
        np.add.at(more, rng.integers(0, 1 << rng.integers(1, 12), contribution), 1)
        assert noise.privacy_loss(counts_of(cells), counts_of(more)) <= 0.5
        np.add.at(more, np.full(contribution, 5), 1)


def test_leaves_cover_the_box_once():
    noise = TreeShapeNoise.for_budget(1.0, contribution=1, roots=2, depth=40)
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(0, 1 << 20, 3000))
    shape = noise.sample(SparseCounts(codes, np.ones_like(codes)), SeededSource(1))
    widths = 1 << (40 - shape.depths)
    assert shape.codes[0] == 0
    assert (shape.codes[1:] == shape.codes[:-1] + widths[:-1]).all()
    assert shape.codes[-1] + widths[-1] == 1 << 40
    assert shape.depths.max() > 25  # where the records are
    assert shape.depths.min() >= 2


def test_what_is_told_or_refused():
    noise = TreeShapeNoise(0, 4, 2.0, 2)
    one = SparseCounts(np.array([3]), np.array([2]))
    assert noise.privacy_loss(one, SparseCounts(np.array([3]), np.array([2.5]))) == math.inf
    assert noise.privacy_loss(one, SparseCounts(np.array([16]), np.array([2]))) == math.inf
    assert noise.privacy_measure == "epsilon"
    assert "4 levels" in str(noise)
    for wrong in [(0, 63, 1.0, 1), (3, 3, 1.0, 1), (0, 4, 0.0, 1), (0, 4, 1.0, 0)]:
        with case(wrong=wrong), pytest.raises(ParameterError):
            TreeShapeNoise(*wrong)
