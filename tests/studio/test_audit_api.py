"""Audits and attacks that the page asks for: what they find, and what they may not read."""

import io
import re
import shlex

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.audited_studio import (
    SCHEMA,
    SMALL,
    WORDS,
    Untouchable,
    empty_workspace,
    serving_studio,
)
from shoal.cli import app as command_line
from shoal.studio import promise_settings

LAPLACE = {"method": "Laplace", "epsilon": 1.0}
KMEANS = {"method": "DPKMeans-grid", "epsilon": 1.0, "clusters": 3}


@pytest.fixture(scope="module")
def workspace():
    return empty_workspace()


@pytest.fixture(scope="module")
def page(workspace):
    """Yield a client of a running studio."""
    with serving_studio(workspace) as client:
        yield client


@pytest.fixture(autouse=True)
def _small(request, monkeypatch):
    if "full" not in request.keywords:
        monkeypatch.setitem(promise_settings.EFFORTS, "quick", SMALL)


@pytest.fixture
def table(workspace):
    return workspace.add("people.csv", "upload", Untouchable(), SCHEMA)


def _finished(workspace, answer):
    assert answer.status_code == 200, answer.text
    job = workspace.jobs.get(answer.json()["id"])
    assert job.finished.wait(300)
    return job


def _result(workspace, answer):
    job = _finished(workspace, answer)
    assert job.state == "done", job.error
    return job.result


@pytest.fixture(scope="module")
def audited(page, workspace):
    """Return results by what was asked; each audit runs once."""
    kept = {}

    def result(asked, *, planted=False):
        key = asked["method"], planted
        if key not in kept:
            kept[key] = _result(
                workspace, page.post("/api/audit", json={**asked, "planted": planted})
            )
        return kept[key]

    return result


@pytest.mark.parametrize("planted", [False, True])
@pytest.mark.parametrize("asked", [LAPLACE, KMEANS], ids=["mechanism", "estimator"])
def test_a_planted_bug_is_caught_and_a_promise_that_holds_is_not(page, audited, asked, planted):
    found = audited(asked, planted=planted)
    assert found["broken"] is planted
    assert found["claimed"] == 1.0
    assert found["sentence"].startswith("At 99.9% confidence, epsilon is at least ")
    assert "1 of 1,000 audits" in found["false_alarms"]
    assert found["worst"]
    assert found["event"]
    assert len(found["spec"]["concat"]) == 3
    report = page.get(f"/api/audit/files/{found['files']}/report.html").text
    assert "Is the promise kept?" in report
    for words in (found["planted"], found["target"], report):
        assert ("A bug was planted" in words) is planted


def test_a_replay_says_what_one_record_costs(audited):
    replay = audited(KMEANS)["replay"]
    assert len(replay["rows"]) >= 2
    costs = [float(row["measured"]) for row in replay["rows"]]
    assert sum(costs) == pytest.approx(1.0, rel=1e-3)
    assert (replay["total"], replay["claimed"], replay["findings"]) == ("1", "1", [])
    planted = audited(KMEANS, planted=True)
    assert (planted["replay"]["total"], planted["replay"]["claimed"]) == ("2", "1")
    assert (
        "all releases cost epsilon 2, claimed 1 (20 of 20 pairs)" in planted["replay"]["findings"]
    )
    assert audited(LAPLACE)["replay"] is None


def test_attacks_stand_beside_no_privacy_and_read_no_true_record(page, workspace, table):
    asked = {**KMEANS, "rows": 60}
    found = _result(workspace, page.post(f"/api/tables/{table.id}/audit/attack", json=asked))
    assert table.columns.touched == []
    assert table.ledger is None
    [row] = found["rows"]
    assert row["control_words"] == "k-means without privacy"
    assert row["ceiling"] == "73"  # (1 + (e - 1) / (e + 1)) / 2 of 100
    numbers = re.fullmatch(
        r".* is right in (\d+) of 100 guesses; without the release, 50; on k-means without "
        r"privacy, (\d+)\.",
        found["headline"][0],
    )
    assert numbers is not None
    assert any("No attack on the release" in words for words in found["sentences"])
    assert len(found["spec"]["concat"]) == 2
    files = f"/api/audit/files/{found['files']}"
    assert page.get(f"{files}/picture.png").content.startswith(b"\x89PNG")
    assert "<svg" in page.get(f"{files}/picture.svg").text
    report = page.get(f"{files}/report.html").text
    assert "60 records of no real person" in report
    assert "For the curator only" not in report
    rows = np.loadtxt(
        io.StringIO(page.get(f"{files}/attacked-records.csv").text), delimiter=",", skiprows=1
    )
    assert rows.shape == (60, SCHEMA.space.columns)


