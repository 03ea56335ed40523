"""Every seeded number is the recorded one, or has a reason to have changed."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from golden import child, recording
from golden.runs import RUNS

CHILD = Path(child.__file__)
KINDS = ("integers", "numbers", "names or text")
PACKAGES = ("numpy", "scipy", "scikit-learn")


def do_runs(names, out, *options):
    """Do runs in a process of their own, whose environment is always the same."""
    command = [sys.executable, str(CHILD), "--out", str(out), *options, *names]
    done = subprocess.run(
        command, env=child.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def versions():
    return {name: version(name) for name in PACKAGES}


@pytest.fixture(scope="module")
def done(request, tmp_path_factory):
    """Do all selected runs once; with --update, take what they note into the recording."""
    chosen = [
        item.callspec.params["name"]
        for item in request.session.items
        if getattr(item, "originalname", "") == test_a_run_notes_what_is_recorded.__name__
    ]
    lines = []
    if chosen:
        lines = do_runs(chosen, tmp_path_factory.mktemp("golden") / "lines.jsonl")
    reason = request.config.getoption("--update", default=None)
    if reason is not None:
        if hasattr(request.config, "workerinput"):
            raise pytest.UsageError("--update must come without -n: one process writes the file")
        failed = [line["name"] for line in lines if "error" in line]
        if failed or not reason.strip():
            raise pytest.UsageError(f"--update needs a reason and runs that end, not {failed}")
        recording.update(
            lines,
            reason=reason.strip(),
            names=list(RUNS),
            platform=child.this_platform(),
            versions=versions(),
        )
    return {line["name"]: line for line in lines}


@pytest.fixture(scope="module")
def golden(done):
    """Return the recording, which --update may just have written."""
    return recording.read()


@pytest.fixture(scope="module")
def transcripts(done):
    return recording.read_transcripts()


def on_reference(golden):
    return child.this_platform() == golden["platform"]


def differences(before, after, kinds):
    """Return a line for each note that differs in one of the first kinds of digests."""
    found = []
    for name in {**before, **after}:
        if name not in before or name not in after:
            found.append(f"{name}: {'not recorded' if name in after else 'not noted'}")
            continue
        old, new = (notes[name].split(" ", 3) for notes in (before, after))
        differing = [kind for kind, a, b in zip(KINDS[:kinds], old, new, strict=False) if a != b]
        if differing:
            values = " -> ".join(one[3] for one in (old, new) if len(one) > 3)
            found.append(f"{name}: {differing[0]} differ; {values}".rstrip("; "))
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if run.quick else pytest.mark.full) for name, run in RUNS.items()],
)
def test_a_run_notes_what_is_recorded(name, done, golden, transcripts):
    if name not in done:
        pytest.skip(f"needs the program {RUNS[name].program}")
    line = done[name]
    assert "error" not in line, line.get("error")
    assert name in golden["runs"], 'record it: pytest tests/golden --update "a new run"'
    reference = on_reference(golden)
    found = differences(golden["runs"][name]["notes"], line["notes"], 3 if reference else 1)
    if reference and line["transcript"] != transcripts.get(name, []):
        found.append("releases: see transcripts.txt")
    made_with = "" if golden["versions"] == versions() else f" (with {golden['versions']})"
    more = f"\nall that is noted: python tests/golden/child.py --out F --notes FOLDER {name}"
    assert not found, f"not as recorded{made_with}:\n" + "\n".join(found) + more


def test_runs_and_recording_have_the_same_names(done, golden):
    assert sorted(golden["runs"]) == sorted(RUNS)


def test_every_changed_digest_has_a_reason(done, golden):
    changes = list(recording.parse_changes(recording.CHANGES.read_text("utf-8")))
    assert not recording.unexplained(golden["runs"], changes)


def test_the_recording_is_of_a_reviewable_size():
    assert recording.GOLDEN.stat().st_size < 1.5e6


@pytest.mark.full
def test_neither_processes_nor_order_change_a_note(golden, tmp_path):
    """Studies on two processes, and runs in another order."""
    names = ["tables", "kmeans-auto", "reproduce-wavecluster"]
    kinds = 3 if on_reference(golden) else 1
    for line in do_runs(names, tmp_path / "lines.jsonl", "--jobs", "2"):
        assert "error" not in line, line.get("error")
        found = differences(golden["runs"][line["name"]]["notes"], line["notes"], kinds)
        # Two processes write the rows of a file in the order in which their trials end.
        assert [one for one in found if not one.startswith("files:")] == []
