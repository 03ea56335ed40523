"""Reports of a Spark frame's records, drawn once and kept by Spark until they are published."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal._optional import require
from shoal._typing import Ints
from shoal.exceptions import DataError, ParameterError, ReleaseError
from shoal.tables._spark_errors import CHANGED, TWICE, run
from shoal.tables._spark_tasks import ATTEMPT, ERROR, PARTITION, ReportTask
from shoal.tables.columns import NO_RECORD, BlockReader
from shoal.tables.table import Start

__all__ = ["SparkStaged", "stage_reports"]


class SparkStaged:
    """Reports that Spark keeps, which nobody has seen yet.

    Of each record at most one report can be read, whatever Spark does again (proofs/reports.md):

    * Reports are drawn inside an eager local checkpoint, and each is marked with the attempt that
      drew it. Spark may come to keep several copies of a partition, drawn by several attempts:
      two that ran at the same time, or one on an executor that was declared lost and came back.
    * The driver then notes one attempt for each partition, once. Whatever is handed out is read
      through a comparison with this list: a report of any other attempt ends the action that meets
      it with an error, and its value goes nowhere.
    * Where the context has a checkpoint folder, reports are copied to files there, through the same
      comparison, and the published frame reads these: it survives lost executors. Without one,
      an action that needs what a lost executor kept fails; nothing is ever drawn again.

    Parameters
    ----------
    reports : pyspark.sql.DataFrame
        The columns of the reports, from the attempts that were noted and no others.
    kept : pyspark.sql.DataFrame
        The checkpoint that they are read from.
    names : sequence of str
        Names for the columns of a report.
    """

    def __init__(self, reports: Any, kept: Any, names: Sequence[str]) -> None:
        self._reports = reports
        self._kept = kept
        self._names = tuple(names)

    def publish(self) -> Any:
        """Return the reports, one row a record, which live as long as the session."""
        return self._reports.toDF(*self._names)

    def discard(self) -> None:
        """Drop the reports, from the executors or from the checkpoint folder."""
        run(lambda: _drop(self._kept))


def stage_reports(
    selected: Any, start: Start, reader: BlockReader, names: Sequence[str], *, rows: int | None
) -> SparkStaged:
    """Draw a report of each record, and note which attempts may be handed out."""
    reliable = _has_folder(selected)
    columns = tuple(f"c{index}" for index in range(len(names)))
    types = require("pyspark.sql.types", extra="spark")
    schema = types.StructType(
        [types.StructField(name, types.DoubleType()) for name in columns]
        + [types.StructField(name, types.LongType()) for name in (PARTITION, ATTEMPT)]
        + [types.StructField(ERROR, types.StringType())]
    )
    task = ReportTask(start, reader, columns)
    kept = run(lambda: selected.mapInArrow(task.run, schema).localCheckpoint())
    try:
        reports = _only(kept, columns, _attempts(kept, rows))
        if not reliable:
            return SparkStaged(reports, kept, names)
        filed = run(reports.checkpoint)
    except BaseException:
        run(lambda: _drop(kept))
        raise
    run(lambda: _drop(kept))
    return SparkStaged(filed, filed, names)


def _attempts(kept: Any, rows: int | None) -> Ints:
    """Return the attempt that drew each partition, from one look at all reports; -1 for none."""
    functions = require("pyspark.sql.functions", extra="spark")
    drawn = kept.groupBy(PARTITION).agg(
        functions.count("*"),
        functions.count(ERROR),
        functions.min(ATTEMPT),
        functions.max(ATTEMPT),
    )
    partitions = run(drawn.collect)
    if any(errors for _, _, errors, _, _ in partitions):
        bad = kept.where(functions.col(ERROR).isNotNull()).select(functions.max(ERROR))
        raise DataError(run(bad.collect)[0][0])
    if not partitions:
        raise DataError(NO_RECORD, code="empty")
    if any(first != last for _, _, _, first, last in partitions):
        raise ReleaseError(TWICE)
    if rows is not None and sum(count for _, count, _, _, _ in partitions) != rows:
        raise DataError(CHANGED, code="conflict")
    attempts = np.full(1 + max(row[0] for row in partitions), -1, dtype=np.int64)
    for partition, _, _, attempt, _ in partitions:
        attempts[partition] = attempt
    return attempts


def _only(kept: Any, columns: Sequence[str], attempts: Ints) -> Any:
    """Read the reports of these attempts; a report of any other is an error."""
    functions = require("pyspark.sql.functions", extra="spark")
    wanted = functions.get(functions.lit(attempts), functions.col(PARTITION).cast("int"))
    noted = wanted == functions.col(ATTEMPT)
    # Every column compares for itself: Spark reads no column that an action does not ask for.
    return kept.select(
        *(
            functions.when(noted, functions.col(name))
            .otherwise(functions.raise_error(functions.lit(TWICE)))
            .alias(name)
            for name in columns
        )
    )


def _has_folder(frame: Any) -> bool:
    """Return whether the context has a checkpoint folder."""
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
            "which reports could be lost: call sparkContext.setCheckpointDir(folder) first"
        )
    return False


def _drop(kept: Any) -> None:
    """Free what a checkpoint keeps: blocks of executors, or files."""
    plan = kept._jdf.queryExecution().analyzed()  # no public way leads to what it keeps
    rdd = plan.rdd()
    # Without waiting: an executor that is still drawing, or does not answer, must not hold this up.
    rdd.unpersist(False)
    file = rdd.getCheckpointFile()
    if file.isDefined():
        context = kept.sparkSession.sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path(file.get())
        path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)
