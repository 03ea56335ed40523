from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from helpers.brute_force_remap import points_of
from helpers.cases import case
from shoal.remap import Clip, GridRemap

RNG = np.random.default_rng(0)


def test_clip_is_the_nearest_point_of_the_box():
    low, high = np.array([0.0, -2.0, 5.0]), np.array([1.0, 2.0, 9.0])
    reports = RNG.normal(2.0, 5.0, (500, 3))
    moved = Clip((low, high)).fit_transform(reports)
    assert ((moved >= low) & (moved <= high)).all()
    inside = RNG.uniform(low, high, (2000, 3))
    nearest = cdist(reports, inside).min(axis=1)
    assert (np.linalg.norm(moved - reports, axis=1) <= nearest).all()
    kept = ((reports >= low) & (reports <= high)).all(axis=1)
    assert (moved[kept] == reports[kept]).all()


def test_rounding_finds_the_nearest_center():
    shapes: list[tuple[int, Any]] = [(1, 7), (2, (5, 9)), (3, np.array([4, 1, 6]))]
    for d, cells in shapes:
        with case(d=d, cells=cells):
            low, high = np.arange(d) - 1.0, np.arange(d) * 3 + 1.0
            remap = GridRemap((low, high), cells=cells)
            reports = RNG.uniform(low - 1, high + 1, (700, d))
            per_column = np.broadcast_to(cells, d)
            sides = [
                lo + (np.arange(c) + 0.5) * (hi - lo) / c
                for lo, hi, c in zip(low, high, per_column, strict=True)
            ]
            grid = points_of(sides)
            nearest = grid[cdist(reports, grid).argmin(axis=1)]
            assert np.allclose(remap.transform(reports), nearest, rtol=0, atol=1e-12)


def test_centers_stay_and_borders_are_no_points():
    remap = GridRemap((0.0, 1.0), cells=64)
    centers = (np.arange(64)[:, None] + 0.5) / 64
    assert (remap.transform(centers) == centers).all()
    assert remap.transform([[0.0], [1.0]]).ravel().tolist() == [0.5 / 64, 63.5 / 64]


def test_nine_columns_need_no_memory_in_cells():
    reports = RNG.normal(size=(1000, 9))
    moved = GridRemap((-1.0, 1.0), cells=12).transform(reports)
    inside = (np.abs(reports) < 1).all(axis=1)
    assert (np.abs(moved - reports)[inside] <= 1 / 12 + 1e-12).all()
    assert len(np.unique(moved)) == 12


def test_chunks_meet_without_a_seam():
    reports = RNG.normal(size=(70_001, 2))
    remap = GridRemap((-1.0, 1.0), cells=10)
    one_by_one = np.concatenate(
        [remap.transform(reports[i : i + 997]) for i in range(0, 70_001, 997)]
    )
    assert (remap.transform(reports) == one_by_one).all()


def test_boxes_as_wide_or_narrow_as_doubles_allow():
    for bounds in [(-1.7e308, 1.7e308), (1e300, 1.1e300), (-1e-289, 1e-289)]:
        with case(bounds=bounds):
            reports = np.array([[-1.7e308], [0.0], [1.7e308]])
            for remap in (Clip(bounds), GridRemap(bounds, cells=8)):
                moved = remap.transform(reports)
                assert np.isfinite(moved).all()
                assert ((moved >= bounds[0]) & (moved <= bounds[1])).all()


def test_irregular_points_by_brute_force():
    for d in [1, 2, 5]:
        with case(d=d):
            points, reports = RNG.normal(size=(40, d)), RNG.normal(size=(300, d)) * 2
            nearest = points[cdist(reports, points).argmin(axis=1)]
            assert (GridRemap(points=points).fit_transform(reports) == nearest).all()


def test_bulk_queries_meet_without_a_seam():
    points, reports = RNG.normal(size=(9, 2)), RNG.normal(size=(70_000, 2))
    remap = GridRemap(points=points)
    assert (remap.transform(reports)[-3000:] == remap.transform(reports[-3000:])).all()
