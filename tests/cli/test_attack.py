"""shoal attack: the user's own file, a table, a picture, and a report for the curator."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal.cli import app
from shoal.exceptions import ShoalError

QUICK = ["--runs", "2", "--seed", "1"]


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


def test_estimator(data, tmp_path):
    out = tmp_path / "out"
    arguments = ["--set", "n_clusters=4", "--attacks", "centres,yeom", "--guess", "height"]
    result = run(data, *arguments, out=out)
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "An attacker who sees this release is right about membership in" in words
    assert "An attacker who sees a forest trained on the members' records" in words
    assert "without it, 50" in words
    assert "in height on average" in words
    assert "report, for the curator only" in words
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "For the curator only" in text
    assert text.count("73 of 100") == 1, "the ceiling of epsilon 1, which covers no forest"
    assert (out / "rates.png").stat().st_size > 10_000


def test_mechanism(data, tmp_path):
    out = tmp_path / "out"
    arguments = ["--target", "Laplace", "--epsilon", "0.5", "--label", "group"]
    result = run(data, *arguments, "--attacks", "yeom,label-only", out=out)
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "An attacker who sees a forest trained on the members' reports is right" in words
    assert "an attacker who sees a report is off by" in words
    assert "he names the record itself for" in words
    assert "What does a report say about its record?" in (out / "report.html").read_text("utf-8")


def test_a_remap_is_attacked_by_its_mechanism(data, tmp_path):
    arguments = ["--target", "KdLaplace", "--epsilon", "0.5", "--guess", "age"]
    result = run(data, *arguments, "--attacks", "yeom", out=tmp_path / "out")
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "he names the record itself for" in words
    assert "in age on average" in words
    assert "before the remap, which can only blur them" in words


@pytest.mark.parametrize("target", ["Duchi", "Hybrid", "Piecewise", "PlanarLaplace", "SquareWave"])
def test_every_mechanism(data, tmp_path, target):
    result = run(data, "--target", target, "--attacks", "yeom", out=tmp_path / "out")
    assert result.exit_code == 0, result.output


def test_json(data, tmp_path):
    result = run(data, "--attacks", "centres", "--json", out=tmp_path / "out")
    found = json.loads(result.stdout)
    (attack,) = found["attacks"]
    assert attack["attack"] == "released centres"
    assert attack["largest_advantage_promised"] == pytest.approx(np.tanh(0.5))
    assert -1 <= attack["advantage"] <= attack["largest_advantage_promised"] + 0.2
    assert Path(found["report"]).exists()


def test_same_seed_same_numbers(data, tmp_path):
    prints = [
        json.loads(run(data, "--attacks", "centres", "--json", out=tmp_path / "out").stdout)
        for _ in range(2)
    ]
    assert prints[0] == prints[1]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--columns", "age,weight"], "must have one column 'weight'"),
        (["--columns", "age,group"], "column 'group' must hold numbers"),
        (["--label", "kind"], "must have one column 'kind'"),
        (["--guess", "weight"], "the column to guess must be one of age, height"),
        (["--attacks", "bribes"], "attacks on an estimator must be among"),
        (["--attacks", ","], "at least one attack"),
        (["--target", "Laplace", "--attacks", "centres"], "attacks on a mechanism must be among"),
        (["--target", "DBSCAN"], "the target must be one of"),
        (["--epsilon", "0"], "epsilon must be"),
        (["--bounds", "5,1"], "bounds must"),
        (["--bounds", "0:1"], "bounds must"),
    ],
)
def test_bad_input(data, tmp_path, arguments, text):
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
