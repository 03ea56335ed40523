"""`shoal reproduce`: parses, calls, prints; a stopped run goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.paper_data import needs_files
from shoal.cli import app, main
from shoal.papers import STUDIES, Claim, Reproduction, Verdict

RUN = CliRunner()
COMMAND = [sys.executable, "-c", "from shoal.cli import main; main()", "reproduce", "kccm"]


@pytest.fixture
def quiet_study(monkeypatch):
    """Replace the run by one that only remembers how it was called."""
    calls = []

    def run_study(study, **words):
        calls.append((study.name, words))
        verdict = Verdict(Claim("H1", "it holds"), "reproduced", "0.5 [0.4, 0.6]")
        report = words["folder"] / "report.html"
        report.touch()
        return Reproduction(report, (verdict,), {"first": [{}, {}]})

    monkeypatch.setattr("shoal.papers.run_study", run_study)
    return calls


SIZES = ("--quick", "--full", "--quick")


@pytest.mark.parametrize(("source", "size"), list(zip(STUDIES, SIZES, strict=True)))
def test_source_and_size_reach_the_run(tmp_path, quiet_study, source, size):
    out = tmp_path / "out"
    result = RUN.invoke(app, ["reproduce", source, size, "--out", str(out), "--seed", "3"])
    assert result.exit_code == 0, result.output
    ((name, words),) = quiet_study
    assert name == source
    assert (words["folder"], words["full"], words["seed"]) == (out, size == "--full", 3)
    assert "it holds" in result.output
    assert "Of 1 claims: 1 reproduced" in result.output


def test_json(tmp_path, quiet_study):
    result = RUN.invoke(app, ["reproduce", "kccm", "--json", "--out", str(tmp_path / "out")])
    found = json.loads(result.stdout)
    assert found["verdicts"][0]["evidence"] == "0.5 [0.4, 0.6]"
    assert found["records"] == {"first": 2}


@pytest.fixture
def refused(monkeypatch, capsys):
    """Run the command with a folder that it must refuse, and give what it says."""

    def run(out):
        monkeypatch.setattr(sys, "argv", ["shoal", "reproduce", "kccm", "--out", str(out)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        return error

    return run


def test_unknown_source_and_unwritable_folder(tmp_path, refused):
    wrong = RUN.invoke(app, ["reproduce", "k-means"])
    assert wrong.exit_code == 2
    (tmp_path / "file").touch()
    error = refused(tmp_path / "file" / "out")
    assert error.startswith("shoal: --out must be a writable folder")


def test_without_data_one_line_and_no_folder(tmp_path, refused, monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert "SHOAL_DATA" in refused(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.full
@needs_files
def test_killed_and_started_again_it_has_the_same_records(tmp_path):
    words = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [*COMMAND, "--quick", "--jobs", "1", "--out"]

    def records(folder):
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}

    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run([*command, str(whole)], check=True, env=words, capture_output=True)
    running = subprocess.Popen([*command, str(broken)], env=words)
    _wait_for_half(broken, sum(len(text) for text in records(whole).values()))
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert not (broken / "report.html").exists()
    subprocess.run([*command, str(broken)], check=True, env=words, capture_output=True)
    assert _sorted(records(broken)) == _sorted(records(whole))
    assert (broken / "report.html").read_bytes() == (whole / "report.html").read_bytes()


def _wait_for_half(folder: Path, size: int) -> None:
    for _ in range(3000):
        if sum(path.stat().st_size for path in folder.glob("*.csv")) > size // 3:
            return
        time.sleep(0.02)
    raise AssertionError("the run did not get to its half")


def _sorted(files):
    """Cells are appended as they are finished, so their order may differ."""
    return {name: sorted(text.splitlines()) for name, text in files.items()}
