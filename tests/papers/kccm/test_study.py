"""The study of DP-KCCM: it resumes, names what is really spent, and shows every figure."""

import math

import numpy as np
import pytest

from helpers.paper_data import needs_files
from shoal.exceptions import DataError
from shoal.papers import run_study
from shoal.papers.kccm import VARIANTS, KccmStudy, Plan, real_spend, without_outliers
from shoal.papers.kccm.experiments import DATASET, TRIMMED

SMALL = Plan(epsilons=(1.0, 25.0), clusters=(2,), starts=2, runs=1)
FIGURES = {
    "nicv_epsilon",
    "nicv_epsilon_by_noise",
    "nicv_k",
    "nicv_published",
    "nicv_k_published",
    "bars",
    "outliers",
    "clusters_pca",
    "clusters_tsne",
    "clusters_columns",
}


def made_up():
    rng = np.random.default_rng(5)
    table = np.vstack([rng.normal(at, 0.05, (40, 4)) for at in (-0.2, 0.0, 0.2)])
    table[:3] = 1.0
    return np.clip(table, -1.0, 1.0)


class Captions:
    """A report that keeps the captions of its figures."""

    def __init__(self):
        self.figures = {}

    def figure(self, draw, name, *args, says, **kwargs):
        draw(*args, **kwargs)
        self.figures[name] = says

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


class WithoutPictures(KccmStudy):
    """The study without its pictures, which take longest."""

    def render(self, report, records):
        pass


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_study(
        WithoutPictures(load=made_up, quick=SMALL), folder=tmp_path_factory.mktemp("kccm")
    )


@pytest.mark.full  # files of figures and pages of studies are those of tests/experiments
def test_every_figure_is_in_the_report(tmp_path):
    run = run_study(KccmStudy(load=made_up, quick=SMALL), folder=tmp_path)
    figures = run.report.parent / "figures"
    released = {name for name in FIGURES if not name.startswith("clusters")}
    assert {path.stem for path in figures.glob("*.svg")} == released
    assert {path.stem for path in figures.glob("*.png")} >= FIGURES - released  # records
    page = run.report.read_text()
    for words in ("With the promise kept", "As published, no guarantee", "raw record"):
        assert words in page
    for verdict in run.verdicts:
        assert verdict.claim.text in page


def test_every_figure_is_drawn_and_says_whether_raw_records_are_in_it(run):
    report = Captions()
    KccmStudy(load=made_up, quick=SMALL).render(report, run.measurements)
    assert set(report.figures) == FIGURES
    for name, says in report.figures.items():
        raw = "Raw records are in this figure" in says
        assert raw != ("No raw record is in this figure" in says)
        assert raw == name.startswith("clusters")


@pytest.mark.full
def test_a_killed_run_ends_with_the_same_records(run, tmp_path):
    """Of the first file a torn piece is left, of the others nothing."""
    whole = (run.report.parent / "epsilon.csv").read_bytes()
    (tmp_path / "epsilon.csv").write_bytes(whole[: len(whole) // 2])
    done = []
    again = run_study(
        WithoutPictures(load=made_up, quick=SMALL),
        folder=tmp_path,
        progress=lambda at, _: done.append(at),
    )
    assert again.measurements == run.measurements
    assert again.verdicts == run.verdicts
    assert done[0] > 10


def test_records_name_version_and_real_spend(run):
    counts = {name: len(rows) for name, rows in run.measurements.items()}
    assert counts == {"epsilon": 56, "k": 28, "published": 96, "clusters": 2 * 8 * 3}
    assert {row["version"] for row in run.measurements["epsilon"]} == {"corrected"}
    for row in run.measurements["published"]:
        assert row["version"] == "as published"
        assert row["epsilon"] == math.inf
        if row["real_delta"] == 0:
            assert row["real_epsilon"] == real_spend(row["formula"])
        else:
            assert row["variant"].startswith("gaussian")
    assert {row["variant"] for row in run.measurements["published"]} == set(VARIANTS)
    sizes = {row["dataset"]: row["real_delta"] for row in run.measurements["published"]}
    assert len(without_outliers(made_up())) < len(made_up())
    assert sizes[TRIMMED] > sizes[DATASET] > 0  # fewer records, larger delta


def test_the_full_study_has_the_runs_of_the_source():
    study = KccmStudy(load=made_up)
    for part in study.experiments(full=True, seed=0)[:3]:
        assert part.spec.repeats == 20
        assert {component.kwargs["runs"] for component in part.spec.mechanisms} == {50}
    ks = {
        component.kwargs["k"]
        for component in study.experiments(full=True, seed=0)[2].spec.mechanisms
    }
    assert ks == set(range(2, 9))


def test_what_is_missing_is_said_before_any_work(monkeypatch, tmp_path):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    with pytest.raises(DataError, match=r"transfusion needs the file .*set SHOAL_DATA") as caught:
        run_study(KccmStudy(), folder=tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@needs_files
@pytest.mark.full
def test_quick_study_of_the_source(tmp_path):
    """On the source's own table none of the three findings comes out, as published or not.

    A quick run leaves the third open: by the text the change is -3.1% [-6.3%, +0.2%].
    """
    found = run_study(WithoutPictures(), folder=tmp_path, n_jobs=-1)
    assert [one.outcome for one in found.verdicts] == [*["not reproduced"] * 2, "undecided"]
