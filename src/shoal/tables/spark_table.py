"""Records in a Spark DataFrame: jobs go to where the records are, statistics come back."""

from collections.abc import Sequence
from dataclasses import replace
from math import isqrt
from typing import Any

from shoal._lists import UNEQUAL
from shoal._numbers import BY_SCHEMA, FINITE
from shoal._optional import require
from shoal._typing import Ints
from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.schema import Schema
from shoal.tables._spark_errors import CHANGED, run
from shoal.tables._spark_tasks import PARTIALS, CombineTask, FoldTask, LabelTask, Partial, combine
from shoal.tables.columns import NO_RECORD
from shoal.tables.table import CountRows, ExternalTable, Job, Label

__all__ = ["SparkTable"]


NUMBERS = {"byte", "short", "integer", "long", "float", "double", "boolean"}
MAX_PARTIALS = 32  # that the driver holds at a time


class SparkTable(ExternalTable):
    """A table in a Spark DataFrame.

    Pass it to an estimator as ``X``. Only the chosen columns leave the Java side. A job becomes one
    row for each partition, with the statistic of its records; if there are many partitions, tasks
    combine rows until the driver has to hold a few tens at most. A statistic is a pure function of
    the records, so it does not matter if Spark runs a task twice; if the process of a task dies and
    Spark gives up (in ``local[2]`` it tries once), the whole pass is run again.

    The Python workers need shoal installed. The frame must give the same records, each in the same
    partition, every time it is computed: write it to files first if it involves sampling or random
    numbers. Caching is not enough, since Spark recomputes what a lost executor had cached.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The records; not a streaming DataFrame.
    columns : sequence of str, default=None
        Names of the columns to read, in this order; None takes all. They hold numbers; or a single
        column holds arrays of numbers, all of the same length, and each position becomes a column
        without a name.
    schema : Schema, default=None
        Public description of the columns, in place of `columns`; they may hold text, dates and
        missing values. Its features are read, and records are encoded by the Spark workers.

    Examples
    --------
    A test runs these lines; they need Java.

    >>> from shoal.tables import SparkTable
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> frame = spark.createDataFrame([(1.5, "x", 2), (2.5, "y", 3)], ["a", "name", "b"])
    ... # doctest: +SKIP
    >>> table = SparkTable(frame, columns=["b", "a"])  # doctest: +SKIP
    >>> table.check()  # doctest: +SKIP
    >>> table.rows, table.names  # doctest: +SKIP
    (2, ('b', 'a'))
    """

    def __init__(
        self, frame: Any, *, columns: Sequence[str] | None = None, schema: Schema | None = None
    ) -> None:
        if schema is not None:
            schema.check_complete()
            if columns is not None:
                raise ParameterError(
                    "columns must be left out where a schema names them",
                    parameter="columns",
                    code="unexpected",
                )
            columns = schema.columns
        super().__init__(frame.columns if columns is None else columns, schema)
        self._names = self._reader.names
        lists = _check_columns(frame, self._names, described=schema is not None)
        self._frame = frame
        self._partitions = 0
        # Under names that Spark reads as they are.
        fields = tuple(f"c{index}" for index in range(len(self._names)))
        width = self._first_width() if lists else None
        self._tasks_reader = replace(self._reader, names=fields, width=width)
        self._reader = replace(self._reader, width=width)

    def with_schema(self, schema: Schema) -> "SparkTable":
        """Return a table of the same frame with another schema.

        Parameters
        ----------
        schema : Schema
            Public description of the columns to read.

        Returns
        -------
        table : SparkTable
            A new table, which has not been checked yet.
        """
        return SparkTable(self._frame, schema=schema)

    def check(self) -> None:
        """Check that every record can be read and is finite.

        Raises
        ------
        DataError
            If Spark cannot read the whole frame, the frame draws random numbers, a value is
            missing, infinite or NaN, or there are no records.
        """
        self._refuse_random()
        # Counts are small, so those of any number of partitions may come to the driver.
        partials = self._partials(CountRows(), levels=())
        found = combine(CountRows(), partials)
        if found is None:
            raise DataError(NO_RECORD, code="empty")
        if found.error:
            raise DataError(found.error)
        self._rows, self._partitions = found.rows, len(partials)

    def fold(self, job: Job) -> tuple[Ints, ...]:
        """Run a job on all records; they are checked first if they have not been.

        Parameters
        ----------
        job : Job
            The statistic to compute; it is sent to the workers.

        Returns
        -------
        result : tuple of ndarray of int64
            The statistic, the same for any number of partitions and of repeated tasks.

        Raises
        ------
        DataError
            If the frame cannot be read, or its records have changed since they were checked.
        """
        if self._rows is None:
            self.check()
        found = combine(job, self._partials(job, _levels(self._partitions)))
        if found is not None and found.error:
            raise DataError(found.error)
        if found is None or found.rows != self._rows:
            raise DataError(CHANGED, code="conflict")
        return found.result

    def collect(self, label: Label) -> Any:
        """Return the frame with a number for each record; as private as the records.

        Parameters
        ----------
        label : callable
            Takes a block of records and returns a number for each of them.

        Returns
        -------
        labeled : pyspark.sql.DataFrame
            The frame with one more column, "cluster" if that name is not taken, computed lazily.
            For the curator only.
        """
        functions = require("pyspark.sql.functions", extra="spark")
        task = LabelTask(label, self._tasks_reader)
        # Without annotations, which Spark would go by: arrays in, an array out.
        number = functions.arrow_udf(lambda *columns: task.run(*columns), "int")  # noqa: PLW0108
        return self._frame.withColumn(
            _free_name("cluster", self._frame.columns), number(*map(_quoted, self._names))
        )

    def _first_width(self) -> int:
        """Return how many numbers the first array has, by which the others are measured."""
        size = require("pyspark.sql.functions", extra="spark").size
        first = run(lambda: self._frame.select(size(_quoted(self._names[0]))).first())
        if first is None:
            raise DataError(NO_RECORD, code="empty")
        if first[0] is None or first[0] < 0:  # by Spark's settings
            raise DataError(FINITE, code="finite")
        if first[0] == 0:
            raise DataError(UNEQUAL, code="shape")
        return int(first[0])

    def _selected(self) -> Any:
        """Return the columns that are needed, under names that Spark reads as they are."""
        column = require("pyspark.sql.functions", extra="spark").col
        return self._frame.select(
            *(
                column(_quoted(name)).alias(field)
                for name, field in zip(self._names, self._tasks_reader.names, strict=True)
            )
        )

    def _refuse_random(self) -> None:
        """Refuse a frame of which a task that is run again would be given other records."""
        selected = run(self._selected)
        if not run(lambda: selected._jdf.queryExecution().optimizedPlan().deterministic()):
            raise DataError(
                "X must give the same records each time it is computed, got a frame that draws "
                "random numbers: write it to files first"
            )

    def _partials(self, job: Job, levels: Sequence[int]) -> list[Partial]:
        """Return the statistics of partitions, put together at each level into so many."""

        def action() -> list[Partial]:
            found = self._selected().mapInArrow(FoldTask(job, self._tasks_reader).run, PARTIALS)
            for tasks in levels:
                found = found.repartition(tasks).mapInArrow(CombineTask(job).run, PARTIALS)
            return [Partial.read(*row) for row in found.collect()]

        return run(action)


