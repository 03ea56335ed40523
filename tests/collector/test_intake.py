"""Submissions over HTTP: stored once, refused with a reason, acknowledged after the commit."""

import json
from datetime import UTC, datetime, timedelta

import httpx
import numpy as np
import pytest

from helpers.campaigns import MECHANISM, signed_campaign
from helpers.collector import REPORT, is_problem
from helpers.collector_promises import early_acknowledgements
from shoal.mechanisms import Laplace

KEY = "a-key-that-comes-twice"
JSON = "application/json"


def as_json(reports) -> bytes:
    return json.dumps({"reports": reports}).encode()


def stored(collector, campaign) -> bytes:
    return b"".join(collector.store.blocks(campaign))


def test_a_report_is_stored_and_acknowledged(collector):
    campaign = collector.add_campaign()
    answer = collector.send(campaign)
    assert (answer.status_code, answer.json()) == (201, {"stored": 1, "duplicate": False})
    assert stored(collector, campaign) == REPORT


def test_the_same_submission_again_is_stored_once(collector):
    campaign = collector.add_campaign()
    first, again = (collector.send(campaign, REPORT * 2, Idempotency_Key=KEY) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == {"stored": 2, "duplicate": True}
    assert collector.store.count(campaign) == 2


def test_a_key_with_other_bytes_is_a_conflict(collector):
    campaign = collector.add_campaign()
    collector.send(campaign, REPORT, Idempotency_Key=KEY)
    assert is_problem(collector.send(campaign, REPORT * 2, Idempotency_Key=KEY), "key-reused")
    assert stored(collector, campaign) == REPORT


def test_one_key_means_different_things_in_two_campaigns(collector):
    campaigns = [collector.add_campaign() for _ in range(2)]
    answers = [collector.send(one, Idempotency_Key=KEY).status_code for one in campaigns]
    assert answers == [201, 201]


@pytest.mark.parametrize("n", [1, 100])
def test_json_and_bytes_are_the_same_reports(collector, n):
    campaign = collector.add_campaign()
    rng = np.random.default_rng(n)
    reports = MECHANISM.fit_transform(rng.random((n, 2)))
    encoded = MECHANISM.report_format().encode(reports)
    first = collector.send(
        campaign, as_json(reports.tolist()), Idempotency_Key=KEY, Content_Type=JSON
    )
    again = collector.send(campaign, encoded, Idempotency_Key=KEY)
    assert (first.status_code, again.status_code) == (201, 200)
    assert stored(collector, campaign) == encoded


def test_acknowledgement_comes_after_the_commit(collector, monkeypatch):
    assert early_acknowledgements(collector, monkeypatch) == 0


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"Idempotency_Key": None}, "malformed-request"),
        ({"Idempotency_Key": "short"}, "malformed-request"),
        ({"Idempotency_Key": "spaces are not allowed"}, "malformed-request"),
        ({"Idempotency_Key": "x" * 65}, "malformed-request"),
        ({"Shoal_Campaign": None}, "malformed-request"),
        ({"Shoal_Campaign": "0" * 64}, "campaign-changed"),
        ({"Shoal_Campaign": "not a digest"}, "malformed-request"),
        ({"Shoal_Device": "a-device-nobody-asked-for"}, "malformed-request"),
        ({"Content_Type": None}, "unsupported-media-type"),
        ({"Content_Type": "text/csv"}, "unsupported-media-type"),
        ({"Content_Type": "application/json; charset=latin-1"}, "unsupported-media-type"),
        ({"Content_Encoding": "gzip"}, "unsupported-media-type"),
    ],
)
def test_headers_that_are_refused(sqlite_collector, changed, problem):
    campaign = sqlite_collector.add_campaign()
    assert is_problem(sqlite_collector.send(campaign, **changed), problem)
    assert sqlite_collector.store.count(campaign) == 0


