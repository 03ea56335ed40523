"""A digest notices a changed number, and no change comes without a reason."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from golden import recording
from golden.notes import Notes, digests, page_text, rounded
from golden.recording import parse_changes, run_digest, unexplained

OLD = {"fit": {"centers": [0.5, 1.0], "text": "epsilon 1.5"}, "count": 3}


def changed(**fields):
    return {"fit": {**OLD["fit"], **{k: v for k, v in fields.items() if k != "count"}}, "count": 3}


@pytest.mark.parametrize(
    ("new", "differing"),
    [
        ({**OLD, "count": 4}, ("integers", "numbers", "all")),
        ({**OLD, "count": 3.0}, ("integers", "numbers", "all")),
        ({**OLD, "count": True}, ("integers", "numbers", "all")),
        (changed(centers=[0.5, 1.00000000001]), ("numbers", "all")),
        (changed(centers=[0.5]), ("numbers", "all")),
        (changed(centers=[1.0, 0.5]), ("numbers", "all")),
        (changed(centers=[0.5, math.nan]), ("numbers", "all")),
        (changed(text="epsilon 1.6"), ("all",)),
        ({"fit": OLD["fit"], "number": 3}, ("all",)),
        ({"count": 3, "fit": OLD["fit"]}, ()),
        (changed(centers=[0.5, 1.0000000000000002]), ()),
        (changed(centers=[0.5, 1.0 - 2**-53]), ()),
    ],
)
def test_which_digests_notice_a_change(new, differing):
    before, after = digests(OLD), digests(new)
    names = before._fields
    assert tuple(n for n, a, b in zip(names, before, after, strict=True) if a != b) == differing


def test_zero_has_no_sign_and_nan_is_one():
    assert rounded(-0.0) == rounded(0.0) == "0"
    assert rounded(float("nan")) == rounded(-float("nan")) == "nan"
    assert (rounded(math.inf), rounded(-math.inf)) == ("+inf", "-inf")


def test_the_last_bit_decides_no_tie():
    """Dyadic numbers lie between two of 12 digits: 1 + 2**-13 is 1.0001220703125."""
    for power in range(12, 45):
        value = 1 + 2.0**-power
        assert rounded(np.nextafter(value, 0)) == rounded(value) == rounded(np.nextafter(value, 2))


def test_long_arrays_are_written_as_short_ones():
    long = np.linspace(0.0, 1.0, 100)
    other = long.copy()
    other[70] += 1e-11
    assert digests(long) == digests(long + 0.0) != digests(other)
    assert digests(long)[1] != digests(long.reshape(10, 10))[1]
    assert digests(long.tolist()) == digests(long)
    integers = np.arange(100)
    assert digests(integers).integers != digests(integers[::-1]).integers
    assert digests(integers.astype(np.int32)) == digests(integers)
    assert digests([*range(99), 2**70])[0] != digests([*range(99), 2**71])[0]


def test_what_differs_from_run_to_run_is_left_out(tmp_path):
    note = Notes(tmp_path)
    note("entry", {"time": "now", "hash": "abc", "epsilon": 1.0, "file": str(tmp_path / "x")})
    note("text", f"spent on 2026-01-02 10:11:12 by {'0123456789abcdef' * 2}")
    assert note.values["entry"] == {"epsilon": 1.0, "file": "<folder>/x"}
    assert note.values["text"] == "spent on <date> by <hash>"
    note("digits", f"1 entry, hash {'0123456789' * 2}")
    assert note.values["digits"] == "1 entry, hash <hash>"
    with pytest.raises(ValueError, match="two notes"):
        note("text", "again")


def test_values_of_every_kind_are_noted(tmp_path):
    class Pair(NamedTuple):
        one: int
        two: float

    note = Notes(tmp_path)
    note("pair", Pair(np.int64(1), np.float32(0.5)))
    note("bytes", b"\x01\xff")
    note("set", {"b", "a"})
    assert note.values == {"pair": {"one": 1, "two": 0.5}, "bytes": "01ff", "set": ["a", "b"]}
    assert page_text("<p>a <b>c</b></p><script>x</script>").split() == ["a", "c"]


# --- reasons --------------------------------------------------------------------------------------
NOTES = {"fit": "- 1 2 0.5"}
DIGEST = run_digest(NOTES)
BEFORE = "0" * 12


def changes(*lines, reason="better seeds"):
    return list(parse_changes("\n".join(["# Changes", "", f"## {reason}", *lines])))


def test_a_change_without_a_reason_is_found():
    runs = {"one": {"first": BEFORE, "notes": NOTES}}
    assert unexplained({"one": {"first": DIGEST, "notes": NOTES}}, []) == []
    assert unexplained(runs, []) == [f"one: {BEFORE} became {DIGEST} without a reason"]
    assert unexplained(runs, changes(f"- `one` {BEFORE} -> {DIGEST}")) == []
    two = changes(f"- `one` {BEFORE} -> {'1' * 12}", f"- `one` {'1' * 12} -> {DIGEST}")
    assert unexplained(runs, two) == []
    assert unexplained(runs, two[1:]) != [], "the first change is missing"
    assert unexplained(runs, two[:1]) != [], "the last change is missing"
    again = changes(f"- `one` {BEFORE} -> gone")
    assert unexplained({"one": {"first": DIGEST, "notes": NOTES}}, again) == []


def test_a_value_beside_a_digest_is_not_part_of_it():
    assert run_digest({"fit": "- 1 2 0.6"}) == DIGEST != run_digest({"fit": "- 1 3 0.5"})


@pytest.mark.parametrize(
    "text",
    [
        f"- `one` {BEFORE} -> {DIGEST}",
        f"## \n- `one` {BEFORE} -> {DIGEST}",
        f"## reason\n- one {BEFORE} -> {DIGEST}",
    ],
)
def test_a_change_needs_its_form(text):
    with pytest.raises(ValueError, match="reason"):
        list(parse_changes(text))


def test_update_writes_numbers_and_their_reason(tmp_path, monkeypatch):
    for name in ("GOLDEN", "TRANSCRIPTS", "CHANGES"):
        monkeypatch.setattr(recording, name, tmp_path / name)

    def update(reason, names, **notes):
        lines = [
            {"name": name, "notes": {"fit": f"- {digest} {digest}"}, "transcript": [digest]}
            for name, digest in notes.items()
        ]
        recording.update(lines, reason=reason, names=names, platform={}, versions={})
        runs, path = recording.read()["runs"], tmp_path / "CHANGES"
        found = list(parse_changes(path.read_text())) if path.exists() else []
        assert unexplained(runs, found) == []
        return runs, found

    assert update("first", ["a", "b"], a="1", b="2")[1] == []
    runs, found = update("better", ["a", "b"], a="3")
    assert [(one.reason, one.run) for one in found] == [("better", "a")]
    assert runs["b"]["notes"] == {"fit": "- 2 2"}
    assert recording.read_transcripts() == {"a": ["3"], "b": ["2"]}
    runs, found = update("b is gone", ["a"], a="3")
    assert (list(runs), found[-1].after) == (["a"], "gone")
