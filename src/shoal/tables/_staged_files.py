"""Reports in Parquet files: written out of sight, then there all at once, or not at all.

Each partition of the records is worked on by one thread, with a source of its own, and becomes one
file. The files lie in a hidden folder that only its owner may enter, beside the place where they
are to be, until one rename puts them there.
"""

import contextlib
import itertools
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from shoal._files import hidden_sibling, rename_folder, sync_folder
from shoal._optional import require
from shoal.exceptions import DataError, ParameterError, ReleaseError
from shoal.tables._arrow_pieces import Piece, readable
from shoal.tables.columns import NO_RECORD, BlockReader
from shoal.tables.table import Start

__all__ = ["StagedFiles", "stage_files"]

PARTITION_ROWS = 1 << 22  # records of a file of reports, about
GROUP_VALUES = 1 << 22  # numbers of a row group, which a thread holds until it is full


class StagedFiles:
    """A folder of reports that nobody has seen yet.

    Parameters
    ----------
    out : Path
        Where they are to be.
    hidden : Path
        The folder that holds them until then, beside it.
    """

    def __init__(self, out: Path, hidden: Path) -> None:
        self._out = out
        self._hidden = hidden
        self.folder = hidden / "reports"

    def publish(self) -> Any:
        """Move the files to their place, in one step."""
        try:
            rename_folder(self.folder, self._out)
        except OSError as failure:
            raise _unwritable(self._out, failure) from None
        self.discard()
        with contextlib.suppress(OSError):  # they are there: only a crash could undo the name
            sync_folder(self._out.parent)
        with readable(str(self._out)):
            return require("pyarrow.dataset", extra="arrow").dataset(self._out, format="parquet")

    def discard(self) -> None:
        """Remove what is still out of sight."""
        shutil.rmtree(self._hidden, ignore_errors=True)


def stage_files(
    pieces: Sequence[Piece],
    reader: BlockReader,
    start: Start,
    out: Any,
    *,
    threads: int,
    names: Sequence[str] | None = None,
) -> StagedFiles:
    """Draw the reports of all records and write them to hidden files; a failure leaves none."""
    target = _free_folder(out)
    partitions = _partitions(pieces, reader)
    staged = StagedFiles(target, hidden_sibling(target))
    try:
        try:
            staged.folder.parent.mkdir(mode=0o700)
            staged.folder.mkdir()
        except OSError as failure:
            raise _taken(target, failure.strerror or "it cannot be made") from None
        columns = reader.block_names if names is None else names
        if not _write_all(staged.folder, partitions, reader, start, names=columns, threads=threads):
            raise DataError(NO_RECORD, code="empty")
        sync_folder(staged.folder)
    except OSError as failure:
        staged.discard()
        raise _unwritable(target, failure) from None
    except BaseException:
        staged.discard()
        raise
    return staged


def _write_all(
    folder: Path,
    partitions: Sequence[Sequence[Piece]],
    reader: BlockReader,
    start: Start,
    *,
    names: Sequence[str],
    threads: int,
) -> int:
    """Write all partitions on several threads; return the number of reports."""
    stop = threading.Event()
    width = max(5, len(str(len(partitions))))  # files sort as the records do

    def work(number: int, pieces: Sequence[Piece]) -> int:
        try:
            file = folder / f"part-{number:0{width}}.parquet"
            return _write(file, _batches(pieces, reader, stop), reader, start(number), names)
        except BaseException:
            stop.set()  # the others need not go on
            raise

    with ThreadPoolExecutor(max(1, min(threads, len(partitions)))) as pool:
        running = [pool.submit(work, *given) for given in enumerate(partitions)]
        try:
            return sum(one.result() for one in running)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)


def _batches(pieces: Sequence[Piece], reader: BlockReader, stop: threading.Event) -> Iterator[Any]:
    for piece in pieces:
        for batch in piece.batches(reader.names):
            if stop.is_set():
                return
            yield batch


