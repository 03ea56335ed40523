"""Metrics of a relay, in whole batches: whoever collects them must not learn when a report came."""

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

__all__ = ["RelayMetrics"]


class RelayMetrics:
    """Counts batches and failures since the process began, in a registry of their own.

    There is no count of requests or of reports that wait: read once a second, it would be a list of
    arrival times.
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._formed = self._counter("formed_batches", "Batches that were shuffled.")
        self._forwarded = self._counter("forwarded_batches", "Batches that the collector has.")
        self._failures = self._counter(
            "failed_forwards", "Attempts to forward a batch that were not acknowledged."
        )
        self._failed_commits = self._counter(
            "failed_commits", "Commits that the database refused; nothing was acknowledged."
        )
        self._stopped = Gauge(
            "shoal_relay_stopped",
            "1 once the collector has answered with another batch: somebody must look after it.",
            registry=self._registry,
        )

    def count_formed(self) -> None:
        """Count a batch that was formed."""
        self._formed.inc()

    def count_forwarded(self) -> None:
        """Count a batch that the collector has acknowledged."""
        self._forwarded.inc()

    def count_failure(self) -> None:
        """Count an attempt that was not acknowledged."""
        self._failures.inc()

    def count_failed_commit(self) -> None:
        """Count a commit that the database refused."""
        self._failed_commits.inc()

    def stop(self) -> None:
        """Note that forwarding has stopped."""
        self._stopped.set(1)

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)

    def _counter(self, name: str, description: str) -> Counter:
        return Counter(f"shoal_relay_{name}", description, registry=self._registry)
