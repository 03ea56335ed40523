"""Locks on files: who is kept out, by the locks of this system and by those of Windows on a fake.

Where the system is Windows itself, the fake is not needed: its own locks are tried.
"""

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from shoal import _file_locks
from shoal._file_locks import lock_file, unlock_file
from shoal.exceptions import BudgetExceededError, LedgerFileError, ParameterError
from shoal.experiments import Component, ExperimentSpec, RecordStore
from shoal.privacy import Ledger, PureEvent

TESTS = Path(__file__).parent
FAKED = ("windows",) if sys.platform == "linux" else ()  # whose locks the fake is made of
WAIT = 60.0

# Takes the locks that are named before shoal is used.
CHILD = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
if sys.argv[2] != "system":
    from helpers.fake_windows import windows_locks
    from shoal import _file_locks
    _file_locks._system = windows_locks()
"""
HOLD = (
    CHILD
    + """
from shoal._file_locks import lock_file
descriptor = os.open(sys.argv[3], os.O_RDWR)
lock_file(descriptor, exclusive=True)
print("held", flush=True)
sys.stdin.readline()
"""
)
# Its child holds a copy of the open file, which was locked when it was forked.
FORK = """
import os, sys
from shoal._file_locks import lock_file, unlock_file
first, second = (os.open(sys.argv[1], os.O_RDWR) for _ in range(2))
lock_file(first, exclusive=True)
held, release = os.pipe()
if os.fork() == 0:
    os.close(release)
    os.read(held, 1)
    os._exit(0)
unlock_file(first)
lock_file(second, exclusive=True, blocking=False)
"""
# Spends until the limit; a slow disk makes two at once meet in every spend.
RACE = (
    CHILD
    + """
