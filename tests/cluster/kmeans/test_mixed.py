"""Tables of numbers and categories: centers in the body, their price, their quality."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from helpers.noise_recorder import recording
from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import DPKMeans
from shoal.cluster._noise import Body
from shoal.cluster.kmeans import _mixed
from shoal.engines import NearestStatistics, nearest_statistics
from shoal.exceptions import ParameterError
from shoal.privacy import Ledger, PrivacyUnit, Release
from shoal.schema import Category, Field, Flag, Number, Schema

CITIES = ["A", "B", "C", "D"]
SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=100),
        Category("city", CITIES),
        Number("income", minimum=0, maximum=1000, weight=2.0, missing="fill", fill=0.0),
        Flag("member", missing="refuse"),
    ]
)


def customers(n=3000, seed=0):
    """Three groups that differ in all columns, with gaps."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    age = np.array([20.0, 50.0, 80.0])[group] + rng.normal(0, 6, n)
    age[rng.random(n) < 0.05] = np.nan
    city = np.where(rng.random(n) < 0.8, np.array(CITIES)[group], rng.choice(CITIES, n))
    city = np.where(rng.random(n) < 0.02, None, city)
    income = np.array([200.0, 800.0, 500.0])[group] + rng.normal(0, 60, n)
    return pd.DataFrame(
        {
            "age": age.clip(0, 100),
            "city": pd.Series(city, dtype=object),
            "income": income.clip(0, 1000),
            "member": rng.random(n) < np.array([0.9, 0.2, 0.5])[group],
        }
    )


TABLE = customers()
WAYS = [{}, {"delta": 1e-6}, {"n_clusters": "private", "max_clusters": 6}]


def model(**kwargs):
    settings = {"n_clusters": 3, "epsilon": 1.0, "schema": SCHEMA, "random_state": 0, **kwargs}
    return DPKMeans(**settings)


@pytest.mark.parametrize("kwargs", WAYS, ids=["pure", "delta", "private"])
def test_centers_are_points_of_the_body(kwargs):
    fitted = model(**kwargs).fit(TABLE)
    assert fitted.method_ == "mixed"
    assert "the shape of 2 categories and 3 columns of numbers" in fitted.reason_
    centers, space = fitted.cluster_centers_, SCHEMA.space
    for part in space.parts:
        block = centers[:, part.start : part.stop]
        assert (block >= -1e-6).all()
        assert (block <= part.width + 1e-6).all()
        if part.kind == "simplex":
            assert block.sum(axis=1) == pytest.approx(part.width, abs=1e-4)
    assert (fitted.labels_ == fitted.predict(TABLE)).all()
    assert fitted.cluster_sizes_.sum() == pytest.approx(len(TABLE), rel=0.1)
    assert fitted.certain_.all()
    assert fitted.advice_ == ""


def test_a_release_says_all_that_labels_need():
    fitted = model().fit(TABLE)
    values = Release.from_json(fitted.release_.to_json()).values
    assert values["metric"] == "schema"
    assert Schema.from_dict(values["schema"]) == SCHEMA
    assert values["columns"] == list(SCHEMA.space.names)
    assert np.array_equal(values["high"], SCHEMA.space.widths)
    assert not np.any(values["low"])
    assert len(values["half"]) == SCHEMA.space.columns


def test_score_and_radius_are_in_the_distance_of_the_schema():
    fitted = model(n_clusters=1, epsilon=50.0).fit(TABLE)
    encoded = SCHEMA.encode(TABLE)
    gaps = encoded - fitted.cluster_centers_[0]
    assert -fitted.score(TABLE) == pytest.approx((gaps**2).sum(), rel=1e-9)
    assert np.linalg.norm(gaps.mean(axis=0)) <= fitted.center_radius_[0] < 0.01


@pytest.mark.parametrize("kwargs", [{}, {"delta": 1e-6}], ids=["pure", "delta"])
def test_radius_covers_the_exact_mean(kwargs, monkeypatch):
    """At 95%: of 30 centers 25 or more, which fails by chance in less than 1 of 200 runs."""
    covered = []
    for seed in range(10):
        passes: list[NearestStatistics] = []

        def kept(engine, centers, passes=passes):
            passes.append(nearest_statistics(engine, centers))
            return passes[-1]

        monkeypatch.setattr(_mixed, "nearest_statistics", kept)
        fitted = model(random_state=seed, epsilon=0.5, **kwargs).fit(TABLE)
        exact, reaches = passes[-1], np.array(fitted.release_.values["half"])
        means = (exact.sums / np.maximum(exact.counts, 1)[:, None] / reaches + 1) / 2
        gaps = means * SCHEMA.space.widths - fitted.cluster_centers_
        covered += (np.linalg.norm(gaps, axis=1) <= fitted.center_radius_).tolist()
    assert sum(covered) >= 25


class Coded(DPKMeans):
    """The estimator on a table of numbers: audits make up no text."""

    def fit(self, X, y=None, *, sample_weight=None, user_ids=None):
        ids = X[:, 4].astype(int).tolist() if self.user_column else user_ids
        return super().fit(coded(X), y, sample_weight=sample_weight, user_ids=ids)


def coded(X):
    """Write numbers as values of the schema: a negative age is missing, a large city another."""
    city = np.array([*CITIES, "Z", None], dtype=object)[X[:, 1].astype(int)]
    age = np.where(X[:, 0] < 0, np.nan, X[:, 0])
    return {"age": age, "city": city, "income": X[:, 2], "member": X[:, 3].astype(bool)}


