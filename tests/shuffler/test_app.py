"""The relay over HTTP: to a device it is a collector; of a report it keeps and says nothing."""

import json
import warnings
from datetime import UTC, datetime

import pytest

from helpers.campaigns import KEY, SEALING_KEY, signed_campaign
from helpers.collector import REPORT, is_problem, running_collector
from helpers.collector_promises import LOGGED, early_acknowledgements, raise_and_warn
from helpers.loggers import restored_loggers
from helpers.relay import (
    SIZE,
    WIDTH,
    BatchCollector,
    body_of,
    relayed_campaign,
    running_relay,
    wait_until,
)
from helpers.relay_promises import batches_sent_twice_differ, incomplete_batches, traces
from shoal.client import Answer, Device
from shoal.shuffler import RelayStore, Settings, serve, server

PAGE = "https://example.org"
ENDED = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def relay(tmp_path_factory):
    signed = relayed_campaign(origins=(PAGE,))
    with running_relay(tmp_path_factory.mktemp("relay"), signed=signed) as running:
        yield running


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    signed = relayed_campaign(open_intake=False)
    with running_relay(tmp_path_factory.mktemp("relay"), signed=signed) as running:
        yield running


def test_what_a_thread_of_the_relay_raises_is_logged_without_its_text(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(server, "run_app", raise_and_warn)
    (tmp_path / "document").write_bytes(relayed_campaign().envelope)
    settings = Settings(str(tmp_path / "relay.db"), "https://collect.example.org", port=0)
    with restored_loggers(), warnings.catch_warnings():
        warnings.simplefilter("always")
        serve(str(tmp_path / "document"), str(KEY.public), tmp_path / "relay.keys", settings)
    written = "".join(capfd.readouterr())
    assert "4711" not in written
    assert [json.loads(line)["event"] for line in written.splitlines()] == LOGGED


def test_answers_are_those_of_a_collector(relay):
    key, body = "a-key-of-a-device", body_of(1_000_001)
    first = relay.send(body=body, Idempotency_Key=key)
    assert (first.status_code, first.json()) == (201, {"stored": 1, "duplicate": False})
    again = relay.send(body=body, Idempotency_Key=key)
    assert (again.status_code, again.json()) == (200, {"stored": 1, "duplicate": True})
    assert is_problem(relay.send(Idempotency_Key=key), "key-reused")


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"body": bytes(WIDTH - 1)}, "wrong-shape"),
        ({"body": bytes(2 * WIDTH)}, "wrong-shape"),
        ({"body": b""}, "wrong-shape"),
        ({"body": bytes(1 << 17)}, "too-large"),
        ({"body": b"{}", "Content_Type": "application/json"}, "unsupported-media-type"),
        ({"Content_Type": "text/plain"}, "unsupported-media-type"),
        ({"Shoal_Campaign": "0" * 64}, "campaign-changed"),
        ({"Shoal_Campaign": None}, "malformed-request"),
        ({"Idempotency_Key": "short"}, "malformed-request"),
        ({"Shoal_Device": "a-name-of-a-device"}, "malformed-request"),
        ({"campaign": "other"}, "unknown-campaign"),
    ],
)
def test_refusals(relay, changed, name):
    before = relay.store.counts().n_waiting
    assert is_problem(relay.send(**changed), name)
    assert relay.store.counts().n_waiting == before


def test_a_page_of_the_campaign_may_take_part(relay):
    url = "/v1/campaigns/homes"
    for answer in (relay.send(Origin=PAGE), relay.client.get(url, headers={"Origin": PAGE})):
        assert answer.headers["access-control-allow-origin"] == PAGE
    asked = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    assert relay.client.options(f"{url}/reports", headers=asked).status_code == 204
    asked["Origin"] = "https://other.org"
    assert is_problem(relay.client.options(f"{url}/reports", headers=asked), "origin-not-allowed")


def test_the_document_is_handed_on_unchanged(relay):
    answer = relay.client.get("/v1/campaigns/homes")
    assert answer.content == relay.campaign.signed.envelope
    assert is_problem(relay.client.get("/v1/campaigns/other"), "unknown-campaign")


