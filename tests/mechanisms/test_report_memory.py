"""Kept reports: the same bytes for the same value, one spend for each value, whatever stops."""

import copy
import fcntl
import json
import os
import pickle
import stat
import threading

import numpy as np
import pytest

from shoal.exceptions import (
    BudgetExceededError,
    DataError,
    ParameterError,
    ReleaseError,
)
from shoal.mechanisms import Laplace, PartitionResponse, ReportMemory, report_memory
from shoal.privacy import Ledger
from shoal.schema import Category, Number, Schema

BOUNDS = ([0.0, 0.0], [1.0, 1.0])
SCHEMA = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
HOME, WORK = [0.123456789, 0.7], [0.9, 0.4]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "reports.json"


def mechanism(limit=100.0, **kwargs):
    return PartitionResponse(**{"bounds": BOUNDS, "ledger": Ledger(epsilon=limit)} | kwargs)


def memory(path=None, campaign="places", **kwargs):
    return ReportMemory(mechanism(**kwargs), campaign=campaign, path=path)


def spends(kept):
    return len(kept.mechanism.ledger)


@pytest.fixture(params=["memory", "file"])
def where(request, path):
    return None if request.param == "memory" else path


def test_a_value_is_reported_once_and_sent_again(where):
    kept = memory(where)
    first = kept.report(HOME)
    assert [kept.report(HOME) for _ in range(20)] == [first] * 20
    assert spends(kept) == 1
    kept.report(WORK)
    assert kept.report(HOME) == first, "a value that comes back is no new question"
    assert spends(kept) == 2
    ((partition, color),) = kept.mechanism.decode(first)
    partitions = kept.mechanism.partitions_
    assert partition < partitions.n_partitions
    assert color < partitions.n_colors


def test_equal_values_are_one(where):
    """Clipped to the bounds, and zero has no sign."""
    kept = memory(where)
    kept.report([0.0, 1.0])
    for same in ([-0.0, 1.0], [-5.0, 9.0], np.array([0.0, 1.0]), (0, 1), [np.float32(0.0), 1]):
        kept.report(same)
    assert spends(kept) == 1


def test_fresh_reports_would_differ():
    """What the memory is for: of 40 fresh reports of one value, many partitions."""
    fresh = mechanism()
    assert len({fresh.encode(fresh.randomize(HOME)) for _ in range(40)}) > 20


def test_past_the_limit_nothing_changes(where):
    kept = memory(where, limit=1.5)
    first = kept.report(HOME)
    before = None if where is None else where.read_bytes()
    with pytest.raises(BudgetExceededError):
        kept.report(WORK)
    assert kept.report(HOME) == first
    assert spends(kept) == 1
    assert where is None or where.read_bytes() == before


def test_bad_records_cost_nothing(where):
    kept = memory(where)
    for bad in ([np.nan, 0.5], ["a", "b"]):
        with pytest.raises(DataError):
            kept.report(bad)
    with pytest.raises(ParameterError, match="x must be one record"):
        kept.report([HOME, WORK])
    assert spends(kept) == 0
    assert where is None or not where.exists()


def test_it_survives_the_process(path):
    first = memory(path).report(HOME)
    again = memory(path)
    assert again.report(HOME) == first
    assert spends(again) == 0


def test_campaigns_are_questions_of_their_own(path):
    summer, autumn = memory(path, "summer"), memory(path, "autumn")
    first = summer.report(HOME)
    autumn.report(HOME)
    assert (spends(summer), spends(autumn)) == (1, 1)
    assert memory(path, "summer").report(HOME) == first


