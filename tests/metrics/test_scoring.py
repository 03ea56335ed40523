"""All measures in one call, against scikit-learn."""

import dataclasses
import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import make_blobs

from shoal.exceptions import DataError, ParameterError
from shoal.metrics import (
    ClusteringScores,
    centroid_index,
    centroid_relative_error,
    nicv,
    score_clustering,
)
from shoal.metrics.scoring import TITLES

MEASURES = (
    "ami",
    "ari",
    "nmi",
    "silhouette",
    "calinski_harabasz",
    "davies_bouldin",
    "nicv",
    "cost",
    "centroid_relative_error",
    "centroid_index",
)


@pytest.fixture
def blobs():
    """Overlapping blobs of unequal sizes, with labels that are partly wrong."""
    X, truth = make_blobs([300, 120, 40, 9], n_features=3, cluster_std=2.5, random_state=0)
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(len(X)) < 0.2, rng.integers(0, 4, len(X)), truth)
    return X, labels, truth


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr("shoal.metrics._dispersion.CHUNK_VALUES", 100)
    # The function hides the module of the same name.
    monkeypatch.setattr("shoal.metrics.centers.CHUNK_VALUES", 100)


def means(X, labels):
    return np.array([X[labels == name].mean(axis=0) for name in np.unique(labels)])


@pytest.mark.parametrize("chunks", ["one", "many"])
def test_against_scikit_learn(blobs, chunks, request):
    if chunks == "many":
        request.getfixturevalue("small_chunks")
    X, labels, truth = blobs
    targets = means(X, truth)
    scores = score_clustering(X, labels, reference_labels=truth, reference_centers=targets)
    centers = means(X, labels)
    assert scores.ami == metrics.adjusted_mutual_info_score(truth, labels)
    assert scores.ari == metrics.adjusted_rand_score(truth, labels)
    assert scores.nmi == metrics.normalized_mutual_info_score(truth, labels)
    expected = {
        "silhouette": metrics.silhouette_score(X, labels),
        "calinski_harabasz": metrics.calinski_harabasz_score(X, labels),
        "davies_bouldin": metrics.davies_bouldin_score(X, labels),
        "nicv": nicv(X, centers),
        "cost": nicv(X, centers) * len(X),
        "centroid_relative_error": centroid_relative_error(centers, targets),
        "centroid_index": centroid_index(centers, targets),
    }
    for name, value in expected.items():
        assert getattr(scores, name) == pytest.approx(value, rel=1e-11), name
    assert scores.silhouette_sampled is None
    assert (scores.n_records, scores.n_clusters, scores.noise_share) == (469, 4, 0.0)


@pytest.mark.usefixtures("small_chunks")
def test_noise_is_left_out_of_shape_and_cost_but_not_of_agreement(blobs):
    X, labels, truth = blobs
    noisy = np.where(np.arange(len(X)) % 5 == 0, -1, labels)
    kept = noisy != -1
    scores = score_clustering(X, noisy, reference_labels=truth)
    alone = score_clustering(X[kept], labels[kept])
    for name in ("silhouette", "calinski_harabasz", "davies_bouldin", "nicv", "cost"):
        assert getattr(scores, name) == pytest.approx(getattr(alone, name), rel=1e-12), name
    assert scores.n_clusters == 4
    assert scores.noise_share == np.mean(~kept)
    assert scores.ami == pytest.approx(metrics.adjusted_mutual_info_score(truth, noisy), rel=1e-13)
    assert scores.ari < metrics.adjusted_rand_score(truth[kept], noisy[kept])


def test_noise_in_the_reference_is_a_group_too(blobs):
    X, labels, truth = blobs
    reference = np.where(truth == 0, -1, truth)
    scores = score_clustering(X, labels, reference_labels=reference)
    assert scores.ari == score_clustering(X, labels, reference_labels=truth).ari


