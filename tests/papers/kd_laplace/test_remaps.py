"""The remaps of the thesis read raw records, as its text and its code say."""

import numpy as np

from shoal.papers.kd_laplace import DensityNdLaplace, GridNdLaplace, NdLaplace

X = np.random.default_rng(3).random((60, 2))


def test_thesis_grid_remap_stays_on_the_grid_of_the_raw_box():
    reports = GridNdLaplace(0.1, grid_points=5, random_state=0).fit_transform(X)
    cells = (reports - X.min(axis=0)) / np.ptp(X, axis=0) * 4
    on_grid = (np.abs(cells - cells.round()) < 1e-9).all(axis=1)
    assert on_grid.mean() > 0.95  # epsilon 0.1: next to all reports fall outside the box
    assert (reports >= X.min(axis=0)).all()


def test_grid_remap_of_the_code_gives_the_record_away():
    """At small epsilon the report is a function of the record: two seeds agree."""
    one, other = (
        GridNdLaplace(1e-3, source="code", random_state=seed).fit_transform(X) for seed in (0, 1)
    )
    assert np.array_equal(one, other)


def test_density_remap_reports_means_of_raw_records():
    reports = DensityNdLaplace(0.1, random_state=0).fit_transform(X)
    assert (reports >= X.min(axis=0)).all()
    assert (reports <= X.max(axis=0)).all()


def test_density_remap_of_the_code_does_nothing_beyond_three_columns():
    table = np.random.default_rng(5).random((40, 4))
    density = DensityNdLaplace(1.0, source="code", random_state=7).fit_transform(table)
    plain = NdLaplace(1.0, source="code", random_state=7).fit_transform(table)
    assert np.array_equal(density, plain)
