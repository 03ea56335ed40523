"""shoal attack: the user's own file, a table, a picture, and a report for the curator."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.attack_data import few_trees
from shoal.cli import app
from shoal.exceptions import ShoalError

QUICK = ["--runs", "2", "--seed", "1"]


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    few_trees(monkeypatch)


@pytest.fixture
def data(tmp_path):
    """Four clusters of 30 people, their ages and heights, and a word."""
    rng = np.random.default_rng(0)
    middle = np.repeat([[20, 120], [35, 180], [60, 150], [70, 190]], 30, axis=0)
    X = middle + rng.normal(scale=3.0, size=(120, 2))
    lines = [f"{age:.3f},{height:.3f},{'ab'[i % 2]}" for i, (age, height) in enumerate(X)]
    path = tmp_path / "people.csv"
    path.write_text("age,height,group\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(data, *arguments, out):
    bounds = [] if "--bounds" in arguments else ["--bounds", "0:120,50:250"]
    columns = [] if "--columns" in arguments else ["--columns", "age,height"]
    return CliRunner().invoke(
        app, ["attack", str(data), *columns, *bounds, *arguments, *QUICK, "--out", str(out)]
    )


@pytest.mark.full
def test_estimator(data, tmp_path):
    out = tmp_path / "out"
    arguments = ["--set", "n_clusters=4", "--attacks", "centers,yeom", "--guess", "height"]
    result = run(data, *arguments, out=out)
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "Released centers: the same attack on k-means without privacy is right in" in words
    assert "the same attack on a forest trained with those of k-means without privacy" in words
    assert "is right in more than 73 of 100: this is the promise, not a measurement" in words
    assert "without privacy, being in the data costs a record" in words
    assert "in height on average" in words
    assert "report, for the curator only" in words
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "For the curator only" in text
    assert text.count("<td>73 of 100</td>") == 1, "the ceiling of epsilon 1 covers no forest"
    assert (out / "rates.png").stat().st_size > 10_000


@pytest.mark.full
def test_mechanism(data, tmp_path):
    out = tmp_path / "out"
    arguments = ["--target", "Laplace", "--epsilon", "0.5", "--label", "group"]
    result = run(data, *arguments, "--attacks", "yeom,label-only", out=out)
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "the same attack on a forest trained on their records is right in" in words
    assert "a report without noise would be the record itself" in words
    assert "an attacker who sees a report is off by" in words
    assert "they name the record itself for" in words
    assert "What does a report say about its record?" in (out / "report.html").read_text("utf-8")


@pytest.mark.full
def test_a_remap_is_attacked_by_its_mechanism(data, tmp_path):
    arguments = ["--target", "KdLaplace", "--epsilon", "0.5", "--guess", "age"]
    result = run(data, *arguments, "--attacks", "yeom", out=tmp_path / "out")
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "they name the record itself for" in words
    assert "in age on average" in words
    assert "before the remap, which can only blur them" in words


LONG = pytest.mark.full


@pytest.mark.parametrize(
    "target",
    [
        "Duchi",  # two reports only
        *(pytest.param(name, marks=LONG) for name in ("Hybrid", "Piecewise", "SquareWave")),
        pytest.param("PlanarLaplace", marks=LONG),  # for two columns only
    ],
)
def test_every_mechanism(data, tmp_path, target):
    result = run(data, "--target", target, "--attacks", "yeom", out=tmp_path / "out")
    assert result.exit_code == 0, result.output


@pytest.mark.full
def test_json_and_where_its_numbers_come_from(data, tmp_path):
    out = tmp_path / "out"
    result = run(data, "--attacks", "centers", "--json", out=out)
    found = json.loads(result.stdout)
    (attack,) = found["attacks"]
    assert attack["attack"] == "released centers"
    assert attack["largest_advantage_promised"] == pytest.approx(np.tanh(0.5))
    assert -1 <= attack["advantage"] <= attack["largest_advantage_promised"] + 0.2
    assert Path(found["report"]).exists()
    # The command as it was typed, but without folders: these may name a machine or a person.
    made = found["provenance"]
    assert made["data"] == "people.csv"
    assert made["seed"] == 1
    assert made["command"].startswith("shoal attack people.csv --columns age,height")
    page = (out / "report.html").read_text(encoding="utf-8")
    for text in (made["date"], f"shoal {made['version']}", "seed 1", made["command"]):
        assert f"{text}</" in page
    assert str(tmp_path) not in page


NO_POWER = ["--attacks", "centers", "--set", "n_clusters=1", "--guess", "age"]
SAID_FIRST = (
    "No attack on membership that was run has power on these records, even without privacy: "
    "their results say nothing about privacy."
)


@pytest.fixture
def uniform(tmp_path):
    """Two people out of 300 uniform ones are lost in the center of one cluster, private or not."""
    rng = np.random.default_rng(3)
    path = tmp_path / "uniform.csv"
    np.savetxt(
        path, rng.uniform(60, 110, (300, 2)), delimiter=",", header="age,height", comments=""
    )
    return path


def test_an_attack_without_power_says_so_first(uniform, tmp_path):
    result = run(uniform, *NO_POWER, out=tmp_path / "out")
    assert result.exit_code == 0, result.output
    first, *rest = result.stdout.splitlines()
    assert first == SAID_FIRST
    assert "it has no power here, so what it gets" in rest[0]
    assert re.search(r"right in \d+ of 100 \(95%: [\d.]+ to [\d.]+\): it has no power", rest[0])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.index(first[:40]) < page.index("Attacked: ")
    assert '<p class="verdict">' not in page, "nothing on the page looks like a good verdict"


@pytest.mark.full  # `test_an_attack_with_power` reads these keys
def test_an_attack_without_power_says_so_in_json(uniform, tmp_path):
    found = json.loads(run(uniform, *NO_POWER, "--json", out=tmp_path / "out").stdout)
    assert found["has_power"] is found["attacks"][0]["has_power"] is False
    assert found["sentences"][0] == SAID_FIRST
    low, high = found["attacks"][0]["interval_without_privacy"]
    assert low <= 0 <= high


def test_an_attack_with_power(tmp_path):
    """Few records for many centers: without privacy, a center lies on a record that was in."""
    rng = np.random.default_rng(5)
    path = tmp_path / "few.csv"
    X = rng.uniform([0, 50], [120, 250], (40, 2))
    np.savetxt(path, X, delimiter=",", header="age,height", comments="")
    arguments = ["--attacks", "centers", "--set", "n_clusters=8", "--epsilon", "0.1", "--json"]
    command = ["attack", str(path), "--columns", "age,height", "--bounds", "0:120,50:250"]
    result = CliRunner().invoke(
        app, [*command, *arguments, "--runs", "10", "--seed", "1", "--out", str(tmp_path / "out")]
    )
    found = json.loads(result.stdout)
    assert found["has_power"] is True
    assert found["attacks"][0]["tells_privacy_from_none"] is True
    assert "so it has power here; it gets" in found["sentences"][0]
    assert found["sentences"][0].endswith("where guessing gets 50.")


@pytest.mark.full  # attacks themselves are held to their seeds in tests/audit/attacks
def test_same_seed_same_numbers(data, tmp_path):
    prints = [
        json.loads(run(data, "--attacks", "centers", "--json", out=tmp_path / "out").stdout)
        for _ in range(2)
    ]
    assert prints[0] == prints[1]


def test_bad_input(data, tmp_path, subtests):
    for arguments, text in [
        (["--columns", "age,weight"], "must have one column 'weight'"),
        (["--columns", "age,group"], "column 'group' must hold numbers"),
        (["--label", "kind"], "must have one column 'kind'"),
        (["--guess", "weight"], "the column to guess must be one of age, height"),
        (["--attacks", "bribes"], "attacks on an estimator must be among"),
        (["--attacks", ","], "at least one attack"),
        (["--target", "Laplace", "--attacks", "centers"], "attacks on a mechanism must be among"),
        (["--target", "DBSCAN"], "the target must be one of"),
        (["--epsilon", "0"], "epsilon must be"),
        (["--bounds", "5,1"], "bounds must"),
        (["--bounds", "0:1"], "bounds must"),
    ]:
        with subtests.test(arguments=arguments, text=text):
            result = run(data, *arguments, out=tmp_path / "out")
            assert isinstance(result.exception, ShoalError), result.output
            assert text in str(result.exception)
            assert "\n" not in str(result.exception)
            assert not list(tmp_path.glob("out/*")), "nothing half-written"


def test_missing_file(tmp_path):
    result = run(tmp_path / "none.csv", out=tmp_path / "out")
    assert "No such file" in str(result.exception)


def test_bounds_are_asked_for(data, tmp_path):
    result = CliRunner().invoke(app, ["attack", str(data), "--columns", "age", "--out", "x"])
    assert "--bounds LOW,HIGH" in str(result.exception)
