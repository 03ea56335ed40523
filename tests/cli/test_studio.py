"""shoal studio: opens a file and a page, refuses in one line, and leaves nothing when it ends."""

import html
import importlib
import logging
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import warnings
import webbrowser
from contextlib import nullcontext, suppress
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from shoal import studio
from shoal.cli import app, main
from shoal.schema import Number, Schema
from shoal.studio import server

PROGRAM = "import sys; sys.argv[0] = 'shoal'; from shoal.cli import main; main()"
READY = "ready "


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Put a table and its schema into the folder where the command runs."""
    monkeypatch.chdir(tmp_path)
    for name in ("SHOAL_DB", "SHOAL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    Path("people.csv").write_text("age,weight\n41,70.5\n4711,80\n")
    Schema([Number("age", minimum=0, maximum=120), Number("weight", minimum=0, maximum=250)]).save(
        "people.json"
    )


@pytest.fixture
def served(monkeypatch):
    """Return what the command would serve, and run no server."""
    calls = []
    monkeypatch.setattr(
        studio, "serve_studio", lambda settings, **kwargs: calls.append((settings, kwargs)), False
    )

    def run(*arguments):
        result = CliRunner().invoke(app, ["studio", *arguments])
        assert result.exit_code == 0, result.output
        assert "4711" not in result.output
        return calls.pop()

    return run


@pytest.fixture
def says(monkeypatch, capsys):
    """Return the one line that the command ends with."""

    def refused(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", "studio", "--no-browser", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        assert end.value.code == 2, shown.err
        assert (shown.out, shown.err.count("\n")) == ("", 1)
        return shown.err

    return refused


def test_without_arguments_it_is_for_this_machine_alone(served):
    settings, kwargs = served()
    assert (settings.host, settings.port, settings.token) == ("127.0.0.1", 8760, "")
    assert (settings.ledger, settings.database, settings.folders) == (None, "", ())
    assert (kwargs["path"], kwargs["open_browser"]) == ("/", True)
    assert kwargs["workspace"].tables == ()


def test_a_file_is_the_first_page(served):
    _, kwargs = served("people.csv", "--no-browser")
    (table,) = kwargs["workspace"].tables
    assert (kwargs["path"], kwargs["open_browser"]) == (f"/?table={table.id}", False)
    assert (table.name, table.source, table.schema) == ("people.csv", "file", None)
    _, kwargs = served("people.csv", "--schema", "people.json")
    (table,) = kwargs["workspace"].tables
    assert table.schema == Schema.load("people.json")


def test_options_are_settings(served):
    Path("pages").mkdir()
    settings, _ = served(
        *("--ledger", "spent.jsonl", "--db", "reports.db", "--reports", "pages", "--port", "0"),
        *("--host", "0.0.0.0", "--token", "auto", "--name", "lab.example"),
    )
    assert (settings.ledger, settings.database) == (Path("spent.jsonl"), "sqlite:///reports.db")
    assert settings.folders == (Path("pages"),)
    assert settings.allowed_names == {"0.0.0.0", "lab.example"}
    assert len(settings.token) >= 32
    assert served("--token", "auto")[0].token != served("--token", "auto")[0].token


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none.csv",), "FILE must be an existing file, got 'none.csv'"),
        ((".",), "FILE must be an existing file, got '.'"),
        (("people.csv", "--schema", "none.json"), "--schema must be an existing file"),
        (("people.csv", "--schema", "people.csv"), "people.csv"),
        (("people.json",), "people.json"),
        (("--schema", "people.json"), "--schema must come with FILE"),
        (("--reports", "none"), "--reports must be an existing folder, got 'none'"),
        (("--host", "0.0.0.0"), "token must be given for a host that others can reach"),
        (("--token", "short"), "token must have 16 to 128"),
        (("--host", "0.0.0.0", "--token", "auto"), "names must be given with the host"),
        (("--name", "a:1"), "names must be host names without a port"),
    ],
)
def test_refusals(says, arguments, words):
    said = says(*arguments)
    assert words in said
    assert "4711" not in said


def test_a_port_that_is_taken(says):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = says("--port", str(taken.getsockname()[1]))
    assert "Address already in use" in said
    assert "choose another port, or 0 for a free one" in said


@pytest.mark.parametrize(
    ("package", "extra"), [("fastapi", "serve"), ("uvicorn", "serve"), ("vl_convert", "plot")]
)
def test_missing_packages(says, monkeypatch, package, extra):
    known = importlib.import_module

    def find(name):
        if name == package:
            raise ModuleNotFoundError(name=name)
        return known(name)

    monkeypatch.setattr(importlib, "import_module", find)
    assert f"{package} is not installed: run `pip install '.[{extra}]'`" in says()


def running(*arguments, **environment):
    """Start the command as a terminal does: in a group of processes of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**kept, **environment},
        start_new_session=True,
    )


