"""The worker: a job is done once, whoever dies on the way, and an error is one line."""

import io
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from helpers.collected import collect
from helpers.loggers import restored_loggers
from shoal.collector import worker
from shoal.collector.analysis import queue_analysis, run_job
from shoal.collector.store import AnalysisState, Store
from shoal.collector.worker import NO_MEMORY, Worker, main
from shoal.collector.worker_process import WorkerProcess
from shoal.exceptions import ParameterError, StoreUnavailableError
from shoal.service import EventLog

NAMES = (f"homes-{number}" for number in itertools.count())
SMALL = {"n_clusters": 2, "n_init": 1}
PATIENCE = 60.0  # seconds, for a machine that does other things


@pytest.fixture
def store(database_url):
    with Store.open(database_url) as opened:
        yield opened


@pytest.fixture
def job(store):
    """Return the campaign of the one job that is queued."""
    name = collect(store, next(NAMES), "partitions", 100).campaign.id
    queue_analysis(store, name, parameters=SMALL, seed=3)
    return name


def quiet(store, **changed):
    return Worker(store, log=EventLog(io.StringIO()), **changed)


def wait_for(found):
    end = time.monotonic() + PATIENCE
    while not (value := found()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
    return value


def test_a_job_is_done(store, job):
    log = io.StringIO()
    assert Worker(store, log=EventLog(log)).run_next()
    done = store.analysis(job, 1)
    assert (done.state, done.attempts, done.error) == (AnalysisState.DONE, 1, None)
    assert done.release == run_job(store, done).to_json()
    assert not quiet(store).run_next()
    started, ended = map(json.loads, log.getvalue().splitlines())
    assert (started["event"], started["reports"]) == ("analysis started", 100)
    assert (ended["event"], ended["error"]) == ("analysis ended", None)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ParameterError("parameters must be others, got these"), "parameters must be others"),
        (MemoryError("0.123"), NO_MEMORY),
        (np.linalg.LinAlgError("0.123"), "the analysis failed with LinAlgError"),
        (FloatingPointError("0.123"), "the analysis failed with FloatingPointError"),
    ],
)
def test_a_failure_is_one_line_without_values(tmp_path, error, text):
    def fail(_store, _job):
        raise error

    with Store.open(f"sqlite:///{tmp_path}/reports.db") as store:
        name = collect(store, "homes", "partitions", 2).campaign.id
        queue_analysis(store, name, parameters=SMALL)
        assert quiet(store, run=fail).run_next()
        failed = store.analysis(name, 1)
    assert failed.state is AnalysisState.FAILED
    assert failed.error.startswith(text)
    assert "0.123" not in failed.error
    assert "\n" not in failed.error


def test_a_lease_is_renewed_while_it_works(store, job, monkeypatch):
    """A job may take much longer than a lease."""
    monkeypatch.setattr(worker, "RENEWALS", 100)
    renewals = threading.Semaphore(0)
    renew = store.renew_analysis

    def count(claimed, lease):
        renewals.release()
        return renew(claimed, lease)

    def slow(opened, claimed):
        assert all(renewals.acquire(timeout=PATIENCE) for _ in range(3))
        return run_job(opened, claimed)

    monkeypatch.setattr(store, "renew_analysis", count)
    assert quiet(store, lease=2, run=slow).run_next()
    done = store.analysis(job, 1)
    assert (done.state, done.attempts) == (AnalysisState.DONE, 1)


def test_who_lost_the_lease_stores_nothing(store, job, monkeypatch):
    """A worker that was stopped for longer than its lease comes back when the job is done."""
    monkeypatch.setattr(worker, "RENEWALS", 1e-9)  # as if it could not renew

    def late(opened, claimed):
        monkeypatch.setattr(worker, "RENEWALS", 4)
        assert opened.renew_analysis(claimed, 0), "its lease is over"
        assert quiet(opened).run_next(), "another worker does it"
        return run_job(opened, claimed)

    log = io.StringIO()
    Worker(store, run=late, log=EventLog(log)).run_next()
    assert json.loads(log.getvalue().splitlines()[-1])["error"] == worker.LOST
    done = store.analysis(job, 1)
    assert (done.state, done.attempts) == (AnalysisState.DONE, 2)


