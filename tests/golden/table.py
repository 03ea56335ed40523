"""The table of runs: the name, the work and the length of each; and the records that they share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from golden.notes import Notes
from shoal.privacy import Ledger

Work = Callable[[Notes], None]


class Run(NamedTuple):
    """What notes something down with a seed, whether `make test` has time for it, what it needs."""

    work: Work
    quick: bool
    program: str


RUNS: dict[str, Run] = {}
BOX = (-1.0, 1.0)
NAMES = ["height", "weight", "age"]


def run(name: str, *, quick: bool = True, program: str = "") -> Callable[[Work], Work]:
    """Take a function as the run of this name; it is skipped where its program is not installed."""

    def register(function: Work) -> Work:
        if name in RUNS:
            raise ValueError(f"two runs are called {name!r}")
        RUNS[name] = Run(function, quick, program)
        return function

    return register


def clusters(n: int = 600, columns: int = 2, k: int = 3, seed: int = 1) -> Any:
    """Return records around k centers, with some on the borders of the box."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.8, 0.8, (k, columns))
    X = centers[np.arange(n) % k] + rng.normal(scale=0.08, size=(n, columns))
    X[:4] = [[-1.0] * columns, [1.0] * columns, [0.0] * columns, [3.0] * columns]
    return X


def write_people(path: str = "people.csv", n: int = 120) -> None:
    """Write four clusters of people: ages, heights, a class, and whose row it is."""
    rng = np.random.default_rng(0)
    middle = np.repeat([[20, 120], [35, 180], [60, 150], [70, 190]], n // 4, axis=0)
    X = middle + rng.normal(scale=3.0, size=(n, 2))
    lines = [f"{a:.3f},{h:.3f},{'ab'[i % 2]},p{i // 3}" for i, (a, h) in enumerate(X.tolist())]
    Path(path).write_text("age,height,group,person\n" + "\n".join(lines) + "\n")


def ample_ledger(**kwargs: Any) -> Ledger:
    """Return a ledger in memory that pays for everything."""
    limits = {"epsilon": 1e6, "delta": 1e-3, "metric_epsilon": 1e6, "metric_unit": "m"}
    return Ledger(**limits, table="people", **kwargs)


def fit(note: Notes, name: str, estimator: Any, X: Any, ledger: Any = None, **kwargs: Any) -> Any:
    """Fit with a seed and a ledger, and note everything that comes of it."""
    ledger = ledger or ample_ledger()
    model = clone(estimator).set_params(ledger=ledger, random_state=11).fit(X, **kwargs)
    note.fitted(name, model)
    note.ledger(f"{name}, ledger", ledger)
    return model
