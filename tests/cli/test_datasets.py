"""shoal datasets: what is known, what is there, and bounds that can be passed on."""

import hashlib
import json
import sys
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

from shoal.cli._input import parse_bounds
from shoal.cli.datasets import datasets_command
from shoal.datasets import list_datasets
from shoal.datasets import registry as registry_module
from shoal.datasets.registry import REGISTRY, find
from shoal.exceptions import DataError, ParameterError
from shoal.schema import Schema

app = typer.Typer()
app.command()(datasets_command)


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


CONTENT = b" 24 0 40\n 24 0 48\n 32 8 40"
FILE = b"r,g,b\n24,0,40\n24,0,48\n32,8,40\n"


@pytest.fixture
def asked(monkeypatch):
    """Take house5 from a stand-in for the network, and note the addresses."""
    info = replace(find("house5"), sha256=hashlib.sha256(FILE).hexdigest())
    others = tuple(entry for entry in REGISTRY if entry.name != info.name)
    monkeypatch.setattr(registry_module, "REGISTRY", (info, *others))
    monkeypatch.setattr(sys.modules["shoal.datasets.loading"], "REGISTRY", (info, *others))
    urls = []

    def serve(url):
        urls.append(url)
        return CONTENT

    monkeypatch.setattr(sys.modules["shoal.datasets.fetching"], "download", serve)
    return urls


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
    assert f"{absent} have no file here: set SHOAL_DATA" in result.stdout


def test_one():
    result = run("iris")
    assert result.exit_code == 0, result.output
    assert "iris: 150 records x 4 columns, 3 labels" in result.stdout
    assert "license: CC BY 4.0 (UCI)" in result.stdout
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


def test_schema_of_a_mixed_table():
    found = json.loads(run("adult_mixed", "--json").stdout)
    assert found["columns"] == 15
    assert found["bounds"]["age"] == [0.0, 100.0]
    assert [field["name"] for field in found["schema"]["fields"]][:2] == ["age", "workclass"]
    shown = run("diamonds").stdout
    assert "one of 5" in shown
    assert "documentation of ggplot2" in shown


def test_schema_out(tmp_path):
    path = tmp_path / "schema.json"
    assert "schema: " in run("iris", "--schema-out", str(path)).stdout
    schema = Schema.load(path)
    assert schema.columns[0] == "sepal length (cm)"
    refused = run("--schema-out", str(path)).exception
    assert isinstance(refused, ParameterError)
    assert "must come with the name of a data set" in str(refused)


def test_unknown_name():
    result = run("irises")
    assert isinstance(result.exception, ParameterError)
    assert str(result.exception).endswith("got 'irises'")
    assert "iris, digits" in str(result.exception)
    assert result.stdout == ""


def test_download(asked, tmp_path):
    result = run("house5", "--download", "--to", str(tmp_path / "data"))
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("house5: license no formal license")
    assert "source SIPU image data" in result.stderr
    assert asked[0] in result.stderr
    assert "house5: 3 records x 3 columns" in result.stdout
    assert str(tmp_path / "data" / "house5.csv") in "".join(result.stdout.split("\n"))
    assert (tmp_path / "data" / "house5.csv").read_bytes() == FILE
    assert len(asked) == 1


def test_download_to_the_cache(asked, tmp_path):
    assert json.loads(run("house5", "--json").stdout)["there"] is False
    found = json.loads(run("house5", "--download", "--json").stdout)
    assert (found["there"], found["records"]) == (True, 3)
    assert found["path"] == str(tmp_path / "cache" / "shoal" / "house5.csv")
    assert json.loads(run("house5", "--json").stdout)["there"] is True
    assert len(asked) == 1


def test_nothing_is_downloaded_without_being_asked(asked):
    assert "or run `shoal datasets house5 --download`" in run("house5").stdout
    assert "shoal datasets NAME --download" in run().stdout
    assert asked == []


def test_what_is_not_the_file_is_not_kept(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(sys.modules["shoal.datasets.fetching"], "download", lambda _: b"1 2 3\n")
    result = run("house5", "--download", "--to", str(tmp_path))
    assert isinstance(result.exception, DataError)
    assert "nothing was kept" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_recipe_says_where_it_is():
    result = run("heart", "--download")
    assert isinstance(result.exception, DataError)
    assert "heart cannot be downloaded" in str(result.exception)
    assert "data/CTG.xls" in str(result.exception)


def test_help_has_an_example():
    assert "shoal datasets iris" in " ".join(run("--help").stdout.split())
