"""Whom a promise protects: what converts by which factor, what is refused, and what is said."""

import itertools
import math

import numpy as np
import pytest

from helpers.cases import case
from shoal.exceptions import BudgetExceededError, GuaranteeError, ParameterError
from shoal.privacy import (
    Adjacency,
    ApproximateEvent,
    GDPEvent,
    Guarantee,
    Ledger,
    MetricEvent,
    PrivacyUnit,
    PureEvent,
)
from shoal.privacy.privacy_unit import group_size

ADD_REMOVE, SUBSTITUTE = Adjacency.ADD_REMOVE, Adjacency.SUBSTITUTE
RECORD = PrivacyUnit()
USER = PrivacyUnit.user("person", max_rows=5)
HOUSEHOLD = PrivacyUnit.user("household", max_rows=5)
UNNAMED = PrivacyUnit.user(max_rows=5)
FIVE_ROWS = PrivacyUnit.user("person", max_rows=5, enforced=False)
THREE_ROWS = PrivacyUnit.user("person", max_rows=3, enforced=False)


def test_sizes_that_are_proved():
    for spent, wanted, readings, size in [
        (RECORD, RECORD, {}, 1),
        (USER, USER, {}, 1),
        (USER, PrivacyUnit.user("person"), {}, 1),
        (USER, FIVE_ROWS, {}, 1),
        (FIVE_ROWS, THREE_ROWS, {}, 1),
        (USER, RECORD, {}, 2),
        (RECORD, FIVE_ROWS, {}, 5),
        (RECORD, FIVE_ROWS, {"wanted_adjacency": SUBSTITUTE}, 10),
        (USER, RECORD, {"wanted_adjacency": SUBSTITUTE}, 4),
        (USER, RECORD, {"notion": "local"}, 1),
        (RECORD, FIVE_ROWS, {"notion": "metric"}, 5),
    ]:
        with case(spent=spent, wanted=wanted, readings=readings):
            assert group_size(spent, wanted, **readings) == size


def test_what_no_proof_covers_is_refused():
    for spent, wanted, readings in [
        (RECORD, USER, {}),  # nothing limited the rows of a user
        (RECORD, PrivacyUnit.user("person"), {}),
        (USER, HOUSEHOLD, {}),
        (UNNAMED, USER, {}),
        (THREE_ROWS, FIVE_ROWS, {}),  # users with four rows are not covered
        (THREE_ROWS, USER, {}),
        (THREE_ROWS, RECORD, {}),
        (USER, RECORD, {"adjacency": SUBSTITUTE}),
        (USER, RECORD, {"adjacency": SUBSTITUTE, "wanted_adjacency": SUBSTITUTE}),
        (RECORD, FIVE_ROWS, {"adjacency": SUBSTITUTE, "wanted_adjacency": SUBSTITUTE}),
    ]:
        with case(spent=spent, wanted=wanted, readings=readings):
            with pytest.raises(GuaranteeError) as refusal:
                group_size(spent, wanted, **readings)
            assert "\n" not in str(refusal.value)


def neighbors(table, unit, most):
    """Return tables of (user, row) pairs that differ in one unit, no user over ``most``."""
    everything = [(user, row) for user in "ab" for row in range(3)]
    result = []
    for size in range(len(everything) + 1):
        for other in map(frozenset, itertools.combinations(everything, size)):
            if most and any(sum(u == user for u, _ in other) > most for user in "ab"):
                continue
            changed = table ^ other
            if not (table < other or other < table):
                continue
            if unit.kind == "record" and len(changed) == 1:
                result.append(other)
            if unit.kind == "user" and len({user for user, _ in changed}) == 1:
                whole = next(iter(changed))[0]
                if not any(u == whole for u, _ in table & other):
                    result.append(other)
    return result


def exchanged(table, unit, most):
    """Return tables with one row for another, of the same user or not: substituted records."""
    once = {other for other in neighbors(table, unit, most) if len(other) < len(table)}
    twice = {third for other in once for third in neighbors(other, unit, most)}
    return [third for third in twice if len(third) == len(table) and third != table]


@pytest.mark.parametrize(
    ("spent", "wanted", "most", "adjacency"),
    [
        (PrivacyUnit.user("u"), RECORD, 0, ADD_REMOVE),
        (RECORD, PrivacyUnit.user("u", max_rows=2, enforced=False), 2, ADD_REMOVE),
        (RECORD, RECORD, 0, ADD_REMOVE),
        (PrivacyUnit.user("u"), RECORD, 0, SUBSTITUTE),
        (RECORD, RECORD, 0, SUBSTITUTE),
    ],
)
def test_a_size_is_the_length_of_the_longest_way(spent, wanted, most, adjacency):
    """Count the steps between neighbors on every table of two users with up to three rows."""
    everything = [(user, row) for user in "ab" for row in range(3)]
    tables = [
        frozenset(some)
        for size in range(len(everything) + 1)
        for some in itertools.combinations(everything, size)
        if not most or all(sum(u == user for u, _ in some) <= most for user in "ab")
    ]
    number = {table: i for i, table in enumerate(tables)}
    steps = np.full((len(tables), len(tables)), 99, dtype=int)
    for table in tables:
        steps[number[table], number[table]] = 0
        for other in neighbors(table, spent, most):
            steps[number[table], number[other]] = 1
    for middle in range(len(tables)):
        steps = np.minimum(steps, steps[:, [middle]] + steps[[middle], :])
    farthest = max(
        steps[number[table], number[other]]
        for table in tables
        for other in (neighbors if adjacency is ADD_REMOVE else exchanged)(table, wanted, most)
    )
    assert farthest == group_size(spent, wanted, wanted_adjacency=adjacency)


