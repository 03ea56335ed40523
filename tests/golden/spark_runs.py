"""Central estimators and labels over tables of Spark."""

import functools
import os
import sys

from golden.engine_runs import ESTIMATORS, engine_records
from golden.table import NAMES, fit, run
from shoal.cluster import DPKMeans
from shoal.tables import SparkTable

ON_SPARK = ("grid", "ball", "private bounds", "oneshot", "copy")  # each pass takes seconds


@functools.cache
def spark_session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[1]").appName("golden runs")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spark_frame(X):
    session = spark_session()
    rows = session.sparkContext.parallelize([("x", *row) for row in X.tolist()], 2)
    schema = ", ".join(["name string", *(f"{name} double" for name in NAMES)])
    return session.createDataFrame(rows, schema)


@run("engine-spark", quick=False, program="java")
def over_spark(note):
    table = SparkTable(spark_frame(engine_records()).cache(), columns=NAMES)
    for kind in ON_SPARK:
        fit(note, kind, ESTIMATORS[kind], table)


@run("engine-spark-labels", quick=False, program="java")
def spark_labels(note):
    frame = spark_frame(engine_records(300))
    model = DPKMeans(3, bounds=(-20.0, 20.0), random_state=1)
    labels = model.fit(frame.select(NAMES)).predict(frame).collect()
    note("labels", [list(row)[-1] for row in labels])
