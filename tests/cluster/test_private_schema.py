"""What a schema lacks is learned for its price, and nothing else is."""

import datetime
import io
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import BaseEstimator

from helpers.cases import case
from shoal.audit import Neighbors, replay_estimator
from shoal.audit._recorder import Recorder
from shoal.cluster import _learned_ends, learn_schema, private_schema
from shoal.cluster._noise import PureNoise
from shoal.exceptions import BudgetExceededError, DataError, DataTypeError, ParameterError
from shoal.noise import SeededSource, observed
from shoal.privacy import (
    ApproximateEvent,
    GDPEvent,
    Ledger,
    PrivacyUnit,
    PureEvent,
    Release,
    epsilon_to_gdp,
)
from shoal.schema import Category, Date, Field, Flag, Number, Ordinal, Schema, Text

N = 4000
RNG = np.random.default_rng(3)
TABLE = {
    "age": RNG.integers(0, 96, N).tolist(),
    "born": RNG.integers(1930, 2010, N).tolist(),
    "joined": [f"{d}" for d in np.datetime64("2012-03-01") + RNG.integers(0, 4000, N)],
    "city": RNG.choice(["Oulu", "Turku", "Vaasa"], N).tolist(),
    "member": RNG.choice(["yes", "no"], N).tolist(),
    "who": [f"person {i // 2}" for i in range(N)],
    "secret": [f"secret {i}" for i in range(N)],
}
TEMPLATE = Schema(
    [
        Number("age", whole=True),
        Number("born", maximum=2026),
        Date("joined"),
        Category("city"),
        Flag("member"),
    ]
)
PRICE = {"epsilon": 4.0, "delta": 1e-6, "random_state": 0}


def counts_of(learned):
    return {
        one["field"]: dict(zip(one["categories"], one["counts"], strict=True))
        for one in learned.release_.values["category_counts"]
    }


@pytest.fixture(scope="module")
def learned():
    return learn_schema(TABLE, TEMPLATE, **PRICE)


def test_bounds_and_categories_are_found(learned):
    schema = learned.schema
    assert schema.lacking() == {}
    assert (schema["age"].minimum, schema["age"].maximum) == (0, 96)
    assert 1900 <= schema["born"].minimum <= 1930
    assert schema["born"].maximum == 2026
    assert "2010-01-01" <= schema["joined"].minimum <= "2012-03-01"
    assert "2023-02-10" <= schema["joined"].maximum <= "2025-01-01"
    assert schema["city"].categories == ("Oulu", "Turku", "Vaasa")
    assert schema["member"] == TEMPLATE["member"]
    assert learned.release_.values["schema"] == schema.to_dict()
    counts = counts_of(learned)["city"]
    assert all(abs(count - TABLE["city"].count(city)) < 200 for city, count in counts.items())


def test_the_same_from_every_table(learned, tmp_path):
    frame = pd.DataFrame(TABLE)
    frame.to_csv(tmp_path / "people.csv", index=False)
    pq.write_table(pa.table(TABLE), tmp_path / "people.parquet")
    forms = {
        "pandas": frame,
        "polars": pl.DataFrame(TABLE),
        "Arrow": pa.table(TABLE),
        "rows": [list(row) for row in zip(*(TABLE[f.name] for f in TEMPLATE), strict=True)],
        "CSV": tmp_path / "people.csv",
        "Parquet": str(tmp_path / "people.parquet"),
    }
    for name, form in forms.items():
        with case(form=name):
            assert learn_schema(form, TEMPLATE, **PRICE).release_ == learned.release_


def test_what_is_declared_costs_nothing():
    ledger = Ledger(epsilon=1.0)
    complete = Schema([Number("age", minimum=0, maximum=120), Flag("member"), Text("secret")])
    free = learn_schema(TABLE, complete, epsilon=1.0, ledger=ledger)
    assert free.schema == complete
    assert free.guarantee_.epsilon == free.guarantee_.delta == 0.0
    assert len(ledger) == 0


