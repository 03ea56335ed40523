"""Runs of experiments: the same records however they are run, stopped and started again."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from helpers.stopped_experiment import SPEC, TRIALS, noisy
from shoal.exceptions import DataError, ParameterError, ShoalError, TrialError
from shoal.experiments.record_store import RecordStore
from shoal.experiments.runner import run_spec
from shoal.experiments.spec import ExperimentSpec

HALF = TRIALS // 2 - 1  # two processes may both find themselves beyond the half
SCRIPT = Path(__file__).parents[1] / "helpers" / "stopped_experiment.py"


@pytest.fixture(scope="module")
def unbroken():
    return run_spec(SPEC, noisy)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "records.csv"


def start(path, log, jobs=1, plan=""):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(path), str(log), str(jobs), plan],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err == ""
    return json.loads(out.splitlines()[-1])


def go_on(path, log):
    with RecordStore(path, SPEC) as store:
        return run_spec(SPEC, partial(noisy, log=log), store)


def stop_after(process, trials, number):
    """Send a signal to the process and its workers once so many trials are done."""
    while int((line := process.stdout.readline()).partition(" ")[0]) < trials:
        assert line
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


def late_first(trial, log):
    """Let the first trial wait for others, a minute at most."""
    if trial.key == SPEC.trials()[0].key:
        give_up = time.monotonic() + 60.0
        while not (log.exists() and log.stat().st_size > 2) and time.monotonic() < give_up:
            time.sleep(0.01)
        return noisy(trial)
    return noisy(trial, log)


def threads(trial):
    return [{"threads": max(library["num_threads"] for library in threadpool_info())}]


def failing(trial, kind=ValueError):
    if trial.epsilon == 2.0:
        raise kind("a value of a record: 42")
    return noisy(trial)


def never(trial):
    raise AssertionError("done again")


def ignores(trial):
    return [{"ignores": signal.getsignal(signal.SIGINT) == signal.SIG_IGN}]


def size(X, trial):
    return [{"size": len(X)}]


def ended(trial):
    os.kill(os.getpid(), signal.SIGKILL)


def test_records_name_their_trial_and_come_in_order(unbroken):
    assert len(unbroken) == 3 * TRIALS
    fields = [trial.fields for trial in SPEC.trials() for _ in range(3)]
    assert [{name: record[name] for name in fields[0]} for record in unbroken] == fields
    assert unbroken[0]["mechanism"] == "Laplace"
    assert unbroken[-1]["mechanism"] == "Piecewise(columns='all')"
    assert len({record["value"] for record in unbroken}) == len(unbroken)


def test_the_same_records_on_two_cores_and_through_a_store(unbroken, tmp_path, path):
    told = []
    with RecordStore(path, SPEC) as store:
        found = run_spec(
            SPEC,
            partial(late_first, log=tmp_path / "log"),
            store,
            n_jobs=2,
            progress=lambda *numbers: told.append(numbers),
        )
    assert found == unbroken
    assert told == [(number, TRIALS) for number in range(TRIALS + 1)]
    # The first trial was not waited for: what is finished is on the disk.
    assert SPEC.trials()[0].key.encode() not in path.read_bytes().split(b"\n")[2]
    with RecordStore(path, SPEC) as store:
        told.clear()
        again = run_spec(SPEC, never, store, progress=lambda *numbers: told.append(numbers))
    assert again == unbroken
    assert told == [(TRIALS, TRIALS)]


@pytest.mark.full
@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_halfway_it_goes_on_from_there(unbroken, tmp_path, path, jobs):
    log = tmp_path / "log"
    code, _ = stop_after(start(path, log, jobs, "hold"), HALF, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert HALF <= log.stat().st_size < TRIALS
    found = finish(start(path, log)) if jobs == 1 else go_on(path, log)
    assert found == unbroken
    # Only what was under way was done again.
    assert TRIALS <= log.stat().st_size <= TRIALS + 2 * jobs


@pytest.mark.parametrize(
    ("plan", "again"),
    [("within write", 1), pytest.param("before sync", 0, marks=pytest.mark.full)],
)
def test_killed_in_a_write_it_goes_on_from_there(unbroken, tmp_path, path, plan, again):
    log = tmp_path / "log"
    process = start(path, log, plan=plan)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert log.stat().st_size == 5
    assert go_on(path, log) == unbroken
    assert log.stat().st_size == TRIALS + again


@pytest.mark.full
@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_it_leaves_a_store_that_goes_on(unbroken, tmp_path, path, jobs):
    log = tmp_path / "log"
    code, errors = stop_after(start(path, log, jobs, "hold"), HALF, signal.SIGINT)
    assert (code, errors) == (130, "")
    with RecordStore(path, SPEC) as store:
        assert HALF <= len(store.done) < TRIALS
    assert go_on(path, log) == unbroken
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log", "records.csv"]


def test_a_second_process_is_refused(tmp_path, path):
    with RecordStore(path, SPEC):
        process = start(path, tmp_path / "log")
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors == (
        f"refused: {path} must be used by one process at a time, and another has it open\n"
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_thread_in_each_process(jobs):
    with threadpool_limits(2):
        assert {record["threads"] for record in run_spec(SPEC, threads, n_jobs=jobs)} == {1}


@pytest.mark.parametrize("jobs", [1, 2])
def test_only_workers_ignore_interrupts(jobs):
    assert {record["ignores"] for record in run_spec(SPEC, ignores, n_jobs=jobs)} == {jobs == 2}


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.full)])
def test_a_failure_names_the_trial_and_keeps_what_was_done(unbroken, path, jobs):
    with RecordStore(path, SPEC) as store:
        with pytest.raises(TrialError, match=r"^ValueError in the trial 'line .*epsilon 2.0") as e:
            run_spec(SPEC, failing, store, n_jobs=jobs)
        assert "42" not in str(e.value)
        assert "\n" not in str(e.value)
        assert "42" in e.value.__notes__[0]
    with RecordStore(path, SPEC) as store:
        assert len(store.done) >= 4 - jobs
        assert run_spec(SPEC, noisy, store) == unbroken


def test_a_failure_of_shoal_says_what_it_says(path):
    with pytest.raises(ShoalError, match=r"^a value of a record: 42, in the trial 'line \|"):
        run_spec(SPEC, partial(failing, kind=DataError))


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"epsilon": 9.0}, "epsilon of a record must be that of its trial, 0.5, in the trial"),
        ({"x": [1]}, "x of a record must be text, a number, .* got list, in the trial"),
    ],
)
def test_records_that_do_not_fit_name_the_trial(record, says):
    with pytest.raises(TrialError, match=says):
        run_spec(SPEC, lambda trial: [record])


def test_work_fills_in_what_the_spec_leaves_open():
    spec = ExperimentSpec(name="x", datasets=["a"], mechanisms=["m"], epsilons=[1.0])
    (record,) = run_spec(spec, lambda trial: [{"columns": 5, "dataset": "a"}])
    assert (record["columns"], record["clusterer"]) == (5, None)


def test_no_table_is_written_for_other_processes(tmp_path, monkeypatch):
    """As joblib does with those of a megabyte or more, in a folder for all users."""
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    written = []

    def look(*_):
        written.extend(file for file in tmp_path.rglob("*") if file.is_file())

    records = run_spec(SPEC, partial(size, np.zeros(200_000)), n_jobs=2, progress=look)
    assert {record["size"] for record in records} == {200_000}
    assert written == []


def test_the_store_of_another_experiment_is_refused(path):
    with (
        RecordStore(path, SPEC.quick()) as store,
        pytest.raises(ParameterError, match="store must be of the experiment that is run"),
    ):
        run_spec(SPEC, noisy, store)


def test_a_process_that_is_ended_is_one_line(path):
    with pytest.raises(TrialError, match="ended from outside") as e:
        run_spec(SPEC, ended, n_jobs=2)
    assert "\n" not in str(e.value)
