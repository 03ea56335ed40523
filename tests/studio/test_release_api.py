"""A release: priced without a look at the records, paid once, whoever asks and how often."""

import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from helpers.studio import studio_here
from helpers.studio_tables import PLANE, ROWS, USERS, WatchedColumns, people
from helpers.written_files import written_files
from shoal.cluster import ClusterProfile, DPDensity
from shoal.exceptions import DataError
from shoal.privacy import Ledger, PureEvent, Release
from shoal.reports import load_release
from shoal.studio import release_api
from shoal.studio.downloads import release_files, write_file
from shoal.studio.releases import StudioRelease
from shoal.studio.workspace import MAX_TABLES

KMEANS = {"method": "DPKMeans", "epsilon": 0.5, "k": 2}
PROFILED = {**KMEANS, "profile": 0.25}


@pytest.fixture(scope="module")
def here():
    """Yield one studio in this process."""
    with studio_here() as opened:
        yield opened


@pytest.fixture(autouse=True)
def _room(here):
    """Forget all tables afterwards: those of which something was bought are kept otherwise."""
    yield
    for table in here.workspace.tables:
        here.workspace.forget(table.id)


class Desk:
    """A table with a ledger, and what its page asks for."""

    def __init__(self, here, schema=ROWS, columns=None, limit=(2.0, 0.0)):
        self.client, self.jobs = here.client, here.workspace.jobs
        here.workspace.ledgers.clear()  # a file of this name is about other people each time
        self.columns = WatchedColumns(people()) if columns is None else columns
        self.table = here.workspace.add("people.csv", "upload", self.columns, schema)
        self.path = f"/api/tables/{self.table.id}"
        if limit is not None:
            asked = {"epsilon": limit[0], "delta": limit[1]}
            assert self.client.post(f"{self.path}/ledger", json=asked).status_code == 200

    @property
    def entries(self):
        return self.table.ledger.entries

    def price(self, settings, repeat=0):
        asked = {"settings": settings, "repeat": repeat}
        return self.client.post(f"{self.path}/release/price", json=asked)

    def order(self, settings, price, repeat=0):
        asked = {"settings": settings, "repeat": repeat}
        told = {name: price[name] for name in ("key", "entries")}
        return self.client.post(f"{self.path}/release", json={**asked, **told})

    def finish(self, answer):
        """Wait for the end of a job."""
        assert answer.status_code == 200, answer.text
        job = answer.json()
        assert self.jobs.get(job["id"]).finished.wait(60)
        return self.client.get(f"/api/jobs/{job['id']}").json()

    def buy(self, settings, repeat=0):
        """Look at the price and pay it; returns the price and the finished job."""
        answer = self.price(settings, repeat)
        assert answer.status_code == 200, answer.text
        price = answer.json()
        return price, self.finish(self.order(settings, price, repeat))


@pytest.fixture
def desk(here):
    """Return a table of rows with a limit of epsilon 2."""
    return Desk(here)


def test_a_price_looks_at_no_record(desk):
    price = desk.price(PROFILED).json()
    assert desk.columns.reads == 0
    assert desk.entries == ()
    assert price["button"] == "Spend epsilon 0.75 of 2 and release"
    assert (price["before"]["remaining"], price["after"]["remaining"]) == (2.0, 1.25)
    assert [one["price"] for one in price["spends"]] == ["epsilon 0.5", "epsilon 0.25"]
    assert "epsilon = 0.5" in price["guarantees"][0]


