"""Messages on the command line: the way out is an option or a command, never Python."""

import ast
import functools
import re
from pathlib import Path

import shoal
from shoal import exceptions
from shoal.cli._screen import WAYS_OUT, command_line_message
from shoal.exceptions import BudgetExceededError, MissingBoundsError, ParameterError

SOURCE = Path(shoal.__file__).parent
# A call, a keyword argument, an attribute of a class; "line(s)" is none of these.
PYTHON = re.compile(r"\w\((?!s\))|\w=['\"(.\[]|\w=\s|=None\b|\b[A-Z]\w+\.[a-zA-Z_]+\(?")
NOT_ON_THE_COMMAND_LINE = ("tables/_spark", "tables/spark", "papers/")
# What only Python can pass, and what the command line itself passes right.
PYTHON_ONLY = {
    ("X", "conflict"),
    ("X", "type"),
    ("adjacency", "conflict"),
    ("adjacency", "guarantee"),
    ("bounds", "columns"),
    ("release", "type"),
    ("schema", "missing"),
    ("schema", "type"),
    ("second", "conflict"),
    ("set_output", "unsupported"),
    ("user_ids", "conflict"),
}
# A ledger refuses for one of its limits, whose name is known when it does.
BY_LIMIT = {(name, "budget") for name in ("epsilon", "delta", "metric_epsilon")}


@functools.cache
def raised():
    """List every error of the source: place, text of the message, class and keywords."""
    return list(_raised())


def _raised():
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id.endswith("Error") and node.args:
                words = {word.arg: word.value for word in node.keywords}
                yield f"{place}:{node.lineno}", _text(node.args[0]), node.func.id, words


def _text(node):
    """Write the literal parts of a message; what is put into it is the user's own."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part) if isinstance(part, ast.Constant) else "§" for part in node.values
        )
    return ""


def test_no_message_gives_advice_in_python():
    """What needs Python is passed as in_python, which the command line leaves out."""
    found = {
        place: text
        for place, text, *_ in raised()
        if PYTHON.search(text) and not place.startswith(NOT_ON_THE_COMMAND_LINE)
    }
    assert found == {}
    assert len(raised()) > 400, "the walk sees the errors"


def test_advice_in_python_is_replaced_by_an_option_where_there_is_one():
    """Each piece of advice belongs to a refusal; what is not listed here has an option."""
    named = set()
    for _, _, kind, words in raised():
        default = getattr(exceptions, kind, None)
        if "in_python" in words and default is not None:
            parameter = words.get("parameter", ast.Constant(default.default_parameter))
            code = words.get("code", ast.Constant(default.default_code))
            if isinstance(parameter, ast.Constant) and parameter.value:
                named.add((parameter.value, code.value))
    assert named
    assert (named - PYTHON_ONLY) | BY_LIMIT == set(WAYS_OUT)
    for way_out in WAYS_OUT.values():
        assert not PYTHON.search(way_out)


def test_python_gets_its_own_way_out():
    error = MissingBoundsError("bounds must be given", in_python="pass bounds=")
    assert str(error) == "bounds must be given: pass bounds="
    assert command_line_message(error).startswith("bounds must be given: pass --bounds LOW,HIGH")
    other = BudgetExceededError("nothing was recorded", in_python="call this()")
    assert command_line_message(other) == "nothing was recorded"
    assert command_line_message(ParameterError("n must be 1")) == "n must be 1"
