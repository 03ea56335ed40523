"""Logs: one line of JSON a request, and nothing about who asked or what was sent."""

import io
import json
import logging
import sys
import threading
import warnings

import pytest

from helpers.collector import running_collector
from helpers.collector_promises import leaks
from helpers.loggers import restored_loggers
from shoal.service import EventLog, log_stray_errors, take_over_logging


@pytest.fixture(autouse=True, scope="module")
def _loggers():
    with restored_loggers():
        yield


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Return what a session with marks in all requests leaked, and the lines of its log."""
    url = f"sqlite:///{tmp_path_factory.mktemp('collector')}/reports.db"
    with running_collector(url) as collector:
        found = leaks(collector)
        _fail(collector)
    return found, [json.loads(line) for line in collector.log.getvalue().splitlines()]


def _fail(collector):
    """Let a route fail with an error that nobody foresaw."""
    campaign, headers = collector.add_campaign(), collector.token("read")
    counted, collector.store.count = collector.store.count, None
    answer = collector.client.get(f"/v1/campaigns/{campaign}/count", headers=headers)
    collector.store.count = counted
    assert answer.status_code == 500
    assert "Traceback" not in answer.text
    assert answer.json()["type"] == "/problems/internal-error"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert f'"id": "{answer.headers["x-request-id"]}"' in collector.log.getvalue()


def test_nothing_that_a_client_sent_is_in_the_log(session):
    assert session[0] == []


def test_every_request_is_a_line(session):
    requests = [line for line in session[1] if line["event"] == "request"]
    assert len(requests) == 8
    for line in requests:
        assert list(line) == ["time", "event", "id", "method", "route", "status", "ms"]
    assert "/v1/campaigns/{campaign}/reports" in {line["route"] for line in requests}


def test_an_error_is_logged_by_its_type_and_place(session):
    errors = [line for line in session[1] if line.get("error")]
    assert errors[0]["error"] == "TypeError"
    assert any("routes.py" in frame for frame in errors[0]["lines"])


def test_texts_of_other_packages_lose_their_arguments():
    stream = io.StringIO()
    take_over_logging(EventLog(stream))
    logging.getLogger("uvicorn.error").warning("%s - lost", "203.0.113.9")
    logging.getLogger("uvicorn.access").warning("%s GET", "203.0.113.9")
    logging.getLogger("asyncio").error("socket of 203.0.113.9 failed")
    assert "203.0.113.9" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 2


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("closed")])
def test_a_log_that_cannot_be_written_refuses_nothing(tmp_path, error):
    """Neither a request nor a broken head, which uvicorn logs before it answers."""

    class Full(io.StringIO):
        def write(self, text):
            raise error

    with running_collector(f"sqlite:///{tmp_path}/reports.db", log=Full()) as collector:
        take_over_logging(EventLog(collector.log))
        assert collector.send(collector.add_campaign()).status_code == 201
        assert collector.client.request("MADEUP", "/healthz").status_code == 400


def test_what_threads_raise_and_warn_is_logged_without_its_text(capfd):
    log = io.StringIO()

    def work():
        warnings.warn("a value: 4711", stacklevel=1)
        raise ValueError("a value: 4711")

    hooks = threading.excepthook, sys.unraisablehook, warnings.showwarning
    with warnings.catch_warnings(), log_stray_errors(EventLog(log)):
        warnings.simplefilter("always")
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert (threading.excepthook, sys.unraisablehook, warnings.showwarning) == hooks
    warned, raised = map(json.loads, log.getvalue().splitlines())
    assert (warned["event"], warned["kind"]) == ("warning", "UserWarning")
    assert (raised["event"], raised["error"]) == ("thread error", "ValueError")
    assert "test_logs.py" in raised["lines"][-1]
    assert "4711" not in log.getvalue() + "".join(capfd.readouterr())
