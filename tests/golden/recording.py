"""The recording: golden.json with the digests, transcripts.txt, and the reasons in CHANGES.md.

golden.json keeps, for each run, the digest that it had when it was first recorded. CHANGES.md has a
line for each digest that changed since. Both must lead to the digests of today: a number cannot
change without a reason.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "golden.json"
TRANSCRIPTS = FOLDER / "transcripts.txt"
CHANGES = FOLDER / "CHANGES.md"

LENGTH = 12  # hexadecimal digits of the digest of a run
GONE = "gone"
REASON = re.compile(r"## +(\S.*)")
CHANGE = re.compile(r"- `(?P<run>[^`]+)` (?P<before>[0-9a-f]{12}) -> (?P<after>[0-9a-f]{12}|gone)")

Notes = Mapping[str, str]


class Change(NamedTuple):
    """A line of CHANGES.md, under its reason."""

    reason: str
    run: str
    before: str
    after: str


def run_digest(notes: Notes) -> str:
    """Return the digest of all notes of a run."""
    lines = "\n".join(f"{name}: {' '.join(notes[name].split()[:3])}" for name in sorted(notes))
    return hashlib.sha256(lines.encode()).hexdigest()[:LENGTH]


def parse_changes(text: str) -> Iterator[Change]:
    """Yield the changes of CHANGES.md; every line after the first reason must be one of them."""
    reason = ""
    for line in text.splitlines():
        if found := REASON.fullmatch(line):
            reason = found[1]
        elif change := CHANGE.fullmatch(line):
            if not reason:
                raise ValueError(f"a change needs a reason above it: {line!r}")
            yield Change(reason, **change.groupdict())
        elif reason and line.strip():
            raise ValueError(f"neither a reason nor a change: {line!r}")


def unexplained(runs: Mapping[str, Any], changes: list[Change]) -> list[str]:
    """Return a sentence for each run whose digest CHANGES.md does not lead to."""
    found = []
    for name, run in runs.items():
        digest = run["first"]
        mine = [change for change in changes if change.run == name]
        removed = [place for place, change in enumerate(mine) if change.after == GONE]
        for change in mine[removed[-1] + 1 if removed else 0 :]:
            if change.before != digest:
                found.append(f"{name}: {change.reason!r} begins at {change.before}, not {digest}")
            digest = change.after
        now = run_digest(run["notes"])
        if digest != now:
            found.append(f"{name}: {digest} became {now} without a reason")
    return found


def read() -> dict[str, Any]:
    """Return what golden.json holds."""
    recording: dict[str, Any] = json.loads(GOLDEN.read_text("utf-8"))
    return recording


def read_transcripts() -> dict[str, list[str]]:
    """Return the transcripts by the names of their runs."""
    sections = re.split(r"^## ", TRANSCRIPTS.read_text("utf-8"), flags=re.MULTILINE)[1:]
    parts = (section.strip().splitlines() for section in sections)
    return {name: lines for name, *lines in parts}


def update(
    lines: list[dict[str, Any]],
    *,
    reason: str,
    names: list[str],
    platform: dict[str, str],
    versions: dict[str, str],
) -> None:
    """Take new lines of the child into the recording, and write down why they changed.

    Parameters
    ----------
    lines : list of dict
        What the child wrote, of some runs or of all.
    reason : str
        Why numbers changed.
    names : list of str
        All runs that there are; others are removed.
    platform, versions : dict of str
        What the numbers were made on.
    """
    runs = read()["runs"] if GOLDEN.exists() else {}
    transcripts = read_transcripts() if TRANSCRIPTS.exists() else {}
    changed = []
    for line in lines:
        name, notes = line["name"], line["notes"]
        after = run_digest(notes)
        before = run_digest(runs[name]["notes"]) if name in runs else after
        first = runs[name]["first"] if name in runs else after
        runs[name] = {"first": first, "notes": notes}
        transcripts[name] = line["transcript"]
        if before != after:
            changed.append(f"- `{name}` {before} -> {after}")
    for name in sorted(set(runs) - set(names)):
        changed.append(f"- `{name}` {run_digest(runs.pop(name)['notes'])} -> {GONE}")
        transcripts.pop(name, None)
    recording = {"platform": platform, "runs": runs, "versions": versions}
    text = json.dumps(recording, indent=1, sort_keys=True, ensure_ascii=False)
    GOLDEN.write_text(f"{text}\n", encoding="utf-8")
    sections = ["\n".join([f"## {name}", *transcripts[name]]) for name in sorted(transcripts)]
    kept = [section for section in sections if "\n" in section]
    TRANSCRIPTS.write_text("\n\n".join(kept) + "\n", encoding="utf-8")
    if changed:
        with CHANGES.open("a", encoding="utf-8") as file:
            file.write("\n".join(["", f"## {reason}", *changed, ""]))
