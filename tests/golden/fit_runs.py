"""Small fits of every central method: each budget, each kind of table; with a transcript of each.

A transcript has a line for each release, in order, as it passes ``privatize``: what is released,
with which noise, at which declared cost. The methods come from the registry.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.base import clone

from golden.notes import Notes, rounded
from golden.table import BOX, ample_ledger, clusters, run
from shoal._build import load_class
from shoal._registry import METHODS, Method
from shoal.cluster import ClusterProfile, DPKMeans, learn_schema
from shoal.noise import current_part, observed
from shoal.schema import Category, Date, Field, Flag, Number, Schema
from shoal.tables import ArrowTable

MIXED = Schema(
    [
        Number("age", minimum=0, maximum=100),
        Category("city", ["A", "B", "C"], weight=0.5),
        Flag("member"),
        Number("income", minimum=1, maximum=1e5, scale="log"),
    ]
)
SHOWN = 4  # scales of a noise with one for each column


class Budget(NamedTuple):
    """An epsilon, and a delta where there is one."""

    epsilon: float
    delta: float = 0.0


SMALL, LARGE = Budget(0.4), Budget(5.0)
BUDGETS = {
    "small": SMALL,
    "large": LARGE,
    "small-delta": Budget(0.4, 1e-6),
    "large-delta": Budget(5.0, 1e-6),
}
PURE = ("small", "large")


class Table(NamedTuple):
    """What is given to fit, and parameters that go with it."""

    X: Any
    settings: Mapping[str, Any] = {"bounds": BOX}
    given: Mapping[str, Any] = {}


def planar() -> Table:
    return Table(clusters(400))


def wide() -> Table:
    return Table(clusters(300, columns=6))


def mixed() -> Table:
    rng = np.random.default_rng(3)
    old = np.arange(300) % 3 == 0
    frame = pd.DataFrame(
        {
            "age": np.where(old, 70.0, 25.0) + rng.normal(0, 4, 300),
            "city": np.where(old, "A", rng.choice(["B", "C", "elsewhere"], 300)),
            "member": old ^ (rng.random(300) < 0.1),
            "income": np.exp(rng.normal(8, 1, 300)),
        }
    )
    frame.loc[::37, "age"] = np.nan
    return Table(frame, {"schema": MIXED})


def dated() -> Table:
    """Return a table with a schema whose records are all in a cell: gaps are filled."""
    schema = Schema(
        [
            Number("age", minimum=0, maximum=100, missing="fill", fill=40),
            Date("joined", minimum="2010-01-01", maximum="2026-12-31", missing="refuse"),
        ]
    )
    X = clusters(300)
    age = 50.0 + 50.0 * X[:, 0]
    age[::29] = np.nan
    days = (3000 + 3000 * X[:, 1]).astype(int)
    joined = np.datetime64("2010-01-01") + days
    return Table(pd.DataFrame({"age": age, "joined": joined}), {"schema": schema})


def weighted() -> Table:
    weights = np.random.default_rng(3).uniform(0.0, 2.5, 400)
    return Table(clusters(400), {"bounds": BOX, "weight_limit": 2.0}, {"sample_weight": weights})


def users() -> Table:
    ids = np.arange(400) // 3
    return Table(clusters(400), {"bounds": BOX, "records_per_user": 2}, {"user_ids": ids})


def few() -> Table:
    return Table(clusters(7))


def crowded() -> Table:
    X = np.random.default_rng(4).normal(0.31, 0.004, (3000, 2))
    X[::10] = np.random.default_rng(5).uniform(-1.0, 1.0, (300, 2))
    return Table(X)


def line() -> Table:
    """Return one column whose records are in few places: a tree of few leaves."""
    at = np.repeat([-0.61, 0.137, 0.7], [60, 1880, 60])
    return Table((at + np.random.default_rng(6).normal(0, 1e-3, 2000))[:, None])


def streamed() -> Table:
    """Return a folder of files, a part of which is read at a time."""
    Path("parts").mkdir()
    for index, rows in enumerate(np.array_split(clusters(400), 3)):
        table = pa.table({"x": rows[:, 0], "y": rows[:, 1]})
        pq.write_table(table, f"parts/{index}.parquet", row_group_size=50)
    return Table(ArrowTable("parts", columns=["x", "y"], memory=0, threads=1))


TABLES: dict[str, Callable[[], Table]] = {
    one.__name__: one
    for one in (planar, wide, mixed, dated, weighted, users, few, crowded, line, streamed)
}
COLUMNS = {"line": 1, "wide": 6, "mixed": 12}  # as encoded; the others have two
# Every budget on these tables; on the others a large one, and Gaussian noise where it has a delta.
THOROUGH = ("planar", "mixed", "crowded")
SETTINGS = {"DPKMeans": {"n_clusters": 3}, "DPWaveCluster": {"grid": 16, "threshold": 0.2}}
AUTO = next(one for one in METHODS if one.class_name == "DPKMeans")
AUTO = AUTO._replace(label="DPKMeans", kwargs={})  # as its defaults choose
CENTRAL = [AUTO, *(one for one in METHODS if one.notion == "central" and one.output != "remapped")]


def fits() -> Iterator[tuple[Method, str, str]]:
    """Yield each method with the tables and budgets that it takes."""
    for method in CENTRAL:
        kmeans = method.class_name == "DPKMeans"
        pure = not kmeans or method.kwargs.get("method") in ("tree", "kccm")
        for table in TABLES:
            if COLUMNS.get(table, 2) > method.max_columns:
                continue
            if table in ("weighted", "users") and not kmeans:
                continue
            several = PURE if pure else tuple(BUDGETS)
            for budget in several if table in THOROUGH else several[1::2]:
                yield method, table, budget


class Transcript:
    """Observes releases, and writes a line for each.

    The exact values go into the notes, not into the transcript.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.exact: list[Any] = []

    def release(self, exact: Any, noise: Any, cost: float, released: Any) -> Any:
        """Write down a release, and leave it as it is."""
        part = f" | {current_part()}" if current_part() else ""
        price = f"{noise.privacy_measure} {scale(cost)}"
        self.lines.append(f"{described(exact)} | {parameters(noise)} | {price}{part}")
        self.exact.append(exact)
        return released


