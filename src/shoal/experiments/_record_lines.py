"""Records as lines of CSV whose values come back as they went in, types included.

Text is always quoted, and nothing else is: an unquoted field is a number, True, False, or, empty,
None. Any reader of CSV takes such lines; this one also tells "3" from 3.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from reprlib import repr as short
from typing import Any

import numpy as np

from shoal.exceptions import ParameterError

__all__ = ["Record", "Value", "check_record", "parse_line", "write_line"]

Value = str | bool | int | float | None
Record = dict[str, Value]

FIELD = re.compile(r'"((?:[^"]|"")*)"|([^",]*)')
WORDS: dict[str, Value] = {"": None, "True": True, "False": False}
WHOLE = re.compile(r"-?[0-9]+")


def check_record(record: Any) -> Record:
    """Return a record with plain values: what is read back from its line.

    Parameters
    ----------
    record : mapping
        Of column names to text, numbers, bools or None; numpy's are converted.

    Returns
    -------
    record : dict
        Equal to the one that comes back.

    Raises
    ------
    ParameterError
        If it holds something else. The message names the column, not the value.
    """
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
    r"""Write the fields of a line.

    Parameters
    ----------
    values : iterable
        Of plain values.

    Returns
    -------
    line : str
        With its newline.

    Examples
    --------
    >>> write_line(["3", 3, 3.0, None, True, 'a "b" c'])
    '"3",3,3.0,,True,"a ""b"" c"\n'
    """
    return ",".join(map(_field, values)) + "\n"


def parse_line(line: str) -> Sequence[Value]:
    """Read the fields of a line.

    Parameters
    ----------
    line : str
        Without its newline.

    Returns
    -------
    values : sequence
        As they were written.

    Raises
    ------
    ValueError
        If the line was not written by :func:`write_line`.

    Examples
    --------
    >>> parse_line('"3",3,3.0,,True,"a ""b"" c"')
    ['3', 3, 3.0, None, True, 'a "b" c']
    """
    values: list[Value] = []
    place = 0
    while True:
        found = FIELD.match(line, place)
        if found is None:
            raise ValueError("not a field")
        text, plain = found.groups()
        values.append(_plain(plain) if text is None else text.replace('""', '"'))
        place = found.end()
        if place == len(line):
            return values
        if line[place] != ",":
            raise ValueError("not a comma")
        place += 1


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