def test_a_header_that_comes_twice_is_refused(sqlite_collector):
    campaign = sqlite_collector.add_campaign()
    headers = [
        *sqlite_collector.headers(campaign).items(),
        ("Idempotency-Key", "another-key-of-a-device"),
    ]
    url = f"/v1/campaigns/{campaign}/reports"
    answer = sqlite_collector.client.post(url, content=REPORT, headers=headers)
    assert is_problem(answer, "malformed-request")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "wrong-shape"),
        (b"\x07", "wrong-shape"),
        (REPORT * 20 + b"\x07", "wrong-shape"),
        (b"\xff\xff", "out-of-range"),
        (REPORT * 20 + b"\xff\xff", "out-of-range"),
    ],
)
def test_bytes_that_are_no_reports(sqlite_collector, body, problem):
    campaign = sqlite_collector.add_campaign()
    assert is_problem(sqlite_collector.send(campaign, body), problem)
    assert sqlite_collector.store.count(campaign) == 0


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "malformed-reports"),
        (b"not json", "malformed-reports"),
        (b"\xff", "malformed-reports"),
        (b"[[1, 2]]", "malformed-reports"),
        (b"{}", "malformed-reports"),
        (as_json([]), "malformed-reports"),
        (as_json([1.0, 2.0]), "malformed-reports"),
        (as_json([["1", "2"]]), "malformed-reports"),
        (as_json([[True, False]]), "malformed-reports"),
        (as_json([[None, 1]]), "malformed-reports"),
        (b'{"reports": [[NaN, 1]]}', "malformed-reports"),
        (b'{"reports": [[Infinity, 1]]}', "malformed-reports"),
        (b'{"reports": [[1, 2]], "reports": [[1, 2]]}', "malformed-reports"),
        (b'{"reports": [[1, 2]], "record": [0.1, 0.2]}', "malformed-reports"),
        (b'{"reports": [[1%s, 2]]}' % (b"0" * 400), "malformed-reports"),
        (b'{"reports": [[1%s, 2]]}' % (b"0" * 9000), "malformed-reports"),
        (b'{"reports": ' + b"[" * 5000 + b"]" * 5000 + b"}", "malformed-reports"),
        (b'{"reports": [[1e999, 1]]}', "malformed-reports"),
        (as_json([[1.0]]), "wrong-shape"),
        (as_json([[1.0, 2.0, 3.0]]), "wrong-shape"),
        (as_json([[1.0, 1.0]] * 30 + [[1.0]]), "wrong-shape"),
        (as_json([[-1.0, 1.0]]), "out-of-range"),
        (as_json([[1e300, 1.0]]), "out-of-range"),
        (as_json([[1.0, 1.0]] * 30 + [[1e6, 1.0]]), "out-of-range"),
        (as_json([[1.5, 1.0]]), "off-lattice"),
        (as_json([[1.0, 1.0]] * 30 + [[1.0, 0.25]]), "off-lattice"),
    ],
)
def test_json_that_is_no_report(sqlite_collector, body, problem):
    campaign = sqlite_collector.add_campaign()
    answer = sqlite_collector.send(campaign, body, Content_Type=JSON)
    assert is_problem(answer, problem)
    assert sqlite_collector.store.count(campaign) == 0


