"""The published figures come out again: plain Laplace with the corrected law, remaps as published.

Seeds are fixed, so a run passes or fails for good; the distances seen are in the docstrings. The
published figures are single draws, which is where most of these distances come from.
"""

from dataclasses import astuple

import numpy as np
import pytest

from helpers.paper_data import needs_files, needs_targets
from shoal.exceptions import DataError, ParameterError
from shoal.papers.kd_laplace import (
    Comparison,
    load_figures,
    remap_gains,
    reproduce_distance,
    reproduce_utility,
    targets_folder,
)
from shoal.papers.kd_laplace.methods import load_table, published_method

pytestmark = [needs_files, needs_targets]

EPSILONS = {0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 5.0, 7.0, 9.0}
PLAIN, GRID, DENSITY = "nd-Laplace", "grid-nd-Laplace", "density-nd-Laplace"


def off(comparisons, name="corrected"):
    return np.array([getattr(c, name) - c.published for c in comparisons])


def show(comparisons):
    print()  # noqa: T201
    for comparison in comparisons:
        print(comparison)  # noqa: T201


def test_records_are_tidy():
    (row,) = reproduce_utility(datasets=["seeds"], epsilons=[9.0], runs=1)
    assert isinstance(row, Comparison)
    assert astuple(row)[:7] == ("seeds", PLAIN, 2, "KMeans", 9.0, "ami", 0.8149)
    assert row.runs == 1
    assert "as published, no guarantee" in str(row)
    assert row == reproduce_utility(datasets=["seeds"], epsilons=[9], runs=1)[0]


def test_heart_quick():
    rows = reproduce_utility(datasets=["heart"], epsilons=[0.5, 2.0, 9.0], runs=3)
    assert len(rows) == 3
    assert np.abs(off(rows)).max() < 0.05


def test_line_comes_from_the_three_column_file():
    """Seen: 0.013 off on average; from ``line_2d`` the same method lies 0.16 above."""
    epsilons = [1.0, 2.0, 3.5]
    rows = reproduce_utility(datasets=["line"], epsilons=epsilons, runs=3)
    wrong = reproduce_utility(
        datasets=["line"], epsilons=epsilons, runs=3, files={"line": "kd_laplace_line_2d"}
    )
    assert np.abs(off(rows)).mean() < 0.05
    assert off(wrong).min() > 0.08


def test_heart_distance_quick():
    rows = reproduce_distance(datasets=["heart"], epsilons=[0.5, 2.0, 9.0], runs=5)
    assert len(rows) == 3
    for row in rows:
        assert row.corrected == pytest.approx(row.published, rel=0.03)


def test_remaps_as_published_quick():
    """What the code does, not what the text says, gives the published figures."""
    rows = reproduce_distance(
        datasets=["line"], mechanisms=[GRID, DENSITY], epsilons=[0.5, 2.0], runs=2
    )
    assert len(rows) == 4
    for row in rows:
        assert row.as_published == pytest.approx(row.published, rel=0.05)


@pytest.mark.full
def test_plain_laplace_in_two_columns():
    """Ten runs. Seen: heart at most 0.025 off; seeds 0.057 and line 0.013 off on average.

    Seeds is noisy because each published value is one draw of 210 records.
    """
    rows = reproduce_utility(runs=10)
    show(rows)
    by = {name: [r for r in rows if r.dataset == name] for name in ("heart", "seeds", "line")}
    assert all({r.epsilon for r in some} == EPSILONS for some in by.values())
    assert np.abs(off(by["heart"])).max() < 0.05
    assert np.abs(off(by["seeds"])).mean() < 0.08
    assert np.abs(off(by["line"])).mean() < 0.05
    wrong = reproduce_utility(datasets=["line"], runs=10, files={"line": "kd_laplace_line_2d"})
    show(wrong)
    assert off(wrong).mean() > 0.1


