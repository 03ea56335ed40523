"""Write down what seeded runs of shoal release, report, spend, judge and print.

``python tests/seeded_runs/record.py --out FOLDER`` writes one JSON file a run. The same code gives
the same bytes; :mod:`compare` compares the recordings of two versions. Times, names of folders,
hashes of ledger entries (which hash the time) and pictures are left out; every number is kept.
"""

# ruff: noqa: T201 - a script that prints

import argparse
import csv
import dataclasses
import enum
import functools
import getpass
import hashlib
import html.parser
import json
import math
import numbers
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

# One thread, one order of sets, tables that are not wrapped, one name of the user.
ENVIRONMENT = {
    "COLUMNS": "1000",
    "LOGNAME": "tester",
    "MKL_NUM_THREADS": "1",
    "NO_COLOR": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "TERM": "dumb",
    "TZ": "UTC",
}

LONG = 24  # numbers in a row that are written out; of more, their sum and the first of them
FIRST = 6
DATE = re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?)?")
HASH = re.compile(r"(?<![.\w])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{16,64}(?!\w)")
LAYOUT = re.compile(r"[\s\u2500-\u257f]+")
PICTURES = {".png", ".svg", ".pdf"}
# Fields that differ from run to run, by their name.
UNSTABLE = {"hash", "head", "ledger", "salt", "seconds", "time", "versions", "who"}


class Recorder:
    """What one run notes down, in order."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.notes = {}

    def __call__(self, name, value):
        """Note a value of any kind under a name of its own."""
        if name in self.notes:
            raise ValueError(f"two notes are called {name!r}")
        self.notes[name] = self.plain(value)

    def error(self, name, call):
        """Note the message of the error that a call must end with."""
        try:
            call()
        except Exception as error:  # noqa: BLE001 - whatever it is goes into the notes
            self(name, {"error": type(error).__name__, "message": str(error)})
        else:
            self(name, "no error")

    def fitted(self, name, model):
        """Note what a fitted estimator carries: its public attributes and its release."""
        state = {
            key: value
            for key, value in vars(model).items()
            if key.endswith("_") and not key.startswith("_") and key != "release_"
        }
        if hasattr(model, "labels_"):
            state["labels_"] = model.labels_
        if "guarantee_" not in state and hasattr(model, "guarantee_"):
            state["guarantee_"] = model.guarantee_
        self(name, state)
        if hasattr(model, "release_"):
            self(f"{name}, release", json.loads(model.release_.to_json()))

    def ledger(self, name, ledger):
        """Note the entries of a ledger and what is left."""
        self(
            name,
            {
                "entries": [entry.to_dict() for entry in ledger.entries],
                "spent": ledger.spent,
                "used": ledger.used,
                "left": ledger.remaining,
                "text": str(ledger),
            },
        )

    def files(self, name, folder):
        """Note what the files of a folder say, but for pictures."""
        folder = Path(folder)
        found = {}
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and path.suffix not in PICTURES and inside.parts[0] != "figures":
                content = self._file(path)
                if not is_picture(content):
                    found[str(inside)] = content
        self(name, found)

    def _file(self, path):
        if path.suffix == ".json":
            return json.loads(path.read_text("utf-8"))
        if path.suffix == ".html":
            return page_text(path.read_text("utf-8"))
        if path.suffix == ".csv":
            return _csv(path)
        if path.suffix in (".parquet", ".pq"):
            import pyarrow.parquet as pq

            table = pq.read_table(path)
            return {one: table[one].to_numpy() for one in table.column_names}
        return "a file"

    def plain(self, value):  # noqa: PLR0911 - one for each kind
        """Return a value as JSON can hold it, with every bit of its numbers."""
        found = _number(value)
        if found is not NotImplemented:
            return found
        if isinstance(value, enum.Enum):
            return self.plain(value.value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Path):
            return value.name
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, Mapping):
            return {
                self._text(str(key)): self.plain(one)
                for key, one in value.items()
                if key not in UNSTABLE
            }
        if dataclasses.is_dataclass(value):
            return self._dataclass(value)
        if hasattr(value, "_asdict"):
            return self.plain(value._asdict())
        if hasattr(value, "to_numpy"):  # a data frame
            return {str(one): self.plain(np.asarray(value[one])) for one in value.columns}
        if isinstance(value, list | tuple | set | frozenset | range):
            return self._list(sorted(value) if isinstance(value, set | frozenset) else value)
        if callable(value):
            return "a function"
        return self._text(re.sub(r" at 0x[0-9a-f]+", "", repr(value)))

    def _dataclass(self, value):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        if type(value).__str__ is not object.__str__ and type(value).__name__ not in ("Entry",):
            fields["text"] = str(value)
        return self.plain(fields)

    def _array(self, value):
        if value.dtype.kind in "OUS":
            return self._list(value.tolist())
        values = np.ascontiguousarray(value)
        found = {"dtype": value.dtype.str, "shape": list(value.shape)}
        if value.size > LONG:
            found["sha256"] = hashlib.sha256(values.tobytes()).hexdigest()
        kept = values.ravel()[: FIRST if value.size > LONG else None]
        return {**found, "values": [_number(one) for one in kept.tolist()]}

    def _list(self, value):
        found = [self.plain(one) for one in value]
        if len(found) > LONG and all(isinstance(one, bool | int | float) for one in found):
            text = json.dumps(found).encode()
            summary = hashlib.sha256(text).hexdigest()
            return {"length": len(found), "sha256": summary, "values": found[:FIRST]}
        return found

    def _text(self, text):
        text = text.replace(str(self.folder), "<folder>").replace(getpass.getuser(), "<who>")
        text = HASH.sub("<hash>", DATE.sub("<date>", text))
        lines = [LAYOUT.sub(" ", line).strip() for line in text.splitlines()]
        lines = [line for line in lines if line]
        return lines if len(lines) > 1 else "".join(lines)


def is_picture(content):
    """Tell whether the content of a JSON file is a figure of Plotly or Vega-Lite."""
    names = set(content) if isinstance(content, dict) else set()
    return "$schema" in names or {"data", "layout"} <= names


def _number(value):
    """Return a single number or None as it is, and NotImplemented for anything else."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic) and not isinstance(value, np.str_ | np.bytes_):
        return _number(value.item())
    if isinstance(value, int | float):
        return value if math.isfinite(value) else repr(value)
    return str(value) if isinstance(value, numbers.Number) else NotImplemented


