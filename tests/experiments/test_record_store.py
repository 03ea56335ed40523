"""Stores of records: what comes back, what a crash leaves, and what is refused."""

import csv
import math
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shoal.exceptions import ParameterError
from shoal.experiments import record_store
from shoal.experiments.record_store import RecordStore
from shoal.experiments.spec import ExperimentSpec

SPEC = ExperimentSpec(
    name="small", datasets=['a "b", c'], mechanisms=["m"], epsilons=[1.0, 2.0], repeats=2
)
KEYS = [trial.key for trial in SPEC.trials()]
ROWS = [{"text": "1", "number": 0.1, "whole": 3}, {"text": 'a "b", c', "number": None, "whole": 4}]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "records.csv"


def fill(path, keys=KEYS):
    with RecordStore(path, SPEC) as store:
        for key in keys:
            store.append(key, ROWS)
    return path.read_bytes()


def refused(path, says, spec=SPEC, **words):
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ParameterError, match=says) as error:
        RecordStore(path, spec, **words)
    assert "\n" not in str(error.value)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_values_come_back_as_they_were_types_included(path):
    rows = [
        {"value": value}
        for value in ("3", 3, 3.0, True, None, "", "True", "nan", -0.0, 1e-300, 2**80, math.inf)
    ]
    rows += [{"value": np.float64(0.1)}, {"value": np.int64(-7)}, {"value": np.True_}]
    with RecordStore(path, SPEC) as store:
        store.append(KEYS[0], rows)
        kept = store.records()
    with RecordStore(path, SPEC) as store:
        again = store.records()
    expected = [*(row["value"] for row in rows[:-3]), 0.1, -7, True]
    for records in (kept, again):
        values = [record["value"] for record in records]
        assert [(type(value), repr(value)) for value in values] == [
            (type(value), repr(value)) for value in expected
        ]


def test_trials_come_back_in_the_order_of_the_spec(path):
    with RecordStore(path, SPEC) as store:
        for key in reversed(KEYS):
            store.append(key, [{"key": key, "other": 1}, {"other": 2, "key": key}])
        assert store.done == set(KEYS)
        assert [record["key"] for record in store.records()] == [k for k in KEYS for _ in "12"]
        assert store.table()["other"] == [1, 2] * len(KEYS)
        assert list(store.table()) == ["key", "other"]
        store.records()[0]["other"] = 9
        assert store.records()[0]["other"] == 1


def test_other_programs_can_read_it(path):
    fill(path)
    table = pd.read_csv(path, skiprows=1)
    assert list(table) == ["trial", "left", "text", "number", "whole"]
    assert table["number"].dtype == float
    assert set(table["trial"]) == set(KEYS)
    with path.open(newline="", encoding="utf-8") as file:
        next(file)
        assert next(csv.DictReader(file))["text"] == "1"


def test_a_new_store_holds_nothing(path):
    with RecordStore(path, SPEC) as store:
        assert (store.done, store.records(), store.table()) == (frozenset(), [], {})
    with RecordStore(path, SPEC) as store:
        assert store.records() == []


