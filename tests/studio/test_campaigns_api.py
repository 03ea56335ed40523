"""Campaigns of the studio: documents, the key that is told once, databases, results."""

import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.campaigns import KEY, shuffled_campaign, signed_campaign
from helpers.studio import studio_here
from shoal.campaigns import SigningKey, campaign_words, open_campaign
from shoal.cli import app
from shoal.collector import Store, queue_analysis
from shoal.collector.store import OpenedBatch, Submission
from shoal.collector.worker import Worker
from shoal.mechanisms import Laplace
from shoal.schema import Category, Number, Schema
from shoal.service import KEY_PREFIX, EventLog
from shoal.studio import local_collector
from shoal.studio.campaign_desk import CampaignDesk
from shoal.studio.campaign_questions import AskedCampaign

ASKED = {
    "id": "homes",
    "title": "Where people live",
    "purpose": "Plan bus lines.",
    "columns": [
        {"name": "east", "minimum": 0.0, "maximum": 20.0},
        {"name": "north", "minimum": 0.0, "maximum": 20.0},
    ],
    "epsilon": 2.0,
    "clusters": 3,
    "closes": "2099-01-01",
    "url": "https://collect.example.org",
    "origins": ["https://example.org"],
}
MIXED = Schema([Number("age", minimum=0, maximum=100), Category("city", ["Turku", "Oulu"])])


@pytest.fixture
def here():
    with studio_here() as opened:
        yield opened


def test_a_document_is_made_as_the_command_makes_it(here, tmp_path, monkeypatch):
    made = here.client.post("/api/campaigns", json=ASKED).json()
    envelope = here.client.get("/api/campaigns/homes/document").content
    ours = open_campaign(envelope, made["public_key"]).campaign
    monkeypatch.chdir(tmp_path)
    question = ["--columns", "east,north", "--bounds", "0:20,0:20", "--epsilon", "2"]
    question += ["--clusters", "3"]
    named = ["--title", ASKED["title"], "--purpose", ASKED["purpose"], "--closes", "2099-01-01"]
    where = ["--url", ASKED["url"], "--origin", "https://example.org", "--json"]
    result = CliRunner().invoke(app, ["collect", "new", "homes", *named, *question, *where])
    assert json.loads(result.stdout)["campaign"] == ours.to_dict()
    told = here.client.get("/api/campaigns/homes").json()
    assert told["words"] == campaign_words(ours)
    assert told["link"] == "https://collect.example.org/v1/campaigns/homes"


def test_the_signing_key_is_told_once_and_written_nowhere(here, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    first = here.client.post("/api/campaigns", json=ASKED).json()
    secret = first["signing_key"].splitlines()[1]
    assert str(SigningKey.from_pem(first["signing_key"]).public) == first["public_key"]
    second = here.client.post("/api/campaigns", json={**ASKED, "id": "work"}).json()
    assert second == {"id": "work", "public_key": first["public_key"], "signing_key": None}
    pages = ["/api/campaigns", "/api/campaigns/homes", "/api/campaigns/homes/document"]
    assert all(secret not in here.client.get(page).text for page in pages)
    assert list(tmp_path.iterdir()) == []
    assert secret not in "".join(capfd.readouterr())


def test_the_signing_key_ends_with_the_studio(here):
    desk = CampaignDesk(here.workspace)
    assert desk.create(AskedCampaign(**ASKED))["signing_key"]
    assert desk.create(AskedCampaign(**{**ASKED, "id": "work"}))["signing_key"] is None
    desk.close()
    assert desk.create(AskedCampaign(**{**ASKED, "id": "late"}))["signing_key"]  # another one


def test_a_key_of_an_earlier_campaign_can_be_used(here):
    asked = {**ASKED, "signing_key": KEY.to_pem()}
    made = here.client.post("/api/campaigns", json=asked).json()
    assert made == {"id": "homes", "public_key": str(KEY.public), "signing_key": None}
    wrong = here.client.post("/api/campaigns", json={**ASKED, "signing_key": "not a key"})
    assert wrong.status_code == 422
    assert "not a key" not in wrong.text
    for odd in (KEY.to_pem() * 50, [KEY.to_pem()]):  # too long, and no text at all
        wrong = here.client.post("/api/campaigns", json={**ASKED, "signing_key": odd})
        assert (wrong.status_code, "PRIVATE" in wrong.text) == (422, False)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"id": "Homes"}, "id must be small letters"),
        ({"title": ""}, "title must say something"),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"closes": "2020-01-01"}, "closes must be in the future"),
        ({"url": "http://collect.example.org"}, "must be an https address"),
        ({"origins": ["example.org"]}, "origins must be such as"),
        ({"columns": []}, "columns must name"),
        ({"columns": [ASKED["columns"][0]] * 2}, "different names"),
        ({"mechanism": "KdLaplace"}, "one whose reports can be sent"),
        ({"mechanism": "os:system"}, "one whose reports can be sent"),
    ],
)
def test_what_is_wrong_is_one_line_and_makes_nothing(here, changed, words):
    answer = here.client.post("/api/campaigns", json={**ASKED, **changed})
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert here.client.get("/api/campaigns").json()["campaigns"] == []
    # A key that nobody was told is not kept: the next campaign tells its own.
    assert here.client.post("/api/campaigns", json=ASKED).json()["signing_key"]


