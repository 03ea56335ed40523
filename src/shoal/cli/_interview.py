"""Questions about the columns of a table, in plain words; the answers make a schema.

No answer is suggested by a value of the table: only names and the curator's own knowledge are used.
"""

import csv
import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import typer

from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.schema import Field

__all__ = ["ask_fields", "ask_header", "ask_names", "date_pattern"]

Answer = TypeVar("Answer")

WHY = (
    "For each column, say what anybody MAY enter, from what you know about the table, not from "
    "looking at it: the lowest age in a table is somebody's age, and what you write here is "
    "published with every release. A value beyond a bound counts as the bound, an unknown category "
    "as 'other'. Enter takes the answer in brackets, ? explains a question."
)
KINDS = {
    "n": "a number",
    "c": "a category",
    "y": "yes or no",
    "d": "a date",
    "o": "an ordered category",
    "t": "free text",
    "u": "whose row it is (user)",
    "i": "nothing of interest: ignore it",
}
# The same, as people type it.
WORDS = {
    "n": ("number", "integer"),
    "c": ("category",),
    "y": ("yes", "no", "yes or no", "flag", "boolean"),
    "d": ("date", "time"),
    "o": ("ordered", "ordinal"),
    "t": ("text",),
    "u": ("user", "id"),
    "i": ("ignore", "nothing"),
}
# What a name makes likely; a suggestion, from the name alone.
HINTS = (
    (r"(user|customer|client|person|patient|member|respondent)s?([ _-]?(id|no|nr|number))?", "u"),
    (r"(.*[ _-])?id|uuid|.*[ _-]uuid|name|e-?mail|phone|address", "i"),
    (r"(.*[ _-])?(date|day|joined|born|birthday|since|time|timestamp)|.*_at|.*_on", "d"),
    (r"(is|has|was|can|does)[ _-].*|member|active|subscribed|consent|smoker", "y"),
    (r"(.*[ _-])?(comment|note|text|description|message|review|feedback|remark|title)s?", "t"),
    (r"(.*[ _-])?(grade|level|rank|rating|satisfaction)", "o"),
    (
        r"(.*[ _-])?(sex|gender|city|country|region|state|type|category|class|workclass|job|race"
        r"|occupation|education|status|marital|relationship|color|brand|plan|channel|segment|kind"
        r"|product|department|cut|clarity|language|nationality)",
        "c",
    ),
)
DATE_LETTERS = {"YYYY": "%Y", "MM": "%m", "DD": "%d", "hh": "%H", "mm": "%M", "ss": "%S"}
LEARN, OPEN = "learn it", "leave open"
HELP = {
    "kind": "A number can be added up. Categories have names and no order; yes or no is one of two."
    " Ordered categories have names with an order, such as low, mid, high. Free text is never"
    " clustered on. 'Whose row it is' makes the promise to people instead of rows.",
    "bound": "The smallest or largest value that the question allows, or that makes sense: an age"
    " lies between 0 and 120 whoever is asked. Narrow bounds give less noise.",
    "categories": "Names by commas; one that holds a comma in double quotes. All else counts as"
    " 'other'.",
    "log": "Of incomes, prices and counts, most are small and a few are very large. With yes,"
    " distances are between logarithms: 100 and 200 are as far apart as 1,000 and 2,000.",
    "unit": "For those who read the release: years, EUR, visits.",
    "missing": "With yes, a missing value counts as a category of its own. With no, a table with"
    " missing values is refused.",
    "weight": "Twice the weight: twice the squared distance between two different values. 0 only"
    " describes clusters by this column, and does not cluster on it.",
    "format": "As you would write the pattern: YYYY-MM-DD, DD.MM.YYYY, MM/DD/YYYY hh:mm.",
    "header": "Yes for names such as age and city; no for somebody's values.",
    "names": "One name for each column of the file, by commas, in its order.",
}


def ask_header(name: str, first: Sequence[str]) -> bool:
    """Show the first line of a file to the curator, and ask whether it holds names."""
    typer.echo(f"First line of {name}, shown to you alone:\n\n    {', '.join(first)}\n")
    return _yes("Does it hold the names of the columns?", "header", default=True)


def ask_names(width: int) -> list[str]:
    """Ask for the names of all columns of a file without a header line."""

    def read(text: str) -> list[str]:
        names = _split(text)
        if len(names) != width or len(set(names)) < len(names):
            raise ValueError(f"{width} different names, by commas")
        return names

    return _ask(f"Names of its {width} columns, by commas?", "names", read)


def ask_fields(names: Sequence[str], *, learn: bool) -> "list[Field]":
    """Ask what each column is; with `learn`, what is left open is learned from the records."""
    from shoal.schema import Field

    _explain(f"\n{WHY}\n")
    _list_kinds(KINDS)
    fields: list[Field] = []
    for number, name in enumerate(names, 1):
        typer.secho(f"\n{number} of {len(names)}: {name}", bold=True)
        taken = any(field.role == "user" for field in fields)
        fields.append(_ask_field(name, _kind(name, taken=taken), learn=learn))
    return fields


