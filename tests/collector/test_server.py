"""The process: says when it is ready, ends when it is told to, warns where it must."""

import json
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import httpx
import pytest

from helpers.campaigns import signed_campaign
from helpers.collector_promises import LOGGED, raise_and_warn
from helpers.loggers import restored_loggers
from shoal.collector import Settings, Store, serve, server
from shoal.exceptions import ParameterError, StoreError
from shoal.service import listen

PROGRAM = "import sys; from shoal.collector import *; serve(Settings(sys.argv[1], port=0))"


def test_a_server_from_ready_to_sigterm(tmp_path):
    url = f"sqlite:///{tmp_path}/reports.db"
    with Store.open(url) as store:
        store.add_campaign(signed_campaign("homes", open_intake=True))
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        word, address = process.stdout.readline().split()
        assert word == "ready"
        with httpx.Client(base_url=address, trust_env=False) as client:
            assert client.get("/readyz").status_code == 200
            assert client.get("/v1/campaigns/homes").status_code == 200
        workers = _children(process.pid)
        assert len(workers) == 1
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, errors
    assert output == ""
    assert "127.0.0.1" not in errors
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def _children(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in children.split()]


def test_other_machines_are_warned_about(monkeypatch, capsys):
    def refuse(_url):
        raise StoreError("no database")

    monkeypatch.setattr(Store, "open", refuse)
    for host, warned in (("0.0.0.0", True), ("::", True), ("127.0.0.1", False), ("::1", False)):
        with restored_loggers(), pytest.raises(StoreError, match="no database"):
            serve(Settings("sqlite:///unused.db", host=host))
        assert ("TLS" in capsys.readouterr().err) == warned


def test_what_a_thread_of_the_server_raises_is_logged_without_its_text(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.setattr(server, "run_app", raise_and_warn)
    with restored_loggers(), warnings.catch_warnings():
        warnings.simplefilter("always")
        serve(Settings(f"sqlite:///{tmp_path}/reports.db", port=0, analysis_worker=False))
    written = "".join(capfd.readouterr())
    assert "4711" not in written
    assert [json.loads(line)["event"] for line in written.splitlines()] == LOGGED


def test_a_port_that_is_taken():
    with listen(Settings("sqlite:///unused.db", port=0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match=f"port {port} .*choose another port"):
            listen(Settings("sqlite:///unused.db", port=port))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"port": -1}, "port must be a whole number of at least 0"),
        ({"port": 70_000}, "port must be at most 65535"),
        ({"max_batch": 1.5}, "max_batch must be a whole number of at least 1,"),
        ({"max_batch": True}, "max_batch must be a whole number"),
        ({"client_rate": float("nan")}, "client_rate must be a number"),
        ({"body_seconds": 0}, "body_seconds must be a number of at least 0.001"),
    ],
)
def test_settings_that_no_server_runs_with(changed, message):
    with pytest.raises(ParameterError, match=message):
        Settings("sqlite:///unused.db", **changed)
