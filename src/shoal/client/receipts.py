"""What a device says of its reports: never a record, and bytes only where they are asked for."""

from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from shoal.campaigns import Campaign
from shoal.exceptions import ParameterError

__all__ = ["CampaignStatus", "Receipt", "SentReports"]


@dataclass(frozen=True)
class Receipt:
    """What became of a value that was to be reported.

    Parameters
    ----------
    campaign : str
        The campaign's id.
    report : bytes
        As it was drawn, and as it is sent unless a shuffler gets it sealed; shown in no repr, and
        not pickled.
    duplicate : bool
        Whether this value was reported before: the same bytes, and nothing was spent.
    sent : bool
        Whether the collector has said that it stored the report.

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
    """What :meth:`Device.send_pending` did.

    Parameters
    ----------
    sent : int
        Reports that have arrived now.
    kept : int
        Reports that have not.
    reasons : tuple of str
        Why not, each reason once.

    Examples
    --------
    >>> SentReports(sent=2, kept=0, reasons=()).sent
    2
    """

    sent: int
    kept: int
    reasons: tuple[str, ...]


class CampaignStatus(NamedTuple):
    """A campaign that a device takes part in, and what the device has spent in it.

    Parameters
    ----------
    campaign : Campaign
        By the document that was agreed to last.
    digest : str
        Of that document. All devices should have the same: compare it with the published one.
    drawn, acknowledged : int
        Reports that were drawn, and how many of them have arrived.
    epsilon : float
        What the drawn ones cost together.

    Examples
    --------
    >>> CampaignStatus._fields
    ('campaign', 'digest', 'drawn', 'acknowledged', 'epsilon')
    """

    campaign: Campaign
    digest: str
    drawn: int
    acknowledged: int
    epsilon: float
