"""What a run writes down, as plain values, and the digests by which two recordings are compared.

A value has three digests. *Integers*: whole numbers, truth values, lengths and shapes. *Numbers*:
these and doubles to 12 digits. Neither depends on names, so that a renamed field changes neither.
*All*: names and text too. Times, folders, hashes of ledger entries (which hash the time) and
pictures are left out.
"""

import csv
import dataclasses
import enum
import getpass
import hashlib
import html.parser
import json
import math
import numbers
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal import __version__

DIGITS = 12
# A dyadic number such as 1 + 2**-13 lies exactly between two numbers of 12 digits, where the last
# bit would decide. This shift takes it away from there by hundreds of those bits.
OFF_TIES = 1 + 3e-14
LENGTH = 8  # hexadecimal digits of a digest
SHOWN = 48  # characters of a value that is written beside its digests
SHORT = 40  # bytes that are written out
MANY = 32  # numbers in a list that is taken as an array

DATE = re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?)?")
# One hash in 2,000 has no letter: after its name it need not have one.
HASH = re.compile(
    r"(?<=\bhash )[0-9a-f]{16,64}(?!\w)"
    r"|(?<![.\w])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{16,64}(?!\w)"
)
LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{9,}(?:e[-+]?\d+)?(?!\w)")
LAYOUT = re.compile(r"[\s\u2500-\u257f]+")
PICTURES = {".png", ".svg", ".pdf"}
# Fields that differ from run to run or machine to machine, by their name; and what `repr` alone
# shows of a guarantee.
UNSTABLE = {
    *("hash", "head", "ledger", "platform", "salt", "seconds", "time", "uncounted", "versions"),
    "who",
}


class Notes:
    """What one run notes, in order.

    Parameters
    ----------
    folder : Path
        The folder that the run works in.
    jobs : int
        Number of processes that studies and commands may use: it changes no note.
    """

    def __init__(self, folder: Path, jobs: int = 1) -> None:
        self.folder = folder.resolve()
        self.jobs = jobs
        self.values: dict[str, Any] = {}
        self.transcript: list[str] = []

    def __call__(self, name: str, value: Any) -> None:
        """Note a value of any kind under a name of its own."""
        if name in self.values:
            raise ValueError(f"two notes are called {name!r}")
        self.values[name] = self.plain(value)

    def error(self, name: str, call: Callable[[], Any]) -> None:
        """Note the message of the error that a call must end with."""
        try:
            call()
        except Exception as error:  # noqa: BLE001 - whatever it is goes into the notes
            self(name, {"error": type(error).__name__, "message": str(error)})
        else:
            self(name, "no error")

    def fitted(self, name: str, model: Any) -> None:
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
        for key, value in state.items():
            self(f"{name}, {key}", value)
        if hasattr(model, "release_"):
            self(f"{name}, release", json.loads(model.release_.to_json()))

    def ledger(self, name: str, ledger: Any) -> None:
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

    def files(self, name: str, folder: str | Path) -> None:
        """Note what the files of a folder say, but for pictures."""
        folder = Path(folder)
        found = {}
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and path.suffix not in PICTURES and inside.parts[0] != "figures":
                content = _file(path)
                if not _is_picture(content):
                    found[str(inside)] = content
        self(name, found)

    def plain(self, value: Any) -> Any:  # noqa: PLR0911, PLR0912 - one for each kind
        """Return a value as plain lists, dicts, text, numbers and arrays of these."""
        found = _number(value)
        if found is not NotImplemented:
            return found
        if isinstance(value, enum.Enum):
            return self.plain(value.value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bytes):
            short = len(value) <= SHORT
            return value.hex() if short else f"sha256 {hashlib.sha256(value).hexdigest()}"
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
        if isinstance(value, set | frozenset):
            return [self.plain(one) for one in sorted(value)]
        if isinstance(value, list | tuple | range):
            return [self.plain(one) for one in value]
        if callable(value):
            return "a function"
        return self._text(re.sub(r" at 0x[0-9a-f]+", "", repr(value)))

    def _dataclass(self, value: Any) -> Any:
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        if fields.get("slack") == 0:  # only metric promises have one, and their documents
            del fields["slack"]
        if type(value).__str__ is not object.__str__ and type(value).__name__ != "Entry":
            fields["text"] = str(value)
        return self.plain(fields)

    def _array(self, value: Any) -> Any:
        if value.dtype.kind in "OUS":
            return self.plain(value.tolist())
        return value if value.dtype.kind in "biuf" else self.plain(value.tolist())

    def _text(self, text: str) -> str:
        text = text.replace(str(self.folder), "<folder>").replace(getpass.getuser(), "<who>")
        text = text.replace(__version__, "<version>")
        text = HASH.sub("<hash>", DATE.sub("<date>", text))
        return LAYOUT.sub(" ", text).strip()


def _file(path: Path) -> Any:
    if path.suffix == ".json":
        return json.loads(path.read_text("utf-8"))
    if path.suffix == ".html":
        return page_text(path.read_text("utf-8"))
    if path.suffix == ".csv":
        return read_columns(path)
    if path.suffix in (".parquet", ".pq"):
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        return {one: table[one].to_numpy() for one in table.column_names}
    return "a file"


def _is_picture(content: Any) -> bool:
    """Tell whether the content of a JSON file is a figure of Plotly or Vega-Lite."""
    names = set(content) if isinstance(content, dict) else set()
    return "$schema" in names or {"data", "layout"} <= names


