"""What documents from outside are made of: tables, schemas, and the form of a kind of document."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.schema import Category, Date, Field, Flag, Number, Ordinal, Place, Schema, Text

__all__ = [
    "AT_HOME",
    "BOX",
    "MIXED",
    "NUMBERS",
    "OF_CITIES",
    "PLACES",
    "POINTS",
    "SCHEMA",
    "TABLE",
    "Kind",
    "from_file",
    "shows",
]

RNG = np.random.default_rng(0)
POINTS = np.concatenate([RNG.normal(-1.5, 0.3, (150, 2)), RNG.normal(1.5, 0.3, (150, 2))])
BOX = ([-3.0, -3.0], [3.0, 3.0])
TABLE = {
    "age": [30, None, 70] * 20,
    "income": [100.0, 5e4, None] * 20,
    "city": ["A", "B", "C"] * 20,
    "member": ["yes", "no", None] * 20,
    "joined": ["2012-05-06", None, "2024-02-29"] * 20,
    "grade": ["low", "mid", "none"] * 20,
    "home": ["8.5, 47.4", None, "8.6, 47.3"] * 20,
    "customer": list(range(60)),
    "note": ["good", "bad", None] * 20,
}
SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120, unit="years", whole=True, weight=20.0),
        Number("income", minimum=0, maximum=1e6, scale="log"),
        Category("city", ["A", "B"], weight=3.0),
        Flag("member", missing="fill", fill="false"),
        Date("joined", minimum="2010-01-01", maximum="2026-12-31"),
        Ordinal("grade", ["low", "mid", "high"], weight=0.1),
        Place("home", center=(8.5, 47.4), radius=20.0),
        Field("customer", role="ignore"),
        Text("note"),
    ],
    ("", "n/a"),
    title="People",
)
PLACES = Schema([Place("home", center=(8.5, 47.4), radius=20.0, missing="refuse")])
AT_HOME = {"home": ["8.5, 47.4"] * 300 + ["8.6, 47.3"] * 300}
AGE = Number("age", minimum=0, maximum=120, missing="refuse")
INCOME = Number("income", minimum=0, maximum=1e6, scale="log", missing="refuse")
NUMBERS = Schema([AGE, INCOME])
MIXED = Schema([AGE, Category("city", ["A", "B"])])
OF_CITIES = {"age": [30, 70] * 300, "income": [1e3, 1e5] * 300, "city": ["A", "B"] * 300}


@dataclass(frozen=True)
class Kind:
    """One kind of document.

    ``make`` returns valid ones, as values of JSON; ``read`` reads one, as those values or, where
    ``text`` is set, as the bytes of a file; ``uses`` are all that can be done with what was read.
    """

    name: str
    make: Callable[[], Iterable[Any]]
    read: Callable[[Any], Any]
    uses: Sequence[Callable[[Any], Any]]
    text: bool = False

    def __str__(self) -> str:
        return self.name


def from_file(
    folder: Path, read: Callable[[Path], Any], name: str = "document.json"
) -> Callable[[bytes], Any]:
    """Return a reader of the bytes of a file."""

    def from_bytes(content: bytes) -> Any:
        path = folder / name
        path.write_bytes(content)
        return read(path)

    return from_bytes


def shows(one: Any) -> None:
    """Write what was read."""
    repr(one)
    str(one)