def test_given_centers_decide_cost_and_place(blobs):
    X, labels, truth = blobs
    centers, targets = means(X, truth) + 1, means(X, truth)
    scores = score_clustering(X, labels, centers=centers, reference_centers=targets)
    assert scores.nicv == pytest.approx(nicv(X, centers), rel=1e-13)
    assert scores.centroid_relative_error == centroid_relative_error(centers, targets)
    assert scores.centroid_index == centroid_index(centers, targets)
    assert scores.calinski_harabasz == score_clustering(X, labels).calinski_harabasz
    assert scores.ami is scores.ari is scores.nmi is None
    shifted = score_clustering(X, labels, centers=[[0.0] * 3], reference_centers=targets)
    assert shifted.centroid_index == 3


def test_names_of_clusters_do_not_matter(blobs):
    X, labels, truth = blobs
    plain = score_clustering(X, labels, reference_labels=truth)
    words = np.array(["d", "-1", "Z", ""])
    numbers = np.array([-7, 10**12, 3, -2])
    for renamed in (words[labels], words[labels].astype(object), numbers[labels]):
        scores = score_clustering(X, pd.Series(renamed), reference_labels=words[truth].tolist())
        assert scores.n_clusters == 4
        assert scores.noise_share == 0.0
        for name in MEASURES[:8]:
            assert getattr(scores, name) == pytest.approx(getattr(plain, name), rel=1e-10), name
    unsigned = score_clustering(X, labels.astype(np.uint8), reference_labels=truth)
    assert unsigned == plain


def test_one_cluster_and_as_many_as_records():
    X = np.random.default_rng(0).normal(size=(12, 2))
    one = score_clustering(X, np.zeros(12, dtype=int), reference_labels=np.arange(12) % 3)
    each = score_clustering(X, np.arange(12), reference_labels=np.arange(12))
    for scores in (one, each):
        assert scores.silhouette is scores.calinski_harabasz is scores.davies_bouldin is None
        assert scores.silhouette_sampled is None
    assert one.nicv == pytest.approx(X.var(axis=0).sum(), rel=1e-13)
    assert each.nicv == pytest.approx(0.0, abs=1e-30)
    assert (one.ari, each.ari) == (0.0, 1.0)
    single = score_clustering([[3.0]], ["a"], reference_labels=["b"], reference_centers=[[1.0]])
    assert (single.nicv, single.ami, single.centroid_index) == (0.0, 1.0, 0)
    assert single.centroid_relative_error is None  # One reference center has no spread.


def test_nothing_but_noise():
    scores = score_clustering([[0.0], [1.0]], [-1, -1], reference_labels=[0, 1])
    assert (scores.n_clusters, scores.noise_share, scores.ari) == (0, 1.0, 0.0)
    assert [getattr(scores, name) for name in MEASURES[3:]] == [None] * 7
    centers = [[0.0], [1.0]]
    scores = score_clustering(centers, [-1, -1], centers=centers, reference_centers=centers)
    assert (scores.nicv, scores.centroid_relative_error, scores.centroid_index) == (None, 0.0, 0)


def test_nothing_to_divide_by():
    """Clusters without width, and clusters with one mean, in numbers whose sums are rounded."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points = np.repeat(rng.random((3, 2)), 7, axis=0)
        tight = score_clustering(points, np.repeat([0, 1, 2], 7))
        assert tight.calinski_harabasz is None
        assert tight.davies_bouldin == pytest.approx(0.0, abs=1e-12)
        assert tight.silhouette == pytest.approx(1.0, rel=1e-6)
        away = rng.random((2, 5, 2))
        rings = np.concatenate([0.3 + away, 0.3 - away]).reshape(-1, 2)
        around = score_clustering(rings, np.tile(np.repeat([0, 1], 5), 2))
        assert around.davies_bouldin is None
        assert around.calinski_harabasz == pytest.approx(0.0, abs=1e-12)


def test_records_that_are_all_the_same():
    same = score_clustering(np.full((6, 2), 0.1), [0, 0, 0, 1, 1, 1])
    assert same.calinski_harabasz is same.davies_bouldin is None
    assert same.nicv == 0.0


def test_many_clusters_give_no_warning():
    X, labels = np.random.default_rng(0).random((60, 2)), np.arange(60)
    scores = score_clustering(X, labels // 2, reference_labels=labels)
    assert scores.nmi == pytest.approx(
        metrics.v_measure_score(np.tile(labels, 2), np.tile(labels // 2, 2))
    )
    assert scores.ari == pytest.approx(0.0)


def test_pairs_of_clusters_with_one_mean_are_passed_over_as_in_scikit_learn():
    X = np.array([[-1.0], [1.0], [-2.0], [2.0], [7.0], [9.0]])
    labels = np.array([0, 0, 1, 1, 2, 2])
    expected = metrics.davies_bouldin_score(X, labels)
    assert score_clustering(X, labels).davies_bouldin == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("shift", "unit"), [(2.0**30, 1.0), (0.0, 2.0**-100), (0.0, 2.0**100)])
def test_shift_and_unit_do_not_matter(shift, unit):
    """scikit-learn's Davies-Bouldin is 0 for a unit below 10^-8, and loses digits far away."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2**10, size=(300, 2)) / 2**10
    labels = (X[:, 0] * 3).astype(int)
    plain = score_clustering(X, labels)
    moved = score_clustering(X * unit + shift, labels)
    for name in ("silhouette", "calinski_harabasz", "davies_bouldin"):
        assert getattr(moved, name) == pytest.approx(getattr(plain, name), rel=1e-9), name
    assert moved.nicv == pytest.approx(plain.nicv * unit**2, rel=1e-9)


