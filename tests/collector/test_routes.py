"""What analysts do over HTTP: count, export, analyze, publish; and what everybody may read then."""

import csv
import io
import json

import numpy as np
import pytest

from helpers.campaigns import KEY
from helpers.collector import REPORT, is_problem
from shoal.campaigns import open_campaign
from shoal.collector.store import SCOPES
from shoal.collector.worker import Worker
from shoal.privacy import Release

ASKED = {"method": "noise-aware", "parameters": {"n_clusters": 2, "n_init": 1}, "seed": 7}


@pytest.fixture
def analyst(collector):
    """Return a campaign with reports, and what sends requests about it with all scopes."""
    campaign = collector.add_campaign()
    reports = np.random.default_rng(1).integers(0, 1024, 100, np.uint16)  # any ten bits are one
    assert collector.send(campaign, reports.astype("<u2").tobytes()).status_code == 201
    headers = collector.token(*SCOPES)

    def ask(method, path, **content):
        url = f"/v1/campaigns/{campaign}{path}"
        return collector.client.request(method, url, headers=headers, **content)

    return ask


def test_from_an_analysis_to_a_published_result(collector, analyst):
    queued = analyst("POST", "/analyses", json=ASKED)
    assert queued.status_code == 202
    status = queued.json()
    assert queued.headers["location"].endswith(f"/{status['campaign']}/analyses/1")
    assert (status["version"], status["state"], status["reports"]) == (1, "queued", 100)
    assert is_problem(analyst("POST", "/analyses/1/publish"), "not-finished")
    assert is_problem(analyst("GET", "/results"), "not-found")
    assert Worker(collector.store).run_next()
    done = analyst("GET", "/analyses/1").json()
    assert (done["state"], done["error"]) == ("done", None)
    assert is_problem(analyst("GET", "/results"), "not-found")  # until somebody publishes it
    published = analyst("POST", "/analyses/1/publish")
    assert published.status_code == 200
    path = published.headers["location"]
    result = collector.client.get(path)
    assert result.json() == analyst("GET", "/results").json()
    plain = result.json()
    assert plain["digest"] == done["document"]
    release = Release.from_json(json.dumps(plain["release"]))
    assert len(release.values["centers"]) == 2
    envelope = json.dumps(plain["envelope"]).encode()
    assert open_campaign(envelope, KEY.public).digest == plain["digest"]
    kept = collector.client.get(path, headers={"If-None-Match": result.headers["etag"]})
    assert kept.status_code == 304
    listed = analyst("GET", "/analyses").json()
    assert [(one["version"], one["state"], one["release"]) for one in listed] == [(1, "done", None)]


def test_counts_and_exports(analyst):
    assert analyst("GET", "/count").json()["reports"] == 100
    table = analyst("GET", "/reports", params={"format": "csv"})
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.reader(io.StringIO(table.text)))
    assert len(rows) == 101
    parquet = analyst("GET", "/reports")
    assert parquet.headers["content-type"] == "application/vnd.apache.parquet"
    assert parquet.content[:4] == parquet.content[-4:] == b"PAR1"
    assert is_problem(analyst("GET", "/reports?format=xlsx"), "invalid-parameter")


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "no-such-method"},
        {"method": "noise-aware", "parameters": {"n_clusters": 0}},
        {"method": "noise-aware", "parameters": {"no_such": 1}},
        {"method": "noise-aware", "seed": -1},
        {"method": "noise-aware", "seed": "7"},
        {"method": "noise-aware", "records": [[0.1, 0.2]]},
        {"method": "noise-aware", "parameters": [1]},
        {},
        [],
    ],
)
def test_analyses_that_are_refused(analyst, asked):
    assert is_problem(analyst("POST", "/analyses", json=asked), "invalid-parameter")
    assert analyst("GET", "/analyses").json() == []


@pytest.mark.parametrize(
    "content", [b"{", b'{"method": "noise-aware", "parameters": {"n_clusters": NaN}}', b"[" * 9000]
)
def test_bodies_that_are_no_analysis(analyst, content):
    assert analyst("POST", "/analyses", content=content).status_code in {400, 422}
    assert analyst("GET", "/analyses").json() == []


def test_an_analysis_needs_reports(collector):
    campaign = collector.add_campaign()
    answer = collector.client.post(
        f"/v1/campaigns/{campaign}/analyses", json=ASKED, headers=collector.token("analyze")
    )
    assert is_problem(answer, "invalid-parameter")


def test_versions_that_are_not_there(analyst):
    for path in ("/analyses/1", "/results/1"):
        assert is_problem(analyst("GET", path), "not-found")
        assert is_problem(analyst("GET", path + "x"), "invalid-parameter")
        assert is_problem(analyst("GET", path + "0" * 30), "invalid-parameter")
    assert is_problem(analyst("POST", "/analyses/1/publish"), "not-found")


def test_a_failed_analysis_is_not_published(collector, analyst):
    assert analyst("POST", "/analyses", json=ASKED).status_code == 202
    job = collector.store.claim_analysis()
    while job.campaign != analyst("GET", "/count").json()["campaign"]:
        job = collector.store.claim_analysis()
    assert collector.store.finish_analysis(job, error="it failed")
    assert analyst("GET", "/analyses/1").json()["error"] == "it failed"
    assert is_problem(analyst("POST", "/analyses/1/publish"), "not-finished")


def test_reports_are_one_more_after_one_more(collector, analyst):
    campaign = analyst("GET", "/count").json()["campaign"]
    collector.send(campaign, REPORT)
    assert analyst("GET", "/count").json()["reports"] == 101