def _number(value: Any) -> Any:
    """Return a single number or None as it is, and NotImplemented for anything else."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic) and not isinstance(value, np.str_ | np.bytes_):
        return _number(value.item())
    if isinstance(value, int | float):
        return value
    return str(value) if isinstance(value, numbers.Number) else NotImplemented


def read_columns(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a CSV file; a first line that begins with # is left out."""
    lines = path.read_text("utf-8").splitlines()
    if lines and lines[0].startswith("#"):
        del lines[0]
    header, *rows = list(csv.reader(lines)) or [[]]
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return {
        name: [_cell(value) for value in values]
        for name, values in zip(header, columns, strict=True)
        if name not in UNSTABLE
    }


def _cell(value: str) -> Any:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return {"True": True, "False": False}.get(value, value)


class _PageText(html.parser.HTMLParser):
    """The words of a page: no scripts, styles or pictures."""

    HIDDEN = ("script", "style", "svg", "title")
    INLINE = ("a", "b", "code", "em", "i", "span", "strong", "sub", "sup")

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in self.HIDDEN:
            self.depth += 1
        elif tag not in self.INLINE:
            self.words.append("\n" if tag not in ("td", "th") else " ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.HIDDEN:
            self.depth -= 1
        elif tag not in self.INLINE and tag not in ("td", "th"):
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.depth:
            self.words.append(data.replace("\n", " "))


def page_text(page: str) -> str:
    """Reduce a page to its text."""
    parser = _PageText()
    parser.feed(page)
    parser.close()
    return "".join(parser.words)


# --- digests --------------------------------------------------------------------------------------
class Digests(NamedTuple):
    """Digests of the integers, the numbers and all of a value."""

    integers: str
    numbers: str
    all: str


def digests(value: Any) -> Digests:
    """Return the three digests of a plain value."""
    return Digests(
        *(hashlib.sha256(one).hexdigest()[:LENGTH] if one else "-" for one in _written(value))
    )


def rounded(value: float) -> str:
    """Write a double to 12 digits: zero has no sign, and all kinds of NaN are alike."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else f"{value:+}"
    return f"{value * OFF_TIES:.{DIGITS - 1}e}" if value else "0"


def shown(value: Any) -> str:
    """Write a short value to be read beside its digests; nothing for a long one."""
    if isinstance(value, np.ndarray) and value.size > SHOWN:
        return ""
    text = json.dumps(_readable(value), ensure_ascii=False)
    return text if len(text) <= SHOWN else ""


def _readable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _readable(value.tolist())
    if isinstance(value, float):
        return float(rounded(value)) if math.isfinite(value) else str(value)
    if isinstance(value, list):
        return [_readable(one) for one in value]
    if isinstance(value, dict):
        return {name: _readable(one) for name, one in value.items()}
    return value


def _written(value: Any) -> tuple[bytes, bytes, bytes]:  # noqa: PLR0911 - one for each kind
    """Write the integers, the numbers and all of a value; nothing where there are none."""
    if value is None:
        return b"", b"", b"none"
    if isinstance(value, bool | int):
        whole = b"i%d" % value if not isinstance(value, bool) else b"yes" if value else b"no"
        return whole, whole, whole
    if isinstance(value, float):
        double = rounded(value).encode()
        return b"", double, double
    if isinstance(value, str):
        text = LONG_NUMBER.sub(lambda found: rounded(float(found[0])), value)
        return b"", b"", b"t" + text.encode()
    if isinstance(value, list) and len(value) >= MANY:
        value = _as_array(value)
    if isinstance(value, np.ndarray):
        return _array_written(value)
    if isinstance(value, list):
        parts = [_written(one) for one in value]
        integers, doubles, everything = zip(*parts, strict=True) if parts else ((), (), ())
        return (
            _joined(b"[", (one for one in integers if one)),
            _joined(b"[", (one for one in doubles if one)),
            _joined(b"[", everything) or b"[]",
        )
    assert isinstance(value, dict), type(value)
    fields = {name: _written(one) for name, one in value.items()}
    # Without names there is no order but that of the values themselves.
    return (
        _joined(b"{", sorted(one[0] for one in fields.values() if one[0])),
        _joined(b"{", sorted(one[1] for one in fields.values() if one[1])),
        _joined(b"{", (name.encode() + b"=" + fields[name][2] for name in sorted(fields))) or b"{}",
    )


def _as_array(value: list[Any]) -> Any:
    """Return a long list of numbers of one kind as an array, which is written faster."""
    kinds = set(map(type, value))
    if kinds == {float}:
        return np.array(value)
    small = kinds == {int} and max(value) < 2**63 and min(value) >= -(2**63)
    return np.array(value, dtype=np.int64) if small else value


def _array_written(value: Any) -> tuple[bytes, bytes, bytes]:
    shape = b"a%s" % ",".join(map(str, value.shape)).encode()
    if value.dtype.kind == "f":
        found, index = np.unique(value.astype(np.float64).ravel(), return_inverse=True)
        texts = np.array([rounded(one) for one in found.tolist()], dtype="S24")
        doubles = _joined(b"f" + shape, [texts[index].tobytes()])
        return shape, doubles or shape, doubles or shape
    kind = np.int64 if value.dtype.kind in "bi" else np.uint64
    whole = _joined(b"i" + shape, [value.astype(kind).tobytes()]) or shape
    return whole, whole, whole


def _joined(begin: bytes, parts: Iterator[bytes] | Any) -> bytes:
    """Join the parts of a list or dict unless there are none; what is long is hashed."""
    content = b",".join(parts)
    if not content:
        return b""
    return begin + (content if len(content) <= 64 else hashlib.sha256(content).digest())
