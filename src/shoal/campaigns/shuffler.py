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
    """The relay between devices and the collector, as the campaign's document has it.

    Parameters
    ----------
    operator : str
        Who runs it, in plain words: somebody else than whoever runs the campaign.
    batch_size : int
        Reports that are shuffled and forwarded together, from 2 to 100,000. Fewer never are.
    key : str
        The analyst's public key, as text, that devices seal reports to.

    Raises
    ------
    ParameterError
        If a field breaks its rule.

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
        """Seal a report to the analyst's key, as :meth:`SealingPublicKey.seal` does.

        Parameters
        ----------
        report : bytes
            As its mechanism encodes it.
        campaign : str
            Id of the campaign.

        Returns
        -------
        sealed : bytes
            What the relay gets.
        """
        return SealingPublicKey.from_text(self.key).seal(report, campaign)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Rebuild a shuffler from its part of the document, strictly.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_dict` returned.

        Returns
        -------
        shuffler : Shuffler
            Equal to the one that was written.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(plain, Mapping) or set(plain) != names:
            raise ParameterError(
                f"shuffler must have the fields {', '.join(sorted(names))} and no other, or be null"
            )
        return cls(**plain)