def test_there_is_no_way_to_read_reports(relay):
    document = relay.client.get("/openapi.json").json()
    assert {
        (method, path) for path, methods in document["paths"].items() for method in methods
    } == {
        ("get", "/v1/campaigns/{campaign}"),
        ("post", "/v1/campaigns/{campaign}/reports"),
        ("get", "/healthz"),
        ("get", "/readyz"),
        ("get", "/metrics"),
        ("get", "/problems/{name}"),
    }
    assert relay.client.get("/v1/campaigns/homes/reports").status_code == 405
    assert relay.client.get("/healthz").status_code == 200
    assert relay.client.get("/readyz").status_code == 200


def test_ingest_keys_are_the_relays_own(keyed):
    key, token = keyed.credentials()
    assert is_problem(keyed.send(), "unauthorized")
    assert is_problem(keyed.send(Authorization=f"Bearer {token}"), "unauthorized")
    assert is_problem(keyed.send(Authorization=f"Bearer {key}x"), "unauthorized")
    assert keyed.send(Authorization=f"Bearer {key}").status_code == 201


def test_metrics_are_for_the_operator_and_in_whole_batches(keyed):
    key, token = keyed.credentials()
    for header in ({}, {"Authorization": f"Bearer {key}"}):
        assert is_problem(keyed.client.get("/metrics", headers=header), "unauthorized")
    right = {"Authorization": f"Bearer {token}"}
    started = keyed.store.counts()
    seen = [keyed.client.get("/metrics", headers=right).text]
    for _ in range(SIZE - 1 - started.n_waiting):
        assert keyed.send(Authorization=f"Bearer {key}").status_code == 201
        seen.append(keyed.client.get("/metrics", headers=right).text)
    assert len(set(seen)) == 1  # a report changes nothing
    assert keyed.send(Authorization=f"Bearer {key}").status_code == 201
    keyed.wait_for(started.n_forwarded + 1)
    wait_until(
        lambda: (
            f"shoal_relay_forwarded_batches_total {started.n_forwarded + 1}.0"
            in keyed.client.get("/metrics", headers=right).text
        )
    )


def test_a_device_takes_part_and_the_analyst_opens_what_arrives(tmp_path):
    """From the record on a device to sealed bytes at the collector.

    The relay's address is in the document, which is signed before there is one: a proxy has it.
    """
    with running_relay(tmp_path) as relay:
        sent = []

        def proxy(request):
            url = request.url.removeprefix("http://127.0.0.1")
            answer = relay.client.request(
                request.method, url, content=request.body, headers=dict(request.headers)
            )
            sent.append(request.body)
            return Answer(answer.status_code, dict(answer.headers), answer.content)

        for number in range(SIZE):
            device = Device(
                tmp_path / f"device-{number}.db", public_key=KEY.public, transport=proxy
            )
            device.join("http://127.0.0.1/v1/campaigns/homes")
            device.report([0.1 * number, 0.5])
        relay.wait_for(1)
        (body,) = relay.collector.batches.values()
    reports = [body[start : start + WIDTH] for start in range(0, len(body), WIDTH)]
    assert sorted(reports) == sorted(one for one in sent if one is not None)
    opened = [SEALING_KEY.open(one, "homes") for one in reports]
    assert [len(one) for one in opened] == [2] * SIZE


def test_neither_time_nor_address_is_kept(tmp_path):
    with running_relay(tmp_path, trusted_proxies=1) as relay:
        assert traces(relay, tmp_path) == []


def test_reports_are_acknowledged_after_their_commit(tmp_path, monkeypatch):
    with running_relay(tmp_path) as relay:
        assert early_acknowledgements(relay, monkeypatch, RelayStore) == 0


