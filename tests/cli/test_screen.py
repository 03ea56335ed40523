"""Messages on the command line: the way out is an option or a command, never Python."""

import ast
import functools
import pickle
import re
from pathlib import Path

import pytest

import shoal
from shoal.cli._screen import WAYS_OUT, command_line_message
from shoal.exceptions import BudgetExceededError, MissingPackageError, ParameterError

SOURCE = Path(shoal.__file__).parent
# A call, a keyword argument, an attribute of a class; "line(s)" is none of these.
PYTHON = re.compile(r"\w\((?!s\))|\w=['\"(.\[]|\w=\s|=None\b|\b[A-Z]\w+\.[a-zA-Z_]+\(?")
NOT_ON_THE_COMMAND_LINE = ("tables/_spark", "tables/spark", "papers/")


@functools.cache
def raised():
    """List every error of the source with its place, the text of its message, and its keywords."""
    return list(_raised())


def _raised():
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id.endswith("Error") and node.args:
                words = {word.arg: word.value for word in node.keywords}
                yield f"{place}:{node.lineno}", _text(node.args[0]), words


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
        for place, text, _ in raised()
        if PYTHON.search(text) and not place.startswith(NOT_ON_THE_COMMAND_LINE)
    }
    assert found == {}
    assert len(raised()) > 400, "the walk sees the errors"


def test_advice_in_python_is_replaced_by_an_option_where_there_is_one():
    named = {
        words["parameter"].value
        for _, _, words in raised()
        if "parameter" in words and isinstance(words["parameter"], ast.Constant)
    }
    assert named
    assert named <= set(WAYS_OUT)
    for way_out in WAYS_OUT.values():
        assert not PYTHON.search(way_out)


def test_python_gets_its_own_way_out():
    error = ParameterError("bounds must be given", parameter="bounds", in_python="pass bounds=")
    assert str(error) == "bounds must be given: pass bounds="
    assert command_line_message(error).startswith("bounds must be given: pass --bounds LOW,HIGH")
    other = BudgetExceededError("nothing was recorded", in_python="call this()")
    assert command_line_message(other) == "nothing was recorded"
    assert command_line_message(ParameterError("n must be 1")) == "n must be 1"


@pytest.mark.parametrize("kind", [ParameterError, BudgetExceededError, MissingPackageError])
def test_errors_travel_between_processes(kind):
    error = kind("n must be 1", parameter="n", in_python="pass n=1")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "n must be 1: pass n=1"
    assert (again.message, again.parameter, again.in_python) == ("n must be 1", "n", "pass n=1")
