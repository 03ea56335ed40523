"""Every central estimator gives the same bits in Spark as in memory."""

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


@pytest.mark.parametrize("name", ESTIMATORS)
def test_spark(name, frame):
    model, *found = outcome(ESTIMATORS[name], SparkTable(frame, columns=NAMES))
    _, *expected = outcome(ESTIMATORS[name], named(X))
    assert found == expected
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("name", STATISTICS)
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


@pytest.mark.parametrize("name", ["DPKMeans", "DPWaveCluster-oneshot", "DPWaveCluster-sparse"])
def test_a_frame_and_its_labels(name, frame):
    """Columns need not be chosen where all are numbers; labels are a column of the whole frame."""
    model = outcome(ESTIMATORS[name], frame.select(NAMES))[0]
    labels = [row["cluster"] for row in model.predict(frame).collect()]
    assert labels == outcome(ESTIMATORS[name], named(X))[0].labels_.tolist()
