"""What a device may still report: by the campaign, and by its own limit over all campaigns."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction

from shoal._numbers import rounded_up
from shoal.campaigns import Campaign
from shoal.client.device_file import KeptReport
from shoal.exceptions import BudgetExceededError, ShoalError
from shoal.privacy import (
    Adjacency,
    Event,
    Ledger,
    Limits,
    MetricEvent,
    Notion,
    PureEvent,
    Repeated,
)

__all__ = ["as_limits", "charge", "epsilon_spent", "slack_spent"]

TOLERANCE = 1 + Fraction(1, 10**12)  # as ledgers have it: ten reports of 0.1 fit into 1.0


def as_limits(epsilon_limit: float | Limits | None) -> Limits | None:
    """Return the limit over all campaigns, checked."""
    if epsilon_limit is None or isinstance(epsilon_limit, Limits):
        return epsilon_limit
    return Limits(epsilon=epsilon_limit)


def charge(campaign: Campaign, reports: Iterable[KeptReport], limits: Limits | None) -> None:
    """Refuse one more report where the campaign, or the device's own limit, does not allow it."""
    kept = list(reports)
    mine = [report for report in kept if report.campaign == campaign.id]
    if len(mine) >= campaign.reports_per_device:
        allowed = campaign.reports_per_device
        raise BudgetExceededError(
            f"campaign {campaign.id!r} allows {allowed} report{'s' if allowed > 1 else ''} of a "
            f"{campaign.unit}, and {len(mine)} {'were' if len(mine) > 1 else 'was'} drawn: this "
            "value was not reported before, and nothing was drawn"
        )
    one, limit = campaign.mechanism.guarantee_, Fraction(campaign.guarantee.epsilon)
    spent = epsilon_spent(mine)
    if spent + Fraction(one.epsilon) > limit * TOLERANCE:
        raise BudgetExceededError(
            f"campaign {campaign.id!r} allows epsilon = {rounded_up(float(limit))} of a "
            f"{campaign.unit}, "
            f"{rounded_up(float(spent))} was spent and one more report costs "
            f"{rounded_up(one.epsilon)}: nothing was "
            "drawn"
        )
    if limits is None and len(mine) < len(kept):
        raise BudgetExceededError(
            f"a device without epsilon_limit reports to one campaign, and did to another than "
            f"{campaign.id!r}: give epsilon_limit, what all campaigns together may cost; nothing "
            "was drawn"
        )
    if limits is not None:
        _check_limits(limits, kept, _event(one.notion, one.unit, one.epsilon, one.slack))


def epsilon_spent(reports: Iterable[KeptReport]) -> Fraction:
    """Return what reports of one campaign cost together."""
    return sum((Fraction(report.epsilon) for report in reports), Fraction(0))


def slack_spent(reports: Iterable[KeptReport]) -> Fraction:
    """Return the slack of reports of one campaign together, which metric promises have."""
    return sum((Fraction(report.slack) for report in reports), Fraction(0))


def _check_limits(limits: Limits, reports: list[KeptReport], event: Event) -> None:
    """Count all reports of the device by the rules of a ledger: metric and local apart."""
    ledger = Ledger(**{field.name: getattr(limits, field.name) for field in fields(Limits)})
    drawn = Counter(
        _event(report.notion, report.unit, report.epsilon, report.slack) for report in reports
    )
    try:
        for one, times in drawn.items():
            before = Repeated(event=one, times=times)
            ledger.spend(before, notion=_notion(one), adjacency=Adjacency.SUBSTITUTE)
        ledger.check(event, notion=_notion(event), adjacency=Adjacency.SUBSTITUTE)
    except ShoalError as refused:
        raise BudgetExceededError(
            f"epsilon_limit of this device, over all campaigns, allows no such report: "
            f"{refused.message}"
        ) from None


def _event(notion: str, unit: str, epsilon: float, slack: float) -> Event:
    """Return what one report costs."""
    if notion == "metric":
        return MetricEvent(epsilon=epsilon, unit=unit, slack=slack)
    return PureEvent(epsilon=epsilon)


def _notion(event: Event) -> Notion:
    return "metric" if isinstance(event, MetricEvent) else "local"
