"""Estimators with a schema give the same bits in Spark as in memory."""

import pytest

from helpers.engine_equivalence import outcome
from helpers.mixed_tables import SCHEMA, SPARK_TYPES, mixed_columns
from helpers.spark import SPARK, spark_session
from shoal.cluster import ClusterProfile, DPKMeans
from shoal.schema import Schema

pytestmark = SPARK

COLUMNS = mixed_columns(5)
# Users are gathered in memory only.
FEATURES = Schema(SCHEMA.features)


@pytest.fixture(scope="module")
def frame():
    rows = list(zip(*COLUMNS.values(), strict=True))
    found = spark_session().createDataFrame(rows, SPARK_TYPES).repartition(3).cache()
    yield found
    found.unpersist()


def test_kmeans_and_its_profile(frame):
    model = DPKMeans(3, schema=FEATURES)
    fitted, *expected = outcome(model, COLUMNS)
    in_spark, *found = outcome(model, frame)
    assert found == expected
    by_customer = {row["customer"]: row["cluster"] for row in in_spark.predict(frame).collect()}
    assert [by_customer[one] for one in COLUMNS["customer"]] == fitted.labels_.tolist()
    profile = ClusterProfile(fitted.release_)
    assert outcome(profile, frame)[1:] == outcome(profile, COLUMNS)[1:]
