"""``shoal profile``: sentences, files beside those of the clusters, and one line where it fails."""

import json

import pytest
from typer.testing import CliRunner

from shoal.cli import app
from shoal.cluster import DPKMeans
from shoal.exceptions import DataError, LedgerFileError, ParameterError, ReleaseError
from shoal.privacy import Ledger, Release
from shoal.schema import Category, Field, Number, Schema

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120, unit="years"),
        Category("city", ["A", "B"], role="describe"),
        Field("who", role="user"),
    ]
)
FILES = {"profile.json", "profile.csv", "profile.html", "profile.png"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + 40 * (i % 2)},{'AB'[i % 2]},p{i // 2}" for i in range(2000)]
    (tmp_path / "people.csv").write_text("\n".join(["age,city,who", *rows]) + "\n")
    SCHEMA.save("s.json")
    ages = {"age": [20, 60] * 500}
    model = DPKMeans(2, schema=Schema([SCHEMA["age"]]), random_state=0).fit(ages)
    (tmp_path / "out").mkdir()
    model.release_.save("out/release.json")
    return tmp_path


def run(*arguments):
    words = ["profile", "people.csv", "--release", "out", "--schema", "s.json", "--out", "out"]
    return CliRunner().invoke(app, [*words, *arguments])


def test_a_profile_beside_the_clusters(folder):
    clusters = (folder / "out/release.json").read_text()
    Ledger(folder / "l.json", epsilon=2.0)
    done = run("--seed", "0", "--ledger", "l.json", "--records-per-user", "2", "--epsilon", "1")
    assert done.exit_code == 0, done.output
    assert "city A 9" in done.output
    assert "against" in done.output
    assert "user (all rows with one value of 'who', of which at most 2 count)" in done.output
    assert {path.name for path in (folder / "out").iterdir()} == FILES | {"release.json"}
    assert (folder / "out/release.json").read_text() == clusters
    assert Release.load(folder / "out/profile.json").kind == "ClusterProfile"
    assert len(Ledger(folder / "l.json")) == 1


def test_json_holds_the_rows(folder):
    done = run("--seed", "0", "--json", "--epsilon", "2")
    found = json.loads(done.output)
    assert len(found["sentences"]) == 2
    assert {"cluster", "field", "value", "low", "high"} <= set(found["rows"][0])
    assert found["may_be_published"] is False


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (["--epsilon", "0"], ParameterError, "epsilon"),
        (["--release", "nothing.json"], ReleaseError, "nothing.json"),
        (["--schema", "nothing.json"], ParameterError, "nothing.json"),
        (["--user-column", "name"], ParameterError, "--user-column"),
        (["--ledger", "l.json"], LedgerFileError, "no ledger"),
    ],
)
def test_what_fails_is_one_line_and_leaves_nothing(folder, arguments, error, words):
    failed = run(*arguments)
    assert isinstance(failed.exception, error)
    assert words in str(failed.exception)
    assert "\n" not in str(failed.exception)
    assert {path.name for path in (folder / "out").iterdir()} == {"release.json"}


def test_a_missing_column_spends_nothing(folder):
    (folder / "people.csv").write_text("age,who\n30,a\n")
    Ledger(folder / "l.json", epsilon=2.0)
    failed = run("--ledger", "l.json")
    assert isinstance(failed.exception, DataError)
    assert len(Ledger(folder / "l.json")) == 0
