"""A small cluster in which an executor is declared lost, and comes back with reports of its own.

Run in a process of its own: ``python spark_lost_executor.py FOLDER [CHECKPOINTS]`` prints, as JSON,
what each reading of the published reports gave: numbers, or the first line of Spark's error.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from helpers.spark import start_session
from helpers.spark_jobs import DrawnTwice
from shoal.tables import SparkTable

SECONDS = 120  # before a step is given up


def wait(ready):
    """Wait until something is so."""
    end = time.monotonic() + SECONDS
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.1)


def spark_home(folder):
    """Lend Spark's own folder to the cluster, whose workers would leave their logs in it."""
    import pyspark

    folder.mkdir()
    for path in Path(pyspark.__file__).parent.iterdir():
        if path.name != "work":
            (folder / path.name).symlink_to(path)
    return folder


def executor(file):
    """Return the process and the name of an executor that drew reports."""
    process, name = file.read_text().split()
    return int(process), name


def declare_lost(context, file):
    """Do what the driver does when an executor has not been heard of for too long."""
    wait(file.exists)
    jvm = context._jvm
    lost = jvm.org.apache.spark.scheduler.ExecutorProcessLost
    reason = lost("planted", jvm.scala.Option.empty(), False)
    context._jsc.sc().taskScheduler().executorLost(executor(file)[1], reason)


def read(frame):
    """Return the reports, or the first line of the error."""
    try:
        return [row[0] for row in frame.collect()]
    except Exception as error:  # noqa: BLE001 - Spark has many, and all of them count
        return str(getattr(error, "java_exception", error)).splitlines()[0]


def main(folder, checkpoints=None):
    """Have reports drawn by two executors, and kill one after the other between readings."""
    os.environ["SPARK_HOME"] = str(spark_home(folder / "spark"))
    memory = {"spark.executor.memory": "512m", "spark.executor.heartbeatInterval": "1s"}
    session = start_session("local-cluster[2,1,1024]", **memory)
    context = session.sparkContext
    if checkpoints:
        context.setCheckpointDir(checkpoints)
    first, second = folder / "first", folder / "second"
    losing = threading.Thread(target=declare_lost, args=(context, first))
    losing.start()
    frame = session.range(0, 50, 1, 1).selectExpr("double(id) as x")
    staged = SparkTable(frame).stage(DrawnTwice(str(folder)))
    losing.join()
    (folder / "go").touch()  # the lost executor ends what it began
    managers = context._jsc.sc().getExecutorMemoryStatus
    wait(lambda: managers().size() == 3)  # it is back, beside the other one and the driver
    time.sleep(3)  # until it has told what it keeps
    reports = staged.publish()
    readings = [read(reports) for _ in range(4)]
    for file in (second, first):
        os.kill(executor(file)[0], signal.SIGKILL)
        time.sleep(3)  # until the driver has noticed
        readings.append(read(reports))
    json.dump(readings, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
