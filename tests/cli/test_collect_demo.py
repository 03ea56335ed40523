"""shoal collect demo: a collection from end to end, and nothing left behind."""

import html
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from shoal._numbers import rounded_up
from shoal.campaigns import SigningKey, open_campaign
from shoal.cli import app
from shoal.cli.collect import _demo_processes, demo
from shoal.collector.store import Store
from shoal.exceptions import ParameterError, StoreError
from shoal.experiments import find_browser
from shoal.service import processes

DEVICES, BATCH = 50, 20  # two batches, and ten reports that wait for a third
BROWSER = find_browser()


def run_demo(folder, *options):
    """Run it once, on real processes and real ports."""
    arguments = ["collect", "demo", "--devices", str(DEVICES), "--out", str(folder), "--json"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # its noise has no seed: no warning may end the test
        result = CliRunner().invoke(app, [*arguments, *options])
    assert result.exit_code == 0, f"{result.output}{result.exception!r}"
    assert (demo.NO_BROWSER in result.stderr) == ("--shuffle" in options and BROWSER is None)
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "out"


@pytest.fixture(scope="module")
def shown(folder):
    """Run it with a relay, and with a page where there is a browser."""
    return run_demo(folder, "--shuffle", "--batch", str(BATCH))


def listening(folder):
    """Return who takes requests at the addresses of the demo's campaign."""
    key = SigningKey.load(folder / "signing.pem").public
    campaign = open_campaign((folder / "campaign.json").read_bytes(), key).campaign
    found = set()
    for url in (campaign.reports_url, campaign.results_url):
        with socket.socket() as asked:
            asked.settimeout(2.0)
            if asked.connect_ex(("127.0.0.1", urlsplit(url).port)) == 0:
                found.add(url)
    return found


def test_full_batches_are_stored_once_and_the_rest_waits(shown, folder):
    assert shown["devices"] == DEVICES
    with Store.open(f"sqlite:///{folder}/reports.db") as store:
        assert store.count("homes") == 2 * BATCH
        totals = store.batch_totals("homes")
        release = json.loads(store.published("homes").analysis.release)
    assert (totals.n_batches, totals.n_dropped, totals.fewest) == (2, 0, BATCH)
    assert release["values"]["collection"]["n_reports"] == 2 * BATCH
    assert shown["shuffled"]["waiting"] == DEVICES - 2 * BATCH
    with closing(sqlite3.connect(folder / "relay.db")) as relay:
        assert relay.execute("SELECT count(*) FROM waiting").fetchone() == (DEVICES - 2 * BATCH,)
        assert relay.execute("SELECT count(*) FROM batches").fetchone() == (0,)


def test_every_device_labels_itself(shown):
    assert len(shown["centers"]) == len(shown["true_centers"]) == len(shown["distances"]) == 6
    by_source = {row["source"]: row for row in shown["rows"]}
    collected = by_source["collected from the devices"]
    assert (collected["epsilon"], len(shown["rows"])) == (4.0, 5)
    assert -1.0 <= collected["agreement"] <= 1.0
    assert by_source["none, k-means sees the records"]["cost"] == pytest.approx(1.0, abs=0.05)


def test_the_amplified_promise_stands_beside_the_local_one(shown, folder):
    local, amplified = shown["guarantee"], shown["shuffled"]["guarantee"]
    assert (local["epsilon"], local["delta"]) == (4.0, 0.0)
    assert amplified["epsilon"] < local["epsilon"]
    assert (amplified["delta"], amplified["n_reports"]) == (1e-6, 18)
    page = (folder / "report.html").read_text()
    assert html.escape(shown["shuffled"]["text"]) in page
    assert f">{rounded_up(amplified['epsilon'], 3)}<" in page
    assert "10 more wait at the relay for a full batch" in page


@pytest.mark.skipif(BROWSER is None, reason="needs a browser: apt-get install chromium")
def test_the_page_reports_and_finds_the_cluster_that_python_finds(shown, folder):
    found = shown["browser"]
    assert found["problem"] is None
    assert found["agrees"]
    assert len(bytes.fromhex(found["report"])) == shown["bytes_per_report"] + 48
    page = (folder / "report.html").read_text()
    assert found["label"] in page
    assert 'class="screen"><img src="data:image/png;base64,iVBOR' in page
    assert len(list((folder / "devices").glob("*.db"))) == 1  # all others were cleared


def test_everybody_sees_what_the_page_says(shown, folder):
    """Bytes of this run: those of the device are in its file, and with nobody else as they are."""
    page = (folder / "report.html").read_text()
    with closing(sqlite3.connect(folder / "devices" / "00000.db")) as device:
        ((report, sealed),) = device.execute("SELECT body, sealed FROM reports").fetchall()
    assert f"2 bytes: {report.hex(' ', 4)}<" in page
    assert page.count(sealed.hex(" ", 4)) == 2  # on the device and at the relay
    stored = [path.read_bytes() for path in folder.glob("reports.db*")]
    assert not any(sealed in data for data in stored)


def test_what_must_not_happen_was_tried(shown):
    raw, past, second, again = (one["answer"] for one in shown["refusals"])
    assert raw.startswith("status 422")
    assert past.startswith("status 403, The campaign takes reports through its relay alone")
    assert "allows 1 report" in second
    assert "nothing was drawn" in second
    assert again == "the same bytes as before, nothing spent"


def test_the_page_says_what_was_promised_and_stored(shown, folder):
    page = (folder / "report.html").read_text()
    assert shown["guarantee"]["text"] in page
    assert f"{2 * BATCH} reports of {shown['bytes_per_report']} bytes" in page
    assert "known here only because they are made up" in page
    assert "devices that lie can move centers" in page
    assert (folder / "demo.png").stat().st_size > 10_000


def test_servers_are_gone_and_nothing_else_was_written(shown, folder):
    assert listening(folder) == set()
    assert {path.name for path in folder.parent.iterdir()} == {"out"}
    known = {*demo.FILES, demo.MARK, "demo.png", "report.html"}
    assert {path.name for path in folder.iterdir()} <= known
    assert [path.name for path in (folder / "devices").iterdir()] == ["00000.db"]
    for log in ("server.log", "relay.log"):
        assert '"status": 5' not in (folder / log).read_text()


@pytest.mark.full
def test_without_a_relay(tmp_path):
    plain = run_demo(tmp_path / "out")
    assert "shuffled" not in plain
    assert "browser" not in plain
    assert plain["refusals"][0]["answer"].startswith("status 422, A report is off the lattice")
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"{DEVICES} reports of {plain['bytes_per_report']} bytes" in page
    with Store.open(f"sqlite:///{tmp_path}/out/reports.db") as store:
        assert store.count("homes") == DEVICES
    assert listening(tmp_path / "out") == set()


@pytest.mark.full
def test_the_whole_demo(tmp_path):
    """As many devices as by default, on all cores; AMI is .96 in every run that was seen."""
    arguments = ["collect", "demo", "--out", str(tmp_path / "out"), "--shuffle", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, f"{result.output}{result.exception!r}"
    shown = json.loads(result.stdout)
    collected = next(row for row in shown["rows"] if row["source"].startswith("collected"))
    assert collected["informative"]
    assert collected["agreement"] > 0.8
    assert (shown["shuffled"]["batches"], shown["shuffled"]["waiting"]) == (4, 0)
    assert shown["shuffled"]["guarantee"]["epsilon"] == pytest.approx(1.276, abs=0.01)
    assert BROWSER is None or shown["browser"]["agrees"]


def test_a_batch_must_fit(tmp_path):
    wrong = {
        ("--batch", "20"): "--batch must come with --shuffle, got 20",
        ("--shuffle", "--batch", "51"): "--batch must be at most --devices, 50, got 51",
    }
    for options, message in wrong.items():
        arguments = ["collect", "demo", "--devices", "50", "--out", str(tmp_path / "out")]
        result = CliRunner().invoke(app, [*arguments, *options])
        assert result.exit_code == 1
        assert message in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_an_earlier_demo_is_cleared_and_other_files_are_not(tmp_path):
    for name in ("campaign.json", "signing.pem", "reports.db", "report.html"):
        (tmp_path / name).touch()
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "00001.db").touch()
    demo._clear(tmp_path)
    assert {path.name for path in tmp_path.rglob("*")} == {"report.html", "devices"}
    demo._clear(tmp_path)  # also if the second one was stopped at once
    (tmp_path / "campaign.json").touch()
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(ParameterError, match="a new folder or the folder of an earlier demo"):
        demo._clear(tmp_path)
    assert (tmp_path / "campaign.json").exists()


def test_the_folder_of_a_collector_is_not_cleared(tmp_path):
    for name in ("campaign.json", "signing.pem", "reports.db", "server.log"):
        (tmp_path / name).touch()
    with pytest.raises(ParameterError, match="a new folder or the folder of an earlier demo"):
        demo._clear(tmp_path)
    assert (tmp_path / "reports.db").exists()


def test_a_server_that_does_not_start_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "SHOAL", "raise SystemExit(1)")
    with (
        _demo_processes.Servers() as servers,
        pytest.raises(StoreError, match="the server did not start"),
    ):
        servers.start([], tmp_path / "server.log")()


def test_a_port_is_kept_for_who_is_started():
    with _demo_processes.free_port() as port, socket.create_server(("127.0.0.1", port)) as server:
        assert server.getsockname()[1] == port


def processes_of(folder):
    """Return processes whose commands or open files name a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(folder) in (process / "cmdline").read_text(errors="replace"):
                found.append(process.name)
    return found


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("devices", [1, 30, 600])
def test_ctrl_c_leaves_no_process_and_no_file(tmp_path, number, devices):
    """While the first devices report, later, and while many do: all that was started is gone."""
    out, temporary = tmp_path / "out", tmp_path / "tmp"
    temporary.mkdir()
    program = "import sys; sys.argv[0] = 'shoal'; from shoal.cli import main; main()"
    command = [sys.executable, "-c", program, "collect", "demo", "--out", str(out), "--shuffle"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 240
        while len(list((out / "devices").glob("*.db"))) < devices:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        assert len(listening(out)) == 2
        # As a terminal does: to all that did not leave its group.
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "stopped by Ctrl-C" in errors
    assert "Traceback" not in errors
    assert listening(out) == set()
    assert processes_of(tmp_path) == []
    assert list(temporary.iterdir()) == []
    assert Path(out / "server.log").exists()
