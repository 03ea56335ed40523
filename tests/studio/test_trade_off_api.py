"""Comparisons of the studio: on nobody's records, ended at once, and the same outside of it."""

import csv
import io
import json
import multiprocessing
from dataclasses import asdict

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.stuck_work import wait_forever
from helpers.studio import studio_here
from helpers.written_files import written_files
from shoal.cli import app as command_line
from shoal.cluster import PrivateCopy
from shoal.experiments import make_up_records
from shoal.schema import Category, Date, Field, Number, Schema
from shoal.studio import trade_off
from shoal.studio.trade_off import run_comparison
from shoal.studio.trade_off_settings import TradeOffSettings

PLAIN = Schema(
    [Number(name, minimum=0, maximum=100, missing="refuse") for name in ("age", "income")]
)
MIXED = Schema(
    [
        Number("age", minimum=0, maximum=100),
        Category("city", ["Turku", "Oulu", "a, b"]),
        Date("since", minimum="2000-01-01", maximum="2020-01-01", format="%d.%m.%Y"),
    ]
)
QUICK = {
    "methods": ["DPKMeans-lloyd", "KdLaplace-grid"],
    "epsilons": [8.0, 1.0],
    "clusters": 3,
    "runs": 2,
}
LONG = {"methods": ["PartitionResponse"], "epsilons": [1.0], "clusters": 3, "runs": 100}


class Untouched(dict):
    """Columns of true records that nobody may read."""

    def __bool__(self):
        return True

    def _read(self, *_arguments):
        raise AssertionError("a true record was read")

    __getitem__ = __iter__ = get = items = values = keys = _read


@pytest.fixture(scope="module")
def here():
    with studio_here() as started:
        yield started


def add(here, schema=PLAIN, rows=300):
    table = here.workspace.add("people.csv", "upload", Untouched(), schema)
    table.n_guess = rows
    return table


def start(here, table, settings):
    answer = here.client.post(f"/api/tables/{table.id}/trade-off", json=settings)
    assert answer.status_code == 200, answer.text
    return here.workspace.jobs.get(answer.json()["id"])


def finished(job):
    assert job.finished.wait(120)
    assert (job.state, job.error) == ("done", "")
    return job.result


def plain_rows(comparison):
    return json.loads(json.dumps([without_seconds(asdict(row)) for row in comparison.rows]))


def without_seconds(row):
    return {key: value for key, value in row.items() if key not in ("seconds", "explore", "attack")}


def test_what_can_be_compared_follows_from_the_schema(here):
    table = add(here)
    found = here.client.get(f"/api/tables/{table.id}/trade-off").json()
    names = {one["name"]: one for one in found["methods"]}
    assert names["SphericalLaplace"]["misfit"]
    assert "DPDensity" not in names, "it has no centers, and so no cost"
    for preset in (found["quick"], found["exact"]):
        assert {names[name]["model"] for name in preset["methods"]} == {"central", "local"}
        assert any(names[name]["shuffled"] for name in preset["methods"])
        assert not any(names[name]["misfit"] for name in preset["methods"])
    assert found["sources"] == ["made-up"]
    assert found["exact"]["runs"] > found["quick"]["runs"]


@pytest.mark.parametrize("source", ["made-up", pytest.param("copy", marks=pytest.mark.full)])
def test_command_and_snippet_give_the_same_rows(here, source, tmp_path, monkeypatch):
    """Bit for bit, with text, dates of another pattern, gaps, and a column of users."""
    users = [Field("person", role="user")] if source == "made-up" else []  # a copy is of rows
    table = add(here, Schema([*users, *MIXED.fields]))
    if source == "copy":
        records = make_up_records(MIXED, 500, seed=7).columns
        table.copy = PrivateCopy(epsilon=5.0, schema=MIXED, random_state=0).fit(records)
    result = finished(start(here, table, {**QUICK, "source": source}))
    assert result["settings"]["epsilons"] == [1.0, 8.0]
    expected = [without_seconds(row) for row in result["rows"]]
    assert len(expected) == 4
    monkeypatch.chdir(tmp_path)
    base, names = f"/api/tables/{table.id}", result["files"]
    saved = here.client.get(f"{base}/schema.json")
    (tmp_path / names["schema"]).write_bytes(saved.content)
    records = here.client.get(f"{base}/trade-off/records.csv", params={"source": source})
    (tmp_path / names["records"]).write_bytes(records.content)
    known = {}
    exec(result["snippet"], known)
    assert plain_rows(known["comparison"]) == expected
    if source == "copy":
        words = result["command"].split()[1:]
        assert words[0] == "compare"
        told = CliRunner().invoke(command_line, [*words, "--json", "--jobs", "1"])
        assert told.exit_code == 0, told.output
        assert [without_seconds(row) for row in json.loads(told.stdout)["methods"]] == expected


