"""shoal schema: questions, templates, imports and learned bounds; nothing is left behind."""

import json
import os
import re
import select
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from helpers.cases import case
from shoal.cli import schema as module
from shoal.cli._interview import HINTS, KINDS, date_pattern
from shoal.cli.schema import schema_command
from shoal.exceptions import DataError, ParameterError, ShoalError
from shoal.privacy import ApproximateEvent, Ledger, PrivacyUnit
from shoal.schema import Category, Date, Field, Flag, Number, Ordinal, Schema, Text

app = typer.Typer()
app.command()(schema_command)

HEADER = "customer_id,age,income,city,is_member,joined,grade,comment"
ANSWERS = [
    "",  # the first line holds names
    "",  # customer_id: user
    *("", "18", "?", "x", "10", "120", "years", "", "n", "2"),  # age, with two refused answers
    *("", "", "1,000,000", "EUR", "y", "", ""),
    *("c", 'A, "B, or C"', "", "0.5"),
    *("", "", ""),
    *("", "DD.MM.YYYY", "2010-01-01", "2026-12-31", "", "0"),
    *("o", "low,mid,high", "", ""),
    "",  # comment: text
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        f"{i // 2},{20 + i % 70},{1000 + i % 900},{'AABC'[i % 4]},{['yes', 'no'][i % 2]},"
        f"0{1 + i % 9}.03.20{10 + i % 15},low,SECRET {i}"
        for i in range(2000)
    ]
    (tmp_path / "people.csv").write_text("\n".join([HEADER, *lines]) + "\n")
    return tmp_path


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(module, "on_terminal", lambda: True)


def run(*arguments, answers=()):
    text = "".join(f"{answer}\n" for answer in answers)
    return CliRunner().invoke(app, ["people.csv", *arguments], input=text)


def files():
    return sorted(path.name for path in Path.cwd().iterdir())


def refused(*arguments, answers=(), error=ParameterError):
    """One line, and no file."""
    before = files()
    failed = run(*arguments, answers=answers)
    assert isinstance(failed.exception, error), failed.output
    assert files() == before
    message = str(failed.exception)
    assert "\n" not in message
    return message


def test_questions_make_a_schema(terminal):
    shown = run(answers=ANSWERS)
    assert shown.exit_code == 0, shown.output
    assert Schema.load("people.schema.json") == Schema(
        [
            Field("customer_id", role="user"),
            Number("age", minimum=18, maximum=120, unit="years", missing="refuse", weight=2.0),
            Number("income", minimum=0, maximum=1e6, unit="EUR", scale="log"),
            Category("city", ["A", "B, or C"], weight=0.5),
            Flag("is_member"),
            Date(
                "joined",
                format="%d.%m.%Y",
                minimum="2010-01-01",
                maximum="2026-12-31",
                role="describe",
            ),
            Ordinal("grade", ["low", "mid", "high"]),
            Text("comment"),
        ]
    )
    assert shown.output.count("published with every") == 1  # why bounds are not read, once
    assert "It must be a number" in shown.output
    assert "It must be above 18" in shown.output
    assert "next: shoal cluster people.csv --schema people.schema.json" in shown.output
    assert "SECRET" not in shown.output


def test_a_file_without_names(terminal):
    names = ["n", "a,b", "a,b,c,d,e,f,g,h"]
    shown = run(answers=[*names, *["ignore"] * 7, "number", "", "9", "", "", "", ""])
    assert shown.exit_code == 0, shown.output
    assert "It must be 8 different names" in shown.output
    assert "--no-header --columns a,b,c,d,e,f,g,h" in shown.output
    assert Schema.load("people.schema.json")["h"] == Number("h", minimum=0, maximum=9)


@pytest.mark.parametrize("count", [0, 1, 5, len(ANSWERS) - 1])
def test_answers_that_end_leave_nothing(terminal, count):
    assert "nothing was written" in refused(answers=ANSWERS[:count])


