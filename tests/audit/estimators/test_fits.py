"""Audits that are stopped and go on: killed, interrupted, and mistaken for one another."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.resumed_audit import FITS, run
from helpers.toy_estimators import NoisyCount
from shoal.audit import Neighbors, audit_estimator
from shoal.audit.estimators._fits import PIECE
from shoal.exceptions import ParameterError

SCRIPT = Path(__file__).parents[2] / "helpers" / "resumed_audit.py"
ONE = Neighbors("one", records=[[0.0], [0.0]], added=[0.25])
TWO = Neighbors("two", records=[[0.0]], added=[0.25])


def start(folder, log, jobs=1):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), str(log), str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return "\n".join(line for line in out.splitlines() if " of " not in line[:12])


def stop_after(process, fits, number):
    """Send a signal once so many fits are done."""
    while int((line := process.stdout.readline()).partition(" ")[0]) < fits:
        assert line
    os.killpg(process.pid, number)
    process.stdout.close()
    process.stderr.close()
    return process.wait(timeout=60)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.full  # a write that is cut off is below
def test_killed_halfway_it_goes_on_from_there(tmp_path):
    folder, log, other_log = tmp_path / "resume", tmp_path / "log", tmp_path / "other"
    unbroken = run("none", str(other_log))
    assert stop_after(start(folder, log), FITS // 2, signal.SIGKILL) == -signal.SIGKILL
    before = log.stat().st_size
    assert FITS // 2 <= before < FITS
    assert finish(start(folder, log)) == unbroken
    # Each start fits once to read the guarantee; the piece that was cut off is done again.
    assert other_log.stat().st_size == FITS + 1
    assert log.stat().st_size <= FITS + 2 + PIECE
    assert not [name for name in names(folder) if not name.endswith((".npz", ".json", ".tmp"))]


@pytest.mark.full
@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_it_leaves_whole_pieces_and_nothing_else(tmp_path, jobs):
    folder = tmp_path / "resume"
    code = stop_after(start(folder, tmp_path / "log", jobs), FITS // 3, signal.SIGINT)
    assert code != 0
    assert all(name.endswith((".npz", ".json")) for name in names(folder))
    assert len(names(folder)) < FITS // PIECE
    for path in folder.glob("*.npz"):
        with np.load(path) as stored:
            assert stored["lengths_0"].size == PIECE
    assert names(tmp_path) == ["log", "resume"]


def audit(folder, model=None, pairs=(ONE, TWO), **words):
    words = {"runs": 100, "search_runs": 20, "random_state": 0, **words}
    return audit_estimator(model or NoisyCount(1.0), pairs, resume=folder, **words)


def test_the_same_audit_is_read_back_and_confidence_may_change(tmp_path):
    first, told = audit(tmp_path), []
    again = audit(tmp_path, progress=lambda *numbers: told.append(numbers))
    assert dict(again.results) == dict(first.results)
    assert dict(again.searched) == dict(first.searched)
    assert told[-1] == (280, 280)
    assert audit(tmp_path, confidence=0.9).epsilon >= first.epsilon


def test_secure_fits_are_read_back_as_well(tmp_path):
    first, again = (audit(tmp_path, random_state=None) for _ in range(2))
    assert dict(again.results) == dict(first.results)


@pytest.mark.parametrize(
    "change",
    [
        {"model": NoisyCount(2.0)},
        {"model": NoisyCount(1.0, bounds=(np.zeros(2), np.ones(2)))},
        {"pairs": [ONE]},
        {"pairs": [ONE, Neighbors("two", records=[[0.5]], added=[0.25])]},
        {"runs": 101},
        {"search_runs": 21},
        {"search": False},
        {"random_state": 1},
        {"random_state": None},
        {"statistic": lambda release, pair: 1.0},
    ],
)
def test_the_folder_of_another_audit_is_refused_and_kept(tmp_path, change):
    audit(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ParameterError, match="resume must be a new folder or one of the same") as e:
        audit(tmp_path, **change)
    assert "\n" not in str(e.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_folder_of_something_else_is_refused_and_kept(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ParameterError, match="resume must be a new folder"):
        audit(tmp_path)
    (tmp_path / "audit.json").write_text("[]")
    with pytest.raises(ParameterError, match="resume must be a new folder"):
        audit(tmp_path)
    assert names(tmp_path) == ["audit.json", "thesis.txt"]
    with pytest.raises(ParameterError, match="resume must be a folder that can be made or read"):
        audit(tmp_path / "thesis.txt")


def test_a_piece_that_is_cut_off_while_it_is_written_is_not_there(tmp_path, monkeypatch):
    written = []
    savez = np.savez

    def interrupted(file, **arrays):
        written.append(file.name)
        if len(written) == 3:
            file.write(b"half of a pie")
            raise KeyboardInterrupt
        savez(file, **arrays)

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        audit(tmp_path)
    assert len(names(tmp_path)) == 3
    assert all(name.endswith((".npz", ".json")) for name in names(tmp_path))
    monkeypatch.undo()
    audit(tmp_path)


def test_a_damaged_piece_is_named(tmp_path):
    audit(tmp_path)
    piece = next(tmp_path.glob("*.npz"))
    piece.write_bytes(piece.read_bytes()[:50])
    with pytest.raises(ParameterError, match="resume must hold whole pieces") as e:
        audit(tmp_path)
    assert str(piece) in str(e.value)
    piece.unlink()
    audit(tmp_path)