def test_one_entry_for_all_fields():
    ledger = Ledger(epsilon=5.0, delta=1e-5)
    learned = learn_schema(TABLE, TEMPLATE, ledger=ledger, **PRICE)
    (entry,) = ledger.entries
    assert isinstance(entry.event, ApproximateEvent)
    assert (entry.event.epsilon, entry.event.delta) == (4.0, 1e-6)
    assert entry.columns == ("age", "born", "joined", "city")
    assert entry.purpose == (
        "learn_schema: a minimum and a maximum of age, a minimum of born, a minimum and a maximum "
        "of joined, categories of city"
    )
    assert learned.release_.ledger == entry.receipt
    assert (learned.guarantee_.epsilon, learned.guarantee_.delta) == (4.0, 1e-6)


def test_noise_by_what_it_costs():
    """Laplace for one field, normal for many; a pure promise stays pure."""
    numbers = [Number(name) for name in ("age", "born")]
    ages = Schema([Number("age")])
    for template, delta, kind in [
        (ages, 0.0, PureEvent),
        (ages, 1e-6, PureEvent),
        (Schema([*numbers, *[Number(f"age {i}") for i in range(8)]]), 1e-6, GDPEvent),
    ]:
        with case(fields=len(template.fields), delta=delta):
            ledger = Ledger(epsilon=2.0, delta=1e-5)
            table = {field.name: TABLE["age"] for field in template}
            learned = learn_schema(table, template, epsilon=1.0, delta=delta, ledger=ledger)
            assert type(ledger.entries[0].event) is kind
            assert learned.guarantee_.delta == (1e-6 if kind is GDPEvent else 0.0)


def test_rare_values_leave_no_trace(learned):
    template = Schema([Category("secret"), Category("city")])
    learned = learn_schema(TABLE, template, **PRICE)
    assert learned.schema.lacking() == {"secret": "categories"}
    assert "secret " not in learned.release_.to_json().replace('"secret"', "")


def test_columns_without_values_still_lack_theirs():
    nothing = {"x": [None] * 500, "d": [""] * 500, "c": [None] * 500, "w": [float("nan")] * 500}
    template = Schema([Number("x"), Date("d"), Category("c"), Number("w", role="sample_weight")])
    learned = learn_schema(nothing, template, **PRICE)
    assert learned.schema.fields == template.fields


def test_ends_that_contradict_what_is_declared_are_left_out():
    learned = learn_schema(TABLE, Schema([Number("born", maximum=5)]), epsilon=4.0, random_state=0)
    assert learned.schema.lacking() == {"born": "a minimum"}


def test_weights_and_gaps():
    values = [math.nan, "", 3.0, 3.5] * 500
    template = Schema([Number("x", role="sample_weight"), Number("y", missing="fill", fill=-900)])
    learned = learn_schema({"x": values, "y": values}, template, epsilon=4.0, random_state=0)
    x, y = learned.schema
    assert isinstance(x, Number)
    assert isinstance(y, Number)
    assert x.minimum is None
    assert 3.5 <= (x.maximum or 0.0) <= 4.0
    assert (y.minimum or 0.0) >= 0.0  # the fill is no value


def test_users_add_their_first_rows():
    template = Schema([*TEMPLATE.fields, Field("who", role="user")])
    ledger = Ledger(epsilon=9.0, delta=1e-5, privacy_unit=PrivacyUnit.user("who"))
    by_field = learn_schema(TABLE, template, ledger=ledger, records_per_user=2, **PRICE)
    unit = PrivacyUnit.user("who", max_rows=2)
    assert by_field.guarantee_.privacy_unit == ledger.entries[0].privacy_unit == unit
    frame = pd.DataFrame(TABLE)
    given = learn_schema(frame, TEMPLATE, user_ids=frame["who"], records_per_user=2, **PRICE)
    assert given.schema.fields == by_field.schema.fields[:-1]
    assert given.guarantee_ == by_field.guarantee_
    # One person in thousands of rows is one person.
    crowd = {"city": ["Oulu"] * N, "who": ["me"] * N}
    alone = Schema([Category("city"), Field("who", role="user")])
    assert learn_schema(crowd, alone, **PRICE).schema.lacking() == {"city": "categories"}