@pytest.mark.full
def test_ctrl_c_on_a_real_terminal_leaves_nothing():
    """A pseudo-terminal of its own: the first question is asked, and Ctrl-C ends it with 130."""
    pty = pytest.importorskip("pty", reason="needs a terminal of Unix")
    code = "from shoal.cli import main; main()"
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", code, "schema", "people.csv"])
    shown = b""
    while b"[Y/n]" not in shown and select.select([terminal], [], [], 60)[0]:
        shown += os.read(terminal, 4096)
    try:
        for _ in range(60):  # one that comes just before Python waits is seen at the next key
            os.write(terminal, b"\x03")
            while select.select([terminal], [], [], 0.5)[0]:
                shown += os.read(terminal, 4096)
        os.kill(child, signal.SIGKILL)
    except OSError:  # the other end is closed
        pass
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert b"customer_id" in shown
    assert b"stopped by Ctrl-C" in shown
    assert files() == ["people.csv"]


def test_template_without_a_terminal():
    assert "pass --header" in refused()
    shown = run("--header")
    assert shown.exit_code == 0, shown.output
    schema = Schema.load("people.schema.json")
    assert schema == Schema.from_names(HEADER.split(","))
    assert "still to fill in: a type of age" in shown.output
    assert "already exists" in refused("--header")
    assert run("--columns", "age,city", "--force", "--json").exit_code == 0
    assert [field.name for field in Schema.load("people.schema.json")] == ["age", "city"]
    with pytest.raises(ParameterError, match="field 'age' of the schema must have a type"):
        Schema.load("people.schema.json").check_complete()


def test_columns_of_a_file_without_a_header_line():
    shown = run("--no-header", "--columns", "-,age,-,city,-,-,-,-", "--json", "--out", "s.json")
    assert json.loads(shown.output)["lacking"] == {"age": "a type", "city": "a type"}
    assert "name all 8 columns" in refused("--no-header", "--columns", "a,b")
    assert "--columns" in refused("--no-header")
    assert "different names" in refused("--columns", "a,a")


def test_bounds_and_categories_are_learned_for_a_price(terminal):
    Ledger(
        "people.ledger",
        epsilon=3.0,
        delta=1e-5,
        table="people",
        privacy_unit=PrivacyUnit.user("customer_id"),
    )
    answers = ["", "", *("", "", "", "", "", "", "")]  # names, user, age
    answers += ["i", *("c", "", "", ""), "i", *("", "DD.MM.YYYY", "", "", "", ""), "i", "i"]
    price = ["--private", "2", "--delta", "1e-6", "--ledger", "people.ledger", "--seed", "0"]
    shown = run(*price, "--records-per-user", "2", answers=answers)
    assert shown.exit_code == 0, shown.output
    assert "[learn it]" in shown.output
    schema: Any = Schema.load("people.schema.json")
    assert schema.lacking() == {}
    assert 16 <= schema["age"].minimum <= 20
    assert 86 <= schema["age"].maximum <= 128
    assert schema["city"].categories == ("A", "B", "C")
    assert schema["joined"].minimum <= "2010-03-01"
    (entry,) = Ledger("people.ledger").entries
    assert isinstance(entry.event, ApproximateEvent)
    assert entry.event.epsilon == 2.0
    assert entry.privacy_unit == PrivacyUnit.user("customer_id", max_rows=2)
    assert "epsilon = 2 and delta = 1e-06" in shown.output
    assert "no promise: anyone who knows --seed" in shown.output


def test_an_unfinished_schema_is_completed():
    template = Schema([Number("age", whole=True), Category("city"), Flag("is_member")])
    template.save("draft.json")
    price = ["--private", "2", "--delta", "1e-6", "--user-column", "customer_id", "--seed", "0"]
    shown = run("--from-frictionless", "draft.json", *price, "--json")
    assert shown.exit_code == 0, shown.output
    plain = json.loads(shown.output)
    assert plain["lacking"] == {}
    assert plain["guarantee"]["privacy_unit"]["id_column"] == "customer_id"
    schema = Schema.load("people.schema.json")
    assert schema.user == Field("customer_id", role="user")
    assert schema["city"] == Category("city", ["A", "B"])  # C is in nobody's first row


