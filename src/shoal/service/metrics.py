"""Metrics for Prometheus that every server has: its requests and its commits.

Labels are of small fixed sets: templates of routes, statuses.
"""

from collections.abc import Callable
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

__all__ = ["Metrics", "MetricsPage"]

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = tuple(2.0**power for power in range(11))


class MetricsPage(Protocol):
    """Metrics that can be read."""

    @property
    def content_type(self) -> str:
        """The media type of the text."""

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""


class Metrics:
    """Prometheus metrics of one application, in a separate registry.

    Examples
    --------
    >>> from shoal.service import Metrics
    >>> metrics = Metrics()
    >>> metrics.count_request("GET", "/healthz", 200, 0.001)
    >>> b'shoal_requests_total{method="GET",route="/healthz",status="200"} 1.0' in metrics.render()
    True
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "shoal_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "shoal_request_seconds",
            "Seconds from the head of a request to the end of its answer.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._group_submissions = Histogram(
            "shoal_group_submissions",
            "Submissions in one commit.",
            buckets=SIZES,
            registry=self.registry,
        )
        self._commit_seconds = Histogram(
            "shoal_commit_seconds",
            "Seconds of one commit.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self._failed_commits = Counter(
            "shoal_failed_commits",
            "Commits that the database refused; nothing of them was acknowledged.",
            registry=self.registry,
        )
        self._waiting = Gauge(
            "shoal_waiting_submissions",
            "Submissions that wait for the writer.",
            registry=self.registry,
        )
        self._active = Gauge(
            "shoal_active_requests", "Requests that are being answered.", registry=self.registry
        )
        self._request_children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        key = (method, route, status)
        found = self._request_children.get(key)
        if found is None:
            counter = self._requests.labels(method, route, str(status))
            found = (counter, self._request_seconds.labels(route))
            self._request_children[key] = found
        found[0].inc()
        found[1].observe(seconds)

    def count_commit(self, submissions: int, seconds: float, committed: bool) -> None:
        """Count a commit of the writer, successful or failed."""
        self._commit_seconds.observe(seconds)
        if committed:
            self._group_submissions.observe(submissions)
        else:
            self._failed_commits.inc()

    def follow_requests(self, active: Callable[[], int]) -> None:
        """Set the function that gives the number of requests in progress when metrics are read."""
        self._active.set_function(active)

    def follow_writer(self, waiting: Callable[[], int]) -> None:
        """Set the function that gives the number of waiting submissions when metrics are read."""
        self._waiting.set_function(waiting)

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
