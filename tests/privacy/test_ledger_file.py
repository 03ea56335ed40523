"""The ledger's file: what survives, what is noticed, and what is never half done."""

import json
import os
import pickle
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from helpers.cases import case
from shoal._file_locks import lock_file
from shoal.exceptions import BudgetExceededError, LedgerFileError, ParameterError
from shoal.privacy import (
    Adjacency,
    GDPEvent,
    Ledger,
    Limits,
    MetricEvent,
    PrivacyUnit,
    PureEvent,
)
from shoal.privacy import _ledger_file as module
from shoal.privacy._ledger_file import START, encode_line

TENTH = PureEvent(epsilon=0.1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spent.ledger"


def run(code: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,  # type: ignore[call-overload]
    )


class TestSurvival:
    def test_a_ledger_is_its_file(self, path: Path) -> None:
        first = Ledger(path, epsilon=1.0, delta=1e-6, metric_epsilon=2.0, metric_unit="km")
        first.spend(TENTH, purpose="counts")
        first.spend(MetricEvent(epsilon=0.5, unit="km"))
        again = Ledger(path)
        assert again.limits == first.limits
        assert again.entries == first.entries
        assert again.spent == first.spent
        again.spend(TENTH)
        assert len(first) == 3, "another object's spends are seen"
        assert first.remaining == again.remaining

    def test_the_file_is_private_to_its_owner(self, path: Path) -> None:
        Ledger(path, epsilon=1.0)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_every_line_is_plain_json(self, path: Path) -> None:
        Ledger(path, epsilon=1.0).spend(TENTH, purpose="größe\n")
        header, entry = map(json.loads, path.read_text().splitlines())
        assert header["epsilon"] == 1.0
        assert entry["event"] == {"type": "PureEvent", "purpose": "", "epsilon": 0.1}
        assert entry["purpose"] == "größe\n"

    def test_it_pickles_as_its_path(self, path: Path, tmp_path: Path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        ledger = Ledger("spent.ledger", epsilon=1.0)
        ledger.spend(TENTH)
        data = pickle.dumps(ledger)
        monkeypatch.chdir("/")
        again = pickle.loads(data)
        assert again is not ledger
        assert again.path == str(path)
        again.spend(TENTH)
        assert len(ledger) == 2

    def test_links_lead_to_the_same_ledger(self, path: Path, tmp_path: Path) -> None:
        ledger = Ledger(path, epsilon=1.0)
        (tmp_path / "link").symlink_to(path)
        Ledger(tmp_path / "link").spend(TENTH)
        assert len(ledger) == 1

    def test_only_new_lines_are_read(self, path: Path, monkeypatch) -> None:
        ledger = Ledger(path, epsilon=1.0)
        for _ in range(5):
            ledger.spend(TENTH)
        read: list[bytes] = []
        decode = module.decode_line

        def spy(line: bytes, previous: str) -> object:
            read.append(line)
            return decode(line, previous)

        monkeypatch.setattr(module, "decode_line", spy)
        assert len(ledger) == 5
        assert read == []
        Ledger(path).spend(TENTH)
        read.clear()
        assert len(ledger) == 6
        assert len(read) == 1

    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_a_fork_goes_on_with_the_same_file(self, path: Path) -> None:
        ledger = Ledger(path, epsilon=1.0)
        ledger.spend(TENTH)
        child = os.fork()
        if child == 0:  # pragma: no cover
            ledger.spend(TENTH)
            os._exit(len(ledger))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        assert len(ledger) == 2


class TestOpening:
    def test_a_new_ledger_needs_a_limit(self, path: Path) -> None:
        with pytest.raises(ParameterError, match="epsilon must be given"):
            Ledger(path)
        assert not path.exists()
        path.touch()
        with pytest.raises(ParameterError, match="epsilon must be given"):
            Ledger(path)
        Ledger(path, epsilon=1.0).spend(TENTH)  # zero bytes are a new ledger
        assert len(Ledger(path)) == 1

    def test_other_limits_are_refused(self, path: Path) -> None:
        Ledger(path, epsilon=1.0, delta=1e-6, table="people")
        before = path.read_bytes()
        for limits, name in [
            ({"epsilon": 2.0, "delta": 1e-6}, "epsilon"),
            ({"epsilon": 1.0}, "delta"),
            ({"delta": 1e-5}, "delta"),
            ({"metric_epsilon": 1.0, "metric_unit": "km"}, "metric_epsilon"),
            ({"privacy_unit": PrivacyUnit.user("person")}, "privacy_unit"),
            ({"table": "shops"}, "table"),
            ({"adjacency": Adjacency.SUBSTITUTE}, "adjacency"),
            ({"epsilon": 1.0, "delta": 1e-6, "approximate_delta": 1e-7}, "approximate_delta"),
        ]:
            with case(limits=limits, name=name):
                with pytest.raises(LedgerFileError, match=f"another {name}"):
                    Ledger(path, **limits)
                assert path.read_bytes() == before

    def test_the_same_limits_are_welcome(self, path: Path) -> None:
        Ledger(path, epsilon=1.0, delta=1e-6, table="people")
        Ledger(path, epsilon=1, delta=1e-6)
        Ledger(path, delta=1e-6, table="people")

    def test_a_file_that_is_no_ledger_is_left_alone(self, path: Path) -> None:
        for content in [b"notes of mine", b"a,b\n1,2\n", b"{}\n", b"\0" * 50]:
            with case(content=content):
                path.write_bytes(content)
                for limits in ({}, {"epsilon": 1.0}):
                    with pytest.raises(LedgerFileError, match="not a ledger"):
                        Ledger(path, **limits)
                assert path.read_bytes() == content

    def test_paths_that_cannot_work(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for bad in (tmp_path, tmp_path / "no" / "folder", tmp_path / "file" / "below"):
            with pytest.raises(LedgerFileError, match="cannot be used"):
                Ledger(bad, epsilon=1.0)

    def test_another_format_is_not_guessed_at(self, path: Path) -> None:
        limits = Limits(epsilon=1.0).to_dict()
        for header, message in (
            ({"shoal_ledger": 2, **limits}, "not a ledger of format 1"),
            ({"shoal_ledger": 1, **limits, "new": 1}, "line 1"),
        ):
            line, _ = encode_line({**header, "salt": "0" * 32}, START)
            path.write_bytes(line)
            for given in ({}, {"epsilon": 1.0}):
                with pytest.raises(LedgerFileError, match=message):
                    Ledger(path, **given)
            assert path.read_bytes() == line


class TestTornLines:
    def torn(self, path: Path, tail: bytes) -> Ledger:
        ledger = Ledger(path, epsilon=1.0)
        ledger.spend(TENTH)
        with path.open("ab") as file:
            file.write(tail)
        return ledger

    @pytest.mark.parametrize("tail", [b"{", b'{"time":"2026', b"\0\0\0", b"\xff"])
    def test_a_torn_tail_is_ignored_then_cut(self, path: Path, tail: bytes) -> None:
        ledger = self.torn(path, tail)
        for reader in (ledger, Ledger(path)):
            assert len(reader) == 1
        assert path.read_bytes().endswith(tail), "readers do not write"
        Ledger(path).spend(TENTH)
        assert tail not in path.read_bytes()[-len(tail) :]
        assert len(ledger) == len(Ledger(path)) == 2

    def test_a_whole_line_without_its_newline_was_not_acknowledged(self, path: Path) -> None:
        ledger, heads = Ledger(path, epsilon=1.0), []
        for _ in range(2):
            ledger.spend(TENTH)
            heads.append(Path(f"{path}.head").read_text())
        Path(f"{path}.head").write_text(heads[0])  # as a crash would have left it
        path.write_bytes(path.read_bytes()[:-1])
        reopened = Ledger(path)
        assert len(reopened) == 1
        reopened.spend(PureEvent(epsilon=0.9))
        assert reopened.remaining == pytest.approx(0)

    @pytest.mark.parametrize("length", [1, 10, 18, 40])
    def test_a_torn_header_is_a_new_ledger(self, path: Path, length: int) -> None:
        Ledger(path, epsilon=1.0)
        path.write_bytes(path.read_bytes()[:length])
        with pytest.raises(LedgerFileError, match="lost all its lines"):
            Ledger(path, epsilon=2.0)
        Path(f"{path}.head").unlink()  # a crash that tore the header left no head
        with pytest.raises(ParameterError, match="epsilon must be given"):
            Ledger(path)
        Ledger(path, epsilon=2.0).spend(TENTH)
        assert Ledger(path).limits.epsilon == 2.0


class TestDamage:
    def spoil(self, path: Path, number: int, change) -> None:
        lines = path.read_bytes().split(b"\n")
        lines[number - 1] = change(lines[number - 1])
        path.write_bytes(b"\n".join(lines))

    @pytest.fixture
    def three(self, path: Path) -> Path:
        ledger = Ledger(path, epsilon=1.0)
        for _ in range(3):
            ledger.spend(TENTH)
        return path

    @pytest.mark.parametrize("number", [2, 3, 4])
    def test_an_edited_line_is_named(self, three: Path, number: int) -> None:
        good = three.read_bytes()
        for change in [
            lambda line: line.replace(b"0.1", b"0.01"),
            lambda line: line.replace(b'"purpose":""', b'"purpose":"x"'),
            lambda line: line.replace(b"{", b"{ ", 1),
            lambda line: line[:-10],
            lambda line: b"",
            lambda line: b"[1]",
            lambda line: b"\xff" + line,
            lambda line: line.replace(b"0.1", b"1e-1"),
            lambda line: line[:-66] + b"0" * 64 + line[-2:],
        ]:
            with case(change=change):
                three.write_bytes(good)
                self.spoil(three, number, change)
                with pytest.raises(LedgerFileError, match=f"line {number}"):
                    Ledger(three)

    def test_a_removed_or_moved_line_is_noticed(self, three: Path) -> None:
        good = three.read_bytes().split(b"\n")
        three.write_bytes(b"\n".join([good[0], *good[2:]]))
        with pytest.raises(LedgerFileError, match="line 2"):
            Ledger(three)
        three.write_bytes(b"\n".join([good[0], good[2], good[1], *good[3:]]))
        with pytest.raises(LedgerFileError, match="line 2"):
            Ledger(three)

    def test_an_edited_header_is_noticed(self, three: Path) -> None:
        self.spoil(three, 1, lambda line: line.replace(b'"epsilon":1.0', b'"epsilon":9.0'))
        with pytest.raises(LedgerFileError, match="line 1"):
            Ledger(three)

    def test_a_valid_chain_with_an_unknown_event_counts_nothing(self, three: Path) -> None:
        open_before = Ledger(three)
        last = json.loads(three.read_bytes().split(b"\n")[-2])
        content = {key: last[key] for key in last if key != "hash"}
        content["event"] = {"type": "FutureEvent"}
        line, _ = encode_line(content, last["hash"])
        with three.open("ab") as file:
            file.write(line)
        for _ in range(2):
            with pytest.raises(LedgerFileError, match="line 5"):
                open_before.spend(TENTH)
        with pytest.raises(LedgerFileError, match="line 5"):
            Ledger(three)

    def test_a_file_that_shrinks_is_noticed(self, three: Path) -> None:
        ledger = Ledger(three)
        lines = three.read_bytes().split(b"\n")
        three.write_bytes(b"\n".join(lines[:3]) + b"\n")
        with pytest.raises(LedgerFileError, match="lost lines"):
            ledger.spend(TENTH)

    def test_a_file_that_is_replaced_or_gone_is_noticed(self, three: Path, tmp_path: Path) -> None:
        ledger = Ledger(three)
        (tmp_path / "copy").write_bytes(three.read_bytes())
        (tmp_path / "copy").replace(three)
        with pytest.raises(LedgerFileError, match="replaced"):
            ledger.spend(TENTH)
        three.unlink()
        with pytest.raises(LedgerFileError, match="No such file"):
            ledger.spend(TENTH)
        assert not three.exists()


def test_ctrl_c_while_a_lock_is_released_does_not_keep_it(path: Path, monkeypatch) -> None:
    ledger = Ledger(path, epsilon=1.0)

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "unlock_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ledger.spend(TENTH)
    monkeypatch.undo()
    with path.open("rb+") as file:
        lock_file(file.fileno(), exclusive=True, blocking=False)
    assert len(ledger) == 1, "what was recorded stands"


def test_a_reader_waits_for_whoever_writes(path: Path) -> None:
    """Between a line and its head a reader would see neither the old ledger nor the new one."""
    ledger, read = Ledger(path, epsilon=1.0), threading.Event()

    def look() -> None:
        assert len(ledger) == 0
        read.set()

    reader = threading.Thread(target=look)
    with path.open("rb+") as file:
        lock_file(file.fileno(), exclusive=True)
        reader.start()
        assert not read.wait(0.1)
    assert read.wait(60)
    reader.join()


def test_no_byte_is_translated(path: Path, monkeypatch) -> None:
    """Windows writes two bytes for a newline, unless it is told not to."""
    binary, real, opened = 1 << 40, os.open, []

    def spy(file: object, flags: int, *mode: int) -> int:
        if str(file) == str(path):
            opened.append(flags & binary)
        return real(file, flags & ~binary, *mode)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "BINARY", binary)
    monkeypatch.setattr(os, "open", spy)
    assert len(Ledger(path, epsilon=1.0)) == 0
    assert set(opened) == {binary}


class TestFailingDisk:
    @pytest.fixture
    def ledger(self, path: Path) -> Ledger:
        ledger = Ledger(path, epsilon=1.0)
        ledger.spend(TENTH)
        return ledger

    @pytest.mark.parametrize("call", ["write", "fsync"])
    def test_a_failed_write_records_nothing(
        self, ledger: Ledger, path: Path, monkeypatch, call: str
    ) -> None:
        before = path.read_bytes()
        real_write = os.write

        def short(descriptor: int, data: bytes) -> int:
            return real_write(descriptor, data[:20])

        def broken(descriptor: int) -> None:
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(os, call, short if call == "write" else broken)
            with pytest.raises(LedgerFileError, match="nothing was spent"):
                ledger.spend(TENTH)
        assert path.read_bytes() == before
        ledger.spend(TENTH)
        assert len(ledger) == len(Ledger(path)) == 2

    def test_a_failure_after_the_head_is_written_counts(
        self, ledger: Ledger, path: Path, monkeypatch
    ) -> None:
        real = Path.replace

        def late(part: Path, target: Path) -> None:
            real(part, target)
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", late)
            with pytest.raises(LedgerFileError, match="the spend counts and nothing was released"):
                ledger.spend(TENTH)
        assert len(ledger) == len(Ledger(path)) == 2

    def test_an_interrupt_leaves_file_and_totals_together(
        self, ledger: Ledger, path: Path, monkeypatch
    ) -> None:
        real = os.fsync

        def interrupted(descriptor: int) -> None:
            real(descriptor)
            monkeypatch.setattr(os, "fsync", real)
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.spend(TENTH)
        assert len(ledger) == len(Ledger(path)) == 1
        with monkeypatch.context() as patch:

            def late(*arguments: object) -> None:
                raise KeyboardInterrupt

            patch.setattr(ledger, "_record", late)
            with pytest.raises(KeyboardInterrupt):
                ledger.spend(TENTH)
        # The line was on the disk, so it counts, here as elsewhere.
        assert len(ledger) == len(Ledger(path)) == 2
        assert ledger.spent[0].epsilon == pytest.approx(0.2)

    def test_a_disk_that_fills_up(self, ledger: Ledger, path: Path) -> None:
        # A real short write: the operating system's limit on file sizes, set in a child.
        code = """
import resource, sys
from shoal.exceptions import LedgerFileError
from shoal.privacy import Ledger, PureEvent
ledger = Ledger(sys.argv[1])
size = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 30, size + 30))
try:
    ledger.spend(PureEvent(epsilon=0.1))
except LedgerFileError as failure:
    print(len(ledger), failure)
"""
        before = path.read_bytes()
        result = run(code, path, len(before))
        assert result.stdout.startswith("1 "), result.stderr
        assert "nothing was spent" in result.stdout
        assert path.read_bytes() == before

    def test_the_line_is_on_the_disk_before_spend_returns(self, path: Path, monkeypatch) -> None:
        calls: list[str] = []
        for name in ("write", "fsync"):
            real = getattr(os, name)

            def spy(*arguments: object, real=real, name=name) -> object:
                calls.append(name)
                return real(*arguments)

            monkeypatch.setattr(os, name, spy)
        ledger = Ledger(path, epsilon=1.0)
        assert calls == ["write", "fsync", "fsync", "fsync"]  # header, head, folder
        calls.clear()
        ledger.spend(TENTH)
        assert calls == ["write", "fsync", "fsync", "fsync"]


def test_ctrl_c_while_the_file_is_opened_stays_ctrl_c(tmp_path, monkeypatch):
    """It became "Bad file descriptor": there was none to close yet."""
    ledger = Ledger(tmp_path / "ledger", epsilon=1.0)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.os, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ledger.spend(PureEvent(epsilon=0.5))
    monkeypatch.undo()
    assert len(ledger) == 0


class TestProcesses:
    RACE = """
import sys
from shoal.exceptions import BudgetExceededError
from shoal.privacy import Ledger, PureEvent
print("ready", flush=True)
sys.stdin.readline()
ledger = Ledger(sys.argv[1], epsilon=1.0)
done = 0
try:
    while True:
        ledger.spend(PureEvent(epsilon=0.002))
        done += 1
except BudgetExceededError:
    print(done)
"""

    def test_racing_processes_share_one_limit(self, path: Path) -> None:
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", self.RACE, str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n"
        for racer in racers:  # they race for the creation of the file as well
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        done = [int(racer.communicate(timeout=120)[0]) for racer in racers]
        assert sum(done) == 500
        ledger = Ledger(path)
        assert len(ledger) == 500
        assert path.read_bytes().count(b"shoal_ledger") == 1
        with pytest.raises(BudgetExceededError):
            ledger.spend(PureEvent(epsilon=0.002))

    def test_two_objects_in_one_process_lock_each_other_out(self, path: Path) -> None:
        first, second = Ledger(path, epsilon=0.3), Ledger(path)
        for ledger in (first, second, first):
            ledger.spend(TENTH)
        with pytest.raises(BudgetExceededError):
            second.spend(TENTH)

    def test_shares_are_the_same_for_everyone(self, path: Path) -> None:
        Ledger(path, epsilon=1.0, delta=1e-6).spend(GDPEvent(mu=0.02))
        assert Ledger(path).spent[0].delta == 1e-6


@pytest.mark.parametrize("limits", [{}, {"epsilon": 1.0}])
def test_a_folder_is_no_ledger(tmp_path, limits):
    with pytest.raises(LedgerFileError, match="cannot be used as a ledger: Is a directory"):
        Ledger(tmp_path, **limits)
