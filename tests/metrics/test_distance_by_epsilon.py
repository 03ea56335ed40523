import dataclasses
import math
import statistics

import numpy as np
import pytest

from shoal.exceptions import DataError, ParameterError
from shoal.metrics import distance_by_epsilon, privacy_distance


def spherical_noise(rng, n, columns, epsilon):
    """Noise of density exp(-epsilon ||z||): a direction and a Gamma distance."""
    directions = rng.normal(size=(n, columns))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * rng.gamma(columns, 1 / epsilon, size=(n, 1))


def test_against_the_statistics_module():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(41, 3))
    reports = {2: X + rng.normal(size=X.shape), 0.25: X + 9 * rng.normal(size=X.shape)}
    rows = distance_by_epsilon(X, reports)
    assert [row.epsilon for row in rows] == [0.25, 2.0]
    for row in rows:
        noisy = reports[row.epsilon]
        distances = [math.dist(a, b) for a, b in zip(X.tolist(), noisy.tolist(), strict=True)]
        assert row.mean == pytest.approx(statistics.fmean(distances), rel=1e-13)
        assert row.mean == privacy_distance(X, noisy)
        error = statistics.stdev(distances) / math.sqrt(41)
        assert row.standard_error == pytest.approx(error, rel=1e-12)
        assert row.median == pytest.approx(sorted(distances)[20], rel=1e-13)
        assert row.quantile_90 == pytest.approx(sorted(distances)[36], rel=1e-13)
        assert row.mean_times_epsilon == row.mean * row.epsilon


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_metric_mechanism_gives_the_number_of_columns(columns):
    """Six columns-and-epsilon pairs at 5 standard errors: false alarm below 10^-5 in all."""
    rng = np.random.default_rng(columns)
    X = rng.random((20_000, columns))
    reports = {e: X + spherical_noise(rng, len(X), columns, e) for e in (0.1, 4.0)}
    for row in distance_by_epsilon(X, reports):
        error = row.standard_error * row.epsilon
        assert error == pytest.approx(math.sqrt(columns / len(X)), rel=0.1)
        assert abs(row.mean_times_epsilon - columns) < 5 * error


def test_one_record_has_no_standard_error():
    (row,) = distance_by_epsilon([[0.0, 0.0]], {1: [[3.0, 4.0]]})
    assert row.standard_error is None
    assert row.mean == row.median == row.quantile_90 == 5.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.mean = 0.0


@pytest.mark.parametrize("epsilon", [0, -1.0, math.inf, math.nan, "1", True])
def test_bad_epsilon(epsilon):
    with pytest.raises(ParameterError, match="epsilon must be a finite number > 0"):
        distance_by_epsilon([[0.0]], {epsilon: [[0.0]]})


def test_bad_input():
    with pytest.raises(ParameterError, match=r"reports must be a mapping .* got list"):
        distance_by_epsilon([[0.0]], [[0.0]])
    with pytest.raises(ParameterError, match=r"reports must be a mapping .* got an empty one"):
        distance_by_epsilon([[0.0]], {})
    with pytest.raises(DataError, match=r"at epsilon 0.5: reports must have the shape of X"):
        distance_by_epsilon([[0.0]], {1.0: [[0.0]], 0.5: [[0.0, 1.0]]})
    with pytest.raises(DataError, match=r"at epsilon 1: X and reports must be small enough"):
        distance_by_epsilon([[0.0]], {1.0: [[1e200]]})
    with pytest.raises(DataError, match=r"^X must be a table"):
        distance_by_epsilon([0.0], {1.0: [[0.0]]})
