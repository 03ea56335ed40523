"""One local Spark session for all tests of a run: a Java machine takes seconds to start.

Tests that use it are in files with ``_spark`` in their names, which one worker of pytest-xdist runs
(tests/conftest.py), and marked with ``SPARK``: Spark's warning about new versions of pandas is
silenced (records travel as Arrow columns).
"""

import functools
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FACTORS = (7919, 104_729, 1_299_709)
SPARK = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def spark_session() -> Any:
    """Return the session of this process, or skip the test where there is no Java."""
    need_spark()
    return _session()


def need_spark() -> None:
    """Skip the test where there is no Spark, or no Java for it."""
    pytest.importorskip("pyspark", reason="needs pyspark: pip install '.[spark]'")
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and (Path(home) / "bin" / "java").exists())):
        pytest.skip("Spark needs Java: apt-get install default-jre-headless")


@functools.cache
def _session() -> Any:
    """Start the one session that a process can have."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Workers import the jobs of these tests.
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        # A short life: compiled once and quickly, and no threads that tidy up meanwhile.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": "build/spark",
        "spark.python.daemon.module": "helpers.spark_daemon",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # tests provoke errors, which fill the screen
    return session


def records(count: int) -> np.ndarray:
    """Return that many records of three columns, thousandths from -4 to 4."""
    numbers = np.arange(count)[:, None] * FACTORS
    return (numbers % 8001 - 4000) / 1000


def frame_of(count: int, partitions: int) -> Any:
    """Return the same records as a frame of columns x0, x1, x2, made by Java, in their order."""
    columns = [f"(id * {f} % 8001 - 4000) / double(1000) as x{j}" for j, f in enumerate(FACTORS)]
    return spark_session().range(0, count, 1, partitions).selectExpr(*columns)
