"""shoal collect page: a folder that can be hosted as it is, of a document that was checked."""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.campaigns import KEY, shuffled_campaign
from helpers.stub_collector import OTHER_KEY, StubCollector, make_campaign, serving
from shoal._browser_client import browser_modules
from shoal.campaigns import sign_campaign
from shoal.cli import app, main

PUBLIC = str(KEY.public)
SITE = "https://collect.example.org"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHOAL_PUBLIC_KEY", raising=False)
    return tmp_path


def write(**changed):
    campaign = make_campaign(SITE, **changed)
    Path("homes.campaign.json").write_bytes(sign_campaign(campaign, KEY))
    return campaign


def run(*arguments):
    result = CliRunner().invoke(app, ["collect", "page", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


class Tags(HTMLParser):
    """Collects the attributes of every element."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def handle_starttag(self, tag, attrs):
        self.found.setdefault(tag, []).append(dict(attrs))


def tags(path="page/index.html"):
    parser = Tags()
    parser.feed(Path(path).read_text(encoding="utf-8"))
    return parser.found


def test_the_folder_holds_the_page_and_all_modules():
    write(title='Homes & "jobs"', open_intake=True, origins=("https://example.org",))
    shown = run("homes.campaign.json", "--public-key", PUBLIC)
    assert "page/index.html" in shown
    assert "next: upload page as it is to https://example.org" in shown
    assert shown.count("next:") == 1
    found = tags()
    (report,) = found["shoal-report"]
    assert (report["campaign"], report["key"]) == (f"{SITE}/v1/campaigns/homes", PUBLIC)
    text = Path("page/index.html").read_text(encoding="utf-8")
    assert "<title>Homes &amp; &quot;jobs&quot;</title>" in text
    copied = {file.name: file.read_bytes() for file in Path("page/shoal").iterdir()}
    assert copied == {file.name: file.read_bytes() for file in browser_modules()}
    for file in ("page.css", found["script"][0]["src"]):
        assert (Path("page") / file).is_file()


def test_every_module_that_is_imported_is_there():
    write()
    run("homes.campaign.json", "--public-key", PUBLIC)
    for file in Path("page/shoal").iterdir():
        text = file.read_text(encoding="utf-8")
        for name in re.findall(r'(?:from |import\()"(\./[^"]+)"', text):
            assert (file.parent / name).is_file(), (file.name, name)


def test_the_page_may_ask_nobody_but_the_addresses_of_the_document():
    write(results_url="https://results.example.org/homes")
    run("homes.campaign.json", "--public-key", PUBLIC)
    (policy,) = [
        meta["content"]
        for meta in tags()["meta"]
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["connect-src"] == f"{SITE} https://results.example.org"
    text = Path("page/index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|style=|<script>|\son\w+=", text), "nothing inline"


def test_what_is_left_to_do_is_said():
    write()
    plain = json.loads(run("homes.campaign.json", "--public-key", PUBLIC, "--json"))
    assert plain["document"] == f"{SITE}/v1/campaigns/homes"
    upload, origin, key = plain["next"]
    assert "over https" in upload
    assert "--revise homes.campaign.json --origin https://YOUR-SITE" in origin
    assert "shoal collect key new homes" in key
    given = ("homes.campaign.json", "--public-key", PUBLIC, "--out", "other")
    shown = run(*given, "--ingest-key", 'shk_"1"', "--url", "https://example.org/homes.json")
    assert "ingest key" not in shown
    (report,) = tags("other/index.html")["shoal-report"]
    assert report["ingest-key"] == 'shk_"1"'
    assert report["campaign"] == "https://example.org/homes.json"


def test_the_key_of_a_relay_is_asked_of_whoever_runs_it():
    """Not made at the collector: whoever holds that one can forward batches."""
    Path("homes.campaign.json").write_bytes(shuffled_campaign("homes").envelope)
    *_, key = json.loads(run("homes.campaign.json", "--public-key", PUBLIC, "--json"))["next"]
    assert "ask the university of X for one of relay.keys" in key
    assert "key new" not in key


def test_a_document_of_a_server():
    collector = StubCollector()
    with serving(collector) as site:
        collector.publish(make_campaign(site))
        run(f"{site}/v1/campaigns/homes", "--public-key", PUBLIC)
        assert tags()["shoal-report"][0]["campaign"] == f"{site}/v1/campaigns/homes"


@pytest.fixture
def says(monkeypatch, capsys):
    def refused(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", "collect", "page", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        assert end.value.code == 2, shown.err
        assert (shown.out, shown.err.count("\n")) == ("", 1)
        return shown.err

    return refused


def test_what_is_refused_leaves_no_folder(says):
    write()
    Path("full").mkdir()
    Path("full/old.js").touch()
    Path("file").touch()
    given = ("homes.campaign.json", "--public-key", PUBLIC)
    for arguments, words in [
        (("homes.campaign.json",), "--public-key must be given"),
        (("homes.campaign.json", "--public-key", str(OTHER_KEY.public)), "must be signed by"),
        (("none.json", "--public-key", PUBLIC), "No such file"),
        (("http://127.0.0.1:1/homes", "--public-key", PUBLIC), "is the collector running?"),
        (("http://example.org/homes", "--public-key", PUBLIC), "must be an https address"),
        ((*given, "--out", "full"), "--out must be a new or an empty folder"),
        ((*given, "--out", "file"), "--out must be a new or an empty folder"),
        ((*given, "--out", "file/page"), "--out must be a writable folder"),
        ((*given, "--url", "http://example.org/homes"), "url must be an https address"),
        ((*given, "--ingest-key", "a key\n"), "--ingest-key must be visible letters"),
    ]:
        assert words in says(*arguments)
    assert [path.name for path in Path("full").iterdir()] == ["old.js"]
    assert not Path("page").exists()
    write(reports_url="https://example.org/take")
    assert "--url must be given" in says(*given)
