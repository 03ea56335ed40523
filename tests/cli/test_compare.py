"""shoal compare: one command, a report, a recommendation; one clear line on bad input."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal.cli import app
from shoal.exceptions import BudgetExceededError, LedgerFileError, ShoalError
from shoal.experiments import report
from shoal.experiments.compare import measurements
from shoal.plotting import Picture
from shoal.privacy import Ledger, Release
from shoal.schema import Category, Number, Schema
from shoal.tables import files, read_table
from shoal.tables._csv import read_csv

SENTINEL = "47.7391284615739"  # a value of a record, in no release
BOUNDS = "0:120,40:250"
EMPTY = Picture({"concat": []})
QUICK = ["--only", "DPKMeans-grid,KdLaplace-grid", "--runs", "2", "--clusters", "2", "--jobs", "1"]


@pytest.fixture
def data(tmp_path, request):
    """Two clusters of people, their ages and heights, and a word: 100 each, for a copy 300.

    At epsilon 1 the noisy count of a copy of 200 is below the 32 that a comparison needs in one run
    of 60, that of 600 in one of 100,000.
    """
    n = 300 if "copy" in request.node.name else 100
    rng = np.random.default_rng(0)
    X = np.repeat([[20.0, 60.0], [80.0, 190.0]], n, axis=0) + rng.normal(scale=4, size=(2 * n, 2))
    lines = [f"{age:.8f},{height:.8f},{'xy'[i // n]}" for i, (age, height) in enumerate(X)]
    lines.append(f"{SENTINEL},{SENTINEL},x")
    path = tmp_path / "people.csv"
    path.write_text("age,height,group\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """Few attacks, and no drawing: tests/experiments/compare draws the pictures."""
    monkeypatch.setattr(measurements, "RUNS", 2)
    monkeypatch.setattr(measurements, "SHADOWS", 8)
    monkeypatch.setattr(report, "_draw", lambda figure: report._Shown(EMPTY, figure.says))


def run(data, *arguments, out):
    given = [] if "--bounds" in arguments else ["--bounds", BOUNDS]
    given += [] if "--columns" in arguments else ["--columns", "age,height"]
    label = [] if {"--label", "--columns"} & set(arguments) else ["--label", "group"]
    return CliRunner().invoke(
        app, ["compare", str(data), *QUICK, *given, *label, *arguments, "--out", str(out)]
    )


OWN = """
import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from shoal import DPKMeans, Laplace


class Mine(DPKMeans):
    pass


class Sketch(ClusterMixin, BaseEstimator):
    def __init__(self, n_clusters=2, epsilon=1.0, bounds=None, random_state=None):
        self.n_clusters, self.epsilon = n_clusters, epsilon
        self.bounds, self.random_state = bounds, random_state

    def fit(self, X, y=None):
        plain = KMeans(self.n_clusters, n_init=1, random_state=self.random_state).fit(X)
        self.cluster_centers_ = plain.cluster_centers_
        return self


