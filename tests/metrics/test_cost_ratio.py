import math

import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal.exceptions import DataError, ParameterError
from shoal.metrics import cost_ratio, nicv


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    return places[rng.integers(0, 3, size=300)] + rng.normal(scale=0.3, size=(300, 2))


def test_ratio_to_given_centers(blobs):
    good, bad = np.array([[0, 0], [5, 0], [0, 5]]), np.array([[1, 1], [2, 2]])
    assert cost_ratio(blobs, bad, reference=good) == nicv(blobs, bad) / nicv(blobs, good)
    assert cost_ratio(blobs, good, reference=good) == 1.0


def test_ratio_to_k_means(blobs):
    model = KMeans(3, n_init=10, random_state=7).fit(blobs)
    assert cost_ratio(blobs, model.cluster_centers_, random_state=7) == 1.0
    assert cost_ratio(blobs, [[0, 0], [5, 0], [0, 5]], random_state=7) == pytest.approx(
        nicv(blobs, [[0, 0], [5, 0], [0, 5]]) * len(blobs) / model.inertia_, rel=1e-6
    )


def test_no_reference_of_cost_zero():
    X = [[0.0], [1.0]]
    assert cost_ratio(X, [[0.0], [1.0], [2.0]]) == 1.0
    assert cost_ratio(X, [[0.0], [0.5]]) == math.inf
    assert cost_ratio(X, [[0.0], [0.5]], reference=X) == math.inf


def test_fewer_distinct_records_than_centers_needs_no_k_means():
    X = np.zeros((50, 2))
    assert cost_ratio(X, [[0.0, 0.0], [1.0, 1.0]]) == 1.0


def test_names_the_parameter_that_is_wrong():
    with pytest.raises(ParameterError, match="reference must"):
        cost_ratio([[0.0]], [[0.0]], reference=[[0.0, 1.0]])
    with pytest.raises(ParameterError, match="centers must"):
        cost_ratio([[0.0]], [[0.0, 1.0]])
    with pytest.raises(DataError, match="X must be a table"):
        cost_ratio([0.0], [[0.0]])
