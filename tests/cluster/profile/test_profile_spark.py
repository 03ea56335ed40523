"""A profile of a Spark DataFrame has the bits of one in memory."""

import pytest

from helpers.spark import SPARK, spark_session
from shoal.cluster import ClusterProfile, DPKMeans
from shoal.schema import Category, Number, Schema, Text
from shoal.tables import SparkTable

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120),
        Category("city", ["A", "B"], role="describe"),
        Text("said"),
    ]
)


@pytest.mark.full
@SPARK
def test_the_same_bits_from_spark():
    ages = [20.0, None, 60.0, 61.0] * 60
    cities = ["A", "B", None, "elsewhere"] * 60
    said = ["the queue", "late", None, "the bench was late"] * 60
    table = {"age": ages, "city": cities, "said": said}
    release = DPKMeans(2, schema=SCHEMA, random_state=0).fit(table).release_
    profile = ClusterProfile(release, epsilon=5.0, delta=1e-6, random_state=0)
    expected = profile.fit(table).release_
    assert expected.values["keywords"][0]["words"]
    rows = list(zip(ages, cities, said, strict=True))
    frame = spark_session().createDataFrame(rows, "age double, city string, said string")
    assert profile.fit(SparkTable(frame, schema=SCHEMA)).release_ == expected
