"""Tables of mixed columns, with gaps and extremes, in every form that a curator may hold."""

import csv
import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from shoal.schema import Category, Date, Field, Flag, Number, Ordinal, Place, Schema
from shoal.tables import ArrowTable, read_table

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120, missing_values=["-99"]),
        Number("income", minimum=0, maximum=1e6, scale="log", missing="fill", fill=1000),
        Category("city", ["A", "B", "NA", 7], weight=2.0),
        Category("code", [1, 2.5, 2**52]),
        Flag("member"),
        Date("joined", minimum="2010-01-01", maximum="2026-12-31"),
        Date("seen", minimum="1960-01-01", maximum="2027-01-01", missing="fill", fill="2020-02-02"),
        Ordinal("grade", ["low", "mid", "high"]),
        Place("home", longitude="lon", latitude="lat", center=(24.9, 60.2), radius=50.0),
        Field("customer", role="user"),
    ]
)
SPARK_TYPES = (
    "age double, income double, city string, code bigint, member boolean, joined date, "
    "seen timestamp_ntz, grade string, lon double, lat double, customer int"
)
CITIES = ["A", "B", " B ", "NA", "7", "elsewhere", "", 'é,\n"quoted"', "missing", None]
NUMBERS = [0.0, -0.0, 30.5, 120.0, 1e308, -1e308, 5e-324, 2.0**53, -99.0, float("inf"), None]
CODES = [1, 2, 2**52, -5, None]  # with gaps they are doubles in pandas, which refuse larger ones
DAYS = [datetime.date(2010, 1, 1), datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]


def mixed_columns(seed: int, n: int = 60) -> dict[str, list[Any]]:
    """Return columns of Python values, None where one is missing; the first rows are hostile."""
    rng = np.random.default_rng(seed)

    def some(values: list[Any], usual: list[Any]) -> list[Any]:
        chosen = [*values, *(usual[i] for i in rng.integers(len(usual), size=n))][:n]
        return [chosen[i] for i in rng.permutation(n)]

    start = datetime.datetime(2015, 1, 1)
    times = [start + datetime.timedelta(microseconds=int(t)) for t in rng.integers(0, 10**14, 20)]
    times += [datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999), None]
    days = [start.date() + datetime.timedelta(days=int(day)) for day in rng.integers(0, 4000, 20)]
    return {
        "age": some(NUMBERS, rng.uniform(0, 100, 20).tolist()),
        "income": some(NUMBERS, np.exp(rng.normal(10, 2, 20)).tolist()),
        "city": some(CITIES, ["A", "B"]),
        "code": some(CODES, [1, 2]),
        "member": some([True, False, None], [True, False]),
        "joined": some(DAYS, days),
        "seen": some(times, times),
        "grade": some(["low", "mid", "high", "unheard of", None], ["low", "mid"]),
        "lon": some([180.0, -180.0, None, 24.9], rng.uniform(24, 26, 20).tolist()),
        "lat": some([90.0, -90.0, None, 60.2], rng.uniform(60, 61, 20).tolist()),
        "customer": list(range(n)),
    }


def arrow_table(columns: dict[str, list[Any]]) -> Any:
    """Return the columns as an Arrow table, each of one type."""
    return pa.table(columns)


def write_csv(path: Any, columns: dict[str, list[Any]]) -> Any:
    """Write the columns as text, as a spreadsheet would."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        rows = zip(*columns.values(), strict=True)
        writer.writerows([["" if v is None else str(v) for v in row] for row in rows])
    return path


def write_parquet(path: Any, columns: dict[str, list[Any]]) -> Any:
    """Write the columns to one file."""
    pq.write_table(arrow_table(columns), path)
    return path


def write_folder(
    folder: Any, columns: dict[str, list[Any]], kind: str = "parquet", files: int = 3
) -> Any:
    """Write the columns to a folder of some files of a kind."""
    folder.mkdir()
    table = arrow_table(columns)
    rows = len(table) // files + 1
    for index in range(files):
        part = table.slice(index * rows, rows)
        path = folder / f"part-{index}.{kind}"
        if kind == "parquet":
            pq.write_table(part, path, row_group_size=7)
        elif kind == "feather":
            feather.write_feather(part, str(path), chunksize=7)
        else:
            write_csv(path, part.to_pydict())
    return folder


def encoded_blocks(table: ArrowTable) -> Any:
    """Return all encoded records of a table in files, in their order."""
    table.check()
    parts: dict[int, list[Any]] = {}

    def work(pieces: Any) -> None:
        for index, blocks in pieces:
            parts[index] = [np.array(block).T for block in blocks]

    table.on_threads(work)
    return np.concatenate([block for index in sorted(parts) for block in parts[index]])


IN_MEMORY = {
    "rows": lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas, of Arrow": lambda columns: arrow_table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, categories": lambda columns: pd.DataFrame(columns).astype(
        dict.fromkeys(("city", "code", "grade"), "category")
    ),
    "polars": pl.DataFrame,
    "Arrow": arrow_table,
    "Arrow, dictionaries": lambda columns: arrow_table(
        {**columns, "city": pa.array(columns["city"]).dictionary_encode()}
    ),
    "Arrow arrays": lambda columns: {name: pa.array(values) for name, values in columns.items()},
    "text": lambda columns: {
        name: ["" if value is None else str(value) for value in values]
        for name, values in columns.items()
    },
}
IN_FILES = {
    "CSV at once": lambda folder, columns, schema: (
        read_table(write_csv(folder / "people.csv", columns), schema=schema).X
    ),
    "Parquet at once": lambda folder, columns, schema: (
        read_table(write_parquet(folder / "people.parquet", columns), schema=schema).X
    ),
    **{
        f"{kind} folder": lambda folder, columns, schema, kind=kind: encoded_blocks(
            ArrowTable(write_folder(folder / kind, columns, kind), schema=schema, threads=2)
        )
        for kind in ("parquet", "feather", "csv")
    },
}