def test_a_job_is_given_back_when_it_must_stop(store, job):
    """And when the database goes away in the middle of it."""
    begun, test_is_over = threading.Event(), threading.Event()

    def never_ending(_store, _job):
        begun.set()
        test_is_over.wait(PATIENCE)

    stopped = quiet(store, run=never_ending)
    one = threading.Thread(target=stopped.run_forever)
    one.start()
    assert begun.wait(PATIENCE)
    stopped.stop()
    one.join(PATIENCE / 2)
    assert not one.is_alive()
    test_is_over.set()

    def away(_store, _job):
        raise StoreUnavailableError("away")

    assert quiet(store, run=away).run_next()
    assert quiet(store).run_next()
    done = store.analysis(job, 1)
    assert (done.state, done.attempts) == (AnalysisState.DONE, 3)


def test_a_database_that_is_away_is_waited_for(tmp_path, monkeypatch):
    calls = iter([StoreUnavailableError("away", retry_after=0), None])
    with Store.open(f"sqlite:///{tmp_path}/reports.db") as store:
        waiting = quiet(store)

        def claim(_lease):
            failure = next(calls)
            if failure is not None:
                raise failure
            waiting.stop()

        monkeypatch.setattr(store, "claim_analysis", claim)
        waiting.run_forever()
    assert next(calls, "all called") == "all called"


def test_bad_input_is_one_line(tmp_path, capsys, monkeypatch):
    """In this process, which keeps its priority, its limits and its loggers."""
    bounds = []
    monkeypatch.setattr(worker, "_bound_process", bounds.append)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    with restored_loggers():
        code = main([f"sqlite:///{tmp_path}/nowhere/reports.db", "--memory", "999999"])
    assert (code, bounds) == (1, [999999])
    assert "in a folder that exists" in capsys.readouterr().err


@pytest.fixture
def processes(tmp_path):
    """Return a store of SQLite with one job, and a worker process that works on it."""
    url = f"sqlite:///{tmp_path}/reports.db"
    with Store.open(url) as store:
        collect(store, "homes", "partitions", 100)
        queue_analysis(store, "homes", parameters=SMALL, seed=3)
        log = EventLog(io.StringIO())
        with WorkerProcess(url, ("--lease", "2"), log=log) as process:
            yield store, process


def test_kill_9_in_the_middle_of_a_job(processes):
    """The job is done once afterwards, by the next process, and the server starts that one."""
    store, process = processes
    first = process.pid
    wait_for(lambda: store.analysis("homes", 1).state is AnalysisState.RUNNING)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: process.pid != first)
    done = wait_for(lambda: (now := store.analysis("homes", 1)).state.is_finished and now)
    assert (done.state, done.attempts, done.error) == (AnalysisState.DONE, 2, None)
    assert [one.version for one in store.analyses("homes")] == [1]
    assert done.release == run_job(store, done).to_json(), "the bits of any other process"
    second = process.pid
    began = time.monotonic()
    process.stop()
    assert time.monotonic() - began < PATIENCE / 2
    with pytest.raises(ProcessLookupError):
        os.kill(second, 0)


def test_it_stops_at_the_end_of_its_input(tmp_path, monkeypatch):
    """As the pipe from the server ends, however that was ended."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("a line\n"))
    with Store.open(f"sqlite:///{tmp_path}/reports.db") as store:
        waiting = quiet(store)
        worker._stop_at_end_of_input(waiting)
        waiting.run_forever()


@pytest.mark.full
def test_it_ends_with_the_server_that_started_it(tmp_path):
    """Whose end of the pipe is closed however it ended; its address is not in its arguments."""
    url = f"sqlite:///{tmp_path}/reports.db"
    command = [sys.executable, "-m", "shoal.collector.worker", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        process.stdin.write(f"{url}\n".encode())
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
