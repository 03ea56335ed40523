"""A comparison finds what it must on made-up records, goes on where it stopped, keeps no record."""

import re

import numpy as np
import pytest

from shoal.exceptions import CellError, DataError
from shoal.experiments.compare import attack_work as attacks
from shoal.experiments.compare import choose_contenders, compare_methods, compare_report, open_frame
from shoal.experiments.compare.utility_work import UtilityWork
from shoal.experiments.provenance import Provenance
from shoal.privacy import Guarantee

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
    monkeypatch.setattr(attacks, "RUNS", 4)
    monkeypatch.setattr(attacks, "SHADOWS", 8)


def frame_of(file, **words):
    bounds = ([0.0, 40.0], [120.0, 250.0])
    return open_frame(file, columns=["age", "height"], label="group", bounds=bounds, **words)


def test_frame(file):
    frame = frame_of(file)
    assert frame.names == ("age", "height")
    assert frame.clusters == 2
    assert frame.kmeans_label == pytest.approx(1.0)
    assert frame.baselines.mean > 10
    assert frame.baselines.best > 1
    assert np.abs(frame.load().X).max() <= 1.0
    low, high = np.array(frame.low), np.array(frame.high)
    assert frame.load().X[0] == pytest.approx((20 + SENTINEL - low) / (high - low) * 2 - 1, abs=1.2)


def test_all_methods_run_and_agree_with_theory(file):
    frame = frame_of(file, clusters=2)
    chosen = choose_contenders(2)
    found = compare_methods(frame, chosen, epsilons=[20.0, 2.0], runs=1)
    assert found.epsilons == (2.0, 20.0)
    assert found.middle == 20.0
    assert len(found.rows) == 2 * len(found.methods)
    by_name = {(row.method, row.epsilon): row for row in found.rows}
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
    assert found.ranked(2.0, "central")[0].method == "DPKMeans-grid"


def test_it_goes_on_where_it_stopped_and_keeps_no_record(file, tmp_path, monkeypatch):
    frame = frame_of(file, clusters=2)
    chosen = choose_contenders(2, ["DPKMeans-grid", "Duchi"])
    words = {"epsilons": [1.0, 2.0], "runs": 2, "store": tmp_path}
    whole = compare_methods(frame, chosen, epsilons=[1.0, 2.0], runs=2)
    calls = []
    right = UtilityWork.__call__

    def stops(self, cell):
        calls.append(cell.key)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return right(self, cell)

    monkeypatch.setattr(UtilityWork, "__call__", stops)
    with pytest.raises(KeyboardInterrupt):
        compare_methods(frame, chosen, **words)
    found = compare_methods(frame, chosen, **words)
    assert len(calls) == 9, "one of eight cells was begun twice"
    assert [row.cost for row in found.rows] == [row.cost for row in whole.rows]
    assert [row.attack for row in found.rows] == [row.attack for row in whole.rows]
    compare_methods(frame, chosen, **words)
    assert len(calls) == 9, "everything was done"
    stores = sorted(tmp_path.glob("records-*.csv"))
    assert len(stores) == 2
    for store in stores:
        assert str(SENTINEL)[2:9] not in store.read_text()


def test_another_file_or_other_clusters_are_another_comparison(file, tmp_path):
    chosen = choose_contenders(2, ["DPKMeans-lloyd"])
    words = {"epsilons": [1.0], "runs": 1, "store": tmp_path}
    compare_methods(frame_of(file, clusters=2), chosen, **words)
    compare_methods(frame_of(file, clusters=3), chosen, **words)
    file.write_text(file.read_text() + "21.0,61.0,x\n", encoding="utf-8")
    compare_methods(frame_of(file, clusters=2), chosen, **words)
    assert len(list(tmp_path.glob("records-*.csv"))) == 6


def test_a_method_that_fails_is_named(file):
    chosen = choose_contenders(2, ["DPKMeans-lloyd"])
    with pytest.raises(CellError, match=r"epsilon must be larger .* in the cell 'records"):
        compare_methods(frame_of(file, clusters=2), chosen, epsilons=[1e-12], runs=1)


def test_too_few_records(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("a,b\n" + "1,2\n" * 31)
    with pytest.raises(DataError, match="at least 32 records"):
        open_frame(path, columns=["a", "b"], bounds=(0, 9))
    path.write_text("a,b\n" + "1,2\n" * 40)
    with pytest.raises(DataError, match="at least 50 records"):
        open_frame(path, columns=["a", "b"], bounds=(0, 9), clusters=50)


def test_records_that_are_all_alike(tmp_path):
    path = tmp_path / "alike.csv"
    path.write_text("a,b\n" + "1,2\n" * 40)
    with pytest.raises(DataError, match="more different records than the 2 clusters"):
        open_frame(path, columns=["a", "b"], bounds=(0, 9), clusters=2)


def test_report(file, tmp_path):
    frame = frame_of(file, clusters=2)
    chosen = choose_contenders(2, ["DPKMeans-grid", "DPWaveCluster-oneshot", "Laplace"])
    found = compare_methods(frame, chosen, epsilons=[1.0, 4.0], runs=2)
    text = compare_report(tmp_path / "report.html", found, made=MADE).read_text("utf-8")
    plain = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "For the curator only: these numbers were computed from the raw records" in plain
    assert "Undecided: 2 runs of each method cannot tell them apart" in plain
    assert plain.count("<figure>") == 3
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
