"""Files in pieces that can be read on their own: row groups of Parquet, whole files otherwise."""

import contextlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal._numbers import raise_alone
from shoal._optional import require
from shoal.exceptions import DataError, ParameterError
from shoal.schema import Schema
from shoal.tables._csv import arrow_csv
from shoal.tables.columns import locate_columns

__all__ = ["BATCH_VALUES", "Piece", "file_states", "open_dataset", "pieces_of", "readable"]

# Of four columns 8 MiB, which stay in cache while they are worked on; fewer rows would have threads
# wait for each other's short calls.
BATCH_ROWS = 1 << 18
BATCH_VALUES = 1 << 21
LEDGERS = (".ledger", ".ledger.head")
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".csv": "csv",
}


NOT_UTF_8 = "its text or the names of its columns are not UTF-8"


@dataclass(frozen=True)
class Piece:
    """Some of the records of one file.

    Parameters
    ----------
    name : str
        The file, for messages: not its own name where only that of a folder was given.
    fragment : pyarrow.dataset.Fragment
        Where to read.
    group : int or None
        Row group of a Parquet file; None reads all of it.
    """

    name: str
    fragment: Any
    group: int | None = None

    def schema(self) -> Any:
        """Return the columns and types of the file itself."""
        with readable(self.name):
            found = self.fragment.physical_schema
            found.names  # noqa: B018 - a name that is not UTF-8 fails here, not where it is used
            return found

    def batches(self, names: Sequence[str], *, width: int = 1) -> Generator[Any, None, None]:
        """Yield the next records in order, the columns under the names that were given.

        Each value is of so many numbers: the lists of a column of lists.
        """
        found = self.schema().names
        fields = [found[index] for index in locate_columns(found, names, self.name)]
        arrow = require("pyarrow", extra="arrow")
        for batch in self._read(fields, width):
            columns = [batch.column(field) for field in fields]
            yield arrow.RecordBatch.from_arrays(columns, names=list(names))

    def _read(self, fields: list[str], width: int) -> Iterator[Any]:
        rows = max(1, min(BATCH_ROWS, BATCH_VALUES // (len(fields) * width)))
        with readable(self.name):
            if self.group is None:
                yield from self.fragment.to_batches(columns=fields, batch_size=rows)
                return
            parquet = require("pyarrow.parquet", extra="arrow")
            # Page by page: a row group of any size takes no more memory than its batches.
            with (
                self.fragment.open() as file,
                parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False) as opened,
            ):
                yield from opened.iter_batches(
                    rows, row_groups=[self.group], columns=fields, use_threads=False
                )


def open_dataset(
    source: Any, names: Sequence[str] | None = None, schema: Schema | None = None
) -> Any:
    """Open files of one kind as one dataset, of which only names and types are read."""
    datasets = require("pyarrow.dataset", extra="arrow")
    ours = isinstance(source, datasets.Dataset)
    form = "dataset" if ours else _format(Path(source))
    if names is not None and form != "csv":
        raise ParameterError(
            f"files without a header line must be CSV files, got a {form}, whose schema has names"
        )
    if ours:
        return source
    path = Path(source)
    with readable(repr(str(path))):
        if form == "csv":
            opened = datasets.dataset(_given(path), format=arrow_csv(path, names, schema))
        else:
            opened = datasets.dataset(_given(path), format=form, exclude_invalid_files=False)
        states = [Path(file).stat() for file in opened.files]
    if len({(state.st_dev, state.st_ino) for state in states}) < len(states):
        # Each of its records would count twice, or be reported twice, and be paid for once.
        raise _unreadable(repr(str(path)), "it holds a link to a file that is read already")
    return opened


def file_states(path: Path) -> frozenset[tuple[Path, int, int]]:
    """Return the sizes and times of the files, so that a change of them shows."""
    with readable(repr(str(path))):
        states = [(file, file.stat()) for file in _files(path)]
    return frozenset((file, state.st_size, state.st_mtime_ns) for file, state in states)


def pieces_of(dataset: Any, name: str, *, numbered: bool) -> tuple[Piece, ...]:
    """Split a dataset into pieces, in the order of its records.

    Messages call it `name`, with the number of a file where they are `numbered`: the names of the
    files, which may be those of people, were not given.
    """
    datasets = require("pyarrow.dataset", extra="arrow")
    pieces: list[Piece] = []
    for number, fragment in enumerate(dataset.get_fragments(), start=1):
        file = f"file {number} of {name}" if numbered else name
        whole = not isinstance(fragment, datasets.ParquetFileFragment)
        with readable(file):
            groups = [None] if whole else [group.id for group in fragment.row_groups]
        pieces.extend(Piece(file, fragment, group) for group in groups)
    return tuple(pieces)


@contextlib.contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn errors of pyarrow and of the system into one line without a value of a record."""
    arrow = require("pyarrow", extra="arrow")
    try:
        yield
    except OSError as error:
        why = error.strerror if error.errno and error.strerror else "it is damaged or cut short"
        raise_alone(_unreadable(name, why))
    except UnicodeDecodeError:
        raise_alone(_unreadable(name, NOT_UTF_8))
    except arrow.ArrowException as error:
        why, text = "it is damaged, its columns change, or two have one name", str(error)
        if "invalid UTF8" in text:
            why = NOT_UTF_8
        elif "CSV conversion error" in text:  # the value is left out
            why = "a column must hold numbers, got text after its first lines"
        raise_alone(_unreadable(name, why))


def _format(path: Path) -> str:
    if not path.exists():
        raise _unreadable(repr(str(path)), "no such file or folder")
    found = {FORMATS.get(_ending(file), "") for file in _files(path)}
    if len(found) != 1 or "" in found:
        raise _unreadable(
            repr(str(path)),
            "files of one kind are needed, that end in .parquet, .feather, .arrow or .csv",
        )
    return found.pop()


def _files(path: Path) -> list[Path]:
    """List a file, or those of a folder."""
    if path.is_file():
        return [path]
    # As pyarrow does, files whose names begin like this are left to those who made them; so are
    # ledgers that the command line keeps beside files of the folder.
    return [
        file
        for file in path.rglob("*")
        if file.is_file()
        and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        and not file.name.endswith(LEDGERS)
    ]


def _given(path: Path) -> Path | list[str]:
    """Return what pyarrow opens: a path, or the files of a folder that holds ledgers as well."""
    if path.is_file() or not any(file.name.endswith(LEDGERS) for file in path.rglob("*")):
        return path
    return sorted(map(str, _files(path)))


def _ending(file: Path) -> str:
    name = file.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _unreadable(name: str, why: str) -> DataError:
    return DataError(
        f"the data must be whole Parquet, Feather or CSV files, got {name}: {why}", code="file"
    )
