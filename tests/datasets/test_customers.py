"""Generated customers: seeds repeat, segments overlap, gaps and rows a person are as described."""

import csv
import datetime

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from shoal.datasets import make_customers
from shoal.datasets.customers import CITIES, MAX_ROWS, SEGMENTS
from shoal.exceptions import ParameterError

ROWS = 5000


@pytest.fixture(scope="module")
def customers():
    return make_customers(ROWS, random_state=0)


def text(values):
    return [str(value) for value in values]


def test_seeds_repeat_and_none_does_not(customers):
    again = make_customers(ROWS, random_state=np.random.default_rng(0))
    for name, values in customers.table.items():
        assert text(values) == text(again.table[name])
    np.testing.assert_array_equal(customers.y, again.y)
    other, fresh = make_customers(ROWS, random_state=1), make_customers(ROWS)
    assert text(other.table["income"]) != text(customers.table["income"])
    assert text(fresh.table["income"]) != text(customers.table["income"])


@pytest.mark.parametrize("rows", [1, 7])
def test_few_rows(rows):
    few = make_customers(rows, random_state=0)
    assert {len(values) for values in few.table.values()} == {rows}
    assert few.X.shape == (rows, 3)


def test_numbers_lie_inside_the_bounds(customers):
    low, high = customers.bounds
    seen = ~np.isnan(customers.X)
    assert ((low <= customers.X) & (high >= customers.X))[seen].all()
    assert customers.columns == ("age", "income", "visits")
    np.testing.assert_array_equal(make_customers(10).bounds, customers.bounds)


def test_rows_of_a_person_differ_in_visits_and_comment_only(customers):
    _, person, rows = np.unique(
        customers.table["customer"], return_inverse=True, return_counts=True
    )
    assert rows.max() <= MAX_ROWS
    assert 0.3 < np.mean(rows > 1) < 0.9
    for name, values in customers.table.items():
        if name not in ("customer", "visits", "comment"):
            pairs = set(zip(person.tolist(), text(values), strict=True))
            assert len(pairs) == len(rows), name


def test_gaps(customers):
    missing = {
        name: np.mean([value is None or value != value for value in values])  # noqa: PLR0124
        for name, values in customers.table.items()
    }
    assert missing["customer"] == missing["visits"] == 0
    assert 0.1 < missing["income"] < 0.25
    assert 0.5 < missing["comment"] < 0.7
    assert all(0.005 < missing[name] < 0.12 for name in ("age", "sex", "city", "joined", "member"))


def test_incomes_have_a_heavy_tail(customers):
    income = customers.table["income"]
    assert np.nanmax(income) > 8 * np.nanmedian(income)


def test_some_cities_are_not_in_the_list(customers):
    cities = [city for city in customers.table["city"] if city is not None]
    assert set(CITIES) < set(cities)
    assert 0.02 < np.mean([city not in CITIES for city in cities]) < 0.2


def test_no_column_tells_the_segments_apart(customers):
    """All columns together do so much better than any one, and the two-valued ones hardly."""
    filled = np.where(np.isnan(customers.X), np.nanmean(customers.X, axis=0), customers.X)
    filled[:, 1:] = np.log1p(filled[:, 1:])
    coded = [
        [float(value == wanted) for value in customers.table[name]]
        for name, wanted in [("sex", "male"), ("member", "yes")]
    ]
    X = StandardScaler().fit_transform(np.column_stack([filled, *coded]))
    alone = [score(X[:, [column]], customers.y) for column in range(X.shape[1])]
    largest = max(segment.share for segment in SEGMENTS)
    assert max(alone) < score(X, customers.y) - 0.15
    assert max(alone[3:]) < largest + 0.1


def score(X, y):
    """Return the share of records whose segment a linear model of these columns finds."""
    return LogisticRegression().fit(X[::2], y[::2]).score(X[1::2], y[1::2])


def test_csv(customers, tmp_path):
    path = customers.to_csv(tmp_path / "customers.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(customers.table)
    ages = [float(row["age"]) if row["age"] else np.nan for row in rows]
    np.testing.assert_array_equal(ages, customers.table["age"])
    assert all("." not in row["age"] for row in rows)
    assert [row["comment"] or None for row in rows] == customers.table["comment"].tolist()
    days = [datetime.date.fromisoformat(row["joined"]) if row["joined"] else None for row in rows]
    assert days == customers.table["joined"].tolist()


@pytest.mark.parametrize("parameter", [{"n_samples": 0}, {"random_state": -1}])
def test_bad_parameters(parameter):
    with pytest.raises(ParameterError, match=next(iter(parameter))):
        make_customers(**parameter)
