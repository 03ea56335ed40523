"""Metrics of a collector: submissions and reports, by campaign and outcome.

Labels are of small fixed sets: ids of known campaigns, names of problems.
"""

from prometheus_client import Counter

from shoal.service import Metrics

__all__ = ["CollectorMetrics"]


class CollectorMetrics(Metrics):
    """The metrics of every server, and what was stored and refused."""

    def __init__(self) -> None:
        super().__init__()
        self._submissions = Counter(
            "shoal_submissions",
            "Submissions by campaign and outcome: stored, duplicate, or the name of a problem.",
            ("campaign", "outcome"),
            registry=self.registry,
        )
        self._reports = Counter(
            "shoal_reports",
            "Reports stored, by campaign.",
            ("campaign",),
            registry=self.registry,
        )
        self._submission_children: dict[tuple[str, str], Counter] = {}
        self._report_children: dict[str, Counter] = {}

    def count_submission(self, campaign: str, outcome: str, stored: int = 0) -> None:
        """Count a submission of a known campaign, and the reports that were stored of it."""
        key = (campaign, outcome)
        counter = self._submission_children.get(key)
        if counter is None:
            counter = self._submission_children[key] = self._submissions.labels(*key)
        counter.inc()
        if stored:
            reports = self._report_children.get(campaign)
            if reports is None:
                reports = self._report_children[campaign] = self._reports.labels(campaign)
            reports.inc(stored)
