"""Explore runs on records that are nobody's; a private copy is bought once."""

import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from helpers.studio import client, studio_in_process
from shoal.cluster import DPDensity, DPKMeans
from shoal.privacy import Ledger, PureEvent
from shoal.schema import Category, Date, Field, Number, Schema
from shoal.studio import StudioSettings, Workspace
from shoal.studio.exploration import Asked, Exploration
from shoal.studio.explore_choices import methods_for
from shoal.studio.jobs import JobCanceledError
from shoal.studio.killable import run_killable
from shoal.studio.nobodys_records import MAX_NUMBERS, explored_records

NUMBERS = Schema(
    [
        Number("age", minimum=0, maximum=120, missing="refuse", unit="years"),
        Number("income", minimum=1, maximum=200_000, missing="refuse", scale="log"),
    ]
)
MIXED = Schema(
    [
        Number("age", minimum=0, maximum=120),
        Category("city", ["A", "B"]),
        Date("since", minimum="2010-01-01", maximum="2024-01-01"),
    ]
)
RNG = np.random.default_rng(0)
COLUMNS = {"age": RNG.uniform(20, 60, 500), "income": RNG.uniform(1e4, 9e4, 500)}


class Watched(Mapping):
    """Columns that remember who read them."""

    def __init__(self, columns):
        self._columns, self.reads = columns, []

    def __getitem__(self, name):
        self.reads.append(name)
        return self._columns[name]

    def __iter__(self):
        self.reads.append("all")
        return iter(self._columns)

    def __len__(self):
        return len(self._columns)


@pytest.fixture
def workspace():
    return Workspace(StudioSettings())


@pytest.fixture
def table(workspace):
    table = workspace.add("people.csv", "upload", Watched(COLUMNS), NUMBERS)
    table.n_guess, table.ledger = 600, Ledger(epsilon=3.0)
    return table


@pytest.fixture
def api(workspace):
    with studio_in_process(workspace) as address, client(address) as opened:
        yield opened


def explore(api, table, **settings):
    asked = {"method": "DPKMeans", "epsilon": 1.0, "clusters": 3, **settings}
    return api.post(f"/api/tables/{table.id}/explore", json=asked)


def finished(workspace, answer):
    job = workspace.jobs.get(answer.json()["job"]["id"])
    assert job.finished.wait(60)
    return job


def test_a_session_reads_no_true_record(api, workspace, table):
    path = f"/api/tables/{table.id}"
    assert api.get(f"{path}/explore").json()["method"] == "DPKMeans"
    for frame in (True, False):
        assert explore(api, table, frame=frame).status_code == 200
    assert finished(workspace, explore(api, table, method="DPDensity")).state == "done"
    assert api.get(f"{path}/copy", params={"epsilon": 0.5}).status_code == 200
    for trust_model in ("local", "shuffled"):
        table.trust_model = trust_model
        for method in ("Piecewise", "KdLaplace-grid"):
            exploration = Exploration(table, Asked(method, 4.0, 2))
            exploration.perturb()
            assert exploration.told()["guarantee"]
            assert exploration.reports_part(frame=True)["kind"] == "reports"
        assert exploration.find_clusters(frame=False)["utility"]["ratio"] > 0
    assert table.columns.reads == []
    # The curator's own look is the only reader, and gets an image.
    image = api.get(f"{path}/explore/records.png", params={"x": "income", "y": "age"})
    assert image.headers["content-type"] == "image/png"
    assert image.headers["cache-control"] == "no-store"
    assert image.content.startswith(b"\x89PNG")
    assert set(table.columns.reads) >= {"age", "income"}


def test_charts_hold_explored_records_alone(api, table):
    answer = explore(api, table, frame=True).json()
    assert answer["source"] == "made-up"
    assert "made-up records" in answer["source_words"]
    shown = {row["x"] for row in answer["shown"]["datasets"]["rows-0"]}
    assert not shown & {float(f"{value:.6g}") for value in COLUMNS["age"]}


def test_rows_of_a_slider_are_those_of_the_chart(api, table):
    framed = explore(api, table, frame=True).json()
    plain = explore(api, table).json()
    assert "shown" not in plain
    for part in ("leaves", "clusters"):
        assert "picture" not in plain[part]
        assert plain[part]["datasets"] == framed[part]["picture"]["datasets"]


