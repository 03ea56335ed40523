"""A ledger as evidence: who, which table, which columns, what was seeded, and where it stood."""

import json
import os
import pickle
import shutil
import threading
import time
from pathlib import Path

import pytest

from helpers.cases import case
from shoal._file_locks import lock_file
from shoal.exceptions import GuaranteeError, LedgerFileError, ParameterError
from shoal.privacy import (
    Adjacency,
    ApproximateEvent,
    Composed,
    GDPEvent,
    Ledger,
    MetricEvent,
    PrivacyUnit,
    PureEvent,
    Receipt,
    Release,
)
from shoal.privacy._account import Account
from shoal.privacy._ledger_file import encode_line
from shoal.privacy.limits import Limits

HALF = PureEvent(epsilon=0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spent.ledger"


def head(path: Path) -> Path:
    return Path(f"{path}.head")


@pytest.fixture
def two(path: Path) -> Path:
    ledger = Ledger(path, epsilon=2.0)
    ledger.spend(PureEvent(epsilon=1.0))
    ledger.spend(PureEvent(epsilon=0.7))
    return path


class TestTail:
    def lines(self, path: Path) -> list[bytes]:
        return path.read_bytes().splitlines(keepends=True)

    def test_a_deleted_last_line_is_noticed(self, two: Path) -> None:
        """It turned 1.7 into 1 without a word."""
        two.write_bytes(b"".join(self.lines(two)[:-1]))
        for use in (Ledger, lambda path: Ledger(path).spend(HALF)):
            with pytest.raises(LedgerFileError, match="lost its last line"):
                use(two)

    def test_all_entries_deleted_is_noticed(self, two: Path) -> None:
        two.write_bytes(self.lines(two)[0])
        with pytest.raises(LedgerFileError, match="lost its last line"):
            Ledger(two)
        two.write_bytes(b"")
        with pytest.raises(LedgerFileError, match="lost all its lines"):
            Ledger(two, epsilon=2.0)

    def test_another_last_line_is_noticed(self, two: Path, tmp_path: Path) -> None:
        """A line that follows from the others, but is not the one that was acknowledged."""
        lines = self.lines(two)
        content = json.loads(lines[-1])
        content["event"]["epsilon"] = 0.1
        line, _ = encode_line(
            {key: content[key] for key in content if key != "hash"}, json.loads(lines[-2])["hash"]
        )
        two.write_bytes(b"".join([*lines[:-1], line]))
        with pytest.raises(LedgerFileError, match="not the line that its head names"):
            Ledger(two)

    def test_one_line_too_many_rolls_forward(self, two: Path) -> None:
        before = head(two).read_bytes()
        ledger = Ledger(two)
        ledger.spend(PureEvent(epsilon=0.1))
        head(two).write_bytes(before)  # as a crash between the line and its head leaves it
        for reader in (ledger, Ledger(two)):
            assert len(reader) == 3
        assert head(two).read_bytes() == before, "readers do not write"
        Ledger(two).spend(PureEvent(epsilon=0.1))
        assert json.loads(head(two).read_text())["lines"] == 5

    def test_two_lines_too_many_do_not(self, two: Path) -> None:
        before = head(two).read_bytes()
        ledger = Ledger(two)
        for _ in range(2):
            ledger.spend(PureEvent(epsilon=0.1))
        head(two).write_bytes(before)
        with pytest.raises(LedgerFileError, match="older than the ledger"):
            Ledger(two)

    def test_a_damaged_or_missing_head_is_refused(self, two: Path) -> None:
        numbers = ["NaN", "Infinity", "2.5", "true", "null", '"3"']
        known = json.loads(head(two).read_text())["hash"]
        heads = [f'{{"shoal_ledger_head": 1, "lines": {n}, "hash": "{known}"}}' for n in numbers]
        for text in ["", "{}", "[1]", '{"lines": 3}', "\xff", *heads]:
            with case(text=text):
                head(two).write_text(text, encoding="latin-1")
                with pytest.raises(LedgerFileError, match="head is damaged"):
                    Ledger(two)
                head(two).unlink()
                with pytest.raises(LedgerFileError, match="head is missing"):
                    Ledger(two)

    def test_a_crash_before_the_first_head_is_no_loss(self, path: Path) -> None:
        Ledger(path, epsilon=1.0)
        head(path).unlink()
        Ledger(path).spend(HALF)
        assert len(Ledger(path)) == 1

    def test_a_head_that_cannot_be_written_spends_nothing(self, two: Path, monkeypatch) -> None:
        ledger, before = Ledger(two), two.read_bytes()

        def broken(self, target: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", broken)
            with pytest.raises(LedgerFileError, match="nothing was spent"):
                ledger.spend(PureEvent(epsilon=0.1))
        assert two.read_bytes() == before
        assert sorted(file.name for file in two.parent.iterdir()) == [two.name, head(two).name]
        ledger.spend(PureEvent(epsilon=0.1))
        assert len(Ledger(two)) == 3

    def test_the_head_is_private_to_its_owner(self, two: Path) -> None:
        assert head(two).stat().st_mode & 0o777 == 0o600

    def test_receipts_show_a_ledger_rolled_back_with_its_head(
        self, two: Path, tmp_path: Path
    ) -> None:
        copies = [
            shutil.copy(file, tmp_path / f"copy{i}") for i, file in enumerate((two, head(two)))
        ]
        receipt = Ledger(two).spend(PureEvent(epsilon=0.1)).receipt
        for copy, file in zip(copies, (two, head(two)), strict=True):
            shutil.copy(copy, file)
        again = Ledger(two)
        assert receipt is not None
        assert again.receipt.count < receipt.count
        again.spend(PureEvent(epsilon=0.2))
        assert again.receipt.count == receipt.count
        assert again.receipt.hash != receipt.hash


class TestReceipts:
    @pytest.mark.parametrize("where", ["memory", "file"])
    def test_every_spend_has_its_own(self, where: str, path: Path) -> None:
        ledger = Ledger(path if where == "file" else None, epsilon=3.0)
        receipts = [ledger.spend(HALF).receipt for _ in range(3)]
        assert [receipt.count for receipt in receipts] == [1, 2, 3]
        assert len({receipt.hash for receipt in receipts}) == 3
        assert ledger.receipt == receipts[-1]
        assert [entry.receipt for entry in ledger.entries] == receipts
        if where == "file":
            assert [entry.receipt for entry in Ledger(path).entries] == receipts
            assert json.loads(path.read_bytes().splitlines()[-1])["hash"] == receipts[-1].hash

    def test_hashes_tell_nothing_of_equal_ledgers(self, monkeypatch) -> None:
        """Two ledgers with the same limits and spends at the same moment have other hashes."""
        monkeypatch.setattr("shoal.privacy.entries.Entry.now", staticmethod(lambda: "2026"))
        hashes = {Ledger(epsilon=1.0).spend(HALF).receipt.hash for _ in range(2)}
        assert len(hashes) == 2

    def test_releases_carry_and_print_them(self) -> None:
        ledger = Ledger(epsilon=1.0)
        receipt = ledger.spend(HALF).receipt
        release = Release("counts", {"k": 2}, ledger.spent[0], ledger=receipt)
        assert f"ledger: 1 entry, hash {receipt.hash[:16]}" in str(release)
        assert receipt.hash[:16] in release._repr_html_()
        again = Release.from_json(release.to_json())
        assert again == release
        assert again.ledger == Receipt(1, receipt.hash)
        assert pickle.loads(pickle.dumps(release)) == release


class TestFields:
    def test_entries_say_who_and_what(self, path: Path) -> None:
        ledger = Ledger(path, epsilon=2.0, who="Ann", table="people", output="centers.csv")
        ledger.spend(HALF, purpose="clusters", columns=["age", "height"], seeded=True)
        entry = Ledger(path).entries[0]
        assert (entry.who, entry.table, entry.output) == ("Ann", "people", "centers.csv")
        assert (entry.columns, entry.seeded) == (("age", "height"), True)
        page = Ledger(path)._repr_html_()
        for part in ("Ann", "people", "age, height", "centers.csv", "seeded: no promise"):
            assert part in page
        text = str(Ledger(path))
        for part in ("Ann", "'people'", "seeded: no promise", "ledger: 1 entry, hash"):
            assert part in text

    def test_a_seeded_spend_counts_and_promises_nothing(self) -> None:
        ledger = Ledger(epsilon=1.0)
        ledger.spend(HALF)
        assert ledger.spent[0].holds
        ledger.spend(HALF, seeded=True)
        assert ledger.remaining == 0
        assert not ledger.spent[0].holds

    def test_who_is_the_login_by_default(self, monkeypatch) -> None:
        monkeypatch.setenv("LOGNAME", "grace")
        assert Ledger(epsilon=1.0).spend(HALF).who == "grace"

        def nobody() -> str:
            raise KeyError("no such user")

        monkeypatch.setattr("getpass.getuser", nobody)
        assert Ledger(epsilon=1.0).spend(HALF).who == ""

    def test_a_pickle_keeps_the_handle(self, path: Path) -> None:
        ledger = Ledger(path, epsilon=2.0, who="Ann", table="people", output="out.json")
        again = pickle.loads(pickle.dumps(ledger))
        entry = again.spend(HALF)
        assert (entry.who, entry.table, entry.output) == ("Ann", "people", "out.json")

    @pytest.mark.parametrize("where", ["header", "first spend"])
    def test_two_tables_do_not_share_a_ledger(self, path: Path, where: str) -> None:
        Ledger(path, epsilon=2.0, table="people" if where == "header" else "")
        if where == "first spend":
            Ledger(path, table="people").spend(HALF)
            other = Ledger(path, table="shops")
            for ask in (other.spend, other.check):
                with pytest.raises(GuaranteeError, match="'people', not on 'shops'"):
                    ask(HALF)
        else:
            with pytest.raises(LedgerFileError, match="another table"):
                Ledger(path, table="shops")
        count = len(Ledger(path))
        Ledger(path, table="people").spend(HALF)
        Ledger(path).spend(HALF)  # an array without a name says nothing
        assert len(Ledger(path)) == count + 2
        assert Ledger(path).table == "people"


class TestSentences:
    """One true sentence a notion; what ``spent`` said before is in each docstring."""

    def test_metric_reports_alone(self) -> None:
        """Was: central, epsilon = 0, holds."""
        ledger = Ledger(epsilon=1.0, metric_epsilon=2.0, metric_unit="km")
        ledger.spend(MetricEvent(epsilon=1.0, unit="km"))
        assert [promise.notion for promise in ledger.spent] == ["metric"]
        assert "promised: metric privacy with epsilon = 1 per km" in str(ledger)
        assert "central" not in str(ledger.spent[0])

    def test_a_local_and_a_central_spend(self) -> None:
        """Was: adding or removing any one record changes ... e^0.5, reports included."""
        ledger = Ledger(epsilon=1.0)
        ledger.spend(PureEvent(epsilon=0.25), notion="local", adjacency=Adjacency.SUBSTITUTE)
        ledger.spend(PureEvent(epsilon=0.25))
        central, local = ledger.spent
        assert (central.notion, central.epsilon) == ("central", 0.25)
        assert (local.notion, local.epsilon) == ("local", 0.25)
        assert "exchanging a record" in str(local)

    def test_nothing_spent_says_nothing(self) -> None:
        assert Ledger(epsilon=1.0).spent == ()

    def test_the_privacy_unit_is_named(self) -> None:
        unit = PrivacyUnit.user("person", max_rows=3)
        ledger = Ledger(epsilon=1.0, privacy_unit=unit)
        ledger.spend(HALF, privacy_unit=unit)
        assert "any one user (all rows with one value of 'person'" in str(ledger.spent[0])
        assert "for each user" in str(ledger)

    def test_deltas_beyond_their_share(self) -> None:
        """Was: delta = 1e-06 for a spend of .5, in a file written by other means."""
        for step in ((), (GDPEvent(mu=0.01),)):
            limits = Limits(epsilon=1.0, delta=1e-6, approximate_delta=0.0 if step else None)
            account = Account(limits)
            event = Composed(events=[ApproximateEvent(epsilon=0.1, delta=0.5), *step])
            account.add(account.price(event, Adjacency.ADD_REMOVE, "central"))
            assert not account.spent[0].holds


class TestWhatAttackersRead:
    def test_two_receipts_do_not_tell_the_line_between_them(self, two: Path) -> None:
        """Whoever knew one hash could try out times, people and tables of the next line."""
        first, second = Ledger(two).entries
        _, guessed = encode_line(second.to_dict(), first.receipt.hash)
        assert guessed != second.receipt.hash
        lines = [json.loads(line) for line in two.read_bytes().splitlines()]
        assert len({line["salt"] for line in lines}) == 3

    def test_a_name_is_no_line_of_the_table(self) -> None:
        ledger = Ledger(epsilon=1.0, who="bob\n2  2026-01-01 00:00:00  eve\x1b[2J")
        ledger.spend(HALF, purpose="x\ny\x1b")
        assert len(str(ledger).splitlines()) == 6
        assert "\x1b" not in str(ledger)

    def test_columns_are_names_and_no_text(self) -> None:
        """Was: the columns "a", "g" and "e"."""
        ledger = Ledger(epsilon=1.0)
        with pytest.raises(ParameterError, match="columns"):
            ledger.spend(HALF, columns="age")
        assert len(ledger) == 0

    def test_a_file_replaced_while_waiting_for_its_lock(self, two: Path, tmp_path: Path) -> None:
        """The spend went into a file that no longer had a name, and returned."""
        ledger, copy = Ledger(two), tmp_path / "copy"
        shutil.copy(two, copy)
        results: list[str] = []

        def spend() -> None:
            try:
                results.append(str(ledger.spend(PureEvent(epsilon=0.1)).receipt))
            except LedgerFileError as refusal:
                results.append(str(refusal))

        with two.open("rb+") as file:
            lock_file(file.fileno(), exclusive=True)
            waiting = threading.Thread(target=spend)
            waiting.start()
            time.sleep(0.3)
            copy.replace(two)
        waiting.join(timeout=30)
        assert "replaced" in results[0]
        assert len(Ledger(two)) == 2

    def test_a_head_may_be_read_by_whoever_reads_the_ledger(self, two: Path) -> None:
        """One spend by its owner locked a group out that the ledger is open to."""
        for mode in (0o600, 0o640, 0o660):
            two.chmod(mode)
            Ledger(two).spend(PureEvent(epsilon=0.01))
            assert head(two).stat().st_mode & 0o777 == mode

    def test_steps_that_were_used_up_are_no_free_spend(self) -> None:
        """A generator that another event had read already cost nothing in the ledger."""
        steps = (HALF for _ in range(2))
        assert len(Composed(events=steps).events) == 2
        ledger = Ledger(epsilon=1.0)
        for event in (Composed(events=steps), Composed(events=[Composed(events=[])])):
            with pytest.raises(GuaranteeError, match="at least one step"):
                ledger.spend(event)
        assert len(ledger) == 0

    def test_a_long_name_is_read_again(self, path: Path) -> None:
        name = "x" * 100_000
        Ledger(path, epsilon=1.0, table=name).spend(HALF)
        assert Ledger(path, epsilon=1.0).table == name

    def test_what_keeps_nothing_is_no_ledger(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in ("/dev/null", tmp_path / "pipe"):
            with pytest.raises(LedgerFileError, match="no regular file"):
                Ledger(path, epsilon=1.0)