def test_an_id_is_taken_once(here):
    here.client.post("/api/campaigns", json=ASKED)
    again = here.client.post("/api/campaigns", json={**ASKED, "epsilon": 8.0})
    assert (again.status_code, "already" in again.json()["detail"]) == (422, True)
    told = here.client.get("/api/campaigns/homes").json()
    assert told["document"]["guarantee"]["epsilon"] == 2.0


def test_only_mechanisms_that_fit_are_offered(here):
    flat = here.client.post("/api/campaigns/preview", json={**ASKED, "id": ""}).json()
    names = {one["name"] for one in flat["mechanisms"]}
    assert {"PartitionResponse", "PlanarLaplace"} <= names
    assert not {"KdLaplace", "SphericalLaplace"} & names
    table = here.workspace.add("people", "made-up", {}, MIXED)
    asked = {**ASKED, "table": table.id, "columns": [], "mechanism": "PlanarLaplace"}
    mixed = here.client.post("/api/campaigns/preview", json=asked).json()
    assert "PlanarLaplace" not in {one["name"] for one in mixed["mechanisms"]}
    assert mixed["mechanism"] == "PartitionResponse"
    assert "age, city" in mixed["words"]["asks for"]


def test_a_schema_is_asked_for_and_its_records_are_not_read(here):
    class Unread(dict):
        def __getitem__(self, key):
            raise AssertionError("a record was read")

        def __bool__(self):
            return True

    table = here.workspace.add("people", "upload", Unread(), MIXED)
    asked = {**ASKED, "table": table.id, "columns": []}
    assert here.client.post("/api/campaigns", json=asked).status_code == 200
    told = here.client.get("/api/campaigns/homes").json()
    fields = told["document"]["mechanism"]["parameters"]["schema"]["fields"]
    assert [field["name"] for field in fields] == ["age", "city"]


def test_without_a_collector_nothing_is_sent_and_the_way_out_is_named(here):
    here.client.post("/api/campaigns", json=ASKED)
    for path in ("homes/device", "homes/analyses", "homes/analyses/1/publish"):
        answer = here.client.post(f"/api/campaigns/{path}", json={})
        assert answer.status_code in (404, 422)
        assert "collector" in answer.json()["detail"]
    assert here.client.get("/api/campaigns/none").status_code == 404


def few(k):
    """Return parameters of a quick analysis."""
    return {"n_clusters": k, "n_init": 2}


