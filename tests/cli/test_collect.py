"""shoal collect: campaigns, credentials and what a collector holds, in its database."""

import io
import json
import re
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
from shoal.cli import app, main
from shoal.cli.collect import analyze, collect_app
from shoal.collector.store import Store, Submission
from shoal.collector.worker import Worker
from shoal.mechanisms import PartitionResponse, load_mechanism
from shoal.privacy import Guarantee, Release
from shoal.service import EventLog

KEY = SigningKey(bytes(range(32)))
PUBLIC = str(KEY.public)
CENTERS = {
    "centers": np.array([[0.2, 0.2]]),
    "center_radius": np.array([0.1]),
    "weights": np.array([1.0]),
    "better_than_blind": False,
    "metric": "euclidean",
}
DAY = datetime(2099, 1, 1, tzinfo=UTC)


def signed(**changed):
    """Return the envelope of a campaign."""
    base = "https://example.org/v1/campaigns/homes"
    fields = {
        "id": "homes",
        "title": "Where [people] live",
        "purpose": "Plan bus lines.",
        "mechanism": PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
        "closes": DAY,
        "reports_url": f"{base}/reports",
        "results_url": f"{base}/results",
    }
    return sign_campaign(Campaign(**{**fields, **changed}), KEY)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A database with a campaign and three reports, and nothing else."""
    path = tmp_path_factory.mktemp("collect") / "reports.db"
    with Store.open(f"sqlite:///{path}") as store:
        store.add_campaign(open_campaign(signed(), KEY.public))
        store.append([Submission("homes", b"0123456789abcdef", b"\x00\x01" * 3, 3)])
    return path


@pytest.fixture(autouse=True)
def database(tmp_path, monkeypatch, filled):
    monkeypatch.chdir(tmp_path)
    Path("reports.db").write_bytes(filled.read_bytes())
    monkeypatch.setenv("SHOAL_DB", "reports.db")
    monkeypatch.delenv("SHOAL_PUBLIC_KEY", raising=False)


def run(*arguments, output="stdout"):
    result = CliRunner().invoke(app, ["collect", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return getattr(result, output)


def refused(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["shoal", "collect", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr()
    assert end.value.code == 2, shown.err
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    return shown.err


@pytest.fixture
def says(monkeypatch, capsys):
    return lambda *arguments: refused(monkeypatch, capsys, *arguments)


@pytest.fixture
def store():
    with Store.open("sqlite:///reports.db") as opened:
        yield opened


def test_add_takes_documents_and_revisions_of_the_key(says, store, monkeypatch):
    Path("homes.json").write_bytes(signed(revision=2, title="Homes"))
    shown = run("add", "homes.json", "--public-key", PUBLIC)
    assert "homes, revision 2: in force" in shown
    assert "shoal collect key new homes" in shown
    assert store.campaign("homes").campaign.title == "Homes"
    monkeypatch.setenv("SHOAL_PUBLIC_KEY", PUBLIC)
    (plain,) = json.loads(run("add", "homes.json", "--json"))
    assert plain == {
        "campaign": "homes",
        "revision": 2,
        "digest": store.campaign("homes").digest,
    }
    monkeypatch.delenv("SHOAL_PUBLIC_KEY")
    Path("old.json").write_bytes(signed())
    Path("broken.json").write_bytes(signed().replace(b"A", b"B", 1))
    other = str(SigningKey.new().public)
    for arguments, words in [
        (("homes.json",), "--public-key must be given"),
        (("homes.json", "--public-key", "me"), "a public key must be"),
        (("homes.json", "--public-key", other), "must be signed by"),
        (("broken.json", "--public-key", PUBLIC), "must be signed by"),
        (("old.json", "--public-key", PUBLIC), "revision 1 is older than 2"),
        (("none.json", "--public-key", PUBLIC), "No such file"),
    ]:
        assert words in says("add", *arguments)


def test_a_database_is_made_by_add_only(says):
    Path("homes.json").write_bytes(signed())
    assert "--db must be an existing database" in says("status", "--db", "new.db")
    assert not Path("new.db").exists()
    run("add", "homes.json", "--db", "new.db", "--public-key", PUBLIC)
    assert json.loads(run("status", "--db", "new.db", "--json"))[0]["reports"] == 0


def test_tokens(store, says):
    text = run("token", "new", "Ada [ops]", "--scope", "read,analyze", "--expires", "2d").strip()
    token = store.find_token(text)
    assert token.scopes == {"read", "analyze"}
    assert abs(token.expires - datetime.now(UTC) - timedelta(days=2)) < timedelta(minutes=5)
    plain = json.loads(run("token", "new", "Bob", "--expires", "2099-01-01", "--json"))
    assert store.find_token(plain["token"]).expires == DAY
    assert "not shown again" in run("token", "new", "Cy", output="stderr")
    listed = run("token", "list")
    assert "Ada [ops]" in listed
    assert text.rpartition("_")[2] not in listed
    states = {one["name"]: one["state"] for one in json.loads(run("token", "list", "--json"))}
    assert states == {"Ada [ops]": "valid", "Bob": "valid", "Cy": "valid"}
    assert "revoked" in run("token", "revoke", token.id)
    assert store.find_token(text) is None
    assert json.loads(run("token", "list", "--json"))[0]["state"] == "revoked"
    for arguments, words in [
        (("new", "Eve", "--scope", "write"), "scopes must be some of"),
        (("new", "Eve", "--scope", ""), "scopes must be some of"),
        (
            (
                "new",
                " ",
            ),
            "name must say",
        ),
        (("new", "Eve", "--expires", "soon"), "--expires must be such as 30d"),
        (("new", "Eve", "--expires", "2020-01-01"), "in the future"),
        (("revoke", "nobody"), "no token with id 'nobody'"),
    ]:
        assert words in says("token", *arguments)


def test_ingest_keys(store, says):
    text = run("key", "new", "homes").strip()
    assert store.ingest_key_ok("homes", text)
    other = json.loads(run("key", "new", "homes", "--json"))["key"]
    listed = json.loads(run("key", "list", "homes", "--json"))
    assert [one["campaign"] for one in listed] == ["homes", "homes"]
    shown = run("key", "list", "homes")
    assert text.split("_")[2] in shown
    assert text.rpartition("_")[2] not in shown
    run("key", "revoke", text.split("_")[2])
    assert not store.ingest_key_ok("homes", text)
    assert store.ingest_key_ok("homes", other)
    assert "no campaign 'cars'" in says("key", "new", "cars")
    assert "no ingest key" in says("key", "revoke", "nobody")


def test_status(store):
    store.add_analysis("homes", "kmeans", {"n_clusters": 2}, 0, store.snapshot("homes"))
    (row,) = json.loads(run("status", "--json"))
    assert (row["campaign"], row["reports"], row["bytes"]) == ("homes", 3, 6)
    assert (row["state"], row["published"]) == ("open", None)
    assert row["public_key"] == PUBLIC
    assert row["guarantee"]["epsilon"] == 1.0
    (analysis,) = row["analyses"]
    assert (analysis["version"], analysis["state"], analysis["reports"]) == (1, "queued", 3)
    shown = run("status", "homes")
    for words in ("homes", "2099-01-01 00:00", "n_clusters=2", "queued"):
        assert words in shown


@pytest.fixture
def reports(store):
    """Reports of two groups of devices, besides the three."""
    mechanism = store.campaign("homes").campaign.mechanism
    mechanism.set_params(random_state=0)
    records = np.repeat([[0.2, 0.2], [0.8, 0.8]], 300, axis=0)
    body = mechanism.encode(mechanism.fit_transform(records))
    store.append([Submission("homes", b"fedcba9876543210", body, 600)])


def quick_worker(store, release):
    """Return a worker that has the result at once, and logs nothing."""
    return Worker(store, run=lambda _store, _job: release, log=EventLog(io.StringIO()))


def answer_with(release, monkeypatch, store):
    worker = quick_worker(store, release)
    monkeypatch.setattr(analyze, "_own_worker", lambda _store: worker.run_next)


def test_analyze_and_publish(store, reports, says, monkeypatch):
    plain = json.loads(
        run("analyze", "homes", "--k", "2", "--seed", "1", "--here", "--json", "--out", "r.json")
    )
    assert (plain["version"], plain["state"], plain["reports"]) == (1, "done", 603)
    assert plain["snapshot"] == store.snapshot("homes").digest
    assert len(plain["clusters"]) == 2
    release = Release.load("r.json")
    assert release == Release.from_json(store.analysis("homes", 1).release)
    answer_with(release, monkeypatch, store)
    shown = run("analyze", "homes", "--k", "2", "--seed", "1", "--here")
    assert "version 2 of homes: 603 reports, seed 1" in shown
    assert "next: shoal collect publish homes 2" in shown
    assert "published: version 2 of homes" in run("publish", "homes", "2")
    assert store.published("homes").analysis.version == 2
    assert json.loads(run("status", "--json"))[0]["published"] == 2
    assert "queued: version 3 of homes" in run("analyze", "homes", "--no-wait")
    for arguments, words in [
        (("analyze", "homes", "--no-wait", "--out", "r.json"), "--out must come without --no-wait"),
        (("publish", "homes", "3"), "version 3 of 'homes' is queued"),
        (("publish", "homes", "9"), "not there"),
        (("publish", "cars", "1"), "no campaign 'cars'"),
        (("analyze", "cars"), "no campaign 'cars'"),
        (("analyze", "homes", "--method", "ward"), "method must be one of"),
        (
            ("analyze", "homes", "--set", "n_clusters=3"),
            "--set must not name n_clusters, got it: use --k",
        ),
        (("analyze", "homes", "--set", "color=3"), "got 'color'"),
        (("analyze", "homes", "--out", "no/r.json"), "--out must be a file"),
    ]:
        assert words in says(*arguments)
    assert len(store.analyses("homes")) == 3, "what is refused is not queued"


def test_analyze_waits_for_a_worker_and_says_so(store, reports, monkeypatch):
    """Another process takes the job while this one waits."""
    monkeypatch.setattr(analyze, "HINT_SECONDS", -1.0)
    monkeypatch.setattr(analyze, "POLL_SECONDS", 0.0)
    release = Release("NoiseAwareKMeans", CENTERS, Guarantee("local", epsilon=1.0))
    looks = iter([None, None, quick_worker(store, release).run_next])
    # The command's own clock alone: other threads of this process sleep too.
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: (next(looks) or bool)())
    monkeypatch.setattr(analyze, "time", clock)
    result = CliRunner().invoke(app, ["collect", "analyze", "homes", "--k", "2"])
    assert result.exit_code == 0, result.output
    assert result.stderr.count("no worker has taken it yet") == 1
    assert "not better than blind" in result.stdout
    assert "version 1 of homes" in result.stdout


def test_a_failed_analysis_is_an_error(store, reports, says, monkeypatch):
    def fail(_store, _job):
        raise ValueError("1.5 is a number of a report")

    worker = Worker(store, run=fail, log=EventLog(io.StringIO()))
    monkeypatch.setattr(analyze, "_own_worker", lambda _store: worker.run_next)
    message = says("analyze", "homes", "--here")
    assert "version 1 of homes failed: the analysis failed with ValueError" in message
    assert "1.5" not in message


def test_export(store, says):
    plain = json.loads(run("export", "homes", "--out", "files", "--json"))
    assert (plain["reports"], plain["folder"]) == (3, "files")
    assert type(load_mechanism(plain["document"])).__name__ == "PartitionResponse"
    assert pd.read_parquet("files").columns.tolist() == ["partition", "color"]
    assert "3 reports" in run("export", "homes", "--out", "again")
    assert "files" in says("export", "homes", "--out", "files")
    assert "no campaign 'cars'" in says("export", "cars", "--out", "cars")
    assert not Path("cars").exists()


def test_a_password_is_never_shown(says):
    url = "postgresql://ada:secret@127.0.0.1:1/reports"
    for arguments in (("status",), ("token", "list"), ("key", "list", "homes")):
        message = says(*arguments, "--db", url)
        assert "cannot be used" in message
        assert "secret" not in message
    assert "secret" not in says("status", "--db", "mysql://ada:secret@host/reports")


def commands(group, *above):
    """Yield every command of a group, with the words that name it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *above, name)
        else:
            yield (*above, name), command