@pytest.fixture(scope="module")
def compared(here):
    """Return a table and a finished comparison of it."""
    table = add(here)
    job = start(here, table, QUICK)
    finished(job)
    return table, job


def test_files(here, compared):
    table, job = compared
    base = f"/api/tables/{table.id}/trade-off/{job.id}"
    assert here.client.get(f"{base}/picture.png").content.startswith(b"\x89PNG")
    assert here.client.get(f"{base}/picture.svg").text.startswith("<svg")
    rows = list(csv.DictReader(io.StringIO(here.client.get(f"{base}/rows.csv").text)))
    assert [float(row["cost_mean"]) for row in rows] == [
        row["cost"]["mean"] for row in job.result["rows"]
    ]
    assert [row["model"] for row in rows] == ["central", "central", "local", "local"]
    other = add(here)
    refused = here.client.get(f"/api/tables/{other.id}/trade-off/{job.id}/rows.csv")
    assert refused.status_code == 404


def test_a_point_is_explored_at_the_same_worst_case(compared):
    """Of a metric method, epsilon is another one there: columns are not scaled to [-1, 1]."""
    _, job = compared
    rows = job.result["rows"]
    found = {(row["contender"], row["epsilon"]): float(row["explore"]) for row in rows}
    assert found["DPKMeans-lloyd", 8.0] == 4.0
    assert found["KdLaplace-grid", 8.0] == pytest.approx(8 / np.sqrt(2), rel=1e-4)


def test_a_canceled_comparison_ends_with_its_process(here):
    table = add(here)
    job = start(here, table, LONG)
    while not job.done:  # the process runs
        assert not job.finished.wait(0.01)
    assert multiprocessing.active_children()
    here.client.post(f"/api/jobs/{job.id}/cancel")
    assert job.finished.wait(20)
    assert job.state == "canceled"
    assert job.done < job.total
    assert multiprocessing.active_children() == []


def test_a_step_that_takes_long_is_canceled_too(here, monkeypatch):
    monkeypatch.setattr(trade_off, "run_comparison", wait_forever)
    job = start(here, add(here), QUICK)
    here.client.post(f"/api/jobs/{job.id}/cancel")
    assert job.finished.wait(20)
    assert job.state == "canceled"
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"methods": ["os:system"]}, "methods"),
        ({"methods": ["Nothing"]}, "Nothing"),
        ({"methods": ["SphericalLaplace"]}, "3 columns"),
        ({"methods": []}, "methods"),
        ({"epsilons": [0.0]}, "epsilons"),
        ({"epsilons": ["1"]}, "epsilons"),
        ({"runs": 101}, "runs"),
        ({"clusters": 0}, "clusters"),
        ({"source": "copy"}, "no private copy"),
        ({"source": "records"}, "source"),
        ({"file": "people.csv"}, "file"),
    ],
)
def test_what_is_refused(here, change, words):
    table = add(here)
    answer = here.client.post(f"/api/tables/{table.id}/trade-off", json={**QUICK, **change})
    assert 400 <= answer.status_code < 500
    assert words in answer.text


def test_too_few_records_fail_in_one_line(here):
    job = start(here, add(here, rows=20), QUICK)
    assert job.finished.wait(60)
    assert job.state == "failed"
    assert "must hold at least 32 records" in job.error


def test_nothing_is_written_to_a_disk():
    """The whole work of the process, watched at the door to all files."""
    points = make_up_records(PLAIN, 300).encoded
    settings = TradeOffSettings(("DPKMeans-lloyd", "KdLaplace-grid"), (1.0,), 3, 1)
    reader, writer = multiprocessing.Pipe(duplex=False)
    with reader, writer, written_files() as written:
        run_comparison(writer, points, PLAIN.space.names, PLAIN.space.bounds, settings)
        kinds = []
        while reader.poll():
            kinds.append(reader.recv()[0])
    assert written == []
    assert kinds[0] == "baseline"
    assert kinds.count("rows") == 2, "one for each method, as it is done"