def makers():
    """Return the processes that make a chart library."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"chart_library" in (process / "cmdline").read_bytes():
                found.add(process.name)
    return found


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "shoal: stopped by Ctrl-C\n"),
        pytest.param(signal.SIGTERM, 0, "", marks=pytest.mark.full),
    ],
)
def test_the_example_runs_until_it_is_ended(tmp_path, number, code, words):
    """The chart library is still being made: that process goes, too."""
    shown = CliRunner().invoke(app, ["studio", "--help"], env={"COLUMNS": "200"}).stdout
    (example,) = re.findall(r"Example: shoal (.*)", shown)
    with running(*shlex.split(example), "--no-browser", XDG_CACHE_HOME=str(tmp_path)) as process:
        try:
            address = process.stdout.readline().strip().removeprefix(READY)
            assert httpx.get(address).status_code == 200
            making = makers()
            # As a terminal does: to all that did not leave its group.
            (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
            out, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == code
    assert (out, errors) == ("", words)
    assert makers() & making == set()


@pytest.mark.parametrize("token", ["", "t" * 20])
def test_the_browser_is_given_the_address_and_nobody_else_its_token(monkeypatch, token):
    opened, done = [], threading.Event()

    def open_address(address):
        # Whoever is on this machine reads the arguments of a browser.
        assert not token or token not in address
        way = Path(address.removeprefix("file://"))
        opened.append((html.unescape(way.read_text()), way.stat().st_mode) if token else address)
        opened.append(way)
        done.set()

    def run(*_, announce):
        announce("http://here")
        assert done.wait(10)

    monkeypatch.setattr(webbrowser, "open", open_address)
    monkeypatch.setattr(server, "run_app", run)
    settings = studio.StudioSettings(port=0, token=token)
    server.serve_studio(settings, path="/?table=x", open_browser=True, announce=print)
    first, way = opened
    if not token:
        assert first == "http://here/?table=x"
        return
    page, mode = first
    assert f'url=http://here/?table=x&token={token}"' in page
    assert mode & 0o077 == 0
    assert not way.exists()


def test_settings_are_shown_without_secrets():
    settings = studio.StudioSettings(token="t" * 20, database="postgresql://me:secret@host/db")
    assert "ttt" not in repr(settings)
    assert "secret" not in repr(settings)


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("192.0.2.1", True)])
def test_where_others_listen_plain_http_is_warned_of(monkeypatch, capsys, host, warned):
    monkeypatch.setattr(server, "listen", lambda _settings: nullcontext())
    monkeypatch.setattr(server, "run_app", lambda *_args, **_kwargs: None)
    server.serve_studio(studio.StudioSettings(host=host, token="t" * 20))
    assert ("plain HTTP: put a proxy with TLS in front" in capsys.readouterr().err) is warned


def test_what_others_say_while_it_runs_is_told_without_its_text(monkeypatch, capfd):
    def run(*_args, **_kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("4711 of a record", RuntimeWarning, stacklevel=1)
        logging.getLogger("uvicorn.error").error("failed: %s", "4711 of a record")
        thread = threading.Thread(target=int, args=("4711 of a record",))
        thread.start()
        thread.join()

    monkeypatch.setattr(server, "run_app", run)
    server.serve_studio(studio.StudioSettings(port=0))
    told = "".join(capfd.readouterr())
    assert "4711" not in told
    assert [
        kind for kind in ("RuntimeWarning", "failed: %s", "ValueError") if kind not in told
    ] == []
