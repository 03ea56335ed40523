"""The studio holds records, the collector and the relay never: neither has a part of the other."""

import json
import os
import signal
import subprocess
import sys

import pytest

from helpers.collector import running_collector
from helpers.relay import running_relay
from helpers.studio import studio_here

# Says at its end which modules of ours the process has loaded.
PROGRAM = """
import json, sys
sys.argv[0] = "shoal"
from shoal.cli import main
try:
    main()
finally:
    print(json.dumps([name for name in sys.modules if name.startswith("shoal")]))
"""


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Return what each server answers, by its own document."""
    folder = tmp_path_factory.mktemp("servers")
    with running_collector(f"sqlite:///{folder}/reports.db") as collector:
        collected = collector.client.get("/openapi.json").json()["paths"]
        pages = {path: collector.client.get(path).status_code for path in ("/", "/explore")}
    with running_relay(folder) as relay:
        relayed = relay.client.get("/openapi.json").json()["paths"]
    with studio_here() as here:
        studied = here.client.get("/openapi.json").json()["paths"]
        sent = here.client.post("/v1/campaigns/homes/reports", content=b"\x07\x01")
    assert pages == {"/": 404, "/explore": 404}
    assert sent.status_code in (404, 405)
    return {"collector": set(collected), "relay": set(relayed), "studio": set(studied)}


def test_no_server_has_a_path_of_the_studio(paths):
    for server in ("collector", "relay"):
        assert paths[server]
        assert not [path for path in paths[server] if path.startswith(("/api", "/static", "/cl"))]
        assert paths[server] & paths["studio"] == set()


def test_the_studio_takes_no_reports(paths):
    assert {path for path in paths["studio"] if not path.startswith("/api/")} == set()
    assert not [path for path in paths["studio"] if "/v1" in path or path.endswith("/batches")]


@pytest.mark.full
def test_a_running_collector_has_not_loaded_the_studio(tmp_path):
    command = ["collect", "serve", "--db", str(tmp_path / "reports.db"), "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command, "--no-worker"],
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")},
    )
    with process:
        try:
            assert process.stdout.readline().startswith("ready ")
            process.send_signal(signal.SIGTERM)
            loaded = json.loads(process.communicate(timeout=60)[0])
        finally:
            process.kill()
    assert "shoal.collector.app" in loaded
    assert not [name for name in loaded if name.startswith("shoal.studio")]