@pytest.mark.parametrize(
    ("schema", "settings", "delta"),
    [
        (ROWS, PROFILED, 0.0),
        (USERS, PROFILED, 0.0),
        (USERS, {**KMEANS, "delta": 1e-7, "profile": 0.3, "profile_delta": 1e-7}, 1e-6),
        (ROWS, {**KMEANS, "method": "DPKMeans-lloyd"}, 0.0),
        (ROWS, {"method": "DPKMeans", "epsilon": 0.5}, 0.0),
        (PLANE, {"method": "DPDensity", "epsilon": 0.5}, 0.0),
        (PLANE, {"method": "DPWaveCluster", "epsilon": 0.5}, 0.0),
    ],
    ids=["rows", "users", "users with delta", "lloyd", "private k", "density", "wave"],
)
def test_what_was_shown_is_what_is_charged(here, schema, settings, delta):
    desk = Desk(here, schema, limit=(2.0, delta))
    desk.table.records_per_user = 2
    price, job = desk.buy(settings)
    assert job["state"] == "done", job
    after = desk.client.get(desk.path).json()["ledger"]
    assert after == price["after"]
    assert [entry.price for entry in desk.entries] == [one["price"] for one in price["spends"]]
    assert not any(entry.seeded for entry in desk.entries)
    told = desk.client.get(f"{desk.path}/releases/{price['key']}").json()
    promised = [told["guarantee"], *([told["profile"]["guarantee"]] if told["profile"] else [])]
    assert promised == price["guarantees"]
    assert told["holds"]
    if schema is USERS:
        assert "at most 2 count" in price["unit"]
        assert desk.table.ledger.limits.privacy_unit.id_column == "person"


def test_the_same_order_from_many_threads_is_paid_once(desk):
    price = desk.price(KMEANS).json()
    barrier = threading.Barrier(6)

    def press(_):
        barrier.wait()
        return desk.order(KMEANS, price)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(press, range(6)))
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert desk.finish(answers[0])["state"] == "done"
    assert len(desk.entries) == 1
    assert desk.order(KMEANS, price).json()["result"]["key"] == price["key"]  # long after
    assert desk.price(KMEANS).json()["bought"]
    assert len(desk.entries) == len(desk.table.releases) == 1


def test_a_purchase_that_runs_is_found_again_and_shuts_out_all_others(here):
    desk = Desk(here, columns=WatchedColumns(people(), open_gate=False))
    price, other = desk.price(KMEANS).json(), desk.price(PROFILED).json()
    running = desk.order(KMEANS, price)
    try:
        assert desk.columns.reached.wait(30)
        assert desk.price(KMEANS).json()["job"]["id"] == running.json()["id"]  # after a reload
        second = desk.order(PROFILED, other)
        assert (second.status_code, second.json()["type"]) == (409, "/problems/ledger-changed")
        # The ledger that is about to be charged is not replaced by one with another limit.
        assert desk.client.post(f"{desk.path}/ledger", json={"epsilon": 9.0}).status_code == 409
        # Nor is the description changed by which the release is made.
        for said in ({"user": "person"}, {"records_per_user": 2}, {"trust_model": "local"}):
            answer = desk.client.post(f"{desk.path}/settings", json=said)
            assert (answer.status_code, desk.table.schema) == (409, ROWS)
        # Nor is the table forgotten, by a click or because many others are opened.
        assert desk.client.delete(desk.path).status_code == 409
        for _ in range(MAX_TABLES):
            here.workspace.add("other.csv", "upload", {}, PLANE)
        assert here.workspace.get(desk.table.id) is desk.table
        assert desk.entries == ()
    finally:
        desk.columns.gate.set()
    assert desk.finish(running)["state"] == "done"
    late = desk.order(PROFILED, other)
    assert (late.status_code, late.json()["type"]) == (409, "/problems/ledger-changed")
    assert len(desk.entries) == 1


def test_a_price_that_is_out_of_date_is_not_paid(desk):
    price = desk.price(KMEANS).json()
    other = {**KMEANS, "epsilon": 1.0}
    assert desk.order(other, price).json()["type"] == "/problems/ledger-changed"
    desk.table.schema = PLANE
    assert desk.order(KMEANS, price).json()["type"] == "/problems/ledger-changed"
    desk.table.schema = ROWS
    desk.client.post(f"{desk.path}/ledger", json={"epsilon": 1.0})
    assert desk.order(KMEANS, price).json()["type"] == "/problems/ledger-changed"
    price = desk.price(KMEANS).json()
    desk.table.ledger.spend(PureEvent(epsilon=0.1))
    assert desk.order(KMEANS, price).json()["type"] == "/problems/ledger-changed"
    assert (desk.columns.reads, len(desk.entries)) == (0, 1)


def test_a_table_that_is_described_anew_while_an_order_comes_in_is_not_released(desk, monkeypatch):
    price = desk.price(KMEANS).json()

    def described_anew(*_):
        desk.table.schema = PLANE

    monkeypatch.setattr(release_api, "_check_repeat", described_anew)
    job = desk.finish(desk.order(KMEANS, price))
    assert (job["state"], "check the price again" in job["error"]) == ("failed", True)
    assert (desk.columns.reads, desk.entries, desk.table.releases) == (0, (), [])