def test_prices_follow_the_size():
    """The formulas of the literature, for every kind of event, in a ledger's own words."""
    m, epsilon, delta = 5, 0.1, 1e-9
    grown = delta * (math.exp(m * epsilon) - 1) / (math.exp(epsilon) - 1)
    ledger = Ledger(epsilon=1.0, privacy_unit=FIVE_ROWS)
    ledger.spend(PureEvent(epsilon=epsilon))
    assert ledger.spent[0].epsilon == pytest.approx(m * epsilon)
    for limit, fits in ((grown * (1 + 1e-9), True), (grown * (1 - 1e-9), False)):
        ledger = Ledger(epsilon=1.0, delta=limit, privacy_unit=FIVE_ROWS)
        event = ApproximateEvent(epsilon=epsilon, delta=delta)
        if fits:
            ledger.spend(event)
        else:
            with pytest.raises(BudgetExceededError):
                ledger.spend(event)
    users = Ledger(epsilon=4.0, delta=1e-6, privacy_unit=FIVE_ROWS)
    records = Ledger(epsilon=4.0, delta=1e-6)
    users.spend(GDPEvent(mu=0.02))
    records.spend(GDPEvent(mu=0.1))  # m mu
    assert users.used == pytest.approx(records.used)
    metric = Ledger(epsilon=1.0, metric_epsilon=9.0, metric_unit="km", privacy_unit=FIVE_ROWS)
    metric.spend(MetricEvent(epsilon=1.0, unit="km"))
    assert metric.spent[0].epsilon == 5.0


def test_guarantees_convert_alike():
    promise = Guarantee("central", 0.1, 1e-9, mu=0.02)
    users = promise.to_privacy_unit(FIVE_ROWS)
    assert users.epsilon == pytest.approx(0.5)
    assert users.delta == pytest.approx(1e-9 * math.expm1(0.5) / math.expm1(0.1))
    assert users.mu == pytest.approx(5 * 0.02)
    assert users.privacy_unit == FIVE_ROWS
    back = Guarantee("central", 1.0, 1e-6, mu=0.1, privacy_unit=USER).to_privacy_unit(RECORD)
    assert (back.epsilon, back.mu) == (2.0, pytest.approx(0.2))
    assert back.delta == pytest.approx((1 + math.e) * 1e-6)
    with pytest.raises(GuaranteeError):
        Guarantee.none("as published").to_privacy_unit(RECORD)


def test_the_order_of_conversions_does_not_matter():
    """A row exchanged for one of another user was 2 one way and 4 the other."""
    promise = Guarantee("central", 1.0, privacy_unit=USER)
    assert promise.to_privacy_unit(RECORD).to_substitute().epsilon == 4.0
    with pytest.raises(GuaranteeError, match="another user"):
        promise.to_substitute().to_privacy_unit(RECORD)


def test_users_and_records_no_longer_add_up_to_a_false_sentence():
    """Two fits of 1, one for users and one for records, were "2 for any one record"."""
    ledger = Ledger(epsilon=4.0)
    ledger.spend(PureEvent(epsilon=1.0), privacy_unit=USER)
    ledger.spend(PureEvent(epsilon=1.0))
    assert ledger.spent[0].epsilon == 3.0
    assert "any one record" in str(ledger.spent[0])
    users = Ledger(epsilon=4.0, privacy_unit=USER)
    users.spend(PureEvent(epsilon=1.0), privacy_unit=USER)
    with pytest.raises(GuaranteeError, match="number of rows"):
        users.spend(PureEvent(epsilon=1.0))
    with pytest.raises(GuaranteeError, match="same id column"):
        users.spend(PureEvent(epsilon=1.0), privacy_unit=HOUSEHOLD)
    with pytest.raises(GuaranteeError, match="same id column"):
        users.spend(PureEvent(epsilon=1.0), privacy_unit=UNNAMED)
    with pytest.raises(GuaranteeError):
        users.check(PureEvent(epsilon=1.0))
    assert len(users) == 1
    assert "any one user (all rows with one value of 'person'" in str(users.spent[0])


def test_units_travel():
    for unit in [RECORD, USER, HOUSEHOLD, UNNAMED, FIVE_ROWS]:
        with case(unit=unit):
            assert PrivacyUnit.from_dict(unit.to_dict()) == unit
            promise = Guarantee("central", 1.0, privacy_unit=unit)
            assert Guarantee.from_dict(promise.to_dict()) == promise
            assert str(unit) in str(promise)


def test_bad_units():
    for make in [
        lambda: PrivacyUnit("row"),
        lambda: PrivacyUnit("record", "person"),
        lambda: PrivacyUnit("record", max_rows=3),
        lambda: PrivacyUnit.user(3),
        lambda: PrivacyUnit.user("person", max_rows=0),
        lambda: PrivacyUnit.user("person", max_rows=2.5),
        lambda: PrivacyUnit.user("person", enforced=False),
        lambda: PrivacyUnit.user("person", max_rows=3, enforced="yes"),
        lambda: PrivacyUnit.from_dict({"kind": "record"}),
        lambda: Guarantee("central", 1.0, privacy_unit="user"),
    ]:
        with case(make=make), pytest.raises(ParameterError):
            make()
