"""Where the numbers of a page come from, without naming a machine."""

import datetime
import json

import pytest

from shoal import __version__
from shoal.experiments.provenance import Provenance, typed_command


def test_defaults_are_those_of_now():
    made = Provenance("shoal demo", None)
    assert made.version == __version__
    assert abs(datetime.date.fromisoformat(made.date) - datetime.date.today()).days <= 1
    assert made.randomness == "secure randomness"
    assert json.loads(json.dumps(made.to_dict()))["seed"] is None


@pytest.mark.parametrize("file", ["/srv/ann/people.csv", "../people.csv", "people.csv"])
def test_the_file_without_its_folder(file):
    assert Provenance("", 0, data=file).data == "people.csv"


def test_the_command_as_it_was_typed(subtests):
    for words, typed in [
        (["/srv/ann/people.csv", "--out", "/srv/host-7/page"], "people.csv --out page"),
        (["--ledger=/srv/ann/a.ledger"], "--ledger=a.ledger"),
        (["C:\\\\Users\\\\ann\\\\people.csv"], "people.csv"),
        (["../shared/"], "shared"),
        (["--bounds", "0:1,-1:2", "--set", "method=lloyd"], "--bounds 0:1,-1:2 --set method=lloyd"),
        (["two words.csv"], "'two words.csv'"),
    ]:
        with subtests.test(words=words, typed=typed):
            assert typed_command("attack", words) == f"shoal attack {typed}"
