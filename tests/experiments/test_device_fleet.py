"""Many devices: each keeps its own file and finds it again, and the first failure ends all."""

import io
import json
from dataclasses import asdict

import numpy as np
import pytest

from shoal.exceptions import DeliveryError
from shoal.experiments import DeviceFleet, device_fleet
from shoal.experiments.device_fleet import CHUNK, TASKS, TakingPart, obey

GIVEN = TakingPart("nowhere", "http://127.0.0.1:1/v1/campaigns/homes", "ed25519:key", "key")
RECORDS = {number: np.array([0.1 * number, 1e-17]) for number in range(6 * CHUNK)}


def remember(_given, devices, number, record):
    devices[number] = record


def recall(_given, devices, number, record):
    return number if devices[number] == record == RECORDS[number].tolist() else -1


def fail(_given, devices, number, _record):
    devices[number] = True
    if number == 3:
        raise DeliveryError("no answer")


@pytest.fixture
def fleet(monkeypatch):
    """Run devices that remember their records."""
    monkeypatch.setitem(TASKS, "report", remember)
    monkeypatch.setitem(TASKS, "label", recall)
    with DeviceFleet(len(RECORDS)) as made:
        yield made


def test_every_device_keeps_what_is_its_own(fleet):
    told = []
    fleet.report(GIVEN, RECORDS, told.append)
    assert fleet.label(GIVEN, RECORDS, told.append) == {number: number for number in RECORDS}
    assert told == [CHUNK * (i % 6 + 1) for i in range(12)]


def test_a_failure_ends_the_rest(fleet, monkeypatch):
    begun = []
    monkeypatch.setitem(TASKS, "report", lambda *given: begun.append(given) or fail(*given))
    with fleet, pytest.raises(DeliveryError, match="no answer"):
        fleet.report(GIVEN, RECORDS, lambda _: None)
    assert CHUNK <= len(begun) <= len(RECORDS)


def test_a_process_does_what_it_is_told_line_by_line(monkeypatch):
    monkeypatch.setitem(TASKS, "report", remember)
    monkeypatch.setitem(TASKS, "label", recall)
    monkeypatch.setitem(TASKS, "fail", fail)
    chunk = [(number, record.tolist()) for number, record in list(RECORDS.items())[:5]]
    lines = [
        json.dumps({"task": task, "given": asdict(GIVEN), "chunk": chunk})
        for task in ("report", "label", "fail")
    ]
    answers = io.StringIO()
    obey(io.StringIO("\n".join(lines)), answers)
    assert [json.loads(line) for line in answers.getvalue().splitlines()] == [
        {"results": [None] * 5},
        {"results": [0, 1, 2, 3, 4]},
        {"error": "no answer"},
    ]


@pytest.mark.full
def test_processes_say_what_failed_and_end(monkeypatch, tmp_path):
    monkeypatch.setattr(device_fleet, "MANY", 1)
    given = TakingPart(str(tmp_path), GIVEN.document, "ed25519:" + "A" * 43, "key")
    with DeviceFleet(2) as fleet:
        processes = [vars(worker)["_process"] for worker in fleet._workers]
        assert all(process.poll() is None for process in processes)
        with pytest.raises(DeliveryError, match=r"public|key|raw"):
            fleet.report(given, {0: np.zeros(2)}, lambda _: None)
    assert [process.poll() for process in processes] == [0] * len(processes)
    assert list(tmp_path.iterdir()) == []
