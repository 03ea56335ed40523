"""Several rows per person: the promise is made to people, or the words say that it is not."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.cli import main
from shoal.privacy import Ledger, PrivacyUnit, Release

ROWS, PEOPLE = 400, 40
LONG = 1_500_000_000_000_000_000  # as floats, these and the next 100 are one number
BOX = ("--columns", "age,weight", "--bounds", "0,120")
NOTE = "the promise is per row: a person with several rows is protected less; use --user-column"
X = np.clip(np.random.default_rng(0).normal([40.0, 75.0], [15.0, 12.0], size=(ROWS, 2)), 0, 120)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """The same rows in both kinds of file: `person` has ten rows each, `visit` one."""
    monkeypatch.chdir(tmp_path)
    person = [LONG + number % PEOPLE for number in range(ROWS)]
    visit = [LONG + number for number in range(ROWS)]
    table = {"age": X[:, 0], "weight": X[:, 1], "person": person, "visit": visit}
    lines = [
        f"{a!r},{w!r},{p},{v}\n" for (a, w), p, v in zip(X.tolist(), person, visit, strict=True)
    ]
    Path("people.csv").write_text("age,weight,person,visit\n" + "".join(lines))
    Path("plain.csv").write_text("".join(lines))
    text = {name: list(map(str, table[name])) for name in ("person", "visit")}
    pq.write_table(pa.table(table), "people.parquet")
    pq.write_table(pa.table({**table, **text}), "text.parquet")
    pq.write_table(pa.table({**table, "person": np.arange(ROWS) * 1.0}), "floats.parquet")
    Ledger("people.ledger", epsilon=200.0)
    return tmp_path


@pytest.fixture
def shoal(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or 0, shown.out, shown.err

    return run


def refused(shoal, source, *arguments, out="made"):
    """Run a command that must fail, and give its one line: nothing is spent or written."""
    before = Path("people.ledger").read_bytes()
    given = (*BOX, "--ledger", "people.ledger", "--out", out, *arguments)
    code, shown, err = shoal("cluster", source, *given)
    assert (code, shown) == (2, ""), err
    assert err.count("\n") == 1
    assert str(LONG)[:10] not in err
    assert Path("people.ledger").read_bytes() == before
    assert not Path(out).exists()
    return err


def counted(out):
    return sum(cluster["noisy_size"] for cluster in json.loads(out)["clusters"])


@pytest.mark.parametrize(
    "source",
    [
        ("people.csv",),
        ("people.parquet",),
        ("text.parquet",),
        ("plain.csv", "--columns", "age,weight,person,visit", "--no-header"),
    ],
)
def test_the_first_rows_of_each_person_count(source, shoal, subtests):
    """At epsilon 100 noise moves the sizes by a few; merged ids would leave ten rows or fewer."""
    for column, other, most, rows in [("person", "visit", 2, 80), ("visit", "person", 3, ROWS)]:
        with subtests.test(column=column, most=most, rows=rows):
            file, *columns = source
            if "--no-header" in columns:
                columns[1] = columns[1].replace(other, "-")
            given = ("--user-column", column, "--records-per-user", most, "--epsilon", "100")
            words = (*BOX, *columns, *given, "--set", "n_clusters=2", "--seed", "1", "--json")
            code, out, err = shoal("cluster", file, *words, "--out", f"made-{column}")
            assert (code, err) == (0, "")
            assert abs(counted(out) - rows) < 15
            unit = json.loads(out)["guarantee"]["privacy_unit"]
            assert (unit["kind"], unit["max_rows"], unit["enforced"]) == ("user", most, True)


def test_no_id_is_shown_and_no_id_is_clustered(shoal):
    given = ("--user-column", "person", "--labels", "labels.csv", "--ledger", "people.ledger")
    code, out, err = shoal("cluster", "people.csv", *BOX, *given, "--out", "made")
    assert (code, err) == (0, "")
    assert "ledger: 1 entry, hash " in out
    written = b"".join(path.read_bytes() for path in Path("made").iterdir())
    written += Path("people.ledger").read_bytes() + out.encode()
    # Ten digits and more of a noisy number may be these by chance; so many are not.
    assert str(LONG)[:16].encode() not in written
    assert Path("made/centers.csv").read_text().startswith("age,weight,noisy_size")
    assert "all rows with one value of 'person', of which at most 1 count" in out
    assert NOTE not in out
    assert Release.load("made/release.json").guarantee.privacy_unit.max_rows == 1
    assert len(Path("labels.csv").read_text().splitlines()) == ROWS + 1


@pytest.mark.full
@pytest.mark.parametrize("target", ["DPDensity", "DPKMeans", "DPWaveCluster"])
def test_without_users_the_promise_is_said_to_be_to_rows(target, shoal):
    given = ("cluster", "people.csv", *BOX, "--target", target, "--out", "made")
    code, out, _ = shoal(*given)
    assert code == 0
    assert NOTE in out
    code, out, _ = shoal(*given, "--json")
    note = NOTE + ("" if target == "DPKMeans" else " with --target DPKMeans")
    assert note in json.loads(out)["notes"]
    release = Release.load("made/release.json")
    assert release.guarantee.privacy_unit.kind == "record"
    assert "any one record" in json.loads(Path("made/release.json").read_text())["guarantee_text"]


def test_reports_are_promised_to_rows_too(shoal):
    code, out, _ = shoal("perturb", "people.csv", *BOX, "-o", "reports.csv")
    assert code == 0
    assert "the promise is per row: a person with several rows is protected less" in out


def test_bad_input(shoal, subtests):
    for arguments, words in [
        (("--user-column", "name"), "must have one column 'name'"),
        (("--user-column", "age"), "--columns must not name the column of --user-column"),
        (("--records-per-user", "2"), "--records-per-user must come with --user-column"),
        (
            ("--set", "records_per_user=2"),
            "must not name records_per_user, got it: use --records-per-user",
        ),
        (("--set", "user_column=visit"), "must not name user_column, got it: use --user-column"),
        (
            ("--user-column", "person", "--target", "DPWaveCluster"),
            "--user-column must come with --target DPKMeans, got DPWaveCluster",
        ),
    ]:
        with subtests.test(arguments=arguments, words=words):
            message = refused(shoal, "people.csv", *arguments)
            assert words in message


def test_ids_that_cannot_be_told_apart(shoal):
    message = refused(shoal, "floats.parquet", "--user-column", "person")
    assert "column 'person' must say in text or whole numbers" in message
    Path("people.csv").write_text("age,weight,person\n1,2,a\n3,4,\n")
    assert "got rows without" in refused(shoal, "people.csv", "--user-column", "person")


def test_a_ledger_for_people_does_not_pay_for_rows(shoal):
    unit = PrivacyUnit.user("person")
    Path("people.ledger").unlink()
    Path("people.ledger.head").unlink()
    Ledger("people.ledger", epsilon=2.0, privacy_unit=unit)
    assert "name the column of users with --user-column" in refused(shoal, "people.csv")


def test_folders_are_refused(shoal):
    Path("folder").mkdir()
    Path("people.parquet").rename("folder/people.parquet")
    message = refused(shoal, "folder", "--user-column", "person")
    assert "--user-column must come with one CSV or Parquet file, got 'folder'" in message


def test_entries_say_who_spent_on_what(shoal):
    given = ("cluster", "people.csv", *BOX, "--ledger", "people.ledger", "--out", "made")
    code, out, _ = shoal(*given, "--who", "ann")
    assert code == 0
    assert "ledger: 1 entry, hash " in out
    code, out, _ = shoal(*given, "--seed", "1")
    assert code == 0
    assert "no promise: anyone who knows --seed can remove the noise" in out
    assert "not to be published" in out
    first, second = Ledger("people.ledger").entries
    assert (first.who, first.table, first.output, first.seeded) == ("ann", "people", "made", False)
    assert first.columns == ("age", "weight")
    assert (second.table, second.seeded) == ("people", True)
    assert Release.load("made/release.json").ledger == second.receipt
    message = refused(shoal, "plain.csv", "--no-header", "--columns", "age,weight,-,-", out="other")
    assert "--table must be 'people'" in message
    Path("people.2025.csv").write_bytes(Path("people.csv").read_bytes())
    message = refused(shoal, "people.2025.csv", out="other")
    assert "--table must be 'people'" in message
    assert "got 'people.2025'" in message
    code, _, err = shoal(
        *("cluster", "plain.csv", *BOX, "--no-header", "--columns", "age,weight,-,-"),
        *("--ledger", "people.ledger", "--table", "people", "--out", "made"),
    )
    assert (code, err) == (0, "")


@pytest.mark.parametrize("option", ["--table", "--who"])
def test_words_for_a_ledger_need_one(option, shoal):
    code, _, err = shoal("cluster", "people.csv", *BOX, "--no-ledger", option, "people")
    assert code == 2
    assert f"{option} must come without --no-ledger" in err


def test_rows_without_an_id_are_not_one_person(shoal, subtests):
    for mark in ["", " ", "NA", "n/a", "NaN", "NULL"]:
        with subtests.test(mark=mark):
            lines = Path("people.csv").read_text().splitlines()
            words = lines[7].split(",")
            lines[7] = ",".join([*words[:2], mark, words[3]])
            Path("gaps.csv").write_text("\n".join(lines) + "\n")
            given = ("--user-column", "person", "--ledger", "people.ledger", "--out", "made")
            code, _, err = shoal("cluster", "gaps.csv", *BOX, *given)
            assert code == 2
            assert "column 'person' must say whose record each row is, got rows without" in err
            assert len(Ledger("people.ledger")) == 0
