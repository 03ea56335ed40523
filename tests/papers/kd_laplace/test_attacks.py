"""The published attack comes out again: advantage of shadow models on the author's files.

Seeds are fixed, so a run passes or fails for good; what was seen is in the docstrings.
"""

import pytest

from helpers.attack_data import needs_toolbox
from helpers.paper_data import needs_files, needs_targets
from shoal.experiments import Component, ExperimentSpec, run_spec
from shoal.papers.kd_laplace.attacks import measure_attack
from shoal.papers.kd_laplace.figures import compare_with_published
from shoal.papers.kd_laplace.settings import EPSILONS, MECHANISMS, PLAIN
from shoal.papers.measurements import select

pytestmark = [needs_files, needs_targets, needs_toolbox]


def attack(*datasets, mechanisms=(PLAIN,), epsilons=EPSILONS, repeats=1, n_jobs=1):
    spec = ExperimentSpec(
        name="attack again",
        datasets=datasets,
        mechanisms=tuple(Component(name) for name in mechanisms),
        epsilons=tuple(epsilons),
        dimensions=(2,),
        repeats=repeats,
    )
    return run_spec(spec, measure_attack, n_jobs=n_jobs)


def means(rows, version):
    """Compare the mean advantage of a version with the published one, by table and mechanism."""
    some = [{**row, "version": "as published"} for row in select(rows, version=version)]
    return compare_with_published(some, "advantage", by=("dataset", "mechanism"))


@pytest.mark.full
def test_heart_quick():
    """Six attacks on 265 members each; the mean has a standard deviation of about 0.02.

    At no advantage at all it would be 0.10 below the published mean.
    """
    rows = attack("heart", epsilons=[0.5, 3.0, 9.0], repeats=2)
    for version in ("as published", "corrected"):
        (found,) = means(rows, version).values()
        assert found.figures == 3
        assert found.again == pytest.approx(found.published, abs=0.06)


def test_seeds_has_26_members_and_as_many_others():
    rows = attack("seeds", mechanisms=["nd-Laplace", "piecewise"], epsilons=[2.0])
    assert [(row["mechanism"], row["version"]) for row in rows] == [
        (mechanism, version)
        for mechanism in ("nd-Laplace", "piecewise")
        for version in ("as published", "corrected")
    ]
    for row in rows:
        assert row["advantage"] == pytest.approx(row["tpr"] - row["fpr"])
        assert 26 * row["advantage"] == pytest.approx(round(26 * row["advantage"]))


@pytest.mark.full
def test_advantage_in_two_columns():
    """Ten repeats, means over ten epsilons. Seen: at most 0.033 from the published ones.

    Single values scatter: with 26 members a repeat, the mean of ten repeats has a standard
    deviation of 0.04, and so has the published value, which is why only means are held to the
    tolerance.
    """
    rows = attack("seeds", "heart", mechanisms=MECHANISMS, repeats=10, n_jobs=2)
    published, corrected = (means(rows, version) for version in ("as published", "corrected"))
    assert len(published) == 6
    for kind, found in published.items():
        assert found.figures == 10
        assert found.again == pytest.approx(found.published, abs=0.06)
        if kind[1] == PLAIN:  # in two columns the corrected noise is the published one
            assert corrected[kind].again == pytest.approx(found.published, abs=0.06)