ROWS = np.column_stack(
    [
        np.linspace(0, 100, 24),
        np.arange(24) % 6,
        np.linspace(1000, 0, 24),
        np.arange(24) % 2,
        np.arange(24),
    ]
)
PAIRS = [
    Neighbors("corner", ROWS, [100.0, 3.0, 1000.0, 1.0, 99.0]),
    Neighbors("gaps", ROWS, [-1.0, 5.0, 0.0, 0.0, 99.0]),
    Neighbors("unknown city", ROWS[:1], [50.0, 4.0, 500.0, 1.0, 99.0]),
]


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("clusters", [3, "private"])
def test_one_record_costs_what_is_claimed(delta, clusters):
    audited = Coded(
        clusters, schema=SCHEMA, epsilon=1.0, delta=delta, n_public=5000, max_clusters=4
    )
    audit = replay_estimator(audited, PAIRS, repeats=2)
    assert not audit.broken, str(audit)
    assert audit.loss >= 0.999 * audit.budget  # at a corner all of it


def test_noise_for_half_a_level_is_noticed(monkeypatch):
    """Planted: a level that a record moves by 1 gets noise for half of that."""
    right = Body.table

    def planted(self, exact):
        table = right(self, exact)
        return table._replace(levels=[2 * levels for levels in table.levels])

    monkeypatch.setattr(Body, "table", planted)
    audited = Coded(3, schema=SCHEMA, epsilon=1.0, n_public=5000)
    assert replay_estimator(audited, PAIRS[:1], repeats=1).broken


def test_utility_beside_no_privacy_and_beside_the_box():
    """Fixed seeds; without privacy the cost is 1."""
    table = customers(5000, seed=1)
    encoded = SCHEMA.encode(table)
    best = KMeans(3, n_init=5, random_state=0).fit(encoded).inertia_
    ratios = {
        (method, epsilon): np.mean(
            [
                -model(method=method, epsilon=epsilon, random_state=seed).fit(table).score(table)
                for seed in range(4)
            ]
        )
        / best
        for method in ("mixed", "lloyd", "ball")
        for epsilon in (0.1, 1.0)
    }
    assert ratios["mixed", 1.0] < 1.02
    assert ratios["mixed", 0.1] < 1.2
    for epsilon in (0.1, 1.0):
        others = ratios["lloyd", epsilon], ratios["ball", epsilon]
        assert ratios["mixed", epsilon] <= min(others) + 0.005


def test_roles_of_the_schema_say_whose_a_row_is_and_how_much_it_counts():
    roles = Schema(
        [
            *SCHEMA.fields,
            Field("who", role="user"),
            Number("times", minimum=0, maximum=4, role="sample_weight"),
        ]
    )
    table = TABLE.assign(who=np.arange(len(TABLE)) // 2, times=np.arange(len(TABLE)) % 5)
    by_role = model(schema=roles, records_per_user=2).fit(table)
    by_hand = model(records_per_user=2, weight_limit=4.0).fit(
        TABLE, user_ids=table["who"], sample_weight=table["times"]
    )
    assert np.array_equal(by_role.cluster_centers_, by_hand.cluster_centers_)
    assert by_role.guarantee_ == by_hand.guarantee_
    assert by_role.guarantee_.privacy_unit == PrivacyUnit.user("who", max_rows=2)
    given = model(schema=roles).fit(table, user_ids=list(range(len(table))))
    assert given.guarantee_.privacy_unit == PrivacyUnit.user("", max_rows=1)


def test_noise_is_drawn_for_every_level_whoever_has_it():
    with recording() as tape:
        model(epsilon=2.0).fit(TABLE.iloc[:1])
    drawn = {
        draw.shape[1]
        for draw in tape.draws
        if draw.sampler == "discrete_laplace" and len(draw.shape) == 2
    }
    assert drawn == {6, 2}  # four cities, other and missing; a member or not


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e6])
def test_few_records_and_any_epsilon(n, epsilon):
    fitted = model(epsilon=epsilon).fit(TABLE.iloc[:n])
    assert np.isfinite(fitted.cluster_centers_).all()
    assert fitted.cluster_centers_.shape == (3, SCHEMA.space.columns)


def test_all_values_missing():
    gone = [None] * 50
    table = pd.DataFrame({"age": gone, "city": gone, "income": gone, "member": [True] * 50})
    fitted = model(epsilon=100.0, n_clusters=1).fit(table)
    names = SCHEMA.space.names
    center = fitted.cluster_centers_[0] / SCHEMA.space.widths
    assert center[names.index("city=missing")] == pytest.approx(1.0, abs=0.01)
    assert center[names.index("age missing")] == pytest.approx(1.0, abs=0.01)


def test_an_epsilon_that_no_lattice_holds_is_refused_before_it_is_spent():
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(ParameterError, match="epsilon must be larger"):
        model(epsilon=1e-15, ledger=ledger).fit(TABLE)
    assert not ledger.entries


@pytest.mark.parametrize("method", ["auto", "grid", "tree", "centered", "ball", "lloyd", "kccm"])
def test_every_method_takes_a_schema(method):
    numbers = Schema([field for field in SCHEMA.fields if isinstance(field, Number)])
    for schema in (numbers, SCHEMA):
        if method == "tree" and schema is SCHEMA:
            continue  # more columns than it takes
        fitted = model(schema=schema, method=method, epsilon=5.0).fit(TABLE)
        assert fitted.release_.values["metric"] == "schema"
        assert (fitted.labels_ == fitted.predict(TABLE)).all()
    if method == "auto":
        assert model(schema=numbers).fit(TABLE).method_ == "grid"


def test_one_category_gives_no_warnings():
    """Its points are the same many times over; warnings are errors here."""
    schema = Schema([Category("city", ["A"])])
    model = DPKMeans(2, epsilon=1.0, schema=schema, random_state=1).fit({"city": ["A"] * 300})
    assert schema.decode(model.release_.values["centers"])["city"][0]["A"] > 0.9
