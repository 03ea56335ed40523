"""StandardScaler, mechanism, clusterer in one pipeline, on numpy, pandas and polars."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, OPTICS, AffinityPropagation, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.cases import case
from helpers.scaled_mechanisms import MECHANISMS

CLUSTERERS = {
    "KMeans": KMeans(2, n_init=1, random_state=0),
    "AgglomerativeClustering": AgglomerativeClustering(2),
    "DBSCAN": DBSCAN(eps=0.8),
    "OPTICS": OPTICS(min_samples=5),
    # Duchi's reports are a few points many times over, which damping alone settles.
    "AffinityPropagation": AffinityPropagation(
        preference=-50, damping=0.9, max_iter=1000, random_state=0
    ),
}
TABLES: dict[str, Any] = {
    "numpy": np.asarray,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abc")[: X.shape[1]]),
    "polars": lambda X: pl.DataFrame(X, schema=list("abc")[: X.shape[1]]),
}


def blobs(d):
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1], 30)
    return rng.normal(0, 0.3, (60, d)) + np.where(truth, 2.0, -2.0)[:, np.newaxis], truth


# A report may fall together with another or far from all: the clusterers say so in warnings.
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.filterwarnings("ignore:divide by zero encountered:RuntimeWarning")
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_pipeline_gives_the_same_labels_for_every_table(mechanism):
    for name, clusterer in CLUSTERERS.items():
        with case(clusterer=name):
            records, _ = blobs(3 if mechanism == "SphericalLaplace" else 2)
            labels = []
            for make in TABLES.values():
                pipeline = make_pipeline(
                    StandardScaler(), clone(MECHANISMS[mechanism]), clone(clusterer)
                )
                labels.append(pipeline.fit_predict(make(records)))
            assert labels[0].shape == (60,)
            assert (labels[0] == labels[1]).all()
            assert (labels[0] == labels[2]).all()


@pytest.mark.parametrize(
    "mechanism", [name for name in MECHANISMS if name not in ("Piecewise-sample", "Duchi")]
)
def test_two_far_clusters_are_found_in_reports(mechanism):
    """At epsilons that leave a few records in 60 on the wrong side."""
    for clusterer in ["KMeans", "AgglomerativeClustering"]:
        with case(clusterer=clusterer):
            records, truth = blobs(3 if mechanism == "SphericalLaplace" else 2)
            pipeline = make_pipeline(
                StandardScaler(), clone(MECHANISMS[mechanism]), clone(CLUSTERERS[clusterer])
            )
            assert adjusted_mutual_info_score(truth, pipeline.fit_predict(records)) > 0.6


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_names_of_columns_travel_through_the_pipeline(mechanism):
    for container in ["pandas", "polars"]:
        with case(container=container):
            records, _ = blobs(3 if mechanism == "SphericalLaplace" else 2)
            pipeline = make_pipeline(StandardScaler(), clone(MECHANISMS[mechanism]))
            reports = pipeline.set_output(transform=container).fit_transform(
                TABLES[container](records)
            )
            assert list(reports.columns) == list("abc")[: records.shape[1]]
