"""A study: run, stopped and resumed, judged, and put into one file."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from shoal.exceptions import DataError, ParameterError
from shoal.experiments import Choice, ExperimentSpec
from shoal.papers.finding import Finding, outcome
from shoal.papers.run_study import run_study
from shoal.papers.study import Part, Study
from shoal.plotting import draw_lines, page_scripts

SPEC = ExperimentSpec(
    name="small",
    datasets=("a", "b"),
    mechanisms=(Choice("Laplace"), Choice("Piecewise")),
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

    def parts(self, *, full, seed):
        return (Part("first", SPEC, measure), Part("second", SPEC.quick(), measure))

    def findings(self, records):
        mean = float(np.mean([row["ami"] for row in records["first"]]))
        verdict = outcome(as_published="holds", corrected="does not hold", needs_leak=True)
        return (Finding("H1", "numbers are positive", verdict, f"the mean is {mean:.3f}"),)

    def tell(self, book, records):
        book.section("Figures <&>").text("words").points(["one"]).table(["a"], [["b"]])
        book.figure(draw_lines, "ami", records["first"], x="epsilon", y="ami", says="AMI & more")


def test_report_is_one_file_with_verdicts_and_live_figures(tmp_path):
    steps = []
    found = run_study(
        SmallStudy(), folder=tmp_path / "out", progress=lambda done, total: steps.append(done)
    )
    text = found.report.read_text(encoding="utf-8")
    assert "cannot be private" in text
    assert found.verdict == (
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
    cells = len(SPEC.cells()) + len(SPEC.quick().cells())
    assert steps[0] == 0
    assert steps[-1] == cells
    assert steps == sorted(steps)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_torn_off_and_resumed_gives_the_same_records(tmp_path, n_jobs):
    whole = run_study(SmallStudy(), folder=tmp_path / "whole")
    half = tmp_path / "half"
    shutil.copytree(tmp_path / "whole", half)
    (half / "second.csv").unlink()
    store = half / "first.csv"
    store.write_bytes(store.read_bytes()[: store.stat().st_size // 2])
    again = run_study(SmallStudy(), folder=half, n_jobs=n_jobs)
    assert again.records == whole.records
    assert (half / "report.html").read_bytes() == whole.report.read_bytes()


def test_missing_data_is_told_before_anything_is_written(tmp_path):
    class Absent(SmallStudy):
        def parts(self, *, full, seed):
            raise DataError("the file is not there")

    with pytest.raises(DataError, match="not there"):
        run_study(Absent(), folder=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ParameterError, match="folder must be one that can be written"):
        run_study(SmallStudy(), folder=Path(tmp_path / "file" / "out"))


@pytest.mark.parametrize(
    ("as_published", "corrected", "expected"),
    [
        ("holds", "holds", "reproduced"),
        ("holds", "does not hold", "only as published"),
        ("holds", "undecided", "undecided"),
        ("undecided", "holds", "undecided"),
        ("undecided", "does not hold", "undecided"),
        ("does not hold", "holds", "not reproduced"),
        ("does not hold", "does not hold", "not reproduced"),
        ("does not hold", "undecided", "not reproduced"),
    ],
)
def test_outcomes(as_published, corrected, expected):
    """Only a claim that needs a leak can be called impossible with privacy."""
    judged = {"as_published": as_published, "corrected": corrected}
    assert outcome(**judged) == expected
    leaky = expected.replace("only as published", "cannot be private")
    assert outcome(**judged, needs_leak=True) == leaky
