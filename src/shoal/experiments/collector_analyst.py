"""The analyst of a demo, who sees what a collector answers over HTTP; and what must not happen."""

import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from shoal._typing import Floats
from shoal.campaigns import SignedCampaign
from shoal.client import Device, Request, UrlTransport
from shoal.exceptions import BudgetExceededError, ReleaseError
from shoal.experiments.collector_rows import N_CLUSTERS
from shoal.privacy import Release

__all__ = ["Analyst", "Refusal", "try_again", "try_wrong_reports"]

METHOD = "noise-aware"
ANALYSIS_SECONDS = 300.0
POLL_SECONDS = 0.2
MAX_ANSWER = 64 << 20  # bytes


class Refusal(NamedTuple):
    """Something that must not happen, tried, and what was answered."""

    tried: str
    answer: str


class Analyst:
    """Somebody with a token, who sees what the server answers over HTTP."""

    def __init__(self, base: str, token: str) -> None:
        self.base = base
        self._token = token
        self._transport = UrlTransport(timeout=30.0)

    def publish_clusters(self, n_reports: int, assumed: Mapping[str, float]) -> Release:
        """Ask for clusters of all reports, wait for them, and publish them."""
        parameters = {"n_clusters": N_CLUSTERS, **assumed}
        asked = {"method": METHOD, "parameters": parameters, "seed": 0}
        job = self.ask("POST", f"{self.base}/analyses", asked)
        version, end = int(job["version"]), time.monotonic() + ANALYSIS_SECONDS
        while job["state"] in ("queued", "running"):
            if time.monotonic() > end:
                raise ReleaseError(f"the analysis must end in {ANALYSIS_SECONDS:g} s, got no end")
            time.sleep(POLL_SECONDS)
            job = self.ask("GET", f"{self.base}/analyses/{version}")
        if job["state"] != "done" or job["reports"] != n_reports:
            raise ReleaseError(
                f"the analysis must be done with {n_reports} reports, got {job['state']} with "
                f"{job['reports']}: {job['error']}"
            )
        self.ask("POST", f"{self.base}/analyses/{version}/publish")
        return Release.from_json(json.dumps(job["release"]))

    def ask(self, method: str, url: str, body: Any = None) -> dict[str, Any]:
        """Return what the server answers; ReleaseError if it refuses."""
        headers = {"Authorization": f"Bearer {self._token}"}
        status, plain = self.send(method, url, headers, body)
        if status >= 300:
            raise ReleaseError(f"the server refused {method} {url}: status {status}, {plain}")
        return plain

    def send(
        self, method: str, url: str, headers: dict[str, str], body: Any = None
    ) -> tuple[int, dict[str, Any]]:
        """Return status and content of an answer; a body that is no bytes is sent as JSON."""
        content, kind = body, "application/octet-stream"
        if not (body is None or isinstance(body, bytes)):
            content, kind = json.dumps(body).encode(), "application/json"
        if content is not None:
            headers = {**headers, "Content-Type": kind}
        answer = self._transport(Request(method, url, headers, content, MAX_ANSWER))
        return answer.status, json.loads(answer.body or b"{}")


def try_again(device: Device, record: Floats, other: Floats) -> list[Refusal]:
    """Let a device that has reported a record report another one, and the same again."""
    again = device.report(record)
    try:
        device.report(other)
        second = "it was sent"
    except BudgetExceededError as refused:
        second = str(refused)
    return [
        Refusal("A second, different report of one device", second),
        Refusal(
            "The same record reported again",
            "the same bytes as before, nothing spent" if again.duplicate else "a fresh report",
        ),
    ]


def try_wrong_reports(
    analyst: Analyst, signed: SignedCampaign, record: Floats, *, collector_key: str, relay_key: str
) -> list[Refusal]:
    """Send a raw record in the place of a report; and a sealed report past the relay."""
    campaign, reports = signed.campaign, f"{analyst.base}/reports"
    headers = {"Idempotency-Key": "something-wrong-in-the-demo", "Shoal-Campaign": signed.digest}
    at_collector = {**headers, "Authorization": f"Bearer {collector_key}"}
    if campaign.shuffler is None:
        answer = analyst.send("POST", reports, at_collector, {"reports": [record.tolist()]})
        return [_refusal("A raw record sent to the server in the place of a report", answer)]
    at_relay = {**headers, "Authorization": f"Bearer {relay_key}"}
    raw = analyst.send("POST", campaign.reports_url, at_relay, record.tobytes())
    sealed = campaign.shuffler.seal(bytes(campaign.report_format.width), campaign.id)
    past = analyst.send("POST", reports, at_collector, sealed)
    return [
        _refusal("A raw record sent to the relay in the place of a sealed report", raw),
        _refusal("A sealed report sent to the analyst's server, past the relay", past),
    ]


def _refusal(tried: str, answer: tuple[int, dict[str, Any]]) -> Refusal:
    status, problem = answer
    return Refusal(
        tried, f"status {status}, {problem.get('title', '')}: {problem.get('detail', '')}"
    )
