"""Kill -9 at any moment: what was acknowledged is recorded, and at most one more."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.exceptions import LedgerFileError
from shoal.privacy import Ledger

# Spends in a loop and acknowledges each spend after it returned, straight to the pipe.
SPENDER = """
import os, signal, sys
from shoal.privacy import Ledger, PureEvent
import shoal.privacy._ledger_file as module
plan = sys.argv[2] if len(sys.argv) > 2 else ""
{planted}
ledger = Ledger(sys.argv[1], epsilon=1e6)
event = PureEvent(epsilon=1.0)
os.write(1, b"ready\\n")
while True:
    ledger.spend(event)
    os.write(1, b"ok\\n")
"""

# Dies inside the third spend, at a given point of its work.
AT_A_POINT = """
real_write, real_fsync, real_close = os.write, os.fsync, os.close
spends = syncs = 0
POINTS = [None, "after fsync", "before the head's name", "after the head"]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def write(descriptor, data):
    global spends
    if descriptor == 1:
        return real_write(descriptor, data)
    spends += 1
    if spends == 3 and plan == "before write":
        die()
    if spends == 3 and plan == "within write":
        real_write(descriptor, data[: len(data) // 2])
        die()
    if spends == 3 and plan == "but for the newline":
        real_write(descriptor, data[:-1])
        die()
    return real_write(descriptor, data)

def fsync(descriptor):
    global syncs
    if spends == 3:
        syncs += 1
    if spends == 3 and plan == "after write":
        die()
    real_fsync(descriptor)
    if spends == 3 and plan == POINTS[syncs]:
        die()

module.os.write, module.os.fsync = write, fsync
Ledger(sys.argv[1], epsilon=1e6)
spends = 0
"""

# A ledger that keeps lines in memory and writes them later: what the test exists to catch.
BUFFERED = """
buffer = []
real_append = module.LedgerFile.append
def append(self, descriptor, content):
    if "shoal_ledger" in content:
        return real_append(self, descriptor, content)
    line, head = self._head.after(content)
    buffer.append(line)
    if len(buffer) == 16:
        os.write(descriptor, b"".join(buffer))
        buffer.clear()
        self._offset = os.fstat(descriptor).st_size
    self._head = head
    self._write_head(head)
    return head.receipt
module.LedgerFile.append = append
"""


def spend_until_killed(path: Path, after: float, planted: str = "") -> int:
    """Return how many spends were acknowledged before the kill."""
    with subprocess.Popen(
        [sys.executable, "-c", SPENDER.replace("{planted}", planted), str(path)],
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        acknowledged = process.stdout.read().count(b"ok\n")
        assert process.wait(30) == -signal.SIGKILL
    return acknowledged


def is_sound(path: Path, before: int, acknowledged: int) -> bool:
    try:
        recorded = len(Ledger(path)) - before  # opening it checks the chain and its head
    except LedgerFileError:
        return False
    return acknowledged <= recorded <= acknowledged + 1


def test_kills_at_random_moments(tmp_path: Path) -> None:
    path, moments = tmp_path / "ledger", random.Random(7)
    Ledger(path, epsilon=1e6)
    total = 0
    for attempt in range(40):
        before = len(Ledger(path))
        acknowledged = spend_until_killed(path, after=moments.uniform(0.0, 0.08))
        assert is_sound(path, before, acknowledged)
        total += acknowledged
        if attempt >= 7 and total > 0:
            return
    pytest.fail("no kill fell among spends")


@pytest.mark.parametrize(
    ("plan", "recorded"),
    [
        ("before write", 2),
        ("within write", 2),
        ("but for the newline", 2),
        ("after write", 3),
        ("after fsync", 3),
        ("before the head's name", 3),
        ("after the head", 3),
    ],
)
def test_kills_at_every_point_of_a_spend(tmp_path: Path, plan: str, recorded: int) -> None:
    path = tmp_path / "ledger"
    result = subprocess.run(
        [sys.executable, "-c", SPENDER.replace("{planted}", AT_A_POINT), str(path), plan],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == -signal.SIGKILL, result.stderr
    assert result.stdout.count(b"ok\n") == 2
    assert len(Ledger(path)) == recorded
    # The next process goes on from there.
    acknowledged = spend_until_killed(path, after=0.02)
    assert is_sound(path, recorded, acknowledged)


def test_a_planted_buffer_would_be_noticed(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    Ledger(path, epsilon=1e6)
    for _ in range(10):
        before = len(Ledger(path))
        acknowledged = spend_until_killed(path, after=0.03, planted=BUFFERED)
        if not is_sound(path, before, acknowledged):
            return
    pytest.fail("a ledger that buffers its lines went unnoticed")
