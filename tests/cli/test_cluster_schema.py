"""shoal cluster --schema: from a raw table to a release that reads; bad input spends nothing."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from shoal.cli import app as commands
from shoal.cli.cluster import cluster_command
from shoal.cli.perturb import perturb_command
from shoal.cli.predict import predict_command
from shoal.exceptions import ShoalError
from shoal.privacy import Ledger, Release
from shoal.schema import Category, Date, Field, Number, Schema

app = typer.Typer()
app.command()(cluster_command)
predict = typer.Typer()
predict.command()(predict_command)

FIELDS = (
    Number("age", minimum=0, maximum=120, unit="years", whole=True),
    Number("income", minimum=0, maximum=1_000_000, scale="log", unit="EUR", whole=True),
    Category("city", ["A", "B"]),
    Date("joined", minimum="2010-01-01", maximum="2026-12-31"),
)
USER = Field("customer", role="user")
SENTINEL = "41.73912846"  # a value of a record, in no release
WIDE = {"COLUMNS": "200"}


def write_people(path, rows=300):
    """Young people of city A and older ones of B, two rows each, with gaps."""
    rng = np.random.default_rng(0)
    lines = ["customer,age,income,city,joined"]
    for row in range(rows):
        older = row % 4 > 1
        age = "" if rng.random() < 0.1 else f"{rng.normal(70 if older else 22, 3):.4f}"
        city = rng.choice(["B", "", "elsewhere"] if older else ["A", "A", ""])
        joined = "2012-03-04" if older else "2024-02-29"
        lines.append(f"p{row // 2},{age},{rng.lognormal(11 if older else 9):.2f},{city},{joined}")
    lines.append(f"last,{SENTINEL},{SENTINEL},secret,2020-01-01")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def people(tmp_path):
    Schema([*FIELDS, USER]).save(tmp_path / "s.json")
    Schema(FIELDS).save(tmp_path / "rows.json")
    return write_people(tmp_path / "people.csv")


def run(people, *arguments, schema="s.json", out="out", command=app):
    given = ["--schema", str(people.with_name(schema)), *arguments]
    return CliRunner().invoke(
        command, [str(people), *given, "--out", str(people.with_name(out))], env=WIDE
    )


def test_a_raw_table_becomes_a_release_that_reads(people, tmp_path):
    result = run(people, "--k", "2", "--epsilon", "9", "--labels", str(tmp_path / "labels.csv"))
    assert result.exit_code == 0, result.output
    out = tmp_path / "out"
    files = sorted(path.name for path in out.iterdir())
    assert files == ["centers.csv", "release.json", "release.png"]
    release = Release.load(out / "release.json")
    assert Schema.from_dict(release.values["schema"]) == Schema([*FIELDS, USER])
    assert release.guarantee.privacy_unit.id_column == "customer"
    with (out / "centers.csv").open() as file:
        rows = sorted(csv.DictReader(file), key=lambda row: float(row["age"]))
    assert [row["city"] for row in rows] == ["A", "B"]
    assert float(rows[0]["age"]) == pytest.approx(22, abs=8)
    assert 0.5 < float(rows[0]["city share"]) <= 1
    assert 0 <= float(rows[1]["city missing"]) < 0.7
    assert rows[0]["joined"] > "2018"
    assert "cluster 0" in result.stdout
    assert " years" in result.stdout
    assert " EUR" in result.stdout
    assert "%" in result.stdout
    assert "the promise is per row" not in result.stdout
    written = b"".join(path.read_bytes() for path in out.iterdir()) + result.stdout.encode()
    assert not any(word.encode() in written for word in (SENTINEL, SENTINEL[:6], "secret"))


def test_new_people_are_assigned_later_from_the_release_alone(people, tmp_path):
    labels = tmp_path / "labels.csv"
    assert run(people, "--k", "3", "--labels", str(labels), "--seed", "0").exit_code == 0
    new = tmp_path / "new.csv"  # without users, in another order, with a column more
    with people.open() as file:
        rows = list(csv.DictReader(file))
    with new.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["city", "more", "joined", "income", "age"])
        writer.writeheader()
        writer.writerows({name: row.get(name, "x") for name in writer.fieldnames} for row in rows)
    release, again = tmp_path / "out" / "release.json", tmp_path / "again.csv"
    found = CliRunner().invoke(predict, [str(release), str(new), "-o", str(again)])
    assert found.exit_code == 0, found.output
    assert again.read_text() == labels.read_text()
    assert "labels of private records are as private as the records" in found.stdout
    folder = tmp_path / "folder"
    folder.mkdir()
    frame = {name: [row[name] or None for row in rows] for name in ("age", "income", "city")}
    frame["joined"] = [row["joined"] for row in rows]
    half = len(rows) // 2
    for index, part in enumerate((slice(0, half), slice(half, None))):
        table = pa.table({name: values[part] for name, values in frame.items()})
        pq.write_table(table, folder / f"{index}.parquet")
    parts = [str(release.parent), str(folder), "-o", str(tmp_path / "parts.csv"), "--json"]
    found = CliRunner().invoke(predict, parts)
    assert json.loads(found.stdout)["n_clusters"] == 3
    assert (tmp_path / "parts.csv").read_text() == labels.read_text()


def test_rows_and_users(people, tmp_path):
    result = run(people, schema="rows.json")
    assert "the promise is per row" in result.stdout
    named = run(people, "--user-column", "customer", schema="rows.json", out="named")
    assert "the promise is per row" not in named.stdout
    assert named.exit_code == 0, named.output
    release = Release.load(tmp_path / "named" / "release.json")
    assert Schema.from_dict(release.values["schema"]).user == USER
    more = run(people, "--records-per-user", "2", "--json", out="more")
    assert json.loads(more.stdout)["guarantee"]["privacy_unit"]["max_rows"] == 2


def test_a_stream_gives_the_same_release(people, tmp_path, monkeypatch):
    at_once = run(people, "--seed", "0", "--no-ledger", schema="rows.json")
    assert at_once.exit_code == 0, at_once.output
    monkeypatch.setattr("shoal.cli._input.STREAMED_BYTES", 10)
    streamed = run(people, "--seed", "0", "--no-ledger", schema="rows.json", out="streamed")
    assert streamed.exit_code == 0, streamed.output
    one, other = (Release.load(tmp_path / name / "release.json") for name in ("out", "streamed"))
    assert one == other
    by_user = run(people, out="user")  # read at once, to see the rows of each user
    assert by_user.exit_code == 0, by_user.output


def test_a_column_without_any_value_is_a_column_of_missing_ones(people):
    text = people.read_text().replace(",A,", ",,").replace(",B,", ",,").replace(",elsewhere,", ",,")
    people.write_text(text)
    result = run(people, "--json", "--epsilon", "9")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    rows = plain["clusters"] + plain["may_be_noise"]
    assert np.mean([row["city missing"] for row in rows]) > 0.5


LONG = {"type": "string", "constraints": {"enum": [f"c{number}" for number in range(1001)]}}
# What the file of the schema holds, or what is different in its first field; options; message.
BAD = {
    "no file": (None, (), "schema must be a JSON file, got"),
    "no json": ("{", (), "which is no JSON"),
    "no schema": ("[1]", (), "must be a JSON object with a list of fields"),
    "unknown type": ({"type": "duration"}, (), "type of field 'age' must be one of"),
    "missing column": ({"name": "height"}, (), "must have one column 'height', got none"),
    "twice": ({"name": "city"}, (), "fields must have different names, got 'city' twice"),
    "long enum": (LONG, (), "categories of field 'age' must be at most 1000"),
    "incomplete": ({"constraints": {"minimum": 0}}, (), "'age' of the schema must have a maximum"),
    "text": ({"name": "word"}, (), "column 'word' must hold numbers, got text"),
    "bounds": ({}, ("--bounds", "0,1"), "--bounds must be left out with --schema"),
    "columns": ({}, ("--columns", "age"), "--columns must come with --schema only if --no-h"),
    "user": ({}, ("--user-column", "city"), "must be that of the schema, 'customer'"),
    "k": ({}, ("--k", "2", "--set", "n_clusters=3"), "--k must come without --set n"),
    "set": ({}, ("--set", "schema=s.json"), "--set must not name schema, got it: use --schema"),
}


@pytest.mark.parametrize("bug", BAD)
def test_bad_input_is_one_line_and_spends_nothing(people, tmp_path, bug):
    held, arguments, message = BAD[bug]
    if isinstance(held, dict):
        plain = Schema([*FIELDS, USER]).to_dict()
        plain["fields"][0] |= held
        held = json.dumps(plain)
    if held is not None:
        (tmp_path / "bad.json").write_text(held)
    if bug == "text":
        people.write_text(people.read_text().replace("\n", ",x\n").replace(",x", ",word", 1))
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=1.0)
    paid = ("--ledger", str(tmp_path / "ledger.jsonl"))
    result = run(people, *arguments, *paid, schema="bad.json")
    assert isinstance(result.exception, ShoalError), result.output
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
    assert SENTINEL not in str(result.exception)
    assert len(ledger.entries) == 0
    assert not (tmp_path / "out").exists()


def test_users_in_a_folder_are_refused_with_the_way_out(people, tmp_path):
    (tmp_path / "folder").mkdir()
    people.rename(tmp_path / "folder" / "people.csv")
    given = ["--schema", str(tmp_path / "s.json"), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [str(tmp_path / "folder"), *given])
    assert "must come with one CSV or Parquet file" in str(result.exception)
    assert "put the records into one file" in str(result.exception)
    assert "ignore" not in str(result.exception), "which would promise less without saying so"


def test_labels_are_not_put_beside_the_release(people, tmp_path):
    assert run(people).exit_code == 0
    out = tmp_path / "out"
    for where in (out / "labels.csv", out / "deep" / "labels.csv"):
        found = CliRunner().invoke(predict, [str(out), str(people), "-o", str(where)])
        assert "must lie outside the release's folder" in str(found.exception)
    over = CliRunner().invoke(predict, [str(out), str(people), "-o", str(people)])
    assert "must not replace the data" in str(over.exception)
    other = CliRunner().invoke(predict, [str(people), str(people), "-o", str(tmp_path / "l.csv")])
    assert "release must be JSON text" in str(other.exception)
    assert sorted(path.name for path in out.iterdir()) == [
        "centers.csv",
        "release.json",
        "release.png",
    ]


def test_reports_of_a_described_table(people, tmp_path):
    reports = typer.Typer()
    reports.command()(perturb_command)
    files = ["-o", str(tmp_path / "reports.csv"), "--schema", str(tmp_path / "s.json")]
    result = CliRunner().invoke(reports, [str(people), *files, "--epsilon", "2"])
    assert result.exit_code == 0, result.output
    with (tmp_path / "reports.csv").open() as file:
        names, *rows = csv.reader(file)
    assert tuple(names) == Schema(FIELDS).space.names
    assert len(rows) == 301


def test_both_commands_are_listed():
    shown = CliRunner().invoke(commands, ["--help"], env=WIDE).stdout
    assert "predict" in shown


def test_one_cluster_is_no_clusters(people):
    shown = run(people, "--k", "1", "--seed", "0")
    assert "Released by DPKMeans: 1 cluster " in " ".join(shown.output.split())
