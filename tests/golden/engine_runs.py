"""Central estimators and mechanisms over tables in memory and in files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from golden.table import NAMES, ample_ledger, fit, run, write_people
from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy
from shoal.mechanisms import Laplace, Piecewise
from shoal.tables import ArrowTable, read_table, write_table

ESTIMATORS = {
    "grid": DPKMeans(4, bounds=(-20.0, 20.0)),
    "gaussian": DPKMeans(4, delta=1e-6, bounds=(-20.0, 20.0)),
    "lloyd": DPKMeans(4, bounds=(-20.0, 20.0), method="lloyd"),
    "kccm": DPKMeans(4, bounds=(-20.0, 20.0), method="kccm"),
    "ball": DPKMeans(4, bounds=(-20.0, 20.0), method="ball"),
    "private bounds": DPKMeans(4, bounds="private"),
    "oneshot": DPWaveCluster(bounds=(-20.0, 20.0), grid=8),
    "baseline": DPWaveCluster(bounds=(-20.0, 20.0), grid=8, technique="baseline"),
    "sparse": DPWaveCluster(bounds=(-20.0, 20.0), grid=512),
    "copy": PrivateCopy(1.5, bounds=(-20.0, 20.0)),
}


def engine_records(n=1500):
    rng = np.random.default_rng(5)
    centers = rng.uniform(-15.0, 15.0, (5, 3))
    X = centers[rng.integers(5, size=n)] + rng.normal(size=(n, 3))
    X[:5] = [[-20.0] * 3, [20.0] * 3, [0.0] * 3, [1e300] * 3, [-25.0] * 3]
    return X


def write_parts(kind, X, parts=3):
    """Write records to some files of one kind, with a column of text that nobody asked for."""
    Path(kind).mkdir()
    for place, rows in enumerate(np.array_split(X, parts)):
        table = pa.table({"name": ["x"] * len(rows), **dict(zip(NAMES, rows.T, strict=True))})
        path = f"{kind}/part-{place}.{kind}"
        if kind == "parquet":
            pq.write_table(table, path, row_group_size=200)
        elif kind == "feather":
            feather.write_feather(table, path, chunksize=200)
        else:
            pd.DataFrame(rows, columns=NAMES).to_csv(path, index=False)
    return kind


def engine_run(name, open_table):
    """Add a run of the central estimators over one kind of table."""

    @run(f"engine-{name}")
    def over_table(note):
        table = open_table(engine_records())
        for kind, estimator in ESTIMATORS.items():
            model = fit(note, kind, estimator, table)
            if name != "array" and kind == "grid":
                note("predict", np.asarray(model.predict(table)))


engine_run("array", lambda X: pd.DataFrame(X, columns=NAMES))
engine_run(
    "parquet-streamed",
    lambda X: ArrowTable(write_parts("parquet", X), columns=NAMES, memory=0, threads=2),
)
engine_run("feather-held", lambda X: ArrowTable(write_parts("feather", X), columns=NAMES))
engine_run(
    "csv-streamed", lambda X: ArrowTable(write_parts("csv", X), columns=NAMES, memory=0, threads=1)
)


def parquet_values(folder):
    """Return the reports in the files of a folder, in the order of their names."""
    files = sorted(Path(folder).glob("*.parquet"))
    return [pq.read_table(path).to_pandas().to_numpy() for path in files]


@run("engine-reports-of-files")
def reports_of_files(note):
    X = engine_records(900)
    for kind, mechanism in {
        "parquet": Laplace(1.0, unit="m", bounds=(-20.0, 20.0)),
        "csv": Piecewise(2.0, bounds=(-20.0, 20.0)),
    }.items():
        ledger = ample_ledger()
        mechanism.set_params(random_state=3, ledger=ledger)
        table = ArrowTable(write_parts(kind, X), columns=NAMES, threads=2)
        mechanism.fit(table).transform(table, out=f"{kind}-reports")
        note(kind, np.concatenate(parquet_values(f"{kind}-reports")))
        note.ledger(f"{kind} ledger", ledger)


@run("tables")
def tables(note):
    """Files of users, read and written."""
    write_people("people.csv")
    found = read_table("people.csv", columns=["age", "height"], label="group", user="person")
    note("csv", found)
    for name in ("copy.csv", "copy.parquet"):
        write_table(name, ["age", "height"], found.X)
        note(name, read_table(name, columns=["height", "age"]))
    Path("bare.csv").write_text("1,2,x\n3,4.5,y\n")
    named = read_table("bare.csv", columns=["b", "a"], names=["a", "b", "c"])
    note("without a header", named)
    note.error("no such column", lambda: read_table("people.csv", columns=["weight"]))
    note.error("no number", lambda: read_table("people.csv", columns=["group"]))
