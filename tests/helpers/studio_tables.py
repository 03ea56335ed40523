"""Tables of the studio whose records a test watches: who reads them, and when."""

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from shoal.schema import Category, Field, Number, Schema

NUMBERS = (
    Number("age", minimum=0, maximum=100, missing="refuse"),
    Number("income", minimum=0, maximum=1000, missing="refuse"),
)
ROWS = Schema(
    (*NUMBERS, Category("city", ("A", "B")), Category("shop", ("x", "y"), role="describe"))
)
PLANE = Schema(NUMBERS)
USERS = Schema((*ROWS.fields, Field("person", role="user")))
N = 600


def people(n: int = N) -> dict[str, Any]:
    """Return raw columns of two groups of people, two rows each."""
    rng = np.random.default_rng(5)
    half = np.arange(n) % 2
    return {
        "age": np.clip(rng.normal(30 + 40 * half, 4), 0, 100).tolist(),
        "income": np.clip(rng.normal(200 + 500 * half, 40), 0, 1000).tolist(),
        "city": np.where(half, "A", "B").tolist(),
        "shop": np.where(rng.random(n) < 0.3, "x", "y").tolist(),
        "person": [f"p{row // 2}" for row in range(n)],
    }


class WatchedColumns(Mapping[str, Any]):
    """Columns that count how often they are read, and wait for `gate` before they answer."""

    def __init__(self, columns: Mapping[str, Any], *, open_gate: bool = True) -> None:
        self.columns = dict(columns)
        self.reads = 0
        self.reached = threading.Event()
        self.gate = threading.Event()
        if open_gate:
            self.gate.set()

    def __getitem__(self, name: str) -> Any:
        self.reads += 1
        self.reached.set()
        assert self.gate.wait(30)
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        self.reads += 1
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)
