"""DPDensity by a schema: places in degrees, and categories as strata that share one epsilon."""

import json

import numpy as np
import pandas as pd
import pytest

from shoal import (
    Category,
    DPDensity,
    DPWaveCluster,
    Flag,
    Number,
    Place,
    PrivateCopy,
    Schema,
    label_on_device,
    replay_estimator,
)
from shoal.audit import Neighbors
from shoal.cluster import _schema_columns
from shoal.cluster.density import dp_density
from shoal.engines import Part
from shoal.exceptions import DataError, ParameterError
from shoal.privacy import Ledger, Release
from shoal.schema import Field

HOME = Place(
    "home", longitude="lon", latitude="lat", center=(24.94, 60.17), radius=50.0, missing="refuse"
)
CITY = Category("kind", ["shop", "home"], missing="refuse")
SCHEMA = Schema([HOME, CITY])


def table(n=3000, seed=0):
    """Shops in two towns, homes in a third, none elsewhere."""
    rng = np.random.default_rng(seed)
    towns = np.array([[-20.0, 10.0], [15.0, 15.0], [5.0, -25.0]])
    of = np.arange(n) % 3
    degrees = HOME.unproject(towns[of] + rng.normal(0, 2, (n, 2)))
    kinds = np.array(["shop", "shop", "home"])[of]
    return pd.DataFrame({"lat": degrees[:, 1], "kind": kinds, "lon": degrees[:, 0]})


@pytest.fixture(scope="module")
def model():
    return DPDensity(epsilon=2.0, schema=SCHEMA, random_state=0).fit(table())


def test_clusters_know_their_stratum(model):
    assert [stratum["kind"] for stratum in model.strata_] == ["shop", "home", "other"]
    assert model.n_clusters_ == 3
    assert model.cluster_strata_.tolist() == [0, 0, 1]
    assert model.cluster_sizes_ == pytest.approx([1000, 1000, 1000], rel=0.15)
    labels = model.labels_
    kinds = table()["kind"].to_numpy()
    assert set(labels[kinds == "shop"]) <= {0, 1, -1}
    assert set(labels[kinds == "home"]) <= {2, -1}
    assert (labels >= 0).mean() > 0.95
    moved = table().assign(kind="elsewhere")
    assert (model.predict(moved) == -1).all()


def test_the_release_is_enough(model, tmp_path):
    model.release_.save(tmp_path / "release.json")
    loaded = Release.load(tmp_path / "release.json")
    frame = table(seed=1)
    assert np.array_equal(label_on_device(loaded, frame), model.predict(frame))
    one = frame.iloc[0].to_dict()
    assert label_on_device(loaded, one) == model.predict(frame[:1])[0]
    degrees = model.predict_proba(frame)
    assert degrees.shape == (len(frame), 3)
    inside = model.predict(frame) >= 0
    assert (degrees[inside].argmax(axis=1) == model.predict(frame)[inside]).mean() > 0.98
    again = DPDensity.from_release(loaded)
    assert again.release_ == model.release_
    assert np.array_equal(again.predict(frame), model.predict(frame))
    few = model.refine(n_clusters=1)
    assert few.n_clusters_ == 2  # one in each stratum that has records


def test_outlines_are_in_degrees(model):
    features = json.loads(json.dumps(model.outlines()))["features"]
    assert [one["properties"]["cluster"] for one in features] == [0, 1, 2]
    assert [one["properties"]["stratum"]["kind"] for one in features] == ["shop", "shop", "home"]
    ring = np.array(features[2]["geometry"]["coordinates"][0][0])
    middle = HOME.project([(ring.min(axis=0) + ring.max(axis=0)) / 2])[0]
    assert middle == pytest.approx([5.0, -25.0], abs=3.0)


def test_same_bits_from_files(tmp_path):
    frame = table(600)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    settings = {"epsilon": 2.0, "schema": SCHEMA, "n_clusters": 1, "random_state": 0}
    model = DPDensity(**settings).fit(frame)
    for name in ("t.parquet", "t.csv"):
        other = DPDensity(**settings).fit(tmp_path / name)
        for one, two in zip(*(m.release_.values["strata"] for m in (model, other)), strict=True):
            assert np.array_equal(one["counts"], two["counts"])
        assert np.array_equal(other.predict(tmp_path / name), model.labels_)


def test_one_stratum_is_the_estimator_without_a_schema():
    schema = Schema([Number(name, minimum=-1, maximum=1, missing="refuse") for name in "xy"])
    X = np.random.default_rng(0).normal(0, 0.2, (2000, 2))
    plain = DPDensity(bounds=(0.0, 1.0), random_state=0).fit(schema.encode(X))
    by_schema = DPDensity(schema=schema, random_state=0).fit(X)
    assert np.array_equal(plain.cells_, by_schema.cells_)
    assert np.array_equal(plain.release_.values["counts"], by_schema.release_.values["counts"])
    assert np.array_equal(label_on_device(by_schema.release_, X), by_schema.labels_)
    ring = by_schema.outlines()["features"][0]["geometry"]["coordinates"][0][0]
    assert np.abs(np.mean(ring, axis=0)).max() < 0.3


def test_all_strata_share_one_epsilon():
    ledger = Ledger(epsilon=1.0)
    DPDensity(epsilon=1.0, schema=SCHEMA, ledger=ledger, random_state=0).fit(table(300))
    assert [one.epsilon for one in ledger.spent] == [1.0]