@pytest.mark.parametrize(
    ("table", "fields", "error", "words"),
    [
        ({}, [Field("age")], ParameterError, "field 'age' of the template must have a type"),
        ({}, [Ordinal("city")], ParameterError, "two or more categories, which is not learned"),
        ({"epsilon": 0.0}, [Number("age")], ParameterError, "epsilon must be"),
        ({"delta": 0.0}, [Category("city")], ParameterError, "delta must be above 0"),
        ({"delta": 1.0}, [Category("city")], ParameterError, r"delta must be a number in \[0, 1\)"),
        ({"records_per_user": 0}, [Number("age")], ParameterError, "records_per_user"),
        ({}, [Number("absent")], DataError, "none named 'absent'"),
        ({}, [Number("city")], DataError, "column 'city' must hold numbers"),
        ({}, [Date("city")], DataError, "column 'city' must hold dates"),
        ({"X": {"age": []}}, [Number("age")], DataError, "at least one record"),
        ({"user_ids": [1.5] * N}, [Number("age")], DataError, "user_ids must be"),
    ],
)
def test_refusals_spend_nothing(table, fields, error, words):
    ledger = Ledger(epsilon=9.0, delta=1e-5)
    kwargs = {"X": TABLE, **PRICE, **table}
    with pytest.raises(error, match=words) as refused:
        learn_schema(kwargs.pop("X"), Schema(fields), ledger=ledger, **kwargs)
    assert len(ledger) == 0
    assert "\n" not in str(refused.value)
    assert "Oulu" not in str(refused.value)


def test_a_ledger_that_cannot_pay_refuses():
    with pytest.raises(BudgetExceededError):
        learn_schema(TABLE, TEMPLATE, ledger=Ledger(epsilon=1.0, delta=1e-5), **PRICE)
    with pytest.raises(ParameterError, match="template must be a Schema"):
        learn_schema(TABLE, {"fields": []}, **PRICE)


class Learner(BaseEstimator):
    """Numbers and a category of one digit, as an estimator that a replay can fit."""

    def __init__(self, *, delta=1e-6, ledger=None, random_state=None):
        self.delta = delta
        self.ledger = ledger
        self.random_state = random_state

    template = Schema([Number("x"), Category("y"), Number("z", minimum=0)])

    def fit(self, X):
        columns = {name: X[:, i] for i, name in enumerate("xyz")}
        for field in self.template:
            if isinstance(field, Category):  # which floats are not
                columns[field.name] = list(map(int, columns[field.name]))
        learned = learn_schema(
            columns,
            self.template,
            epsilon=1.0,
            delta=self.delta,
            ledger=self.ledger,
            random_state=self.random_state,
        )
        self.guarantee_, self.release_ = learned.guarantee_, learned.release_
        return self


CROWD = np.column_stack([np.arange(300) % 90, np.arange(300) % 2, np.full(300, 5.0)])
PAIRS = [
    Neighbors("like the others", CROWD, [7.0, 1.0, 5.0]),
    Neighbors("a new category, far away", CROWD, [-1e30, 9.0, 1e12]),
    Neighbors("beside one other", CROWD[:1], [1e-9, 3.0, 0.0]),
]


def findings():
    return "\n".join(replay_estimator(Learner(), PAIRS, repeats=2).findings)


def test_replay_costs_what_is_claimed():
    audit = replay_estimator(Learner(), PAIRS, repeats=2)
    assert audit.findings == ()
    assert audit.loss == pytest.approx(audit.budget)


def test_several_selections_share_delta():
    class TwoLists(Learner):
        template = Schema([Category("x"), Category("y"), Category("z")])

    audit = replay_estimator(TwoLists(), PAIRS, repeats=1)
    assert audit.findings == ()


