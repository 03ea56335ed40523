"""The records of an experiment in a CSV file that survives ``kill -9``.

The first line names the experiment by its fingerprint, the second the columns; then come the
records (``pandas.read_csv(path, skiprows=1)`` reads them). The first two columns are the store's
own: the trial's key, and how many records of it are ``left`` below this one. A trial is there when
the line with 0 left is there, newline included. All lines of a trial are written at once and
synced, so what follows the last whole trial was torn off by a crash: opening the store cuts it
away.

Values come back as they went in, types included: text is always quoted, and nothing else is. An
unquoted field is a number, True, False, or, empty, None.
"""

import contextlib
import errno
import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from reprlib import repr as short
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from shoal._file_locks import lock_file, unlock_file
from shoal._files import BINARY
from shoal.exceptions import ParameterError
from shoal.experiments.spec import ExperimentSpec

__all__ = ["Record", "RecordStore", "Value", "check_record"]

MAGIC = b"# shoal records 2 "
OWN = ("trial", "left")

Value = str | bool | int | float | None
#: One measured record: a value for each column name.
Record = dict[str, Value]

FIELD = re.compile(r'"((?:[^"]|"")*)"|([^",]*)')
WORDS: dict[str, Value] = {"": None, "True": True, "False": False}
WHOLE = re.compile(r"-?[0-9]+")


