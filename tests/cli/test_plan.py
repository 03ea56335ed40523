"""``shoal plan`` needs a schema and public numbers, and no file of records."""

import json
import sys

import pytest
from typer.testing import CliRunner

from shoal import experiments
from shoal.cli import app, main
from shoal.experiments import _campaigns, _made_up_tables
from shoal.experiments._campaigns import Outcome
from shoal.plotting import page_scripts
from shoal.schema import Category, Number, Schema

SCHEMA = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_made_up_tables, "ODD_TABLES", 1)
    monkeypatch.setattr(_made_up_tables, "HALVINGS", 2)
    SCHEMA.save("people.json")
    return tmp_path


def run(*arguments):
    """Run the example of the help."""
    options = ["plan", "--schema", "people.json", "--n", "2000", "--k", "3", "--epsilons", "0.5,1"]
    return CliRunner().invoke(app, [*options, *arguments])


def test_a_table_a_page_and_a_picture(folder):
    done = run("--out", "out")
    assert done.exit_code == 0, done.output
    assert "What epsilon would buy: 3 clusters of 2,000 records" in done.stdout
    assert "no record was read, nothing was spent" in done.stdout
    assert sorted(file.name for file in (folder / "out").iterdir()) == ["plan.html", "plan.png"]
    page = (folder / "out/plan.html").read_text(encoding="utf-8")
    assert page.replace(page_scripts(), "").count("<tr>") == 3
    assert '<div class="chart"' in page


def test_json(monkeypatch):
    monkeypatch.setattr(experiments, "plan_report", lambda path, plan, made: path)  # it takes long
    plain = json.loads(run("--json", "--delta", "1e-6", "--records-per-user", "3").stdout)
    assert [row["epsilon"] for row in plain["rows"]] == [0.5, 1.0]
    assert (plain["n"], plain["k"], plain["delta"]) == (2000, 3, 1e-6)
    assert plain["report"].endswith("plan.html")


LOCAL = ["plan", "--model", "local", "--columns", "age", "--bounds", "0,120", "--k", "2"]
LOCAL += ["--epsilons", "4", "--smallest", "0.3", "--n", "2000"]


def test_devices(folder, monkeypatch):
    monkeypatch.setattr(_campaigns, "MAX_ROWS", 1000)
    monkeypatch.setattr(_campaigns.Campaigns, "run", lambda *_: Outcome(1.3, 1.2, 1.4, 1.0))
    done = CliRunner().invoke(app, [*LOCAL, "--out", "out"])
    assert done.exit_code == 0, done.output
    assert "How many devices: 2 clusters, the smallest of 30.0%, 1 encoded columns" in done.stdout
    assert "no device was asked, nothing was spent" in done.stdout
    assert sorted(file.name for file in (folder / "out").iterdir()) == ["plan.html", "plan.png"]
    monkeypatch.setattr(experiments, "plan_report", lambda path, plan, made: path)
    plain = json.loads(CliRunner().invoke(app, [*LOCAL, "--json", "--cost", "1.5"]).stdout)
    assert (plain["model"], plain["n"], plain["cost"]) == ("local", 2000, 1.5)
    assert plain["rows"][0]["shuffled_epsilon"] < 4.0


def test_a_shuffled_batch(monkeypatch):
    words = ["plan", "--model", "shuffled", "--central-epsilon", "1", "--n", "1000"]
    monkeypatch.setattr(experiments, "plan_report", lambda path, plan, made: path)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "What a shuffled batch of 1,000" in done.stdout
    (row,) = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["rows"]
    assert row["local_epsilon"] > 1.0
    assert row["cost_ratio"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "open"], "--model must be one of central, local, shuffled, got 'open'"),
        (["--smallest", "0.1"], "--smallest must come with --model local or shuffled"),
        (["--cost", "1.1"], "--cost must come with --model local"),
        (["--bounds", "0,1"], "--bounds must be left out with --schema"),
        (["--central-epsilon", "1"], "--central-epsilon must come with --model shuffled"),
        (["--model", "shuffled", "--central-epsilon", "-1"], "--central-epsilon must be a finite"),
        (["--model", "local", "--records-per-user", "2"], "--records-per-user must come with"),
        (["--model", "local", "--smallest", "0.9"], "smallest must be at most 1 / k"),
        (["--schema", "none.json"], "schema must be a JSON file, got 'none.json'"),
        (["--epsilons", "1,a"], "--epsilons must be numbers > 0 separated by commas, got '1,a'"),
        (["--epsilons", "0"], "epsilons must be"),
        (["--delta", "1"], "delta must be"),
        (["--n", "0"], "--n"),
        (["--k", "0"], "--k"),
        (["--records-per-user", "0"], "--records-per-user"),
    ],
)
def test_bad_input_ends_with_a_clear_line(options, message, folder, monkeypatch, capsys):
    given = ["shoal", "plan", "--schema", "people.json", "--n", "500", *options]
    monkeypatch.setattr(sys, "argv", given)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not (folder / "shoal-plan").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--n", "5"], "--schema FILE, or --columns with --bounds LOW:HIGH,..., must describe"),
        (["--schema", "people.json"], "--n must be given for --model central"),
        (["--columns", "age"], "--columns must come with --bounds"),
        (["--bounds", "0,1"], "--columns must name every column"),
        (["--model", "shuffled"], "--n must be given for --model shuffled"),
        (["--model", "local"], "must describe the records"),
    ],
)
def test_what_must_be_given(options, message, folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["shoal", "plan", *options])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not (folder / "shoal-plan").exists()