@pytest.mark.parametrize(
    "other",
    [
        {"epsilon": 2.0},
        {"epsilon": 1.05},  # of which the same partitions follow
        {"bounds": ([0.0, 0.0], [1.0, 2.0])},
        {"n_clusters": 40},
        {"first_partition": 4},
        {"bounds": None, "schema": SCHEMA},
    ],
)
def test_a_campaign_keeps_its_mechanism(path, other):
    memory(path).report(HOME)
    before = path.read_bytes()
    changed = memory(path, **other)
    with pytest.raises(ParameterError, match="campaign must keep the parameters") as refused:
        changed.report({"age": 3.0, "city": "A"} if "schema" in other else HOME)
    assert "\n" not in str(refused.value)
    assert spends(changed) == 0
    assert path.read_bytes() == before
    # Also where parameters are changed under its feet.
    kept = memory(path)
    kept.mechanism.set_params(epsilon=3.0)
    with pytest.raises(ParameterError, match="campaign must keep the parameters"):
        kept.report(HOME)


def test_mixed_records(path):
    kept = ReportMemory(mechanism(bounds=None, schema=SCHEMA), campaign="people", path=path)
    first = kept.report({"age": 41.0, "city": "B"})
    assert kept.report({"city": "B", "age": 41.0}) == first
    assert kept.report([41, "B"]) == first
    kept.report({"age": 41.0, "city": "A"})
    assert spends(kept) == 2


# The file


def test_the_file_holds_no_record(path):
    memory(path).report(HOME)
    text = path.read_text(encoding="ascii")
    value = np.array(HOME)
    for trace in ("0.123456789", repr(HOME[0]), value.tobytes().hex(), value[:1].tobytes().hex()):
        assert trace not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.with_name("reports.json.lock").stat().st_mode) == 0o600
    plain = json.loads(text)
    assert set(plain) == {"shoal_report_memory", "key", "campaigns", "digest"}


def test_two_devices_name_a_value_differently(tmp_path):
    names = set()
    for device in range(2):
        memory(tmp_path / f"{device}").report(HOME)
        plain = json.loads((tmp_path / f"{device}").read_text(encoding="ascii"))
        names |= set(plain["campaigns"]["places"]["reports"])
    assert len(names) == 2


def test_two_campaigns_name_a_value_differently(path):
    """Whoever reads the file in passing does not see that a value stayed the same."""
    for campaign in ("summer", "autumn"):
        memory(path, campaign).report(HOME)
    plain = json.loads(path.read_text(encoding="ascii"))
    summer, autumn = (plain["campaigns"][name]["reports"] for name in ("summer", "autumn"))
    assert not set(summer) & set(autumn)


class Stopped(BaseException):
    """A crash."""


def test_a_crash_before_it_is_sent_sends_the_same(path, monkeypatch):
    """Kept, not yet returned: the next time, the same bytes and no spend."""
    kept = memory(path)
    written = []

    def crash(folder):
        written.append(path.read_bytes())
        if len(written) == 2:  # the first is written to see that it can be
            raise Stopped

    monkeypatch.setattr(report_memory, "sync_folder", crash)
    with pytest.raises(Stopped):
        kept.report(HOME)
    monkeypatch.undo()
    again = memory(path)
    encoded = again.report(HOME)
    assert encoded.hex() in written[1].decode()
    assert spends(again) == 0


def test_a_crash_before_it_is_kept_has_sent_nothing(path, monkeypatch):
    """Spent, not kept: nothing went out, and the next report is a spend of its own."""
    kept = memory(path)
    right = PartitionResponse.encode

    def crash(self, reports):
        raise Stopped

    monkeypatch.setattr(PartitionResponse, "encode", crash)
    with pytest.raises(Stopped):
        kept.report(HOME)
    monkeypatch.setattr(PartitionResponse, "encode", right)
    kept.report(HOME)
    assert spends(kept) == 2


def test_where_nothing_can_be_kept_nothing_is_spent(tmp_path):
    folder = tmp_path / "gone"
    kept = memory(folder / "reports.json")
    with pytest.raises(ReleaseError, match="cannot keep reports: No such file"):
        kept.report(HOME)
    assert spends(kept) == 0
    taken = tmp_path / "a folder"
    taken.mkdir()
    kept = memory(taken)
    with pytest.raises(ReleaseError, match="cannot keep reports: Is a directory"):
        kept.report(HOME)
    assert spends(kept) == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[:-3],
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"key"', '"kez"'),
        lambda text: text.replace("places", "palaces"),
        lambda text: text.replace('"shoal_report_memory":1', '"shoal_report_memory":2'),
        lambda text: "[]",
        lambda text: '{"campaigns":{},"key":7}',
        lambda text: "\xff",
    ],
)
def test_a_damaged_file_is_refused(path, damage):
    memory(path).report(HOME)
    path.write_text(damage(path.read_text(encoding="ascii")), encoding="latin-1")
    before = path.read_bytes()
    kept = memory(path)
    with pytest.raises(ReleaseError, match="is damaged or no file of kept reports") as refused:
        kept.report(HOME)
    assert "\n" not in str(refused.value)
    assert spends(kept) == 0
    assert path.read_bytes() == before


