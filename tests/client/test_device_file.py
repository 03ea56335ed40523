"""The file of a device: on the disk before anything is sent, whole or refused, without records."""

import os
import signal
import sqlite3
import stat
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from helpers.campaigns import KEY
from helpers.stub_collector import (
    HOME,
    OTHER_KEY,
    WORK,
    StubCollector,
    joined,
    make_campaign,
    make_device,
)
from shoal.client import device_file
from shoal.client.device_file import DeviceFile
from shoal.exceptions import BudgetExceededError, LedgerFileError, ParameterError
from shoal.mechanisms import PartitionResponse

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "device.db"


def change(path, *statements):
    """Change what is in a file, past the device."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def all_bytes(path):
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


def test_the_file_holds_no_record_and_is_the_owners(path):
    device = joined(path)
    device.report(HOME)
    value = np.array(HOME)
    for content in all_bytes(path).values():
        for trace in (
            b"0.123456789",
            value.tobytes(),
            value[:1].tobytes(),
            value[:1].tobytes()[::-1],
        ):
            assert trace not in content
    assert [file.name for file in path.parent.iterdir()] == ["device.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def names_of_values(path):
    connection = sqlite3.connect(path)
    names = {value for (value,) in connection.execute("SELECT value FROM reports")}
    connection.close()
    return names


def test_devices_and_campaigns_name_a_value_differently(tmp_path):
    """Whoever reads the file in passing does not see that a value stayed the same."""
    names = set()
    for number in range(2):
        path = tmp_path / f"{number}"
        device = joined(
            path, StubCollector(make_campaign(), make_campaign(id="jobs")), epsilon_limit=9
        )
        device.draw(HOME)
        device.join("https://example.org/v1/campaigns/jobs")
        device.draw(HOME)
        names |= names_of_values(path)
    assert len(names) == 4


def test_what_was_kept_is_on_the_disk(path, durable):
    """SQLite waits for the disk at every commit, and for the folder that holds its journal."""
    with joined(path)._file.transaction(write=True) as rows:
        ((level,),) = rows._select("PRAGMA synchronous")
        ((mode,),) = rows._select("PRAGMA journal_mode")
    assert (level, mode) == (3, "delete")  # 3 is EXTRA


def test_a_report_is_kept_before_it_is_sent(path):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    found = []

    def look(request):
        with DeviceFile(path, None).transaction(write=False) as rows:
            found.extend((report.key, report.body) for report in rows.reports())
        return collector.store(request)

    collector.plan = [look]
    device.report(HOME)
    assert found == collector.sent


# Damage


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:100],
        lambda content: content[: len(content) // 2],
        lambda content: b"\0" * len(content),
        lambda content: b"{}",
        lambda content: content[:4096] + b"\xff" * 4096 + content[8192:],
    ],
)
def test_a_damaged_file_is_refused_and_left_alone(path, damage):
    joined(path).report(HOME)
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(LedgerFileError, match="is damaged or no file of a device") as refused:
        joined(path)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE reports SET body = x'0001'",
        "UPDATE reports SET acknowledged = 0",
        "UPDATE reports SET key = 'k' || key",
        "UPDATE reports SET epsilon = 0.5",
        "DELETE FROM reports",
        "UPDATE counts SET drawn = 0",
        "DELETE FROM counts",
        "UPDATE campaigns SET url = 'https://elsewhere.example/'",
        "DELETE FROM campaigns",
        "UPDATE documents SET digest = 'a'",
        "UPDATE device SET secret = x'00'",
        f"UPDATE device SET public_key = '{OTHER_KEY.public}'",
        "DELETE FROM device",
        "PRAGMA application_id = 1",
        "DROP TABLE results",
    ],
)
def test_a_changed_digit_or_a_missing_row_is_noticed(path, statement):
    device = joined(path)
    device.report(HOME)
    change(path, statement)
    with pytest.raises(LedgerFileError, match="is damaged"):
        make_device(path, StubCollector(), public_key=None)
    with pytest.raises((LedgerFileError, BudgetExceededError)):
        device.draw(WORK)


def test_a_file_of_a_later_format_is_refused(path):
    joined(path)
    change(path, "PRAGMA user_version = 2")
    with pytest.raises(LedgerFileError, match="must be of format 1, got 2"):
        joined(path)


def test_where_nothing_can_be_kept_nothing_is_drawn(tmp_path, monkeypatch):
    with pytest.raises(LedgerFileError, match="cannot keep reports: No such file"):
        joined(tmp_path / "gone" / "device.db")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(LedgerFileError, match="cannot keep reports: it cannot be opened"):
        joined(folder)
    device = joined(tmp_path / "device.db")
    (tmp_path / "device.db").unlink()
    with pytest.raises(LedgerFileError, match="cannot keep reports: it cannot be opened"):
        device.draw(HOME)
    assert not (tmp_path / "device.db").exists(), "nor is a lost file made anew in passing"


def test_a_file_that_others_hold_is_waited_for(path, monkeypatch):
    monkeypatch.setattr(device_file, "LOCK_SECONDS", 0.01)
    device = joined(path)
    with (
        device._file.transaction(write=True),
        pytest.raises(LedgerFileError, match="others hold it; nothing was spent or sent"),
    ):
        device.draw(HOME)
    device.draw(HOME)


def test_a_full_disk_costs_nothing(path, monkeypatch):
    """SQLite is allowed as many pages as there are: the report does not fit."""
    device = joined(path)
    connect = device_file._connect

    def full(path):
        connection = connect(path)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr(device_file, "_connect", full)
    big = b"x" * (1 << 16)
    monkeypatch.setattr(PartitionResponse, "encode", lambda self, reports: big)
    with pytest.raises(LedgerFileError, match="the disk is full; nothing was spent or sent"):
        device.report(HOME)
    monkeypatch.undo()
    assert device.status()[0].drawn == 0


def test_a_new_file_needs_a_key_and_the_first_one_made_counts(path, monkeypatch):
    with pytest.raises(ParameterError, match="public_key must be given for a new file"):
        make_device(path, StubCollector(), public_key=None)
    joined(path).report(HOME)
    before = path.read_bytes()
    late = DeviceFile.__new__(DeviceFile)
    late.path = path
    late._create(KEY.public)  # it was not there when somebody looked
    assert path.read_bytes() == before
    # Where there are no hard links.
    monkeypatch.setattr(
        os, "link", lambda *paths: (_ for _ in ()).throw(PermissionError("no links"))
    )
    late._create(KEY.public)
    assert path.read_bytes() == before
    assert joined(path.with_name("other.db")).report(HOME).sent
    assert not [file for file in path.parent.iterdir() if file.suffix == ".part"]


def test_two_files_made_at_once_without_hard_links(path, monkeypatch):
    """Another process makes the file, and spends in it, after this one has seen none."""
    replace, others = Path.replace, []

    def paused(part, target):
        if not others:
            others.append(threading.Thread(target=lambda: joined(path).report(HOME)))
            others[0].start()
            others[0].join(0.3)
        return replace(part, target)

    monkeypatch.setattr(
        os, "link", lambda *paths: (_ for _ in ()).throw(PermissionError("no links"))
    )
    monkeypatch.setattr(Path, "replace", paused)
    device = make_device(path, StubCollector())
    others[0].join()
    assert [status.drawn for status in device.status()] == [1]


# Together


def fork(work):
    """Run a function in a child, which ends there whatever happens; return its number."""
    if (child := os.fork()) > 0:
        return child
    try:
        work()
    except BaseException:  # noqa: BLE001  # else the child would go on with the other tests
        os._exit(1)
    os._exit(0)


def test_threads_draw_once(path):
    device, sent = joined(path), []
    threads = [threading.Thread(target=lambda: sent.append(device.draw(HOME))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({receipt.report for receipt in sent}) == 1
    assert sum(not receipt.duplicate for receipt in sent) == 1


def test_processes_draw_once(path):
    """Also where none of them found a file: each makes one, and one counts."""
    pipes = []
    for _ in range(4):
        read, write = os.pipe()

        def report(end=write):
            receipt = joined(path).report(HOME)
            os.write(end, bytes([receipt.duplicate]) + receipt.report)

        child = fork(report)
        os.close(write)
        pipes.append((child, read))
    answers = []
    for child, read in pipes:
        assert os.waitpid(child, 0)[1] == 0
        answers.append(os.read(read, 99))
        os.close(read)
    assert len({answer[1:] for answer in answers}) == 1
    assert sum(answer[0] == 0 for answer in answers) == 1
    assert joined(path).status()[0].drawn == 1


# Killed


def die(*anything):
    os.kill(os.getpid(), signal.SIGKILL)


def start(path, log, point):
    """Report in a process that dies at a point, if it comes to it; log what goes out."""
    collector = StubCollector(make_campaign())

    def transport(request):
        if request.method == "POST":
            if point == "kept":
                die()
            with log.open("a", encoding="ascii") as lines:
                lines.write(f"{request.headers['Idempotency-Key']} {request.body.hex()}\n")
            if point == "sent":
                die()
        return collector(request)

    def report():
        if point == "drawn":
            device_file.Rows.keep = die
        joined(path, transport).report(HOME)

    return fork(report)


def check_killed(path, points):
    """Kill a device at some points, let it report, and return the lines that went out."""
    log = path.with_suffix(".log")
    log.touch()
    for point in (*points, "none"):
        ended = os.waitpid(start(path, log, point), 0)[1]
        assert ended in (0, signal.SIGKILL)
    (status,) = make_device(path, StubCollector()).status()
    assert (status.drawn, status.acknowledged, status.epsilon) == (1, 1, 1.0)
    lines = log.read_text(encoding="ascii").splitlines()
    assert len(set(lines)) == 1, "the same bytes under the same key"
    return lines


@pytest.mark.parametrize("points", [["drawn", "kept", "sent"], ["sent", "kept"]])
def test_killed_while_drawing_before_sending_and_before_it_is_noted(path, points, durable):
    assert len(check_killed(path, points)) == 2


@pytest.mark.full
@pytest.mark.parametrize("seed", range(20))
def test_killed_again_and_again(path, seed, durable):
    points = np.random.default_rng(seed).choice(["drawn", "kept", "sent"], size=6).tolist()
    assert len(check_killed(path, points)) >= 1


@pytest.mark.full
def test_killed_at_any_time(path, durable):
    """The process is killed from outside, wherever it is by then."""
    log = path.with_suffix(".log")
    log.touch()
    rng = np.random.default_rng(0)
    for _ in range(40):
        child = start(path, log, "none")
        time.sleep(rng.uniform(0.0, 0.1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.waitpid(start(path, log, "none"), 0)
    assert len(set(log.read_text(encoding="ascii").splitlines())) == 1
    assert make_device(path, StubCollector()).status()[0].drawn == 1


def test_stopped_before_it_is_kept_nothing_is_spent(path, monkeypatch):
    class Stopped(BaseException):
        """A crash."""

    collector = StubCollector(make_campaign())
    device = joined(path, collector)

    def stop(self, reports):
        raise Stopped

    monkeypatch.setattr(PartitionResponse, "encode", stop)
    with pytest.raises(Stopped):
        device.report(HOME)
    monkeypatch.undo()
    assert collector.posts == []
    assert device.status()[0].drawn == 0
    assert not device.report(HOME).duplicate
