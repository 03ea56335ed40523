"""``shoal plan`` needs a schema and public numbers, and no file of records."""

import json
import sys

import pytest
from typer.testing import CliRunner

from shoal import experiments
from shoal.cli import app, main
from shoal.experiments import _made_up_tables
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--schema", "none.json"], "schema must be a JSON file, got 'none.json'"),
        (["--epsilons", "1,a"], "--epsilons must be numbers > 0, by commas, got '1,a'"),
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