def test_a_table_that_is_forgotten_while_an_order_comes_in_is_not_released(here, desk, monkeypatch):
    price = desk.price(KMEANS).json()
    monkeypatch.setattr(
        release_api, "_check_repeat", lambda *_: here.workspace.forget(desk.table.id)
    )
    refused = desk.order(KMEANS, price)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/ledger-changed")
    assert (desk.columns.reads, desk.entries) == (0, ())


def test_two_tables_with_one_ledger_do_not_pay_at_the_same_time(here):
    """Each price shows what is left without the other: the second has to be looked at again."""
    one = Desk(here, columns=WatchedColumns(people(), open_gate=False))
    two = Desk(here, limit=None)
    two.table.ledger = one.table.ledger
    first, second = one.price(KMEANS).json(), two.price(KMEANS).json()
    running = one.order(KMEANS, first)
    try:
        assert one.columns.reached.wait(30)
        waiting = two.order(KMEANS, second)
        assert not here.workspace.jobs.get(waiting.json()["id"]).finished.wait(0.2)
    finally:
        one.columns.gate.set()
    assert one.finish(running)["state"] == "done"
    assert "spent since this price" in two.finish(waiting)["error"]
    assert (len(one.entries), two.columns.reads) == (1, 0)


def test_what_was_bought_is_not_forgotten_because_other_tables_are_opened():
    with studio_here() as here:
        desk = Desk(here)
        price, _ = desk.buy(KMEANS)
        for _ in range(MAX_TABLES):
            here.workspace.add("other.csv", "upload", {}, PLANE)
        assert len(here.workspace.tables) == MAX_TABLES
        assert desk.client.get(f"{desk.path}/releases/{price['key']}").status_code == 200
        for table in here.workspace.tables:
            table.releases.append(desk.table.releases[0])
        answer = desk.client.post("/api/tables/schema", json={"names": "age"})
        assert (answer.status_code, "forget one" in answer.json()["detail"]) == (422, True)
        assert desk.client.delete(desk.path).status_code == 200  # on purpose
        assert desk.client.post("/api/tables/schema", json={"names": "age"}).status_code == 200


def test_clusters_are_kept_though_their_profile_meets_an_error_that_nobody_foresaw(
    desk, monkeypatch
):
    def fail(*_):
        raise MemoryError("somebody's value")

    price = desk.price(PROFILED).json()
    monkeypatch.setattr(ClusterProfile, "fit", fail)
    job = desk.finish(desk.order(PROFILED, price))
    assert (job["state"], len(desk.table.releases), len(desk.entries)) == ("done", 1, 1)
    told = desk.client.get(f"{desk.path}/releases/{price['key']}").json()
    assert "check the ledger" in told["profile_failed"]
    assert "somebody" not in json.dumps(told)


def test_what_the_ledger_cannot_pay_is_refused_and_nothing_is_read(here):
    desk = Desk(here, limit=(0.6, 0.0))
    refused = desk.price(PROFILED)  # the clusters alone could be paid
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/over-budget")
    assert (desk.columns.reads, desk.entries) == (0, ())
    price = desk.price(KMEANS).json()
    assert desk.order(PROFILED, price).status_code == 409
    assert desk.buy(KMEANS)[1]["state"] == "done"
    assert desk.price({**KMEANS, "k": 3}).status_code == 403
    assert desk.price(KMEANS).json()["bought"]  # what was bought is shown though all is spent


def test_what_fails_after_its_charge_stays_charged_and_is_not_charged_again(desk, monkeypatch):
    def fail(*_args):
        raise RuntimeError("a value of a record")

    price = desk.price(KMEANS).json()
    with monkeypatch.context() as patched:
        patched.setattr("shoal.cluster.kmeans.dp_kmeans.find_centers", fail)
        job = desk.finish(desk.order(KMEANS, price))
    assert job["state"] == "failed"
    assert "value" not in json.dumps(job)
    assert len(desk.entries) == 1
    assert desk.order(KMEANS, price).json()["type"] == "/problems/ledger-changed"
    again = desk.price(KMEANS).json()
    assert (again["entries"], again["bought"], again["before"]["remaining"]) == (1, False, 1.5)


