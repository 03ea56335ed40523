"""The promises, as functions of a subject that raise AssertionError.

``@contract(tags)`` says to which rows of tests/subjects.py a promise is made; pytest pairs them
(test_promises.py). tests/planted breaks shoal on purpose and expects these very functions to
notice.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from contracts.tape import Order, TapedLedger, TapedSource
from helpers.noise_recorder import recording
from shoal.audit import ReplayAudit
from shoal.exceptions import BudgetExceededError
from shoal.privacy import (
    Guarantee,
    Ledger,
    Release,
    cost,
    gdp_to_epsilon,
)
from shoal.privacy.accounting import metric_cost
from shoal.reports import label_on_device
from subjects import HOME, SUBJECTS, WORK, Subject

__all__ = ["CONTRACTS", "Contract", "contract", "pairs", "roomy_ledger", "spent"]


class Contract(NamedTuple):
    """A promise, and the tags of the subjects that make it."""

    check: Callable[[Subject], None]
    tags: tuple[frozenset[str], ...]

    def applies(self, subject: Subject) -> bool:
        """Return whether a subject has all tags of one of the groups."""
        return any(group <= subject.tags for group in self.tags)


CONTRACTS: list[Contract] = []


def contract(*groups: str) -> Callable[[Callable[[Subject], None]], Callable[[Subject], None]]:
    """Register a promise of the subjects that have all tags of a group; groups are words."""

    def register(check: Callable[[Subject], None]) -> Callable[[Subject], None]:
        CONTRACTS.append(Contract(check, tuple(frozenset(one.split("+")) for one in groups)))
        return check

    return register


def pairs() -> list[tuple[Contract, Subject]]:
    """Return each promise with each subject that makes it."""
    return [(one, row) for one in CONTRACTS for row in SUBJECTS if one.applies(row)]


# Ledgers


def roomy_limits(subject: Subject) -> dict[str, object]:
    """Return limits that nothing in these tests reaches."""
    delta = getattr(subject.make(), "delta", 0.0)
    limits = {"epsilon": 1e6, "metric_epsilon": 1e6, "metric_unit": "m"}
    return {**limits, "delta": delta} if delta else limits


def roomy_ledger(**kwargs):
    return Ledger(**{"epsilon": 1e6, "metric_epsilon": 1e6, "metric_unit": "m", **kwargs})


def spent(ledger):
    """All that a ledger has recorded, whichever the account, as one schedule fixed in advance."""
    total = 0.0
    for event in (entry.event for entry in ledger.entries):
        metric = metric_cost(event)
        if metric is not None:
            total += metric[1]
            continue
        price = cost(event)
        pure = math.isfinite(price.epsilon)
        mu = math.sqrt(price.mu_squared)
        total += price.epsilon if pure else gdp_to_epsilon(mu, ledger.limits.delta)
    return total


# What it says


@contract("estimator", "central", "contribution")
def has_a_guarantee(subject: Subject) -> None:
    """The guarantee is that of the parameters; a seed voids it, and it says so."""
    fitted = subject.make(random_state=None)
    subject.output(fitted)
    guarantee = fitted.guarantee_
    assert isinstance(guarantee, Guarantee)
    assert guarantee.holds
    assert guarantee.epsilon == fitted.epsilon
    assert guarantee.privacy_unit == subject.unit
    # A method that finds pure noise to be the smaller one may leave the delta unused.
    assert guarantee.delta in (0.0, getattr(fitted, "delta", 0.0))
    seeded = subject.seeded()
    subject.output(seeded)
    assert not seeded.guarantee_.holds
    assert str(seeded.guarantee_).endswith("seeded: for tests and experiments only")


@contract("estimator", "central")
def repeats_with_a_seed(subject: Subject) -> None:
    """A seed gives the same bits, and another seed gives others."""
    one, two = (subject.output(subject.seeded(7)) for _ in range(2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, subject.output(subject.seeded(8)))


@contract("estimator", "central", "device")
def differs_without_a_seed(subject: Subject) -> None:
    """Three fits are not all alike.

    Sixteen noisy counts of a band at epsilon 1.5 are those of another fit with probability 1e-6,
    and of two others with 1e-12. A device's few bytes are compared for eight devices.
    """
    times = 8 if "device" in subject.tags else 3
    assert len({np.asarray(subject.output()).tobytes() for _ in range(times)}) > 1


# What it spends, and when it draws


@contract("estimator", "central", "contribution")
def spends_before_it_draws(subject: Subject) -> None:
    """One spend, of what the guarantee says, before the first random word."""
    order = Order()
    ledger = TapedLedger(order, **roomy_limits(subject))
    charged = subject.make(ledger=ledger, random_state=TapedSource(order))
    subject.output(charged)
    assert order.words, "no noise was drawn"
    assert order.entries[0] in order.spends, "random words were drawn before the spend"
    assert len(ledger) == len(order.spends) == 1
    assert math.isclose(spent(ledger), charged.guarantee_.epsilon, rel_tol=1e-9)
    entry = ledger.entries[0]
    assert entry.privacy_unit == charged.guarantee_.privacy_unit
    assert entry.seeded == charged.guarantee_.seeded
    if hasattr(charged, "release_"):
        assert charged.release_.ledger == entry.receipt, "the release must say which entry paid"


@contract("estimator", "central")
def draws_nothing_when_the_spend_is_refused(subject: Subject) -> None:
    """A ledger that lacks the budget stops it before a record or a random word is touched."""
    order = Order()
    delta = getattr(subject.make(), "delta", 0.0)
    limits = {"epsilon": 0.9, "delta": delta, "metric_epsilon": 0.9, "metric_unit": "m"}
    ledger = TapedLedger(order, **limits)
    refused = subject.make(ledger=ledger, random_state=TapedSource(order))
    with recording() as tape, pytest.raises(BudgetExceededError):
        subject.output(refused)
    assert tape.entries == []
    assert order.entries == []
    assert spent(ledger) == 0.0
    assert not hasattr(refused, "release_")


@contract("central")
def draws_noise_inside_the_door_only(subject: Subject) -> None:
    """Random words outside of ``privatize`` are about no record, and no sampler of noise takes any.

    All words that the source hands out are counted; with one person more and the same released
    values, as many are drawn outside.
    """
    order = Order()
    subject.output(subject.make(random_state=TapedSource(order, seed=3)))
    assert order.total(inside=True) > 0, "no noise was drawn at the door"
    assert sum(one.count for one in order.words) == order.total(inside=True) + order.total(
        inside=False
    )
    outside = [one for one in order.words if not one.inside]
    samplers = {one.module for one in outside if one.module.startswith("shoal.noise.")}
    assert not samplers, f"{samplers} drew outside of privatize"
    assert bool(outside) <= subject.public_draws, f"{outside} were drawn outside of privatize"


@contract("estimator+class")
def notes_columns_and_seed(subject: Subject) -> None:
    """An entry of the ledger names the columns, and says whether a seed drew."""
    frame = pd.DataFrame(subject.table, columns=["east", "north"])
    for seed in (None, 7):
        ledger = roomy_ledger(**roomy_limits(subject))
        charged = subject.make(ledger=ledger, random_state=seed).fit(frame)
        if hasattr(charged, "transform"):
            charged.transform(frame)
        assert ledger.entries
        for entry in ledger.entries:
            assert entry.columns == subject.columns
            assert entry.seeded == (seed is not None)


# What it costs


@contract("priced")
def noise_pays_for(subject: Subject) -> None:
    """The scales that were drawn with add up to the promise, by sensitivities found apart."""
    assert subject.price is not None
    fitted = subject.seeded()
    with recording() as tape:
        subject.output(fitted)
    parts = list(subject.price(fitted, tape))
    assert parts, "no noise was drawn"
    for part in parts:
        assert part <= 1 + 1e-12
        assert part >= 1 - 1e-9, "budget left unused"


@contract("estimator+replayed")
def replays_on_neighbors(subject: Subject) -> None:
    """One record more costs at most what is declared, and nothing else may differ."""
    clears(subject, subject.effect(repeats=2))


@contract("contribution", "described")
def costs_a_person_no_more_than_declared(subject: Subject) -> None:
    """A whole user with more rows than count, the largest weight, a record of any stratum.

    Their cost is measured by replay, and holds for users, weights and strata as for records.
    """
    clears(subject, subject.effect())


def clears(subject: Subject, audit: ReplayAudit) -> None:
    """Assert that a replay finds nothing, and that its pairs would have shown a broken promise."""
    assert not audit.broken, str(audit)
    assert audit.loss <= audit.budget * (1 + 1e-9)
    assert audit.loss >= subject.tight * audit.budget, f"the pairs show little: {audit}"


# What leaves


@contract("estimator+clusterer")
def labels_follow_from_the_release(subject: Subject) -> None:
    """In a box that is no square, labels on a device are those of predict, ties included."""
    low, high = np.array([-30.0, 0.01]), np.array([10.0, 0.03])
    X = low + (subject.table + 1.0) / 2 * (high - low)
    fitted = subject.make(bounds=(low, high), random_state=0).fit(X)
    release = Release.from_json(fitted.release_.to_json())
    corners = np.array([low, high, (low + high) / 2, low - 1e9, high + 1e9])
    asked = np.concatenate([X, corners])
    assert (label_on_device(release, asked) == fitted.predict(asked)).all()


@contract("central")
def releases_all_that_leaves(subject: Subject) -> None:
    """A release travels as text, says its guarantee, and has no labels."""
    fitted = subject.make()
    subject.output(fitted)
    release = Release.from_json(fitted.release_.to_json())
    assert release == fitted.release_
    assert "labels" not in release.values
    assert release.guarantee == fitted.guarantee_


# Devices


@contract("device")
def charges_each_value_once(subject: Subject) -> None:
    """A value keeps its bytes and costs once; another costs again, and a third is refused."""
    device = subject.make()
    mechanism = device.status()[0].campaign.mechanism
    first = device.draw(HOME)
    assert device.draw(HOME).report == first.report
    assert device.status()[0].epsilon == mechanism.guarantee_.epsilon
    device.draw(WORK)
    assert device.status()[0].epsilon == 2 * mechanism.guarantee_.epsilon


@contract("device")
def draws_nothing_beyond_the_campaign(subject: Subject) -> None:
    """What the campaign or the device's own limit does not allow is refused before a draw."""
    device = subject.make()
    device.draw(HOME)
    device.draw(WORK)
    spent_before = device.status()[0].epsilon
    with recording() as tape, pytest.raises(BudgetExceededError):
        device.draw((0.0, 0.0))
    assert tape.entries == []
    assert device.status()[0].epsilon == spent_before
    assert np.array_equal(bytes_again(device, HOME), bytes_again(device, HOME))


def bytes_again(device, record):
    return np.frombuffer(device.draw(record).report, dtype=np.uint8)


@contract("estimator+class")
def shares_the_ledger_with_copies(subject: Subject) -> None:
    """A copy of an estimator charges the same ledger."""
    import copy

    one = subject.make(ledger=roomy_ledger())
    for entries, copier in enumerate([clone, copy.copy, copy.deepcopy], start=1):
        twin = copier(one)
        assert twin.ledger is one.ledger
        subject.output(twin)
        assert len(one.ledger) == entries
    assert spent(one.ledger) > 0
