"""The table of the source, with and without outliers."""

import numpy as np

from helpers.paper_data import needs_files
from shoal.papers.kccm import load_blood, without_outliers


@needs_files
def test_blood_is_the_table_of_the_source():
    table = load_blood()
    assert table.shape == (748, 4)
    assert (table.min(axis=0) == -1).all()
    assert (table.max(axis=0) == 1).all()


def test_outliers_are_left_out():
    rng = np.random.default_rng(0)
    table = np.vstack([rng.uniform(-1, 1, (200, 2)), [[9.0, 0.0], [0.0, -9.0]]])
    kept = without_outliers(table)
    assert kept.shape == (200, 2)
    assert np.abs(kept).max() == 1.0