def _csv(path):
    """Return the columns of a CSV file; a first line that begins with # is left out."""
    lines = path.read_text("utf-8").splitlines()
    if lines and lines[0].startswith("#"):
        del lines[0]
    header, *rows = list(csv.reader(lines)) or [[]]
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return {name: _column(list(values)) for name, values in zip(header, columns, strict=True)}


def _column(values):
    """Return a column of numbers in short, and one with text in full."""
    try:
        found = [float(value) if value not in ("", "True", "False") else value for value in values]
    except ValueError:
        return values
    summary = hashlib.sha256("\n".join(map(repr, found)).encode()).hexdigest()
    return {"length": len(found), "sha256": summary, "values": values[:FIRST]}


class _PageText(html.parser.HTMLParser):
    """The words of a page: no scripts, styles or pictures."""

    HIDDEN = ("script", "style", "svg", "title")
    INLINE = ("a", "b", "code", "em", "i", "span", "strong", "sub", "sup")

    def __init__(self):
        super().__init__()
        self.words, self.depth = [], 0

    def handle_starttag(self, tag, attrs):
        if tag in self.HIDDEN:
            self.depth += 1
        elif tag not in self.INLINE:
            self.words.append("\n" if tag not in ("td", "th") else " ")

    def handle_endtag(self, tag):
        if tag in self.HIDDEN:
            self.depth -= 1
        elif tag not in self.INLINE and tag not in ("td", "th"):
            self.words.append("\n")

    def handle_data(self, data):
        if not self.depth:
            self.words.append(data.replace("\n", " "))


def page_text(page):
    """Reduce a page to its text, one line a paragraph or row."""
    parser = _PageText()
    parser.feed(page)
    parser.close()
    return "".join(parser.words)


@functools.cache
def all_runs():
    """Return the runs by their names."""
    sys.path.insert(0, str(Path(__file__).parent))
    import runs

    return runs.RUNS


def record(name, run, out):
    """Do one run in an empty folder and write down its notes."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        note = Recorder(folder)
        try:
            np.random.seed(0)  # nothing should read it
            run(note)
        finally:
            os.chdir(before)
    text = json.dumps(note.notes, indent=1, ensure_ascii=False)
    (out / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def main():
    """Record the runs whose names are given, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the recording")
    parser.add_argument("--list", action="store_true", help="print the names of the runs only")
    parser.add_argument("names", nargs="*", help="runs; all if left out")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    runs = all_runs()
    if given.list:
        print("\n".join(runs))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    if not given.names:
        for old in given.out.glob("*.json"):
            old.unlink()
    failed = []
    for name in given.names or runs:
        start = time.monotonic()
        try:
            record(name, runs[name], given.out)
        except Exception:  # noqa: BLE001 - the other runs are worth having
            failed.append(name)
            traceback.print_exc()
        print(f"{time.monotonic() - start:6.1f} s  {name}", flush=True)
    if failed:
        sys.exit(f"{len(failed)} runs failed: {', '.join(failed)}")


if __name__ == "__main__":
    if ENVIRONMENT.items() <= os.environ.items():
        main()
    else:  # libraries read it when they are loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ENVIRONMENT})
