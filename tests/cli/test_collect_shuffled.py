"""shoal collect, of a campaign whose reports come in batches."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.campaigns import SEALING_KEY, shuffled_campaign
from helpers.collector import sealed
from shoal.cli import app, main
from shoal.collector.batch_intake import store_batch
from shoal.collector.store import Store
from shoal.mechanisms import PartitionResponse

DEVICE = PartitionResponse(2.0, bounds=([0.0, 0.0], [1.0, 1.0]))
SIZE = 30
ANALYZE = ("analyze", "homes", "--k", "1", "--set", "n_init=1", "--here")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A database with one batch, of which one report was dropped."""
    path = tmp_path_factory.mktemp("shuffled") / "reports.db"
    signed = shuffled_campaign("homes", batch_size=SIZE, mechanism=DEVICE)
    reports = [DEVICE.encode(DEVICE.randomize([0.2, 0.3])) for _ in range(SIZE - 1)]
    with Store.open(f"sqlite:///{path}") as store:
        store.add_campaign(signed)
        body = sealed("homes", *reports) + bytes(signed.campaign.body_bytes)
        store_batch(store, signed.campaign, SEALING_KEY, 1, body)
    return path


@pytest.fixture(autouse=True)
def database(tmp_path, monkeypatch, filled):
    monkeypatch.chdir(tmp_path)
    Path("reports.db").write_bytes(filled.read_bytes())
    monkeypatch.setenv("SHOAL_DB", "reports.db")


def run(*arguments):
    result = CliRunner().invoke(app, ["collect", *arguments])
    assert result.exit_code == 0, result.output
    return result


def test_the_ingest_key_is_for_the_relay():
    """Also where devices need none: batches always do."""
    signed = shuffled_campaign("jobs", open_intake=True)
    Path("jobs.json").write_bytes(signed.envelope)
    user = "for the relay only: no device may have it"
    assert user in run("add", "jobs.json", "--public-key", str(signed.key)).stdout
    assert user in run("key", "new", "jobs").stderr


@pytest.fixture
def says(monkeypatch, capsys):
    def refused(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", "collect", *arguments])
        with pytest.raises(SystemExit):
            main()
        shown = capsys.readouterr()
        assert shown.err.count("\n") == 1
        return shown.err

    return refused


def test_status_and_export_count_batches():
    (row,) = json.loads(run("status", "--json").stdout)
    batches = row["batches"]
    assert (batches["n_batches"], batches["n_dropped"], batches["fewest"]) == (1, 1, SIZE - 1)
    assert (batches["operator"], batches["batch_size"]) == ("the university of X", SIZE)
    shown = " ".join(run("status").stdout.replace("│", "").split())
    assert "homes the university of X 30 1 29 1" in shown
    plain = json.loads(run("export", "homes", "--out", "files", "--json").stdout)
    assert (plain["reports"], plain["batches"]) == (SIZE - 1, 1)
    assert "29 reports of 1 batches" in run("export", "homes", "--out", "again").stdout


def test_analyze_states_both_promises(says):
    assert "honest_share must be given for shuffled reports" in says(*ANALYZE)
    share = ("--honest-share", "0.9", "--delta", "1e-4")
    plain = json.loads(run(*ANALYZE, *share, "--json").stdout)
    promise = plain["shuffled"]
    assert promise["guarantee"]["epsilon"] == DEVICE.shuffled(26, 1e-4).epsilon
    assert promise["honest_reports"] == 26
    shown = " ".join(run(*ANALYZE, *share).stdout.split())
    assert "through the shuffler: shuffled differential privacy with epsilon" in shown
    assert "local differential privacy with epsilon = 2" in shown
    assert "--honest-share" in says(*ANALYZE, "--set", "honest_share=1")


def test_serve_opens_with_the_key_of_a_file(says, monkeypatch):
    SEALING_KEY.save("sealing.pem")
    started = []
    monkeypatch.setattr(
        "shoal.collector.serve", lambda _settings, sealing_keys: started.append(sealing_keys)
    )
    run("serve", "--sealing-key", "sealing.pem")
    ((key,),) = started
    assert key.public == SEALING_KEY.public
    warned = run("serve").stderr
    assert "batches of homes are refused until --sealing-key names the file of its key" in warned
    assert "batches" not in run("serve", "--sealing-key", "sealing.pem").stderr
    Path("other.pem").write_text("nothing")
    assert "other.pem" in says("serve", "--sealing-key", "other.pem")