def test_sampled_silhouette_is_near_the_exact_one():
    """Five standard deviations, 0.016 each as seen in 100 runs: false alarm below 2 in 10^5."""
    X, labels = make_blobs([4000, 900, 90, 10], n_features=2, cluster_std=2.0, random_state=3)
    labels = np.where(np.arange(len(X)) % 17 == 0, -1, labels)
    exact = score_clustering(X, labels)
    assert exact.silhouette_sampled is None
    errors = []
    for seed in range(20):
        drawn = score_clustering(X, labels, silhouette_limit=600, random_state=seed)
        assert 590 <= drawn.silhouette_sampled <= 600
        assert drawn.davies_bouldin == exact.davies_bouldin
        errors.append(drawn.silhouette - exact.silhouette)
    assert max(map(abs, errors)) < 5 * 0.016
    assert abs(np.mean(errors)) < 5 * 0.016 / np.sqrt(20)
    again = score_clustering(X, labels, silhouette_limit=600, random_state=19)
    assert again == drawn
    assert "from" in str(drawn)


def test_small_clusters_count_for_their_size_in_a_sample():
    """Ten of each are drawn; unweighted, the bad silhouettes of the ten would count as half."""
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(size=(5000, 1)), rng.uniform(-9, 9, size=(10, 1))])
    labels = np.repeat(["large", "small"], [5000, 10])
    exact = score_clustering(X, labels)
    drawn = [
        score_clustering(X, labels, silhouette_limit=20, random_state=seed).silhouette
        for seed in range(60)
    ]
    assert np.mean(drawn) == pytest.approx(exact.silhouette, abs=0.04)


def test_sample_holds_records_of_every_cluster_and_no_noise():
    """Noise at one far place would turn every silhouette toward 1 or spoil the sample."""
    X = np.concatenate([np.zeros((500, 1)), np.ones((3, 1)), np.full((200, 1), 1e6)])
    labels = np.repeat([4, 9, -1], [500, 3, 200])
    scores = score_clustering(X, labels, silhouette_limit=50)
    assert scores.silhouette == 1.0
    assert scores.silhouette_sampled == 50


