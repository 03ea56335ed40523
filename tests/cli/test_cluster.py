"""shoal cluster: a release and nothing else; one clear line and nothing spent on bad input."""

import csv
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from shoal import plotting
from shoal._cluster_table import cluster_table
from shoal.cli.cluster import cluster_command
from shoal.cluster import DPDensity
from shoal.exceptions import (
    BudgetExceededError,
    LedgerFileError,
    MissingPackageError,
    ReleaseError,
    ShoalError,
)
from shoal.privacy import Ledger, Release
from shoal.tables import read_table

SENTINEL = "41.73912846"  # a value of a record, in no release

app = typer.Typer()
app.command()(cluster_command)


@pytest.fixture
def data(tmp_path):
    """Two clusters of 200 people, their ages and heights, and a word."""
    rng = np.random.default_rng(0)
    X = np.repeat([[20.0, 120.0], [70.0, 190.0]], 200, axis=0) + rng.normal(scale=3, size=(400, 2))
    lines = [f"{age:.8f},{height:.8f},secret{i}" for i, (age, height) in enumerate(X)]
    lines.append(f"{SENTINEL},{SENTINEL},secret400")
    path = tmp_path / "people.csv"
    path.write_text("age,height,name\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(data, *arguments, out, columns="age,height", bounds="0:120,50:250"):
    given = ["--columns", columns, *(["--bounds", bounds] if bounds else [])]
    return CliRunner().invoke(app, [str(data), *given, *arguments, "--out", str(out)])


def read_back(path):
    """Read a table of ours, whose first line names its columns."""
    with path.open() as file:
        return read_table(path, columns=next(csv.reader(file)))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_centers(data, tmp_path):
    out = tmp_path / "new" / "out"
    result = run(data, "--epsilon", "2", "--set", "n_clusters=2", out=out)
    assert result.exit_code == 0, result.output
    assert names(out) == ["centers.csv", "release.json", "release.png"]
    release = Release.load(out / "release.json")
    assert release.guarantee.epsilon == 2.0
    assert release.guarantee.holds
    table = read_back(out / "centers.csv")
    assert table.names == ("age", "height", "noisy_size", "radius", "certain")
    assert release.values["columns"] == ["age", "height"]
    assert (table.X[:, :2] == release.values["centers"]).all()
    assert (out / "release.png").stat().st_size > 10_000
    assert str(release.guarantee) in result.stdout
    assert "may be published" in result.stdout
    assert "age" in result.stdout


@pytest.mark.parametrize("target", ["DPKMeans", "dpwavecluster", "DPDensity"])
def test_no_record_and_no_label_in_the_release(data, tmp_path, target):
    out = tmp_path / "out"
    words = ["--target", target, "--labels", str(tmp_path / "labels.csv"), "--seed", "3"]
    result = run(data, *words, out=out)
    assert result.exit_code == 0, result.output
    written = b"".join(path.read_bytes() for path in out.iterdir()) + result.stdout.encode()
    for word in (SENTINEL, SENTINEL[:7], "secret", "labels_"):
        assert word.encode() not in written
    # Labels would be a list of as many numbers as there are records.
    assert all(
        np.size(value) != 401
        for value in Release.load(out / "release.json").values.values()
        if not isinstance(value, str)
    )
    assert not [name for name in names(out) if name.startswith(".")]
    assert len(read_back(tmp_path / "labels.csv").X) == 401
    assert "for the curator only: " in result.stdout


def test_cells(data, tmp_path):
    out = tmp_path / "out"
    words = ["--target", "DPWaveCluster", "--epsilon", "5", "--set", "grid=16", "--seed", "1"]
    result = run(data, *words, out=out)
    assert result.exit_code == 0, result.output
    assert names(out) == ["clusters.csv", "release.json", "release.png"]
    values = Release.load(out / "release.json").values
    table = read_back(out / "clusters.csv")
    assert table.names == ("cells", "age from", "age to", "height from", "height to")
    assert table.X[:, 0].sum() == len(values["cells"])
    assert (table.X[:, 1] < table.X[:, 2]).all()
    assert (table.X[:, [1, 3]] >= values["low"]).all()
    assert (table.X[:, [2, 4]] <= values["high"]).all()
    ages = table.X[:, 1:3]
    assert any(low <= 20 <= high for low, high in ages)
    assert any(low <= 70 <= high for low, high in ages)


def test_clusters_of_a_density(data, tmp_path):
    out = tmp_path / "out"
    words = ["--target", "DPDensity", "--set", "n_clusters=2", "--seed", "1"]
    result = run(data, *words, "--longitude", "height", out=out)
    assert result.exit_code == 0, result.output
    assert names(out) == ["clusters.csv", "outlines.geojson", "release.json", "release.png"]
    assert "in none" in " ".join(result.stdout.split())
    table = read_back(out / "clusters.csv")
    sides = ("age from", "age to", "height from", "height to")
    assert table.names == ("age", "height", "noisy_size", "share", *sides)
    (age, height), size, share = table.X[:, :2].T, table.X[:, 2], table.X[:, 3]
    assert sorted(age) == pytest.approx([20.0, 70.0], abs=5.0)
    assert sorted(height) == pytest.approx([120.0, 190.0], abs=8.0)
    assert size == pytest.approx([200.0, 200.0], rel=0.3)
    assert 0.5 < share.sum() <= 1.0 + 1e-12
    assert ((table.X[:, [4, 6]] < table.X[:, :2]) & (table.X[:, :2] < table.X[:, [5, 7]])).all()
    outlines = json.loads((out / "outlines.geojson").read_text())
    for row, feature in zip(table.X, outlines["features"], strict=True):
        assert feature["properties"]["size"] == row[2]
        points = np.array([p for part in feature["geometry"]["coordinates"] for p in part[0]])
        # Heights go east here.
        assert points.min(axis=0) == pytest.approx(row[[6, 4]])
        assert points.max(axis=0) == pytest.approx(row[[7, 5]])


def test_a_density_of_one_column(data, tmp_path):
    words = ["--target", "DPDensity", "--set", "n_clusters=2", "--seed", "1", "--json"]
    result = run(data, *words, out=tmp_path / "out", columns="age", bounds="0,120")
    assert result.exit_code == 0, result.output
    assert names(tmp_path / "out") == ["clusters.csv", "release.json", "release.png"]
    heads = {"cluster", "age", "noisy_size", "share", "age from", "age to"}
    assert set(json.loads(result.stdout)["clusters"][0]) == heads


def test_extents_in_a_box_as_wide_as_doubles():
    box = (-1.7e308, 1.7e308)
    model = DPDensity(bounds=box, random_state=0).fit(np.full((500, 1), 1.6e308))
    values = cluster_table(model.release_, ("x",)).values
    assert len(values)
    assert np.isfinite(values).all()
    assert (np.abs(values[:, -2:]) <= box[1]).all()


@pytest.mark.parametrize(("columns", "bounds"), [("age", "0,120"), ("a,b,c,d", "0,9")])
def test_other_numbers_of_columns(data, tmp_path, columns, bounds):
    if columns != "age":
        data = tmp_path / "wide.parquet"
        pq.write_table(pa.table({name: [1.0, 2.0] for name in "abcd"}), data)
    out = tmp_path / "out"
    result = run(data, "--set", "n_clusters=3", out=out, columns=columns, bounds=bounds)
    assert result.exit_code == 0, result.output
    heads = (out / "centers.csv").read_text().splitlines()[0].split(",")
    assert heads == [*columns.split(","), "noisy_size", "radius", "certain"]
    assert (out / "release.png").stat().st_size > 5_000


def test_names_that_are_in_the_way(tmp_path):
    data = tmp_path / "odd.csv"
    data.write_text("radius,[bold]x,$y$\n1,2,3\n2,3,4\n")
    out = tmp_path / "out"
    result = run(data, out=out, columns="radius,[bold]x,$y$", bounds="0,9")
    assert result.exit_code == 0, result.output
    assert "[bold]x" in result.stdout
    found = read_table(out / "centers.csv", columns=["radius", "[bold]x", "$y$", "noisy_size"])
    assert len(found.X) == 8
    heads = (out / "centers.csv").read_text().splitlines()[0]
    assert heads == "radius,[bold]x,$y$,noisy_size,radius_,certain"


def test_private_bounds(data, tmp_path):
    out = tmp_path / "out"
    result = run(data, "--set", "n_clusters=2", out=out, bounds="private")
    assert result.exit_code == 0, result.output
    assert Release.load(out / "release.json").guarantee.epsilon == 1.0


def test_json_and_seed(data, tmp_path):
    words = ["--set", "n_clusters=2", "--seed", "7", "--no-ledger", "--json"]
    prints = [json.loads(run(data, *words, out=tmp_path / "out").stdout) for _ in range(2)]
    assert prints[0] == prints[1]
    assert "seeded: for tests and experiments only" in prints[0]["guarantee"]["text"]
    assert prints[0]["may_be_published"] is False
    assert sorted(round(row["age"], -1) for row in prints[0]["clusters"]) == [20, 70]
    heads = {"cluster", "age", "height", "noisy_size", "radius", "certain"}
    assert set(prints[0]["clusters"][0]) == heads
    assert prints[0]["may_be_noise"] == []
    assert prints[0]["labels_for_the_curator_only"] is None
    plain = run(data, *words[:-1], out=tmp_path / "out").stdout
    assert "not to be published: " in plain
    assert "seeded" in (tmp_path / "out" / "release.json").read_text()


def test_centers_that_may_be_noise_are_no_segments(tmp_path):
    """Heavy tails in wide bounds: what noise alone explains is listed apart, with advice."""
    rng = np.random.default_rng(100)
    X = np.column_stack([rng.normal(45.0, 15.0, 4000), rng.lognormal(10.6, 0.9, 4000)])
    data, out = tmp_path / "incomes.csv", tmp_path / "out"
    lines = [f"{age:.6g},{income:.6g}" for age, income in X]
    data.write_text("age,income\n" + "\n".join(lines) + "\n", encoding="utf-8")
    words = ["--set", "n_clusters=6", "--seed", "0"]
    where = {"out": out, "columns": "age,income", "bounds": "18:100,0:5000000"}
    printed = json.loads(run(data, *words, "--json", **where).stdout)
    noise = [row["cluster"] for row in printed["may_be_noise"]]
    values = Release.load(out / "release.json").values
    assert noise == np.flatnonzero(~values["certain"]).tolist()
    assert noise
    assert [row["radius"] for row in printed["may_be_noise"]] == [None] * len(noise)
    listed = [row["cluster"] for row in printed["clusters"]]
    assert sorted(listed + noise) == list(range(6))
    shown = run(data, *words, **where).stdout
    known = 6 - len(noise)
    assert f"{known} clusters" in shown
    assert f"{len(noise)} of 6 centers may be noise alone" in shown
    assert "span at most 1% of income: narrow these bounds, have them learned, or" in shown
    assert f"(--bounds private or --k {known})" in shown
    assert f"not listed as segments: {', '.join(map(str, noise))}" in shown
    rows = [line.split()[1] for line in shown.splitlines() if line.startswith("│")]
    assert rows == list(map(str, listed))


def test_nothing_certain(tmp_path):
    data = tmp_path / "few.csv"
    data.write_text("age,height\n41,170\n42,180\n", encoding="utf-8")
    shown = run(data, "--set", "n_clusters=2", "--seed", "0", out=tmp_path / "out").stdout
    assert "0 clusters" in shown
    assert "2 of 2 centers may be noise alone: raise epsilon, bring more records" in shown
    assert "(--bounds private or --epsilon)" in shown


def test_an_earlier_release_is_replaced_as_a_whole(data, tmp_path):
    out = tmp_path / "out"
    run(data, out=out)
    result = run(data, "--target", "DPWaveCluster", out=out)
    assert result.exit_code == 0, result.output
    assert names(out) == ["clusters.csv", "release.json", "release.png"]


def test_ledger(data, tmp_path):
    ledger = Ledger(tmp_path / "people.ledger", epsilon=1.5)
    words = ["--set", "n_clusters=2", "--ledger", ledger.path]
    assert run(data, *words, out=tmp_path / "one").exit_code == 0
    assert [promise.epsilon for promise in ledger.spent] == [1.0]
    (entry,) = ledger.entries
    assert entry.purpose.startswith("DPKMeans(2")
    refused = run(data, *words, "--labels", str(tmp_path / "l.csv"), out=tmp_path / "two" / "deep")
    assert isinstance(refused.exception, BudgetExceededError)
    assert "\n" not in str(refused.exception)
    assert [promise.epsilon for promise in ledger.spent] == [1.0]
    assert names(tmp_path) == ["one", "people.csv", "people.ledger", "people.ledger.head"]


def test_a_refused_run_leaves_the_earlier_release(data, tmp_path):
    out, ledger = tmp_path / "out", Ledger(tmp_path / "people.ledger", epsilon=1.5)
    assert run(data, "--ledger", ledger.path, out=out).exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run(data, "--ledger", ledger.path, out=out).exit_code != 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_bad_input(data, tmp_path, subtests):
    for arguments, text in [
        (["--columns", "age,weight"], "must have one column 'weight', got none"),
        (["--columns", "age,name"], "column 'name' must hold numbers, got text"),
        (["--target", "KMeans"], "of DPDensity, DPKMeans, DPWaveCluster, got 'KMeans'"),
        (["--target", "Laplace"], "--target must be one of DPDensity, DPKMeans"),
        (["--target", "os:path"], "--target must be one of"),
        (["--epsilon", "0"], "epsilon must be"),
        (["--epsilon", "nan"], "epsilon must be"),
        (["--bounds", "5,1"], "bounds must have low < high"),
        (["--bounds", "0:1"], "bounds must"),
        (["--bounds", "none.json"], "No such file"),
        (["--target", "DPWaveCluster", "--bounds", "private"], "got 'private'"),
        (["--target", "DPDensity", "--bounds", "private"], "got 'private'"),
        (["--target", "DPDensity", "--set", "alpha=2"], "alpha must be a number in (0, 1), got 2"),
        (["--target", "DPDensity", "--longitude", "name"], "--longitude must be one of --columns"),
        (["--longitude", "age"], "--longitude must come with --target DPDensity and 2 columns"),
        (["--set", "k=3"], "--set must name a parameter of DPKMeans, got 'k'"),
        (["--set", "n_clusters=0"], "n_clusters must"),
        (["--set", "n_clusters=many"], "n_clusters must"),
        (["--set", "method=best"], "method must"),
        (["--set", "random_state=1"], "must not name random_state, got it: use --seed"),
        (["--set", "ledger=free"], "must not name ledger, got it: use --ledger"),
        (["--ledger", "{folder}/none.ledger"], "make one with `shoal ledger"),
        (["--ledger", "{folder}"], "Is a directory"),
        (["--ledger", "{folder}/people.csv"], "is not a ledger"),
        (["--labels", "{folder}/labels.txt"], "ends in .csv or .parquet"),
        (["--labels", "{folder}/none/labels.csv"], "can be written"),
        (["--labels", "{folder}/people.csv"], "must not replace the data"),
        (["--labels", "{folder}/good.ledger"], "must not replace the ledger"),
        (["--labels", "{folder}/out/labels.csv"], "outside the release's folder"),
        (["--out", "{folder}/people.csv"], "--out must be a writable folder"),
        (["--out", "{folder}/people.csv/deep"], "--out must be a writable folder"),
    ]:
        with subtests.test(arguments=arguments, text=text):
            before = data.read_bytes()
            ledger = Ledger(tmp_path / "good.ledger", epsilon=9.0)
            given = [str(data), "--columns", "age,height", "--bounds", "0:120,50:250"]
            given += ["--ledger", ledger.path, "--out", str(tmp_path / "out")]
            given += [argument.replace("{folder}", str(tmp_path)) for argument in arguments]
            result = CliRunner().invoke(app, given)
            assert isinstance(result.exception, ShoalError), result.output
            assert text in str(result.exception)
            assert "\n" not in str(result.exception)
            assert "secret" not in str(result.exception)
            assert result.stdout == ""
            assert names(tmp_path) == ["good.ledger", "good.ledger.head", "people.csv"], (
                "nothing half-written"
            )
            assert data.read_bytes() == before
            assert not ledger.entries


def test_wrong_file(tmp_path):
    assert "No such file" in str(run(tmp_path / "none.csv", out=tmp_path / "out").exception)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    result = run(tmp_path / "broken.parquet", out=tmp_path / "out")
    assert "must be a CSV or Parquet file" in str(result.exception)
    assert names(tmp_path) == ["broken.parquet"]


def test_bounds_are_asked_for(data, tmp_path):
    result = run(data, out=tmp_path / "out", bounds=None)
    assert "--bounds LOW,HIGH" in str(result.exception)


@pytest.mark.parametrize("name", ["centers.csv", "clusters.csv", "release.png"])
def test_files_of_others_stay(data, tmp_path, name):
    (tmp_path / name).write_text("mine")
    result = run(data, out=tmp_path)
    assert f"with another {name}" in str(result.exception)
    assert (tmp_path / name).read_text() == "mine"


def test_data_in_the_folder_of_the_release(data, tmp_path):
    out = tmp_path / "out"
    run(data, out=out)
    result = run(out / "centers.csv", out=out)
    assert "--out must not replace the data" in str(result.exception)


def test_a_disk_that_fails_after_the_spend(data, tmp_path, monkeypatch):
    def full(self, path):
        raise ReleaseError("it cannot be written: No space left on device")

    monkeypatch.setattr(Release, "save", full)
    ledger = Ledger(tmp_path / "people.ledger", epsilon=1.5)
    result = run(data, "--ledger", ledger.path, out=tmp_path / "out")
    assert isinstance(result.exception, ReleaseError)
    assert "No space left on device" in str(result.exception)
    assert "the budget was spent anyway, and nothing was released" in str(result.exception)
    assert len(ledger) == 1
    assert not (tmp_path / "out").exists()


def test_labels_that_fail_after_the_release(data, tmp_path, monkeypatch):
    folder, out = tmp_path / "private", tmp_path / "out"
    folder.mkdir()
    draw = plotting.draw_release

    def remove(*arguments, **more):
        os.rmdir(folder)  # noqa: PTH106 - between the check and the write
        return draw(*arguments, **more)

    monkeypatch.setattr(plotting, "draw_release", remove)
    result = run(data, "--labels", str(folder / "labels.csv"), out=out)
    assert f"anyway, and the release is in {out}" in str(result.exception)
    assert names(out) == ["centers.csv", "release.json", "release.png"]


def test_without_a_picture_library(data, tmp_path, monkeypatch):
    def missing(*arguments, **more):
        raise MissingPackageError(
            "altair is not installed: run `pip install '.[plot]'` in a clone of shoal"
        )

    monkeypatch.setattr(plotting, "draw_release", missing)
    result = run(data, out=tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "no picture: altair is not installed" in result.stdout
    assert names(tmp_path / "out") == ["centers.csv", "release.json"]


def test_interrupt_leaves_nothing_but_the_spend(data, tmp_path, monkeypatch):
    def interrupt(self, path):
        raise KeyboardInterrupt

    monkeypatch.setattr(Release, "save", interrupt)
    result = run(data, out=tmp_path / "out")
    assert result.exit_code not in (0, None)
    assert names(tmp_path) == ["people.csv", "people.csv.ledger", "people.csv.ledger.head"]
    assert len(Ledger(f"{data}.ledger")) == 1


def test_help_has_an_example():
    assert "shoal cluster people.csv" in " ".join(
        CliRunner().invoke(app, ["--help"]).stdout.split()
    )


def test_damaged_ledger(data, tmp_path):
    path = tmp_path / "people.ledger"
    Ledger(path, epsilon=1.0)
    path.write_bytes(path.read_bytes().replace(b'"epsilon":1.0', b'"epsilon":9.0'))
    result = run(data, "--ledger", str(path), out=tmp_path / "out")
    assert isinstance(result.exception, LedgerFileError)
    assert "damaged" in str(result.exception)
    assert not (tmp_path / "out").exists()
