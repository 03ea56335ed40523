"""shoal audit: claim, bound, verdict, picture and report; exit code 1 where a promise is broken."""

import json
import sys
import types
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.audit import neighboring_datasets
from shoal.cli import app
from shoal.cluster import DPKMeans
from shoal.cluster._noise import pure
from shoal.exceptions import ShoalError
from shoal.experiments import promise_audit
from shoal.plotting import page_scripts

MECHANISM = ["audit", "Laplace", "--epsilon", "2", "--samples", "2000", "--seed", "1"]
ESTIMATOR = ["audit", "DPKMeans", "--set", "n_clusters=1", "--set", "method=lloyd"]
QUICK = ["--set", "max_iter=1", "--runs", "100", "--jobs", "1", "--seed", "1", "--columns", "1"]


def run(*arguments, out):
    return CliRunner().invoke(app, [*arguments, "--out", str(out)])


def page(out):
    return (Path(out) / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What an audit of a mechanism says in JSON, and the folder of its report."""
    out = tmp_path_factory.mktemp("audit")
    return json.loads(run(*MECHANISM, "--json", out=out).stdout), out


def test_mechanism(tmp_path):
    result = run(*MECHANISM, out=tmp_path)
    assert result.exit_code == 0, result.output
    assert "claimed: epsilon 2 per unit of distance" in result.stdout
    assert "worst pair:" in result.stdout
    assert "was not seen to be broken" in result.stdout
    assert (tmp_path / "audit.png").stat().st_size > 10_000
    text = page(tmp_path)
    assert "Is the promise kept?" in text
    assert "http" not in text.replace(page_scripts(), "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.png", "report.html"]


@pytest.mark.full
def test_estimator(tmp_path):
    result = run(*ESTIMATOR, *QUICK, out=tmp_path)
    assert result.exit_code == 0, result.output
    assert "one record costs up to epsilon 1 of 1 claimed; nothing found" in result.stdout
    assert "What one record costs, release by release" in page(tmp_path)


def test_broken_promise(tmp_path, monkeypatch):
    pairs = list(neighboring_datasets((-1.0, 1.0), columns=1))
    monkeypatch.setattr(promise_audit, "neighboring_datasets", lambda *_, **__: pairs[::9])
    monkeypatch.setattr(pure, "round_up", lambda scale: scale / 2)
    result = run(*ESTIMATOR, *QUICK, out=tmp_path)
    assert result.exit_code == 1
    assert "BROKEN" in result.stdout
    assert "What no promise allows" in page(tmp_path)


def test_json(made):
    found, _ = made
    assert found["claimed"] == 2.0
    assert found["broken"] is False
    assert 0.5 < found["measured"] <= 2.0
    assert found["worst"] in found["searched"]
    assert Path(found["report"]).exists()


def test_provenance(made):
    found, out = made[0]["provenance"], made[1]
    assert found["data"] == "made-up records"
    assert found["command"].startswith("shoal audit Laplace --epsilon 2 --samples 2000 --seed 1")
    for text in (found["date"], f"shoal {found['version']}", "made-up records", "seed 1"):
        assert f"{text}</" in page(out)
    assert str(out) not in page(out)


@pytest.mark.full
def test_own_class_from_the_current_folder(tmp_path, monkeypatch):
    """With bounds by column, which give the number of columns, and with no seed: all in one run."""
    (tmp_path / "my_audited_code.py").write_text(
        "from shoal import Laplace\n\n\nclass Mine(Laplace):\n    pass\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    words = ["--epsilon", "2", "--bounds", "0:1,0:2,0:3", "--samples", "500", "--json"]
    result = run("audit", "my_audited_code:Mine", *words, out=tmp_path / "out")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["provenance"]["randomness"] == "secure randomness"
    assert "secure randomness</" in page(tmp_path / "out")
    assert "Mine(" in page(tmp_path / "out")
    assert "[0.0, 0.0, 0.0]" in result.stdout


@pytest.mark.full
def test_own_estimator(tmp_path, monkeypatch):
    module = types.ModuleType("somebodys")
    model = DPKMeans(1, bounds=(0.0, 1.0), method="lloyd", max_iter=1)
    vars(module).update(model=model)
    monkeypatch.setitem(sys.modules, "somebodys", module)
    result = run("audit", "somebodys:model", *QUICK[2:], out=tmp_path)
    assert result.exit_code == 0, result.output
    assert "bounds=(0.0, 1.0)" in result.stdout


def test_bad_input(tmp_path, subtests):
    for arguments, text in [
        (["audit", "KMeans"], "the target must be one of"),
        (["audit", "DPKMeans", "--epsilon", "0"], "epsilon must be"),
        (["audit", "DPKMeans", "--bounds", "1,-1"], "bounds must"),
        (["audit", "DPKMeans", "--bounds", "one"], "--bounds must be"),
        (["audit", "DPKMeans", "--set", "k=2"], "--set must name a parameter of DPKMeans, got 'k'"),
        (["audit", "DPKMeans", "--set", "k"], "--set must be name=value"),
        (["audit", "DPKMeans", "--samples", "1000"], "samples must be left out"),
        (["audit", "Laplace", "--runs", "1000"], "runs and resume must be left out"),
        (["audit", "Laplace", "--samples", "5"], "samples must be"),
        ([*ESTIMATOR, *QUICK, "--confidence", "2"], "confidence must be"),
        (["audit", "SphericalLaplace"], "3 columns"),
    ]:
        with subtests.test(arguments=arguments, text=text):
            result = run(*arguments, out=tmp_path)
            assert isinstance(result.exception, ShoalError), result.output
            assert text in str(result.exception)
            assert "\n" not in str(result.exception)
            assert not (tmp_path / "report.html").exists()


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    result = run(*MECHANISM, out=tmp_path / "file")
    assert "--out must be a writable folder" in str(result.exception)
