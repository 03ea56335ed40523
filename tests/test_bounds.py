"""Public bounds: boxes, balls, and what is refused."""

import numpy as np
import pytest

from shoal import Ball, DPKMeans, DPWaveCluster
from shoal._bounds import bounded_columns, public_box, surrounding_box
from shoal.exceptions import ParameterError

X = np.repeat([[0.6, 0.0, 0.0], [0.0, 0.0, -0.6]], 2000, axis=0)


def test_the_box_around_a_ball_has_one_width() -> None:
    low, high = Ball([1.0, 2.0], 3.0).box(2)
    assert low.tolist() == [-2.0, -1.0]
    assert high.tolist() == [4.0, 5.0]
    assert surrounding_box(Ball(0, 2), 3).high.tolist() == [2.0, 2.0, 2.0]
    assert surrounding_box((0, 2), 3).low.tolist() == [0.0, 0.0, 0.0]


def test_columns_of_bounds() -> None:
    assert bounded_columns(Ball([0, 0, 0], 1), default=2) == 3
    assert bounded_columns(Ball(), default=2) == 2
    assert bounded_columns(((0, 0), 1), default=5) == 2


def test_a_ball_is_for_kmeans_alone() -> None:
    with pytest.raises(ParameterError, match=r"^bounds must be a low and a high number.* Ball\("):
        public_box(Ball(0, 1), 2)
    with pytest.raises(ParameterError, match=r"^bounds must be a low and a high number"):
        DPWaveCluster().set_params(bounds=Ball(0, 1)).fit(X[:, :2])


def test_clusters_of_a_ball_are_found_and_published() -> None:
    model = DPKMeans(2, bounds=Ball(0.0, 1.0), epsilon=2.0, random_state=0).fit(X)
    found = model.cluster_centers_[np.argsort(-model.cluster_centers_[:, 0])]
    np.testing.assert_allclose(found, [[0.6, 0, 0], [0, 0, -0.6]], atol=0.05)
    assert model.bounds_.low.tolist() == [-1.0, -1.0, -1.0]
    assert model.release_.values["high"].tolist() == [1.0, 1.0, 1.0]