def test_more_clusters_than_a_sample_can_hold():
    X = np.random.default_rng(0).random((100, 1))
    scores = score_clustering(X, np.arange(100) // 2, silhouette_limit=99)
    assert scores.silhouette is scores.silhouette_sampled is None
    assert scores.davies_bouldin > 0


def test_memory_of_a_large_table_stays_below_the_table():
    """One cluster holds nearly all: scikit-learn's own functions copy it and more."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400_000, 16))
    labels = np.where(rng.random(len(X)) < 0.95, 0, rng.integers(-1, 15, len(X)))
    reference = rng.integers(0, 15, len(X))
    score_clustering(X[:500], labels[:500], reference_labels=reference[:500])  # Imports.
    tracemalloc.start()
    score_clustering(
        X, labels, reference_labels=reference, reference_centers=X[:15], silhouette_limit=2000
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.7 * X.nbytes


def test_overflow_is_not_silent():
    for size in (1e160, 1.5e308):
        with pytest.raises(DataError, match="X must be small enough"):
            score_clustering([[-size], [size], [0.0]], [0, 0, 1])


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 1], "labels must be one label for each of the 3 records, got shape"),
        ([[0], [1], [0]], "labels must be one label for each of the 3 records"),
        (0, "labels must be one label for each of the 3 records"),
        ([[0], [1, 2], [3]], "labels must be one label a record, got uneven lists"),
        ([0.0, 1.0, 2.0], "labels must be integers or strings, one kind, got float64"),
        ([0, 1, None], "labels must be integers or strings, one kind, got object"),
        ([0, 1, "a"], "labels must be integers or strings, one kind"),
        ([True, False, True], "labels must be integers or strings, one kind, got bool"),
    ],
)
def test_bad_labels(labels, words):
    X = [[0.0], [1.0], [2.0]]
    with pytest.raises(ParameterError, match=f"^{words}") as caught:
        score_clustering(X, labels)
    assert "\n" not in str(caught.value)
    with pytest.raises(ParameterError, match=f"^reference_{words}"):
        score_clustering(X, [0, 0, 1], reference_labels=labels)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"centers": [[0.0, 1.0]]}, "centers must have 1 columns, as X has, got 2"),
        ({"centers": [[np.nan]]}, "centers must be a table of finite numbers"),
        ({"reference_centers": [[0.0, 1.0]]}, "reference_centers must have 1 columns, as X has"),
        ({"reference_centers": [[1e200]]}, "centers and reference_centers must be small enough"),
        ({"silhouette_limit": 0}, "silhouette_limit must be a whole number from 1"),
        ({"silhouette_limit": 1.5}, "silhouette_limit must be a whole number from 1"),
        ({"random_state": "a"}, "random_state must be an integer >= 0, a RandomState or None"),
        ({"random_state": -1}, "random_state must be an integer >= 0"),
    ],
)
def test_bad_parameters(wrong, words):
    with pytest.raises(ParameterError, match=f"^{words}"):
        score_clustering([[0.0], [1.0], [2.0]], [0, 0, 1], **wrong)


def test_bad_records():
    with pytest.raises(DataError, match="X must hold finite numbers") as caught:
        score_clustering([[12.5], [np.nan]], [0, 1])
    assert "12.5" not in str(caught.value)


@pytest.fixture
def scores():
    return ClusteringScores(
        n_records=20_000,
        n_clusters=3,
        noise_share=0.25,
        ami=None,
        ari=None,
        nmi=None,
        silhouette=0.51234567,
        silhouette_sampled=9_998,
        calinski_harabasz=12.5,
        davies_bouldin=0.75,
        nicv=1.5,
        cost=30_000.0,
        centroid_relative_error=0.0,
        centroid_index=1,
    )


def test_every_field_has_a_title():
    fields = [field.name for field in dataclasses.fields(ClusteringScores)]
    fields.remove("silhouette_sampled")
    assert list(TITLES) == fields


def test_prints_as_a_table(scores):
    lines = str(scores).splitlines()
    assert len(lines) == len(TITLES)
    assert len({line.rindex("  ") for line in lines}) == 1  # One column of values.
    values = dict(line.rsplit("  ", 1) for line in lines)
    values = {title.strip(): value for title, value in values.items()}
    assert values["records"] == "20000"
    assert values["silhouette (more, 1), from 9998 records"] == "0.5123"
    assert values["ARI (more, 1)"] == "-"
    assert values["cost (less, 0)"] == "3e+04"
    assert values["centroid index (less, 0)"] == "1"


def test_exact_silhouette_says_nothing_of_a_sample(scores):
    assert "from" not in str(dataclasses.replace(scores, silhouette_sampled=None))


def test_as_json(scores):
    values = json.loads(json.dumps(scores.to_dict()))
    assert ClusteringScores(**values) == scores


def test_frozen(scores):
    with pytest.raises(dataclasses.FrozenInstanceError):
        scores.ami = 1.0
