"""A name that was not given is neither printed nor written: it may be a value of a record."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from shoal.cli import _input, main
from shoal.privacy import Ledger

SECRETS = ("41.73912846", "N/A-leukemia", "anna")  # a record without a header line above it
BOX = ("--bounds", "0,120")
X = np.clip(np.random.default_rng(0).normal([40.0, 75.0], [15.0, 12.0], size=(300, 2)), 0, 120)
LINES = "".join(f"{age!r},{weight!r}\n" for age, weight in X.tolist())
PAYING = ("--ledger", "people.ledger")
COMMANDS = {
    "cluster": (*PAYING, "--out", "made"),
    "perturb": (*PAYING, "--unit", "km", "--out", "made.csv"),
    "attack": ("--runs", "1", "--attacks", "centers", "--out", "made"),
    "compare": ("--runs", "1", "--jobs", "1", "--private-copy", "1", *PAYING, "--out", "made"),
}
STREAMING = ("cluster", "perturb")
UNITS = {"cluster": (), "perturb": ("--unit", "km")}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """The same records in files of every kind, under names that are a record of their own."""
    monkeypatch.chdir(tmp_path)
    Path("plain.csv").write_text(",".join(SECRETS[:2]) + "\n" + LINES)
    Path("named.csv").write_text("age,weight\n" + LINES)
    table = pa.table(dict(zip(SECRETS[:2], X.T, strict=True)))
    pq.write_table(table, "plain.parquet")
    feather.write_feather(table, "plain.feather")
    for kind in ("csvs", "parquets"):
        Path(kind).mkdir()
    Path("csvs/anna.csv").write_text(Path("plain.csv").read_text())
    pq.write_table(table, "parquets/anna.parquet")
    Ledger("people.ledger", epsilon=9.0, metric_epsilon=9.0, metric_unit="km")
    return tmp_path


@pytest.fixture
def shoal(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or 0, shown.out, shown.err

    return run


def tree():
    return {str(path): path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}


def refused(shoal, *arguments):
    """Run a command that must fail, and give its one line, which holds no secret."""
    before = tree()
    code, out, err = shoal(*arguments)
    assert (code, out) == (2, ""), err
    assert err.startswith("shoal: ")
    assert err.count("\n") == 1
    assert not [secret for secret in SECRETS if secret in err]
    assert tree() == before, "nothing is written or spent"
    return err


def sources(command):
    streamed = ("plain.feather", "csvs", "parquets") if command in STREAMING else ()
    return ("plain.csv", "plain.parquet", *streamed)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_name_is_taken_from_a_file(command, shoal):
    for source in sources(command):
        message = refused(shoal, command, source, *BOX, *COMMANDS[command])
        assert "--columns must name every column that is used" in message


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_name_is_refused_without_the_right_ones(command, shoal):
    for source in sources(command):
        message = refused(shoal, command, source, *BOX, "--columns", "age", *COMMANDS[command])
        assert "must have one column 'age'" in message
        assert "among its 2" in message


@pytest.mark.parametrize("command", ["attack", "compare"])
def test_a_wrong_label_is_refused_without_the_right_names(command, shoal):
    given = ("--columns", "age", "--label", "group")
    message = refused(shoal, command, "named.csv", *BOX, *given, *COMMANDS[command])
    assert "must have one column 'group'" in message
    assert "weight" not in message


@pytest.mark.parametrize("command", STREAMING)
def test_a_large_file_is_no_exception(command, shoal, monkeypatch):
    monkeypatch.setattr(_input, "STREAMED_BYTES", 1000)
    out = ("--out", "made", *PAYING, *UNITS[command])
    assert "--columns must name" in refused(shoal, command, "plain.csv", *BOX, *out)
    message = refused(shoal, command, "plain.csv", *BOX, *out, "--columns", "age")
    assert "must have one column 'age'" in message


@pytest.mark.parametrize("command", STREAMING)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_of_a_folder_is_not_named(command, kind, shoal):
    """Folders with a file for each person are common."""
    other = Path(f"{kind}s/bob.{kind}")
    name = SECRETS[0]
    if kind == "csv":
        other.write_text("x,y\n1,2\n")
    else:
        pq.write_table(pa.table({"x": [1.0]}), other)
    given = ("--columns", "x", "--out", "made", *PAYING, *UNITS[command])
    message = refused(shoal, command, f"{kind}s", *BOX, *given)
    assert "bob" not in message
    assert name not in message


def write_odd(path, heads):
    columns = [*X.T, np.arange(len(X)), np.arange(len(X))]
    if path.suffix == ".csv":
        quoted = ",".join(f'"{head}"' for head in heads)
        rows = "".join(",".join(map(repr, row)) + "\n" for row in np.column_stack(columns).tolist())
        path.write_text(f"\ufeff{quoted}\n{rows}", encoding="utf-8")
        return
    table = pa.Table.from_arrays([pa.array(column) for column in columns], names=heads)
    writer = pq.write_table if path.suffix == ".parquet" else feather.write_feather
    writer(table, path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("size", ["small", "large"])
def test_headers_as_people_write_them(kind, size, shoal, monkeypatch):
    """A byte-order mark, quotes, blanks, and a comma in a name."""
    if size == "large":
        monkeypatch.setattr(_input, "STREAMED_BYTES", 1000)
    path = Path(f"odd.{kind}")
    write_odd(path, [" age ", "weight, kg", "id", " id"])
    given = ("--columns", 'age,"weight, kg"', "--seed", "1", "--json", "--out", "made")
    code, out, err = shoal("cluster", str(path), *BOX, *given)
    assert (code, err) == (0, "")
    assert set(json.loads(out)["clusters"][0]) >= {"age", "weight, kg"}
    message = refused(shoal, "cluster", str(path), *BOX, "--columns", "age,id", "--out", "other")
    assert "must have one column 'id', got several" in message


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_name_twice_is_in_nobodys_way(kind, shoal, monkeypatch):
    path = Path(f"odd.{kind}")
    write_odd(path, ["age", "weight", "anna", "anna"])
    given = ("--columns", "age,weight", "--json", "--out", "made")
    code, _, err = shoal("cluster", str(path), *BOX, *given)
    assert (code, err) == (0, "")
    monkeypatch.setattr(_input, "STREAMED_BYTES", 1000)
    assert "two have one name" in refused(
        shoal, "cluster", str(path), *BOX, *given[:2], "--out", "other"
    )


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("source", ["plain.csv", "csvs"])
def test_names_are_given_where_there_is_no_header(source, size, shoal, monkeypatch):
    if size == "large":
        monkeypatch.setattr(_input, "STREAMED_BYTES", 1000)
    path = Path(source) if source == "plain.csv" else Path("csvs/anna.csv")
    path.write_text("41.5,60.25\n" + LINES)
    given = ("--columns", "age,weight", "--no-header", "--out", "made")
    sure = ("--epsilon", "1000", "--seed", "0")  # with less, every center may be uncertain
    code, out, err = shoal("cluster", source, *BOX, *given, *sure, "--json")
    assert (code, err) == (0, "")
    assert list(json.loads(out)["clusters"][0])[:2] == ["age", "weight"]
    streamed = size == "large" or source == "csvs"
    reports = "reports" if streamed else "reports.csv"
    code, out, err = shoal("perturb", source, *BOX, *given[:-1], reports, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["reports"] == len(X) + 1, "the first line is a record too"


def test_a_first_line_that_looks_like_a_record_is_a_header_unless_it_is_said(shoal):
    Path("plain.csv").write_text("41.5,60.25\n" + LINES)
    given = ("--columns", "age,weight", "--out", "made", *PAYING)
    message = refused(shoal, "cluster", "plain.csv", *BOX, *given)
    assert "pass --no-header if it has no header line" in message
    assert "41.5" not in message


def test_a_column_without_a_name_is_left_out(shoal):
    Path("plain.csv").write_text("".join(f"anna{line}" for line in LINES.splitlines(True)))
    given = ("--columns", "-,weight", "--no-header", "--out", "made.csv", "--json")
    code, out, err = shoal("perturb", "plain.csv", *BOX, *given)
    assert (code, err) == (0, "")
    assert Path("made.csv").read_text().startswith("weight\n")
    assert json.loads(out)["columns"] == 1


def test_bad_columns(shoal, subtests):
    for given, words in [
        (("--columns", "age", "--no-header"), "must be named one after the other, all 2"),
        (("--columns", "a,b,c", "--no-header"), "must be named one after the other, all 2"),
        (("--columns", "-,-", "--no-header"), "--columns must name every column that is used"),
        (("--columns", "a,a", "--no-header"), "different"),
        (("--no-header",), "--columns must name every column that is used"),
        (("--columns", ""), "--columns must name every column that is used"),
        (("--columns", "age,age"), "different"),
        (("--columns", '"age'), ""),
    ]:
        with subtests.test(given=given, words=words):
            for command, more in COMMANDS.items():
                assert words in refused(shoal, command, "plain.csv", *BOX, *given, *more)


@pytest.mark.parametrize("command", STREAMING)
def test_no_header_is_for_csv_files(command, shoal):
    for source in ("plain.parquet", "plain.feather", "parquets"):
        given = ("--columns", "a,b", "--no-header", "--out", "made", *PAYING, *UNITS[command])
        message = refused(shoal, command, source, *BOX, *given)
        assert "without a header line must be" in message


@pytest.mark.parametrize("command", COMMANDS)
def test_bounds_of_a_file_name_the_columns(command, shoal):
    Path("bounds.json").write_text('{"weight": [0, 250], "age": [0, 120]}')
    box = ("--bounds", "bounds.json")
    message = refused(shoal, command, "plain.csv", *box, *COMMANDS[command])
    assert "must have one column 'weight'" in message
    if command == "cluster":
        code, out, err = shoal(command, "named.csv", *box, "--json", *COMMANDS[command])
        assert (code, err) == (0, "")
        found = json.loads(out)  # whether noise leaves a center certain is up to the draw
        row, *_ = found["clusters"] + found["may_be_noise"]
        assert list(row)[:2] == ["weight", "age"]
