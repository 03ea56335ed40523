"""Plain values to TOML and back: text, numbers, lists, and tables one level deep."""

import contextlib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.exceptions import ParameterError

__all__ = ["read_toml", "toml_text", "write_toml"]


def toml_text(content: Mapping[str, Any]) -> str:
    """Write values as TOML; lists of mappings come last, as tables.

    Parameters
    ----------
    content : mapping
        Keys are plain words. Values are strings, bools, numbers, sequences of these, or lists of
        mappings to them.

    Returns
    -------
    text : str
        A TOML document.

    Examples
    --------
    >>> print(toml_text({"kinds": [{"name": "a"}], "name": "x", "sizes": (1, 2.0)}), end="")
    name = "x"
    sizes = [1, 2.0]
    <BLANKLINE>
    [[kinds]]
    name = "a"
    """
    # A key below a table's heading belongs to that table.
    plain = {key: value for key, value in content.items() if not _is_tables(value)}
    lines = [f"{key} = {_value(value)}" for key, value in plain.items()]
    for key, tables in content.items():
        if key not in plain:
            for table in tables:
                lines += ["", f"[[{key}]]"]
                lines += [f"{word} = {_value(value)}" for word, value in table.items()]
    return "\n".join(lines) + "\n"


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    content : dict
        As :mod:`tomllib` gives it.

    Raises
    ------
    ParameterError
        If it cannot be read, or is something else.
    """
    name = os.fspath(path)
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(
            f"the spec must be a file that can be read, got {name!r}: {error.strerror}"
        ) from None
    except UnicodeDecodeError:
        raise ParameterError(f"the spec must be text in UTF-8, got {name!r}") from None
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"the spec must be TOML, got {name!r}: {error}") from None


def write_toml(path: str | os.PathLike[str], text: str) -> None:
    """Write a file, whole or not at all.

    Parameters
    ----------
    path : path-like
        Where to.
    text : str
        What.

    Raises
    ------
    ParameterError
        If it cannot be written.
    """
    whole = Path(path)
    part = whole.with_name(f"{whole.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(whole)
    except OSError as error:
        raise ParameterError(
            f"the spec must go to a file that can be written, got {os.fspath(path)!r}: "
            f"{error.strerror}"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for one character that TOML escapes and JSON does not.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(item) for item in value)}]"
    return repr(value)
