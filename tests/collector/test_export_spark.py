"""Spark reads what a collector exported, in the same order."""

import numpy as np

from helpers.collected import collect
from helpers.spark import SPARK, spark_session
from shoal.collector.analysis import stored_reports
from shoal.collector.export import export_table
from shoal.collector.store import Store

pytestmark = SPARK


def test_the_same_reports_in_spark(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/reports.db") as store:
        signed = collect(store, "homes", "partitions", 200)
        snapshot = store.snapshot("homes")
        expected = np.concatenate(list(stored_reports(store, signed.campaign, snapshot)))
        export_table(store, "homes", tmp_path / "reports")
    frame = spark_session().read.parquet(str(tmp_path / "reports"))
    assert frame.columns == ["partition", "color"]
    assert (np.array(frame.collect()) == expected).all()
