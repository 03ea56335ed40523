"""Long work: what pages read of it, how it ends, and what is never written anywhere."""

import io
import json
import threading

import pytest

from helpers.studio import studio_here
from shoal.exceptions import ParameterError
from shoal.service import EventLog, RefusedError
from shoal.studio import jobs

SECRET = "4711-of-a-record"


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def running(log):
    """Yield jobs; whatever a test left running is ended."""
    started = jobs.Jobs(EventLog(log))
    yield started
    started.end()


def ended(job):
    assert job.finished.wait(10)
    return job.to_dict()


def until_canceled(progress):
    """Work in steps until somebody cancels."""
    step, never = 0, threading.Event()
    while not never.wait(0.001):  # leaves the processor to others
        step += 1
        progress(step, 10**9)


def test_a_result_its_progress_and_its_parts(running):
    go, shown = threading.Event(), threading.Event()

    def work(progress):
        progress(1, 2)
        progress.show([1])
        shown.set()
        assert go.wait(10)
        progress(2, 2)
        return {"sum": 3}

    job = running.start("add", work)
    assert shown.wait(10)
    seen = job.to_dict()
    assert (seen["state"], seen["done"], seen["total"]) == ("running", 1, 2)
    assert (seen["partial"], seen["result"]) == ([1], None)
    go.set()
    last = ended(job)
    assert (last["state"], last["done"], last["result"]) == ("done", 2, {"sum": 3})
    assert (last["partial"], last["error"]) == (None, "")
    assert running.get(job.id) is job


def test_a_refusal_is_one_line_for_the_page(running):
    def refuse(_progress):
        raise ParameterError("epsilon must be > 0, got -1")

    def refuse_route(_progress):
        raise RefusedError("over-budget", "The ledger has too little left.")

    assert ended(running.start("a", refuse))["error"] == "epsilon must be > 0, got -1"
    last = ended(running.start("b", refuse_route))
    assert (last["state"], last["error"]) == ("failed", "The ledger has too little left.")


@pytest.mark.parametrize("kind", [ValueError, KeyError, SystemExit, MemoryError])
def test_what_nobody_foresaw_is_logged_without_a_value(running, log, capfd, kind):
    def fail(_progress):
        record = {"age": SECRET}
        raise kind(record["age"])

    last = ended(running.start("fit", fail))
    assert (last["state"], last["error"]) == ("failed", jobs.FAILED)
    (line,) = map(json.loads, log.getvalue().splitlines())
    assert (line["event"], line["job"], line["error"]) == ("job failed", "fit", kind.__name__)
    assert any("test_jobs.py" in place and "fail" in place for place in line["lines"])
    assert SECRET not in log.getvalue() + json.dumps(last)
    assert capfd.readouterr() == ("", "")  # threading's own hook writes the text of the error


@pytest.mark.parametrize("result", [float("nan"), {"a": object()}, {1, 2}])
def test_a_result_that_is_no_json_fails_once_and_not_in_every_answer(running, log, result):
    last = ended(running.start("fit", lambda _progress: result))
    assert (last["state"], last["result"]) == ("failed", None)
    json.dumps(last, allow_nan=False)
    assert json.loads(log.getvalue())["error"] in ("TypeError", "ValueError")


def test_a_job_ends_at_its_next_step_however_often_it_is_canceled(running):
    job = running.start("walk", until_canceled)
    for _ in range(2):
        assert running.cancel(job.id) is job
    last = ended(job)
    assert (last["state"], last["error"], last["result"]) == ("canceled", "", None)
    assert running.cancel(job.id).to_dict() == last
    done = running.start("add", lambda _progress: 1)
    ended(done)
    assert running.cancel(done.id).to_dict()["state"] == "done"
    with pytest.raises(RefusedError, match="no such job"):
        running.cancel("none")


def test_as_many_at_a_time_as_are_allowed(running, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_RUNNING", 2)
    first, second = (running.start("walk", until_canceled) for _ in range(2))
    with pytest.raises(RefusedError, match="2 jobs are running"):
        running.start("walk", until_canceled)
    running.cancel(first.id)
    ended(first)
    running.start("walk", until_canceled)
    assert second.state == "running"


def test_results_are_kept_up_to_a_number_and_a_size(running, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_KEPT", 3)
    kept = [running.start("add", lambda _progress: 1) for _ in range(3)]
    for job in kept:
        ended(job)
    last = running.start("add", lambda _progress: 1)
    ended(last)
    with pytest.raises(RefusedError):
        running.get(kept[0].id)
    assert [running.get(job.id) for job in kept[1:]] == kept[1:]
    monkeypatch.setattr(jobs, "MAX_KEPT_BYTES", 1_000)
    large = running.start("add", lambda _progress: "x" * 2_000)
    ended(large)
    after = running.start("add", lambda _progress: 1)
    ended(after)
    assert running.get(large.id) is large  # the last one, which a page is about to read
    running.start("add", lambda _progress: 1)
    with pytest.raises(RefusedError):
        running.get(large.id)
    assert running.get(after.id) is after


def test_a_running_job_is_never_forgotten(running, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_KEPT", 1)
    walking = running.start("walk", until_canceled)
    for _ in range(3):
        ended(running.start("add", lambda _progress: 1))
    assert running.get(walking.id).state == "running"


def test_the_end_cancels_all_and_waits_for_none_that_does_not_listen(running):
    walking = running.start("walk", until_canceled)
    assert running.end()
    assert walking.state == "canceled"
    with pytest.raises(RefusedError, match="nothing new is started"):
        running.start("add", lambda _progress: 1)


def test_the_end_does_not_wait_for_one_that_does_not_listen(log):
    deaf, go = jobs.Jobs(EventLog(log)), threading.Event()
    job = deaf.start("sleep", lambda _progress: go.wait(20))
    try:
        assert not deaf.end(0.05)
        assert job.state == "running"
    finally:
        go.set()
        assert job.finished.wait(10)


def test_over_http():
    with studio_here() as here:
        job = here.workspace.jobs.start("walk", until_canceled)
        path = f"/api/jobs/{job.id}"
        assert here.client.get(path).json()["state"] == "running"
        for _ in range(2):
            assert here.client.post(f"{path}/cancel").json()["id"] == job.id
        assert ended(job) == here.client.get(path).json()
        missing = here.client.get("/api/jobs/none")
        assert (missing.status_code, missing.json()["type"]) == (404, "/problems/not-found")
        left = here.workspace.jobs.start("walk", until_canceled)
    assert left.state == "canceled"  # the studio has ended
