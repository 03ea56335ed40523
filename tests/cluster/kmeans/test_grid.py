"""The plan of a grid from numbers alone, and k-means on it with and without a step."""

import itertools

import numpy as np
import pytest

from helpers.kmeans_problems import FIVE, blobs, problem
from helpers.noise_recorder import recording
from shoal.cluster import DPKMeans
from shoal.cluster._noise import GDPNoise, PureNoise
from shoal.cluster.kmeans._grid import (
    MAX_CELLS,
    GridMethod,
    _midpoints,
    cluster_cells,
    plan_grid,
    release_cells,
)
from shoal.engines import HALF, grid_counts

METHOD = GridMethod(DPKMeans())
LAWS = {"pure": PureNoise(1.0), "gaussian": GDPNoise(1.0)}


def plan(n, columns, k, budget=1.0, noise=LAWS["pure"]):
    return plan_grid(n, columns, k, noise=noise, budget=budget, half=HALF)


@pytest.mark.parametrize("law", LAWS)
def test_every_plan_can_be_carried_out(law):
    for columns in range(1, 17):
        for n, k, budget in itertools.product(
            (-1e9, -1.0, 0.0, 1.0, 1e3, 1e6, 1e15), (1, 2, 1000), (1e-6, 0.1, 1.0, 1e9)
        ):
            made = plan(n, columns, k, budget, LAWS[law])
            assert 2 <= made.cells <= 2 * HALF
            assert made.cells**columns <= max(MAX_CELLS, 3 ** min(columns, 6))
            assert 1 <= made.clip_radius <= HALF * np.sqrt(columns)
            assert (made.steps > 0) == (made.grid_part < 1.0)
            assert made.steps in (0, 1, 2)


@pytest.mark.parametrize("law", LAWS)
def test_more_records_or_epsilon_never_make_a_coarser_grid_or_fewer_steps(law, subtests):
    for columns, k in [(1, 3), (2, 5), (3, 8), (8, 4), (16, 10)]:
        with subtests.test(columns=columns, k=k):
            numbers = np.exp(np.linspace(0, 18, 60))
            by_n = [plan(n, columns, k, 0.5, LAWS[law]) for n in numbers]
            by_share = [plan(10_000, columns, k, s, LAWS[law]) for s in numbers / 1e4]
            for plans in (by_n, by_share):
                steps = [made.steps for made in plans]
                assert steps == sorted(steps)
                # A first step takes half of the grid's share: look at each kind by itself.
                for kind in (False, True):
                    cells = [made.cells for made in plans if (made.steps > 0) == kind]
                    assert cells == sorted(cells)
            assert by_n[-1].steps == 2


def test_n_and_epsilon_count_by_their_product():
    for n in (1e3, 1e4, 1e5):
        assert plan(n, 2, 5, 1.0) == plan(10 * n, 2, 5, 0.1)


def test_more_clusters_get_more_cells_and_a_smaller_window():
    plans = [plan(1000, 2, k) for k in (1, 4, 16, 64, 256)]
    assert [p.cells for p in plans] == sorted(p.cells for p in plans)
    assert [p.clip_radius for p in plans] == sorted((p.clip_radius for p in plans), reverse=True)


def test_midpoints_are_those_of_the_counts():
    sides = (3, 4)
    for cell, place in enumerate(_midpoints(sides, HALF)):
        record = np.rint(place)[None].astype(np.int32)
        counts = grid_counts(record, sides, HALF).ravel()
        assert counts[cell] == 1


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_with_a_step_centers_are_near_the_means(delta):
    given = problem(blobs(10_000), 5, epsilon=1.0, delta=delta)
    with recording() as tape:
        found = METHOD.run(given)
    assert found.rounds >= 1
    assert "nearest_statistics" in [getattr(entry, "name", "") for entry in tape.entries]
    gaps = np.linalg.norm(found.centers[:, None] / HALF - FIVE[None], axis=2)
    assert sorted(gaps.argmin(axis=1)) == [0, 1, 2, 3, 4]
    assert gaps.min(axis=1).max() < 0.02
    assert found.counts.sum() == pytest.approx(10_000, rel=0.05)
    assert (found.radii / HALF).max() < 0.1


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_without_a_step_the_grid_gets_all(delta):
    given = problem(blobs(1000), 5, epsilon=0.03, delta=delta)
    with recording() as tape:
        found = METHOD.run(given)
    names = [entry.name for entry in tape.entries if hasattr(entry, "name")]
    assert names == ["grid_counts"]
    assert len(tape.draws) == 1
    assert found.centers.shape == (5, 2)
    assert np.abs(found.centers).max() <= HALF
    assert (found.counts >= 0).all()
    assert (found.radii > 0).all()
    assert found.details["cells"] ** 2 == tape.draws[0].shape[0]


@pytest.mark.parametrize("k", [1, 5, 40, 300])
def test_any_number_of_centers_from_few_records(k):
    given = problem(blobs(30), k, epsilon=1.0)
    found = METHOD.run(given)
    assert found.centers.shape == (k, 2)
    assert found.counts.shape == found.radii.shape == (k,)
    assert (found.radii > 0).all()


def test_nothing_certain_takes_the_fullest_looking_cells():
    given = problem(blobs(30), 6, epsilon=1.0)
    cells = release_cells(given, 4, 0.5)
    empty = cells._replace(counts=np.zeros_like(cells.counts))
    centers = cluster_cells(empty, 6, given)
    fullest = cells.midpoints[np.argsort(-cells.noisy, kind="stable")[:6]]
    assert sorted(map(tuple, centers)) == sorted(map(tuple, np.rint(fullest)))
