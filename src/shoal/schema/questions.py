"""Questions about the columns of a table, in plain words; the answers make a schema.

The command line and the studio ask the same questions. No answer is suggested by a value of the
table: only names and the curator's own knowledge are used.
"""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from shoal.exceptions import ParameterError
from shoal.schema.fields import Category, Field, Flag, Text
from shoal.schema.measures import Date, Number, Ordinal
from shoal.schema.places import Place

__all__ = [
    "ASKED",
    "AS_DESCRIBED",
    "HELP",
    "HINTS",
    "KINDS",
    "QUESTIONS",
    "SPELLINGS",
    "WHY",
    "above",
    "answers_of",
    "date_pattern",
    "field_from_answers",
    "kind_of",
    "likely_kind",
    "make_field",
    "parse_categories",
    "parse_day",
    "parse_number",
    "parse_weight",
    "split_names",
]

WHY = (
    "For each column, say what anyone MAY enter. Answer from what you know about the table, not "
    "by looking at it: the lowest age in a table is someone's age, and what you write here is "
    "published with every release. A value beyond a bound counts as the bound; an unknown "
    "category counts as 'other'."
)
KINDS = {
    "n": "a number",
    "c": "a category",
    "y": "yes or no",
    "d": "a date",
    "o": "an ordered category",
    "t": "free text",
    "u": "whose row it is (user)",
    "i": "not of interest: ignore it",
}
# The same, as people type it.
SPELLINGS = {
    "n": ("number", "integer"),
    "c": ("category",),
    "y": ("yes", "no", "yes or no", "flag", "boolean"),
    "d": ("date", "time"),
    "o": ("ordered", "ordinal"),
    "t": ("text",),
    "u": ("user", "id"),
    "i": ("ignore", "nothing"),
}
# Of a field that a file describes in a way that is not asked for: a place, a weight of rows.
AS_DESCRIBED = "k"
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
QUESTIONS = {
    "header": "Does it hold the names of the columns?",
    "names": "Names of its {width} columns, separated by commas?",
    "kind": "What is it?",
    "minimum": "The lowest {name} anyone may enter?",
    "maximum": "The highest {name} anyone may enter?",
    "earliest": "The earliest {name} anyone may enter, as YYYY-MM-DD?",
    "latest": "The latest {name} anyone may enter, as YYYY-MM-DD?",
    "unit": "Its unit, such as years?",
    "log": "Are a few values far larger than most, as with incomes?",
    "format": "In what format is it written?",
    "categories": "Its categories, separated by commas?",
    "ordered": "Its categories from lowest to highest, separated by commas?",
    "missing": "May it be missing?",
    "weight": "How much does it count relative to the others (0: only to describe)?",
}
HELP = {
    "kind": "A number can be added up. Categories have names but no order; yes or no is one of "
    "two. Ordered categories have an order, such as low, mid, high. Free text is never used for "
    "clustering. 'Whose row it is' makes the promise per person instead of per row.",
    "bound": "The smallest or largest value that the question allows, or that makes sense: "
    "anyone's age lies between 0 and 120. Narrower bounds mean less noise.",
    "categories": "Names separated by commas; put a name that contains a comma in double quotes. "
    "Anything else counts as 'other'.",
    "log": "Most incomes, prices and counts are small, and a few are very large. With yes, "
    "distances are measured between logarithms: 100 and 200 are as far apart as 1,000 and "
    "2,000.",
    "unit": "For readers of the release: years, EUR, visits.",
    "missing": "With yes, a missing value counts as a category of its own. With no, a table with"
    " missing values is refused.",
    "weight": "Doubling the weight doubles the squared distance between two different values. With "
    "0, the column only describes clusters and does not help to form them.",
    "format": "Write the pattern, such as YYYY-MM-DD, DD.MM.YYYY or MM/DD/YYYY hh:mm.",
    "header": "Yes for names such as age and city; no for someone's values.",
    "names": "One name for each column of the file, in its order, separated by commas.",
}
DATE_LETTERS = {"YYYY": "%Y", "MM": "%m", "DD": "%d", "hh": "%H", "mm": "%M", "ss": "%S"}
ISO_DATE = "YYYY-MM-DD"
MAX_WHOLE = 1e15  # numbers beyond are typed with an exponent
MISSING_ANSWERS = {"yes": "category", "no": "refuse", "fill": "fill"}
# What is asked of a column, by its kind.
ASKED = {
    "n": ("minimum", "maximum", "unit", "log", "missing", "weight"),
    "d": ("format", "minimum", "maximum", "missing", "weight"),
    "c": ("categories", "missing", "weight"),
    "o": ("categories", "missing", "weight"),
    "y": ("missing", "weight"),
}
CLASSES: dict[str, type[Field]] = {
    "n": Number,
    "c": Category,
    "y": Flag,
    "d": Date,
    "o": Ordinal,
    "t": Text,
}