@pytest.mark.full
def test_mean_distance_in_two_columns():
    """Within 3% for heart at every epsilon, and for seeds and line on average over epsilons.

    A published value is the mean of one draw of n radii, each with relative standard deviation
    1/sqrt(2): its own standard error is 4.9% for seeds (n = 210), 2.2% for line, 1.5% for heart. So
    no method can be within 3% of every value of seeds; every one is within four standard errors.
    """
    rows = reproduce_distance(runs=100)
    show(rows)
    for name, n in (("heart", 2126), ("seeds", 210), ("line", 1000)):
        some = [r for r in rows if r.dataset == name]
        ratio = np.array([r.corrected / r.published - 1 for r in some])
        assert abs(ratio.mean()) < 0.03
        assert np.abs(ratio).max() < 4 / np.sqrt(2 * n)
        if name == "heart":
            assert np.abs(ratio).max() < 0.03


@pytest.mark.full
def test_more_columns_as_published_and_corrected():
    """Beyond two columns the published noise is not the right law; both are printed.

    The published heart figures rise with the number of columns; the right law does not follow.
    """
    rows = reproduce_utility(
        datasets=["heart", "seeds", "line"], columns=range(3, 10), epsilons=[0.5, 1, 3, 9], runs=5
    )
    show(rows)
    # Single draws again: seen 0.027 off on average.
    assert np.abs(off(rows, "as_published")).mean() < 0.06
    nine = [r for r in rows if r.dataset == "heart" and r.columns == 9 and r.epsilon <= 3]
    assert len(nine) == 3
    assert all(r.corrected < r.as_published - 0.1 for r in nine)


@pytest.mark.full
def test_remaps_and_piecewise_as_published():
    """Seen: agreement 0.027 off and distance 3.4% off, on average."""
    mechanisms = [GRID, DENSITY, "piecewise"]
    rows = reproduce_utility(
        datasets=["seeds", "line"], mechanisms=mechanisms, columns=[2, 3], runs=3
    )
    show(rows)
    assert np.abs(off(rows, "as_published")).mean() < 0.06
    distances = reproduce_distance(
        datasets=["seeds", "line"], mechanisms=mechanisms, columns=[2, 3], runs=3
    )
    show(distances)
    ratios = [r.as_published / r.published - 1 for r in distances]
    assert np.abs(ratios).mean() < 0.08


@pytest.mark.full
def test_the_gain_of_the_published_remaps_is_a_leak():
    rows = remap_gains(epsilons=[0.5, 1.0, 2.0], runs=10)
    show(rows)
    assert len(rows) == 12
    for row in rows:
        assert row.leak.caught
    lowest = [row for row in rows if row.epsilon == 0.5]
    assert all(row.as_published > row.plain + 0.2 for row in lowest)
    assert all(row.on_device > row.plain for row in lowest)


def test_gain_and_leak_quick():
    grid, density = remap_gains(datasets=["seeds"], epsilons=[0.5], runs=2, samples=1000)
    for row in (grid, density):
        assert row.as_published > row.plain + 0.2
        assert row.leak.caught
        assert "as published, no guarantee" in str(row)


def test_figures_are_read_whole():
    assert len(load_figures("ami")) == 1440
    assert len(load_figures("distance")) == len(load_figures("advantage")) == 480
    assert {f.mechanism for f in load_figures("ari")} == {PLAIN, GRID, DENSITY, "piecewise"}
    with pytest.raises(ParameterError, match="measure must be one of ami"):
        load_figures("accuracy")


def test_a_missing_folder_is_said_in_one_line(monkeypatch, tmp_path):
    with pytest.raises(DataError, match=r"not in .*: pass the folder as targets"):
        load_figures("ami", targets=tmp_path)
    with pytest.raises(DataError, match=r"not in .*: pass the folder as targets"):
        targets_folder(tmp_path / "nowhere")
    monkeypatch.delenv("SHOAL_DATA")
    with pytest.raises(DataError, match="set SHOAL_DATA"):
        targets_folder()


def test_bad_names():
    with pytest.raises(ParameterError, match="mechanism must be one of nd-Laplace"):
        published_method("laplace", 1.0)
    with pytest.raises(ParameterError, match="columns must be from 2 to 9 for heart"):
        load_table("heart", 10)
    with pytest.raises(ParameterError, match="runs must be"):
        reproduce_distance(datasets=["seeds"], epsilons=[1], runs=0)