reports = Laplace(1.0)
"""


def test_methods_of_the_users_own(data, tmp_path, monkeypatch):
    """From the current folder, at equal worst-case privacy by their own guarantee_."""
    (tmp_path / "my_compared_code.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    only = "DPKMeans-grid,my_compared_code:Mine,my_compared_code:Sketch,my_compared_code:reports"
    words = ["--only", only, "--runs", "2", "--epsilon", "2"]
    result = run(data, *words, out=tmp_path / "out")
    assert result.exit_code == 0, result.output
    printed = " ".join(result.stdout.split())
    assert "my_compared_code:Mine: central differential privacy with epsilon = 1 " in printed
    assert "my_compared_code:Sketch: no privacy guarantee: it has no guarantee_" in printed
    assert "my_compared_code:reports + KMeans: metric privacy" in printed
    assert "take my_compared_code:Sketch" not in printed, "the cheapest, but it promises nothing"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "no privacy guarantee: it has no guarantee_" in page
    found = json.loads(run(data, *words, "--json", out=tmp_path / "out").stdout)
    rows = {row["method"]: row for row in found["methods"]}
    assert rows["my_compared_code:Mine"]["own_epsilon"] == pytest.approx(1.0)
    assert rows["my_compared_code:Mine"]["equal"] is True
    assert rows["my_compared_code:Sketch"]["equal"] is False
    assert rows["my_compared_code:reports + KMeans"]["own_epsilon"] == pytest.approx(2 / 8**0.5)
    kept = {path.name for path in (tmp_path / "out").glob("records-*.csv")}
    (tmp_path / "my_compared_code.py").write_text(OWN + "# changed\n")
    assert run(data, *words, out=tmp_path / "out").exit_code == 0
    assert {path.name for path in (tmp_path / "out").glob("records-*.csv")} > kept


def test_two_runs_recommend_nothing(data, tmp_path):
    result = run(data, out=tmp_path / "out")
    assert "±" not in result.stdout
    assert "Undecided: 2 runs of each method cannot tell them apart" in result.stdout
    assert "take " not in result.stdout
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "±" not in page.partition("What an attacker learns")[0]


def test_provenance(data, tmp_path):
    found = json.loads(run(data, "--json", out=tmp_path / "out").stdout)
    made = found["provenance"]
    assert made["data"] == "people.csv"
    assert made["command"].startswith(
        "shoal compare people.csv --only DPKMeans-grid,KdLaplace-grid"
    )
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for text in (made["date"], f"shoal {made['version']}", "people.csv", "seed 0", made["command"]):
        assert f"{text}</" in page
    assert str(tmp_path) not in page


def names(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("records-"))


def test_a_report_for_the_curator(data, tmp_path):
    out = tmp_path / "new" / "out"
    result = run(data, out=out)
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "report, for the curator only: " in words
    assert "KdLaplace-grid + KMeans" in words
    assert "report.html" in names(out)
    assert len(list(out.glob("records-*.csv"))) == 2
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "For the curator only" in text
    for path in out.iterdir():
        assert SENTINEL[:8] not in path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("copy", [(), ("--private-copy", "1")])
def test_a_file_is_parsed_once(data, tmp_path, monkeypatch, copy):
    parsed = []

    def counted(path, *arguments):
        parsed.append(path.name)
        return read_csv(path, *arguments)

    monkeypatch.setattr(files, "read_csv", counted)
    result = run(data, *copy, "--epsilon", "1", out=tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert parsed == ["people.csv", *(["private-copy.csv"] if copy else [])]


def test_json_and_again(data, tmp_path):
    words = ["--epsilon", "2,8", "--json"]
    prints = [json.loads(run(data, *words, out=tmp_path / "out").stdout) for _ in range(2)]
    assert prints[0] == prints[1], "the second run found everything done"
    found = prints[0]
    assert found["state"] == "for the curator only"
    assert found["clusters"] == 2
    assert {row["epsilon"] for row in found["methods"]} == {2.0, 8.0}
    assert {row["own_epsilon"] for row in found["methods"] if row["model"] == "central"} == {1, 4}
    assert found["recommendation"].startswith("Undecided: 2 runs")
    assert found["enough_runs"] is False
    assert found["delta"] == 1e-6
    for row in found["methods"]:
        assert (row["shuffled_epsilon"] is None) == (row["model"] == "central")


def test_private_copy_is_paid_for_once_and_reads_the_copy_only(data, tmp_path):
    ledger = Ledger(tmp_path / "people.ledger", epsilon=2.5)
    out = tmp_path / "out"
    words = ["--private-copy", "2", "--ledger", ledger.path]
    result = run(data, *words, out=out)
    assert result.exit_code == 0, result.output
    assert "report, may be shared: " in " ".join(result.stdout.split())
    (entry,) = ledger.entries
    assert entry.purpose.startswith("PrivateCopy")
    assert ledger.spent[0].epsilon == 2.0
    release = Release.load(out / "private-copy.json")
    assert release.guarantee.holds
    assert release.guarantee.epsilon == 2.0
    copy = read_table(out / "private-copy.csv", columns=["age", "height"])
    text = (out / "report.html").read_text(encoding="utf-8")
    assert f"May be shared: everything here comes from a release with {release.guarantee}" in text
    assert "Its epsilon of 2 was charged to people.ledger, which then had 1 entry, hash " in text
    assert "the copy holds no labels" in text
    # No draw of the copy comes so near to the record by chance.
    for path in out.iterdir():
        assert SENTINEL not in path.read_text(encoding="utf-8", errors="replace")
    # The raw records may change, or nearly go: the report is made from the copy.
    data.write_text("age,height,group\n" + "1,50,x\n2,51,y\n" * 40, encoding="utf-8")
    before = (out / "private-copy.csv").read_bytes()
    again = run(data, *words, "--json", out=out)
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["records"] == len(copy.X)
    assert (out / "private-copy.csv").read_bytes() == before
    assert "it reflects the records as they were then" in (out / "report.html").read_text("utf-8")
    assert len(ledger.entries) == 1


def test_private_copy_with_a_seed_is_not_to_be_shared(data, tmp_path):
    result = run(data, "--private-copy", "2", "--seed", "1", out=tmp_path / "out")
    assert "not to be shared: seeded" in result.stdout
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Not to be shared" in text
    assert "May be shared" not in text


def test_a_refused_ledger_leaves_nothing(data, tmp_path):
    ledger = Ledger(tmp_path / "people.ledger", epsilon=1.0)
    out = tmp_path / "a" / "out"
    result = run(data, "--private-copy", "2", "--ledger", ledger.path, out=out)
    assert isinstance(result.exception, BudgetExceededError)
    assert not (tmp_path / "a").exists()
    assert ledger.spent == ()


def test_a_copy_of_another_file_is_not_taken(data, tmp_path):
    """The page of one table would show the clusters of another, as its own."""
    out = tmp_path / "out"
    assert run(data, "--private-copy", "2", out=out).exit_code == 0
    other = tmp_path / "others.csv"
    lines = data.read_text(encoding="utf-8").splitlines()
    other.write_text("\n".join([lines[0], *lines[50:150]]) + "\n", encoding="utf-8")
    before = (out / "report.html").read_bytes()
    result = run(other, "--private-copy", "2", out=out)
    assert "--out must be a new folder for a copy of 'others.csv'" in str(result.exception)
    assert (out / "report.html").read_bytes() == before


@pytest.mark.parametrize(
    ("first", "second", "held"),
    [
        ([], ["--private-copy", "2"], "measures of raw records"),
        (["--private-copy", "2"], [], "a private copy"),
    ],
)
def test_raw_measures_do_not_lie_beside_a_copy(first, second, held, data, tmp_path):
    """A folder whose report may be shared is soon shared as a whole."""
    assert run(data, *first, out=tmp_path / "out").exit_code == 0
    before = sorted((tmp_path / "out").iterdir())
    result = run(data, *second, out=tmp_path / "out")
    assert "--out must be another folder" in str(result.exception)
    assert str(result.exception).endswith(f"with {held}")
    assert sorted((tmp_path / "out").iterdir()) == before


def test_a_copy_that_is_gone(data, tmp_path):
    out = tmp_path / "out"
    assert run(data, "--private-copy", "2", out=out).exit_code == 0
    (out / "private-copy.csv").unlink()
    result = run(data, "--private-copy", "2", out=out)
    assert isinstance(result.exception, ShoalError)
    assert "cannot be read: No such file" in str(result.exception)


@pytest.mark.full
def test_another_copy_needs_another_folder(data, tmp_path):
    out = tmp_path / "out"
    assert run(data, "--private-copy", "2", out=out).exit_code == 0
    result = run(data, "--private-copy", "3", out=out)
    assert "--out must be a new folder for another private copy" in str(result.exception)


def test_bad_input(data, tmp_path, subtests):
    for arguments, text in [
        (["--columns", "age,weight"], "must have one column 'weight'"),
        (["--columns", "age,group"], "column 'group' must hold numbers, got text"),
        (["--label", "class"], "must have one column 'class'"),
        (["--only", "Gauss"], "--only must be among DPKMeans-grid, "),
        (["--only", "SphericalLaplace"], "for 3 columns only, and these are 2"),
        (["--epsilon", "0"], "--epsilon must be a finite number > 0, got 0.0"),
        (["--epsilon", "1,-2"], "--epsilon must be a finite number > 0, got -2.0"),
        (["--epsilon", "1,inf"], "--epsilon must be a finite number > 0, got inf"),
        (["--epsilon", "one"], "--epsilon must be a finite number > 0, got 'one'"),
        (["--epsilon", "1,1"], "--epsilon must be different numbers"),
        (["--delta", "0"], "delta must be"),
        (["--delta", "1e-200"], "delta must be at least 1e-100"),
        (["--bounds", "5,1"], "bounds must have low < high"),
        (["--bounds", "0:1"], "bounds must"),
        (["--bounds", "none.json"], "No such file"),
        (["--clusters", "500"], "at least 500 records"),
        (["--private-copy", "0"], "--private-copy must be a finite number > 0"),
        (["--ledger", "none.ledger"], "--ledger must come with --private-copy"),
    ]:
        with subtests.test(arguments=arguments, text=text):
            result = run(data, *arguments, out=tmp_path / "new" / "out")
            assert isinstance(result.exception, ShoalError), result.output
            message = str(result.exception)
            assert text in message
            assert "\n" not in message
            assert SENTINEL[:5] not in message
            assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_no_bounds_no_file_no_ledger(data, tmp_path):
    out = tmp_path / "out"
    words = ["--columns", "age,height", "--label", "group", "--out", str(out)]
    result = CliRunner().invoke(app, ["compare", str(data), *words])
    assert "bounds must be given" in str(result.exception)
    assert "must be a CSV or Parquet file" in str(run(tmp_path / "no.csv", out=out).exception)
    words = ["--private-copy", "1", "--ledger", str(tmp_path / "no.ledger")]
    assert isinstance(run(data, *words, out=out).exception, LedgerFileError)
    assert not out.exists()


def test_unwritable_folder(data, tmp_path):
    ledger = Ledger(tmp_path / "people.ledger", epsilon=9.0)
    words = ["--private-copy", "1", "--ledger", ledger.path]
    result = run(data, *words, out=data / "out")
    assert "--out must be a writable folder" in str(result.exception)
    assert ledger.spent == ()


@pytest.mark.full  # stopped in tests/experiments/test_runner.py and tests/cli/test_bad_input.py
def test_ctrl_c_then_again(data, tmp_path):
    """Stopped by the signal that a terminal sends, it leaves whole cells and no report."""
    out = tmp_path / "out"
    code = "from shoal.cli import main; main()"
    words = ["compare", str(data), "--bounds", BOUNDS, "--label", "group", "--clusters", "2"]
    words += ["--columns", "age,height"]
    command = [sys.executable, "-c", code, *words, "--runs", "300", "--out", str(out)]
    process = subprocess.Popen(
        [*command, "--jobs", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if any(path.stat().st_size > 5000 for path in out.glob("records-*.csv")):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert stdout == ""
    assert stderr == "shoal: stopped by Ctrl-C\n"
    assert names(out) == []
    assert sum(path.stat().st_size for path in out.glob("records-*.csv")) > 5000


@pytest.mark.parametrize("other", [["--bounds", "0,1"], ["--private-copy", "1"]])
def test_a_schema_says_the_bounds_itself(data, tmp_path, other):
    schema = tmp_path / "people.json"
    Schema([Number("age", minimum=0, maximum=120)]).save(schema)
    given = ["compare", str(data), "--schema", str(schema), *other, "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, given)
    assert result.exit_code != 0
    assert f"--schema must come without {other[0]}" in str(result.exception or result.output)
    assert not (tmp_path / "out").exists()


def test_a_schema_encodes_text_and_no_attack_is_run(data, tmp_path):
    schema = tmp_path / "people.json"
    fields = [Number("age", minimum=0, maximum=120, missing="refuse"), Category("group", ["x"])]
    Schema(fields).save(schema)
    given = ["compare", str(data), "--schema", str(schema), *QUICK, "--no-attacks", "--json"]
    given[given.index("--only") + 1] = "DPKMeans-grid"
    result = CliRunner().invoke(app, [*given, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["columns"] == ["age", "group=x", "group=other", "group=missing"]
    assert all(row["attack"] == {} for row in found["methods"])
    assert len(list((tmp_path / "out").glob("records-*.csv"))) == 1