def likely_kind(name: str, *, user_known: bool = False) -> str:
    """Return the kind that the name of a column makes likely: a key of ``KINDS``.

    Parameters
    ----------
    name : str
        Of the column; nothing else is looked at.
    user_known : bool, default=False
        Whether another column says whose row it is, so that this one does not.

    Returns
    -------
    kind : str
        To be suggested, and confirmed by somebody who knows.

    Examples
    --------
    >>> likely_kind("city"), likely_kind("age"), likely_kind("member", user_known=True)
    ('c', 'n', 'y')
    """
    lower = name.strip().lower()
    likely = [kind for pattern, kind in HINTS if re.fullmatch(pattern, lower)] or ["n"]
    if user_known and likely[0] == "u":
        return likely[1] if likely[1:] else "i"
    return likely[0]


def make_field(name: str, kind: str, **kwargs: Any) -> Field:
    """Return the field of a column from answers that were read.

    Parameters
    ----------
    name : str
        Of the column.
    kind : str
        Key of ``KINDS``.
    **kwargs
        Of the field; a ``weight`` of 0 only describes.

    Returns
    -------
    field : Field
        It may still lack something.

    Examples
    --------
    >>> make_field("age", "n", minimum=0.0, maximum=120.0, weight=0.0).role
    'describe'
    """
    if kind in ("u", "i"):
        return Field(name, role="user" if kind == "u" else "ignore", **kwargs)
    if kwargs.get("weight") == 0:
        del kwargs["weight"]
        kwargs["role"] = "describe"
    return CLASSES[kind](name, **kwargs)


def field_from_answers(
    name: str, kind: str, answers: Mapping[str, str], before: Field | None = None
) -> Field:
    """Return the field of a column from the text that somebody typed.

    Parameters
    ----------
    name : str
        Of the column.
    kind : str
        Key of ``KINDS``, or ``AS_DESCRIBED`` for the field as it was.
    answers : mapping of str
        By question: minimum, maximum, unit, log, format, categories, missing and weight, as far as
        this kind has them. What is left out or empty is left open, or as usual.
    before : Field, default=None
        As it was described before: what is not asked for stays, such as its title.

    Returns
    -------
    field : Field
        It may still lack something.

    Raises
    ------
    ParameterError
        If an answer cannot be read.

    Examples
    --------
    >>> field_from_answers("age", "n", {"minimum": "0", "maximum": "120", "missing": "no"})
    ... # doctest: +ELLIPSIS
    Number(name='age', weight=1.0, missing='refuse', ..., minimum=0.0, maximum=120.0, ...)
    """
    if kind == AS_DESCRIBED and before is not None and kind_of(before) == kind:
        return before
    if kind not in KINDS:
        raise ParameterError(f"the kind of {name!r} must be one of {', '.join(KINDS)}")
    unknown = sorted(set(answers) - set(ASKED.get(kind, ())))
    if unknown:
        raise ParameterError(f"{KINDS[kind]} takes no answer {unknown[0]!r}")
    kwargs = _kept(kind, before)
    for question, text in answers.items():
        _read_answer(name, kind, question, text.strip(), kwargs)
    if kwargs.get("missing") == "fill" and "fill" not in kwargs:
        raise ParameterError(
            f"the value that {name!r} counts as where it is missing must be set in its schema file"
        )
    if kwargs.get("missing") != "fill":
        kwargs.pop("fill", None)
    return make_field(name, kind, **kwargs)


def kind_of(field: Field) -> str:
    """Return the kind of a field: a key of ``KINDS``, ``AS_DESCRIBED``, or empty for none yet.

    Parameters
    ----------
    field : Field
        Of a schema.

    Returns
    -------
    kind : str
        For :func:`field_from_answers`.

    Examples
    --------
    >>> kind_of(Number("age")), kind_of(Field("age")), kind_of(Field("id", role="user"))
    ('n', '', 'u')
    """
    if field.role in ("user", "ignore"):
        return field.role[0]
    if field.role == "sample_weight" or isinstance(field, Place):
        return AS_DESCRIBED
    return next((kind for kind, made in CLASSES.items() if type(field) is made), "")


def answers_of(field: Field) -> dict[str, str]:
    """Return the text of a field's answers, as somebody would type them.

    Parameters
    ----------
    field : Field
        Of a schema.

    Returns
    -------
    answers : dict of str
        For :func:`field_from_answers`, which makes the same field of them.

    Examples
    --------
    >>> answers_of(Category("city", ["A", "B, or C"]))
    {'categories': 'A, "B, or C"', 'missing': 'yes', 'weight': '1'}
    """
    ways = {way: answer for answer, way in MISSING_ANSWERS.items()}
    found = {
        "minimum": _typed(getattr(field, "minimum", None)),
        "maximum": _typed(getattr(field, "maximum", None)),
        "unit": field.unit,
        "log": "yes" if getattr(field, "scale", "") == "log" else "no",
        "format": _written_pattern(getattr(field, "format", "")),
        "categories": _joined(getattr(field, "categories", ())),
        "missing": ways[field.missing],
        "weight": "0" if field.role == "describe" else _typed(field.weight),
    }
    return {question: found[question] for question in ASKED.get(kind_of(field), ())}


