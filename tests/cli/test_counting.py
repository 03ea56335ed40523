"""Every paid command counts by itself: a ledger beside the table, the total in the last line."""

import inspect
import json
import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal.cli import COMMANDS, app
from shoal.cli import _counting as counting
from shoal.exceptions import LedgerFileError, ParameterError
from shoal.privacy import GDPEvent, Ledger, MetricEvent, PrivacyUnit, PureEvent
from shoal.schema import Number, Schema
from shoal.tables import write_table

SEEDED = ("--seed", "0")
BOX = ("--columns", "age,height", "--bounds", "0:120,50:250")
CLUSTER = ("cluster", "people.csv", *BOX, "--k", "2", "--set", "method=lloyd", *SEEDED)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHOAL_LEDGER", raising=False)
    people = np.random.default_rng(0).normal([40.0, 170.0], [15.0, 12.0], size=(200, 2))
    write_table("people.csv", ["age", "height"], people)
    limits = {"age": (0, 120), "height": (50, 250)}
    fields = [Number(name, minimum=low, maximum=high) for name, (low, high) in limits.items()]
    Schema(fields).save("people.json")
    open_ends = [Number("age"), Number("height", minimum=50, maximum=250)]
    Schema(open_ends).save("open.json")
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def last(result):
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout.rstrip().splitlines()[-1]


PAID = {
    "cluster": CLUSTER,
    "perturb": ("perturb", "people.csv", "-o", "reports.csv", *BOX, "--unit", "m", *SEEDED),
    "profile": ("profile", "people.csv", "--release", "shoal-cluster", *SEEDED),
    "schema": (
        *("schema", "people.csv", "--from-frictionless", "open.json", "--private", "1"),
        *("--out", "learned.json", *SEEDED),
    ),
    "compare": (
        *("compare", "people.csv", *BOX, "--private-copy", "1", "--runs", "1", "--jobs", "1"),
        *("--only", "DPKMeans", "--epsilon", "1", "--clusters", "2", "--no-attacks", *SEEDED),
    ),
}


def test_every_command_that_takes_a_ledger_is_tried():
    takes = {
        name for name, one in COMMANDS.items() if "no_ledger" in inspect.signature(one).parameters
    }
    charges = {
        name for name, one in COMMANDS.items() if "ledger" in inspect.signature(one).parameters
    }
    assert takes == set(PAID)
    assert charges - takes == {"studio"}  # which asks for a limit first


@pytest.mark.parametrize("command", PAID)
def test_a_paid_command_keeps_a_ledger_beside_the_table(command):
    if command == "profile":
        clusters = ("cluster", "people.csv", "--schema", "people.json", "--k", "2", "--no-ledger")
        assert run(*clusters, *SEEDED).exit_code == 0
    total = last(run(*PAID[command]))
    (entry,) = Ledger("people.csv.ledger").entries
    assert (entry.table, entry.seeded) == ("people", True)
    assert total.startswith(
        "1 set of reports of" if command == "perturb" else "1 release of people.csv"
    )
    assert "epsilon = 1" in total
    assert "seeded" in total


def test_the_last_line_adds_up():
    for _ in range(2):
        last(run(*CLUSTER))
    assert last(run(*CLUSTER)).startswith("3 releases of people.csv, together epsilon = 3")
    total = json.loads(run(*CLUSTER, "--json").stdout)["total"]
    assert (total["releases"], total["seeded"], total["spent"][0]["epsilon"]) == (4, 4, 4.0)
    assert total["file"] == str(Path("people.csv.ledger").resolve())


def test_relative_absolute_and_linked_paths_are_one_table(folder):
    Path("other").mkdir()
    (folder / "other" / "link.csv").symlink_to(folder / "people.csv")
    for name in ("people.csv", folder / "people.csv", "other/../people.csv", "other/link.csv"):
        last(run("cluster", name, *CLUSTER[2:]))
    assert len(Ledger("people.csv.ledger")) == 4
    assert Ledger("people.csv.ledger").table == "people"
    assert not Path("other/link.csv.ledger").exists()


def test_no_ledger_is_said_aloud():
    assert "--no-ledger" in last(run(*CLUSTER, "--no-ledger"))
    found = run(*CLUSTER, "--no-ledger", "--json")
    assert json.loads(found.stdout)["total"] is None
    assert "--no-ledger" in found.stderr
    assert not Path("people.csv.ledger").exists()


@pytest.mark.parametrize("option", ["--ledger", "--table", "--who"])
def test_no_ledger_contradicts_what_is_about_one(option):
    refused = run(*CLUSTER, "--no-ledger", option, "x")
    assert isinstance(refused.exception, ParameterError)
    assert not Path("shoal-cluster").exists()


def test_the_environment_names_a_ledger(monkeypatch):
    Ledger("limited.ledger", epsilon=1.0)
    monkeypatch.setenv("SHOAL_LEDGER", "limited.ledger")
    assert last(run(*CLUSTER)).startswith("1 release of people.csv, epsilon = 1")
    assert not Path("people.csv.ledger").exists()
    refused = run(*CLUSTER)
    assert (refused.exception.parameter, refused.exception.code) == ("epsilon", "budget")
    assert len(Ledger("limited.ledger")) == 1


def test_a_limit_beside_the_table_is_kept():
    Ledger("people.csv.ledger", epsilon=1.5)
    last(run(*CLUSTER))
    assert run(*CLUSTER).exception.code == "budget"


@pytest.mark.parametrize("words", [("--k", "0"), ("--bounds", "1:0,0:1"), ("--epsilon", "-1")])
def test_what_fails_before_the_spend_leaves_no_ledger(words):
    assert run(*CLUSTER, *words).exit_code
    assert not list(Path().glob("*.ledger*"))


