"""``shoal cluster --reports``: clusters behind reports, and only behind what can be reports."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from shoal.cli import _cluster_reports, main
from shoal.cli._cluster_reports import BLIND, FREE, ReportOptions
from shoal.exceptions import ParameterError
from shoal.mechanisms import Duchi, Laplace, PartitionResponse, Piecewise
from shoal.privacy import Guarantee, Release, amplify
from shoal.reports import NoiseAwareKMeans
from shoal.schema import Category, Number, Schema
from shoal.tables import ArrayTable, read_table, write_table

NAMES = ("age",)
BOX = (0.0, 120.0)
BY_HAND = ("--columns", "age", "--bounds", "0,120")
X = (20.0 + 40.0 * (np.arange(600) % 3) + np.random.default_rng(0).normal(scale=4, size=600))[
    :, None
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_picture(monkeypatch):
    """Drawing takes longer than all the rest."""
    monkeypatch.setattr(_cluster_reports, "draw_picture", lambda *_: [])


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
    """Write reports from a seed, and the document of a mechanism without."""
    device = clone(mechanism).set_params(random_state=0)
    write_table(path, names, device.fit_transform(ArrayTable(records, names)))
    mechanism.fit(ArrayTable(records, names)).save(f"{path}.mechanism.json")
    return mechanism


@pytest.fixture
def laplace():
    return report("reports.csv", Laplace(0.5, bounds=BOX))


def test_a_release_a_table_and_a_picture(shoal, folder):
    """Reports of shoal perturb, and labels on the device."""
    write_table("people.csv", NAMES, X)
    made = ["perturb", "people.csv", "-o", "r.csv", *BY_HAND, "--epsilon", "0.5", "--seed", "1"]
    assert shoal(*made)[0] == 0
    code, shown, errors = shoal("cluster", "--reports", "r.csv", "--k", "3", "--out", "out")
    assert code == 0, errors
    for text in (
        "Released by NoiseAwareKMeans: 3 clusters",
        "metric privacy with epsilon = 0.5",
        "over the whole box: local differential privacy with epsilon = 60",
        "seeded: for tests and experiments only",
        FREE,
        "95% confidence",
        "not to be published",
    ):
        assert text in shown
    names = sorted(file.name for file in (folder / "out").iterdir())
    assert names == ["centers.csv", "release.json", "release.png"]
    assert shoal("predict", "out", "people.csv", "-o", "labels.csv")[0] == 0
    labels = read_table("labels.csv", columns=["cluster"]).X[:, 0]
    shares = [
        (labels[one::3] == np.bincount(labels[one::3].astype(int)).argmax()).mean()
        for one in range(3)
    ]
    assert min(shares) > 0.95
    assert len(set(labels)) == 3


@pytest.mark.usefixtures("no_picture")
def test_the_same_as_in_python(shoal, laplace):
    code, shown, errors = shoal("cluster", "--reports", "reports.csv", "--k", "3", "--seed", "4")
    assert code == 0, errors
    assert "may be published" in shown
    reports = read_table("reports.csv", columns=NAMES).X
    model = NoiseAwareKMeans(3, mechanism=laplace, random_state=4).fit(reports)
    release = Release.load("shoal-cluster/release.json")
    assert (release.values["centers"] == model.cluster_centers_).all()
    assert release.values["columns"] == list(NAMES)
    assert release.guarantee == laplace.guarantee_


@pytest.mark.usefixtures("no_picture")
def test_json(shoal, laplace):
    code, shown, errors = shoal("cluster", "--reports", "reports.csv", "--k", "3", "--json")
    assert code == 0, errors
    plain = json.loads(shown)
    assert (plain["mechanism"], plain["reports"], len(plain["clusters"])) == ("Laplace", 600, 3)
    assert (plain["ledger"], plain["shuffled"]) == (None, None)
    assert FREE in plain["notes"]
    assert {"age", "share", "radius"} <= set(plain["clusters"][0])


@pytest.mark.usefixtures("no_picture")
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


@pytest.mark.usefixtures("no_picture")
def test_a_document_without_names(shoal):
    """Of records that had none: --columns says what the columns of the reports are called."""
    report("r.csv", Laplace(0.5, bounds=BOX)).fit(X).save("r.csv.mechanism.json")
    words = ["cluster", "--reports", "r.csv", "--k", "3", "--set", "n_init=1"]
    code, _, errors = shoal(*words)
    assert code == 2
    assert "reports of Laplace have the columns column 1;" in errors
    assert shoal(*words, "--columns", "age")[0] == 0
    assert "must name the 1 columns" in shoal(*words, "--columns", "age,height")[2]


@pytest.mark.usefixtures("no_picture")
def test_a_folder_of_parquet(shoal, folder):
    Path("in").mkdir()
    write_table("in/a.parquet", NAMES, X[:200])
    write_table("in/b.parquet", NAMES, X[200:])
    made = ["perturb", "in", "-o", "reports", *BY_HAND, "--epsilon", "0.5", "--seed", "0"]
    assert shoal(*made)[0] == 0
    assert (folder / "reports.mechanism.json").is_file()
    code, shown, errors = shoal("cluster", "--reports", "reports", "--k", "3", "--json")
    assert code == 0, errors
    assert json.loads(shown)["reports"] == 600


@pytest.mark.usefixtures("no_picture")
def test_density(shoal, laplace):
    code, shown, errors = shoal("cluster", "--reports", "reports.csv", "--method", "density")
    assert code == 0, errors
    assert "Released by NoiseAwareDensity: 3 clusters" in shown


@pytest.mark.usefixtures("no_picture")
def test_a_schema_comes_with_the_release(shoal):
    schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    rows = [["20", "A"], ["90", "B"]] * 400
    table = {"age": [row[0] for row in rows], "city": [row[1] for row in rows]}
    mechanism = Laplace(6.0, schema=schema, random_state=0)
    write_table("r.parquet", schema.space.names, mechanism.fit_transform(table))
    mechanism.save("r.parquet.mechanism.json")
    write_table("people.csv", ["age", "city"], np.array(rows, dtype=object))
    code, shown, errors = shoal("cluster", "--reports", "r.parquet", "--k", "2", "--out", "out")
    assert code == 0, errors
    assert "city" in shown
    assert "share" in shown
    assert shoal("predict", "out", "people.csv", "-o", "labels.csv")[0] == 0
    labels = read_table("labels.csv", columns=["cluster"]).X[:, 0]
    assert len(set(labels[::2])) == len(set(labels[1::2])) == 1
    assert labels[0] != labels[1]
    code, _, errors = shoal("cluster", "--reports", "r.parquet", "--method", "density")
    assert code == 2
    assert "a schema with categories" in errors


@pytest.mark.usefixtures("no_picture")
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


@pytest.mark.parametrize("kind", [Duchi, Laplace, Piecewise], ids=lambda kind: kind.__name__)
def test_raw_records_are_refused(shoal, folder, kind):
    """Under the names of reports, whole numbers included, which lie on the lattice of Laplace."""
    device = kind(2.0, bounds=BOX).fit(ArrayTable(X, NAMES))
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
        (np.hstack([X, X]), ("age", "height"), "must have one column 'partition', got none"),
        (np.hstack([X, X]), ("partition", "color"), "must be whole numbers, got others"),
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
        (["--reports", "none.csv"], "existing file or folder, got 'none.csv'"),
        (["--mechanism", "none.json"], "No such file"),
        (["--mechanism", "reports.csv"], "with something else"),
        (["--method", "ward"], "--method must be one of kmeans, density, remap, got 'ward'"),
        (["--epsilon", "2"], "--epsilon must come with --target MECHANISM"),
        (["--target", "Laplace"], "--columns must name every column"),
        (["--target", "DPKMeans", *BY_HAND], "--target must be one of Duchi"),
        (["--target", "Laplace", "--epsilon", "2", *BY_HAND], "down to the last digit"),
        (["--set", "sigma=1"], "--set must name a parameter of --method kmeans, got 'sigma'"),
        (["--set", "mechanism=1"], "got 'mechanism'"),
        (["--ledger", "a.ledger"], "--reports must come without --ledger"),
        (["--labels", "l.csv"], "find their labels with `shoal predict`"),
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


@pytest.mark.usefixtures("no_picture")
def test_a_shuffled_batch(shoal):
    report("r.csv", Piecewise(1.0, bounds=BOX))
    words = ["cluster", "--reports", "r.csv", "--k", "2", "--set", "n_init=1", "--shuffled"]
    code, shown, errors = shoal(*words)
    assert code == 0, errors
    assert "shuffled: shuffled differential privacy with epsilon = " in shown
    assert "600" in shown, "the condition on the number of honest reports"
    plain = json.loads(shoal(*words, "--n", "300", "--delta", "1e-5", "--json")[1])
    expected = amplify(Guarantee("local", epsilon=1.0), 300, 1e-5)
    assert plain["shuffled"]["epsilon"] == expected.epsilon
    assert plain["shuffled"]["text"] == str(expected)
    assert plain["guarantee"]["epsilon"] == 1.0, "the local promise stays"
    assert Release.load("shoal-cluster/release.json").values["shuffled"] == plain["shuffled"]
    code, _, errors = shoal(*words, "--n", "601")
    assert code == 2
    assert "--n must be at most the number of reports, 600, got 601" in errors


def test_two_rounds_are_two_batches():
    """Whoever is in the smaller one is promised less, and that is said."""
    first = PartitionResponse(1.0, bounds=BOX).fit(X)
    both = first.partitions_ + first.partitions_
    second = PartitionResponse(1.0, bounds=BOX, partitions=both, first_partition=256).fit(X)
    reports = np.zeros((500, 2))
    reports[:400, 0] = 256
    found = _cluster_reports._amplified(second, reports, ReportOptions(shuffled=True))
    assert found == amplify(second.guarantee_, 100, 1e-6, n_colors=4)
    with pytest.raises(ParameterError, match="left out with reports of two rounds, got 90"):
        _cluster_reports._amplified(second, reports, ReportOptions(shuffled=True, n=90))
