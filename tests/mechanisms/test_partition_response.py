"""Partition response: exact probabilities, its promise, its bytes, and one record at a time."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from helpers.cases import case
from helpers.noise_distributions import FALSE_ALARM
from helpers.partition_laws import (
    WORDS,
    GivenWords,
    by_single_call,
    by_transform,
    follows_the_law,
    keeps_its_promise,
    law,
    looks_at_no_record,
    threshold,
)
from shoal._bounds import public_box
from shoal.audit import audit_mechanism, epsilon_lower_bound
from shoal.exceptions import (
    BudgetExceededError,
    DataError,
    MissingBoundsError,
    ParameterError,
)
from shoal.mechanisms import Laplace, PartitionResponse
from shoal.partitions import AxisGrids, NearestSeeds, Partitions, box_axes, space_axes
from shoal.privacy import Ledger, amplify
from shoal.schema import Category, Number, Schema

SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120, missing="refuse"),
        Category("city", ["A", "B", "C"], missing="refuse"),
    ]
)


def axes(columns):
    return box_axes(public_box((0.0, 1.0), columns))


def grids(columns, colors, n_partitions=4, **kwargs):
    return Partitions([AxisGrids(axes(columns), n_partitions, colors, cells=3, **kwargs)])


def seeds(columns, colors, n_partitions=4):
    pool = np.random.default_rng(0).uniform(size=(40, columns))
    ends = np.zeros(columns), np.ones(columns)
    return Partitions([NearestSeeds(pool, n_partitions, colors, 2 * colors, *ends)])


def responding(partitions, epsilon=1.0, **kwargs):
    return PartitionResponse(epsilon, partitions=partitions, **kwargs)


def some(columns, count=3, seed=1):
    """Records, one of them outside of the box."""
    records = np.random.default_rng(seed).uniform(0.0, 1.0, (count, columns))
    records[-1, 0] = 7.5
    return records


CASES = {
    "2 colors, 1 column": (responding(grids(1, 2), 0.5), some(1)),
    "4 colors, 2 columns": (responding(grids(2, 4)), some(2)),
    "8 colors, 3 columns": (responding(grids(3, 8), 2.0), some(3)),
    "8 colors, pairs of 3 columns": (responding(grids(3, 8, size=2), 4.0), some(3)),
    "seeds": (responding(seeds(2, 4), 1.5), some(2)),
    "a second round": (
        responding(grids(2, 4) + seeds(2, 4, 8), first_partition=4),
        some(2),
    ),
    "categories": (
        responding(Partitions([AxisGrids(space_axes(SCHEMA.space), 4, 4, cells=2)])),
        SCHEMA.encode({"age": [3.0, 90.0, 90.0], "city": ["A", "A", "C"]}),
    ),
}


@pytest.mark.parametrize("draw", [by_transform, by_single_call])
@pytest.mark.parametrize("name", CASES)
def test_every_report_has_exactly_its_probability(name, draw):
    mechanism, records = CASES[name]
    follows_the_law(clone(mechanism), records, draw)


@pytest.mark.parametrize("name", CASES)
def test_no_report_tells_more_than_epsilon(name):
    mechanism, records = CASES[name]
    keeps_its_promise(mechanism, records)
    looks_at_no_record(mechanism, records)


def test_the_promise_is_reached():
    """Records of different colors differ by 1 + g T/(2^64 - T) in some report."""
    mechanism = responding(grids(1, 4), 1.0)
    one, two = (law(mechanism, record, by_transform) for record in ([0.05], [0.9]))
    t = threshold(1.0, 4)
    assert max(one[z] / two[z] for z in one) == 1 + Fraction(4 * t, WORDS - t)


@pytest.mark.parametrize("epsilon", [2.0**-40, 1e-3, 20.0, 700.0])
def test_extreme_epsilons(epsilon):
    mechanism = responding(grids(2, 2), epsilon)
    follows_the_law(mechanism, some(2, 2))
    keeps_its_promise(mechanism, some(2, 2))
    assert mechanism.keep_probability == Fraction(threshold(epsilon, 2), WORDS)
    with pytest.raises(ParameterError, match=r"epsilon must be at least 2\^-40"):
        clone(mechanism).set_params(epsilon=2.0**-41).randomize([0.5, 0.5])


@pytest.mark.parametrize("single", [True, False])
def test_a_word_that_would_not_be_uniform_is_drawn_again(single):
    """Three partitions or colors do not divide 2^64: the last word chooses none of them."""
    last = WORDS - 1
    for colors, words, report in (
        (4, [last, last, 2, last, 3], [2.0, 3.0]),
        (3, [last, 2, last, last, last, 1], [2.0, 1.0]),
    ):
        source = GivenWords(words)
        mechanism = responding(grids(1, colors, n_partitions=3), random_state=source)
        drawn = mechanism.randomize([0.3]) if single else mechanism.transform([[0.3]])[0]
        assert drawn.tolist() == report
        assert sum(source.calls) == len(words)


@pytest.mark.parametrize("name", ["4 colors, 2 columns", "a second round"])
def test_reports_are_distributed_as_they_should(name):
    """Chi-square at fixed seeds: false alarm 1e-6 for each."""
    mechanism, records = CASES[name]
    reports = mechanism.set_params(random_state=3).transform(np.tile(records[0], (100_000, 1)))
    partitions = mechanism.partitions_
    numbers = (reports @ [partitions.n_colors, 1]).astype(int)
    first = mechanism.first_partition * partitions.n_colors
    every = np.divmod(np.arange(partitions.n_partitions * partitions.n_colors), partitions.n_colors)
    expected = np.exp(mechanism.log_density(np.column_stack(every), records[0]))[first:]
    counts = np.bincount(numbers, minlength=len(every[0]))
    assert not counts[:first].any()
    assert stats.chisquare(counts[first:], 100_000 * expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("fitted", [True, False])
def test_one_record_is_reported_as_a_table_of_one(name, fitted):
    """Bit for bit, and the stream of a seed goes on in the same way."""
    one, other = (clone(CASES[name][0]).set_params(random_state=5) for _ in range(2))
    records = CASES[name][1]
    if fitted:
        one.fit(records)
        other.fit(records)
    for record in records:
        for given in (record, list(map(float, record)), tuple(map(float, record))):
            assert (one.randomize(given) == other.transform(record[None])[0]).all()


def test_names_of_columns_and_frames_do_not_matter_to_one_record(recwarn):
    frame = pd.DataFrame(some(2), columns=["east", "north"])
    for container in ("default", "pandas"):
        mechanism = PartitionResponse(1.0, bounds=(0.0, 1.0), random_state=5).fit(frame)
        report = mechanism.set_output(transform=container).randomize([0.2, 0.3])
        one = frame[:1].assign(east=0.2, north=0.3)
        assert (report == np.asarray(mechanism.fit(frame).transform(one))[0]).all()
    assert not recwarn
    other = Laplace(1.0, bounds=(0.0, 1.0)).set_output(transform="pandas").fit([[0.2]])
    assert other.randomize([0.2]).shape == (1,)


def test_one_described_record_is_reported_as_a_table_of_one():
    one, other = (PartitionResponse(1.0, schema=SCHEMA, random_state=5) for _ in range(2))
    for record in ({"age": 4.0, "city": "B"}, {"age": 200, "city": "C"}):
        report = other.transform({name: [value] for name, value in record.items()})[0]
        assert (one.randomize(record) == report).all()
        assert (one.randomize(list(record.values())) == report).all()


@pytest.mark.parametrize(
    ("x", "kind", "text"),
    [
        ([0.1, np.nan], DataError, "X must hold finite numbers"),
        ([0.1, np.inf], DataError, "X must hold finite numbers"),
        ([0.1], DataError, "X has 1 features"),
        (["a", "b"], DataError, "X must be a table of numbers"),
        ([], DataError, "X"),
    ],
)
def test_one_bad_record_is_refused_as_a_table_is(x, kind, text):
    ledger = Ledger(epsilon=9.0)
    mechanism = PartitionResponse(1.0, bounds=(0.0, 1.0), ledger=ledger).fit(some(2))
    with pytest.raises(kind, match=text) as single:
        mechanism.randomize(x)
    with pytest.raises(kind) as table:
        mechanism.transform([x])
    assert str(single.value) == str(table.value)
    assert len(ledger) == 0


def test_one_record_is_charged_first_and_noted():
    ledger = Ledger(epsilon=2.5)
    mechanism = PartitionResponse(1.0, bounds=(0.0, 1.0), ledger=ledger)
    for _ in range(2):
        mechanism.randomize([0.1, 0.2])
    with pytest.raises(BudgetExceededError):
        mechanism.randomize([0.1, 0.2])
    assert len(ledger) == 2
    assert ledger.entries[0].notion == "local"
    assert mechanism.guarantee_.holds
    mechanism.set_params(ledger=None, random_state=0).randomize([0.1, 0.2])
    mechanism.set_params(random_state=None)
    assert not mechanism.guarantee_.holds, "a seeded report is out"
    assert not pickle.loads(pickle.dumps(mechanism)).guarantee_.holds


def test_changed_parameters_are_looked_at_again():
    bounds = (np.zeros(2), np.ones(2))
    mechanism = PartitionResponse(1.0, bounds=bounds, random_state=0)
    twin = clone(mechanism)
    mechanism.randomize([0.2, 0.2])
    for change in ({"epsilon": 3.0}, {"n_clusters": 40}, {"first_partition": 200}):
        with case(**change):
            found = mechanism.set_params(**change).randomize([0.2, 0.2])
            assert (found == twin.set_params(**change).transform([[0.2, 0.2]])[0]).all()
    assert mechanism.guarantee_.epsilon == 3.0
    bounds[1][:] = 4.0  # in place
    twin = clone(mechanism)
    assert (mechanism.randomize([0.2, 0.2]) == twin.transform([[0.2, 0.2]])[0]).all()
    for bad, kind in (
        ({"epsilon": -1.0}, ParameterError),
        ({"first_partition": 10**6}, ParameterError),
        ({"ledger": "mine"}, ParameterError),
        ({"bounds": None}, MissingBoundsError),
        ({"random_state": "seed"}, ParameterError),
    ):
        with case(**bad), pytest.raises(kind):
            clone(mechanism).set_params(**bad).randomize([0.2, 0.2])


def test_whether_a_color_was_kept_takes_no_other_steps(monkeypatch):
    """The true color is found in either case: the time that a report takes must not tell."""
    asked = []
    right = Partitions.color
    mechanism = responding(grids(1, 4), random_state=0)
    mechanism.randomize([0.5])  # checks the partitions on a public point, once
    monkeypatch.setattr(
        Partitions, "color", lambda self, x, j: asked.append(j) or right(self, x, j)
    )
    for word in (0, WORDS - 1):
        mechanism.set_params(random_state=GivenWords([0, word, 1])).randomize([0.5])
    assert asked == [0, 0]


# Audits


@pytest.mark.parametrize(
    "epsilon", [1.0, *(pytest.param(one, marks=pytest.mark.full) for one in (0.5, 2.0, 4.0))]
)
def test_an_audit_comes_near_epsilon(epsilon):
    """Bounds are wrong with probability 0.001; the seed is fixed."""
    mechanism = PartitionResponse(epsilon, bounds=([0.0, 0.0], [1.0, 1.0]), n_clusters=4)
    audit = audit_mechanism(mechanism, samples=200_000, search_samples=200, random_state=0)
    assert audit.claimed == epsilon
    assert 0.9 * epsilon <= audit.epsilon <= epsilon, str(audit)


def test_an_audit_of_a_mixed_record_comes_near_epsilon():
    mechanism = PartitionResponse(1.0, schema=SCHEMA, random_state=0).of_encoded()
    one, two = SCHEMA.encode({"age": [10.0, 80.0], "city": ["A", "C"]})
    result = epsilon_lower_bound(mechanism.fit([one]), one, two, samples=200_000)
    assert 0.9 <= result.epsilon <= 1.0, str(result)


def test_a_shuffled_batch_promises_more():
    mechanism = responding(grids(2, 64), 4.0)
    batch = mechanism.shuffled(100_000, 1e-6)
    assert batch == amplify(mechanism.guarantee_, 100_000, 1e-6, n_colors=64)
    assert (batch.notion, batch.delta) == ("shuffled", 1e-6)
    assert batch.epsilon == pytest.approx(0.079, abs=0.001)
    assert not mechanism.set_params(random_state=0).shuffled(100_000, 1e-6).holds


# Bytes


def test_bytes_are_those_of_the_page():
    """The test vector of docs/local.md."""
    mechanism = responding(grids(2, 8, n_partitions=256))
    reports = [[0, 0], [0, 7], [1, 0], [200, 5], [255, 7]]
    encoded = mechanism.encode(reports)
    assert encoded.hex(" ", 2) == "0000 0700 0800 4506 ff07"
    assert mechanism.decode(encoded).tolist() == reports
    assert mechanism.encode(np.array([200.0, 5.0])) == bytes.fromhex("4506")


@pytest.mark.parametrize(
    ("n_partitions", "colors", "width"),
    [(4, 2, 1), (32, 8, 1), (33, 8, 2), (8192, 8, 2), (8193, 8, 3)],
)
def test_reports_take_the_fewest_bytes(n_partitions, colors, width):
    mechanism = responding(grids(1, colors, n_partitions=n_partitions))
    reports = [[n_partitions - 1, colors - 1], [0, 1]]
    assert len(mechanism.encode(reports)) == 2 * width
    assert mechanism.decode(mechanism.encode(reports)).tolist() == reports
    assert mechanism.encode(np.empty((0, 2))) == b""
    assert mechanism.decode(b"").shape == (0, 2)


def test_frames_and_drawn_reports_are_encoded():
    mechanism = PartitionResponse(2.0, bounds=(0.0, 1.0), random_state=0).fit(some(3, 50))
    reports = mechanism.transform(some(3, 50))
    frame = pd.DataFrame(reports, columns=mechanism.get_feature_names_out())
    assert (mechanism.decode(mechanism.encode(frame)) == reports).all()


@pytest.mark.parametrize(
    "reports",
    [
        [[4, 0]],
        [[0, 4]],
        [[-1, 0]],
        [[0.5, 0]],
        [[np.nan, 0]],
        [[0, np.inf]],
        [[0, 0, 0]],
        [[[0, 0]]],
        7,
        [["a", "b"]],
        None,
    ],
)
def test_what_is_no_report_is_not_encoded(reports):
    with pytest.raises(ParameterError, match="reports must ") as error:
        responding(grids(1, 4)).encode(reports)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        (b"\x00", "encoded must hold 2 bytes for each report, got 1 bytes"),
        (b"\xff\xff", "got others: they are of another mechanism"),
        ("00", "encoded must be bytes, got str"),
        ([1, 2], "encoded must be bytes, got list"),
    ],
)
def test_bytes_that_are_no_reports(encoded, text):
    with pytest.raises(ParameterError, match=text) as error:
        responding(grids(1, 4, n_partitions=128)).decode(encoded)
    assert "\n" not in str(error.value)


# Parameters


def test_partitions_are_known_before_fit_where_the_columns_are():
    for mechanism in (
        PartitionResponse(bounds=([0.0, 0.0], [1.0, 1.0])),
        PartitionResponse(schema=SCHEMA),
        responding(grids(2, 4)),
    ):
        assert mechanism.partitions_ == mechanism.make_partitions()
    with pytest.raises(NotFittedError):
        PartitionResponse(bounds=(0.0, 1.0)).partitions_  # noqa: B018


def test_variance_is_that_of_an_estimated_share():
    """Of (1[s = h] - 1/g) / (p - 1/g), where the record is elsewhere and s is uniform."""
    mechanism, g = responding(grids(2, 4), 1.0), 4
    p = float(mechanism.keep_probability * (1 - Fraction(1, g)) + Fraction(1, g))
    assert mechanism.variance() == pytest.approx((1 / g) * (1 - 1 / g) / (p - 1 / g) ** 2)
    assert (mechanism.variance(some(2)) == np.full((3, 2), mechanism.variance())).all()


def test_partitions_that_cannot_be_computed_cost_nothing(monkeypatch):
    """Found out on a public point, not on the record that was paid for."""

    def fails(self):
        raise MemoryError

    monkeypatch.setattr(NearestSeeds, "_chosen", property(fails))
    device = responding(seeds(2, 4), ledger=Ledger(epsilon=9.0))
    for ask in (device.randomize, lambda x: device.transform([x, x])):
        with pytest.raises(MemoryError):
            ask([0.5, 0.5])
    assert len(device.ledger) == 0