@pytest.mark.parametrize(
    ("field", "values"),
    [
        (Number("x"), [1.0, 40.0, 1e9]),
        (Date("x"), ["2010-01-01", "2020-05-05", "1950-01-01"]),
        (Category("x"), ["a", "b", "c"]),
    ],
)
def test_a_person_with_several_rows_costs_what_is_claimed(field, values):
    """All that somebody adds with three rows costs the whole budget."""
    others = values * 60
    people = [i // 3 for i in range(len(others))]
    steps = []
    for table, users in [(others, people), (others + values, [*people, 1000])]:
        recorder = Recorder(steps[0].steps if steps else ())
        with observed(recorder):
            learn_schema(
                {"x": table},
                Schema([field]),
                epsilon=1.5,
                delta=1e-6 if isinstance(field, Category) else 0.0,
                user_ids=users[: len(others)] + users[len(others) :] * 3,
                records_per_user=3,
                random_state=0,
            )
        steps.append(recorder)
    losses = [
        a.noise.privacy_loss(a.exact, b.exact)
        for a, b in zip(steps[0].steps, steps[1].steps, strict=True)
    ]
    normal = epsilon_to_gdp(1.5, 5e-7) ** 2  # of three keys, normal noise shows rarer ones
    budget = normal if isinstance(field, Category) else 1.5
    assert sum(losses) == pytest.approx(budget, rel=1e-9)


def test_planted_budget_that_is_not_divided(monkeypatch):
    right = private_schema._priced

    def whole(noise, *rest):
        return right(noise, *rest)._replace(budget=noise.total_budget)

    monkeypatch.setattr(private_schema, "_priced", whole)
    assert "all releases cost mu^2 0.1574, claimed 0.05248" in findings()


def test_planted_bounds_of_the_records(monkeypatch):
    plain = private_schema._bounds

    def leaky(field, table, plan, source):
        found: Any = plain(field, table, plan, source)
        return replace(found, maximum=float(np.nanmax(table.values[field.name])))

    monkeypatch.setattr(private_schema, "_bounds", leaky)
    assert "differs although all noisy values are the same" in findings()


def test_planted_bins_between_the_ends_of_the_records(monkeypatch):
    plain = _learned_ends._histogram

    def peeking(values, low, high):
        return plain(values, float(values.min()), float(values.max()) + 1.0)

    monkeypatch.setattr(_learned_ends, "_histogram", peeking)
    assert "costs" in findings()


def test_ends_of_values_with_much_budget():
    """With hardly any noise: within a bin of the outermost values, and zero where it is near."""
    noise = PureNoise(1e4)
    for values, ends in [
        (np.linspace(1950, 2020, 999), (1920, 2048)),
        (np.linspace(18, 90, 999), (16, 92)),
        (-np.linspace(18, 90, 999), (-92, -16)),
        (np.linspace(-30, 7, 999), (-31, 8)),
        (np.zeros(99), (0, 1 / 32)),
        (np.full(99, 5.0), (5, 5.125)),
    ]:
        with case(ends=ends):
            found = _learned_ends.release_ends(
                values, noise, 1e4, contribution=1, source=SeededSource(0)
            )
            assert found is not None
            low, high = found
            assert low <= values.min() <= values.max() <= high
            assert low >= ends[0]
            assert high <= ends[1]
    assert _learned_ends.up_to_zero(1.0, 100.0) == (0.0, 100.0)
    assert _learned_ends.up_to_zero(-100.0, -1.0) == (-100.0, 0.0)
    assert _learned_ends.up_to_zero(-3.0, 100.0) == (-3.0, 100.0)


def test_categories_that_no_page_can_show_are_left_out():
    table = {"city": ["A"] * 300 + ["B\x1b[2J"] * 300}
    learned = learn_schema(
        table, Schema([Category("city")]), epsilon=5.0, delta=1e-6, random_state=0
    )
    assert learned.schema.to_dict()["fields"][0]["constraints"]["enum"] == ["A"]
    assert counts_of(learned)["city"].keys() == {"A"}


STORES = [1_700_000_000_000_000_000 + i // 50 for i in range(2000)]
ZIPS = [f"{1001 + i // 50:05}" for i in range(2000)]
FLAGS = ["True"] * 1000 + ["FALSE"] * 1000


def exact_counts(table):
    """Return the exact counts of keys that a selection adds noise to."""
    recorder = Recorder(())
    with observed(recorder):
        learn_schema(table, Schema([Category("c")]), epsilon=1.0, delta=1e-6, random_state=0)
    (step,) = recorder.steps
    return dict(zip(step.exact.keys, step.exact.counts.tolist(), strict=True))


def by_pandas(values, **kwargs):
    lines = "".join(f"{value},x\n" for value in values)
    return pd.read_csv(io.StringIO("c,other\n" + lines), **kwargs)


@pytest.mark.parametrize("kwargs", [{}, {"dtype_backend": "pyarrow"}, {"dtype": "category"}])
@pytest.mark.parametrize(
    ("values", "more"),
    [
        (STORES, ""),
        (STORES, "K1A"),
        (STORES, str(2**64 - 1)),
        (STORES, "1.5"),
        (ZIPS, "K1A"),
        (ZIPS, "+7"),
        (FLAGS, "maybe"),
        (FLAGS, ""),
    ],
)
def test_one_record_renames_nobody(values, more, kwargs):
    """However pandas types the column, counts move by 1, or the table is refused."""
    counts = exact_counts(by_pandas(values, **kwargs))
    assert len(counts) == len({value.lower() if value in FLAGS else value for value in values})
    try:
        others = exact_counts(by_pandas([*values, more], **kwargs))
    except DataTypeError:
        return
    moved = {key: abs(counts.get(key, 0) - others.get(key, 0)) for key in counts | others}
    assert sum(moved.values()) <= 1


def test_whole_numbers_have_one_text_in_every_table(tmp_path):
    gaps = [*STORES, None]
    frame = pd.DataFrame({"c": pd.array(gaps, dtype="Int64")})
    pq.write_table(pa.table({"c": gaps}), tmp_path / "stores.parquet")
    (tmp_path / "stores.csv").write_text("c,x\n" + "".join(f"{one or ''},\n" for one in gaps))
    forms = {
        "list": {"c": gaps},
        "array": {"c": np.array(STORES)},
        "texts": {"c": np.array([*map(str, STORES)])},
        "nullable": frame,
        "Arrow in pandas": frame.astype({"c": "int64[pyarrow]"}),
        "categorical": pd.DataFrame(
            {
                "c": pd.Categorical.from_codes(
                    [*(i // 50 for i in range(2000)), -1], sorted(set(STORES))
                )
            }
        ),
        "objects": pd.DataFrame({"c": pd.Series(gaps, dtype=object)}),
        "polars": pl.DataFrame({"c": gaps}),
        "Arrow": pa.table({"c": gaps}),
        "dictionary": pa.table({"c": pa.array(gaps).dictionary_encode()}),
        "Parquet": tmp_path / "stores.parquet",
        "CSV": tmp_path / "stores.csv",
    }
    for name, form in forms.items():
        with case(form=name):
            assert exact_counts(form) == {str(one): 50 for one in set(STORES)}


@pytest.mark.parametrize(
    "column",
    [
        np.array([1.0, 2.0]),
        np.array([1.0, 2.0], dtype=np.longdouble),
        np.array([1.0, 2.0], dtype=np.complex128),
        [1, 2.0, "A"],
        [1, np.float32(2.0)],
        pd.Series([1.0, None]),
        pd.Series([1.0, None], dtype="Float64"),
        pd.Series([1.0, None], dtype="category"),
        pd.Series([1, 2.5, "A"], dtype=object),
        pl.Series([1.0, None]),
        pa.array([1.0, None]),
        pa.array([1.0, None]).dictionary_encode(),
        pd.Series(pd.interval_range(0, 3)),
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])),
        pd.Series(pd.to_timedelta([1, 2], unit="s")),
        np.array([1, b"B"]),
        pa.array(["A", b"B"]),
        [np.timedelta64(1, "s")],
    ],
)
def test_floats_and_what_else_other_records_make_are_no_categories(column):
    ledger = Ledger(epsilon=9.0, delta=1e-5)
    with pytest.raises(DataError) as refused:
        learn_schema({"c": column}, Schema([Category("c")]), ledger=ledger, **PRICE)
    assert refused.value.code == "type"
    assert len(ledger) == 0


@pytest.mark.parametrize("backend", [{}, {"dtype_backend": "pyarrow"}])
def test_days_that_one_record_leaves_as_text_are_no_categories(backend):
    """Parsed days were 2020-02-01, and 01.02.2020 beside one that is no day."""
    days = ["01.02.2020"] * 50 + ["03.04.2021"] * 50
    parsed = {"parse_dates": ["c"], "date_format": "%d.%m.%Y", **backend}
    for frame in (by_pandas(days, **parsed), by_pandas(days, **parsed).astype(object)):
        with pytest.raises(DataTypeError) as refused:
            exact_counts(frame)
        assert refused.value.code == "type"
    beside = exact_counts(by_pandas([*days, "unknown"], **parsed))
    as_text = exact_counts(by_pandas(days))
    assert as_text == {key: beside[key] for key in as_text} == dict.fromkeys(set(days), 50)
    assert exact_counts({"c": [datetime.date(2020, 2, 1)] * 50}) == {"2020-02-01": 50}


@pytest.mark.parametrize("same", [("007", "7"), ("True", "true"), ("1", "true"), ("2", "2.0")])
def test_two_spellings_of_a_category_that_are_learned_are_one(same):
    """A schema refuses both: what was paid for was lost."""
    rare, common = same
    learned = learn_schema(
        {"c": [rare] * 300 + [common] * 500 + ["A"] * 300}, Schema([Category("c")]), **PRICE
    )
    assert sorted(learned.schema["c"].categories) == sorted(["A", common])
    (counted,) = learned.release_.values["category_counts"]
    assert counted["categories"] == list(learned.schema["c"].categories)


def test_a_column_without_a_value_is_no_column_of_floats():
    assert exact_counts({"c": np.array([np.nan, np.nan])}) == {}


def test_lists_and_files_keep_their_spelling(tmp_path):
    (tmp_path / "zips.csv").write_text("c,x\n" + "".join(f"{one},\n" for one in ZIPS))
    for form in ({"c": ZIPS}, tmp_path / "zips.csv"):
        assert exact_counts(form) == dict.fromkeys(ZIPS, 50)
    template = Schema([Category("c")], missing_values=["0999"])
    form = {"c": np.array(["999", "0999", "0998"] * 200)}
    learned = learn_schema(form, template, **PRICE)
    assert counts_of(learned)["c"].keys() == {"998"}


@pytest.mark.parametrize("name", ["__c", "__array__", "__float__", "c"])
def test_names_are_no_keys_of_the_encoding(name):
    ledger = Ledger(epsilon=9.0, delta=1e-5)
    table = {name: ["__none__"] * 200 + ["__array__"] * 200}
    learned = learn_schema(table, Schema([Category(name)]), ledger=ledger, **PRICE)
    assert counts_of(learned).keys() == {name}
    assert learned.schema[name].categories == ("__array__", "__none__")
    assert Release.from_json(learned.release_.to_json()) == learned.release_
    assert len(ledger) == 1


class Name(str):
    """As pandas and enumerations make them."""


@pytest.mark.parametrize(
    "field",
    [
        Date("d", maximum="20230601"),
        Date("d", minimum="20250101"),
        Date("d", maximum="2024-W01-1"),
        Number("z", maximum=5e-324),
        Number("n", minimum=-1.7e308),
        Number("n", role="sample_weight"),
        Number("n", whole=True, weight=Fraction(1, 3)),
        Number("n", whole=True, weight=np.float32(0.5), unit=Name("km")),
        Category(Name("c"), other=Name("other"), missing_values=[Name("-")]),
    ],
)
def test_what_is_paid_for_is_released(field):
    """What fits no declared end is not learned, and what a release could not hold is converted."""
    ledger = Ledger(epsilon=9.0, delta=1e-5)
    table = {"d": ["2024-06-01"] * 400, "n": [-3.0] * 400, "z": [0.0] * 400, "c": ["A"] * 400}
    learned = learn_schema(table, Schema([field]), ledger=ledger, **PRICE)
    assert len(ledger) == 1
    assert Release.from_json(learned.release_.to_json()) == learned.release_
    assert Schema.from_dict(learned.release_.values["schema"]) == learned.schema


@pytest.mark.parametrize(
    ("wanted", "other"),
    [
        (Category("c"), Number("c=A", minimum=0, maximum=1)),
        (Category("c=A"), Category("c", ["A=1"])),
    ],
)
def test_categories_that_would_name_another_column_are_refused_before_the_spend(wanted, other):
    ledger = Ledger(epsilon=9.0, delta=1e-5)
    table = {wanted.name: ["1"] * 400, other.name: [1.0] * 400}
    with pytest.raises(ParameterError) as refused:
        learn_schema(table, Schema([wanted, other]), ledger=ledger, **PRICE)
    assert (refused.value.parameter, refused.value.code) == ("template", "duplicate")
    assert len(ledger) == 0