def date_pattern(text: str) -> str:
    """Return the pattern of ``strptime`` for one such as DD.MM.YYYY; empty for ISO 8601.

    >>> date_pattern("DD.MM.YYYY"), date_pattern("YYYY-MM-DD")
    ('%d.%m.%Y', '')
    """
    if text in ("YYYY-MM-DD", ""):
        return ""
    if "%" in text:
        return text
    pattern = re.sub("YYYY|MM|DD|hh|mm|ss", lambda found: DATE_LETTERS[found.group()], text)
    if re.search(r"(?<!%)[A-Za-z]", pattern) or "%Y" not in pattern:
        raise ValueError("a pattern of YYYY, MM, DD, hh, mm and ss")
    return pattern


def _kind(name: str, *, taken: bool) -> str:
    lower = name.strip().lower()
    likely = next((kind for pattern, kind in HINTS if re.fullmatch(pattern, lower)), "n")
    offered = {key: words for key, words in KINDS.items() if not (taken and key == "u")}
    likely = likely if likely in offered else "i"

    def read(text: str) -> str:
        word = text.lower()
        named = [key for key in offered if word == key or word in WORDS[key]]
        if not named:
            raise ValueError(f"one of {', '.join(offered)}")
        return named[0]

    shown = f"{likely}: {KINDS[likely]}"
    return _ask(f"What is it? ({', '.join(offered)})", "kind", read, default=likely, shown=shown)


def _ask_field(name: str, kind: str, *, learn: bool) -> "Field":
    from shoal.schema import Category, Date, Field, Flag, Number, Ordinal, Text

    leave = LEARN if learn else OPEN
    if kind in ("u", "i"):
        return Field(name, role="user" if kind == "u" else "ignore")
    if kind == "t":
        return Text(name)
    make: Callable[..., Field] = Flag
    kwargs: dict[str, Any] = {}
    if kind == "n":
        make, kwargs = Number, _number(name, leave)
    elif kind == "d":
        make, kwargs = Date, _date(name, leave)
    elif kind in ("c", "o"):
        make = Category if kind == "c" else Ordinal
        order = " from the lowest to the highest" if kind == "o" else ""
        question = f"Its categories{order}, by commas?"
        empty = leave if kind == "c" else OPEN
        kwargs["categories"] = _ask(question, "categories", _categories, default=(), shown=empty)
    if not _yes("May it be missing?", "missing", default=True):
        kwargs["missing"] = "refuse"
    weight = _ask(
        "How much it counts beside the others (0: only to describe)?",
        "weight",
        _weight,
        default=1.0,
        shown="1",
    )
    kwargs |= {"weight": weight} if weight else {"role": "describe"}
    return make(name, **kwargs)


def _number(name: str, leave: str) -> dict[str, Any]:
    # Where bounds are learned, Enter leaves both to that.
    usual, shown = (None, leave) if leave == LEARN else (0.0, "0")
    low = _ask(f"The lowest {name} anybody may enter?", "bound", _real, default=usual, shown=shown)
    high = _ask(
        f"The highest {name} anybody may enter?",
        "bound",
        lambda text: _above(_real(text), low),
        default=None,
        shown=leave,
    )
    unit = _ask("Its unit, such as years?", "unit", str, default="", shown="none")
    heavy = _yes("Are a few far larger than most, as incomes are?", "log", default=False)
    return {"minimum": low, "maximum": high, "unit": unit, "scale": "log" if heavy else "linear"}


def _date(name: str, leave: str) -> dict[str, Any]:
    pattern = _ask("How is it written?", "format", date_pattern, default="", shown="YYYY-MM-DD")
    low = _ask(
        f"The earliest {name} anybody may enter, as YYYY-MM-DD?",
        "bound",
        _day,
        default=None,
        shown=leave,
    )
    high = _ask(
        f"The latest {name} anybody may enter, as YYYY-MM-DD?",
        "bound",
        lambda text: _above(_day(text), low),
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
                "the answers ended before the last question: nothing was written"
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


def _real(text: str) -> float:
    try:
        number = float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        raise ValueError("a number, such as 120") from None
    if number - number != 0:  # infinite or nan
        raise ValueError("a finite number")
    return number


def _above(value: Any, low: Any) -> Any:
    if low is not None and not low < value:
        raise ValueError(f"above {low:g}" if isinstance(low, float) else f"after {low}")
    return value


def _day(text: str) -> str:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError("a date such as 2026-12-31") from None


def _weight(text: str) -> float:
    weight = _real(text)
    if weight < 0:
        raise ValueError("0 or more")
    return weight


def _categories(text: str) -> tuple[str, ...]:
    names = _split(text)
    if len(set(names)) < len(names):
        raise ValueError("different names")
    return tuple(names)


def _split(text: str) -> list[str]:
    try:
        (row,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise ValueError("names by commas") from None
    return [name.strip() for name in row if name.strip()]