class RecordStore:
    """CSV file of an experiment's records, written trial by trial, by one process at a time.

    Parameters
    ----------
    path : path-like
        A new file, or the file of the same experiment.
    spec : ExperimentSpec
        The experiment.
    inputs : str, default=""
        Anything else that the records depend on, for instance the SHA-256 of your data file.

    Raises
    ------
    ParameterError
        If the file cannot be used, is something else, belongs to another experiment, is open in
        another process, or is damaged. It is then not changed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> spec = ExperimentSpec(
    ...     name="small", datasets=("heart",), mechanisms=("Laplace",), epsilons=(1.0, 2.0)
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with RecordStore(Path(folder) / "records.csv", spec) as store:
    ...         store.append(spec.trials()[1].key, [{"ami": 0.5}])
    ...     with RecordStore(Path(folder) / "records.csv", spec) as store:
    ...         store.records()
    [{'ami': 0.5}]
    """

    def __init__(
        self, path: str | os.PathLike[str], spec: ExperimentSpec, *, inputs: str = ""
    ) -> None:
        self.path = Path(path)
        self.spec = spec
        self._order = {trial.key: index for index, trial in enumerate(spec.trials())}
        self._trials: dict[str, list[Record]] = {}
        self._columns: list[str] | None = None
        digest = hashlib.sha256(f"{spec.fingerprint} {inputs}".encode()).hexdigest()
        self._claim = MAGIC + f"{digest}\n".encode()
        self._process = os.getpid()
        self._descriptor = self._open()
        try:
            self._end = self._start()
        except BaseException as failure:
            self.close()
            if isinstance(failure, OSError):
                raise self._refused(failure) from None
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the file to other processes; the records read so far stay available."""
        if self._descriptor >= 0:
            if os.getpid() == self._process:  # the lock is not a forked child's to release
                with contextlib.suppress(OSError):  # closing releases it too
                    unlock_file(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def done(self) -> frozenset[str]:
        """Keys of the trials in the file."""
        return frozenset(self._trials)

    def records(self) -> list[Record]:
        """Return all records in the order of the experiment's trials.

        Returns
        -------
        records : list of dict
            Each record as a dict by column.
        """
        keys = sorted(self._trials, key=self._order.__getitem__)
        return [dict(record) for key in keys for record in self._trials[key]]

    def table(self) -> dict[str, list[Value]]:
        """Return all records as columns, in the order of the experiment's trials.

        Returns
        -------
        table : dict of str to list
            A tidy table: one row for each record.
        """
        records = self.records()
        return {column: [record[column] for record in records] for column in self._columns or []}

    def append(self, key: str, records: Iterable[Mapping[str, Any]]) -> None:
        """Add the records of a trial; when this returns, all of them are on disk.

        Parameters
        ----------
        key : str
            Key of a trial that is not in the file yet.
        records : iterable of mapping
            At least one record, all with the same columns; values are text, numbers, bools or None.

        Raises
        ------
        ParameterError
            If they cannot be stored; the file is then unchanged.
        """
        if key not in self._order or key in self._trials:
            why = "one that is there already" if key in self._trials else "another"
            raise ParameterError(f"key must be of a trial that is not done, got {why}: {key!r}")
        if self._descriptor < 0:
            raise ParameterError(f"{self.path} must be open to be written to, and it was closed")
        checked = [check_record(record) for record in records]
        if not checked:
            raise ParameterError(f"records must be at least one, got none for {key!r}")
        columns = self._columns if self._columns is not None else list(checked[0])
        for record in checked:
            if set(record) != set(columns) or set(OWN) & set(columns):
                raise ParameterError(
                    f"columns of records must be the same everywhere, without trial and left: "
                    f"{', '.join(columns)}; got {', '.join(record)} in {key!r}"
                )
        lines = [write_line([*OWN, *columns])] if self._columns is None else []
        for left, record in zip(reversed(range(len(checked))), checked, strict=True):
            lines.append(write_line([key, left, *(record[column] for column in columns)]))
        self._write("".join(lines).encode())
        self._columns = columns
        self._trials[key] = [{column: record[column] for column in columns} for record in checked]

    def _open(self) -> int:
        descriptor = -1
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY
            descriptor = os.open(self.path, flags, 0o666)
            lock_file(descriptor, exclusive=True, blocking=False)
        except OSError as failure:
            if descriptor >= 0:
                os.close(descriptor)
            if isinstance(failure, BlockingIOError):
                raise ParameterError(
                    f"{self.path} must be used by one process at a time, and another has it open"
                ) from None
            raise self._refused(failure) from None
        return descriptor

    def _start(self) -> int:
        """Read what is there, claim a new file, cut off a torn tail; return where it ends."""
        content = self.path.read_bytes()
        head, newline, body = content.partition(b"\n")
        if not (content.startswith(MAGIC) or MAGIC.startswith(content)):
            raise ParameterError(f"{self.path} must be a store of records, and is something else")
        if newline and head + newline != self._claim:
            raise ParameterError(
                f"{self.path} must be new or of the same experiment (spec, inputs, version), and "
                "is of another: choose another file, or delete it"
            )
        if not newline:
            # Its first line was torn, or never written.
            os.ftruncate(self._descriptor, 0)
            self._end = 0
            self._write(self._claim)
            return self._end
        end = len(self._claim) + self._read(body)
        if end < len(content):
            os.ftruncate(self._descriptor, end)
            os.fsync(self._descriptor)
        return end

    def _read(self, body: bytes) -> int:
        """Keep the whole trials; return the number of bytes up to the end of the last one."""
        lines = body.split(b"\n")[:-1]  # what follows the last newline is torn
        if not lines:
            return 0
        header, *lines = lines
        columns = self._parsed_header(header)
        position, end = len(header) + 1, 0
        waiting: list[_Row] = []
        for line in lines:
            position += len(line) + 1
            row = _parsed_row(line, columns)
            # A crash leaves a piece of the last write: its lines are whole but for the last one.
            if row is None or not self._follows(row, waiting):
                raise self._damaged()
            waiting.append(row)
            if row.left == 0:
                self._trials[row.key] = [whole.record for whole in waiting]
                self._columns = columns
                waiting, end = [], position
        return end

    def _parsed_header(self, line: bytes) -> list[str]:
        try:
            columns = [str(column) for column in parse_line(line.decode())]
        except ValueError:
            raise self._damaged() from None
        if tuple(columns[: len(OWN)]) != OWN:
            raise self._damaged()
        return columns[len(OWN) :]

    def _follows(self, row: "_Row", waiting: "list[_Row]") -> bool:
        """Return whether a line is the next of a trial that is not there yet."""
        if waiting:
            return (row.key, row.left + 1) == (waiting[-1].key, waiting[-1].left)
        return row.key in self._order and row.key not in self._trials

    def _write(self, data: bytes) -> None:
        try:
            if os.write(self._descriptor, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._descriptor)
        except BaseException as failure:
            # If this fails too, the next one who opens the store finds a torn or a whole trial.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
                os.fsync(self._descriptor)
            if isinstance(failure, OSError):
                raise self._refused(failure) from None
            raise
        self._end += len(data)

    def _damaged(self) -> ParameterError:
        return ParameterError(
            f"{self.path} must hold whole trials, and is damaged: restore it from a copy, or "
            "delete it"
        )

    def _refused(self, failure: OSError) -> ParameterError:
        return ParameterError(
            f"records must go to a file that can be written, got {str(self.path)!r}: "
            f"{failure.strerror}"
        )


class _Row(NamedTuple):
    key: str
    left: int
    record: Record


def _parsed_row(line: bytes, columns: list[str]) -> _Row | None:
    try:
        key, left, *values = parse_line(line.decode())
        record = dict(zip(columns, values, strict=True))
    except ValueError:
        return None
    if not isinstance(key, str) or type(left) is not int or left < 0:
        return None
    return _Row(key, left, record)


def check_record(record: Any) -> Record:
    """Return a record with plain values, equal to what is read back from its line."""
    if not isinstance(record, Mapping):
        raise ParameterError(f"records must be dicts, got {type(record).__name__}")
    plain: Record = {}
    for column, value in record.items():
        if not isinstance(column, str) or not column or not column.isprintable():
            raise ParameterError(f"columns of records must be named in text, got {short(column)}")
        item = value.item() if isinstance(value, np.generic) else value
        if isinstance(item, str) and not item.isprintable():
            raise ParameterError(f"{column} of a record must be text on one line")
        if item is not None and type(item) not in (str, bool, int, float):
            raise ParameterError(
                f"{column} of a record must be text, a number, a bool or None, got "
                f"{type(item).__name__}"
            )
        plain[column] = item
    return plain


def write_line(values: Iterable[Value]) -> str:
    r"""Write the fields of a line, with its newline.

    >>> write_line(["3", 3, 3.0, None, True, 'a "b" c'])
    '"3",3,3.0,,True,"a ""b"" c"\n'
    """
    return ",".join(map(_field, values)) + "\n"


def parse_line(line: str) -> Sequence[Value]:
    """Read the fields of a line of :func:`write_line`; ValueError if it is another's.

    >>> parse_line('"3",3,3.0,,True,"a ""b"" c"')
    ['3', 3, 3.0, None, True, 'a "b" c']
    """
    values: list[Value] = []
    index = 0
    while True:
        match = FIELD.match(line, index)
        if match is None:
            raise ValueError("not a field")
        text, plain = match.groups()
        values.append(_plain(plain) if text is None else text.replace('""', '"'))
        index = match.end()
        if index == len(line):
            return values
        if line[index] != ",":
            raise ValueError("not a comma")
        index += 1


def _field(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return repr(value)


def _plain(text: str) -> Value:
    if text in WORDS:
        return WORDS[text]
    return int(text) if WHOLE.fullmatch(text) else float(text)
