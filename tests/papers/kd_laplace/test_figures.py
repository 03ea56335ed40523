"""The published figures come out again: plain Laplace corrected, the remaps as published.

The measurements are those of the study. Seeds are fixed, so a run passes or fails for good; the
distances seen are in the docstrings. The published figures are single draws, which is where most of
these distances come from.
"""

import itertools

import numpy as np
import pytest

from helpers.paper_data import needs_files, needs_targets
from shoal.exceptions import DataError, ParameterError
from shoal.experiments import Component, ExperimentSpec, run_spec
from shoal.papers.kd_laplace import load_figures, settings, utility
from shoal.papers.kd_laplace.figures import compare_with_published
from shoal.papers.kd_laplace.leaks import leak_near_side, measure_table_leak
from shoal.papers.kd_laplace.settings import (
    DENSITY,
    EPSILONS,
    GRID,
    MECHANISMS,
    PIECEWISE,
    PLAIN,
    load_table,
    parameters,
    published_method,
)
from shoal.papers.kd_laplace.utility import measure_utility
from shoal.papers.measurements import select

FIGURE = ("dataset", "mechanism", "columns", "epsilon")


def measure(work, *datasets, mechanisms=(PLAIN,), columns=(2,), epsilons=EPSILONS, repeats=1):
    """Run an experiment of the study in another size."""
    spec = ExperimentSpec(
        name="again",
        datasets=datasets,
        mechanisms=tuple(Component(name) for name in mechanisms),
        epsilons=tuple(epsilons),
        dimensions=tuple(columns),
        repeats=repeats,
    )
    return run_spec(spec, work, n_jobs=1)


def compared(rows, name, version):
    """Compare a version with the published figures, one by one: AMI is that of k-means."""
    some = [
        # Whatever its version: figures are compared with the methods as published only.
        {**row, "version": "as published", "clusterer": "" if name == "distance" else "KMeans"}
        for row in select(rows, version=version, clusterer="KMeans")
    ]
    return compare_with_published(some, name, by=FIGURE)


def off(rows, version="corrected"):
    """Return by how much the AMI differs from each published figure."""
    return np.array([one.again - one.published for one in compared(rows, "ami", version).values()])


def ratios(rows, version="corrected"):
    """Return the distance between record and report over each published one, minus 1."""
    found = compared(rows, "distance", version).values()
    return np.array([one.again / one.published - 1 for one in found])


@pytest.fixture
def wrong_line(monkeypatch):
    """Take the line from the file whose unit is several times larger."""
    monkeypatch.setitem(settings.FILES, "line", "kd_laplace_line_2d")
    caches = (load_table, utility._plain_clusters)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


@pytest.mark.full
@needs_files
@needs_targets
def test_heart_quick():
    rows = measure(measure_utility, "heart", epsilons=[0.5, 9.0])
    assert len(off(rows)) == 2
    assert np.abs(off(rows)).max() < 0.05
    assert np.abs(ratios(rows)).max() < 0.03


LINE_EPSILONS = (1.0, 2.0, 3.5)


@needs_files
@needs_targets
def test_line_quick():
    rows = measure(measure_utility, "line", epsilons=LINE_EPSILONS, repeats=2)
    assert len(off(rows)) == 3
    assert np.abs(off(rows)).mean() < 0.05


@needs_files
@needs_targets
def test_line_comes_from_the_three_column_file(wrong_line):
    """From ``line_2d`` the same method lies 0.17 above on average."""
    rows = measure(measure_utility, "line", epsilons=LINE_EPSILONS)
    assert len(off(rows)) == 3
    assert off(rows).mean() > 0.1


@needs_files
@needs_targets
def test_remaps_as_published_quick():
    """What the code does, not what the text says, gives the published figures."""
    rows = measure(
        measure_utility, "line", mechanisms=[GRID, DENSITY], epsilons=[0.5, 2.0], repeats=2
    )
    assert len(ratios(rows, "as published")) == 4
    assert np.abs(ratios(rows, "as published")).max() < 0.05


def gain_over_plain(rows, **where):
    """Return the AMI of a remap as published minus that of corrected plain reports."""
    some = select(rows, clusterer="KMeans", **where)
    plain = np.mean([row["ami"] for row in select(some, mechanism=PLAIN, version="corrected")])
    return [
        np.mean([row["ami"] for row in select(some, mechanism=name, version="as published")])
        - plain
        for name in (GRID, DENSITY)
    ]


@needs_files
def test_gain_and_leak_quick():
    remaps = (GRID, DENSITY)
    rows = measure(measure_utility, "seeds", mechanisms=(PLAIN, *remaps), epsilons=[0.5], repeats=2)
    assert min(gain_over_plain(rows)) > 0.2
    leaks = measure(measure_table_leak, "seeds", mechanisms=remaps, epsilons=[0.5])
    assert [row["caught"] for row in leaks] == [True, True]


