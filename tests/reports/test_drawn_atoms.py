"""Distributions of single columns, and atoms drawn from them."""

import numpy as np
import pytest

from shoal._bounds import public_box
from shoal.mechanisms import PartitionResponse
from shoal.partitions import box_axes, column_partitions, default_partitions, space_axes
from shoal.reports import NoiseAwareKMeans
from shoal.reports._drawn_atoms import ATOMS, Counted, draw_atoms, partition_axes
from shoal.reports._partition_likelihood import tally
from shoal.schema import Category, Number, Schema

SCHEMA = Schema([Number("age", minimum=0, maximum=100), Category("city", ["A", "B", "C"])])
FIVE = box_axes(public_box((0.0, 10.0), 5))


def counted(partitions, reports, seed=0):
    seen = tally(reports, partitions)
    return Counted(seen.pairs, seen.counts, seen.halves(np.random.RandomState(seed)))


def report(partitions, records, epsilon=4.0, seed=0):
    mechanism = PartitionResponse(epsilon, partitions=partitions, random_state=seed)
    return mechanism, mechanism.fit_transform(records)


def test_atoms_have_the_columns_of_the_records():
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.normal(mean, 0.4, 4000) for mean in (1, 3, 5, 7, 9)])
    partitions = column_partitions(FIVE, 16)
    mechanism, reports = report(partitions, np.clip(records, 0, 10))
    keep = float(mechanism.keep_probability)
    whole, first, second = draw_atoms(
        partitions, keep, counted(partitions, reports), np.random.RandomState(0)
    )
    assert whole.points.shape == (ATOMS, 5)
    assert first.points.shape == second.points.shape == (ATOMS // 2, 5)
    mean = whole.start @ whole.points
    assert np.allclose(mean, [1, 3, 5, 7, 9], atol=0.5)
    assert (whole.start @ (whole.points - mean) ** 2 < 1.5**2).all()
    assert (np.ptp(whole.points, axis=0) > 9).all()  # some atoms lie anywhere, with little weight


def test_atoms_of_categories_are_levels_with_their_shares():
    table = {"age": np.full(3000, 50.0), "city": np.repeat(["A", "B", "Nowhere"], 1000)}
    mechanism = PartitionResponse(
        4.0,
        partitions=column_partitions(space_axes(SCHEMA.space), 16),
        schema=SCHEMA,
        random_state=0,
    )
    reports = mechanism.fit_transform(table)
    partitions = mechanism.partitions_
    keep = float(mechanism.keep_probability)
    atoms, *_ = draw_atoms(partitions, keep, counted(partitions, reports), np.random.RandomState(0))
    assert SCHEMA.space.holds(atoms.points)
    names = list(SCHEMA.space.names)
    shares = [
        atoms.start @ (atoms.points[:, names.index(f"city={level}")] > 0)
        for level in ("A", "B", "C", "other", "missing")
    ]
    assert np.allclose(shares, [1 / 3, 1 / 3, 0, 1 / 3, 0], atol=0.08)


def test_a_half_knows_nothing_of_the_other():
    partitions = column_partitions(FIVE, 16)
    _, low = report(partitions, np.full((500, 5), 1.0))
    _, high = report(partitions, np.full((500, 5), 9.0), seed=1)
    seen = tally(np.vstack([low, high]), partitions)
    halves = [
        np.bincount(
            np.searchsorted(seen.pairs, (part @ [partitions.n_colors, 1]).astype(int)),
            minlength=len(seen.pairs),
        ).astype(float)
        for part in (low, high)
    ]
    of_reports = Counted(seen.pairs, seen.counts, (halves[0], halves[1]))
    _, first, second = draw_atoms(partitions, 0.7, of_reports, np.random.RandomState(0))
    assert (first.start @ first.points < 3).all()
    assert (second.start @ second.points > 7).all()


def test_columns_without_reports_are_even():
    partitions = default_partitions(FIVE, epsilon=1.0)
    seeds_only = np.array([[400.0, 1.0], [401.0, 0.0]])
    atoms, *_ = draw_atoms(
        partitions, 0.5, counted(partitions, seeds_only), np.random.RandomState(0)
    )
    assert np.allclose(atoms.start @ atoms.points, 5.0, atol=0.2)


def test_axes_are_those_of_the_grids_or_of_the_box():
    axes = space_axes(SCHEMA.space)
    both = default_partitions(axes, epsilon=1.0)
    assert partition_axes(both) == axes
    assert len(partition_axes(type(both)([both.blocks[1]]))) == SCHEMA.space.columns


@pytest.mark.full
@pytest.mark.parametrize("better", [True, False])
def test_one_round_in_many_columns(better):
    rng = np.random.default_rng(0)
    middles = np.array([[2.0] * 5, [8.0] * 5])
    records = (
        middles[rng.integers(2, size=2000)] + rng.normal(0, 0.3, (2000, 5))
        if better
        else rng.uniform(0, 10, (2000, 5))
    )
    partitions = default_partitions(FIVE, epsilon=3.0, n_clusters=2)
    mechanism, reports = report(partitions, records, epsilon=3.0)
    model = NoiseAwareKMeans(2, mechanism=mechanism, random_state=0).fit(reports)
    assert model.start_ == "partitions"
    # Wrong with probability at most 5% where records are even; this seed is fixed.
    assert model.better_than_blind_ is better
    if better:
        order = np.argsort(model.cluster_centers_[:, 0])
        assert np.allclose(model.cluster_centers_[order], middles, atol=1.0)
        assert model.predict(middles).tolist() == order.tolist()
