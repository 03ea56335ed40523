"""Settings of a collector: where it stores, and how much it takes."""

from dataclasses import dataclass

from shoal.service import ServiceSettings

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings(ServiceSettings):
    """How one collector is run.

    Parameters
    ----------
    database : str
        ``sqlite:///path`` or ``postgresql+psycopg://user:password@host/name``.
    analysis_worker : bool, default=True
        Whether a process that runs analyses is started beside the server.
    max_batch : int, default=10000
        Most reports in one request.
    campaign_rate : float, default=5000
        Submissions a second of one campaign; a burst may have twice as many.
    **kwargs
        Settings of every server, such as host and port: see
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
