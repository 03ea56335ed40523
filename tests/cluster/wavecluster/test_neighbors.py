import numpy as np
import pytest

from shoal.cluster.wavecluster._deconvolve import Kept
from shoal.cluster.wavecluster._neighbors import with_neighbors


def kept(chances, threshold):
    chances = np.asarray(chances, dtype=np.float64)
    return Kept(chances > 0.5, threshold, chances, 0.2)


def test_clear_values_are_left_alone():
    chances = np.full((5, 5), 0.9)
    chances[2, 2] = 0.4
    assert not with_neighbors(kept(chances, threshold=10.0), scale=1.0)[2, 2]


def test_a_doubtful_cell_follows_its_neighbors():
    chances = np.full((5, 5), 0.95)
    chances[2, 2] = 0.3
    assert with_neighbors(kept(chances, threshold=1.0), scale=1.0)[2, 2]
    lonely = np.full((5, 5), 0.02)
    lonely[2, 2] = 0.6
    assert not with_neighbors(kept(lonely, threshold=1.0), scale=1.0)[2, 2]


def test_a_certain_cell_is_not_overruled():
    chances = np.full((5, 5), 0.98)
    chances[2, 2] = 1e-6
    assert not with_neighbors(kept(chances, threshold=1.0), scale=1.0)[2, 2]
    chances = np.full((5, 5), 0.02)
    chances[2, 2] = 1 - 1e-6
    assert with_neighbors(kept(chances, threshold=1.0), scale=1.0)[2, 2]


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_any_number_of_columns_and_cells_at_the_border(columns):
    mask = with_neighbors(kept(np.ones((3,) * columns), threshold=1.0), scale=5.0)
    assert mask.shape == (3,) * columns
    assert mask.all()


def test_a_threshold_of_infinity_keeps_nothing_more():
    chances = np.zeros((4, 4))
    assert not with_neighbors(kept(chances, threshold=np.inf), scale=1.0).any()
