"""The same records in memory, in files and in Spark, and the estimators that must not notice."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather
from sklearn.base import clone

from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy
from shoal.engines import (
    DIRECTION_UNIT,
    HALF,
    grid_counts,
    nearest_centers,
    project,
    radius_counts,
    second_moments,
    sparse_grid_counts,
    window_statistics,
)
from shoal.noise import Lattice
from shoal.privacy import Ledger
from subjects import having

NAMES = ["height", "weight", "age"]

# As in the contracts, at an epsilon where noise matters; and what else looks at records.
ESTIMATORS = {one.name: one.make(epsilon=1.0) for one in having("estimator", "central")} | {
    "DPKMeans-private-bounds": DPKMeans(4, bounds="private"),
    "DPKMeans-private-k": DPKMeans("private", bounds=(-20.0, 20.0), method="lloyd"),
    "DPKMeans-public-n": DPKMeans(4, bounds=(-20.0, 20.0), n_public=3000),
    "DPWaveCluster-sparse": DPWaveCluster(bounds=(-20.0, 20.0), grid=512),
    "PrivateCopy-tree": PrivateCopy(bounds=(-2000.0, 2000.0)),
    "DPWaveCluster-infinite": DPWaveCluster(epsilon=np.inf, bounds=(-20.0, 20.0), grid=16),
}

LATTICE = Lattice.box(np.full(len(NAMES), -20.0), np.full(len(NAMES), 20.0), half=HALF)
_rng = np.random.default_rng(9)
CENTERS = _rng.integers(-HALF, HALF, (6, len(NAMES)))
RADII = _rng.integers(HALF // 9, HALF, len(CENTERS))
EDGES = np.unique(_rng.integers(1, 2 * HALF, 20))
DIRECTIONS = np.rint(np.linalg.qr(_rng.normal(size=(3, 2)))[0].T * DIRECTION_UNIT).astype(np.int64)


def _plane(engine):
    """Project records of three columns to two."""
    return project(engine, CENTERS[0], DIRECTIONS, HALF // 2)


# Statistics of an engine of three columns, whoever holds the records.
STATISTICS = {
    "windows": lambda engine: window_statistics(engine, CENTERS, RADII),
    "radii": lambda engine: radius_counts(engine, CENTERS[0], EDGES),
    "second": lambda engine: second_moments(engine, CENTERS[0], HALF // 2),
    "projected-windows": lambda engine: window_statistics(_plane(engine), CENTERS[:, :2], RADII),
    "projected-second": lambda engine: second_moments(_plane(engine), CENTERS[0, :2], HALF // 2),
    "projected-grid": lambda engine: grid_counts(_plane(engine), (7, 9)),
    "projected-sparse": lambda engine: sparse_grid_counts(_plane(engine), (100, 100)),
    "projected-twice": lambda engine: radius_counts(
        project(_plane(engine), CENTERS[1, :2], DIRECTIONS[:, :2], HALF), CENTERS[2, :2], EDGES
    ),
}


def arrays(found):
    """Return all arrays of a statistic, as lists."""
    parts = vars(found).values() if hasattr(found, "__dict__") else [found]
    return [np.asarray(part).tolist() for part in parts]


def plane_labels(engine):
    """Return the nearest center of each projected record."""
    return nearest_centers(_plane(engine), CENTERS[:, :2])


def records(n=3000):
    """Make some clusters of records, with borders, zeros and values beyond the bounds."""
    rng = np.random.default_rng(5)
    centers = rng.uniform(-15.0, 15.0, (5, len(NAMES)))
    X = centers[rng.integers(5, size=n)] + rng.normal(size=(n, len(NAMES)))
    X[:7] = [[-20.0] * 3, [20.0] * 3, [0.0] * 3, [-0.0] * 3, [1e300] * 3, [-25.0] * 3, [1e-300] * 3]
    return X


def named(X, names=NAMES):
    """Return records in memory the names of those in files, which a release and a ledger show."""
    return pd.DataFrame(X, columns=list(names))


def cuts(n, files):
    """Cut rows into parts of different sizes, one of them empty where there are several."""
    ends = np.linspace(0, 1, files + 1) ** 1.5 * n
    ends = np.rint(ends).astype(int)
    if files > 2:
        ends[2] = ends[1]
    return list(itertools.pairwise(ends))


def write_files(folder, X, files, kind="parquet", rows=400):
    """Write records to files of one kind, with a column of text that nobody asked for."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, (start, stop) in enumerate(cuts(len(X), files)):
        columns = {name: X[start:stop, j] for j, name in enumerate(NAMES)}
        # Whole numbers and single precision hold these values exactly: no file need have doubles.
        table = pa.table({"name": ["x"] * (stop - start), **columns})
        path = folder / f"part-{place:02d}.{kind}"
        if kind == "parquet":
            pq.write_table(table, path, row_group_size=rows)
        elif kind == "feather":
            feather.write_feather(table, path, chunksize=rows)
        else:
            lines = [",".join(["x", *map(repr, row)]) for row in X[start:stop].tolist()]
            path.write_text("\n".join([",".join(["name", *NAMES]), *lines]) + "\n")
    return folder


def outcome(estimator, X, seed=11):
    """Fit and give everything that is published, and the ledger, as text."""
    ledger = Ledger(epsilon=100.0, delta=1e-3) if np.isfinite(estimator.epsilon) else None
    model = clone(estimator).set_params(ledger=ledger, random_state=seed).fit(X)
    spends = [] if ledger is None else [entry.to_dict() for entry in ledger.entries]
    for spend in spends:
        spend.pop("time", None)
    release = replace(model.release_, ledger=None)  # a hash of the time, too
    return model, release.to_json(), json.dumps(spends, default=str)