def _check_columns(frame: Any, names: Sequence[str], *, described: bool) -> bool:
    """Check that a frame has columns of numbers, once each, or one of arrays; say whether those.

    Columns that a schema describes may hold anything.
    """
    if frame.isStreaming:
        raise DataTypeError("X must be a frame of records at rest, got a stream: write it to files")
    fields = frame.schema.fields
    for name in names:
        kinds = [field.dataType for field in fields if field.name == name]
        if len(kinds) != 1:
            how = "no such column" if not kinds else "several"
            raise DataError(
                f"the frame must have one column {name!r}, got {how}: choose columns",
                code="duplicate",
            )
        if described or kinds[0].typeName() in NUMBERS:
            continue
        lists = kinds[0].typeName() == "array" and kinds[0].elementType.typeName() in NUMBERS
        if lists and len(names) == 1:
            return True
        way = f"choose columns without it, or {'it alone' if lists else BY_SCHEMA}"
        raise DataTypeError(
            f"column {name!r} must hold numbers, got {kinds[0].typeName()} in the frame: {way}"
        )
    return False


def _levels(partitions: int) -> list[int]:
    """Return how many tasks put partial statistics together, level by level."""
    levels = []
    while partitions > MAX_PARTIALS:
        partitions = isqrt(partitions - 1) + 1
        levels.append(partitions)
    return levels


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _free_name(wanted: str, taken: Sequence[str]) -> str:
    """Return a name for a new column that no other has, in capitals or not."""
    lower = {name.lower() for name in taken}
    free, number = wanted, 1
    while free in lower:
        number += 1
        free = f"{wanted}_{number}"
    return free
