"""``shoal-device``: what it prints, keeps and refuses."""

import io
import json
import sys

import pandas as pd
import pytest

from helpers.campaigns import KEY
from helpers.stub_collector import HOME, WORK, StubCollector, make_campaign, serving
from shoal.client.commands import main
from shoal.mechanisms import PartitionResponse


@pytest.fixture(scope="module")
def served():
    collector = StubCollector()
    with serving(collector) as address:
        yield collector, address


@pytest.fixture
def collector(served):
    served[0].__init__(make_campaign(served[1]))
    return served[0]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    def run(*arguments, record=None):
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(record)))
        code = main(["--file", str(tmp_path / "device.db"), *arguments])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def test_join_report_status(collector, served, run, monkeypatch):
    monkeypatch.setenv("SHOAL_INGEST_KEY", "ingest-1")
    code, said = run("--public-key", str(KEY.public), "join", f"{served[1]}/v1/campaigns/homes")
    assert code == 0
    assert "Plan bus lines." in said
    assert "joined homes" in said
    assert run("report", record=HOME) == (0, "homes: new report, sent\n")
    assert run("report", record=HOME) == (0, "homes: reported before, nothing was spent, sent\n")
    assert collector.posts[0].headers["Authorization"] == "Bearer ingest-1"
    code, said = run("report", record=WORK)
    assert code == 1
    assert said.startswith("shoal-device: campaign 'homes' allows 1 report of")
    assert said.count("\n") == 1
    code, said = run("status")
    assert "1 of 1 reports drawn, 1 arrived; epsilon 1 of 1 local" in said
    code, said = run("status", "--json")
    assert json.loads(said)[0]["drawn"] == 1


def test_keep_and_send(collector, served, run, tmp_path):
    run("--public-key", str(KEY.public), "join", f"{served[1]}/v1/campaigns/homes")
    record = tmp_path / "record.json"
    record.write_text(json.dumps(HOME))
    key = tmp_path / "ingest"
    key.write_text("ingest-2\n")
    assert run("report", "--keep", str(record)) == (0, "homes: new report, kept\n")
    assert collector.posts == []
    assert run("--ingest-key-file", str(key), "send") == (0, "sent 1, kept 0\n")
    assert collector.posts[0].headers["Authorization"] == "Bearer ingest-2"
    assert run("send") == (0, "sent 0, kept 0\n")
    assert run("label", str(record)) == (
        1,
        "shoal-device: campaign 'homes' has no results yet: ask again later\n",
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["report"], "campaign must be one that was joined"),
        (["join", "http://example.org/"], "url must be an https address"),
        (["report", "/nowhere"], "record must be a file or '-'"),
        (["--ingest-key-file", "/nowhere", "send"], "ingest-key-file must be a file"),
        (["--epsilon-limit", "-1", "status"], "epsilon must be a finite number > 0"),
    ],
)
def test_refusals_are_one_line(run, arguments, text):
    code, said = run("--public-key", str(KEY.public), *arguments, record=HOME)
    assert code == 1
    assert text in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("record", [None, 3, "0.123"])
def test_what_is_no_record_is_not_repeated(collector, served, run, record):
    run("--public-key", str(KEY.public), "join", f"{served[1]}/v1/campaigns/homes")
    code, said = run("report", record=record)
    assert (code, said) == (
        1,
        "shoal-device: record must be a JSON list of values or an object, got another text\n",
    )


@pytest.mark.filterwarnings("error")
def test_records_by_the_names_of_columns(served, run):
    mechanism = PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    mechanism.fit(pd.DataFrame({"east": [0.0], "north": [0.0]}))
    served[0].__init__(make_campaign(served[1], mechanism=mechanism))
    run("--public-key", str(KEY.public), "join", f"{served[1]}/v1/campaigns/homes")
    for bad in ({"east": 0.123}, {"east": [0.123, 1], "north": 0.5}, [[0.123], [1, 2]]):
        code, said = run("report", record=bad)
        assert (code, said.count("\n")) == (1, 1)
        assert said.startswith("shoal-device: x must have")
        assert "0.123" not in said
    assert run("report", record={"north": 0.5, "east": 0.25})[1] == "homes: new report, sent\n"
    assert "reported before" in run("report", record=[0.25, 0.5])[1]


def test_the_first_time_needs_a_key(run):
    code, said = run("status")
    assert code == 1
    assert "public_key must be given" in said