def _write(
    file: Path, batches: Iterator[Any], reader: BlockReader, draw: Any, names: Sequence[str]
) -> int:
    """Draw and write one partition, a row group at a time."""
    arrow = require("pyarrow", extra="arrow")
    schema = arrow.schema([(name, arrow.float64()) for name in names])
    rows, waiting = 0, 0
    group: list[Any] = []
    with file.open("xb") as opened:
        with _writer(opened, schema) as writer:
            for batch in batches:
                columns = np.ascontiguousarray(draw(reader.read(batch)).T)
                group.append(arrow.record_batch(list(columns), schema=schema))
                waiting += batch.num_rows
                if waiting * len(names) >= GROUP_VALUES:
                    writer.write_table(arrow.Table.from_batches(group))
                    rows, waiting, group = rows + waiting, 0, []
            if waiting:
                writer.write_table(arrow.Table.from_batches(group))
        opened.flush()
        os.fsync(opened.fileno())
    return rows + waiting


@contextlib.contextmanager
def _writer(opened: Any, schema: Any) -> Iterator[Any]:
    # Reports hardly repeat: a dictionary of them costs more than it saves.
    parquet = require("pyarrow.parquet", extra="arrow")
    writer = parquet.ParquetWriter(opened, schema, use_dictionary=False)
    try:
        yield writer
        writer.close()
    except BaseException:
        # Otherwise it tries to end the file once more when it is dropped, and complains.
        writer.is_open = False
        raise


def _partitions(pieces: Sequence[Piece], reader: BlockReader) -> list[list[Piece]]:
    """Group consecutive pieces, the same way for any number of threads."""
    partitions: list[list[Piece]] = []
    rows = 0
    for _, same in itertools.groupby(pieces, key=lambda piece: id(piece.fragment)):
        of_file = list(same)
        reader.check(of_file[0].schema(), of_file[0].name)
        for piece, more in zip(of_file, _rows(of_file), strict=True):
            if not partitions or rows + more > PARTITION_ROWS:
                partitions.append([])
                rows = 0
            partitions[-1].append(piece)
            rows += more
    return partitions


def _rows(pieces: Sequence[Piece]) -> list[int]:
    """Return the records of each piece of a file; an estimate unless it is Parquet."""
    datasets = require("pyarrow.dataset", extra="arrow")
    fragment = pieces[0].fragment
    with readable(pieces[0].name):
        if isinstance(fragment, datasets.ParquetFileFragment):
            known = {group.id: group.num_rows for group in fragment.row_groups}
            return [known[piece.group] for piece in pieces]
        if not isinstance(fragment, datasets.FileFragment):
            return [fragment.count_rows()]
        size = fragment.filesystem.get_file_info(fragment.path).size or 0
        return [size // (8 * max(1, len(fragment.physical_schema)))]


def _free_folder(out: Any) -> Path:
    """Refuse a place that is taken: nothing is ever replaced."""
    try:
        target = Path(out).resolve()
        holds = target.is_dir() and any(target.iterdir())
        file = target.exists() and not target.is_dir()
        disk = os.path.ismount(target)
    except OSError as failure:
        raise _taken(out, failure.strerror or "it cannot be looked at") from None
    except (RuntimeError, TypeError, ValueError):
        raise _taken(out, "it is no path of a folder") from None
    if holds or file:
        raise _taken(out, "it is a file" if file else "it holds something")
    if disk:  # no rename reaches over to it
        raise _taken(out, "it is a disk of its own, choose a folder in it")
    return target


def _taken(out: Any, why: str) -> ParameterError:
    return ParameterError(
        f"out must be a new folder, or an empty one, got {str(out)!r}: {why}", parameter="out"
    )


def _unwritable(out: Path, failure: OSError) -> ReleaseError:
    why = failure.strerror or "it cannot be written"
    return ReleaseError(f"reports cannot be written to {str(out)!r}: {why}; none is left there")
