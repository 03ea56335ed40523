"""``shoal cluster --reports``: clusters behind reports, and only behind what can be reports."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from shoal.cli import main
from shoal.cli._cluster_reports import BLIND, FREE
from shoal.mechanisms import Duchi, Laplace, PartitionResponse, Piecewise
from shoal.privacy import Release
from shoal.reports import NoiseAwareKMeans
from shoal.schema import Category, Number, Schema
from shoal.tables import ArrayTable, read_table, write_table

NAMES = ("age", "height")
BOX = ([0.0, 50.0], [120.0, 250.0])
BY_HAND = ("--columns", "age,height", "--bounds", "0:120,50:250")


def people(n=1500):
    rng = np.random.default_rng(0)
    centers = np.array([[20.0, 90.0], [60.0, 210.0], [100.0, 120.0]])
    return centers[np.arange(n) % 3] + rng.normal(scale=4.0, size=(n, 2))


X = people()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shoal(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def report(path, mechanism, records=X, names=NAMES):
    """Write the reports of a mechanism, and its document beside them."""
    write_table(path, names, mechanism.fit_transform(ArrayTable(records, names)))
    mechanism.save(f"{path}.mechanism.json")


@pytest.fixture
def laplace():
    mechanism = Laplace(0.5, bounds=BOX)
    report("reports.csv", mechanism)
    return mechanism


def test_a_release_a_table_and_a_picture(shoal, folder, laplace):
    write_table("people.csv", NAMES, X)
    assert shoal("perturb", "people.csv", "-o", "r.csv", *BY_HAND, "--epsilon", "0.5")[0] == 0
    code, shown, errors = shoal("cluster", "--reports", "r.csv", "--k", "3", "--out", "out")
    assert code == 0, errors
    for text in (
        "Released by NoiseAwareKMeans: 3 clusters",
        "metric privacy with epsilon = 0.5",
        "over the whole box: local differential privacy with epsilon = 116.6",
        FREE,
        "95% confidence",
        "may be published",
    ):
        assert text in shown
    names = sorted(file.name for file in (folder / "out").iterdir())
    assert names == ["centers.csv", "release.json", "release.png"]
    assert shoal("predict", "out", "people.csv", "-o", "labels.csv")[0] == 0
    labels = read_table("labels.csv", columns=["cluster"]).X[:, 0]
    assert all(len(set(labels[one::3])) == 1 for one in range(3)), "a label for each true cluster"
    assert len(set(labels)) == 3


def test_the_same_as_in_python(shoal, laplace):
    assert shoal("cluster", "--reports", "reports.csv", "--k", "3", "--seed", "4")[0] == 0
    reports = read_table("reports.csv", columns=NAMES).X
    model = NoiseAwareKMeans(3, mechanism=laplace, random_state=4).fit(reports)
    release = Release.load("shoal-cluster/release.json")
    assert (release.values["centers"] == model.cluster_centers_).all()
    assert release.values["columns"] == list(NAMES)
    assert release.guarantee == laplace.guarantee_


def test_json(shoal, laplace):
    code, shown, errors = shoal("cluster", "--reports", "reports.csv", "--k", "3", "--json")
    assert code == 0, errors
    plain = json.loads(shown)
    assert (plain["mechanism"], plain["reports"], len(plain["clusters"])) == ("Laplace", 1500, 3)
    assert (plain["ledger"], plain["shuffled"]) == (None, None)
    assert FREE in plain["notes"]
    assert {"age", "height", "share", "radius"} <= set(plain["clusters"][0])


def test_without_a_document(shoal, laplace):
    """The same options as for shoal perturb say the same; --set reaches both."""
    Path("reports.csv.mechanism.json").unlink()
    code, _, errors = shoal("cluster", "--reports", "reports.csv", "--k", "3")
    assert code == 2
    assert "got none at 'reports.csv.mechanism.json': name it with --mechanism FILE" in errors
    given = ["--target", "laplace", "--epsilon", "0.5", *BY_HAND]
    given += ["--set", "unit=km", "--set", "confidence=0.5"]
    code, shown, errors = shoal("cluster", "--reports", "reports.csv", "--k", "3", *given)
    assert code == 0, errors
    assert "epsilon = 0.5 per km" in shown
    assert "50% confidence" in shown


def test_a_document_without_names(shoal):
    """Of records that had none: --columns says what the columns of the reports are called."""
    mechanism = Laplace(0.5, bounds=BOX)
    write_table("r.csv", NAMES, mechanism.fit_transform(X))
    mechanism.save("r.csv.mechanism.json")
    words = ["cluster", "--reports", "r.csv", "--k", "3", "--set", "n_init=1"]
    code, _, errors = shoal(*words)
    assert code == 2
    assert "reports of Laplace have the columns column 1, column 2" in errors
    assert shoal(*words, "--columns", "age,height")[0] == 0
    assert "must name the 2 columns" in shoal(*words, "--columns", "age")[2]


def test_a_folder_of_parquet(shoal, folder):
    Path("in").mkdir()
    write_table("in/a.parquet", NAMES, X[:700])
    write_table("in/b.parquet", NAMES, X[700:])
    assert shoal("perturb", "in", "-o", "reports", *BY_HAND, "--epsilon", "0.5")[0] == 0
    assert (folder / "reports.mechanism.json").is_file()
    code, shown, errors = shoal("cluster", "--reports", "reports", "--k", "3", "--json")
    assert code == 0, errors
    assert json.loads(shown)["reports"] == 1500


def test_density(shoal, laplace):
    code, shown, errors = shoal("cluster", "--reports", "reports.csv", "--method", "density")
    assert code == 0, errors
    assert "Released by NoiseAwareDensity: 3 clusters" in shown


def test_a_schema_comes_with_the_release(shoal):
    schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    rows = [["20", "A"], ["90", "B"]] * 400
    table = {"age": [row[0] for row in rows], "city": [row[1] for row in rows]}
    mechanism = Laplace(6.0, schema=schema)
    reports = mechanism.fit_transform(table)
    write_table("r.parquet", schema.space.names, reports)
    mechanism.save("r.parquet.mechanism.json")
    write_table("people.csv", ["age", "city"], np.array(rows, dtype=object))
    code, shown, errors = shoal("cluster", "--reports", "r.parquet", "--k", "2", "--out", "out")
    assert code == 0, errors
    assert "city" in shown
    assert shoal("predict", "out", "people.csv", "-o", "labels.csv")[0] == 0
    labels = read_table("labels.csv", columns=["cluster"]).X[:, 0]
    assert len(set(labels[::2])) == len(set(labels[1::2])) == 1
    assert labels[0] != labels[1]
    code, _, errors = shoal("cluster", "--reports", "r.parquet", "--method", "density")
    assert code == 2
    assert "a schema with categories" in errors


def test_not_better_than_blind_is_one_line(shoal, laplace, monkeypatch):
    monkeypatch.setattr(NoiseAwareKMeans, "better_than_blind_", False, raising=False)
    monkeypatch.setattr(NoiseAwareKMeans, "__setattr__", _but("better_than_blind_"))
    shown = shoal("cluster", "--reports", "reports.csv", "--k", "3")[1]
    assert shown.splitlines().count(BLIND) == 1


def _but(left_out):
    def set_attribute(self, name, value):
        if name != left_out:
            object.__setattr__(self, name, value)

    return set_attribute


def test_a_seed_of_the_device_promises_nothing(shoal):
    report("r.csv", Laplace(0.5, bounds=BOX, random_state=3))
    shown = shoal("cluster", "--reports", "r.csv", "--k", "3")[1]
    assert "seeded" in shown
    assert "not to be published" in shown


@pytest.mark.parametrize("kind", [Duchi, Laplace, Piecewise], ids=lambda kind: kind.__name__)
def test_raw_records_are_refused(shoal, folder, kind):
    """Under the names of reports, whole numbers included, which lie on the lattice of Laplace."""
    device = kind(2.0, bounds=BOX).fit(X)
    device.save("mechanism.json")
    for raw in (X, np.rint(X)):
        write_table("people.csv", NAMES, raw)
        words = ["cluster", "--reports", "people.csv", "--mechanism", "mechanism.json"]
        code, _, errors = shoal(*words, "--k", "3")
        assert code == 2
        assert "raw records" in errors
        assert errors.count("\n") == 1
        assert not (folder / "shoal-cluster").exists()


@pytest.mark.parametrize(
    ("rows", "names", "text"),
    [
        (X, NAMES, "must have one column 'partition', got none"),
        (X, ("partition", "color"), "must be whole numbers, got others"),
        ([[0, 1], [256, 0]], ("partition", "color"), "'partition' must hold numbers from 0 to 255"),
        ([[0, 1], [3, 8]], ("partition", "color"), "'color' must hold numbers from 0 to 7"),
        ([[0, 1], [-1, 0]], ("partition", "color"), "'partition' must hold numbers from 0 to 255"),
    ],
)
def test_what_is_no_report_of_partitions(shoal, rows, names, text):
    PartitionResponse(2.0, bounds=BOX).fit(X).save("mechanism.json")
    write_table("r.csv", names, np.asarray(rows))
    words = ["cluster", "--reports", "r.csv", "--mechanism", "mechanism.json"]
    code, _, errors = shoal(*words)
    assert code == 2
    assert text in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--reports", "none.csv"], "that is there, got 'none.csv'"),
        (["--mechanism", "none.json"], "No such file"),
        (["--mechanism", "reports.csv"], "with something else"),
        (["--method", "ward"], "--method must be one of kmeans, density, got 'ward'"),
        (["--epsilon", "2"], "--epsilon must come with --target MECHANISM"),
        (["--target", "Laplace"], "--columns must name every column"),
        (["--target", "DPKMeans", *BY_HAND], "--target must be one of Duchi"),
        (["--target", "Laplace", "--epsilon", "2", *BY_HAND], "down to the last digit"),
        (["--set", "sigma=1"], "--set must name a parameter of NoiseAwareKMeans, got 'sigma'"),
        (["--set", "mechanism=1"], "got 'mechanism'"),
        (["--ledger", "a.ledger"], "--reports must come without --ledger"),
        (["--labels", "l.csv"], "found on devices with `shoal predict`"),
        (["people.csv"], "--reports must come without raw records"),
        (["--n", "5"], "--n must come with --shuffled"),
        (["--delta", "1e-9"], "--delta must come with --shuffled"),
    ],
)
@pytest.mark.usefixtures("laplace")
def test_bad_input_is_one_line(shoal, folder, options, text):
    code, shown, errors = shoal("cluster", "--reports", "reports.csv", "--k", "3", *options)
    assert code == 2, shown
    assert text in errors
    assert errors.count("\n") == 1
    assert not (folder / "shoal-cluster").exists()


@pytest.mark.parametrize("option", [["--shuffled"], ["--method", "density"], ["--n", "3"]])
def test_options_of_reports_need_reports(shoal, option):
    write_table("people.csv", NAMES, X)
    code, _, errors = shoal("cluster", "people.csv", *BY_HAND, *option)
    assert code == 2
    assert f"{option[0]} must come with --reports FILE" in errors
    assert "or --reports FILE, must be given" in shoal("cluster", *BY_HAND)[2]