def reports(mechanism, points, seed=0):
    """Return reports of many devices around some points."""
    rng = np.random.default_rng(seed)
    spread = rng.normal(0, 0.02, (600, 2)) + np.array(points)[rng.integers(len(points), size=600)]
    drawn = type(mechanism)(**{**mechanism.get_params(), "random_state": seed})
    with np.errstate(all="ignore"):
        return drawn.encode(drawn.fit_transform(spread.clip(0, 1)))


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """Return a database with two analyses of one campaign, and a shuffled one."""
    url = f"sqlite:///{tmp_path_factory.mktemp('collector') / 'reports.db'}"
    mechanism = Laplace(20.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    with Store.open(url) as store:
        store.add_campaign(signed_campaign(mechanism=mechanism))
        worker = Worker(store, log=EventLog(io.StringIO()))
        for turn, points in enumerate([[(0.2, 0.2), (0.8, 0.3)], [(0.2, 0.2), (0.5, 0.9)]]):
            body = reports(mechanism, points, seed=turn)
            store.append([Submission("homes", bytes([turn]) * 16, body, 600)])
            queue_analysis(store, "homes", parameters=few(2 + turn), seed=1)
            worker.run_next()
        shuffled = shuffled_campaign("paths")
        store.add_campaign(shuffled)
        report = shuffled.campaign.mechanism.encode(
            shuffled.campaign.mechanism.randomize([0.3, 0.7])
        )
        opened = [(bytes([number]) * 32, report) for number in range(4)]
        store.append_batch("paths", 1, OpenedBatch("0" * 64, opened))
        queue_analysis(store, "paths", parameters={**few(2), "honest_share": 0.5}, seed=1)
        worker.run_next()
    return url


@pytest.fixture
def stored(database):
    with studio_here(database=database) as opened:
        yield opened.client


def test_the_database_of_the_command_is_shown(stored):
    told = stored.get("/api/campaigns").json()
    assert told["database"]
    assert [(one["id"], one["reports"]) for one in told["campaigns"]] == [
        ("homes", 1200),
        ("paths", 4),
    ]
    told = stored.get("/api/campaigns/homes").json()
    assert KEY_PREFIX not in json.dumps(told)  # an ingest key is for who asks to be a device
    assert [one["state"] for one in told["analyses"]] == ["done", "done"]
    assert told["methods"] == ["noise-aware", "density", "remap"]


def test_results_have_a_picture_a_table_and_the_promise(stored):
    told = stored.get("/api/campaigns/homes/analyses/1").json()
    assert (told["clusters"], told["reports"], told["better_than_blind"]) == (2, 600, True)
    assert told["picture"]["concat"]
    assert len(told["rows"]) == 2
    assert "metric privacy" in told["guarantee"]
    assert told["shuffled"] is None
    assert stored.get("/api/campaigns/homes/analyses/9").status_code == 404


def test_a_shuffled_campaign_states_both_promises(stored):
    told = stored.get("/api/campaigns/paths/analyses/1").json()
    assert told["guarantee"].startswith("local differential privacy")
    assert "shuffler" in told["shuffled"]
    refused = stored.post("/api/campaigns/paths/device")
    assert (refused.status_code, "relay" in refused.json()["detail"]) == (422, True)


def test_two_analyses_are_compared_center_by_center(stored):
    told = stored.get("/api/campaigns/homes/compare?earlier=1&later=2").json()
    assert len(told["pairs"]) == 2
    assert (told["gone"], len(told["new"])) == ([], 1)
    assert max(pair["shift"] for pair in told["pairs"]) < 0.05
    assert "2 of 2 paired centers" in told["words"]
    same = stored.get("/api/campaigns/homes/compare?earlier=1&later=1").json()
    assert [pair["shift"] for pair in same["pairs"]] == [0.0, 0.0]


def test_publishing_is_that_of_the_command(stored, database):
    assert stored.post("/api/campaigns/homes/analyses/2/publish").json() == {"published": 2}
    assert stored.get("/api/campaigns/homes/state").json()["published"] == 2
    with Store.open(database) as store:
        assert store.published("homes").analysis.version == 2
    assert stored.post("/api/campaigns/homes/analyses/7/publish").status_code == 404


def test_the_collector_is_for_this_machine_and_its_password_in_no_list_of_processes(
    tmp_path, monkeypatch
):
    started = []
    monkeypatch.setattr(
        local_collector,
        "ServerProcess",
        lambda arguments, _log, **variables: started.append((arguments, variables)),
    )
    url = "postgresql://me:secret@host/db"
    local_collector.LocalCollector(database=url, folder=str(tmp_path))
    ((arguments, variables),) = started
    assert variables["SHOAL_DB"] == url
    assert "secret" not in " ".join(arguments)
    assert "--host" not in arguments  # its own default is the loopback address


def test_keys_of_the_studio_end_with_it(database):
    with studio_here(database=database) as opened:
        desk = CampaignDesk(opened.workspace)
        key = desk.ingest_key("homes")
        with Store.open(database) as store:
            assert store.ingest_key_ok("homes", key)
    with Store.open(database) as store:
        assert not store.ingest_key_ok("homes", key)
