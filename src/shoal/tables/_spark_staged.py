"""Reports of a Spark frame's records, drawn once and kept by Spark until they are published."""

from collections.abc import Sequence
from typing import Any

from shoal._optional import require
from shoal.exceptions import DataError, ParameterError
from shoal.tables._spark_errors import CHANGED, run
from shoal.tables._spark_rows import ERROR, ReportTask
from shoal.tables.staged import Start

__all__ = ["SparkStaged", "keep_reports"]


class SparkStaged:
    """Reports that Spark keeps, which nobody has seen yet.

    No record gets two different reports that anyone sees, because nobody sees a report before all
    of them have been drawn and kept, and what is kept is never drawn again:

    * Reports are drawn inside an eager local checkpoint. It returns when executors keep each
      partition, in memory or on their disks, and it cuts what is kept off from the records: the
      plan of the frame that is published begins at the reports, and does not know how they were
      drawn. A second action reads them again.
    * A task that fails, or whose worker is killed, leaves nothing behind that is read; the task
      that takes its place draws for the whole partition afresh. Where the job itself fails, nothing
      refers to what it kept, Spark's cleaner drops it, and a new job draws all afresh.
    * If an executor is lost later on, so are its partitions: an action that needs them fails, and
      says that the checkpoint's block is gone; there is no plan by which they could be drawn again.
    * Where the context has a checkpoint folder, what was kept is then copied to files there, one
      for each partition, and the published frame reads these: it survives lost executors.
    * Two copies of one task that run at the same time (speculation) may each keep theirs. The files
      of a checkpoint folder are of one of them; without such a folder, ``spark.speculation`` is
      refused.

    Parameters
    ----------
    kept : pyspark.sql.DataFrame
        A checkpoint of reports, with a last column of errors.
    names : sequence of str
        Names for the columns of a report.
    """

    def __init__(self, kept: Any, names: Sequence[str]) -> None:
        self._kept = kept
        self._names = tuple(names)

    def publish(self) -> Any:
        """Hand out the reports.

        Returns
        -------
        reports : pyspark.sql.DataFrame
            One row for each record, in columns of the same names. It lives as long as the
            session, or the checkpoint folder, does: write it where it is to stay.
        """
        column = require("pyspark.sql.functions", extra="spark").col
        places = self._kept.columns[:-1]  # all but errors
        return self._kept.select(
            *(column(place).alias(name) for place, name in zip(places, self._names, strict=True))
        )

    def discard(self) -> None:
        """Drop the reports, from the executors or from the checkpoint folder."""
        run(lambda: _drop(self._kept))


def keep_reports(selected: Any, start: Start, *, rows: int | None) -> Any:
    """Draw a report of each record, once.

    Parameters
    ----------
    selected : pyspark.sql.DataFrame
        The columns of the records, and no others.
    start : callable
        From the number of a partition to a function that draws reports of a block.
    rows : int or None
        How many records there are, if they were counted.

    Returns
    -------
    kept : pyspark.sql.DataFrame
        A checkpoint of all reports, under the names of the columns, and of errors, all null.

    Raises
    ------
    DataError
        If the records cannot be used, or are not as many; nothing is staged then.
    ParameterError
        If Spark is set up so that a record might get two reports.
    """
    reliable = _has_folder(selected)
    types = require("pyspark.sql.types", extra="spark")
    schema = types.StructType(
        [types.StructField(name, types.DoubleType()) for name in selected.columns]
        + [types.StructField(ERROR, types.StringType())]
    )

    def keep() -> Any:
        task = ReportTask(start, tuple(selected.columns))
        return selected.mapInArrow(task.run, schema).localCheckpoint()

    kept = run(keep)
    functions = require("pyspark.sql.functions", extra="spark")
    try:
        found, error = run(
            lambda: kept.agg(functions.count("*"), functions.max(ERROR)).collect()[0]
        )
        if error is not None:
            raise DataError(error)
        if not found:
            raise DataError("X must hold at least one record, got none")
        if rows is not None and found != rows:
            raise DataError(CHANGED)
        if not reliable:
            return kept
        # Files are written of reports that have been drawn: no worker can be lost meanwhile, and
        # what is done again is written again, not drawn again.
        filed = run(kept.checkpoint)
    except BaseException:
        run(lambda: _drop(kept))
        raise
    run(lambda: _drop(kept))
    return filed


def _has_folder(frame: Any) -> bool:
    """Say whether the context has a checkpoint folder, and that without one reports are safe."""
    if require("pyspark.sql.utils", extra="spark").is_remote():
        raise ParameterError(
            "reports of a Spark frame must be drawn in a session of the driver itself, got Spark "
            "Connect: it cannot say how it keeps them"
        )
    context = frame.sparkSession.sparkContext
    if context.getCheckpointDir() is not None:
        return True
    if context.getConf().get("spark.speculation", "false").lower() == "true":
        raise ParameterError(
            "spark.speculation must be false where Spark has no checkpoint folder, got true, by "
            "which a record could get two reports: call sparkContext.setCheckpointDir(folder) first"
        )
    return False


def _drop(kept: Any) -> None:
    """Free what a checkpoint keeps: blocks of executors, or files."""
    plan = kept._jdf.queryExecution().analyzed()  # no public way leads to what it keeps
    rdd = plan.rdd()
    rdd.unpersist(True)
    file = rdd.getCheckpointFile()
    if file.isDefined():
        context = kept.sparkSession.sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path(file.get())
        path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)
