"""Who shuffles the reports of a campaign, in batches of which size, sealed to which key."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from shoal import _numbers
from shoal.campaigns.sealing import SealingPublicKey
from shoal.exceptions import ParameterError

__all__ = ["Shuffler"]

SMALLEST_BATCH = 2
LARGEST_BATCH = 100_000  # a relay holds one in memory


@dataclass(frozen=True)
class Shuffler:
    """Description, in a campaign's document, of the relay that shuffles reports.

    Parameters
    ----------
    operator : str
        Name of the operator of the relay, who must not be the organizer of the campaign.
    batch_size : int
        Number of reports that are shuffled and forwarded together, from 2 to 100,000. A smaller
        batch is never forwarded.
    key : str
        Public key of the analyst, as text, to which devices encrypt reports.

    Raises
    ------
    ParameterError
        If a field is invalid.

    Examples
    --------
    >>> from shoal.campaigns import SealingKey, Shuffler
    >>> key = SealingKey.new()
    >>> shuffler = Shuffler("the university of X", batch_size=1000, key=str(key.public))
    >>> key.open(shuffler.seal(b"ab", "homes"), "homes")
    b'ab'
    """

    operator: str
    batch_size: int
    key: str

    def __post_init__(self) -> None:
        """Check every field."""
        if not _numbers.printable("operator", self.operator):
            raise ParameterError("operator must say who runs the shuffler, got ''")
        size = _numbers.count("batch_size", self.batch_size, least=SMALLEST_BATCH)
        if size > LARGEST_BATCH:
            raise ParameterError(f"batch_size must be at most {LARGEST_BATCH}, got {size}")
        SealingPublicKey.from_text(self.key)

    def seal(self, report: bytes, campaign: str) -> bytes:
        """Encrypt a report to the analyst's key, by :meth:`SealingPublicKey.seal`.

        Parameters
        ----------
        report : bytes
            Report as encoded by its mechanism.
        campaign : str
            Identifier of the campaign.

        Returns
        -------
        sealed : bytes
            Encrypted report, as it is sent to the relay.
        """
        return SealingPublicKey.from_text(self.key).seal(report, campaign)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Return the shuffler that a part of the document describes; invalid input is an error.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_dict` returned.

        Returns
        -------
        shuffler : Shuffler
            A shuffler equal to the original.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(plain, Mapping) or set(plain) != names:
            raise ParameterError(
                f"shuffler must have the fields {', '.join(sorted(names))} and no other, or be null"
            )
        return cls(**plain)
