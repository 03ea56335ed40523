import dataclasses
import json

import pytest

from shoal.metrics import ClusteringScores
from shoal.metrics.clustering_scores import TITLES


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
