"""What a collector promises, as checks that return what they found: nothing, if it is right."""

import json
import threading
import time
import warnings
from typing import TYPE_CHECKING

import pytest
from starlette.routing import Route

from helpers.collector import RunningCollector, is_problem
from shoal.collector.store import Store
from shoal.service import EventLog, take_over_logging

if TYPE_CHECKING:
    from helpers.relay import RunningRelay
    from shoal.shuffler import RelayStore

PUBLIC = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/openapi.json"),
    ("GET", "/problems/{name}"),
    ("GET", "/v1/campaigns/{campaign}"),
    ("GET", "/v1/campaigns/{campaign}/results"),
    ("GET", "/v1/campaigns/{campaign}/results/{version}"),
}
COMMIT_SECONDS = 0.02  # long enough that whoever does not wait for it is seen

NUMBER = "731.0"  # a report that no other text holds
MARKS = {
    "key": "planted-idempotency-key",
    "device": "planted-device-name-0001",
    "query": "planted-query",
    "path": "planted-path",
    "agent": "planted-agent",
    "token": "shoal_token_000000000000_planted",
}


def routes(collector: RunningCollector) -> set[tuple[str, str]]:
    """Return method and template of every route of the application."""
    return {
        (method, route.path)
        for route in collector.app.router.routes
        if isinstance(route, Route)
        for method in route.methods or ()
        if method != "HEAD"
    }


def fill(path: str, campaign: str) -> str:
    """Return a path of a route's template."""
    values = {"campaign": campaign, "version": "1", "number": "1", "name": "closed"}
    return path.format_map(values)


def unprotected_routes(collector: RunningCollector) -> set[tuple[str, str]]:
    """Return routes, but the public ones, that answer without a right credential."""
    campaign = collector.add_campaign(open_intake=False)
    wrong = {"Authorization": "Bearer shoal_token_000000000000_x"}
    found = set()
    for method, path in routes(collector) - PUBLIC:
        for headers in ({}, wrong):
            answer = collector.client.request(method, fill(path, campaign), headers=headers)
            challenge = answer.headers.get("www-authenticate", "")
            if not is_problem(answer, "unauthorized") or not challenge.startswith("Bearer realm="):
                found.add((method, path))
    return found


def early_acknowledgements(
    collector: "RunningCollector | RunningRelay",
    monkeypatch: pytest.MonkeyPatch,
    kind: "type[Store] | type[RelayStore]" = Store,
) -> int:
    """Return how many of three submissions were acknowledged before their commit."""
    campaign = collector.add_campaign()
    append, committed = kind.append, []

    def slow(store, group):
        time.sleep(COMMIT_SECONDS)
        outcomes = append(store, group)
        committed.extend(outcomes)
        return outcomes

    monkeypatch.setattr(kind, "append", slow)
    early = 0
    for number in range(1, 4):
        assert collector.send(campaign).status_code == 201
        early += len(committed) < number
    return early


LOGGED = ["warning", "thread error"]


def raise_and_warn(*_app: object) -> None:
    """Stand in for a server: a thread of it warns and fails, with a value in both texts."""

    def work() -> None:
        warnings.warn("a value: 4711", stacklevel=1)
        raise ValueError("a value: 4711")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def leaks(collector: RunningCollector) -> list[str]:
    """Send marks in everything that a client sends, and return those that are in the log."""
    take_over_logging(EventLog(collector.log))
    counted = collector.add_campaign(device_ids=True)
    keyed = collector.add_campaign(open_intake=False)
    key = collector.store.add_ingest_key(keyed)
    token = collector.token("read")
    own = {"User_Agent": MARKS["agent"], "X_Forwarded_For": "203.0.113.77"}
    for campaign, authorization in ((counted, None), (keyed, f"Bearer {key}")):
        collector.send(
            campaign,
            json.dumps({"reports": [[float(NUMBER), 1.0]]}).encode(),
            Content_Type="application/json",
            Idempotency_Key=MARKS["key"],
            Shoal_Device=MARKS["device"],
            Authorization=authorization,
            **own,
        )
    get = collector.client.get
    bad = {"Authorization": f"Bearer {MARKS['token']}", "User-Agent": MARKS["agent"]}
    assert get(f"/v1/campaigns/{counted}/count?x={MARKS['query']}", headers=bad).is_error
    assert get(f"/v1/campaigns/{MARKS['path']}").status_code == 404
    assert get(f"/{MARKS['path']}").status_code == 404
    assert get(f"/v1/campaigns/{counted}/analyses/{MARKS['path']}", headers=token).is_error
    assert get(f"/v1/campaigns/{counted}/count", headers=token).status_code == 200
    collector.client.request(MARKS["path"].upper(), "/healthz")
    secrets = [key, key.split("_", 3)[3], token["Authorization"].removeprefix("Bearer ")]
    port = ":" + collector.address.rpartition(":")[2]
    planted = [*MARKS.values(), *secrets, port, NUMBER, "127.0.0.1", "203.0.113", "PLANTED", "Ada"]
    return [mark for mark in planted if mark in collector.log.getvalue()]
