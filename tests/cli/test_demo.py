import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from shoal.cli import app, main
from shoal.plotting import page_scripts

SHOAL = [sys.executable, "-c", "from shoal.cli import main; main()"]


def run(*arguments, **words):
    return subprocess.run(
        [*SHOAL, *arguments], capture_output=True, text=True, check=False, timeout=300, **words
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def done(folder):
    words = ["demo", "--out", str(folder), "--records", "300", "--repeats", "2"]
    return CliRunner().invoke(app, words)


def test_prints_a_table_promises_and_where_the_report_is(done, folder):
    assert done.exit_code == 0, done.output
    assert "What privacy costs: 5 clusters in 300 generated records" in done.stdout
    assert "central: central differential privacy with epsilon" in done.stdout
    assert "local: metric privacy with epsilon" in done.stdout
    assert f"report: {folder / 'report.html'}" in done.stdout


def test_report_stands_alone(done, folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    own = page.replace(page_scripts(), "")
    assert own != page
    assert own.count("<tr>") == 9
    assert own.count('<div class="chart"') == 1
    assert "http" not in own
    assert (folder / "demo.png").stat().st_size > 20_000


@pytest.mark.full
def test_seed_repeats_the_table_and_voids_the_promise(tmp_path):
    options = ["demo", "--out", str(tmp_path), "--records", "200", "--repeats", "1", "--seed", "3"]
    one = json.loads(CliRunner().invoke(app, [*options, "--json"]).stdout)
    two = json.loads(run(*options, "--json").stdout)  # in a process of its own
    assert one == two
    assert len(one["rows"]) == 8
    assert all("seeded" in row["guarantee"]["text"] for row in one["rows"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "--records", "0"], "--records"),
        (["demo", "--repeats", "-1"], "--repeats"),
        (["demo", "--out", "{folder}/file/below"], "--out must be a writable folder"),
        (["dmeo"], "No such command"),
    ],
)
def test_bad_input_ends_with_a_clear_line(arguments, words, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    given = [argument.replace("{folder}", str(tmp_path)) for argument in arguments]
    monkeypatch.setattr(sys, "argv", ["shoal", *given])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.full  # as of every command: tests/cli/test_bad_input.py
def test_interrupt_ends_without_a_traceback(tmp_path):
    process = subprocess.Popen(
        [*SHOAL, "demo", "--out", str(tmp_path / "out"), "--repeats", "500"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
    )
    give_up = time.monotonic() + 60.0
    while not (tmp_path / "out").exists() and time.monotonic() < give_up:
        time.sleep(0.05)
    time.sleep(0.5)  # in the midst of the first fits
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode not in (0, None)
    assert "Traceback" not in errors


def test_version():
    assert run("--version").stdout.startswith("shoal 0.")