def test_records_are_refused_where_reports_are_real_numbers(sqlite_collector):
    """A record is off the lattice of the noise: raw data does not get in by mistake."""
    mechanism = Laplace(1.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    campaign = sqlite_collector.add_campaign(mechanism=mechanism)
    record, report = [0.1234, 0.5678], mechanism.randomize([0.1234, 0.5678]).tolist()
    refused = sqlite_collector.send(campaign, as_json([record]), Content_Type=JSON)
    assert is_problem(refused, "off-lattice")
    assert "0.1234" not in refused.text
    taken = sqlite_collector.send(campaign, as_json([report]), Content_Type=JSON)
    assert taken.status_code == 201


def test_too_many_reports(sqlite_collector):
    campaign = sqlite_collector.add_campaign()
    assert sqlite_collector.send(campaign, REPORT * 10_000).status_code == 201
    assert is_problem(sqlite_collector.send(campaign, REPORT * 10_001), "too-large")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large(sqlite_collector, chunked):
    campaign = sqlite_collector.add_campaign()
    body = bytes(3 << 20)
    content = (body[start : start + 65536] for start in range(0, len(body), 65536))
    answer = sqlite_collector.client.post(
        f"/v1/campaigns/{campaign}/reports",
        content=content if chunked else body,
        headers=sqlite_collector.headers(campaign),
    )
    assert is_problem(answer, "too-large")


def test_an_unknown_campaign(sqlite_collector):
    answer = sqlite_collector.client.post("/v1/campaigns/nowhere/reports", content=REPORT)
    assert is_problem(answer, "unknown-campaign")


def test_a_closed_campaign(sqlite_collector):
    past = datetime.now(UTC) - timedelta(seconds=2)
    campaign = sqlite_collector.add_campaign(closes=past)
    assert is_problem(sqlite_collector.send(campaign), "closed")


def test_a_new_document_is_in_force_within_seconds(sqlite_collector):
    campaign = sqlite_collector.add_campaign()
    before = sqlite_collector.headers(campaign)
    assert sqlite_collector.send(campaign).status_code == 201
    sqlite_collector.store.add_campaign(
        signed_campaign(campaign, open_intake=True, revision=2, title="Where people live now")
    )
    assert sqlite_collector.send(campaign).status_code == 201  # its digest is asked for at once
    url = f"/v1/campaigns/{campaign}/reports"
    old = sqlite_collector.client.post(url, content=REPORT, headers=before)
    assert is_problem(old, "campaign-changed")


def test_devices_are_counted_where_the_campaign_asks(collector):
    campaign = collector.add_campaign(device_ids=True, reports_per_device=2)
    device = "a-device-0123456789"
    answers = [collector.send(campaign, Shoal_Device=device) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 403]
    assert is_problem(answers[2], "device-limit")
    assert is_problem(collector.send(campaign), "malformed-request")
    assert collector.send(campaign, Shoal_Device="another-device-0123").status_code == 201


def test_an_ingest_key_is_needed_unless_intake_is_open(collector):
    campaign, other = (collector.add_campaign(open_intake=False) for _ in range(2))
    key = collector.store.add_ingest_key(campaign)
    for wrong in (None, "Bearer nonsense", f"Basic {key}", f"Bearer {key}x", b"Bearer \xff"):
        answer = collector.send(campaign, Authorization=wrong)
        assert is_problem(answer, "unauthorized")
        assert answer.headers["www-authenticate"].startswith('Bearer realm="shoal"')
    assert is_problem(collector.send(other, Authorization=f"Bearer {key}"), "unauthorized")
    for _ in range(2):
        assert collector.send(campaign, Authorization=f"Bearer {key}").status_code == 201


def test_an_analysts_token_is_no_ingest_key(sqlite_collector):
    campaign = sqlite_collector.add_campaign(open_intake=False)
    token = sqlite_collector.token("read", "analyze", "publish", "metrics")
    assert is_problem(sqlite_collector.send(campaign, **token), "unauthorized")


def test_a_connection_that_is_cut_off_stores_nothing(sqlite_collector):
    campaign = sqlite_collector.add_campaign()

    def cut():
        yield REPORT * 3
        raise ConnectionError

    with pytest.raises(ConnectionError):
        sqlite_collector.client.post(
            f"/v1/campaigns/{campaign}/reports",
            content=cut(),
            headers=sqlite_collector.headers(campaign),
        )
    assert isinstance(sqlite_collector.client.get("/healthz"), httpx.Response)
    assert sqlite_collector.store.count(campaign) == 0
