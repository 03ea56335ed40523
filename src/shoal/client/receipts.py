"""What a device says of its reports: never a record, and bytes only where they are asked for."""

from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from shoal.campaigns import Campaign
from shoal.exceptions import ParameterError

__all__ = ["CampaignStatus", "Receipt", "SentReports"]


@dataclass(frozen=True)
class Receipt:
    """Receipt for a value that was reported.

    Parameters
    ----------
    campaign : str
        Identifier of the campaign.
    report : bytes
        Report as it was drawn; for a shuffler it is encrypted before it is sent. It is not in the
        repr and not pickled.
    duplicate : bool
        Whether this value was reported before: the bytes are the same, and nothing was spent.
    sent : bool
        Whether the collector has confirmed that it stored the report.

    Examples
    --------
    >>> Receipt("homes", b"..", duplicate=False, sent=True)
    Receipt(campaign='homes', duplicate=False, sent=True)
    """

    campaign: str
    report: bytes = field(repr=False)
    duplicate: bool
    sent: bool

    def __reduce__(self) -> NoReturn:
        raise ParameterError("a receipt must not be pickled: it holds a report")


class SentReports(NamedTuple):
    """Result of :meth:`Device.send_pending`.

    Parameters
    ----------
    sent : int
        Number of reports that arrived.
    kept : int
        Number of reports that did not arrive and are kept.
    reasons : tuple of str
        Reasons why they did not arrive, each once.

    Examples
    --------
    >>> SentReports(sent=2, kept=0, reasons=()).sent
    2
    """

    sent: int
    kept: int
    reasons: tuple[str, ...]


class CampaignStatus(NamedTuple):
    """Status of a campaign on a device, with the epsilon that the device has spent in it.

    Parameters
    ----------
    campaign : Campaign
        The campaign, by the document that was agreed to last.
    digest : str
        Digest of that document. It should be the same on all devices: compare it with the published
        one.
    drawn, acknowledged : int
        Number of reports that were drawn, and number of those that have arrived.
    epsilon, slack : float
        Epsilon of all drawn reports together, and the slack of their metric guarantee.

    Examples
    --------
    >>> CampaignStatus._fields
    ('campaign', 'digest', 'drawn', 'acknowledged', 'epsilon', 'slack')
    """

    campaign: Campaign
    digest: str
    drawn: int
    acknowledged: int
    epsilon: float
    slack: float
