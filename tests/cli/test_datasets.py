"""shoal datasets: what is known, what is there, and bounds that can be passed on."""

import json

import pytest
import typer
from typer.testing import CliRunner

from shoal.cli._arguments import parse_bounds
from shoal.cli.datasets import datasets
from shoal.datasets import list_datasets
from shoal.exceptions import ParameterError

app = typer.Typer()
app.command()(datasets)


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_list():
    result = run()
    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line.split() for line in result.stdout.splitlines()}
    assert lines["iris"][1:4] == ["150", "4", "yes"]
    assert lines["seeds"][1:3] == ["7", "no"]
    assert "doi 10.24432/C5H30K" in " ".join(lines["seeds"]), "a file gets the whole line"
    assert "make_circle" in result.stdout
    absent = sum(not info.bundled for info in list_datasets())
    assert f"{absent} are not there: set SHOAL_DATA" in result.stdout


def test_one():
    result = run("iris")
    assert result.exit_code == 0, result.output
    assert "iris: 150 records x 4 columns, 3 labels" in result.stdout
    assert "licence: CC BY 4.0 (UCI)" in result.stdout
    assert "sepal length (cm)" in result.stdout
    assert "why they hold: lengths of parts" in result.stdout


def test_one_that_is_not_there():
    result = run("seeds")
    assert result.exit_code == 0, result.output
    assert "needs the file seeds.csv: set SHOAL_DATA" in result.stdout
    assert "kernel_length" in result.stdout, "bounds are public and need no file"


def test_one_that_was_changed(tmp_path, monkeypatch):
    (tmp_path / "seeds.csv").write_text("area\n1\n")
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    found = json.loads(run("seeds", "--json").stdout)
    assert found["there"] is False
    assert "must have sha256" in found["why_not"]


def test_json(tmp_path):
    listed = json.loads(run("--json").stdout)
    assert [entry["name"] for entry in listed] == [info.name for info in list_datasets()]
    iris = json.loads(run("iris", "--json").stdout)
    assert iris in listed
    assert (iris["records"], iris["columns"], iris["there"]) == (150, 4, True)
    path = tmp_path / "bounds.json"
    path.write_text(json.dumps(iris["bounds"]))
    assert parse_bounds(str(path), list(iris["bounds"])) == ([0.0] * 4, [10.0] * 4)


def test_unknown_name():
    result = run("irises")
    assert isinstance(result.exception, ParameterError)
    assert str(result.exception).endswith("got 'irises'")
    assert "iris, digits" in str(result.exception)
    assert result.stdout == ""


def test_help_has_an_example():
    assert "shoal datasets iris" in " ".join(run("--help").stdout.split())
