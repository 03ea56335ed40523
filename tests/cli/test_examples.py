"""The example in the help of each command runs as it is written."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from shoal.cli import COMMANDS, app, main
from shoal.cluster import DPKMeans
from shoal.schema import Number, Schema

# Less work than by default, to be quick; the words of the example stay.
FEWER = {
    "attack": ("--runs", "2", "--attacks", "centers", "--seed", "0"),
    "audit": ("--runs", "100", "--jobs", "1", "--seed", "0"),
}
LONG = pytest.mark.full
# Run in tests of their own, which take their time.
ELSEWHERE = {"compare", "demo", "plan", "reproduce", "studio"}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Put the files that the examples name into the folder where they run."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    people = np.clip(rng.normal([40.0, 75.0], [15.0, 12.0], size=(400, 2)), 0, 120)
    np.savetxt("people.csv", people, delimiter=",", header="age,weight", comments="")
    Schema([Number("age", minimum=0, maximum=120), Number("weight", minimum=0, maximum=250)]).save(
        "people.json"
    )
    released = DPKMeans(2, bounds=(0.0, 120.0)).fit(pd.read_csv("people.csv")).release_
    Path("shoal-cluster").mkdir()
    released.save("shoal-cluster/release.json")
    places = np.clip(rng.normal(0.0, 0.4, size=(400, 2)), -1, 1)
    np.savetxt("places.csv", places, delimiter=",", header="x,y", comments="")


def example(command):
    """Read the one example out of the help, as the user sees it."""
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
    found = re.findall(r"Example: (shoal .*)", shown)
    assert len(found) == 1, shown
    words = shlex.split(found[0])
    assert words[:2] == ["shoal", command]
    return words


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=LONG if command == "audit" else ())
        for command in COMMANDS
        if command not in ELSEWHERE
    ],
)
def test_example(command, monkeypatch, capsys):
    words = [*example(command), *FEWER.get(command, ())]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr()
    assert end.value.code == 0, shown.err
    assert shown.out
    made = {
        "cluster": "shoal-cluster/release.json",
        "perturb": "reports.csv",
        "ledger": "people.ledger",
        "attack": "shoal-attack/report.html",
        "audit": "shoal-audit/report.html",
        "profile": "shoal-profile/profile.html",
    }
    assert command not in made or Path(made[command]).is_file()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example(command):
    assert example(command)
