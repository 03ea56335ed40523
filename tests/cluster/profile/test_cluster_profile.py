"""A profile: the same bits from every table, its promise, its words, and what it refuses."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import ClusterProfile, DPDensity, DPKMeans, DPWaveCluster
from shoal.exceptions import BudgetExceededError, DataError, ParameterError
from shoal.privacy import Ledger, Release
from shoal.schema import Category, Date, Field, Flag, Number, Ordinal, Place, Schema
from shoal.tables import ArrowTable

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120, unit="years"),
        Category("city", ["A", "B"], role="describe"),
        Flag("member", role="describe"),
        Number("income", minimum=0, maximum=1e6, scale="log", unit="EUR", role="describe"),
        Date("joined", minimum="2010-01-01", maximum="2026-12-31", role="describe"),
        Ordinal("grade", ["low", "mid", "high"], role="describe"),
    ]
)


def made_up_table(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    old = rng.random(n) < 0.4
    days = rng.integers(0, 3000, n) + 1000 * old
    return pd.DataFrame(
        {
            "grade": np.where(old, "high", rng.choice(["low", "mid", "?"], n)),
            "age": np.clip(np.where(old, 70, 25) + rng.normal(0, 4, n), 0, 120),
            "city": np.where(rng.random(n) < np.where(old, 0.7, 0.2), "A", "elsewhere"),
            "member": np.where(rng.random(n) < 0.1, None, rng.random(n) < 0.5),
            "income": np.where(rng.random(n) < 0.1, np.nan, np.exp(rng.normal(10, 0.5, n))),
            "joined": np.datetime64("2012-01-01") + days.astype("timedelta64[D]"),
        }
    )


TABLE = made_up_table()
CLUSTERS = DPKMeans(2, bounds=(0, 120), random_state=0).fit(TABLE[["age"]]).release_


def profile(table=TABLE, *, release=CLUSTERS, schema=SCHEMA, **kwargs):
    return ClusterProfile(release, schema=schema, **{"random_state": 0, **kwargs}).fit(table)


@pytest.fixture(scope="module")
def fitted():
    return profile()


def test_a_profile_is_near_the_table(fitted):
    labels = (TABLE["age"] > 47).astype(int).to_numpy()
    old = int(CLUSTERS.values["centers"][1, 0] > 47)
    mine = labels if old else 1 - labels
    for cluster in (0, 1):
        rows = TABLE[mine == cluster]
        found = fitted.profiles_[cluster]
        assert found.size.low <= len(rows) <= found.size.high
        assert found.fields["city"].share("A").value == pytest.approx(
            (rows["city"] == "A").mean(), abs=0.05
        )
        assert found.fields["income"].missing.value == pytest.approx(
            rows["income"].isna().mean(), abs=0.05
        )
        median = found.fields["age"].quantiles[0.5]
        assert median.low <= rows["age"].median() <= median.high
    everyone = fitted.profiles_["overall"]
    assert everyone.size.value == pytest.approx(len(TABLE), abs=200)
    assert sum(one.value for one in everyone.fields["grade"].shares.values()) == pytest.approx(1)


def test_the_same_bits_from_frames_and_files(fitted, tmp_path):
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    from pyarrow import parquet

    TABLE.to_csv(tmp_path / "people.csv", index=False)
    folder = tmp_path / "people"
    folder.mkdir()
    for part, rows in enumerate(np.array_split(np.arange(len(TABLE)), 3)):
        parquet.write_table(arrow.Table.from_pandas(TABLE.iloc[rows]), folder / f"{part}.parquet")
    tables = [
        polars.from_pandas(TABLE),
        {name: TABLE[name].to_numpy() for name in TABLE},
        tmp_path / "people.csv",
        folder,
        ArrowTable(folder, columns=["age"]),
    ]
    for table in tables:
        assert profile(table).release_.to_json() == fitted.release_.to_json()


def test_a_release_is_enough(fitted, tmp_path):
    fitted.release_.save(tmp_path / "profile.json")
    again = Release.load(tmp_path / "profile.json")
    assert again == fitted.release_
    assert Schema.from_dict(again.values["schema"]) == SCHEMA
    assert fitted.to_csv(tmp_path / "profile.csv") == (tmp_path / "profile.csv").read_text()
    frame = fitted.to_frame()
    assert len(frame) == len(fitted.to_csv().splitlines()) - 1
    assert {"size", "share", "quantile"} == set(frame["statistic"])
    assert "age 22 to 28 years" in fitted._repr_html_()


def test_sentences_say_what_is_clear(fitted):
    sentences = fitted.describe()
    assert len(sentences) == 2
    for sentence in sentences:
        assert "records): " in sentence
        assert "overall" in sentence
        assert "age" in sentence
        assert sentence.count("against") <= 4


def test_a_release_with_a_schema_needs_no_other(tmp_path):
    schema = Schema([field if field.name == "joined" else _feature(field) for field in SCHEMA])
    model = DPKMeans(2, schema=schema, random_state=0).fit(TABLE)
    found = ClusterProfile(model, random_state=0, epsilon=50.0).fit(TABLE)
    sizes = np.bincount(model.predict(TABLE))
    for cluster, size in enumerate(sizes):
        assert found.profiles_[cluster].size.value == pytest.approx(size, abs=5)
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    again = ClusterProfile(model.release_, random_state=0, epsilon=50.0)
    assert again.fit(tmp_path / "people.csv").release_ == found.release_


def _feature(field):
    return dataclasses.replace(field, role="feature")


def test_records_in_no_cluster_are_a_group():
    release = DPDensity(bounds=(0, 120), random_state=0).fit(TABLE[["age"]]).release_
    found = profile(release=release)
    assert -1 in found.profiles_
    assert found.describe()[-1].startswith("in no cluster")


def test_strata_and_places():
    """Clusters of categories apart; a place is described by where it is from the center."""
    rng = np.random.default_rng(0)
    table = {
        "x": rng.normal(np.repeat([0.25, 0.75], 500), 0.03).clip(0, 1),
        "kind": ["a", "b"] * 500,
        "lon": np.repeat([24.5, 25.4], 500),
        "lat": np.full(1000, 60.2),
    }
    schema = Schema(
        [
            Number("x", minimum=0, maximum=1, missing="refuse"),
            Category("kind", ["a", "b"], missing="refuse"),
            Place(
                "home",
                longitude="lon",
                latitude="lat",
                center=(24.9, 60.2),
                radius=50,
                role="describe",
            ),
        ]
    )
    model = DPDensity(schema=schema, epsilon=4.0, random_state=0).fit(table)
    found = ClusterProfile(model.release_, epsilon=4.0, random_state=0).fit(table)
    labels = model.predict(table)
    assert len(set(labels.tolist())) >= 4
    for cluster in set(labels.tolist()):
        size = found.profiles_[cluster].size
        assert size.low <= np.sum(labels == cluster) <= size.high
    home = found.profiles_["overall"].fields["home"]
    assert home.share("west").value == pytest.approx(0.5, abs=0.1)
    assert home.share("east").value == pytest.approx(0.5, abs=0.1)


def test_users_rows_may_be_in_several_clusters():
    schema = Schema([*SCHEMA.fields, Field("who", role="user")])
    table = TABLE.assign(who=np.arange(len(TABLE)) // 3)
    found = profile(table, schema=schema, records_per_user=2)
    assert str(found.guarantee_.privacy_unit).startswith("user (all rows with one value of 'who'")
    assert found.profiles_["overall"].size.value == pytest.approx(2000, abs=300)
    by_hand = ClusterProfile(
        CLUSTERS, schema=SCHEMA, records_per_user=2, user_column="who", random_state=0
    ).fit(TABLE, user_ids=table["who"])
    assert by_hand.release_.values["sentences"] == found.release_.values["sentences"]
    assert profile(table, schema=schema).describe()[0].count("people") == 1


def test_weights_count():
    schema = Schema([*SCHEMA.fields, Number("weight", maximum=2.0, role="sample_weight")])
    found = profile(TABLE.assign(weight=1.0), schema=schema, epsilon=10.0)
    assert found.profiles_["overall"].size.value == pytest.approx(len(TABLE) / 2, rel=0.05)


def test_the_budget_is_charged_first_and_once():
    ledger = Ledger(epsilon=1.0)
    found = profile(ledger=ledger, epsilon=0.75)
    assert ledger.entries[-1].purpose.startswith("ClusterProfile(2): counts of 6 fields")
    assert found.release_.ledger is not None
    with pytest.raises(BudgetExceededError):
        profile(ledger=ledger, epsilon=0.75)
    assert len(ledger) == 1


UNPROTECTED = DPWaveCluster(epsilon=math.inf, bounds=(0, 120), grid=8).fit(TABLE[["age"]])


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"release": None}, "release must be a Release"),
        ({"release": UNPROTECTED}, "release must have a promise"),
        ({"schema": None}, "schema must be given"),
        ({"schema": "people.json"}, "schema must be a Schema"),
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": 1e-15}, "epsilon must be larger"),
        ({"delta": 1}, "delta must be"),
        ({"records_per_user": 0}, "records_per_user must be"),
        ({"schema": Schema([Number("age", minimum=0)])}, "must have a maximum"),
        ({"schema": Schema([Field("age", role="ignore")])}, "a field to describe"),
        ({"table": TABLE.drop(columns="city")}, "'city'"),
        ({"table": TABLE.assign(age=np.nan)}, "finite"),
        ({"table": TABLE.iloc[:0]}, "at least one record"),
    ],
)
def test_bad_input_is_one_line_and_costs_nothing(kwargs, words):
    ledger = Ledger(epsilon=10.0)
    with pytest.raises((ParameterError, DataError), match=words) as caught:
        profile(**{"ledger": ledger, **kwargs})
    assert "\n" not in str(caught.value)
    assert len(ledger) == 0


def test_missing_values_may_be_refused():
    schema = Schema(
        [SCHEMA["age"], Number("income", minimum=0, maximum=1e6, role="describe", missing="refuse")]
    )
    with pytest.raises(DataError, match="no missing value"):
        profile(schema=schema)


# Replays: rows of numbers, in the order of the fields.

NUMBERS = Schema(
    [
        Number("x", minimum=0, maximum=10),
        Category("kind", [1, 2], role="describe"),
        Flag("yes", role="describe"),
    ]
)
PAIRS = [
    Neighbors("among others", [[1, 1, 0], [9, 2, 1], [9, 2, 1]], [9, 1, 1]),
    Neighbors("empty cluster", [[1, 1, 0], [1, 1, 0]], [10, 7, 5]),
]
TWO = DPKMeans(2, bounds=(0, 10), random_state=0).fit(np.repeat([[1.0], [9.0]], 500, axis=0))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_one_record_costs_what_is_claimed(delta):
    audit = replay_estimator(
        ClusterProfile(TWO.release_, schema=NUMBERS, epsilon=0.5, delta=delta), PAIRS, repeats=2
    )
    assert audit.findings == ()
    assert audit.loss == pytest.approx(audit.budget, rel=1e-6)
    assert audit.claimed == 0.5


def test_clone_keeps_the_release():
    copy = clone(ClusterProfile(CLUSTERS, schema=SCHEMA))
    assert copy.release == CLUSTERS
