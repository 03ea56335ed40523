"""Variants on shared starts: fits share their first centers, and nothing else."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from shoal.cluster.kmeans import pack_spheres
from shoal.exceptions import ParameterError
from shoal.papers.kccm import (
    SharedStart,
    fit_on_start,
    published_merge,
    published_model,
    variant_model,
)

X = np.random.default_rng(3).uniform(-1, 1, (60_000, 2))


def one_round(start):
    """Move centers to the means of their records, without noise."""
    labels = cdist(X, start).argmin(axis=1)
    sizes = np.bincount(labels, minlength=len(start)).astype(float)
    sums = [np.bincount(labels, weights=column, minlength=len(start)) for column in X.T]
    return np.column_stack(sums) / sizes[:, None], sizes


@pytest.mark.parametrize("variant", ["average nk", "gaussian nk", "allocation k"])
def test_runs_and_versions_share_a_start(variant):
    """So many records drown the noise of one round: what is left is the round from the start."""
    centers = 6 if variant.endswith("nk") else 2
    noisy, ends = [], []
    for start in (0, 1):
        packed = pack_spheres(centers, 2, SharedStart(start, b"", centers=centers, columns=2))
        means, sizes = one_round(packed)
        expected, _ = published_merge(means, sizes, 2)
        ends.append(expected)
        for run in (0, 1):
            for model in (
                variant_model(variant, k=2, epsilon=20.0, n=len(X), rounds=1),
                published_model(variant, formula="text", k=2, rounds=1),
            ):
                found = fit_on_start(model, X, start=start, seed=0, run=run).cluster_centers_
                noisy.append(found.tobytes())
                assert cdist(expected, found).min(axis=1).max() < 0.01
    assert len(set(noisy)) == len(noisy)
    assert cdist(*ends).min(axis=1).max() > 0.05  # other starts end elsewhere


def test_a_delta_is_taken_by_gaussian_noise_only():
    models = {
        name: variant_model(name, k=2, epsilon=1.0, n=300)
        for name in ("average k", "allocation nk", "gaussian nk", "auto")
    }
    assert {name for name, model in models.items() if model.delta > 0} == {"gaussian nk"}
    assert 0 < models["gaussian nk"].delta < 1 / 300
    assert {model.overcluster for name, model in models.items() if name.endswith(" nk")} == {3}
    assert models["average k"].overcluster == 1
    assert models["auto"].method == "auto"


def test_unknown_variants_are_refused():
    with pytest.raises(ParameterError, match="variants must be of"):
        variant_model("adaptive k", k=2, epsilon=1.0, n=300)
    with pytest.raises(ParameterError, match="variants must be of"):
        published_model("auto", formula="text", k=2)
