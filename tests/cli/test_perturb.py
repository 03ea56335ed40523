"""shoal perturb: a report for each record, with its promise; nothing spent on bad input."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from shoal._build import LOCAL
from shoal.cli._screen import command_line_message
from shoal.cli.perturb import perturb_command
from shoal.exceptions import BudgetExceededError, ReleaseError, ShoalError
from shoal.mechanisms import Laplace, load_mechanism
from shoal.privacy import Ledger
from shoal.tables import read_table

BOX = ["--bounds", "-1,1"]

app = typer.Typer()
app.command()(perturb_command)


@pytest.fixture
def data(tmp_path):
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    lines = [f"{x},{y},secret" for x, y in X.tolist()]
    path = tmp_path / "places.csv"
    path.write_text("east,north,name\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(data, *arguments, out, columns="east,north"):
    given = [str(data), "--columns", columns, *BOX, "-o", str(out), *arguments]
    local = {"Duchi", "Hybrid", "PartitionResponse", "Piecewise", "SquareWave"}
    if "--ledger" in arguments and not local & {*arguments}:
        given += ["--unit", "km"]
    return CliRunner().invoke(app, given)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_reports(data, tmp_path, ending):
    out = tmp_path / f"reports.{ending}"
    result = run(data, "--epsilon", "2", "--seed", "1", out=out)
    assert result.exit_code == 0, result.output
    records, reports = (read_table(path, columns=["east", "north"]) for path in (data, out))
    assert reports.names == records.names
    assert reports.X.shape == records.X.shape
    assert not (reports.X == records.X).any()
    assert b"secret" not in out.read_bytes()
    # Planar noise of epsilon 2 has a mean length of 2/epsilon; 300 of them, fixed seed.
    lengths = np.linalg.norm(reports.X - records.X, axis=1)
    assert lengths.mean() == pytest.approx(1.0, abs=0.2)
    assert "each report: metric privacy with epsilon = 2 per unit" in result.stdout
    assert "seeded: for tests and experiments only" in result.stdout
    assert "over the whole box: local differential privacy with epsilon = 5.65686" in result.stdout
    assert "300 reports: " in result.stdout


def test_parquet_in_and_out(tmp_path):
    data, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"0": [0.5, -0.5], "1": [0.1, 0.2]}), data)
    result = run(data, "--seed", "4", out=out, columns="0,1")
    assert result.exit_code == 0, result.output
    expected = Laplace(1.0, bounds=(-1.0, 1.0), random_state=4).fit_transform(
        read_table(data, columns=["0", "1"]).X
    )
    assert pq.read_table(out).column_names == ["0", "1"]
    assert (expected == read_table(out, columns=["0", "1"]).X).all()


def test_names_may_be_numbers(tmp_path):
    data, out = tmp_path / "in.parquet", tmp_path / "out.csv"
    pq.write_table(pa.table({"0": [0.5, -0.5], "1": [0.1, 0.2]}), data)
    assert run(data, out=out, columns="0,1").exit_code == 0
    assert out.read_text().startswith("0,1\n")
    assert len(read_table(out, columns=["0", "1"]).X) == 2


def test_a_ledger_needs_the_unit_of_distance(data, tmp_path):
    ledger = Ledger(tmp_path / "a.ledger", epsilon=9.0, metric_epsilon=9.0, metric_unit="km")
    given = [str(data), "--columns", "east,north", *BOX, "-o", str(tmp_path / "r.csv")]
    given += ["--ledger", ledger.path]
    refused = CliRunner().invoke(app, given)
    assert "name it with --unit" in command_line_message(refused.exception)
    refused = CliRunner().invoke(app, [*given, "--target", "Duchi", "--unit", "km"])
    assert "--unit must come with a metric promise, got Duchi" in str(refused.exception)
    assert not ledger.entries
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.parametrize("target", [name for name in LOCAL if name != "SphericalLaplace"])
def test_every_mechanism(data, tmp_path, target):
    ledger = Ledger(tmp_path / "a.ledger", epsilon=9.0, metric_epsilon=9.0, metric_unit="km")
    words = ["--target", target, "--ledger", ledger.path, "--json"]
    result = run(data, *words, out=tmp_path / "r.csv")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["reports"] == 300
    assert found["guarantee"]["epsilon"] == 1.0
    assert found["guarantee"]["seeded"] is False
    (entry,) = ledger.entries  # one spend, however the reports are made
    assert (entry.table, entry.output) == ("places", "r.csv")
    if target != "KdLaplace":  # whose own mechanism, which spends, knows no names
        assert entry.columns == ("east", "north")
    assert found["ledger"] == entry.receipt.to_dict()
    reported = ["east", "north"] if target != "PartitionResponse" else ["partition", "color"]
    assert np.isfinite(read_table(tmp_path / "r.csv", columns=reported).X).all()
    if target == "KdLaplace":  # which is for the curator, and no estimator reads its reports
        assert found["document"] is None
        return
    server = load_mechanism(found["document"])
    assert (type(server).__name__, server.epsilon) == (target, 1.0)
    assert server.feature_names_in_.tolist() == ["east", "north"]


def test_reports_of_partitions_are_whole_numbers(data, tmp_path):
    out = tmp_path / "r.csv"
    settings = ["--target", "PartitionResponse", "--set", "n_clusters=5", "--epsilon", "2"]
    result = run(data, *settings, out=out)
    assert result.exit_code == 0, result.output
    assert f"public document for the server: {out}.mechanism.json" in result.stdout
    lines = out.read_text().splitlines()
    assert lines[0] == "partition,color"
    pairs = np.array([list(map(int, line.split(","))) for line in lines[1:]])
    server = load_mechanism(f"{out}.mechanism.json")
    assert server.n_clusters == 5
    assert pairs.shape == (300, 2)
    assert (pairs < [server.partitions_.n_partitions, server.partitions_.n_colors]).all()


def test_a_seed_is_no_secret_of_the_document(data, tmp_path):
    assert run(data, "--seed", "71935", out=tmp_path / "r.csv").exit_code == 0
    document = tmp_path / "r.csv.mechanism.json"
    assert "71935" not in document.read_text()
    assert not load_mechanism(document).guarantee_.holds


def test_spent_budget(data, tmp_path):
    ledger = Ledger(tmp_path / "a.ledger", epsilon=1.0, metric_epsilon=1.5, metric_unit="km")
    assert run(data, "--ledger", ledger.path, out=tmp_path / "one.csv").exit_code == 0
    refused = run(data, "--ledger", ledger.path, out=tmp_path / "two.csv")
    assert isinstance(refused.exception, BudgetExceededError)
    document = "one.csv.mechanism.json"
    assert names(tmp_path) == ["a.ledger", "a.ledger.head", "one.csv", document, "places.csv"]
    assert len(ledger) == 1


def test_bad_input(data, tmp_path, subtests):
    (tmp_path / "link.csv").symlink_to(data)
    for arguments, text in [
        (["--columns", "east,west"], "must have one column 'west', got none"),
        (["--columns", "east,name"], "column 'name' must hold numbers, got text"),
        (["--target", "Noise"], "--target must be one of Duchi, Hybrid"),
        (["--target", "DPKMeans"], "--target must be one of Duchi, Hybrid"),
        (["--target", "SphericalLaplace"], "3 columns"),
        (["--epsilon", "0"], "epsilon must be"),
        (["--bounds", "1,-1"], "bounds must have low < high"),
        (["--bounds", "private"], "got 'private'"),
        (["--set", "k=1"], "--set must name a parameter of Laplace, got 'k'"),
        (["--set", "truncate=often"], "truncate must be"),
        (["-o", "{folder}/places.csv"], "--out must not replace the records"),
        (["-o", "{folder}/link.csv"], "--out must not replace the records"),
        (["-o", "{folder}/a.ledger"], "--out must not replace the ledger"),
        (["-o", "{folder}/reports.txt"], "ends in .csv or .parquet"),
        (["-o", "{folder}/none/reports.csv"], "can be written"),
        (["-o", "{folder}/places.csv/r.csv"], "can be written"),
        (["--ledger", "{folder}/none"], "there is no ledger at"),
    ]:
        with subtests.test(arguments=arguments, text=text):
            before, ledger = (
                data.read_bytes(),
                Ledger(tmp_path / "a.ledger", epsilon=9, metric_epsilon=9, metric_unit="km"),
            )
            given = [argument.replace("{folder}", str(tmp_path)) for argument in arguments]
            result = run(data, "--ledger", ledger.path, *given, out=tmp_path / "reports.csv")
            assert isinstance(result.exception, ShoalError), result.output
            assert text in str(result.exception)
            assert "\n" not in str(result.exception)
            assert names(tmp_path) == ["a.ledger", "a.ledger.head", "link.csv", "places.csv"], (
                "nothing half-written"
            )
            assert data.read_bytes() == before
            assert not ledger.entries


def test_wrong_file_and_missing_output(data, tmp_path):
    assert "No such file" in str(run(tmp_path / "no.csv", out=tmp_path / "r.csv").exception)
    refused = CliRunner().invoke(app, [str(data), *BOX])
    assert refused.exit_code == 2
    assert "--out" in refused.output


def test_a_disk_that_fails_after_the_spend(data, tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    draw = Laplace.fit_transform

    def remove(self, X, y=None):
        folder.rmdir()  # between the check and the write
        return draw(self, X)

    monkeypatch.setattr(Laplace, "fit_transform", remove)
    result = run(data, out=folder / "reports.csv")
    assert isinstance(result.exception, ReleaseError)
    assert "the budget was spent anyway, and no report was written" in str(result.exception)


def test_help_has_an_example():
    words = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    assert "shoal perturb places.csv -o reports.csv" in words


def test_a_place_is_promised_over_its_disc_in_kilometers():
    """Its columns have another unit than its promise."""
    from shoal.cli._reports import promises
    from shoal.mechanisms import PlanarLaplace
    from shoal.schema import Place, Schema

    home = Place("home", center=(24.94, 60.17), radius=50.0, missing="refuse")
    whole = promises(PlanarLaplace(0.1, schema=Schema([home])))["over the whole box"]
    assert 10 < whole.epsilon < 0.1 * 100 * 2**0.5
