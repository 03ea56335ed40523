"""The OpenAPI document: an example for every answer, and a server that does what it says."""

import json
from collections import Counter

import pytest
import schemathesis
from schemathesis import engine
from schemathesis.config import SchemathesisConfig
from schemathesis.engine.events import FatalError, NonFatalError, ScenarioFinished

from helpers.collector import REPORT, running_collector
from shoal.collector.store import SCOPES
from shoal.service import PROBLEMS

# Which reports and parameters are right depends on the campaign's signed document, and no schema
# can say it: requests that fit the schema may be refused here, and nowhere else.
MORE_RULES = (
    "POST /v1/campaigns/{campaign}/reports",
    "POST /v1/campaigns/{campaign}/analyses",
    "POST /v1/campaigns/{campaign}/batches/{number}",
)
REFUSED_BY_RULES = ["2xx", "400", "401", "403", "404", "409", "413", "422"]


@pytest.fixture(scope="module")
def document(sqlite_collector):
    return sqlite_collector.client.get("/openapi.json").json()


def operations(document):
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_every_answer_has_an_example(document):
    for name, operation in operations(document).items():
        for status, response in operation["responses"].items():
            if status == "304":
                continue
            for kind, content in response["content"].items():
                binary = content.get("schema", {}).get("format") == "binary"
                assert binary or "example" in content or content.get("examples"), (name, kind)


def test_refusals_are_problem_documents(document):
    for name, operation in operations(document).items():
        for status, response in operation["responses"].items():
            if status < "400":
                continue
            assert list(response["content"]) == ["application/problem+json"], (name, status)
            for example in response["content"]["application/problem+json"]["examples"].values():
                problem = PROBLEMS[example["value"]["type"].rpartition("/")[2]]
                assert example["value"]["status"] == problem.status == int(status)


def test_every_problem_is_documented_somewhere(document):
    text = json.dumps(document)
    undocumented = {name for name, problem in PROBLEMS.items() if f'"{name}"' not in text}
    assert undocumented == {
        *("method-not-allowed", "origin-not-allowed"),  # of no operation
        *("cross-origin", "ledger-changed", "over-budget", "wrong-host"),  # of the studio
    }


def test_operations_have_names_and_a_summary(document):
    named = operations(document)
    identifiers = [operation["operationId"] for operation in named.values()]
    assert len(set(identifiers)) == len(identifiers) == 15
    assert all(operation["summary"] and operation["tags"] for operation in named.values())


def violations(collector, *, examples: int) -> Counter:
    """Run all checks of schemathesis against a server, and count what they found."""
    campaign = collector.add_campaign()
    collector.send(campaign, REPORT * 9)
    token = collector.token(*SCOPES)["Authorization"].removeprefix("Bearer ")
    path = {"path.campaign": campaign}
    reports = {**path, "header.Shoal-Campaign": collector.store.campaign(campaign).digest}
    shuffled = collector.add_shuffled()
    batches = {
        "path.campaign": shuffled,
        "header.Shoal-Campaign": collector.store.campaign(shuffled).digest,
    }
    lenient = {"positive_data_acceptance": {"expected-statuses": REFUSED_BY_RULES}}
    config = {
        "seed": 1,
        "generation": {"max-examples": examples, "deterministic": True, "no-shrink": True},
        "phases": {"stateful": {"enabled": examples > 1}},
        "auth": {
            "openapi": {
                "token": {"bearer": token},
                "ingestKey": {"bearer": collector.store.add_ingest_key(campaign)},
                "relayKey": {"bearer": collector.store.add_ingest_key(shuffled)},
            }
        },
        "operations": [
            {"include-name": MORE_RULES[0], "checks": lenient, "parameters": reports},
            {"include-name": MORE_RULES[1], "checks": lenient, "parameters": path},
            {
                "include-name": MORE_RULES[2],
                "checks": lenient,
                "parameters": batches,
            },
        ],
    }
    schema = schemathesis.openapi.from_url(
        f"{collector.address}/openapi.json", config=SchemathesisConfig.from_dict(config)
    )
    found: Counter = Counter()
    for event in engine.from_schema(schema).execute():
        if isinstance(event, FatalError | NonFatalError):
            found[repr(event)] += 1
        if isinstance(event, ScenarioFinished):
            for checks in event.recorder.checks.values():
                for check in checks:
                    if check.failure_info is not None:
                        failure = check.failure_info
                        found[f"{check.name}: {failure.failure}: {failure.code_sample}"] += 1
    return found


def statuses(collector) -> Counter:
    lines = map(json.loads, collector.log.getvalue().splitlines())
    return Counter(line["status"] for line in lines if line["event"] == "request")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("examples", [1, pytest.param(60, marks=pytest.mark.full)])
def test_schemathesis_finds_no_violation(tmp_path, examples):
    with running_collector(f"sqlite:///{tmp_path}/reports.db", campaign_rate=1e6) as collector:
        assert not violations(collector, examples=examples)
        seen = statuses(collector)
    assert not [status for status in seen if status >= 500]
    assert {200, 201, 202, 400, 401, 404, 405, 409, 422} <= set(seen)