def test_clusters_that_were_paid_for_are_kept_though_their_profile_fails(desk, monkeypatch):
    price = desk.price(PROFILED).json()

    def fail(*_args):
        raise DataError("the profile must fail")

    monkeypatch.setattr(ClusterProfile, "fit", fail)
    assert desk.finish(desk.order(PROFILED, price))["state"] == "done"
    told = desk.client.get(f"{desk.path}/releases/{price['key']}").json()
    assert told["profile_failed"] == "the profile must fail"
    assert told["clusters"] == 2
    assert len(desk.entries) == 1


def test_records_that_break_the_schema_cost_nothing_and_are_not_named(here):
    columns = WatchedColumns({**people(), "age": ["", "secret"] * 300})
    desk = Desk(here, columns=columns)
    price = desk.price(KMEANS).json()
    job = desk.finish(desk.order(KMEANS, price))
    assert job["state"] == "failed"
    assert "age" in job["error"]
    assert "secret" not in json.dumps(job)
    assert desk.entries == ()
    columns.columns = people()
    assert desk.finish(desk.order(KMEANS, price))["state"] == "done"  # nothing was spent before


def test_once_more_is_another_price_on_purpose(desk):
    first, _ = desk.buy(KMEANS)
    assert desk.price(KMEANS, repeat=2).status_code == 422
    second, job = desk.buy(KMEANS, repeat=1)
    assert job["state"] == "done"
    assert first["key"] != second["key"]
    assert (second["earlier"], second["after"]["remaining"]) == (1, 1.0)
    assert len(desk.entries) == 2
    listed = desk.client.get(f"{desk.path}/releases").json()
    assert [one["key"] for one in listed] == [first["key"], second["key"]]


@pytest.mark.parametrize(
    "changed",
    [
        {"random_state": 1},
        {"seed": 1},
        {"epsilon": 0.0},
        {"epsilon": "1"},
        {"k": 0},
        {"method": "KMeans"},
        {"method": "PrivateCopy"},
        {"method": "Laplace"},
        {"method": "os:system"},
        {"method": "DPDensity", "delta": 1e-6},
    ],
)
def test_what_cannot_be_asked_for_is_refused(desk, changed):
    answer = desk.price({**KMEANS, **changed})
    assert answer.status_code == 422
    assert (desk.columns.reads, desk.entries) == (0, ())


def test_people_with_several_rows_need_a_method_that_promises_to_people(here):
    desk = Desk(here, USERS)
    refused = desk.price({"method": "DPDensity", "epsilon": 0.5})
    assert refused.status_code == 422
    assert "whose row each row is" in refused.json()["detail"]


def test_where_nobody_holds_records_there_is_nothing_to_release(here):
    desk = Desk(here)
    for trust_model in ("local", "shuffled"):
        desk.table.trust_model = trust_model
        assert "campaign" in desk.price(KMEANS).json()["detail"]
    assert "ledger" in Desk(here, limit=None).price(KMEANS).json()["detail"]
    assert "no records" in Desk(here, columns={}).price(KMEANS).json()["detail"]


def test_files_are_those_of_the_command_line_and_labels_are_marked(here):
    desk = Desk(here, PLANE)
    price, _ = desk.buy({"method": "DPDensity", "epsilon": 1.0, "profile": 0.5})
    path = f"{desk.path}/releases/{price['key']}"
    told = desk.client.get(path).json()
    marks = {file["name"]: file["for_curator"] for file in told["files"]}
    assert [name for name, own in marks.items() if own] == ["labels.csv"]
    assert {"release.json", "clusters.csv", "outlines.geojson", "release.pdf"} < set(marks)

    def read(name):
        answer = desk.client.get(f"{path}/files/{name}")
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert answer.headers["cache-control"] == "no-store"
        return answer

    release = Release.from_json(read("release.json").text)
    labels = read("labels.csv").text.split()
    expected = load_release(release).predict({name: people()[name] for name in PLANE.columns})
    assert labels == ["cluster", *map(str, expected)]
    assert desk.table.ledger.paid_for(release.ledger)
    assert len(json.loads(read("outlines.geojson").text)["features"]) == told["clusters"]
    assert len(read("clusters.csv").text.splitlines()) == told["clusters"] + 1
    assert "sentences" in json.loads(read("profile.json").text)["values"]
    assert desk.client.get(f"{path}/files/..%2f..%2fetc").status_code == 404


