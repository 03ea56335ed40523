"""Every central estimator gives the same bits in Spark as in memory."""

import pytest

from contracts.engines import ESTIMATORS, NAMES, outcome, records
from shoal.tables import SparkTable
from tables.spark.session import SPARK, frame_of

pytestmark = SPARK

X = records()


@pytest.fixture(scope="module", params=[1, 5])
def frame(request):
    found = frame_of(X, request.param, NAMES).cache()
    yield found
    found.unpersist()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_spark(name, frame):
    model, *found = outcome(ESTIMATORS[name], SparkTable(frame, columns=NAMES))
    _, *expected = outcome(ESTIMATORS[name], X)
    assert found == expected
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("name", ["DPKMeans", "DPWaveCluster-oneshot", "DPWaveCluster-sparse"])
def test_labels(name, frame):
    model = outcome(ESTIMATORS[name], frame)[0]
    labels = [row["cluster"] for row in model.predict(frame).collect()]
    assert labels == outcome(ESTIMATORS[name], X)[0].labels_.tolist()
