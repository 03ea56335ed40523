"""Every central estimator gives the same bits in Spark as in memory."""

import numpy as np
import pytest

from helpers.engine_equivalence import (
    ESTIMATORS,
    LATTICE,
    NAMES,
    STATISTICS,
    arrays,
    named,
    outcome,
    plane_labels,
    records,
)
from helpers.spark import SPARK, spark_session
from shoal.engines import ArrayEngine, StreamEngine
from shoal.exceptions import DataError
from shoal.tables import SparkTable

pytestmark = SPARK

X = records()


@pytest.fixture(scope="module")
def frame():
    """The records in five partitions, with a column of text that nobody asked for."""
    session = spark_session()
    rows = [("x", *row) for row in X.tolist()]
    spread = session.sparkContext.parallelize(rows, 5)
    schema = ", ".join(["name string", *(f"{name} double" for name in NAMES)])
    found = session.createDataFrame(spread, schema).cache()
    yield found
    found.unpersist()


# Each takes seconds; the statistics of the others are compared one by one below.
WAVES = ("oneshot", "sparse")
FEW = (
    "DPDensity",
    "DPKMeans",
    "DPWaveCluster-oneshot",
    "PrivateCopy",
    "PrivateCopy-tree",
)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FEW else pytest.mark.full) for name in ESTIMATORS],
)
def test_spark(name, frame):
    model, *found = outcome(ESTIMATORS[name], SparkTable(frame, columns=NAMES))
    _, *expected = outcome(ESTIMATORS[name], named(X))
    assert found == expected
    assert not hasattr(model, "labels_")


# Of projected records, one kind shows what all go through.
AGAIN = ("projected-second", "projected-sparse", "projected-twice")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.full if name in AGAIN else ()) for name in STATISTICS],
)
def test_statistics(name, frame):
    table = SparkTable(frame, columns=NAMES)
    table.check()
    found = STATISTICS[name](StreamEngine(table, LATTICE))
    assert arrays(found) == arrays(STATISTICS[name](ArrayEngine(LATTICE.encode(X))))


def test_labels_of_projected_records(frame):
    labeled = plane_labels(StreamEngine(SparkTable(frame, columns=NAMES), LATTICE))
    labels = [row["cluster"] for row in labeled.collect()]
    assert labels == plane_labels(ArrayEngine(LATTICE.encode(X))).tolist()


def test_one_partition(frame):
    found = outcome(ESTIMATORS["DPKMeans"], SparkTable(frame.coalesce(1), columns=NAMES))
    assert found[1:] == outcome(ESTIMATORS["DPKMeans"], named(X))[1:]


@pytest.mark.parametrize(
    "name",
    [
        "DPKMeans",
        pytest.param("DPDensity", marks=pytest.mark.full),
        *(pytest.param(f"DPWaveCluster-{name}", marks=pytest.mark.full) for name in WAVES),
    ],
)
def test_a_frame_and_its_labels(name, frame):
    """Columns need not be chosen where all are numbers; labels are a column of the whole frame."""
    model = outcome(ESTIMATORS[name], frame.select(NAMES))[0]
    labels = [row["cluster"] for row in model.predict(frame).collect()]
    assert labels == outcome(ESTIMATORS[name], named(X))[0].labels_.tolist()


@pytest.mark.parametrize("memory", ["float", pytest.param("double", marks=pytest.mark.full)])
def test_arrays_of_numbers(memory):
    """One column of arrays, as embeddings are kept, is what a column of lists is elsewhere."""
    narrow = np.clip(X, -1e30, 1e30).astype(np.float32)
    session = spark_session()
    rows = [("x", row) for row in narrow.astype(np.float64).tolist()]
    found = session.createDataFrame(rows, f"name string, v array<{memory}>").repartition(3)
    estimator = ESTIMATORS["DPKMeans"]
    model, *release = outcome(estimator, SparkTable(found, columns=["v"]))
    assert release == list(outcome(estimator, narrow)[1:])
    assert model.n_features_in_ == 3
    labeled = model.predict(SparkTable(found, columns=["v"])).select("v", "cluster").collect()
    labels = model.predict(np.array([row["v"] for row in labeled]))
    assert [row["cluster"] for row in labeled] == labels.tolist()


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ([[1.0, 2.0], [98765.0]], "lists of one length"),
        pytest.param([[]], "lists of one length", marks=pytest.mark.full),
        pytest.param([None, [1.0]], "finite numbers", marks=pytest.mark.full),
        ([[1.0], None], "finite numbers"),
        pytest.param([[1.0], [None]], "finite numbers", marks=pytest.mark.full),
        ([], "at least one record"),
    ],
)
def test_refusals_of_arrays(cells, text):
    frame = spark_session().createDataFrame([(one,) for one in cells], "v array<float>").coalesce(1)
    with pytest.raises(DataError, match=text):
        outcome(ESTIMATORS["DPKMeans"], frame)
