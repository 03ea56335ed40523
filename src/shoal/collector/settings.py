"""Settings of a collector: where it stores, and how much it takes."""

from dataclasses import dataclass

from shoal.service import ServiceSettings

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings(ServiceSettings):
    """Settings of a collector.

    Parameters
    ----------
    database : str
        URL of the database: ``sqlite:///path`` or
        ``postgresql+psycopg://user:password@host/name``.
    analysis_worker : bool, default=True
        Whether to start a process beside the server that runs analyses.
    max_batch : int, default=10000
        Largest number of reports in one request.
    campaign_rate : float, default=5000
        Largest number of submissions per second to one campaign; a burst may have twice as many.
    **kwargs
        Settings that all servers have, such as host and port; see
        :class:`shoal.service.ServiceSettings`.

    Examples
    --------
    >>> from shoal.collector import Settings
    >>> Settings("sqlite:///reports.db").is_loopback
    True
    """

    database: str
    analysis_worker: bool = True
    max_batch: int = 10_000
    campaign_rate: float = 5_000.0
