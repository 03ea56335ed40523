"""Whatever is made from a release or from reports that a seed drew promises nothing either.

The seed takes the noise off the first result, and so off what follows from it, however private the
second step is.
"""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from shoal.cluster import ClusterProfile, DPDensity, DPKMeans, DPWaveCluster, PrivateCopy
from shoal.mechanisms import (
    Hybrid,
    KdLaplace,
    Laplace,
    PartitionResponse,
    Piecewise,
    load_mechanism,
    save_beside,
)
from shoal.privacy import Guarantee, Ledger, Release
from shoal.remap import BayesRemap
from shoal.reports import (
    NoiseAwareDensity,
    NoiseAwareKMeans,
    TwoRoundCampaign,
    analyze_reports,
    load_release,
)
from shoal.schema import Number, Schema

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    np.clip(rng.normal([[0.25, 0.25]] * 60 + [[0.75, 0.75]] * 60, 0.05), 0, 1), columns=["x", "y"]
)
SCHEMA = Schema([Number(name, minimum=0, maximum=1, missing="refuse") for name in FRAME])
BOX = ([0.0, 0.0], [1.0, 1.0])

CENTRAL = [
    DPKMeans(2, epsilon=50.0, schema=SCHEMA),
    DPDensity(epsilon=50.0, schema=SCHEMA),
    DPWaveCluster(epsilon=50.0, schema=SCHEMA, grid=8),
]
FROM_A_RELEASE = {
    "the release": lambda model: model.release_.guarantee,
    "its file": lambda model: Release.from_json(model.release_.to_json()).guarantee,
    "what labels records": lambda model: load_release(model.release_).guarantee,
    "a pickle": lambda model: pickle.loads(pickle.dumps(model)).guarantee_,
    "a copy": lambda model: copy.deepcopy(model).guarantee_,
    "a profile": lambda model: ClusterProfile(model.release_).fit(FRAME).guarantee_,
    "a profile of the estimator": lambda model: ClusterProfile(model).fit(FRAME).guarantee_,
    "a profile's release": lambda model: ClusterProfile(model).fit(FRAME).release_.guarantee,
    "a profile of a file": lambda model: (
        ClusterProfile(Release.from_json(model.release_.to_json())).fit(FRAME).guarantee_
    ),
    "a group": lambda model: model.guarantee_.for_group(3),
    "substitution": lambda model: model.guarantee_.to_substitute(),
    "a delta": lambda model: model.guarantee_.to_approximate(1e-6),
}
FROM_A_DENSITY = {
    "refined": lambda model: model.refine(n_clusters=1).guarantee_,
    "refined, released": lambda model: model.refine(n_clusters=1).release_.guarantee,
    "made again": lambda model: DPDensity.from_release(model.release_).guarantee_,
    "made again and refined": lambda model: (
        DPDensity.from_release(model.release_).refine(n_clusters=1).release_.guarantee
    ),
    "a profile of the refined": lambda model: (
        ClusterProfile(model.refine(n_clusters=1)).fit(FRAME).guarantee_
    ),
}


