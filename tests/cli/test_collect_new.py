"""shoal collect new: the document, its key, later revisions, and one clear line for bad input."""

import json
import re
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.campaigns import SealingKey, SigningKey, open_campaign
from shoal.cli import app, main
from shoal.schema import Category, Number, Schema

NEW = (
    *("collect", "new", "homes", "--title", "Where [people] live", "--purpose", "Plan bus lines."),
    *("--closes", "2099-01-01", "--url", "https://collect.example.org/"),
)
BOX = ("--columns", "x,y", "--bounds", "0:20,0:10")
REVISE = ("collect", "new", "homes", "--revise", "homes.campaign.json")
FILE = "homes.campaign.json"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(monkeypatch, capsys, *arguments):
    """Run a command that must fail with one line, and write nothing."""
    before = {path: path.read_bytes() for path in Path().iterdir()}
    monkeypatch.setattr(sys, "argv", ["shoal", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr()
    assert end.value.code == 2, shown.err
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
    return shown.err


@pytest.fixture
def says(monkeypatch, capsys):
    return lambda *arguments: refused(monkeypatch, capsys, *arguments)


def opened(file=FILE):
    return open_campaign(Path(file).read_bytes(), SigningKey.load("signing.pem").public)


def test_the_document_says_what_was_typed():
    shown = run(
        *NEW,
        *BOX,
        *("--mechanism", "partition", "--epsilon", "2", "--clusters", "15", "--unit", "person"),
        *("--reports-per-device", "3", "--device-ids", "--open-intake"),
        *("--origin", "https://a.example", "--origin", "https://b.example"),
    )
    signed = opened()
    campaign = signed.campaign
    assert (campaign.id, campaign.title, campaign.unit) == (
        "homes",
        "Where [people] live",
        "person",
    )
    assert campaign.closes == datetime(2099, 1, 1, tzinfo=UTC)
    assert campaign.reports_url == "https://collect.example.org/v1/campaigns/homes/reports"
    assert campaign.results_url == "https://collect.example.org/v1/campaigns/homes/results"
    assert campaign.origins == ("https://a.example", "https://b.example")
    assert (campaign.revision, campaign.device_ids, campaign.open_intake) == (1, True, True)
    mechanism = campaign.mechanism.to_dict()
    assert (mechanism["mechanism"], mechanism["names"]) == ("PartitionResponse", ["x", "y"])
    assert mechanism["parameters"]["n_clusters"] == 15
    assert campaign.guarantee.epsilon == 6.0
    assert stat.S_IMODE(Path("signing.pem").stat().st_mode) == 0o600
    for words in (
        "Where [people] live",
        "x (0 to 20), y (0 to 10)",
        "a person reports 3 times",
        f"{campaign.report_format.width} bytes per report",
        str(campaign.guarantee),
        f"--public-key {signed.key}",
    ):
        assert words in shown


def test_json():
    plain = json.loads(run(*NEW, *BOX, "--json"))
    assert plain["public_key"] == str(opened().key)
    assert plain["bytes_per_report"] == opened().campaign.report_format.width
    assert plain["campaign"] == opened().campaign.to_dict()


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (("--bounds", "0,1", "--columns", "x"), "PartitionResponse"),
        (("--bounds", "0:1,0:2", "--mechanism", "laplace", "--set", "unit=km"), "Laplace"),
        (("--bounds", "box.json", "--mechanism", "Pie"), "Piecewise"),
        (("--schema", "schema.json"), "PartitionResponse"),
    ],
)
def test_mechanisms(options, kind):
    Path("box.json").write_text('{"x": [0, 1], "y": [0, 5]}')
    Schema([Number("age", minimum=0, maximum=100), Category("city", categories=["A", "B"])]).save(
        "schema.json"
    )
    run(*NEW, *options)
    assert type(opened().campaign.mechanism).__name__ == kind


def test_a_key_is_made_once():
    run(*NEW, *BOX)
    key = Path("signing.pem").read_bytes()
    run(*NEW, *BOX, "--out", "second.json")
    assert Path("signing.pem").read_bytes() == key
    assert opened("second.json").key == opened().key


def test_a_revision_keeps_what_is_not_given():
    run(*NEW, *BOX, "--epsilon", "2")
    first = opened().campaign
    shown = run(
        *REVISE, "--closes", "2099-06-30", "--title", "Homes", "--origin", "https://a.example"
    )
    second = opened().campaign
    assert (second.revision, second.title, second.purpose) == (2, "Homes", first.purpose)
    assert second.mechanism.to_dict() == first.mechanism.to_dict()
    assert second.weaker_than(first) == ()
    assert "revision 2" in shown
    run(*REVISE, "--closes", "2020-01-01")  # closes it at once
    assert not opened().campaign.is_open()