def test_torn_anywhere_it_keeps_the_whole_trials(path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and the disk is not in doubt
    content = fill(path, KEYS[:3])
    ends = [
        place + 1
        for place in range(len(content))
        if content[: place + 1].endswith(b"\n") and b'",0,' in content[:place].split(b"\n")[-1]
    ]
    assert len(ends) == 3
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        whole = sum(end <= cut for end in ends)
        with RecordStore(path, SPEC) as store:
            assert store.records() == ROWS * whole
            for key in KEYS[whole:3]:
                store.append(key, ROWS)
        assert path.read_bytes() == content


def test_a_tail_of_zeros_is_cut_off(path):
    content = fill(path, KEYS[:2])
    path.write_bytes(content + bytes(100))
    with RecordStore(path, SPEC) as store:
        assert store.records() == ROWS * 2
    assert path.read_bytes() == content


def test_damage_is_refused(path):
    content = fill(path)
    lines = content.split(b"\n")
    for number, line in enumerate(lines[1:-3], start=1):
        for damaged in ([], [b""], [b"\xff"], [line + b",1"], [line, b"x"], [line, line]):
            if not damaged and b'",1,' in line:
                continue  # a trial with one record less looks whole
            path.write_bytes(b"\n".join([*lines[:number], *damaged, *lines[number + 1 :]]))
            refused(path, "must hold whole trials, and is damaged")
    # The same trial twice, and one of another experiment.
    path.write_bytes(content + b"\n".join(lines[2:4]) + b"\n")
    refused(path, "damaged")
    path.write_bytes(content.replace(b"epsilon 1.0", b"epsilon 3.0"))
    refused(path, "damaged")


@pytest.mark.parametrize(
    ("spec", "inputs"),
    [(replace(SPEC, seed=1), ""), (replace(SPEC, measures=("ami",)), ""), (SPEC, "sha256 of data")],
)
def test_the_store_of_another_experiment_is_refused(path, spec, inputs):
    fill(path, [])
    refused(path, "of the same experiment .*, and is of another", spec, inputs=inputs)
    fill(path, KEYS[:1])
    refused(path, "of the same experiment .*, and is of another", spec, inputs=inputs)


def test_the_store_of_another_version_is_refused(path, monkeypatch):
    fill(path)
    monkeypatch.setattr("shoal.experiments.spec.__version__", "9.9")
    refused(path, "of the same experiment .*, and is of another")


def test_other_files_are_refused(path, tmp_path):
    for content in (b"years of work", b"a,b\n1,2\n", b"# shoal records 1 abc\n", b"\n"):
        path.write_bytes(content)
        refused(path, "must be a store of records, and is something else")
    refused(tmp_path, "a file that can be written, got .*Is a directory")
    refused(tmp_path / "none" / "x.csv", "a file that can be written, got .*No such file")


def test_the_second_who_opens_it_is_refused(path):
    with RecordStore(path, SPEC) as store:
        store.append(KEYS[0], ROWS)
        refused(path, "one process at a time, and another has it open")
        store.append(KEYS[1], ROWS)
    with RecordStore(path, SPEC) as store:
        assert store.done == set(KEYS[:2])
    store.close()
    with pytest.raises(ParameterError, match="it was closed"):
        store.append(KEYS[2], ROWS)


def test_records_that_cannot_be_stored_are_refused(path, subtests):
    for key, records, says in [
        (KEYS[0], ROWS, "not done, got one that is there already"),
        ("x", ROWS, "not done, got another: 'x'"),
        (KEYS[1], [], "records must be at least one, got none"),
        (KEYS[1], [{"text": "a"}], "columns of records must be the same .* got text in"),
        (KEYS[1], [ROWS[0], {**ROWS[1], "more": 1}], "columns of records must be the same"),
        (KEYS[1], [{**ROWS[0], "whole": [1]}], "whole of a record must be .* got list"),
        (KEYS[1], [{**ROWS[0], "text": "a\nb"}], "text of a record must be text on one line"),
        (KEYS[1], [{**ROWS[0], 3: 1}], "columns of records must be named in text, got 3"),
        (KEYS[1], [3], "records must be dicts, got int"),
    ]:
        with subtests.test(key=key, records=records, says=says):
            before = fill(path, KEYS[:1])
            with RecordStore(path, SPEC) as store:
                with pytest.raises(ParameterError, match=says) as error:
                    store.append(key, records)
                assert "\n" not in str(error.value)
                assert path.read_bytes() == before
                store.append(KEYS[2], ROWS)


def test_own_columns_are_refused(path):
    with (
        RecordStore(path, SPEC) as store,
        pytest.raises(ParameterError, match="without trial and left"),
    ):
        store.append(KEYS[0], [{"trial": 1}])


@pytest.mark.parametrize("failure", ["short", "sync", "interrupt"])
def test_a_write_that_fails_leaves_the_file_as_it_was(path, monkeypatch, failure):
    fill(path, KEYS[:1])

    class Failing:
        broken = True

        def __getattr__(self, name):
            return getattr(os, name)

        def write(self, descriptor, data):
            return os.write(descriptor, data[:9] if self.broken and failure == "short" else data)

        def fsync(self, descriptor):
            broken, self.broken = self.broken, False
            if broken and failure != "short":
                raise OSError(5, "Input/output error") if failure == "sync" else KeyboardInterrupt
            os.fsync(descriptor)

    with RecordStore(path, SPEC) as store:
        store.append(KEYS[1], ROWS)
        before = path.read_bytes()
        monkeypatch.setattr(record_store, "os", Failing())
        expected = KeyboardInterrupt if failure == "interrupt" else ParameterError
        with pytest.raises(expected, match=None if failure == "interrupt" else "can be written"):
            store.append(KEYS[2], ROWS)
        assert path.read_bytes() == before
        store.append(KEYS[2], ROWS)
    with RecordStore(path, SPEC) as store:
        assert store.records() == ROWS * 3
