"""Keys of trials and the seeds that they become are frozen: else every recorded result is another.

A new name for a class or a method changes neither.
"""

import math

import pytest

from shoal._registry import METHODS
from shoal.experiments import Component, Trial
from shoal.experiments.compare.contender import Contender
from shoal.experiments.compare.equal_privacy import Batch
from shoal.papers.kccm.variants import VARIANTS
from shoal.papers.kd_laplace.settings import MECHANISMS
from shoal.papers.wavecluster.verdicts import TECHNIQUES

KMEANS = Component("KMeans", n_clusters=4)
SHUFFLED = Component("PartitionResponse", n_reports=2000, delta=1e-6)
PUBLISHED = Component("allocation nk", k=3, formula="pseudo-code", runs=2)
ALL_KINDS = Component("x", flag=True, low=-0.0, many=[1, 2.5, "b"], one=[0.1], none=())

FROZEN = [
    (
        Trial("heart", 2, Component("Laplace"), KMEANS, 0.5, 0),
        "heart | 2 columns | Laplace | KMeans(n_clusters=4) | epsilon 0.5 | repeat 0",
        2601776893,
    ),
    (
        Trial("records", None, Component("DPKMeans-grid"), None, 1.0, 3),
        "records | all columns | DPKMeans-grid | no clusterer | epsilon 1.0 | repeat 3",
        621265273,
    ),
    (
        Trial("records", None, Component("DPWaveCluster-thr-em"), None, 8.0, 0, spec_seed=7),
        "records | all columns | DPWaveCluster-thr-em | no clusterer | epsilon 8.0 | repeat 0",
        734407834,
    ),
    (
        Trial("records", None, SHUFFLED, None, 0.1, 1),
        "records | all columns | PartitionResponse(delta=1e-06, n_reports=2000) | no clusterer | "
        "epsilon 0.1 | repeat 1",
        3064444876,
    ),
    (
        Trial("seeds", 7, Component("density-nd-Laplace"), None, 9.0, 2, ("ami", "ari"), 5),
        "seeds | 7 columns | density-nd-Laplace | no clusterer | epsilon 9.0 | repeat 2",
        1341632525,
    ),
    (
        Trial("transfusion", None, PUBLISHED, None, 25.0, 1),
        "transfusion | all columns | allocation nk(formula='pseudo-code', k=3, runs=2) | "
        "no clusterer | epsilon 25.0 | repeat 1",
        3176667809,
    ),
    (
        Trial("uniform", 9, Component("kd-tree", points=32000), None, math.inf, 0),
        "uniform | 9 columns | kd-tree(points=32000) | no clusterer | epsilon inf | repeat 0",
        687159723,
    ),
    (
        Trial("ds1", None, Component("none"), None, 1e-5, 0, spec_seed=2**32),
        "ds1 | all columns | none | no clusterer | epsilon 1e-05 | repeat 0",
        2940198586,
    ),
    (
        Trial("a", 1, ALL_KINDS, Component("y", text="it's"), 1e22, 10),
        "a | 1 columns | x(flag=True, low=-0.0, many=(1, 2.5, 'b'), none=(), one=(0.1,)) | "
        'y(text="it\'s") | epsilon 1e+22 | repeat 10',
        1449217133,
    ),
    (
        Trial("Übung 1", 3, Component("KdLaplace-bayes"), Component("KMeans"), 1 / 3, 0),
        "Übung 1 | 3 columns | KdLaplace-bayes | KMeans | epsilon 0.3333333333333333 | repeat 0",
        1388770069,
    ),
]

# Text of each method in keys. A method that is renamed keeps its text, and a new one adds its own.
LABELS = {
    "DPDensity",
    "DPKMeans-ball",
    "DPKMeans-centered",
    "DPKMeans-grid",
    "DPKMeans-kccm",
    "DPKMeans-lloyd",
    "DPKMeans-mixed",
    "DPKMeans-tree",
    "DPWaveCluster-baseline",
    "DPWaveCluster-density",
    "DPWaveCluster-oneshot",
    "DPWaveCluster-qt",
    "DPWaveCluster-thr",
    "DPWaveCluster-thr-em",
    "Duchi",
    "Hybrid",
    "KdLaplace-bayes",
    "KdLaplace-grid",
    "Laplace",
    "PartitionResponse",
    "Piecewise",
    "PlanarLaplace",
    "SphericalLaplace",
    "SquareWave",
}


@pytest.mark.parametrize(("trial", "key", "seed"), FROZEN, ids=lambda one: str(one)[:40])
def test_keys_and_seeds_are_frozen(trial, key, seed):
    assert (trial.key, trial.seed) == (key, seed)


def test_every_compared_method_has_the_text_that_it_always_had():
    labels = [method.label for method in METHODS if method.compared]
    assert set(labels) == LABELS
    assert len(labels) == len(LABELS)
    assert not any(method.label for method in METHODS if not method.compared)


def test_a_new_name_of_a_method_or_class_changes_no_key():
    method = next(one for one in METHODS if one.label == "PartitionResponse")
    other = method._replace(name="Other", location="shoal.mechanisms:Duchi")
    before, after = Contender.from_method(method), Contender.from_method(other)
    assert after.component == before.component == Component("PartitionResponse")
    batch = Batch(2000, 1e-6)
    assert after.behind_shuffler(batch).component == before.behind_shuffler(batch).component


def test_the_studies_name_their_methods_as_they_always_did():
    assert MECHANISMS == ("nd-Laplace", "grid-nd-Laplace", "density-nd-Laplace", "piecewise")
    assert TECHNIQUES == ("thr", "thr-em", "qt", "baseline", "oneshot")
    names = ("average k", "average nk", "allocation k", "allocation nk", "gaussian k")
    assert set(VARIANTS) == {*names, "gaussian nk"}
