"""Settings of a relay: where it stores, where batches go, and how much it takes."""

from dataclasses import dataclass, field

from shoal import _numbers
from shoal.exceptions import ParameterError
from shoal.service import KEY_PREFIX, ServiceSettings, credential_id

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings(ServiceSettings):
    """Settings of a relay.

    Parameters
    ----------
    database : str
        Path of an SQLite file.
    to : str
        Address of the collector: https, or http for localhost.
    key : str, default=None
        Ingest key of the relay at the collector, which accepts no batch without one.
    campaign_rate : float, default=5000
        Largest number of submissions per second; a burst may have twice as many. No limit prevents
        an attacker with many addresses from filling a batch with their own reports.
    retry_seconds : float, default=120
        Longest wait, in seconds, before a batch that was not acknowledged is sent again. The
        collector may name a longer one, up to an hour.
    **kwargs
        Settings that all servers have, such as host and port; see
        :class:`shoal.service.ServiceSettings`.

    Examples
    --------
    >>> from shoal.shuffler import Settings
    >>> key = "shoal_key_0a1b2c3d4e5f_secret"
    >>> "secret" in repr(Settings("relay.db", "https://collect.example.org", key=key))
    False
    """

    database: str
    to: str
    key: str | None = field(default=None, repr=False)
    campaign_rate: float = 5_000.0
    retry_seconds: float = 120.0
    max_body_bytes: int = field(default=1 << 16, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse an address that others could read along, and numbers that no server runs with."""
        super().__post_init__()
        _numbers.web_address("to", self.to)
        if self.key is not None and credential_id(self.key, KEY_PREFIX) is None:
            raise ParameterError(
                f"key must be what `shoal collect key new` printed, {KEY_PREFIX}_<id>_<secret>, "
                "got something else"
            )