@pytest.mark.parametrize(
    ("method", "user"),
    [
        ("DPKMeans", False),
        ("DPKMeans", True),
        ("DPKMeans-tree", True),
        ("DPKMeans-lloyd", False),
        ("DPDensity", False),
    ],
)
def test_the_promise_is_that_of_a_release(workspace, method, user):
    fields = [*NUMBERS, *([Field("who", role="user")] if user else [])]
    table = workspace.add("t", "made-up", {}, Schema(fields))
    table.n_guess, table.records_per_user = 200, 2 if user else 1
    kwargs = {one.name: dict(one.kwargs) for one in methods_for(table)}[method]
    made = DPDensity if method == "DPDensity" else DPKMeans
    if user and made is DPKMeans:
        kwargs["records_per_user"] = 2
    columns = {name: column[:200] for name, column in COLUMNS.items()}
    columns |= {"who": [f"p{row}" for row in range(200)]} if user else {}
    model = made(epsilon=0.7, schema=table.schema, random_state=0, **kwargs).fit(columns)
    promise = Exploration(table, Asked(method, 0.7, 8)).promise()
    assert str(promise) == str(replace(model.guarantee_, seeded=False))
    assert promise.holds
    assert "seeded" not in str(promise)


def test_gauges_and_ledger_are_told(api, table):
    answer = explore(api, table, epsilon=1.0).json()
    assert answer["attack"]["guesses"] == pytest.approx(73.1, abs=0.1)
    assert "73.2 of 100 guesses; a coin flip is right in 50" in answer["attack"]["words"]
    assert answer["ledger"] == {"remaining": 3.0, "limit": 3.0, "after": 2.0}
    assert len(answer["clusters"]["sentences"]) == 3
    assert explore(api, table, epsilon=4.0).json()["ledger"]["after"] is None
    assert explore(api, table, epsilon=16.0).json()["utility"]["ratio"] < 1.1
    assert len(table.ledger.entries) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0.0},
        {"epsilon": "1"},
        {"clusters": 0},
        {"clusters": 2.5},
        {"method": "Laplace"},
        {"source": "copy"},
        {"x": "nothing"},
        {"more": 1},
    ],
)
def test_wrong_settings_are_refused_in_one_line(api, table, wrong):
    answer = explore(api, table, **wrong)
    assert 400 <= answer.status_code < 500
    assert "\n" not in answer.json()["detail"]


def test_a_newer_position_ends_an_older_fit(api, workspace):
    table = workspace.add("mixed", "made-up", {}, MIXED)
    table.n_guess = 300
    turn = table.cache.setdefault("explore turn", threading.Lock())
    with turn:  # a fit is running: the next ones wait for their turn
        older = explore(api, table, epsilon=0.5)
        newer = explore(api, table, epsilon=0.6, previous=older.json()["job"]["id"])
        assert finished(workspace, older).state == "canceled"
    job = finished(workspace, newer)
    assert job.state == "done"
    assert len(job.result["clusters"]["sentences"]) == 3


def test_a_shuffled_promise_is_smaller_than_that_of_a_report(workspace):
    table = workspace.add("devices", "made-up", {}, NUMBERS)
    table.trust_model, table.n_guess = "shuffled", 5_000
    for method in ("PartitionResponse", "Laplace"):
        exploration = Exploration(table, Asked(method, 2.0, 3))
        exploration.perturb()
        told = exploration.told()
        assert told["notion"] == "shuffled"
        assert told["promised_epsilon"] < 2.0
        assert told["ledger"] is None
        words = told["attack"]["words"]  # what it rests on is said wherever it is said
        assert words.startswith("If 5,000 honest devices report at once, no one is right about")
        assert "your own guess" in words


def test_a_promise_to_rows_is_not_called_one_to_people(workspace):
    rows = workspace.add("rows", "made-up", {}, NUMBERS)
    people = workspace.add("people", "made-up", {}, Schema([*NUMBERS, Field("who", role="user")]))
    for table, whose in ((rows, "record"), (people, "person")):
        words = Exploration(table, Asked("DPKMeans", 1.0, 3)).told()["attack"]["words"]
        assert f"whether a {whose} is in the table" in words