def holds_unless_seeded(seed, guarantee):
    assert isinstance(guarantee, Guarantee)
    assert guarantee.notion != "none"
    assert guarantee.seeded == (seed is not None)
    assert guarantee.holds == (seed is None)


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("model", CENTRAL, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("what", FROM_A_RELEASE)
def test_of_a_release(what, model, seed):
    fitted = clone(model).set_params(random_state=seed).fit(FRAME)
    holds_unless_seeded(seed, FROM_A_RELEASE[what](fitted))


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("what", FROM_A_DENSITY)
def test_of_a_density(what, seed):
    fitted = DPDensity(epsilon=50.0, schema=SCHEMA, random_state=seed).fit(FRAME)
    holds_unless_seeded(seed, FROM_A_DENSITY[what](fitted))


@pytest.mark.parametrize("seed", [None, 0])
def test_of_a_copy(seed):
    fitted = PrivateCopy(epsilon=50.0, schema=SCHEMA, random_state=seed).fit(FRAME)
    fitted.sample(10, random_state=3)  # whose seed has nothing to do with it
    holds_unless_seeded(seed, pickle.loads(pickle.dumps(fitted)).release_.guarantee)


@pytest.mark.parametrize("seed", [None, 0])
def test_a_ledger_says_so_of_the_profile_too(seed):
    """Whoever reads a ledger of the second step alone sees that its promise is void."""
    clusters = DPKMeans(2, epsilon=50.0, schema=SCHEMA, random_state=seed).fit(FRAME)
    ledger = Ledger(epsilon=2.0)
    ClusterProfile(clusters.release_, ledger=ledger).fit(FRAME)
    assert [entry.seeded for entry in ledger.entries] == [seed is not None]
    (spent,) = ledger.spent
    holds_unless_seeded(seed, spent)


def test_a_profile_of_its_own_seed_promises_nothing():
    clusters = DPKMeans(2, epsilon=50.0, schema=SCHEMA).fit(FRAME)
    assert not ClusterProfile(clusters.release_, random_state=0).fit(FRAME).guarantee_.holds


MECHANISMS = {
    "noise": Laplace(20.0, unit="m", bounds=BOX),
    "unbiased": Piecewise(8.0, bounds=BOX),
    "sampled": Hybrid(3.0, bounds=BOX, columns="sample"),
    "partitions": PartitionResponse(4.0, bounds=BOX, n_clusters=2),
}


def read_again(mechanism, folder):
    """Return the mechanism as a server reads it."""
    mechanism.save(folder / "document.json")
    return load_mechanism(folder / "document.json")


def beside(mechanism, folder):
    """Return the mechanism of a file of reports."""
    return load_mechanism(save_beside(mechanism, folder / "reports.csv", ["x", "y"]))


HANDED_ON = {
    "itself": lambda mechanism, _folder: mechanism,
    "a copy": lambda mechanism, _folder: copy.copy(mechanism),
    "a clone": lambda mechanism, _folder: clone(mechanism),
    "a pickle": lambda mechanism, _folder: pickle.loads(pickle.dumps(mechanism)),
    "of encoded records": lambda mechanism, _folder: mechanism.of_encoded(),
    "a mapping": lambda mechanism, _folder: load_mechanism(mechanism.to_dict()),
    "a document": read_again,
    "beside reports": beside,
    "without a seed since": lambda mechanism, _folder: mechanism.set_params(random_state=None),
}


def whole(kind):
    """Return whether reports of a mechanism hold whole records with known noise."""
    return kind in ("noise", "unbiased")


def from_reports(kind, mechanism, reports):
    """Return the guarantees of all that can be made from reports."""
    behind = NoiseAwareKMeans(2, mechanism=mechanism, max_iter=2, random_state=1).fit(reports)
    made = [behind.guarantee_, behind.release_.guarantee]
    if kind == "partitions":
        first = TwoRoundCampaign(2, mechanism=mechanism)
        made += [first.guarantee_, first.first_mechanism.guarantee_]
        made += [load_mechanism(first.to_dict()["mechanism"]).guarantee_]
    if whole(kind):
        density = NoiseAwareDensity(mechanism=mechanism, n_clusters=2, random_state=1).fit(reports)
        made += [density.release_.guarantee, density.refine(n_clusters=1).release_.guarantee]
    if kind == "noise":
        remap = BayesRemap(mechanism).fit(reports)
        made += [remap.guarantee_, mechanism.guarantee_.to_local(2.0)]
        parameters = {"n_clusters": 2}
        released = analyze_reports(
            reports, "remap", parameters, mechanism=mechanism, random_state=1
        )
        made.append(released.guarantee)
    return made


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("how", HANDED_ON)
@pytest.mark.parametrize("kind", MECHANISMS)
def test_of_a_mechanism(kind, how, seed, tmp_path):
    mechanism = clone(MECHANISMS[kind]).set_params(random_state=seed)
    mechanism.fit_transform(FRAME.to_numpy())
    known = HANDED_ON[how](mechanism, tmp_path)
    for guarantee in (
        known.guarantee_,
        known.local_guarantee_,
        known.shuffled(1000, 1e-6),
        known.shuffled(1000, 1e-6, reports_per_device=2),
    ):
        holds_unless_seeded(seed, guarantee)


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("kind", MECHANISMS)
def test_of_reports(kind, seed):
    """A server has the reports and the document of the mechanism."""
    mechanism = clone(MECHANISMS[kind]).set_params(random_state=seed)
    reports = mechanism.fit_transform(FRAME.to_numpy())
    for guarantee in from_reports(kind, load_mechanism(mechanism.to_dict()), reports):
        holds_unless_seeded(seed, guarantee)


@pytest.mark.parametrize("seed", [None, 0])
def test_of_clusters_behind_reports(seed):
    """A release of reports is as good a list of clusters as one of a curator."""
    mechanism = Piecewise(8.0, schema=SCHEMA, random_state=seed)
    reports = mechanism.fit_transform(FRAME)
    release = NoiseAwareKMeans(2, mechanism=mechanism).fit(reports).release_
    holds_unless_seeded(seed, ClusterProfile(release).fit(FRAME).guarantee_)


@pytest.mark.parametrize("seed", [None, 0])
def test_of_remapped_reports(seed):
    kd = KdLaplace(20.0, unit="m", bounds=BOX, random_state=seed).fit(FRAME.to_numpy())
    for made in (kd, pickle.loads(pickle.dumps(kd)), kd.set_params(random_state=None)):
        holds_unless_seeded(seed, made.guarantee_)
        made.transform(FRAME.to_numpy())
        holds_unless_seeded(seed, made.guarantee_)


def test_no_promise_comes_back_by_writing_one_over_it():
    """A release without its flag is another release: whoever writes it makes a promise."""
    release = DPKMeans(2, schema=SCHEMA, random_state=0).fit(FRAME).release_
    other = replace(release, guarantee=replace(release.guarantee, seeded=False))
    assert ClusterProfile(other).fit(FRAME).guarantee_.holds