def test_a_changed_digit_is_noticed(path):
    """A report in the file is not another one by accident."""
    memory(path).report(HOME)
    plain = json.loads(path.read_text(encoding="ascii"))
    ((name, report),) = plain["campaigns"]["places"]["reports"].items()
    plain["campaigns"]["places"]["reports"][name] = f"{int(report, 16) ^ 1:04x}"
    path.write_text(json.dumps(plain, separators=(",", ":"), sort_keys=True) + "\n")
    with pytest.raises(ReleaseError, match="is damaged"):
        memory(path).report(HOME)


# Together


def test_threads_draw_once(where):
    kept, sent = memory(where), []
    threads = [threading.Thread(target=lambda: sent.append(kept.report(HOME))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == 8
    assert len(set(sent)) == 1
    assert spends(kept) == 1


def test_processes_draw_once(path, tmp_path):
    ledger = tmp_path / "a.ledger"
    Ledger(ledger, epsilon=100.0)
    pipes = []
    for _ in range(4):
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            kept = memory(path, ledger=Ledger(ledger))
            os.write(write, kept.report(HOME))
            os._exit(0)
        os.close(write)
        pipes.append((child, read))
    sent = []
    for child, read in pipes:
        assert os.waitpid(child, 0)[1] == 0
        sent.append(os.read(read, 8))
        os.close(read)
    assert len(set(sent)) == 1
    assert len(Ledger(ledger)) == 1


def test_memory_without_a_file_stays_with_its_process(monkeypatch):
    kept = memory()
    kept.report(HOME)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(ParameterError, match="path must be given for reports in a fork"):
        kept.report(WORK)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_that_is_forked_meanwhile_does_not_keep_the_lock(path):
    end, start = os.pipe()
    with report_memory._locked(path):
        child = os.fork()
        if child == 0:
            os.close(start)
            os.read(end, 1)  # lives on with all that was open
            os._exit(0)
    try:
        with path.with_name("reports.json.lock").open("rb") as beside:
            fcntl.flock(beside, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(start)
        os.waitpid(child, 0)
        os.close(end)


def test_copies_share_what_was_reported(path):
    """Each copy in memory would report a value of its own."""
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(ParameterError, match="path must be given for a copy"):
            copied(memory(ledger=None))
    kept = memory(path, ledger=None)
    sent = kept.report(HOME)
    assert pickle.loads(pickle.dumps(kept)).report(HOME) == sent
    assert copy.deepcopy(kept).report(HOME) == sent


def test_reports_from_a_seed_are_not_sent_as_private_ones(path):
    memory(path, random_state=3).report(HOME)
    with pytest.raises(ParameterError, match="campaign must keep the parameters"):
        memory(path).report(HOME)


@pytest.mark.parametrize(
    ("given", "campaign", "text"),
    [
        (Laplace(bounds=BOUNDS), "a", "mechanism must be a PartitionResponse, got Laplace"),
        (PartitionResponse(bounds=BOUNDS), "", "campaign must be"),
        (PartitionResponse(bounds=BOUNDS), 7, "campaign must be"),
        (PartitionResponse(bounds=BOUNDS), "a\nb", "campaign must have"),
        (PartitionResponse(bounds=(0.0, 1.0)), "a", "mechanism must be fitted"),
    ],
)
def test_bad_parameters(given, campaign, text):
    with pytest.raises(ParameterError, match=text):
        ReportMemory(given, campaign=campaign)
