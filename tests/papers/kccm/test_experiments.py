"""The work on a trial: runs on one start, which other trials share, and what they really spend."""

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


def trials(name, variant, seed=0, dataset=DATASET):
    return [
        trial
        for trial in PLAN.specs(seed=seed)[name].trials()
        if (trial.mechanism.name, trial.dataset) == (variant, dataset)
    ]


def test_a_record_is_the_mean_of_its_runs():
    trial = trials("epsilon", "average k")[1]
    (record,) = MeasureCosts(table)(trial)
    model = variant_model("average k", k=3, epsilon=5.0, n=len(X))
    costs = [
        nicv(X, fit_on_start(model, X, start=1, seed=trial.seed, run=run).cluster_centers_)
        for run in range(3)
    ]
    assert len(set(costs)) == 3
    assert (record["variant"], record["version"], record["k"]) == ("average k", "corrected", 3)
    assert (record["runs"], record["real_epsilon"], record["real_delta"]) == (3, 5.0, 0.0)
    measured = (record["nicv"], record["deviation"])
    assert measured == pytest.approx((np.mean(costs), np.std(costs, ddof=1)))
    assert record["nicv"] / record["reference"] > 0.999


def test_records_depend_on_the_trial_and_nothing_else():
    work = MeasureCosts(table)
    for trial in (trials("epsilon", "auto")[0], trials("published", "gaussian nk")[0]):
        first = work(trial)
        assert pickle.loads(pickle.dumps(work))(trial) == first
        assert work(replace(trial, spec_seed=1)) != first
        (trimmed,) = work(replace(trial, dataset=TRIMMED))
        assert trimmed["reference"] != first[0]["reference"]  # another table: scaled again


def test_runs_share_a_start_with_other_trials(monkeypatch):
    seen = []

    def spy(model, records, *, start, seed, run):
        seen.append((start, seed, run))
        return fit_on_start(model, records, start=start, seed=seed, run=run)

    monkeypatch.setattr(experiments, "fit_on_start", spy)
    for seed in (0, 1):
        for variant in ("average k", "gaussian k"):
            for trial in trials("epsilon", variant, seed):
                MeasureCosts(table)(trial)
    starts, seeds, runs = zip(*seen, strict=True)
    assert runs == (0, 1, 2) * 16  # seeds, variants, epsilons, starts
    assert starts[::3] == (0, 1) * 4 + (1000, 1001) * 4
    assert len(set(seeds)) == 16


def test_centers_for_pictures():
    plain, *_ = trials("clusters", "k-means without privacy")
    corrected, *_, published = trials("clusters", "gaussian nk")
    found = {trial: FindCenters(table)(trial) for trial in (plain, corrected, published)}
    assert [len(records) for records in found.values()] == [3, 3, 3]
    versions = ["without privacy", "corrected", "as published"]
    assert [records[0]["version"] for records in found.values()] == versions
    assert found[plain][0]["real_epsilon"] == np.inf
    assert found[corrected][0]["real_epsilon"] == 1.0
    centers = [[record["x1"], record["x2"]] for record in found[corrected]]
    assert found[corrected][0]["nicv"] == nicv(X, np.array(centers))