def known(release, model):
    """Return what somebody has who has the release, and no record."""
    if release.kind == "DPDensity":
        return DPDensity.from_release(release)
    return SimpleNamespace(release_=release, advice_=model.advice_)


@pytest.mark.parametrize(
    ("schema", "settings"),
    [(ROWS, PROFILED), (PLANE, {"method": "DPDensity", "epsilon": 1.0, "profile": 0.5})],
    ids=["centers", "density"],
)
def test_what_may_be_published_is_made_of_the_release_alone(here, schema, settings):
    """So are the answers about it: whoever has only read its file would give the same."""
    desk = Desk(here, schema)
    desk.buy(settings)
    (made,) = desk.table.releases
    release = Release.from_json(made.release.to_json())
    published = StudioRelease(made.key, made.asked, known(release, made.model))
    published.time, published.profile = made.time, made.profile
    assert published.to_dict() == made.to_dict()
    assert published.describe() == made.describe()
    files = [one.name for one in release_files(made) if not one.for_curator]
    assert [one.name for one in release_files(published) if not one.for_curator] == files
    for name in files:
        if name.endswith(("json", "csv")):  # others draw what is described
            assert write_file(published, name)[1] == write_file(made, name)[1], name


def test_what_reads_the_true_records_writes_no_file(here):
    desk = Desk(here, PLANE, people())
    with written_files() as written:
        assert desk.client.get(f"{desk.path}/explore/records.png").content[:4] == b"\x89PNG"
        price, job = desk.buy(PROFILED)
        assert job["state"] == "done"
        files = f"{desk.path}/releases/{price['key']}/files"
        assert desk.client.get(f"{files}/labels.csv").status_code == 200
        copy = desk.client.get(f"{desk.path}/copy", params={"epsilon": 0.5}).json()
        order = {name: copy[name] for name in ("epsilon", "key", "entries")}
        assert desk.finish(desk.client.post(f"{desk.path}/copy", json=order))["state"] == "done"
    assert written == []


def test_what_holds_labels_of_true_records_is_never_pickled(desk):
    desk.buy(KMEANS)
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(desk.table.releases[0])


@pytest.mark.full
def test_every_file_is_of_its_kind(here):
    desk = Desk(here, PLANE)
    price, _ = desk.buy({"method": "DPDensity", "epsilon": 1.0, "profile": 0.5})
    path = f"{desk.path}/releases/{price['key']}"
    begins = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "html": b"<!doctype html>"}
    for file in desk.client.get(path).json()["files"]:
        answer = desk.client.get(f"{path}/files/{file['name']}", timeout=120)
        assert answer.status_code == 200
        assert answer.content.startswith(begins.get(file["name"].rpartition(".")[2], b""))
    assert len(desk.entries) == 2  # files cost nothing


def test_two_tables_do_not_share_what_was_bought(here):
    one, two = Desk(here), Desk(here)
    price, _ = one.buy(KMEANS)
    assert not two.price(KMEANS).json()["bought"]
    assert two.order(KMEANS, price).status_code == 409
    assert two.client.get(f"{two.path}/releases/{price['key']}").status_code == 404


def test_after_a_crash_the_file_tells_what_was_spent(tmp_path):
    file = tmp_path / "people.ledger"
    with studio_here(ledger=file) as lost:
        desk = Desk(lost)
        price = desk.price(KMEANS).json()
        Ledger(file, table="people").spend(PureEvent(epsilon=0.5))  # charged; then it is gone
    with studio_here(ledger=file) as back:
        desk = Desk(back, limit=None)
        told = back.client.get("/api/ledger").json()["ledger"]
        assert (told["entries"], told["remaining"]) == (1, 1.5)
        assert back.client.post(f"{desk.path}/ledger", json={}).status_code == 200
        assert desk.order(KMEANS, price).status_code == 409  # the order of the lost studio
        again = desk.price(KMEANS).json()
        assert (again["entries"], again["bought"], again["after"]["remaining"]) == (1, False, 1.0)
