"""Analyses of stored reports: the same job gives the same bytes, and its release stands alone."""

import itertools
import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from helpers.campaigns import KEY, signed_campaign
from helpers.collected import MECHANISMS, append, collect, two_groups
from shoal.campaigns import open_campaign
from shoal.collector.analysis import (
    queue_analysis,
    read_reports,
    result_document,
    run_analysis,
    run_job,
)
from shoal.collector.store import Analysis, AnalysisState, Snapshot, Store
from shoal.exceptions import ParameterError, StoreError
from shoal.privacy import Release
from shoal.reports import CountedReports, label_on_device, load_release

NAMES = (f"homes-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def store(module_database_url):
    with Store.open(module_database_url) as opened:
        yield opened


JOBS = [
    ("partitions", "noise-aware", {"n_clusters": 2, "n_init": 2}),
    ("laplace", "remap", {"n_clusters": 2}),
    ("schema", "density", {"n_clusters": 2}),
]


@pytest.mark.parametrize(("kind", "method", "parameters"), JOBS, ids=[job[1] for job in JOBS])
def test_a_job_gives_the_same_bytes_again(store, kind, method, parameters):
    """Also when more reports came in between, and its release labels records by itself."""
    signed = collect(store, next(NAMES), kind, reports_per_device=3)
    name = signed.campaign.id
    version = queue_analysis(store, name, method, parameters, seed=1)
    job = store.analysis(name, version)
    first = run_job(store, job).to_json()
    append(store, signed, 30, first=10**6)
    assert run_job(store, store.analysis(name, version)).to_json() == first
    reports = read_reports(store, signed.campaign, job.snapshot)
    if not isinstance(reports, CountedReports):  # another database reads them in another order
        assert run_analysis(signed, reports[::-1], job).to_json() == first
    release = Release.from_json(first)
    mechanism = MECHANISMS[kind]
    assert release.guarantee == signed.campaign.guarantee
    assert release.guarantee.epsilon == 3 * mechanism.guarantee_.epsilon
    about = release.values["collection"]
    assert about == {
        "campaign": name,
        "revision": 1,
        "digest": signed.digest,
        "method": method,
        "parameters": job.parameters,
        "seed": job.seed,
        "n_reports": 300,
        "snapshot": job.snapshot.digest,
    }
    records = two_groups(mechanism, 200)
    line = records["age"] / 120 if isinstance(records, dict) else records[:, 0]
    labels = label_on_device(release, records)
    assert abs(np.corrcoef(labels, line > 0.5)[0, 1]) > 0.8
    assert len(load_release(release).to_frame()) == 2


def test_versions_are_a_series(store):
    """Each has its own snapshot and seed; all stay."""
    signed = collect(store, next(NAMES), "partitions", 40)
    name = signed.campaign.id
    assert queue_analysis(store, name, seed=7) == 1
    append(store, signed, 20, first=10**6)
    assert queue_analysis(store, name) == 2
    series = [(one.version, one.snapshot.n_reports) for one in store.analyses(name)]
    assert series == [(1, 40), (2, 60)]
    assert store.analysis(name, 1).seed == 7
    assert store.analysis(name, 2).seed is not None, "drawn and kept"


def test_what_is_published(store):
    """A release, and the very document that it answers."""
    signed = collect(store, next(NAMES), "partitions", 200)
    name = signed.campaign.id
    version = queue_analysis(store, name, parameters={"n_clusters": 2, "n_init": 1}, seed=1)
    claimed = store.claim_analysis()
    while claimed.campaign != name:  # of other tests
        claimed = store.claim_analysis()
    release = run_job(store, claimed)
    assert store.finish_analysis(claimed, release=release.to_json())
    store.publish(name, version)
    plain = json.loads(json.dumps(result_document(store.published(name))))
    assert set(plain) == {"campaign", "version", "digest", "envelope", "analysis", "release"}
    opened = open_campaign(json.dumps(plain["envelope"]).encode(), KEY.public)
    assert (opened.digest, plain["digest"]) == (signed.digest, signed.digest)
    assert Release.from_json(json.dumps(plain["release"])) == release
    assert plain["analysis"]["n_reports"] == 200
    assert plain["analysis"]["parameters"]["n_clusters"] == 2


def test_reports_of_an_earlier_document_keep_its_weaker_promise(store):
    """A later document may ask for fewer reports; those before it are in the same analysis."""
    signed = collect(store, next(NAMES), "partitions", 30, reports_per_device=5)
    name = signed.campaign.id
    later = signed_campaign(
        name, mechanism=MECHANISMS["partitions"], reports_per_device=1, revision=2
    )
    store.add_campaign(later)
    version = queue_analysis(store, name, parameters={"n_clusters": 1, "n_init": 1})
    release = run_job(store, store.analysis(name, version))
    assert release.values["collection"]["digest"] == later.digest
    assert release.guarantee == signed.campaign.guarantee


def test_reports_are_read_in_blocks(store):
    """Partition responses as counts, others as they are; in the order of the store."""
    signed = collect(store, next(NAMES), "laplace", 100)
    campaign = signed.campaign
    snapshot = store.snapshot(campaign.id)
    whole = b"".join(store.blocks(campaign.id, snapshot))
    assert (read_reports(store, campaign, snapshot) == campaign.report_format.decode(whole)).all()
    signed = collect(store, next(NAMES), "partitions", 100)
    counted = read_reports(store, signed.campaign, store.snapshot(signed.campaign.id))
    assert isinstance(counted, CountedReports)
    assert counted.n_reports == 100


def test_other_reports_than_those_of_the_snapshot_are_refused(store):
    signed = collect(store, next(NAMES), "laplace", 50)
    name = signed.campaign.id
    version = queue_analysis(store, name, "remap", {"n_clusters": 2})
    job = store.analysis(name, version)
    wrong = replace(job, snapshot=job.snapshot._replace(n_reports=49))
    with pytest.raises(StoreError, match="not those of the snapshot"):
        run_job(store, wrong)
    unknown = replace(job, document="0" * 64)
    with pytest.raises(StoreError, match="document of analysis 1 is not in this database"):
        run_job(store, unknown)


@pytest.mark.parametrize(
    ("method", "parameters", "seed", "text"),
    [
        ("ward", {}, None, "method must be one of noise-aware, density, remap, got 'ward'"),
        (
            "noise-aware",
            {"k": 2},
            None,
            "must be of n_clusters, n_init, max_iter, confidence, conta",
        ),
        ("noise-aware", {"n_clusters": 0}, None, "n_clusters must be a whole number from 1"),
        ("remap", {}, None, "got those of PartitionResponse: take noise-aware"),
        ("density", {}, -1, "seed must be a whole number from 0"),
        ("density", {}, 2**31, "seed must be at most"),
    ],
)
def test_what_is_refused_is_not_queued(store, method, parameters, seed, text):
    signed = collect(store, next(NAMES), "partitions", 2)
    with pytest.raises(ParameterError, match=text) as caught:
        queue_analysis(store, signed.campaign.id, method, parameters, seed=seed)
    assert "\n" not in str(caught.value)
    assert not store.analyses(signed.campaign.id)


def test_nothing_to_analyze(store):
    signed = signed_campaign(next(NAMES))
    store.add_campaign(signed)
    with pytest.raises(ParameterError, match="must have reports to analyze, got none yet"):
        queue_analysis(store, signed.campaign.id)
    with pytest.raises(StoreError, match="there is no campaign 'nowhere'"):
        queue_analysis(store, "nowhere")


def test_a_release_without_a_store():
    """From the document and reports in memory alone."""
    signed = signed_campaign("alone", mechanism=MECHANISMS["laplace"])
    mechanism = signed.campaign.mechanism
    reports = np.asarray(mechanism.fit_transform(two_groups(mechanism, 50)))
    job = Analysis(
        campaign="alone",
        version=1,
        document=signed.digest,
        method="remap",
        parameters={"n_clusters": 2},
        seed=5,
        snapshot=Snapshot(1, 50, "0" * 64),
        state=AnalysisState.RUNNING,
        created=datetime(2030, 1, 1, tzinfo=UTC),
    )
    assert run_analysis(signed, reports, job).guarantee == signed.campaign.guarantee
