"""Published results: fetched, checked against what the device agreed to, and kept.

They are not signed. What is trusted is the address in the signed document and the server behind it:
a server that lies can publish any clusters, and learns nothing by it for as long as labels, and
behavior that depends on them, stay on the device.
"""

import json
from collections.abc import Mapping
from typing import Any

from shoal._records import fitted_names, values_by_name
from shoal.campaigns import Campaign
from shoal.client.delivery import Retries, ask, refusal
from shoal.client.device_file import Published
from shoal.client.transport import Request, Transport
from shoal.exceptions import CampaignError, ParameterError, ReleaseError
from shoal.labels import label_on_device
from shoal.privacy import Release

__all__ = ["fetch_results", "label_record"]

MAX_RESULTS = 64 << 20  # bytes
NOT_YET = 404


def fetch_results(campaign: Campaign, transport: Transport, retries: Retries) -> Published:
    """Return the results of a campaign, with the digest of the document that they answer."""
    headers = {"Accept": "application/json"}
    request = Request("GET", campaign.results_url, headers, None, MAX_RESULTS)
    answer = ask(transport, request, retries)
    if answer.status == NOT_YET:
        raise CampaignError(f"campaign {campaign.id!r} has no results yet: ask again later")
    if answer.status != 200:
        raise refusal(request, answer)
    plain = _parsed(answer.body)
    if not isinstance(plain, dict) or not {"digest", "release"} <= set(plain):
        raise CampaignError(
            f"{campaign.results_url} must hold a release and the digest of the document that it "
            "answers, got something else"
        )
    published = Published(campaign.id, str(plain["digest"]), json.dumps(plain["release"]))
    _release(published)
    return published


def label_record(published: Published, campaign: Campaign, x: Any) -> int:
    """Return the published cluster of one record, whose values come in order or by name."""
    mechanism = campaign.mechanism
    if isinstance(x, Mapping) and mechanism.schema is None:  # a release without schema has no names
        x = values_by_name(x, fitted_names(mechanism))
    try:
        label = label_on_device(_release(published), x)
    except ReleaseError as failure:
        raise CampaignError(
            f"results of campaign {campaign.id!r} must hold clusters: {failure.message}; no label "
            "was made"
        ) from None
    if not isinstance(label, int):
        raise ParameterError("x must be one record, got a table")
    return label


def _release(published: Published) -> Release:
    """Return the release of results."""
    try:
        return Release.from_json(published.release)
    except ReleaseError as failure:
        raise CampaignError(
            f"results of campaign {published.campaign!r} must hold a release: {failure.message}"
        ) from None


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
