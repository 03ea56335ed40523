"""Questions about the columns of a table, in plain words; the answers make a schema.

No answer is suggested by a value of the table: only names and the curator's own knowledge are used.
"""

import shutil
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import typer

from shoal.exceptions import ParameterError
from shoal.schema.questions import (
    HELP,
    HINTS,
    KINDS,
    QUESTIONS,
    SPELLINGS,
    WHY,
    above,
    date_pattern,
    likely_kind,
    make_field,
    parse_categories,
    parse_day,
    parse_number,
    parse_weight,
    split_names,
)

if TYPE_CHECKING:
    from shoal.schema import Field

__all__ = ["HINTS", "KINDS", "ask_fields", "ask_header", "ask_names", "date_pattern"]

Answer = TypeVar("Answer")

HOW = "Press Enter to accept the answer in brackets, or type ? for an explanation."
LEARN, OPEN = "learn it", "leave open"


def ask_header(name: str, first: Sequence[str]) -> bool:
    """Show the first line of a file to the curator, and ask whether it holds names."""
    typer.echo(f"First line of {name}, shown only to you:\n\n    {', '.join(first)}\n")
    return _yes(QUESTIONS["header"], "header", default=True)


def ask_names(width: int) -> list[str]:
    """Ask for the names of all columns of a file without a header line."""

    def read(text: str) -> list[str]:
        names = split_names(text)
        if len(names) != width or len(set(names)) < len(names):
            raise ValueError(f"{width} different names, separated by commas")
        return names

    return _ask(QUESTIONS["names"].format(width=width), "names", read)


def ask_fields(names: Sequence[str], *, learn: bool) -> "list[Field]":
    """Ask what each column is; with `learn`, what is left open is learned from the records."""
    _explain(f"\n{WHY} {HOW}\n")
    _list_kinds(KINDS)
    fields: list[Field] = []
    for number, name in enumerate(names, 1):
        typer.secho(f"\n{number} of {len(names)}: {name}", bold=True)
        taken = any(field.role == "user" for field in fields)
        fields.append(_ask_field(name, _kind(name, taken=taken), learn=learn))
    return fields


def _kind(name: str, *, taken: bool) -> str:
    likely = likely_kind(name, user_known=taken)
    offered = {key: words for key, words in KINDS.items() if not (taken and key == "u")}

    def read(text: str) -> str:
        word = text.lower()
        named = [key for key in offered if word == key or word in SPELLINGS[key]]
        if not named:
            raise ValueError(f"one of {', '.join(offered)}")
        return named[0]

    question, shown = f"{QUESTIONS['kind']} ({', '.join(offered)})", f"{likely}: {KINDS[likely]}"
    return _ask(question, "kind", read, default=likely, shown=shown)


def _ask_field(name: str, kind: str, *, learn: bool) -> "Field":
    leave = LEARN if learn else OPEN
    if kind in ("u", "i", "t"):
        return make_field(name, kind)
    kwargs: dict[str, Any] = {}
    if kind == "n":
        kwargs = _number(name, leave)
    elif kind == "d":
        kwargs = _date(name, leave)
    elif kind in ("c", "o"):
        question = QUESTIONS["categories" if kind == "c" else "ordered"]
        empty = leave if kind == "c" else OPEN
        kwargs["categories"] = _ask(
            question, "categories", parse_categories, default=(), shown=empty
        )
    if not _yes(QUESTIONS["missing"], "missing", default=True):
        kwargs["missing"] = "refuse"
    kwargs["weight"] = _ask(QUESTIONS["weight"], "weight", parse_weight, default=1.0, shown="1")
    return make_field(name, kind, **kwargs)


def _number(name: str, leave: str) -> dict[str, Any]:
    # Where bounds are learned, Enter leaves both to that.
    usual, shown = (None, leave) if leave == LEARN else (0.0, "0")
    low = _ask(
        QUESTIONS["minimum"].format(name=name), "bound", parse_number, default=usual, shown=shown
    )
    high = _ask(
        QUESTIONS["maximum"].format(name=name),
        "bound",
        lambda text: above(parse_number(text), low),
        default=None,
        shown=leave,
    )
    unit = _ask(QUESTIONS["unit"], "unit", str, default="", shown="none")
    heavy = _yes(QUESTIONS["log"], "log", default=False)
    return {"minimum": low, "maximum": high, "unit": unit, "scale": "log" if heavy else "linear"}


def _date(name: str, leave: str) -> dict[str, Any]:
    pattern = _ask(QUESTIONS["format"], "format", date_pattern, default="", shown="YYYY-MM-DD")
    low = _ask(
        QUESTIONS["earliest"].format(name=name), "bound", parse_day, default=None, shown=leave
    )
    high = _ask(
        QUESTIONS["latest"].format(name=name),
        "bound",
        lambda text: above(parse_day(text), low),
        default=None,
        shown=leave,
    )
    return {"minimum": low, "maximum": high, "format": pattern}


def _explain(text: str, indent: str = "") -> None:
    width = min(shutil.get_terminal_size().columns, 100) - 1
    for part in text.split("\n"):
        typer.echo(textwrap.fill(part, width, initial_indent=indent, subsequent_indent=indent))


def _list_kinds(kinds: dict[str, str]) -> None:
    for key, words in kinds.items():
        typer.echo(f"    {key}  {words}")


class _NoDefault(NamedTuple):
    """That a question has no answer of its own."""


NO_DEFAULT = _NoDefault()


def _ask(
    question: str,
    topic: str,
    read: Callable[[str], Answer],
    *,
    default: Any = NO_DEFAULT,
    shown: str | None = None,
) -> Answer:
    """Ask until the answer can be read; Enter takes the default."""
    bracket = "" if default is NO_DEFAULT else f" [{default if shown is None else shown}]"
    while True:
        try:
            text = input(f"  {question}{bracket} ").strip()
        except EOFError:
            raise ParameterError(
                "the input ended before the last question: nothing was written"
            ) from None
        if text == "?":
            _explain(HELP[topic], indent="    ")
            if topic == "kind":
                _list_kinds(KINDS)
        elif not text and default is not NO_DEFAULT:
            answer: Answer = default
            return answer
        else:
            try:
                return read(text)
            except ValueError as wrong:
                typer.echo(f"    It must be {wrong}.")


def _yes(question: str, topic: str, *, default: bool) -> bool:
    def read(text: str) -> bool:
        if text.lower() not in ("y", "yes", "n", "no"):
            raise ValueError("y or n")
        return text.lower().startswith("y")

    return _ask(question, topic, read, default=default, shown="Y/n" if default else "y/N")