def described(exact: Any) -> str:
    """Return the shape of exact values."""
    if isinstance(exact, np.ndarray):
        return f"{exact.dtype.kind}{list(exact.shape)}"
    if dataclasses.is_dataclass(exact):
        fields = [getattr(exact, one.name) for one in dataclasses.fields(exact)]
        return f"{type(exact).__name__}({', '.join(map(described, fields))})"
    return f"{type(exact).__name__}[{len(exact)}]" if hasattr(exact, "__len__") else repr(exact)


def parameters(noise: Any) -> str:
    """Return the class of a noise and all that it is made of."""
    if not dataclasses.is_dataclass(noise):
        return type(noise).__name__
    fields = ((one.name, getattr(noise, one.name)) for one in dataclasses.fields(noise))
    return (
        f"{type(noise).__name__}({', '.join(f'{name}={scale(value)}' for name, value in fields)})"
    )


def scale(value: Any) -> str:
    """Write a parameter of a noise: doubles to 12 digits, and of many only the first."""
    if isinstance(value, float | np.floating):
        return f"{float(rounded(float(value))):.12g}" if math.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        return f"{list(value.shape)} {scale(value.ravel().tolist())}"
    if isinstance(value, list | tuple):
        more = f", ... {len(value)} in all" if len(value) > SHOWN else ""
        return f"[{', '.join(map(scale, value[:SHOWN]))}{more}]"
    return parameters(value) if dataclasses.is_dataclass(value) else str(value)


def fit_observed(note: Notes, estimator: Any, table: Table) -> Any:
    """Fit with a seed and a ledger; note the result, the charge, exact values and releases."""
    ledger = ample_ledger()
    model = clone(estimator).set_params(ledger=ledger, random_state=5)
    transcript = Transcript()
    with observed(transcript):
        model.fit(table.X, **table.given)
    note.fitted("fit", model)
    note("charged", [entry.to_dict() for entry in ledger.entries])
    note("exact", transcript.exact)
    note("releases", transcript.lines)
    note.transcript += transcript.lines
    return model


def add(method: Method, table: str, budget: str) -> None:
    """Add the run of one fit."""

    @run(f"fit-{method.label or method.name}-{table}-{budget}")
    def fit_it(note: Notes) -> None:
        given = TABLES[table]()
        epsilon, delta = BUDGETS[budget]
        kwargs = {**SETTINGS.get(method.class_name, {}), **method.kwargs, **given.settings}
        if delta:
            kwargs["delta"] = delta
        estimator = load_class(method.location)(epsilon=epsilon, **kwargs)
        model = fit_observed(note, estimator, given)
        if hasattr(model, "sample"):
            note("sample", model.sample(20, random_state=1))


for one in fits():
    add(*one)


# --- estimators of a release and of a schema ------------------------------------------------------
DESCRIBED = Schema(
    [
        Number("age", minimum=0, maximum=120, unit="years"),
        Category("city", ["A", "B"], role="describe"),
        Date("joined", minimum="2010-01-01", maximum="2026-12-31", role="describe"),
        Field("who", role="user"),
    ]
)


def described_people() -> dict[str, Any]:
    """Return people in two clusters, with what a profile says of them."""
    rng = np.random.default_rng(2)
    old = np.arange(600) % 2
    return {
        "age": 20.0 + 40.0 * old + rng.normal(0, 3, 600),
        "city": np.where(rng.random(600) < 0.2 + 0.6 * old, "A", "B"),
        "joined": np.datetime64("2012-01-01") + rng.integers(0, 4000, 600),
        "who": np.arange(600) // 2,
    }


def profile_run(budget: str) -> None:
    @run(f"fit-ClusterProfile-{budget}")
    def describe(note: Notes) -> None:
        table = described_people()
        ages = {"age": table["age"]}
        model = DPKMeans(2, schema=Schema([DESCRIBED["age"]]), random_state=0).fit(ages)
        epsilon, delta = BUDGETS[budget]
        profile = ClusterProfile(model.release_, schema=DESCRIBED, epsilon=epsilon, delta=delta)
        found = fit_observed(note, profile, Table(table))
        note("sentences", found.describe())


for name in BUDGETS:
    profile_run(name)


@run("fit-learn_schema")
def learned_schema(note: Notes) -> None:
    template = Schema([Number("age", minimum=0), Category("city"), Number("income")])
    rng = np.random.default_rng(6)
    table = {
        "age": rng.uniform(20, 90, 400),
        "city": rng.choice(["A", "B", "C"], 400, p=[0.6, 0.39, 0.01]),
        "income": np.exp(rng.normal(8, 1, 400)),
    }
    transcript = Transcript()
    with observed(transcript):
        learned = learn_schema(table, template, epsilon=2.0, delta=1e-6, random_state=0)
    note("schema", learned.schema.to_dict())
    note("guarantee", learned.guarantee_)
    note("exact", transcript.exact)
    note("releases", transcript.lines)
    note.transcript += transcript.lines