@pytest.mark.full
@needs_files
def test_the_gain_of_the_published_remaps_is_a_leak():
    remaps, tables = (GRID, DENSITY), ("seeds", "line")
    rows = measure(
        measure_utility, *tables, mechanisms=(PLAIN, *remaps), epsilons=[0.5], repeats=10
    )
    assert min(gain_over_plain(rows, dataset="seeds")) > 0.2
    assert min(gain_over_plain(rows, dataset="line")) > 0.2
    # The study's 4,000 samples cannot refute the largest claims, those of line at epsilon 2.
    for table, name, epsilon in itertools.product(tables, remaps, (0.5, 1.0, 2.0)):
        where = load_table(table, 2)
        assert leak_near_side(name, epsilon, where, samples=10_000, random_state=0).caught


@pytest.mark.full
@needs_files
@needs_targets
def test_plain_laplace_in_two_columns():
    """Ten repeats. Seen: heart at most 0.025 off; seeds 0.057 and line 0.013 off on average.

    Seeds is noisy because each published value is one draw of 210 records.

    Mean distances are within 3% for heart at every epsilon, and for seeds and line on average over
    epsilons. A published value is the mean of one draw of n radii, each with relative standard
    deviation 1/sqrt(2): its own standard error is 4.9% for seeds (n = 210), 2.2% for line, 1.5% for
    heart. So no method can be within 3% of every value of seeds; every one is within four standard
    errors.
    """
    rows = measure(measure_utility, "heart", "seeds", "line", repeats=10)
    by = {name: select(rows, dataset=name) for name in ("heart", "seeds", "line")}
    assert all(len(off(some)) == len(EPSILONS) for some in by.values())
    assert np.abs(off(by["heart"])).max() < 0.05
    assert np.abs(off(by["seeds"])).mean() < 0.08
    assert np.abs(off(by["line"])).mean() < 0.05
    for name, n in (("heart", 2126), ("seeds", 210), ("line", 1000)):
        found = ratios(by[name])
        assert abs(found.mean()) < 0.03
        assert np.abs(found).max() < 4 / np.sqrt(2 * n)
    assert np.abs(ratios(by["heart"])).max() < 0.03


@pytest.mark.full
@needs_files
@needs_targets
def test_more_columns_as_published_and_corrected():
    """Beyond two columns the published noise does not have the right distribution.

    The published heart figures rise with the number of columns; the right noise does not follow.
    """
    epsilons = (0.5, 1.0, 3.0, 9.0)
    sizes = {"heart": range(3, 10), "seeds": range(3, 8), "line": (3,)}
    rows = [
        row
        for name, columns in sizes.items()
        for row in measure(measure_utility, name, columns=columns, epsilons=epsilons, repeats=3)
    ]
    # Single draws again: seen 0.027 off on average.
    assert np.abs(off(rows, "as published")).mean() < 0.06
    nine = select(rows, dataset="heart", columns=9, epsilon=(0.5, 1.0, 3.0))
    again, right = (compared(nine, "ami", one) for one in ("as published", "corrected"))
    assert len(right) == 3
    assert all(right[key].again < again[key].again - 0.1 for key in right)


@pytest.mark.full
@needs_files
@needs_targets
def test_remaps_and_piecewise_as_published():
    """Seen: agreement 0.027 off and distance 3.4% off, on average."""
    rows = measure(
        measure_utility,
        "seeds",
        "line",
        mechanisms=[GRID, DENSITY, PIECEWISE],
        columns=[2, 3],
        repeats=3,
    )
    assert np.abs(off(rows, "as published")).mean() < 0.06
    assert np.abs(ratios(rows, "as published")).mean() < 0.08


@needs_targets
def test_figures_are_read_whole():
    assert len(load_figures("ami")) == 1440
    assert len(load_figures("distance")) == len(load_figures("advantage")) == 480
    assert {figure.mechanism for figure in load_figures("ari")} == set(MECHANISMS)
    with pytest.raises(ParameterError, match="measure must be one of ami"):
        load_figures("accuracy")


@needs_targets
def test_parameters_are_those_of_the_figures():
    for figure in load_figures("ami"):
        chosen = parameters(figure.dataset, figure.columns)
        assert getattr(chosen, figure.clusterer) == figure.parameter, str(figure)


def test_a_missing_folder_is_said_in_one_line(monkeypatch, tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(DataError, match=r"not in .*: pass the folder as targets"):
            load_figures("ami", targets=folder)
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    with pytest.raises(DataError, match="set SHOAL_DATA"):
        load_figures("ami")


@needs_files
def test_bad_names():
    with pytest.raises(ParameterError, match="mechanism must be one of nd-Laplace"):
        published_method("laplace", 1.0)
    with pytest.raises(ParameterError, match="columns must be from 2 to 9 for heart"):
        load_table("heart", 10)


def test_means_over_repeats_are_compared(monkeypatch):
    values = {("heart", "nd-Laplace", 2, 1.0, "KMeans"): 0.5}
    monkeypatch.setattr(
        "shoal.papers.kd_laplace.figures.published_values",
        lambda measure: values,
    )
    row = {
        "dataset": "heart",
        "mechanism": "nd-Laplace",
        "columns": 2,
        "epsilon": 1.0,
        "clusterer": "KMeans",
        "version": "as published",
    }
    rows = [{**row, "ami": 0.4}, {**row, "ami": 0.8}, {**row, "version": "corrected", "ami": 0.0}]
    (found,) = compare_with_published(rows, "ami", by=("mechanism",)).values()
    assert found.again == pytest.approx(0.6)
    assert found.difference == pytest.approx(0.1)
    assert found.figures == 1