def test_what_fills_no_batch_by_the_end_is_deleted_and_said(tmp_path):
    with running_relay(tmp_path) as relay:
        assert incomplete_batches(relay, relayed_campaign(closes=ENDED)) == []
        assert relay.store.counts() == (0, 1, 1, SIZE - 1)
        wait_until(lambda: "campaign closed" in relay.log.getvalue())
        (line,) = [line for line in relay.events() if "closed" in line["event"]]
        assert line["reports"] == SIZE - 1
        assert is_problem(relay.send(Shoal_Campaign=relay.campaign.signed.digest), "closed")


def test_a_batch_is_the_same_bytes_until_it_is_acknowledged(tmp_path):
    with running_relay(tmp_path) as relay:
        assert not batches_sent_twice_differ(relay)
        relay.wait_for(1)
        paths = {request.url for request in relay.collector.posts}
        assert paths == {"http://127.0.0.1:9/v1/campaigns/homes/batches/1"}


def test_a_collector_with_another_batch_stops_everything_loudly(tmp_path):
    collector = BatchCollector()
    collector.batches[1] = b"other bytes"
    with running_relay(tmp_path, collector=collector) as relay:
        for _ in range(SIZE):
            assert relay.send().status_code == 201
        wait_until(lambda: "FORWARDING STOPPED" in relay.log.getvalue())
        refused = relay.send()
        assert is_problem(refused, "unavailable")
        assert refused.headers["retry-after"] == "60"
        assert is_problem(relay.client.get("/readyz"), "unavailable")
        token = {"Authorization": f"Bearer {relay.credentials()[1]}"}
        assert "shoal_relay_stopped 1.0" in relay.client.get("/metrics", headers=token).text
        assert relay.store.next_batch().number == 1  # kept: somebody must look after it
        assert len(collector.posts) == 1


def test_a_campaign_that_nobody_shuffles_is_refused(tmp_path):
    from shoal.exceptions import ParameterError

    with (
        pytest.raises(ParameterError, match="must name a shuffler"),
        running_relay(tmp_path, signed=signed_campaign()),
    ):
        pass


def test_a_newer_document_is_followed_and_a_weaker_one_is_not(tmp_path, monkeypatch):
    from shoal.shuffler import document

    monkeypatch.setattr(document, "LOOK_SECONDS", 1e-3)
    newer = relayed_campaign(revision=2, title="Where people really live")
    weaker = relayed_campaign(SIZE - 1, revision=3)
    file = tmp_path / "homes.campaign.json"
    with running_relay(tmp_path) as relay:
        file.write_bytes(newer.envelope)
        assert relay.send(Shoal_Campaign=newer.digest).status_code == 201
        file.write_bytes(weaker.envelope)
        assert is_problem(relay.send(Shoal_Campaign=weaker.digest), "campaign-changed")
        assert relay.campaign.signed.digest == newer.digest
        file.write_bytes(signed_campaign(revision=4, open_intake=True).envelope)
        assert is_problem(relay.send(Shoal_Campaign="0" * 64), "campaign-changed")
        events = [json.loads(line)["event"] for line in relay.log.getvalue().splitlines()]
    assert events == ["document changed", "document refused", "document not read"]


@pytest.fixture(autouse=True, scope="module")
def _loggers():
    with restored_loggers():
        yield


def test_a_real_collector_takes_the_batches(tmp_path):
    """Both servers, on their ports: what devices sealed is in the collector's database."""
    url = f"sqlite:///{tmp_path}/reports.db"
    with running_collector(url, sealing_keys=[SEALING_KEY]) as collector:
        signed = relayed_campaign()
        collector.store.add_campaign(signed)
        key = collector.store.add_ingest_key("homes")
        with running_relay(tmp_path, signed=signed, to=collector.address, key=key) as relay:
            for _ in range(SIZE + 1):
                sealed = SEALING_KEY.public.seal(REPORT, "homes")
                assert relay.send(body=sealed).status_code == 201
            relay.wait_for(1)
            assert relay.store.counts() == (1, 1, 1, 0)
        assert collector.store.count("homes") == SIZE
        assert list(collector.store.blocks("homes")) == [REPORT * SIZE]
