"""Piecewise as the thesis compares with it."""

import numpy as np

from shoal.papers.kd_laplace import ComparedPiecewise


def test_piecewise_is_unbiased_and_bounded():
    table = np.tile([[0.0, 0.0], [1.0, 1.0], [0.8, 0.3]], (20_000, 1))
    reports = ComparedPiecewise(2.0, random_state=1).fit_transform(table)
    limit = (np.e + 1) / (np.e - 1)
    assert np.abs(reports - 0.5).max() <= 0.5005 * limit
    means = reports.reshape(-1, 3, 2).mean(axis=0)
    # Standard error below 0.006: six of them.
    assert np.abs(means - table[:3]).max() < 0.036
