"""How campaigns are made: from what somebody asks for to a document, and from that to plain words.

``shoal collect new`` and the studio's page of campaigns both go this way.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from shoal._numbers import readable
from shoal.campaigns.campaign import Campaign
from shoal.exceptions import CampaignError, ParameterError
from shoal.mechanisms import Mechanism, load_mechanism

__all__ = [
    "campaign_words",
    "closing_time",
    "collector_addresses",
    "name_columns",
    "revise_campaign",
]


def collector_addresses(url: str, campaign: str) -> dict[str, str]:
    """Return the addresses for reports and for results of a campaign on one server.

    Parameters
    ----------
    url : str
        Address of a collector or a relay.
    campaign : str
        Identifier of the campaign.

    Returns
    -------
    addresses : dict
        The fields ``reports_url`` and ``results_url`` of a :class:`Campaign`.

    Examples
    --------
    >>> from shoal.campaigns import collector_addresses
    >>> collector_addresses("https://collect.example.org/", "homes")["reports_url"]
    'https://collect.example.org/v1/campaigns/homes/reports'
    """
    base = f"{url.rstrip('/')}/v1/campaigns/{campaign}"
    return {"reports_url": f"{base}/reports", "results_url": f"{base}/results"}


def closing_time(text: str, *, past: bool = False, name: str = "closes") -> datetime:
    """Parse the day or time at which a campaign closes.

    Parameters
    ----------
    text : str
        A day or time such as ``"2030-01-31"`` or ``"2030-01-31T18:00"``; UTC if without a zone.
    past : bool, default=False
        Whether the time may be in the past: a revision may close a campaign at once.
    name : str, default="closes"
        Name of the parameter in error messages.

    Returns
    -------
    time : datetime
        The time, with a time zone.

    Raises
    ------
    ParameterError
        If the text cannot be parsed, or the time is in the past.

    Examples
    --------
    >>> from shoal.campaigns import closing_time
    >>> closing_time("2099-01-31").isoformat()
    '2099-01-31T00:00:00+00:00'
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ParameterError(f"{name} must be a day such as 2030-01-31, got {text!r}") from None
    time = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    if time <= datetime.now(UTC) and not past:
        raise ParameterError(f"{name} must be in the future, got {text!r}")
    return time


def name_columns(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """Return a copy of a mechanism without a schema that has names for its columns.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism whose bounds have one value for each column.
    names : sequence of str
        Names of the columns, in order: the values that devices are asked for.

    Returns
    -------
    mechanism : Mechanism
        A copy whose document includes the names.

    Raises
    ------
    ParameterError
        If the number of names is not the number of columns.

    Examples
    --------
    >>> from shoal.campaigns import name_columns
    >>> from shoal.mechanisms import PartitionResponse
    >>> mechanism = PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    >>> name_columns(mechanism, ["east", "north"]).to_dict()["names"]
    ['east', 'north']
    """
    plain = mechanism.to_dict()
    return load_mechanism({**plain, "columns": len(names), "names": list(names)})


def revise_campaign(earlier: Campaign, **changes: Any) -> Campaign:
    """Return the next revision of a campaign.

    Parameters
    ----------
    earlier : Campaign
        The current campaign.
    **changes
        New values of fields, such as ``closes``.

    Returns
    -------
    campaign : Campaign
        The campaign with these changes and the next revision number.

    Raises
    ------
    ParameterError
        If nothing is changed.
    CampaignError
        If devices that joined the earlier revision would refuse this one.

    Examples
    --------
    >>> from shoal.campaigns import (
    ...     Campaign, closing_time, collector_addresses, revise_campaign,
    ... )
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes", title="Where people live", purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=closing_time("2099-01-01"),
    ...     **collector_addresses("https://collect.example.org", "homes"),
    ... )
    >>> revise_campaign(campaign, closes=closing_time("2099-06-30")).revision
    2
    """
    campaign = replace(earlier, **changes)
    if campaign == earlier:
        raise ParameterError(
            "a revision must come with what is changed, such as another closing time, got nothing"
        )
    campaign = replace(campaign, revision=earlier.revision + 1)
    reasons = campaign.weaker_than(earlier)
    if reasons:
        raise CampaignError(
            f"devices that joined revision {earlier.revision} would refuse this one: "
            f"{'; '.join(reasons)}: make another campaign of it"
        )
    return campaign


def campaign_words(campaign: Campaign) -> dict[str, str]:
    """Explain in plain words what a campaign asks for, what devices send, and its guarantee.

    Parameters
    ----------
    campaign : Campaign
        Campaign to explain.

    Returns
    -------
    words : dict
        A sentence for each topic, in the order in which to show them.

    Examples
    --------
    >>> from shoal.campaigns import Campaign, campaign_words, closing_time, collector_addresses
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes", title="Where people live", purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=closing_time("2099-01-01"),
    ...     **collector_addresses("https://collect.example.org", "homes"),
    ... )
    >>> campaign_words(campaign)["answers"]
    'a device reports once, by PartitionResponse'
    """
    times = "once" if campaign.reports_per_device == 1 else f"{campaign.reports_per_device} times"
    kept = "a keyed hash of a random number of it" if campaign.device_ids else "nothing else"
    width = "those" if campaign.shuffler is None else f"{campaign.report_format.width} of them"
    words = {
        "campaign": f"{campaign.id}, revision {campaign.revision}: {campaign.title}",
        "purpose": campaign.purpose,
        "asks for": _asked(campaign),
        "answers": f"a {campaign.unit} reports {times}, by {type(campaign.mechanism).__name__}",
        "sends": f"{campaign.body_bytes} bytes per report; the server keeps {width} and {kept}, "
        "never a record",
    }
    if campaign.shuffler is not None:
        size, operator = campaign.shuffler.batch_size, campaign.shuffler.operator
        words["shuffled"] = (
            f"by {operator}, {size} at a time; reports are sealed, so the shuffler cannot read them"
        )
    words["promises"] = f"to each {campaign.unit}, for all its reports: {campaign.guarantee}"
    words["closes"] = f"{campaign.closes:%Y-%m-%d %H:%M} UTC"
    return words


def _asked(campaign: Campaign) -> str:
    """Return the columns that devices are asked for, in words."""
    mechanism = campaign.mechanism
    if mechanism.schema is not None:
        return ", ".join(mechanism.schema.columns)
    plain = mechanism.to_dict()
    low, high = plain["parameters"]["bounds"]
    names = plain["names"] or [f"number {i}" for i in range(1, len(low) + 1)]
    ends = zip(names, low, high, strict=True)
    return ", ".join(f"{name} ({readable(a)} to {readable(b)})" for name, a, b in ends)