def test_what_devices_would_refuse_is_not_signed(says):
    run(*NEW, *BOX)
    for options, words in [
        (("--reports-per-device", "2"), "epsilon of all reports is 2, above 1"),
        (("--purpose", "Sell ads."), "another purpose"),
        (("--device-ids",), "asks for a number of the device"),
        (("--epsilon", "0.5"), "must keep the mechanism"),
        (("--set", "n_clusters=3"), "must keep the mechanism"),
        ((), "must come with what is changed"),
    ]:
        assert words in says(*REVISE, *options)
    assert "NAME must be the id in --revise" in says(
        "collect", "new", "other", "--revise", FILE, "--closes", "2099-02-01"
    )
    SigningKey.new().save("other.pem")
    assert "cannot be revised with other.pem" in says(*REVISE, "--title", "A", "--key", "other.pem")
    assert "No such file" in says(*REVISE, "--title", "A", "--key", "none.pem")


def test_bad_input(says, subtests):
    Path("broken.pem").write_text("no key")
    Path("taken.json").write_text("{}")
    for options, words in [
        ((), "needs public bounds"),
        (("--bounds", "0,1"), "mechanism must know its columns"),
        ((*BOX, "--columns", "x,y,z"), "--columns must name the 2 columns of --bounds"),
        ((*BOX, "--epsilon", "0"), "epsilon must be"),
        ((*BOX, "--mechanism", "P"), "--mechanism must be one of"),
        ((*BOX, "--mechanism", "KdLaplace"), "--mechanism must be one of"),
        ((*BOX, "--mechanism", "laplace", "--clusters", "3"), "--clusters must come with"),
        ((*BOX, "--set", "random_state=1"), "--set must not name random_state"),
        ((*BOX, "--closes", "soon"), "--closes must be a day such as"),
        ((*BOX, "--closes", "2020-01-01"), "--closes must be in the future"),
        ((*BOX, "--url", "http://collect.example.org"), "https address"),
        ((*BOX, "--unit", "house"), "unit must be one of"),
        ((*BOX, "--origin", "https://a.example/page"), "origins must be such as"),
        ((*BOX, "--key", "broken.pem"), "must hold an Ed25519 key"),
        ((*BOX, "--key", "no/signing.pem"), "cannot be written"),
        ((*BOX, "--out", "taken.json"), "--out must be a new file"),
        ((*BOX, "--out", "no/homes.json"), "in a folder that exists"),
        ((*BOX, "--schema", "no.json"), "no.json"),
    ]:
        with subtests.test(options=options):
            assert words in says(*NEW, *options)
    for option in ("--title", "--purpose", "--closes", "--url"):
        place = NEW.index(option)
        message = says(*NEW[:place], *NEW[place + 2 :], *BOX)
        assert f"{option} must be given" in message
    assert "id must be small letters" in says(*NEW[:2], "Homes!", *NEW[3:], *BOX)


def test_help_shows_an_example():
    shown = run("collect", "new", "--help")
    assert re.search(r"Example: shoal collect new homes", shown)


RELAY = ("--relay", "https://relay.example.org", "--operator", "University of [X]", "--batch", "50")


def test_a_shuffler_gets_the_reports_and_the_collector_the_key():
    shown = run(*NEW, *BOX, *RELAY)
    campaign = opened().campaign
    assert campaign.reports_url == "https://relay.example.org/v1/campaigns/homes/reports"
    assert campaign.results_url == "https://collect.example.org/v1/campaigns/homes/results"
    shuffler, key = campaign.shuffler, SealingKey.load("sealing.pem")
    assert (shuffler.operator, shuffler.batch_size) == ("University of [X]", 50)
    assert shuffler.key == str(key.public)
    assert "by University of [X], 50 at a time" in shown
    assert "50 bytes per report; the server keeps 2 of them and nothing else" in shown
    run(*NEW[:2], "works", *NEW[3:], *BOX, *RELAY)  # the same key
    assert opened("works.campaign.json").campaign.shuffler == shuffler
    run(*REVISE, "--closes", "2099-02-01", "--url", "https://new.example.org")
    later = opened().campaign
    assert (later.shuffler, later.revision) == (shuffler, 2)
    assert later.reports_url == campaign.reports_url
    assert later.results_url == "https://new.example.org/v1/campaigns/homes/results"


def test_a_shuffler_is_whole_and_stays(says):
    assert "must be given together, got no --operator" in says(*NEW, *BOX, *RELAY[:2])
    assert "--batch" in says(*NEW, *BOX, *RELAY[:4])
    assert "device_ids must be False" in says(*NEW, *BOX, *RELAY, "--device-ids")
    one_file = (*RELAY, "--sealing-key", "signing.pem")
    assert "must be another file than --key" in says(*NEW, *BOX, *one_file)
    run(*NEW, *BOX, *RELAY)
    assert "devices accept no other shuffler" in says(*REVISE, *RELAY)
