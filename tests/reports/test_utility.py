"""Clusters from reports, judged on true records: better than plain k-means wherever it is hard."""

import numpy as np
import pytest

from helpers.noise_aware_comparison import EPSILONS, TUNED, compare


@pytest.mark.full
@pytest.mark.parametrize(("name", "epsilon"), [("s1", 8.0), ("a2", 8.0), ("unbalance", 4.0)])
def test_beats_plain_kmeans(name, epsilon):
    """Three seeds of three cells; the whole table is below."""
    cell = compare(name, TUNED[name], epsilon, range(3))
    assert cell.not_worse
    assert cell.excess < 0.75 * cell.plain_excess


@pytest.mark.full
def test_whole_table():
    """30 fresh seeds: nowhere worse in AMI (paired 95%), half the excess cost where it is hard."""
    cells = [
        compare(name, k, epsilon, range(60_000, 60_030))
        for name, k in TUNED.items()
        for epsilon in EPSILONS
    ]
    assert all(cell.not_worse for cell in cells), "\n".join(map(str, cells))
    hard = [cell for cell in cells if cell.epsilon <= 8]
    assert np.mean([c.excess for c in hard]) <= 0.5 * np.mean([c.plain_excess for c in hard])
