from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers.cases import case
from shoal.exceptions import DataError, ParameterError
from shoal.mechanisms import Laplace
from shoal.reports import (
    cluster_reports,
    select_dbscan_eps,
    select_n_clusters,
)

METHODS = ["kmeans", "agglomerative", "optics", "dbscan", "affinity"]


def blobs(k, n=300, spread=0.05, seed=0):
    """Blobs on a circle, far apart, and which each row belongs to."""
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(k) / k
    centers = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    labels = np.arange(n) % k
    return centers[labels] + spread * rng.normal(size=(n, 2)), labels


@pytest.mark.parametrize(
    ("method", "k"), [("elbow", 3), ("elbow", 5), ("silhouette", 4), ("gap", 3), ("gap", 5)]
)
def test_number_of_clusters_on_easy_sets(method, k):
    choice = select_n_clusters(blobs(k, n=150)[0], method=method, random_state=0)
    assert choice.n_clusters == k
    assert choice.method == method
    assert len(choice.candidates) == len(choice.scores)
    assert k in choice.candidates


@pytest.mark.parametrize("method", ["silhouette", "gap"])
@pytest.mark.parametrize("k", [2, 9])
def test_first_and_last_candidate_can_be_chosen(method, k):
    assert select_n_clusters(blobs(k, n=150)[0], method=method, random_state=0).n_clusters == k


def test_number_of_clusters_from_reports():
    mechanism = Laplace(20.0, bounds=(-2.0, 2.0), random_state=0)
    reports = mechanism.fit_transform(blobs(4, n=400)[0])
    for method in ("elbow", "silhouette", "gap"):
        assert select_n_clusters(reports, method=method, random_state=0).n_clusters == 4


def test_few_reports():
    assert select_n_clusters([[0.0, 1.0]]).n_clusters == 1
    assert select_n_clusters(np.zeros((20, 2))).n_clusters == 1
    assert select_n_clusters([[0.0], [1.0], [5.0]]).n_clusters == 2
    assert select_dbscan_eps([[0.0, 1.0]]).eps == 1.0
    assert select_dbscan_eps(np.zeros((20, 2))).eps == 1.0


def test_choices_are_frozen():
    for choice in (select_n_clusters(blobs(3)[0], random_state=0), select_dbscan_eps(blobs(3)[0])):
        with pytest.raises(AttributeError):
            choice.method = "other"


def test_knee_lies_between_clusters_and_outliers():
    table, _ = blobs(3)
    outliers = np.random.default_rng(1).uniform(-5, 5, (15, 2))
    choice = select_dbscan_eps(np.concatenate([table, outliers]))
    assert choice.neighbor == 3
    assert (np.diff(choice.distances) >= 0).all()
    within = select_dbscan_eps(table).distances
    assert np.quantile(within, 0.9) < choice.eps < 1.0


@pytest.mark.parametrize("method", METHODS)
def test_every_clusterer_finds_easy_clusters(method):
    table, truth = blobs(4)
    result = cluster_reports(table, method, random_state=0)
    assert result.method == method
    assert result.labels.shape == truth.shape
    kept = result.labels >= 0
    assert kept.mean() > 0.4  # OPTICS calls many reports noise
    # Every cluster found lies in one true cluster.
    for label in np.unique(result.labels[kept]):
        assert len(np.unique(truth[result.labels == label])) == 1
    if method in ("kmeans", "agglomerative"):
        assert result.parameters["n_clusters"] == result.n_clusters == 4
    if method in ("optics", "dbscan"):
        assert result.parameters["min_samples"] == 4
    with pytest.raises(TypeError):
        result.parameters["more"] = 1


@pytest.mark.parametrize("method", METHODS)
def test_few_reports_in_every_clusterer(method):
    for n in [1, 2, 3]:
        with case(n=n):
            result = cluster_reports(np.arange(2.0 * n).reshape(n, 2), method, random_state=0)
            assert result.labels.shape == (n,)
            same = cluster_reports(np.ones((n, 2)), method, random_state=0)
            assert same.labels.shape == (n,)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_tables(make):
    table, _ = blobs(3)
    frame = make({"a": table[:, 0], "b": table[:, 1]})
    assert cluster_reports(frame, n_clusters=3, random_state=0).n_clusters == 3
    assert select_dbscan_eps(frame).eps == select_dbscan_eps(table).eps
    assert select_n_clusters(frame, method="silhouette", random_state=0).n_clusters == 3


def test_columns_are_standardized():
    table, truth = blobs(3)
    stretched = table * [1.0, 1e4]
    result = cluster_reports(stretched, n_clusters=3, random_state=0)
    same = cluster_reports(table, n_clusters=3, random_state=0)
    assert (result.labels == same.labels).all()
    for label in range(3):
        assert len(np.unique(truth[result.labels == label])) == 1


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (cluster_reports, {"method": "best"}, "method must"),
    (cluster_reports, {"n_clusters": 0}, "n_clusters must"),
    (cluster_reports, {"method": "dbscan", "eps": -1.0}, "eps must"),
    (cluster_reports, {"method": "optics", "min_samples": 1.5}, "min_samples must"),
    (cluster_reports, {"standardize": "yes"}, "standardize must"),
    (cluster_reports, {"select": "best"}, "method must"),
    (select_n_clusters, {"method": "best"}, "method must"),
    (select_n_clusters, {"candidates": 3}, "candidates must"),
    (select_n_clusters, {"candidates": []}, "candidates must"),
    (select_n_clusters, {"candidates": [0]}, "candidates must"),
    (select_n_clusters, {"candidates": [1, 2], "method": "silhouette"}, "candidates must"),
    (select_dbscan_eps, {"neighbor": 0}, "neighbor must"),
]


def test_bad_parameters():
    for function, kwargs, message in BAD:
        with case(kwargs=kwargs), pytest.raises(ParameterError, match=message):
            function(blobs(3)[0], **kwargs)


def test_bad_reports():
    functions: list[Any] = [cluster_reports, select_n_clusters, select_dbscan_eps]
    for function in functions:
        with case(function=function):
            for bad in ([[np.nan, 1.0]], [1.0], np.empty((0, 2)), "reports"):
                with pytest.raises(DataError, match="X must"):
                    function(bad)


def test_too_many_reports_for_memory_in_their_square():
    with pytest.raises(ParameterError, match="method must be kmeans"):
        cluster_reports(np.zeros((20_001, 1)), "affinity")
