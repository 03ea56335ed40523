"""Distances in units of the bounds, with weights of columns: in fit, predict, score, on devices."""

import json

import numpy as np
import pytest

from helpers.kmeans_problems import blobs
from shoal.cluster import DPKMeans
from shoal.cluster.kmeans._methods import METHODS
from shoal.exceptions import ParameterError, ReleaseError
from shoal.privacy import Release
from shoal.reports import label_on_device

X = blobs(1500) * [1.0, 50.0]
BOX = ([-1.0, -50.0], [1.0, 50.0])


def model(k=4, **kwargs):
    return DPKMeans(k, **{"epsilon": 2.0, "bounds": BOX, "random_state": 0, **kwargs})


@pytest.mark.parametrize("method", METHODS)
def test_equal_weights_are_no_weights(method):
    plain = model(method=method).fit(X)
    alike = model(method=method, column_weights=[3.0, 3.0]).fit(X)
    assert np.array_equal(plain.cluster_centers_, alike.cluster_centers_)
    assert alike.score(X) == pytest.approx(3 * plain.score(X))
    assert alike.center_radius_ == pytest.approx(np.sqrt(3) * plain.center_radius_)
    assert "column_weights" not in plain.release_.values


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_labels_of_weighted_columns_are_the_same_everywhere(method):
    fitted = model(method=method, column_weights=[1.0, 0.03]).fit(X)
    release = Release.from_json(fitted.release_.to_json())
    assert np.array_equal(fitted.labels_, fitted.predict(X))
    assert np.array_equal(fitted.labels_, label_on_device(release, X))
    widths = np.subtract(BOX[1], BOX[0])
    gaps = (X - fitted.cluster_centers_[fitted.labels_]) / widths * np.sqrt([1.0, 0.03])
    assert -fitted.score(X) == pytest.approx((gaps**2).sum())
    others = (X[:, None] - fitted.cluster_centers_) / widths * np.sqrt([1.0, 0.03])
    nearest = (others**2).sum(axis=2).min(axis=1).sum()
    assert (gaps**2).sum() == pytest.approx(nearest, rel=1e-4)  # up to the rounding of the lattice


def test_a_column_of_little_weight_decides_nothing():
    """A 0/1 column that fills its bounds decides all; with a small weight the other one does."""
    rng = np.random.default_rng(0)
    low = rng.random(2000) < 0.5
    Y = np.column_stack([np.where(low, 0.2, 0.8), rng.integers(0, 2, 2000)])
    split = {}
    for weight in (1.0, 0.01):
        fitted = model(2, bounds=(0.0, 1.0), column_weights=[1.0, weight]).fit(Y)
        split[weight] = abs(np.corrcoef(fitted.labels_, low)[0, 1])
    assert split[1.0] < 0.2
    assert split[0.01] > 0.9


def test_learned_bounds_take_weights_too():
    fitted = model(bounds="private", column_weights=[1.0, 0.1]).fit(X)
    assert np.array_equal(label_on_device(fitted.release_, X), fitted.labels_)


def test_a_release_with_a_wrong_half_is_refused():
    release = json.loads(model(column_weights=[1.0, 0.5]).fit(X).release_.to_json())
    for wrong in ([1, 2, 3], [0, 5], ["a", 1]):
        release["values"]["half"] = wrong
        with pytest.raises(ReleaseError) as refused:
            label_on_device(Release.from_json(json.dumps(release)), X)
        assert (refused.value.parameter, refused.value.code) == ("release", "format")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0], "one number for each of 2 columns, got 1"),
        (3.0, "one number for each column, got float"),
        ([1.0, 0.0], "column_weights must be"),
        ([1.0, float("nan")], "column_weights must be"),
        (["a", "b"], "column_weights must be"),
        ([1.0, 1e-13], "within a factor of 2\\^36"),
    ],
)
def test_weights_that_are_none(weights, words):
    with pytest.raises(ParameterError, match=words):
        model(column_weights=weights).fit(X)


def test_weights_have_no_meaning_where_columns_share_a_unit():
    with pytest.raises(ParameterError, match="column_weights must be left out"):
        model(bounds=None, metric="cosine", column_weights=[1.0, 2.0]).fit(X)