PAIRS_SCHEMA = Schema(
    [Number("x", minimum=0, maximum=1, missing="refuse"), Flag("c", missing="refuse")]
)


def pairs():
    rng = np.random.default_rng(0)
    full = np.column_stack([rng.random(20), rng.random(20) < 0.5])
    return [Neighbors("no", full, [0.5, 0.0]), Neighbors("yes, of few", full[:5], [0.5, 1.0])]


def found():
    """Return what a replay says of two strata, whatever table loses or gains a record."""
    model = DPDensity(epsilon=1.0, schema=PAIRS_SCHEMA)
    return "\n".join(replay_estimator(model, pairs(), repeats=1).findings)


def test_a_replay_finds_nothing():
    assert found() == ""


def test_planted_a_record_in_all_strata(monkeypatch):
    """One that is counted in each of them costs once for each."""

    def every(self, part):
        return Part(part.records[:, list(self.strata.grid)], part.weights)

    monkeypatch.setattr(_schema_columns._InStratum, "__call__", every)
    assert "cost" in found()


def test_planted_a_stratum_that_is_not_paid_for(monkeypatch):
    right, calls = dp_density.release_cells, []

    def generous(engine, noise, budgets, *, source):
        calls.append(engine)
        last = len(calls) % 2 == 0
        more = type(budgets)(2 * budgets.coarse_grid, 2 * budgets.cells)
        return right(engine, noise, more if last else budgets, source=source)

    monkeypatch.setattr(dp_density, "release_cells", generous)
    assert "cost" in found()


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (Schema([Number("x", minimum=0, maximum=1), CITY]), "'fill' or 'refuse'"),
        (Schema([CITY]), "got categories only"),
        (Schema([HOME, Field("x", role="user")]), "the promise is to rows"),
        (Schema([HOME, Category("c", [str(i) for i in range(70)])]), "at most 64 combinations"),
    ],
)
def test_schemas_that_cells_cannot_take(schema, words):
    frame = table(30).assign(x=0.5, c="1")
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(ParameterError, match=words):
        DPDensity(schema=schema, ledger=ledger).fit(frame)
    with pytest.raises(ParameterError, match="bounds must be left out"):
        DPDensity(schema=SCHEMA, bounds=(0, 1), ledger=ledger).fit(table(30))
    assert not ledger.entries


def test_wavecluster_takes_places_and_no_categories():
    alone = Schema([HOME])
    wave = DPWaveCluster(epsilon=2.0, schema=alone, threshold="auto", grid="auto", random_state=0)
    assert wave.fit(table()).n_clusters_ == 3
    assert np.array_equal(label_on_device(wave.release_, table()), wave.labels_)
    with pytest.raises(ParameterError, match="use DPDensity"):
        DPWaveCluster(schema=SCHEMA).fit(table(30))


def test_a_private_copy_has_the_fields_own_values():
    schema = Schema([Number("age", minimum=0, maximum=100), Category("c", list("abc")), Flag("f")])
    rng = np.random.default_rng(0)
    n = 4000
    kind = rng.choice(list("abz"), n, p=[0.5, 0.3, 0.2])
    age = np.where(kind == "a", 20.0, 70.0) + rng.normal(0, 3, n)
    frame = pd.DataFrame(
        {"age": np.where(rng.random(n) < 0.1, np.nan, age), "c": kind, "f": kind == "b"}
    )
    copy = PrivateCopy(epsilon=4.0, schema=schema, random_state=0).fit(frame)
    made = pd.DataFrame(copy.sample(4000, random_state=0), columns=copy.feature_names_in_)
    assert (made["c"] == "a").mean() == pytest.approx(0.5, abs=0.05)
    assert (made["c"] == "other").mean() == pytest.approx(0.2, abs=0.05)
    assert (made["f"] == "true").mean() == pytest.approx(0.3, abs=0.05)
    assert made["age"].isna().mean() == pytest.approx(0.1, abs=0.05)
    of_a = made[(made["c"] == "a") & made["age"].notna()]["age"].astype(float)
    assert (of_a < 45).mean() > 0.8
    assert Schema.from_dict(copy.release_.values["schema"]) == schema
    schema.encode(made)  # it is such a table itself


def test_columns_of_a_schema_are_those_of_fit(model):
    with pytest.raises(DataError, match="none named 'kind'"):
        model.predict(table()[["lat", "lon"]])


def features(model):
    return model.outlines()["features"]


def test_names_of_fields_are_no_keys_of_the_encoding():
    """What is paid for is released, whatever a field and its categories are called."""
    ledger = Ledger(epsilon=1.0)
    names = {"kind": "__array__", "shop": "__float__"}
    schema = Schema([HOME, Category("__array__", ["__float__", "home"], missing="refuse")])
    renamed = table().rename(columns=names).replace(names)
    fitted = DPDensity(epsilon=1.0, schema=schema, ledger=ledger, random_state=0).fit(renamed)
    assert len(ledger) == 1
    assert Release.from_json(fitted.release_.to_json()) == fitted.release_
    assert [stratum["__array__"] for stratum in fitted.strata_] == ["__float__", "home", "other"]
    assert DPDensity.from_release(fitted.release_).release_ == fitted.release_
    kinds = {feature["properties"]["stratum"]["__array__"] for feature in features(fitted)}
    assert kinds <= {"__float__", "home"}