def date_pattern(text: str) -> str:
    """Return the pattern of ``strptime`` for one such as DD.MM.YYYY; empty for ISO 8601.

    >>> date_pattern("DD.MM.YYYY"), date_pattern("YYYY-MM-DD")
    ('%d.%m.%Y', '')
    """
    if text in (ISO_DATE, ""):
        return ""
    if "%" in text:
        return text
    pattern = re.sub("YYYY|MM|DD|hh|mm|ss", lambda found: DATE_LETTERS[found.group()], text)
    if re.search(r"(?<!%)[A-Za-z]", pattern) or "%Y" not in pattern:
        raise ValueError("a pattern of YYYY, MM, DD, hh, mm and ss")
    return pattern


def parse_number(text: str) -> float:
    """Return a finite number, written with or without commas between thousands."""
    try:
        number = float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        raise ValueError("a number, such as 120") from None
    if number - number != 0:  # infinite or nan
        raise ValueError("a finite number")
    return number


def parse_day(text: str) -> str:
    """Return a day as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError("a date such as 2026-12-31") from None


def parse_weight(text: str) -> float:
    """Return a number from 0 on."""
    weight = parse_number(text)
    if weight < 0:
        raise ValueError("0 or more")
    return weight


def parse_categories(text: str) -> tuple[str, ...]:
    """Return different names by commas."""
    names = split_names(text)
    if len(set(names)) < len(names):
        raise ValueError("different names")
    return tuple(names)


def above(value: Any, low: Any) -> Any:
    """Return the upper of two bounds, which must be above the lower one, if there is one."""
    if low is not None and not low < value:
        raise ValueError(f"above {low:g}" if isinstance(low, float) else f"after {low}")
    return value


def split_names(text: str) -> list[str]:
    """Return names by commas or line breaks; one that holds a comma is in double quotes."""
    try:
        rows = list(csv.reader(text.splitlines(), skipinitialspace=True, strict=True))
    except csv.Error:
        raise ValueError("names separated by commas") from None
    return [name.strip() for row in rows for name in row if name.strip()]


def _read_answer(name: str, kind: str, question: str, text: str, kwargs: dict[str, Any]) -> None:
    """Read one answer into the parameters of a field; an empty one leaves them as usual."""
    parse_bound: Callable[[str], Any] = parse_number if kind == "n" else parse_day
    low = kwargs.get("minimum")
    yes = {"yes": "log", "no": "linear", "": "linear"}
    readers: dict[str, tuple[str, Callable[[str], Any], str]] = {
        "minimum": ("minimum", parse_bound, f"the lowest {name}"),
        "maximum": (
            "maximum",
            lambda typed: above(parse_bound(typed), low),
            f"the highest {name}",
        ),
        "unit": ("unit", str, f"the unit of {name}"),
        "log": ("scale", yes.__getitem__, "log"),
        "format": ("format", date_pattern, f"the way {name} is written"),
        "categories": ("categories", parse_categories, f"the categories of {name}"),
        "missing": ("missing", MISSING_ANSWERS.__getitem__, "missing"),
        "weight": ("weight", parse_weight, f"how much {name} counts"),
    }
    parameter, read, words = readers[question]
    kwargs.pop(parameter, None)
    if not text:
        return
    try:
        kwargs[parameter] = read(text)
    except KeyError:
        raise ParameterError(f"{words} of {name!r} must be yes or no") from None
    except ValueError as wrong:
        raise ParameterError(f"{words} must be {wrong}", parameter=parameter) from None


def _kept(kind: str, before: Field | None) -> dict[str, Any]:
    """Return what is never asked for, from a field as it was described before."""
    if before is None:
        return {}
    kept: dict[str, Any] = {
        "title": before.title,
        "description": before.description,
        "missing_values": before.missing_values,
    }
    same = (
        ("fill", "other", "whole", "true_values", "false_values")
        if type(before) is CLASSES.get(kind)
        else ()
    )
    kept |= {key: getattr(before, key) for key in same if hasattr(before, key)}
    if kind == "y":
        kept.pop("other", None)
    return {key: value for key, value in kept.items() if value is not None}


def _typed(value: Any) -> str:
    if value is None:
        return ""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < MAX_WHOLE
    return str(int(value) if whole else value)


def _written_pattern(pattern: str) -> str:
    """Return the inverse of :func:`date_pattern`."""
    if not pattern:
        return ISO_DATE
    written = pattern
    for letters, directive in DATE_LETTERS.items():
        written = written.replace(directive, letters)
    return pattern if "%" in written else written


def _joined(names: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    # A blank after each comma between names, for readers; those in names stay as they are.
    parts = re.findall(r'(?:"(?:[^"]|"")*"|[^,])+', text.getvalue())
    return ", ".join(parts)