@pytest.mark.full
def test_made_up_records_of_very_many_columns_are_fewer(workspace):
    names = [str(one) for one in range(900)]
    wide = Schema([Category(f"c{one}", names, missing="refuse") for one in range(25)])
    table = workspace.add("wide", "made-up", {}, wide)
    assert explored_records(table, "made-up").encoded.size <= MAX_NUMBERS


def order(api, table, price):
    asked = {name: price[name] for name in ("epsilon", "key", "entries")}
    return api.post(f"/api/tables/{table.id}/copy", json=asked)


def test_a_private_copy_is_bought_once(api, workspace, table):
    price, other = (
        api.get(f"/api/tables/{table.id}/copy", params={"epsilon": epsilon}).json()
        for epsilon in (1.0, 0.5)
    )
    assert (price["remaining"], price["after"], price["bought"]) == (3.0, 2.0, False)
    with ThreadPoolExecutor(4) as clicks:
        answers = list(clicks.map(lambda _: order(api, table, price).json()["id"], range(4)))
    assert len(set(answers)) == 1
    job = workspace.jobs.get(answers[0])
    assert job.finished.wait(60)
    assert job.state == "done"
    assert len(table.ledger.entries) == 1
    assert table.copy.guarantee_.holds
    again = api.get(f"/api/tables/{table.id}/copy", params={"epsilon": 1.0}).json()
    assert again["bought"]
    another = api.get(f"/api/tables/{table.id}/copy", params={"epsilon": 0.5})
    assert "already" in another.json()["detail"]
    second = order(api, table, {**other, "entries": 1})  # as if its price were shown now
    assert workspace.jobs.get(second.json()["id"]).finished.wait(60)
    assert "already" in api.get(f"/api/jobs/{second.json()['id']}").json()["error"]
    assert (len(table.ledger.entries), table.copy.guarantee_.epsilon) == (1, 1.0)
    answer = explore(api, table, source="copy").json()
    assert (answer["source"], answer["ledger"]["remaining"]) == ("copy", 2.0)


def test_a_price_that_is_no_longer_true_buys_nothing(api, table):
    old = api.get(f"/api/tables/{table.id}/copy", params={"epsilon": 1.0}).json()
    table.ledger.spend(PureEvent(epsilon=0.5))
    for wrong in (old, {**old, "epsilon": 0.1, "entries": 1}):
        assert order(api, table, wrong).json()["type"] == "/problems/ledger-changed"
    assert len(table.ledger.entries) == 1
    assert table.copy is None


def test_a_table_that_is_described_anew_while_an_order_comes_in_is_not_copied(
    api, workspace, table, monkeypatch
):
    price = api.get(f"/api/tables/{table.id}/copy", params={"epsilon": 1.0}).json()
    monkeypatch.setattr(table.purchases, "_check_idle", lambda: setattr(table, "schema", MIXED))
    job = workspace.jobs.get(order(api, table, price).json()["id"])
    assert job.finished.wait(60)
    assert (job.state, "check the price again" in job.error) == ("failed", True)
    assert (table.columns.reads, table.ledger.entries, table.copy) == ([], (), None)


def test_people_with_several_rows_get_no_copy(api, workspace):
    schema = Schema([*NUMBERS, Field("who", role="user")])
    table = workspace.add("rows", "upload", Watched(COLUMNS), schema)
    table.ledger = Ledger(epsilon=3.0)
    refused = api.get(f"/api/tables/{table.id}/copy", params={"epsilon": 1.0})
    assert "several rows per person" in refused.json()["detail"]
    assert table.columns.reads == []
    assert "several rows" in api.get(f"/api/tables/{table.id}/explore").json()["copy"]
    table.schema, table.trust_model = NUMBERS, "local"
    refused = api.get(f"/api/tables/{table.id}/copy", params={"epsilon": 1.0})
    assert "No one holds the records" in refused.json()["detail"]


@pytest.mark.full
def test_work_in_a_process_ends_when_nobody_waits():
    assert run_killable(lambda: None, sorted, [2, 1]) == [1, 2]

    def gone():
        raise JobCanceledError

    with pytest.raises(JobCanceledError):
        run_killable(gone, time.sleep, 60)


def test_what_promises_to_rows_is_not_offered_for_people_with_several(workspace):
    table = workspace.add("rows", "made-up", {}, Schema([*NUMBERS, Field("who", role="user")]))
    assert "DPDensity" not in {one.name for one in methods_for(table)}
