"""A study: run, stopped and resumed, judged, and put into one file."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from shoal.exceptions import DataError, ParameterError
from shoal.experiments import Component, ExperimentSpec
from shoal.papers import Claim, Experiment, Study, Verdict, load_study, run_study
from shoal.papers.claims import decide_outcome
from shoal.papers.studies import STUDIES
from shoal.plotting import draw_lines, page_scripts

SPEC = ExperimentSpec(
    name="small",
    datasets=("a", "b"),
    mechanisms=(Component("Laplace"), Component("Piecewise")),
    epsilons=(0.5, 1.0, 2.0),
    repeats=2,
)


def measure(cell):
    rng = np.random.default_rng(cell.seed)
    for version in ("as published", "corrected"):
        yield {"version": version, "ami": float(rng.random())}


class SmallStudy(Study):
    name = "small"
    title = "A small study"
    source = "Nobody, nowhere"

    def experiments(self, *, full, seed):
        return (Experiment("first", SPEC, measure), Experiment("second", SPEC.quick(), measure))

    def judge(self, measurements):
        mean = float(np.mean([row["ami"] for row in measurements["first"]]))
        outcome = decide_outcome(as_published="holds", corrected="does not hold", needs_leak=True)
        return (Verdict(Claim("H1", "numbers are positive"), outcome, f"the mean is {mean:.3f}"),)

    def render(self, report, measurements):
        report.section("Figures <&>").text("words").points(["one"]).table(["a"], [["b"]])
        report.figure(
            draw_lines, "ami", measurements["first"], x="epsilon", y="ami", says="AMI & more"
        )


def test_report_is_one_file_with_verdicts_and_live_figures(tmp_path):
    steps = []
    found = run_study(
        SmallStudy(), folder=tmp_path / "out", progress=lambda done, total: steps.append(done)
    )
    text = found.report.read_text(encoding="utf-8")
    assert "cannot be private" in text
    assert found.summary == (
        "Of 1 claims: 0 reproduced, 0 not reproduced, 0 undecided, 0 only as published, 1 cannot "
        "be private."
    )
    assert "Figures &lt;&amp;&gt;" in text
    assert text.count('<div class="chart"') == 1
    assert text.count(page_scripts()) == 1
    assert "http" not in text.replace(page_scripts(), "")  # the library itself names addresses
    assert sorted(path.name for path in (tmp_path / "out" / "figures").iterdir()) == [
        "ami.json",
        "ami.svg",
    ]
    cells = len(SPEC.trials()) + len(SPEC.quick().trials())
    assert steps[0] == 0
    assert steps[-1] == cells
    assert steps == sorted(steps)


@pytest.mark.full
def test_torn_off_and_resumed_gives_the_same_records(tmp_path):
    whole = run_study(SmallStudy(), folder=tmp_path / "whole")
    half = tmp_path / "half"
    shutil.copytree(tmp_path / "whole", half)
    (half / "second.csv").unlink()
    store = half / "first.csv"
    store.write_bytes(store.read_bytes()[: store.stat().st_size // 2])
    again = run_study(SmallStudy(), folder=half, n_jobs=2)
    assert again.measurements == whole.measurements
    assert (half / "report.html").read_bytes() == whole.report.read_bytes()


def test_missing_data_is_told_before_anything_is_written(tmp_path):
    class Absent(SmallStudy):
        def experiments(self, *, full, seed):
            raise DataError("the file is not there")

    with pytest.raises(DataError, match="not there"):
        run_study(Absent(), folder=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ParameterError, match="folder must be one that can be written"):
        run_study(SmallStudy(), folder=Path(tmp_path / "file" / "out"))


@pytest.mark.parametrize("name", STUDIES)
def test_registered_studies_are_there(name):
    assert load_study(name).name == name


def test_an_unknown_study_is_named():
    with pytest.raises(ParameterError, match="study must be one of kd-laplace, kccm, wavecluster"):
        load_study("k-means")