from shoal.exceptions import BudgetExceededError, LedgerFileError
from shoal.privacy import Ledger, PureEvent
real = os.fsync
os.fsync = lambda descriptor: (time.sleep(0.002), real(descriptor))
ledger = Ledger(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
done = 0
try:
    while True:
        ledger.spend(PureEvent(epsilon=0.05))
        done += 1
except (BudgetExceededError, LedgerFileError):
    print(done)
"""
)


class Unlocked:
    """A planted bug: locks that keep nobody out."""

    def lock(self, descriptor: int, *, exclusive: bool, blocking: bool) -> None:
        """Do nothing."""

    def unlock(self, descriptor: int) -> None:
        """Do nothing."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(b"some bytes")
    return tmp_path / "file"


@pytest.fixture(params=["system", *FAKED])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "windows":
        from helpers.fake_windows import windows_locks

        monkeypatch.setattr(_file_locks, "_system", windows_locks())
    return str(request.param)


@pytest.fixture
def two(path: Path) -> Iterator[tuple[int, int]]:
    """Open a file twice, as two processes would."""
    with path.open("rb+") as first, path.open("rb+") as second:
        yield first.fileno(), second.fileno()


def start(code: str, backend: str, path: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, str(TESTS), backend, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize(
    ("held", "asked", "refused"),
    [(True, True, True), (True, False, True), (False, True, True), (False, False, False)],
)
def test_who_is_kept_out(
    backend: str, two: tuple[int, int], held: bool, asked: bool, refused: bool
) -> None:
    first, second = two
    lock_file(first, exclusive=held)
    if refused:
        with pytest.raises(BlockingIOError):
            lock_file(second, exclusive=asked, blocking=False)
        unlock_file(first)
    lock_file(second, exclusive=asked, blocking=False)


def test_closing_releases_the_lock(backend: str, path: Path) -> None:
    for _ in range(2):
        with path.open("rb+") as file:
            lock_file(file.fileno(), exclusive=True, blocking=False)


def test_bytes_of_a_locked_file_can_be_read_and_written(
    backend: str, two: tuple[int, int], path: Path
) -> None:
    """Locks of Windows keep everybody from the bytes that they are on."""
    first, second = two
    lock_file(first, exclusive=True)
    assert os.read(second, 4) == b"some"
    assert path.read_bytes() == b"some bytes"
    os.write(first, b"more")
    os.ftruncate(first, 6)
    assert path.read_bytes() == b"more b"


def test_a_lock_is_waited_for(backend: str, two: tuple[int, int]) -> None:
    first, second = two
    lock_file(first, exclusive=True)
    events: list[str] = []

    def wait() -> None:
        lock_file(second, exclusive=True)
        events.append("taken")

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.05)
    events.append("released")
    unlock_file(first)
    waiting.join(WAIT)
    assert events == ["released", "taken"]


def test_a_process_keeps_others_out_until_it_is_killed(backend: str, path: Path) -> None:
    with start(HOLD, backend, path) as holder, path.open("rb+") as file:
        assert first_line(holder) == "held"
        with pytest.raises(BlockingIOError):
            lock_file(file.fileno(), exclusive=False, blocking=False)
        holder.kill()
        holder.wait(WAIT)
        lock_file(file.fileno(), exclusive=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks on Windows")
def test_a_forked_child_does_not_keep_the_lock_of_its_parent(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORK, str(path)], check=True, timeout=WAIT)
    assert done.returncode == 0


@pytest.mark.parametrize("backend", ["windows"] * len(FAKED), indirect=True)
def test_waiting_ends_by_ctrl_c(
    backend: str, two: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside LockFileEx it would not."""

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    first, second = two
    lock_file(first, exclusive=True)
    monkeypatch.setattr(_file_locks, "time", SimpleNamespace(sleep=interrupted))
    with pytest.raises(KeyboardInterrupt):
        lock_file(second, exclusive=True)
    unlock_file(first)
    lock_file(first, exclusive=True, blocking=False)


def test_other_errors_are_no_wait(backend: str, path: Path) -> None:
    with path.open("rb+") as file:
        closed = os.dup(file.fileno())
    os.close(closed)
    with pytest.raises(OSError, match="error 6" if backend == "windows" else "[Bb]ad file"):
        lock_file(closed, exclusive=True)


@pytest.mark.parametrize("backend", ["windows"] * len(FAKED), indirect=True)
def test_what_was_not_released_is_said(backend: str, two: tuple[int, int]) -> None:
    with pytest.raises(OSError, match="error 158"):
        unlock_file(two[0])


@pytest.mark.skipif(not FAKED, reason="the fake needs Linux")
def test_handles_of_windows_are_as_wide_as_pointers() -> None:
    locks = _file_locks.WindowsLocks(
        kernel32 := SimpleNamespace(LockFileEx=lambda: 0, UnlockFileEx=lambda: 0),
        get_handle=int,
        last_error=lambda: 0,
        make_error=OSError,
    )
    assert locks is not None
    for call in (kernel32.LockFileEx, kernel32.UnlockFileEx):
        first, *words, _ = vars(call)["argtypes"]
        assert first is ctypes.c_void_p
        assert set(words) == {ctypes.c_uint32}


def race(backend: str, path: Path) -> tuple[int, int]:
    """Let two processes spend a limit of 20 spends; return what was acknowledged and recorded."""
    Ledger(path, epsilon=1.0)
    with start(RACE, backend, path) as first, start(RACE, backend, path) as second:
        for racer in (first, second):
            assert first_line(racer) == "ready"
        done = 0
        for racer in (first, second):
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        for racer in (first, second):
            done += int(racer.communicate(timeout=WAIT)[0])
    try:
        return done, len(Ledger(path))
    except LedgerFileError:
        return done, -1


def test_no_spend_is_lost_or_counted_twice(backend: str, tmp_path: Path) -> None:
    assert race(backend, tmp_path / "ledger") == (20, 20)


def overlap(path: Path, patch: pytest.MonkeyPatch, *, wait: float) -> tuple[int, int]:
    """Spend more than half of a limit while another does; return the acknowledged and recorded."""
    ledgers = Ledger(path, epsilon=1.0), Ledger(path)
    inside, go_on, real = threading.Event(), threading.Event(), os.write
    acknowledged: list[int] = []

    def spend(number: int) -> None:
        try:
            ledgers[number].spend(PureEvent(epsilon=0.6))
            acknowledged.append(number)
        except (BudgetExceededError, LedgerFileError):
            return

    def paused(descriptor: int, data: bytes) -> int:
        if not inside.is_set():  # the first one has seen that the limit allows it
            inside.set()
            go_on.wait(WAIT)
        return real(descriptor, data)

    patch.setattr(os, "write", paused)
    threads = [threading.Thread(target=spend, args=(number,)) for number in (0, 1)]
    threads[0].start()
    assert inside.wait(WAIT)
    threads[1].start()
    threads[1].join(wait)
    go_on.set()
    for thread in threads:
        thread.join(WAIT)
    try:
        return len(acknowledged), len(Ledger(path))
    except LedgerFileError:
        return len(acknowledged), -1


def test_a_spend_waits_for_one_that_has_begun(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert overlap(tmp_path / "ledger", monkeypatch, wait=0.1) == (1, 1)


def test_planted_locks_that_keep_nobody_out_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_file_locks, "_system", Unlocked())
    acknowledged, recorded = overlap(tmp_path / "ledger", monkeypatch, wait=WAIT)
    assert (acknowledged, recorded) != (1, 1)


class TestWithoutLocks:
    @pytest.fixture(autouse=True)
    def _no_locks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_file_locks, "_system", _file_locks._NoLocks())

    def test_a_ledger_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(LedgerFileError, match=r"no file locks; nothing was spent$"):
            Ledger(tmp_path / "ledger", epsilon=1.0)
        Ledger(epsilon=1.0).spend(PureEvent(epsilon=0.5))  # in memory there is none to lock

    def test_a_store_is_refused(self, tmp_path: Path) -> None:
        spec = ExperimentSpec(
            name="one", datasets=("heart",), mechanisms=(Component("Laplace"),), epsilons=(1.0,)
        )
        with pytest.raises(ParameterError, match="this system has no file locks"):
            RecordStore(tmp_path / "records.csv", spec)
