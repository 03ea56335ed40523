"""Records whose direction counts: brought to length 1 in fit, predict, score and on devices."""

import numpy as np
import pytest

from shoal import Ball, DPKMeans, label_on_device

RNG = np.random.default_rng(0)
DIRECTIONS = RNG.standard_normal((3, 6))
LABELS = RNG.integers(0, 3, 3000)
# Of every length, a hundred times as long as others: only directions are alike.
X = DIRECTIONS[LABELS] + 0.2 * RNG.standard_normal((3000, 6))
X *= 10.0 ** RNG.uniform(-1, 1, (3000, 1))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


def model(**kwargs):
    return DPKMeans(3, **{"epsilon": 4.0, "metric": "cosine", "random_state": 0, **kwargs})


def test_lengths_do_not_count():
    long = model().fit(X)
    short = model().fit(1e-3 * X)
    np.testing.assert_allclose(long.cluster_centers_, short.cluster_centers_, atol=1e-4)
    found = long.cluster_centers_ / np.linalg.norm(long.cluster_centers_, axis=1, keepdims=True)
    true = DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
    assert (found @ true.T).max(axis=0).min() > 0.97
    assert (long.predict(X) == long.predict(5 * X)).mean() > 0.999
    assert long.score(X) == pytest.approx(long.score(7 * X), rel=1e-6)


def test_it_is_kmeans_of_unit_vectors_in_the_unit_ball():
    cosine = model().fit(X)
    plain = model(metric="bounds", bounds=Ball(0, 1)).fit(UNIT)
    np.testing.assert_allclose(cosine.cluster_centers_, plain.cluster_centers_, atol=1e-5)
    assert cosine.score(X) == pytest.approx(plain.score(UNIT), rel=1e-5)


def test_labels_on_the_device_are_those_of_predict():
    fitted = model().fit(X)
    assert fitted.release_.values["metric"] == "cosine"
    assert (label_on_device(fitted.release_, X) == fitted.predict(X)).all()
    assert (fitted.labels_ == fitted.predict(X)).all()


def test_advice_names_no_bounds_where_there_are_none():
    model = DPKMeans(3, epsilon=0.01, metric="cosine", random_state=0)
    model.fit(np.random.default_rng(0).standard_normal((300, 40)))
    assert not model.certain_.any()
    assert "bounds" not in model.advice_
