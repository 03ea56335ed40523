"""What a ledger without a limit adds up: it refuses no price, and says what holds of all together.

The sums are those of basic composition, each epsilon a sure bound and each delta a constant that is
fixed before the release, so that they hold however the spends were chosen and whenever somebody
stops (``proofs/ledger.md``, "Without a limit"). Gaussian noise has no sure epsilon: each spend with
some is counted at a delta of its own.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from shoal.exceptions import GuaranteeError, ParameterError
from shoal.privacy._account import Account, Price, check_larger, counted_as
from shoal.privacy.accounting import MetricCost, cost, leaves, upward
from shoal.privacy.distance_units import convert_epsilon, parse_unit
from shoal.privacy.entries import NOTIONS
from shoal.privacy.events import Event
from shoal.privacy.gaussian_conversions import gdp_to_epsilon
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.limits import Limits
from shoal.privacy.privacy_unit import RECORD, Adjacency, PrivacyUnit, group_size

__all__ = ["Tally"]

# Nobody knows that two units without a name are one: with the largest distance the sum holds.
UNNAMED = "the distance is the largest of those in the units of the releases, which have no names"
DELTA = 1e-6  # of each spend with Gaussian noise; the delta that most examples have


@dataclass(frozen=True)
class Item(Price):
    """The price of one entry, with what it was for: no limit says what all are converted to."""

    event: Event | None = None
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    privacy_unit: PrivacyUnit = RECORD


class Tally:
    """Running totals of a ledger without a limit, with the methods of an ``Account``.

    Parameters
    ----------
    limits : Limits
        Without a limit.
    """

    used = 0.0
    remaining = math.inf

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._items: list[Item] = []

    def price(
        self,
        event: Event,
        adjacency: Adjacency,
        notion: Notion,
        privacy_unit: PrivacyUnit = RECORD,
        *,
        seeded: bool = False,
    ) -> Item:
        """Return the price of an event of any kind."""
        notion, metric, batches = counted_as(event, notion)
        if metric is None and cost(event).rho == 0:
            raise GuaranteeError("a spend needs at least one step, and this event holds none")
        return Item(
            notion,
            metric=metric,
            batches=batches,
            seeded=seeded,
            event=event,
            adjacency=adjacency,
            privacy_unit=privacy_unit,
        )

    def check(self, price: Price) -> None:
        """Accept the price: there is no limit."""

    def add(self, price: Price) -> None:
        """Record the price."""
        assert isinstance(price, Item)
        self._items.append(price)

    @property
    def spent(self) -> tuple[Guarantee, ...]:
        """What is promised of all spends: for each notion, and for each unit that they name."""
        return tuple(promise for notion in NOTIONS for promise in self._of_notion(notion))

    def change(self, limits: Limits) -> Account:
        """Return the totals under a limit that is set now; it covers what was spent before."""
        check_larger(limits, self.limits)
        account = Account(limits)
        for notion in NOTIONS:
            items = [item for item in self._items if item.notion == notion]
            if notion == "metric" and items:
                if limits.metric_epsilon is None:
                    raise ParameterError(
                        "metric_epsilon must be given too: metric epsilons were spent",
                        parameter="metric_epsilon",
                        code="missing",
                    )
                account.open_metric(
                    _metric_sum(items, limits.metric_unit, limits.privacy_unit),
                    seeded=any(item.seeded for item in items),
                )
            elif items:
                promise = _together(notion, limits.privacy_unit, limits.adjacency, items)
                if not promise.holds and not promise.seeded:
                    raise GuaranteeError(promise.reason)
                account.open_with(promise)
        return account

    def _of_notion(self, notion: Notion) -> Iterator[Guarantee]:
        items = [item for item in self._items if item.notion == notion]
        if notion == "metric":
            yield from _metric(items)
        elif items:
            central = notion == "central"
            exchanged = central and any(item.adjacency is Adjacency.SUBSTITUTE for item in items)
            wanted = Adjacency.SUBSTITUTE if exchanged else Adjacency.ADD_REMOVE
            for unit in _units(items):
                yield _together(notion, unit, wanted, items)


def _together(
    notion: Notion, unit: PrivacyUnit, wanted: Adjacency, items: Sequence[Item]
) -> Guarantee:
    """Return what all spends of a notion promise to a unit, or that one promises it nothing."""
    epsilon, delta = Fraction(0), Fraction(0)
    for item in items:
        assert item.event is not None
        try:
            size = group_size(
                item.privacy_unit,
                unit,
                notion=notion,
                adjacency=item.adjacency,
                wanted_adjacency=wanted,
            )
        except GuaranteeError as refused:
            return Guarantee.none(f"to each {unit}: {refused.message}")
        own_epsilon, own_delta = _loss(item.event, size)
        epsilon, delta = epsilon + own_epsilon, delta + own_delta
    if delta >= 1 or epsilon > 10**300:
        return Guarantee.none(
            f"to each {unit}: the spends are too many, their sum promises nothing"
        )
    seeded = any(item.seeded for item in items)
    batches = [item.batches for item in items if item.batches is not None]
    if not batches:
        return Guarantee(
            notion, float(epsilon), float(delta), wanted, privacy_unit=unit, seeded=seeded
        )
    return Guarantee(
        notion,
        float(epsilon),
        float(delta),
        Adjacency.SUBSTITUTE,
        privacy_unit=unit,
        seeded=seeded,
        local_epsilon=max(float(epsilon), float(sum(one.local_epsilon for one in batches))),
        n_reports=min(one.n for one in batches),
    )


def _loss(event: Event, size: int) -> tuple[Fraction, Fraction]:
    """Return an epsilon and a delta of one spend; steps with Gaussian noise are taken together."""
    steps = leaves(event, records=size).items()
    sure = [(step, times) for step, times in steps if math.isfinite(step.epsilon)]
    epsilon = sum((times * Fraction(step.epsilon) for step, times in sure), Fraction(0))
    delta = sum((times * Fraction(step.delta) for step, times in sure), Fraction(0))
    noisy = [times * step.mu_squared for step, times in steps if not math.isfinite(step.epsilon)]
    if not noisy:
        return epsilon, delta
    apart = epsilon + Fraction(gdp_to_epsilon(math.sqrt(math.fsum(noisy)), DELTA))
    every = math.fsum(times * step.mu_squared for step, times in steps)
    if math.isfinite(every):
        apart = min(apart, Fraction(gdp_to_epsilon(math.sqrt(every), DELTA)))
    return apart, delta + Fraction(DELTA)


def _units(items: Sequence[Item]) -> list[PrivacyUnit]:
    """Return whom a sum is said for: the units of all entries, and records if they are several."""
    units = list(dict.fromkeys(item.privacy_unit for item in items))
    return units if len(units) == 1 or RECORD in units else [RECORD, *units]


def _metric(items: Sequence[Item]) -> Iterator[Guarantee]:
    """Yield promises for each kind of unit of distance: no others can be added."""
    kinds: dict[str, list[Item]] = {}
    for item in items:
        assert item.metric is not None
        kinds.setdefault(parse_unit(item.metric.unit).kind, []).append(item)
    for same in kinds.values():
        assert same[0].metric is not None
        distance = same[0].metric.unit
        for unit in _units(same):
            try:
                total = _metric_sum(same, distance, unit)
            except GuaranteeError as refused:
                yield Guarantee.none(f"to each {unit}: {refused.message}")
                continue
            yield Guarantee(
                "metric",
                float(total.epsilon),
                unit=total.unit,
                reason=UNNAMED if len(same) > 1 and not total.unit else "",
                privacy_unit=unit,
                seeded=any(item.seeded for item in same),
                slack=upward(total.slack),
            )


def _metric_sum(items: Sequence[Item], distance: str, unit: PrivacyUnit) -> MetricCost:
    """Return what metric events cost a unit together, per a distance that may have no name."""
    total = MetricCost(distance, Fraction(0), Fraction(0))
    for item in items:
        assert item.metric is not None
        size = group_size(
            item.privacy_unit,
            unit,
            notion="metric",
            adjacency=item.adjacency,
            wanted_adjacency=Adjacency.SUBSTITUTE,
        )
        own, slack = item.metric.epsilon, item.metric.slack
        epsilon = convert_epsilon(own, item.metric.unit, distance) if distance else own
        total = MetricCost(distance, total.epsilon + size * epsilon, total.slack + size * slack)
    return total