def test_a_canceled_audit_ends_and_has_no_result(page, workspace):
    started = page.post("/api/audit", json={**LAPLACE, "effort": "thorough"})
    page.post(f"/api/jobs/{started.json()['id']}/cancel")
    job = _finished(workspace, started)
    assert (job.state, job.result) == ("canceled", None)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"method": "Nothing"}, "no method to audit"),
        ({"method": "PlanarLaplace", "columns": 3}, "PlanarLaplace takes 2 columns, got 3"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"effort": "endless"}, "effort"),
        ({"planted": 1}, "planted"),
        ({"folder": "x"}, "folder"),
    ],
)
def test_what_cannot_be_audited_is_refused(page, asked, words):
    answer = page.post("/api/audit", json={**LAPLACE, **asked})
    assert answer.status_code in (400, 422)
    assert words in answer.text


def test_what_cannot_be_attacked_is_refused(page, workspace, table):
    path = f"/api/tables/{table.id}/audit/attack"
    assert "no private copy yet" in page.post(path, json={**KMEANS, "source": "copy"}).text
    assert page.post(path, json={**KMEANS, "source": "records"}).status_code in (400, 422)
    # A planted bug is for made-up pairs of tables alone.
    assert page.post(path, json={**KMEANS, "planted": True}).status_code in (400, 422)
    bare = workspace.add("bare.csv", "upload", Untouchable())
    assert "no schema yet" in page.post(f"/api/tables/{bare.id}/audit/attack", json=KMEANS).text
    words = workspace.add("words.csv", "upload", Untouchable(), WORDS)
    refused = page.post(
        f"/api/tables/{words.id}/audit/attack", json={**KMEANS, "method": "PlanarLaplace"}
    )
    assert "PlanarLaplace needs at least 2 columns of numbers" in refused.text
    assert page.get("/api/audit/files/none/report.html").status_code == 404


@pytest.mark.full
def test_a_method_of_two_columns_attacks_the_first_two_numbers(page, workspace, table):
    asked = {**LAPLACE, "method": "PlanarLaplace"}
    found = _result(workspace, page.post(f"/api/tables/{table.id}/audit/attack", json=asked))
    assert found["columns"] == ["age", "income"]
    assert found["rows"][0]["ceiling"] is None


@pytest.mark.full
@pytest.mark.parametrize("name", list(promise_settings.AUDITED))
def test_every_method_can_be_audited_and_attacked(page, workspace, table, name, monkeypatch):
    monkeypatch.setitem(promise_settings.EFFORTS, "quick", SMALL)
    method = promise_settings.AUDITED[name]
    asked = {"method": name, "epsilon": 2.0, "columns": max(2, method.min_columns)}
    assert not _result(workspace, page.post("/api/audit", json=asked))["broken"]
    del asked["columns"]
    attack = page.post(f"/api/tables/{table.id}/audit/attack", json=asked)
    refusals = {"SphericalLaplace": "at least 3 columns", "PartitionResponse": "No attack fits"}
    if name in refusals:
        assert refusals[name] in attack.text
        return
    assert _result(workspace, attack)["rows"]


@pytest.mark.full
@pytest.mark.parametrize("asked", [LAPLACE, KMEANS], ids=["mechanism", "estimator"])
def test_a_quick_audit_as_users_run_it_catches_the_planted_bug(page, workspace, asked):
    assert _result(workspace, page.post("/api/audit", json={**asked, "planted": True}))["broken"]
    assert not _result(workspace, page.post("/api/audit", json=asked))["broken"]


@pytest.mark.full
def test_the_commands_run_as_they_are_shown(page, workspace, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    audit = _result(workspace, page.post("/api/audit", json=LAPLACE))["command"]
    ran = CliRunner().invoke(command_line, [*shlex.split(audit)[1:], "--samples", "2000"])
    assert ran.exit_code == 0, ran.output
    attack = _result(workspace, page.post(f"/api/tables/{table.id}/audit/attack", json=KMEANS))
    records = page.get(f"/api/audit/files/{attack['files']}/attacked-records.csv").content
    (tmp_path / "attacked-records.csv").write_bytes(records)
    ran = CliRunner().invoke(command_line, shlex.split(attack["command"])[1:])
    assert ran.exit_code == 0, ran.output
    assert "60 records, 4 columns" in ran.output
