"""Records in files: read anew by every job, some at a time, on all cores."""

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal._lists import arrow_width
from shoal._typing import Ints, Labels
from shoal.exceptions import DataError, ParameterError
from shoal.schema import Schema
from shoal.tables._arrow_pieces import BATCH_VALUES, Piece, file_states, open_dataset, pieces_of
from shoal.tables._staged_files import StagedFiles, stage_files
from shoal.tables.columns import CHANGED, NO_RECORD
from shoal.tables.table import Block, CountRows, ExternalTable, Job, Label, Start, usable_threads

__all__ = ["ArrowTable"]


HELD = 2**28  # bytes of records that an estimator may keep


class ArrowTable(ExternalTable):
    r"""A table in Parquet, Feather or CSV files, or in an Arrow dataset.

    Pass it to an estimator as ``X``. Only the chosen columns are read. Each thread reads a piece of
    a file and processes it at once, so memory use does not grow with the number of records.

    Parameters
    ----------
    source : path-like or pyarrow.dataset.Dataset
        A file, a folder of files of one format, or a dataset.
    columns : sequence of str, default=None
        Names of the columns to read, in this order. They hold numbers; or a single column holds
        lists of numbers, all of the same length, and each position becomes a column without a
        name. Required for a path unless there is a schema: names are published with a release, and
        what stands in the header of a file may be a value of a record. None takes all columns of
        a dataset, whose names you can check as those of a data frame.
    names : sequence of str, default=None
        Names of all columns, in order, for CSV files without a header line; `columns` chooses
        among them.
    schema : Schema, default=None
        Public description of the columns, in place of `columns`; they may hold text, dates and
        missing values. Its features are read, and each record is encoded as it is read.
    memory : int, default=2**28
        Number of bytes. If an estimator needs several passes, it keeps the records in memory, at
        four bytes a value, if they fit into this; else, or with 0, each pass reads the files again.
    threads : int, default=None
        Largest number of threads; None takes as many as the process may use.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> for index in range(3):
    ...     file = Path(folder.name) / f"part-{index}.csv"
    ...     _ = file.write_text(f"height,weight,name\n1.{index},{index},x\n")
    >>> table = ArrowTable(folder.name, columns=["weight", "height"])
    >>> table.check()
    >>> table.rows, table.names
    (3, ('weight', 'height'))
    >>> folder.cleanup()
    """

    def __init__(
        self,
        source: "str | os.PathLike[str] | Any",
        *,
        columns: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        schema: Schema | None = None,
        memory: int = HELD,
        threads: int | None = None,
    ) -> None:
        self._path = Path(source) if isinstance(source, str | os.PathLike) else None
        if schema is not None:
            schema.check_complete()
            if columns is not None:
                raise ParameterError(
                    "columns must be left out where a schema names them",
                    parameter="columns",
                    code="unexpected",
                )
            columns = schema.columns
        chosen = names if columns is None else columns
        if self._path is not None and chosen is None:
            raise ParameterError(
                "columns must be given for records in files, got a path alone, and a name in a "
                "file may be a value of a record",
                parameter="columns",
                code="missing",
                in_python="pass ArrowTable(path, columns=[...])",
            )
        self._header = names
        self._files = None if self._path is None else file_states(self._path)
        self._dataset = open_dataset(source, names, schema)
        super().__init__(self._dataset.schema.names if chosen is None else chosen, schema)
        self._source = "the dataset" if self._path is None else repr(str(self._path))
        lists = self._reader.check(self._dataset.schema, self._source)
        self._threads = threads or usable_threads()
        self._memory = memory
        self._pieces: tuple[Piece, ...] | None = None
        if lists:
            self._reader = replace(self._reader, width=self._first_width())

    @property
    def path(self) -> Path | None:
        """Path of the file or folder; None for a dataset."""
        return self._path

    def with_schema(self, schema: Schema) -> "ArrowTable":
        """Return a table of the same files with another schema.

        Parameters
        ----------
        schema : Schema
            Public description of the columns to read.

        Returns
        -------
        table : ArrowTable
            A new table, which has not been checked yet.
        """
        return ArrowTable(
            self._dataset if self._path is None else self._path,
            names=self._header,
            schema=schema,
            memory=self._memory,
            threads=self._threads,
        )

    @property
    def fits_in_memory(self) -> bool:
        """Return whether the records fit into ``memory``; known once they are counted."""
        return self._rows is not None and 4 * self._rows * self.columns <= self._memory

    def check(self) -> None:
        """Check that every record can be read and is finite.

        Raises
        ------
        DataError
            If a file is damaged, a column is missing or has another type in one of the files, a
            value is missing, infinite or NaN, or there are no records.
        """
        for piece in self._parts():
            self._reader.check(piece.schema(), piece.name)
        self._rows = None
        (rows,) = self.fold(CountRows())
        if not rows[0]:
            raise DataError(NO_RECORD, code="empty")
        self._rows = int(rows[0])

    def fold(self, job: Job) -> tuple[Ints, ...]:
        """Run a job on all records.

        Parameters
        ----------
        job : Job
            The statistic to compute.

        Returns
        -------
        result : tuple of ndarray of int64
            The statistic, the same for any number of threads, files and row groups.

        Raises
        ------
        DataError
            If the files cannot be read, or have changed since they were checked.
        """

        def work(pieces: Iterator[tuple[int, Iterator[Block]]]) -> tuple[int, tuple[Ints, ...]]:
            fold, rows = job.start(), 0
            for _, blocks in pieces:
                for block in blocks:
                    rows += len(block[0])
                    fold.add(block)
            return rows, fold.result()

        found = self.on_threads(work, look=not job.looks)
        if self._rows is not None and sum(rows for rows, _ in found) != self._rows:
            raise DataError(CHANGED, code="conflict")
        return job.combine([result for _, result in found])

    def collect(self, label: Label) -> Labels:
        """Return an integer for each record, in the order of the files; as private as the records.

        Parameters
        ----------
        label : callable
            Takes a block of records and returns an integer for each of them.

        Returns
        -------
        labels : ndarray of int32, shape (n,)
            One number for each record, for the curator only.
        """
        parts: dict[int, list[Labels]] = {}

        def work(pieces: Iterator[tuple[int, Iterator[Block]]]) -> None:
            for index, blocks in pieces:
                parts[index] = [label(block) for block in blocks]

        self.on_threads(work)
        ordered = [part for index in sorted(parts) for part in parts[index]]
        return np.concatenate([np.empty(0, dtype=np.int32), *ordered])

    def stage(
        self,
        start: Start,
        out: "str | os.PathLike[str]",
        *,
        names: Sequence[str] | None = None,
    ) -> StagedFiles:
        """Draw a report of every record, and keep the reports hidden until the ledger is charged.

        Parameters
        ----------
        start : Start
            Takes the index of a partition and returns a function that draws the reports of its
            blocks.
        out : path-like
            Folder for the Parquet files; it must be empty or not exist yet.
        names : sequence of str, default=None
            Names of the columns of a report; None takes those of the records.

        Returns
        -------
        staged : StagedFiles
            ``publish`` moves all files to the folder at once; ``discard`` deletes them.

        Raises
        ------
        ParameterError
            If the folder is not empty; nothing has been read then.
        DataError
            If the files cannot be read or hold a value that is not finite; no file is left behind.
        ReleaseError
            If the reports cannot be written; no file is left behind.
        """
        self._refuse_lists()
        return stage_files(
            self._parts(), self._reader, start, out, threads=self._threads, names=names
        )

    def on_threads(
        self, work: Callable[[Iterator[tuple[int, Iterator[Block]]]], Any], *, look: bool = True
    ) -> list[Any]:
        """Run a function in several threads, which share the pieces of the files.

        Parameters
        ----------
        work : callable
            Runs once in each thread. Its argument is an iterator over the pieces that are left:
            the index of a piece, and an iterator over its blocks, in order.
        look : bool, default=True
            Whether blocks are checked for NaN and inf first.

        Returns
        -------
        results : list
            The results of ``work``, one for each thread.
        """
        waiting = enumerate(self._parts())
        lock, stop = threading.Lock(), threading.Event()

        def handed_out() -> Iterator[tuple[int, Iterator[Block]]]:
            while not stop.is_set():
                with lock:
                    index, piece = next(waiting, (-1, None))
                if piece is None:
                    return
                with closing(self._blocks(piece, stop, look)) as blocks:
                    yield index, blocks

        def guarded() -> Any:
            try:
                return work(handed_out())
            except BaseException:
                stop.set()  # the others need not go on
                raise

        threads = max(1, min(self._threads, len(self._parts())))
        with ThreadPoolExecutor(threads) as pool:
            running = [pool.submit(guarded) for _ in range(threads)]
            try:
                return [one.result() for one in running]
            finally:
                stop.set()

    def _blocks(
        self, piece: Piece, stop: threading.Event, look: bool
    ) -> Generator[Block, None, None]:
        names = self._reader.names
        for batch in piece.batches(names, width=-(-self.columns // len(names))):
            if stop.is_set():
                return
            yield self._reader.read(batch, look=look)

    def _first_width(self) -> int:
        """Return how many numbers the first list has, by which the others are measured."""
        for piece in self._parts():
            self._reader.check(piece.schema(), piece.name)
            with closing(piece.batches(self._reader.names, width=BATCH_VALUES)) as batches:
                for batch in batches:
                    if batch.num_rows:
                        return arrow_width(batch.column(0))
        raise DataError(NO_RECORD, code="empty")

    def _parts(self) -> tuple[Piece, ...]:
        """Cut the files as they are now: those of an earlier pass may have grown since."""
        if self._path is not None and (files := file_states(self._path)) != self._files:
            opened = open_dataset(self._path, self._header, self._reader.schema)
            self._dataset, self._pieces = opened, None
            self._files = files
        if self._pieces is None:
            numbered = self._path is None or self._path.is_dir()
            self._pieces = pieces_of(self._dataset, self._source, numbered=numbered)
        return self._pieces