def test_ctrl_c_before_the_spend_leaves_no_ledger(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.cluster.DPKMeans.fit", interrupted)
    assert run(*CLUSTER).exit_code
    assert not list(Path().glob("*.ledger*"))


def test_records_in_no_file_need_a_ledger():
    if hasattr(os, "mkfifo"):
        os.mkfifo("pipe.csv")
        refused = run("cluster", "pipe.csv", *CLUSTER[2:]).exception
        assert (refused.parameter, refused.code) == ("ledger", "missing")


def test_a_folder_that_cannot_be_written_needs_a_ledger(monkeypatch):
    def refused(**_):
        raise PermissionError(13, "Permission denied")

    # Whoever runs tests as root may write everywhere.
    monkeypatch.setattr(counting.tempfile, "TemporaryFile", refused)
    error = run(*CLUSTER).exception
    assert (error.parameter, error.code) == ("ledger", "missing")
    assert last(run(*CLUSTER, "--no-ledger"))
    Ledger("elsewhere.ledger", epsilon=1.0)
    assert last(run(*CLUSTER, "--ledger", "elsewhere.ledger"))


def test_a_folder_of_records_and_its_files(folder):
    Path("parts").mkdir()
    people = Path("people.csv").read_text("utf-8")
    for number in range(2):
        Path(f"parts/{number}.csv").write_text(people, "utf-8")
    last(run("cluster", "parts/0.csv", *CLUSTER[2:]))
    assert Path("parts/0.csv.ledger").exists()
    last(run("cluster", "parts", *CLUSTER[2:]))  # a ledger inside is no file of records
    assert len(Ledger("parts.ledger")) == 1


@pytest.mark.parametrize("name", ["people.csv.ledger", "people.csv.ledger.head"])
def test_nothing_is_written_over_the_ledger(name):
    last(run(*CLUSTER))
    kept = Path("people.csv.ledger").read_bytes()
    for words in (("--out", name), ("--labels", name)):
        assert run(*CLUSTER, *words).exception.__class__ is ParameterError
    assert Path("people.csv.ledger").read_bytes() == kept


def test_another_file_of_this_name_is_no_ledger():
    Path("people.csv.ledger").write_text("mine", "utf-8")
    assert isinstance(run(*CLUSTER).exception, LedgerFileError)
    assert Path("people.csv.ledger").read_text("utf-8") == "mine"


def test_a_ledger_beside_data_holds_no_record():
    last(run(*CLUSTER))
    text = Path("people.csv.ledger").read_text("utf-8")
    rows = Path("people.csv").read_text("utf-8").splitlines()[1:]
    assert not any(value in text for row in rows for value in row.split(",") if len(value) > 4)


def first_spend(folder):
    os.chdir(folder)
    opened = counting.count_spends(None, Path("people.csv"), Path("out"), table=None, who="me")
    opened.ledger.spend(PureEvent(epsilon=0.25))


def test_processes_that_begin_at_once_share_the_ledger(folder):
    context = multiprocessing.get_context("spawn")
    started = [context.Process(target=first_spend, args=(folder,)) for _ in range(3)]
    for process in started:
        process.start()
    for process in started:
        process.join()
        assert process.exitcode == 0
    assert Ledger("people.csv.ledger").spent[0].epsilon == 0.75


def text_of(ledger):
    return counting.Counting(ledger, "people.csv").text


def test_what_cannot_be_added_is_told_apart():
    ledger = Ledger(epsilon=float("inf"))
    assert text_of(ledger) == "nothing was spent on people.csv so far"
    ledger.spend(PureEvent(epsilon=1.0))
    ledger.spend(PureEvent(epsilon=1.0), privacy_unit=PrivacyUnit.user("person", max_rows=2))
    text = text_of(ledger)
    assert "epsilon = 3 to each record" in text  # of a user, whose rows are two steps away
    assert "no promise (to each user" in text
    ledger.spend(MetricEvent(epsilon=1.0, unit="km"))
    ledger.spend(MetricEvent(epsilon=0.001, unit="m"))
    assert "2 sets of reports, together epsilon = 2 per km" in text_of(ledger)
    ledger.spend(MetricEvent(epsilon=0.5, unit=""))
    assert "epsilon = 0.5 per unit of distance" in text_of(ledger)


def test_gaussian_noise_is_counted_with_a_delta():
    ledger = Ledger(epsilon=float("inf"))
    for _ in range(2):
        ledger.spend(GDPEvent(mu=0.2))
    assert "and delta = 2e-06" in text_of(ledger)


def test_the_total_of_metric_reports_leaves_nothing_out():
    ledger = Ledger(epsilon=float("inf"))
    for _ in range(2):
        ledger.spend(MetricEvent(epsilon=1.0, unit="km", slack=0.00025))
    assert "together epsilon = 2 per km and slack = 0.0005" in text_of(ledger)
    # Per meter in one release, perhaps, and per width of a column in the other.
    for _ in range(2):
        ledger.spend(MetricEvent(epsilon=1.0, unit=""))
    assert "2 per unit of distance to each record (the distance is the largest" in text_of(ledger)


def test_that_reports_have_no_promise_is_said():
    ledger = Ledger(epsilon=float("inf"))
    user = PrivacyUnit.user("person", max_rows=2, enforced=False)
    for unit in (user, PrivacyUnit()):
        ledger.spend(PureEvent(epsilon=1.0), notion="local", privacy_unit=unit)
    assert "no promise (to each record: " in text_of(ledger)
