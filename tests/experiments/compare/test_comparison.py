"""A comparison finds what it must on made-up records, goes on where it stopped, keeps no record."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from shoal.exceptions import DataError, ParameterError, TrialError
from shoal.experiments import Provenance
from shoal.experiments.compare import (
    ComparedTable,
    choose_contenders,
    compare_methods,
    compare_report,
    measurements,
)
from shoal.experiments.compare.measurements import AttackWork, UtilityWork
from shoal.privacy import Guarantee, amplify
from shoal.tables import ArrayTable, read_table

SENTINEL = 0.7391284613
MADE = Provenance("shoal compare people.csv", 0, data="people.csv")


@pytest.fixture
def file(tmp_path):
    """Two far clusters of 400 records each, with a class."""
    rng = np.random.default_rng(0)
    X = np.repeat([[20.0, 60.0], [80.0, 190.0]], 400, axis=0) + rng.normal(scale=4, size=(800, 2))
    X[0] = 20 + SENTINEL
    lines = [f"{a!r},{b!r},{'xy'[i // 400]}" for i, (a, b) in enumerate(X.tolist())]
    path = tmp_path / "people.csv"
    path.write_text("age,height,group\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def cheap_attacks(monkeypatch):
    monkeypatch.setattr(measurements, "RUNS", 4)
    monkeypatch.setattr(measurements, "SHADOWS", 8)
    monkeypatch.setattr(measurements, "MAX_ATTACKED", 200)


def table_of(file, **kwargs):
    table = read_table(file, columns=["age", "height"], label="group")
    bounds = ([0.0, 40.0], [120.0, 250.0])
    return ComparedTable.from_table(table, file=file, label="group", bounds=bounds, **kwargs)


def test_baseline(file):
    table = table_of(file)
    baseline = table.baseline
    assert baseline.names == ("age", "height")
    assert baseline.n_clusters == 2
    assert baseline.kmeans_label == pytest.approx(1.0)
    assert baseline.trivial_costs.mean > 10
    assert baseline.trivial_costs.best > 1
    assert np.abs(table.X).max() <= 1.0
    low, high = np.array(baseline.low), np.array(baseline.high)
    assert table.X[0] == pytest.approx((20 + SENTINEL - low) / (high - low) * 2 - 1, abs=1.2)


@pytest.mark.full
def test_no_file_is_read_again_in_any_process(file):
    """The table was read before: its file may be gone, and processes share the same records."""
    table = table_of(file, n_clusters=2)
    file.unlink()
    chosen = choose_contenders(2, ["DPKMeans-grid", "KdLaplace-grid"])
    one, two = (
        compare_methods(table, chosen, epsilons=[2.0], runs=2, n_jobs=jobs) for jobs in (1, 2)
    )
    assert [row.cost for row in one.rows] == [row.cost for row in two.rows]
    assert [row.attack["distance"] for row in one.rows] == [
        row.attack["distance"] for row in two.rows
    ]


def test_rows_come_as_they_are_finished_and_attacks_can_be_left_out(file, tmp_path):
    table = table_of(file, n_clusters=2)
    chosen = choose_contenders(2, ["DPKMeans-grid", "KdLaplace-grid"])
    came, steps = [], []
    comparison = compare_methods(
        table,
        chosen,
        epsilons=[2.0, 8.0],
        runs=2,
        attacks=False,
        progress=lambda *step: steps.append(step),
        on_rows=lambda rows: came.append((len(steps), list(rows))),
    )
    assert [at for at, _ in came] == [2, 4, 6, 8], "after the last run of each, before its step"
    assert [row for _, rows in came for row in rows] == list(comparison.rows)
    assert steps[-1] == (8, 8)
    assert comparison.control == {}
    assert all(row.attack == {} for row in comparison.rows)
    page = compare_report(tmp_path / "report.html", comparison, made=MADE).read_text("utf-8")
    assert "What an attacker learns" not in page
    assert "Nothing was attacked" in page


def test_more_clusters_than_halves_have_records_are_refused_before_anything_is_fitted(file):
    table = table_of(file, n_clusters=2)
    many = len(AttackWork.of_table(table, ()).X) // 2 + 1
    table = dataclasses.replace(
        table, baseline=dataclasses.replace(table.baseline, n_clusters=many)
    )
    steps = []
    with pytest.raises(ParameterError) as refused:
        compare_methods(
            table,
            choose_contenders(2, ["DPKMeans-grid"]),
            epsilons=[1.0],
            progress=lambda *step: steps.append(step),
        )
    assert (refused.value.parameter, refused.value.code) == ("n_clusters", "range")
    assert steps == []


def test_no_record_is_shown(file):
    table = table_of(file, n_clusters=2)
    shown = repr(UtilityWork(table, ())) + repr(AttackWork.of_table(table, ()))
    assert "array" not in shown
    assert repr(table.X[0, 0].item())[:8] not in shown


def test_all_methods_run_and_agree_with_theory(file, monkeypatch):
    monkeypatch.setattr(measurements, "MAX_REPORTS", 200)  # taking noise out takes longest
    table = table_of(file, n_clusters=2)
    every = compare_methods(table, choose_contenders(2), epsilons=[20.0], runs=1)
    assert len(every.rows) == len(every.methods) > 20
    # Less epsilon for some of them alone: all take as long again.
    some = choose_contenders(2, ["DPKMeans-grid", "DPKMeans-lloyd", "Laplace"])
    found = compare_methods(table, some, epsilons=[20.0, 2.0], runs=1)
    assert found.epsilons == (2.0, 20.0)
    assert found.middle == 20.0
    assert len(found.rows) == 2 * len(found.methods)
    by_name = {(row.method, row.epsilon): row for row in (*every.rows, *found.rows)}
    grid = by_name["DPKMeans-grid", 2.0]
    assert grid.cost.mean < 1.2
    assert grid.ami.mean > 0.9
    assert grid.ami_label.mean > 0.9
    assert grid.own_epsilon == 1.0
    assert grid.attack["ceiling"] == pytest.approx(np.tanh(0.5))
    # Taking the noise out pays; more epsilon pays.
    aware, plain = (by_name[f"Laplace + {way}", 20.0] for way in ("NoiseAwareKMeans", "KMeans"))
    assert aware.cost.mean < plain.cost.mean
    assert aware.cost.mean < by_name["Laplace + NoiseAwareKMeans", 2.0].cost.mean
    seen, less = (by_name["Laplace + KMeans", epsilon].attack for epsilon in (20.0, 2.0))
    assert seen["gain"] > less["gain"]
    assert seen["off"] < seen["off_without"]
    wave = by_name["DPWaveCluster-oneshot", 20.0]
    assert wave.cost is None
    assert wave.ami.mean > 0.5
    density = by_name["DPDensity", 20.0]
    assert density.cost is None
    assert density.ami.mean > 0.5
    assert found.ranked(2.0, "central")[0].method.startswith("DPKMeans-")
    colors = by_name["PartitionResponse + NoiseAwareKMeans", 20.0]
    assert colors.cost.mean < 1.2
    assert colors.attack["distance"] is None
    assert "PartitionResponse + KMeans" not in every.methods, "colors are no points"


def test_reports_behind_a_shuffler(file, monkeypatch):
    """A batch counts the reports that were clustered: of points some, of colors all."""
    monkeypatch.setattr(measurements, "MAX_REPORTS", 200)
    table = table_of(file, n_clusters=2)
    chosen = choose_contenders(2, ["DPKMeans-grid", "KdLaplace-grid", "PartitionResponse"])
    found = compare_methods(table, chosen, epsilons=[1.0], runs=1, delta=1e-5)
    rows = {(row.contender, row.model): row for row in found.rows}
    assert len(rows) == len(found.rows) == 4
    report = Guarantee("local", epsilon=1.0)
    points = amplify(report, 200, 1e-5).epsilon
    assert rows["KdLaplace-grid", "local"].shuffled_epsilon == pytest.approx(points)
    local, shuffled = (rows["PartitionResponse", model] for model in ("local", "shuffled"))
    assert local.shuffled_epsilon == amplify(report, 800, 1e-5, n_colors=4).epsilon
    assert rows["DPKMeans-grid", "central"].shuffled_epsilon is None
    # At equal worst-case privacy each report may tell more, and the clusters are better.
    assert shuffled.epsilon == 1.0
    assert 0.999 < shuffled.shuffled_epsilon <= 1.0
    assert shuffled.own_epsilon > 3.0
    assert shuffled.equal
    assert shuffled.cost.mean < local.cost.mean
    assert shuffled.attack == {}
    assert "and delta = 1e-05" in shuffled.guarantee
    assert found.delta == 1e-5


def test_it_goes_on_where_it_stopped_and_keeps_no_record(file, tmp_path, monkeypatch):
    table = table_of(file, n_clusters=2)
    chosen = choose_contenders(2, ["DPKMeans-grid", "KdLaplace-grid"])
    words = {"epsilons": [1.0, 2.0], "runs": 2, "store": tmp_path}
    whole = compare_methods(table, chosen, epsilons=[1.0, 2.0], runs=2)
    calls = []
    right = UtilityWork.__call__

    def stops(self, trial):
        calls.append(trial.key)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return right(self, trial)

    monkeypatch.setattr(UtilityWork, "__call__", stops)
    with pytest.raises(KeyboardInterrupt):
        compare_methods(table, chosen, **words)
    found = compare_methods(table, chosen, **words)
    assert len(calls) == 9, "one of eight trials was begun twice"
    assert [row.cost for row in found.rows] == [row.cost for row in whole.rows]
    assert [row.attack for row in found.rows] == [row.attack for row in whole.rows]
    compare_methods(table, chosen, **words)
    assert len(calls) == 9, "everything was done"
    stores = sorted(tmp_path.glob("records-*.csv"))
    assert len(stores) == 2
    for store in stores:
        assert str(SENTINEL)[2:9] not in store.read_text()


def test_another_file_or_other_clusters_are_another_comparison(file, tmp_path):
    chosen = choose_contenders(2, ["DPKMeans-lloyd"])
    words = {"epsilons": [1.0], "runs": 1, "store": tmp_path}
    compare_methods(table_of(file, n_clusters=2), chosen, **words)
    compare_methods(table_of(file, n_clusters=3), chosen, **words)
    file.write_text(file.read_text() + "21.0,61.0,x\n", encoding="utf-8")
    compare_methods(table_of(file, n_clusters=2), chosen, **words)
    assert len(list(tmp_path.glob("records-*.csv"))) == 6


def test_a_method_that_fails_is_named(file):
    chosen = choose_contenders(2, ["DPKMeans-lloyd"])
    with pytest.raises(TrialError, match=r"epsilon must be larger .* in the trial 'records"):
        compare_methods(table_of(file, n_clusters=2), chosen, epsilons=[1e-12], runs=1)


@pytest.mark.parametrize(
    ("records", "clusters", "text"),
    [
        (31, None, "'few.csv' must hold at least 32 records"),
        (40, 50, "at least 50 records"),
        (40, 2, "more different records than the 2 clusters"),
    ],
)
def test_too_few_records(records, clusters, text):
    alike = ArrayTable(np.ones((records, 2)), ("a", "b"))
    with pytest.raises(DataError, match=text):
        ComparedTable.from_table(alike, file=Path("few.csv"), bounds=(0, 9), n_clusters=clusters)


@pytest.mark.full
def test_report(file, tmp_path, monkeypatch):
    monkeypatch.setattr(measurements, "MAX_REPORTS", 200)
    table = table_of(file, n_clusters=2)
    chosen = choose_contenders(2, ["DPKMeans-grid", "DPWaveCluster-oneshot", "Laplace"])
    found = compare_methods(table, chosen, epsilons=[1.0, 4.0], runs=2)
    text = compare_report(tmp_path / "report.html", found, made=MADE).read_text("utf-8")
    plain = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "For the curator only: these numbers were computed from the raw records" in plain
    assert "Undecided: 2 runs of each method cannot tell them apart" in plain
    assert plain.count("<figure>") == 4
    assert "A batch is here the reports of all 800 records." in plain
    assert "Their number is public in this model" in plain
    assert "at delta = 1e-06" in plain
    assert "blind: 2 points spread over the box" in plain
    assert plain.count("Laplace + NoiseAwareKMeans") > 3
    assert "two records 10% of the diameter apart" in plain
    assert str(SENTINEL)[2:9] not in plain
    shared = compare_report(
        tmp_path / "shared.html", found, made=MADE, private_copy=Guarantee("central", epsilon=0.5)
    ).read_text("utf-8")
    assert "May be shared: everything here comes from a release with central" in shared
    assert "For the curator only" not in shared
    seeded = Guarantee("central", epsilon=0.5, seeded=True)
    voided = compare_report(tmp_path / "v.html", found, made=MADE, private_copy=seeded)
    assert "Not to be shared" in voided.read_text("utf-8")
