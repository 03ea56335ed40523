"""The work on a cell: runs on one start, which other cells share, and what they really spend."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from shoal.metrics import nicv
from shoal.papers.kccm import Plan, experiments, fit_on_start, variant_model
from shoal.papers.kccm.experiments import DATASET, TRIMMED, FindCenters, MeasureCosts

X = np.random.default_rng(3).uniform(-1, 1, (300, 2))
PLAN = Plan(epsilons=(5.0, 20.0), clusters=(2,), starts=2, runs=3)


def table():
    return X


def cells(name, variant, seed=0, dataset=DATASET):
    return [
        cell
        for cell in PLAN.specs(seed=seed)[name].cells()
        if (cell.mechanism.name, cell.dataset) == (variant, dataset)
    ]


def test_a_record_is_the_mean_of_its_runs():
    cell = cells("epsilon", "average k")[1]
    (record,) = MeasureCosts(table)(cell)
    model = variant_model("average k", k=3, epsilon=5.0, n=len(X))
    costs = [
        nicv(X, fit_on_start(model, X, start=1, seed=cell.seed, run=run).cluster_centers_)
        for run in range(3)
    ]
    assert len(set(costs)) == 3
    assert (record["variant"], record["version"], record["k"]) == ("average k", "corrected", 3)
    assert (record["runs"], record["real_epsilon"], record["real_delta"]) == (3, 5.0, 0.0)
    measured = (record["nicv"], record["deviation"])
    assert measured == pytest.approx((np.mean(costs), np.std(costs, ddof=1)))
    assert record["nicv"] / record["reference"] > 0.999


def test_records_depend_on_the_cell_and_nothing_else():
    work = MeasureCosts(table)
    for cell in (cells("epsilon", "auto")[0], cells("published", "gaussian nk")[0]):
        first = work(cell)
        assert pickle.loads(pickle.dumps(work))(cell) == first
        assert work(replace(cell, spec_seed=1)) != first
        (trimmed,) = work(replace(cell, dataset=TRIMMED))
        assert trimmed["reference"] != first[0]["reference"]  # another table: scaled again


def test_runs_of_a_cell_share_a_start_with_other_cells(monkeypatch):
    seen = []

    def spy(model, records, *, start, seed, run):
        seen.append((start, seed, run))
        return fit_on_start(model, records, start=start, seed=seed, run=run)

    monkeypatch.setattr(experiments, "fit_on_start", spy)
    for seed in (0, 1):
        for variant in ("average k", "gaussian k"):
            for cell in cells("epsilon", variant, seed):
                MeasureCosts(table)(cell)
    starts, seeds, runs = zip(*seen, strict=True)
    assert runs == (0, 1, 2) * 16  # seeds, variants, epsilons, starts
    assert starts[::3] == (0, 1) * 4 + (1000, 1001) * 4
    assert len(set(seeds)) == 16


def test_centers_for_pictures():
    plain, *_ = cells("clusters", "k-means without privacy")
    corrected, *_, published = cells("clusters", "gaussian nk")
    found = {cell: FindCenters(table)(cell) for cell in (plain, corrected, published)}
    assert [len(records) for records in found.values()] == [3, 3, 3]
    versions = ["without privacy", "corrected", "as published"]
    assert [records[0]["version"] for records in found.values()] == versions
    assert found[plain][0]["real_epsilon"] == np.inf
    assert found[corrected][0]["real_epsilon"] == 1.0
    centers = [[record["x1"], record["x2"]] for record in found[corrected]]
    assert found[corrected][0]["nicv"] == nicv(X, np.array(centers))