COMMANDS = dict(commands(typer.main.get_command(collect_app)))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_with_its_own_options(words):
    command = COMMANDS[words]
    shown = command.help.split("Example: ")
    assert len(shown) == 2, "one example"
    example = " ".join(shown[1].split())
    assert example.startswith(f"shoal collect {' '.join(words)}")
    own = {option for given in command.params for option in (*given.opts, *given.secondary_opts)}
    texts = [example, *(getattr(given, "help", "") or "" for given in command.params)]
    for text in texts:
        named = re.findall(r"--[a-z][a-z-]*", re.sub("`[^`]*`", "", text))
        assert set(named) <= own


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("sqlalchemy", "serve", ["status"]),
        ("alembic", "serve", ["status"]),
        ("psycopg", "serve", ["status", "--db", "postgresql://shoal@127.0.0.1:1/none"]),
        ("fastapi", "serve", ["serve", "--port", "0"]),
        ("httptools", "serve", ["serve", "--port", "0"]),
        ("prometheus_client", "serve", ["serve", "--port", "0"]),
        ("uvicorn", "serve", ["demo"]),
        ("altair", "plot", ["demo"]),
        ("vl_convert", "plot", ["demo"]),
    ],
)
def test_a_package_that_is_not_installed(monkeypatch, capsys, package, extra, arguments):
    monkeypatch.setitem(sys.modules, package, None)  # imports of it fail
    text = refused(monkeypatch, capsys, *arguments)
    assert f"{package} is not installed: run `pip install '.[{extra}]'`" in text
    assert not Path("shoal-collect-demo").exists()
