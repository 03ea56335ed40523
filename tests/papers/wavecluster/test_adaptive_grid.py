"""The synthetic records of Baseline."""

import numpy as np
import pytest

from shoal.papers.wavecluster import adaptive_grid_records
from shoal.papers.wavecluster.adaptive_grid import consistent_counts


def test_consistent_counts_against_least_squares():
    """Variances 1/alpha^2 and 1/(1-alpha)^2 are equal: the best fit of c = sum and all parts."""
    coarse, fine, parts = np.array([12.0, -3.0]), np.array([1.0, 4.0, 5.0, 4.0, -1.0]), [4, 1]
    found = consistent_counts(coarse, fine, np.array(parts))
    start = 0
    for total, size in zip(coarse, parts, strict=True):
        rows = np.vstack([np.ones(size), np.eye(size)])
        seen = np.concatenate([[total], fine[start : start + size]])
        best, *_ = np.linalg.lstsq(rows, seen, rcond=None)
        assert found[start : start + size] == pytest.approx(best)
        start += size


def test_adaptive_grid_draws_where_records_are():
    """Records lie in the left fifth of each coarse cell of the lower half of the box."""
    rng = np.random.default_rng(11)
    positions = rng.random((20_000, 2)) * [0.2, 0.5]
    positions[:, 0] = (positions[:, 0] + rng.integers(0, 10, 20_000)) / 10
    drawn = adaptive_grid_records(positions, 5.0, np.random.default_rng(0), side=10)
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    # Negative counts become 0, so there are more synthetic records than records.
    assert 20_000 < len(drawn) < 22_000
    assert (drawn[:, 1] < 0.5).mean() > 0.95
    # Parts are no wider than a tenth of a coarse cell, so few records leave their fifth.
    assert (drawn[:, 0] * 10 % 1 < 0.3).mean() > 0.9
    assert np.median(drawn[:, 1]) == pytest.approx(0.25, abs=0.02)