def test_descriptions_that_exist():
    fields = [{"name": "age", "type": "integer"}, {"name": "took", "type": "duration"}]
    package = {"resources": [{"path": "x/people.csv", "schema": {"fields": fields}}, {"name": "b"}]}
    Path("package.json").write_text(json.dumps(package))
    assert run("--from-frictionless", "package.json", "--out", "f.json").exit_code == 0
    assert Schema.load("f.json")["took"].role == "ignore"
    again = refused("--from-frictionless", "package.json", "--header", "--out", "g.json")
    assert "left out" in again


def test_check_names_columns_and_no_values():
    Schema([Number("age", minimum=0), Number("shoe", minimum=0, maximum=60)]).save("s.json")
    shown = run("--check", "s.json")
    assert shown.exit_code == 1
    assert shown.output.splitlines() == [
        "people.csv has no column 'shoe' in its first line",
        "field 'age' lacks a maximum",
    ]
    Schema([Number("age", minimum=0, maximum=120)]).save("s.json")
    assert "is complete" in run("--check", "s.json").output
    assert "income" not in shown.output


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        ("{", "no JSON"),
        ("[]", "object"),
        ('{"fields": 3}', "list of fields"),
        ('{"fields": [{"name": "age", "type": "hue"}]}', "type of field 'age' must be one of"),
        (
            json.dumps(
                {"fields": [{"name": "c", "constraints": {"enum": [*map(str, range(1001))]}}]}
            ),
            "categories of field 'c' must be at most 1000, because each gets noise of its own",
        ),
        ('{"fields": [{"name": "shoe", "type": "number"}]}', "one column 'shoe'"),
        ('{"fields": [{"name": "comment", "type": "number"}]}', "must hold numbers"),
        ('{"fields": [{"name": "age"}]}', "field 'age' of the template must have a type"),
        ('{"fields": [{"name": "city", "type": "string"}]}', "delta must be above 0"),
    ],
)
def test_wrong_schemas_in_one_line_and_nothing_spent(plain, words):
    Ledger("people.ledger", epsilon=3.0)
    Path("draft.json").write_text(plain)
    price = ["--private", "1", "--ledger", "people.ledger"]
    message = refused("--from-frictionless", "draft.json", *price, error=ShoalError)
    assert words in message
    assert "SECRET" not in message
    assert len(Ledger("people.ledger")) == 0


def test_options_that_do_not_fit():
    assert "--delta must come with --private" in refused("--header", "--delta", "1e-6")
    assert "--ledger must come with --private" in refused("--header", "--ledger", "x")
    assert "folder that exists" in refused("--header", "--out", "no/s.json")
    assert "not replace the records" in refused("--header", "--out", "people.csv", "--force")
    assert "No such file" in refused_data("absent.csv")


def refused_data(name):
    failed = CliRunner().invoke(app, [name, "--header"])
    assert isinstance(failed.exception, DataError)
    return str(failed.exception)


def test_suggestions_come_from_names():
    likely = {"Customer ID": "u", "id": "i", "date of birth": "n", "birthday": "d", "is_new": "y"}
    likely |= {"home city": "c", "comments": "t", "grade": "o", "height": "n"}
    for name, kind in likely.items():
        with case(name=name):
            lower = name.lower()
            found = next((k for pattern, k in HINTS if re.fullmatch(pattern, lower)), "n")
            assert found == kind in KINDS


def test_patterns_of_dates():
    assert date_pattern("MM/DD/YYYY hh:mm") == "%m/%d/%Y %H:%M"
    assert date_pattern("%d %b %Y") == "%d %b %Y"
    for wrong in ("day", "DD.MM", "DD.MM.YYYY x"):
        with pytest.raises(ValueError, match="pattern"):
            date_pattern(wrong)


def test_a_type_is_asked_for_and_not_said_to_be_learned():
    """The command that is shown must not be one that is refused."""
    shown = run("--header")
    assert shown.exit_code == 0, shown.output
    assert 'give every column a type in that file, such as "type": "number"' in shown.output
    assert "--private" not in shown.output
    with pytest.raises(ParameterError, match=r"must have a type.*: declare it, or give the field"):
        Schema.load("people.schema.json").check_complete()
