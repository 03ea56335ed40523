"""shoal ledger: what was spent, what is left, new ledgers, and files that are none."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from shoal.cli.ledger import ledger_command
from shoal.exceptions import LedgerFileError, ShoalError
from shoal.privacy import Ledger, MetricEvent, PureEvent, Release
from shoal.privacy.advisories import read_advisories

app = typer.Typer()
app.command()(ledger_command)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def path(tmp_path):
    book = Ledger(tmp_path / "people.ledger", epsilon=3.0, metric_epsilon=2.0, metric_unit="km")
    book.spend(PureEvent(epsilon=0.75), purpose="clusters [of] people")
    book.spend(MetricEvent(epsilon=0.5, unit="km"), purpose="reports")
    return tmp_path / "people.ledger"


def test_prints_itself(path):
    result = run(path)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{Ledger(path)}\n"
    assert "clusters [of] people" in result.stdout
    assert "left for a pure spend: 2.25" in result.stdout


def test_json(path):
    found = json.loads(run(path, "--json").stdout)
    assert found["limits"]["epsilon"] == 3.0
    central, metric = found["spent"]
    assert (central["notion"], central["epsilon"]) == ("central", 0.75)
    assert (metric["notion"], metric["epsilon"], metric["unit"]) == ("metric", 0.5, "km")
    assert found["receipt"]["count"] == 2
    assert found["receipt"]["hash"] == found["entries"][-1]["hash"]
    assert found["left"] == 2.25
    assert [entry["purpose"] for entry in found["entries"]] == ["clusters [of] people", "reports"]


def test_looking_changes_nothing(path):
    before = path.read_bytes()
    run(path)
    run(path, "--json")
    run(path, "--epsilon", "3", "--metric-epsilon", "2", "--metric-unit", "km")
    assert path.read_bytes() == before


def test_new_ledger(tmp_path):
    path = tmp_path / "new.ledger"
    result = run(path, "--epsilon", "2", "--delta", "1e-6")
    assert result.exit_code == 0, result.output
    assert "nothing was spent" in result.stdout
    assert (Ledger(path).limits.epsilon, Ledger(path).limits.delta) == (2.0, 1e-6)
    assert run(path, "--epsilon", "2", "--delta", "1e-6").exit_code == 0
    refused = run(path, "--epsilon", "5", "--delta", "1e-6")
    assert isinstance(refused.exception, LedgerFileError)
    assert "another epsilon" in str(refused.exception)
    assert Ledger(path).limits.epsilon == 2.0


def test_bad_input(tmp_path, monkeypatch, path, subtests):
    for arguments, text in [
        (["none.ledger"], "make one with `shoal ledger"),
        (["none.ledger", "--delta", "1e-6"], "--epsilon must be given"),
        (["none.ledger", "--metric-epsilon", "1"], "--epsilon must be given"),
        (["none.ledger", "--epsilon", "0"], "epsilon must be a finite number > 0"),
        (["none.ledger", "--epsilon", "1", "--delta", "1"], "delta must be"),
        (["no/folder.ledger", "--epsilon", "1"], "No such file"),
        (["."], "Is a directory"),
        ([".", "--epsilon", "1"], "Is a directory"),
        (["text.csv"], "is not a ledger"),
        (["text.csv", "--epsilon", "1"], "is not a ledger"),
        (["damaged.ledger"], "is damaged at line 2"),
        (["empty.ledger"], "is empty"),
    ]:
        with subtests.test(arguments=arguments, text=text):
            monkeypatch.chdir(tmp_path)
            (tmp_path / "text.csv").write_text("a,b\n1,2\n")
            (tmp_path / "empty.ledger").touch()
            damaged = path.read_bytes().replace(b"0.75", b"0.25")
            (tmp_path / "damaged.ledger").write_bytes(damaged)
            before = {file: file.read_bytes() for file in tmp_path.iterdir()}
            result = run(*arguments)
            assert isinstance(result.exception, ShoalError), result.output
            assert text in str(result.exception)
            assert "\n" not in str(result.exception)
            assert result.stdout == ""
            assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_help_has_an_example():
    words = " ".join(run("--help").stdout.split())
    assert "shoal ledger people.ledger --epsilon 3" in words


def test_a_new_ledger_for_a_table_and_its_users(tmp_path):
    path = tmp_path / "users.ledger"
    made = run(path, "--epsilon", "2", "--table", "people", "--user-column", "person")
    assert made.exit_code == 0, made.output
    assert "for each user (all rows with one value of 'person') of 'people'" in made.stdout
    assert run(path, "--table", "people").exit_code == 0
    refused = run(path, "--table", "shops")
    assert "another table" in str(refused.exception)
    rows = tmp_path / "rows.ledger"
    run(rows, "--epsilon", "2", "--user-column", "person", "--rows-per-user", "5")
    assert Ledger(rows).limits.privacy_unit.max_rows == 5
    assert not Ledger(rows).limits.privacy_unit.enforced


def test_a_page(path, tmp_path):
    page = tmp_path / "ledger.html"
    result = run(path, "--html", page)
    assert result.exit_code == 0, result.output
    text = page.read_text()
    for part in ("clusters [of] people", Ledger(path).receipt.hash, "promised: central"):
        assert part in text
    assert "http" not in text, "a page that needs no network"
    refused = run(path, "--html", tmp_path / "no" / "folder.html")
    assert "--html must be a writable file" in str(refused.exception)


def test_a_release_is_found_in_the_ledger_that_paid(path, tmp_path):
    book = Ledger(path)
    kept = [(file, file.read_bytes()) for file in (path, Path(f"{path}.head"))]
    receipt = book.spend(PureEvent(epsilon=0.25)).receipt
    file, promise = tmp_path / "release.json", book.spent[0]
    Release("counts", {"k": 2}, promise, ledger=receipt).save(file)
    assert run(path, "--release", file).exit_code == 0
    for old, content in kept:  # both files rolled back together
        old.write_bytes(content)
    Ledger(path).spend(PureEvent(epsilon=0.25))
    refused = run(path, "--release", file)
    assert "no entry 3 with the hash of 'release.json'" in str(refused.exception)
    assert refused.stdout == ""
    Release("counts", {"k": 2}, promise).save(file)
    assert "one that a ledger paid for" in str(run(path, "--release", file).exception)


def test_a_limit_is_raised_with_a_reason(path):
    result = run(path, "--epsilon", "4", "--reason", "a second study", "--who", "ada")
    assert result.exit_code == 0, result.output
    assert "from epsilon = 3" in result.stdout
    assert Ledger(path).limits.epsilon == 4.0
    found = json.loads(run(path, "--json").stdout)
    (change,) = found["limit_changes"]
    assert (change["who"], change["reason"]) == ("ada", "a second study")
    assert run(path, "--metric-epsilon", "3", "--reason", "reports").exit_code == 0
    assert Ledger(path).limits.metric_epsilon == 3.0


@pytest.mark.parametrize(
    "words",
    [
        ("--epsilon", "1", "--reason", "less"),
        ("--reason", "nothing"),
        ("--epsilon", "4", "--reason", ""),
        ("--epsilon", "4", "--who", "ada"),
        ("--epsilon", "4"),
        ("--epsilon", "4", "--reason", "users", "--user-column", "person"),
    ],
)
def test_what_raises_no_limit_changes_nothing(path, words):
    before = path.read_bytes()
    assert isinstance(run(path, *words).exception, ShoalError)
    assert path.read_bytes() == before


def test_verify_says_that_nothing_is_known(path):
    result = run(path, "--verify")
    assert result.exit_code == 0
    assert "verified: 2 entries" in result.stdout
    assert json.loads(run(path, "--verify", "--json").stdout)["broken"] == []


def test_verify_names_broken_promises(path, tmp_path, monkeypatch):
    flaw = {"id": "MADE-UP-1", "summary": "Counts lack noise.", "advice": "Withdraw it."}
    listed = [{**flaw, "events": ["PureEvent"]}]
    file = tmp_path / "made-up.json"
    file.write_text(json.dumps({"shoal_advisories": 1, "advisories": listed}), "utf-8")
    monkeypatch.setattr(read_advisories, "__defaults__", (file,))
    result = run(path, "--verify")
    assert result.exit_code == 1
    (line,) = result.stdout.splitlines()
    assert "entry 1" in line
    assert "MADE-UP-1" in line
    assert "Withdraw it." in line
    found = run(path, "--verify", "--json")
    assert (found.exit_code, json.loads(found.stdout)["broken"][0]["entry"]) == (1, 1)
