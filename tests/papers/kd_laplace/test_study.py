"""The study of the thesis: its sizes, and trials that can be repeated."""

import pytest

from helpers.paper_data import needs_files
from shoal.exceptions import DataError
from shoal.papers.kd_laplace import attacks, drafts
from shoal.papers.kd_laplace.settings import load_table
from shoal.papers.kd_laplace.study import KdLaplaceStudy


def test_without_data_one_line_before_any_work(monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    load_table.cache_clear()
    with pytest.raises(DataError, match="set SHOAL_DATA"):
        KdLaplaceStudy().experiments(full=False, seed=0)


@needs_files
def test_sizes_are_those_of_the_source():
    full = {
        experiment.name: experiment.spec
        for experiment in KdLaplaceStudy().experiments(full=True, seed=0)
    }
    assert full["utility-heart"].repeats == 10
    assert full["utility-heart"].dimensions == tuple(range(2, 10))
    assert len(full["attack-seeds"].epsilons) == 10
    quick = {
        experiment.name: experiment.spec
        for experiment in KdLaplaceStudy().experiments(full=False, seed=0)
    }
    assert quick.keys() == full.keys()
    assert sum(len(spec.trials()) for spec in quick.values()) < 1100


@needs_files
@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [
        *("utility-seeds", "attack-seeds", "utility-shapes", "unit", "search"),
        pytest.param("drafts", marks=pytest.mark.full),
    ],
)
def test_a_trial_depends_on_itself_alone(name):
    experiment = next(
        experiment
        for experiment in KdLaplaceStudy().experiments(full=False, seed=0)
        if experiment.name == name
    )
    first, *_, last = experiment.spec.trials()
    once = list(experiment.work(last))
    list(experiment.work(first))
    for attacker in (attacks._table_attacker, drafts._attacker):  # as in another process
        attacker.cache_clear()
    assert list(experiment.work(last)) == once
    assert once != list(experiment.work(experiment.spec.trials()[-2]))


@needs_files
def test_a_trial_has_both_versions_and_all_clusterers():
    experiment = KdLaplaceStudy().experiments(full=False, seed=0)[2]
    assert experiment.name == "utility-seeds"
    rows = list(experiment.work(experiment.spec.trials()[0]))
    assert [(row["version"], row["clusterer"]) for row in rows] == [
        (version, clusterer)
        for version in ("as published", "corrected")
        for clusterer in ("KMeans", "AgglomerativeClustering", "OPTICS")
    ]
