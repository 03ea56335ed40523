"""Intake of reports: the one route that many devices use, so it does as little as it can.

A submission is checked, stored with all others that wait by one commit, and acknowledged after
that commit. Sending the same bytes with the same idempotency key again is always safe. A collector
and a shuffler take reports by the same rules: a device need not know which of them it talks to.
"""

import re
from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from starlette.types import Receive, Scope, Send

from shoal.exceptions import StoreError
from shoal.service.auth import Gatekeeper
from shoal.service.campaigns import LiveCampaign, LiveCampaigns, unknown_campaign
from shoal.service.group_commit import GroupCommit, Outcome, Submission
from shoal.service.limits import BucketTable
from shoal.service.problems import (
    RefusedError,
    problem_response,
    store_refusal,
    too_many_requests,
)

__all__ = ["PATH", "CampaignRoute", "Intake", "Taken", "is_json", "read_body", "read_headers"]

PATH = "/v1/campaigns/{campaign}/reports"
KEY = re.compile(rb"[A-Za-z0-9_-]{16,64}")
DIGEST = re.compile(rb"[0-9a-f]{64}")
OCTETS = b"application/octet-stream"
JSON = b"application/json"

HEADERS = frozenset(
    (
        b"authorization",
        b"content-encoding",
        b"content-type",
        b"idempotency-key",
        b"shoal-campaign",
        b"shoal-device",
    )
)


class Taken(NamedTuple):
    """Result of a request to a campaign: how to count it, and how to answer it.

    Examples
    --------
    >>> from shoal.service import Taken
    >>> Taken("stored", n_reports=1, status=201, answer=b"{}").status
    201
    """

    outcome: str
    n_reports: int  # that were stored now
    status: int
    answer: bytes


class CampaignRoute:
    """ASGI application for a path of a campaign to which reports are posted.

    Parameters
    ----------
    campaigns : LiveCampaigns
        Campaigns of the server.
    gatekeeper : Gatekeeper
        Checks ingest keys.
    rates : BucketTable
        Limits the rate of submissions to a campaign.
    count : callable
        Called with the campaign, the outcome (or the name of a problem) and the number of reports
        that were stored.
    max_body_bytes : int
        Largest size of a body, in bytes.

    Examples
    --------
    >>> from shoal.service import BucketTable, CampaignRoute, ClientAddresses, Gatekeeper, Intake
    >>> issubclass(Intake, CampaignRoute)
    True
    """

    def __init__(
        self,
        campaigns: LiveCampaigns,
        gatekeeper: Gatekeeper,
        rates: BucketTable,
        count: Callable[[str, str, int], None],
        max_body_bytes: int,
    ) -> None:
        self._campaigns = campaigns
        self._gatekeeper = gatekeeper
        self._rates = rates
        self._count = count
        self.max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one request, or say why not."""
        try:
            await self._answer(scope, receive, send)
        except RefusedError as refused:
            await problem_response(refused)(scope, receive, send)
        except StoreError as error:
            await problem_response(store_refusal(error))(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one request and acknowledge it."""
        campaign = await self._campaigns.find(scope["path_params"]["campaign"])
        if campaign is None:
            raise unknown_campaign()
        try:
            taken = await self._take(campaign, scope, receive)
        except (RefusedError, StoreError) as error:
            refused = error if isinstance(error, RefusedError) else store_refusal(error)
            self._count(campaign.id, refused.problem.name, 0)
            raise refused from None
        self._count(campaign.id, taken.outcome, taken.n_reports)
        headers = [
            (b"content-type", JSON),
            (b"content-length", str(len(taken.answer)).encode("ascii")),
        ]
        await send({"type": "http.response.start", "status": taken.status, "headers": headers})
        await send({"type": "http.response.body", "body": taken.answer})

    @abstractmethod
    async def _take(self, campaign: LiveCampaign, scope: Scope, receive: Receive) -> Taken:
        """Check and store what was posted."""

    async def _check_key(
        self, campaign: LiveCampaign, scope: Scope, headers: dict[bytes, bytes]
    ) -> None:
        """Refuse who has no ingest key of the campaign, and who comes too often."""
        if self._needs_key(campaign):
            header = headers.get(b"authorization")
            await self._gatekeeper.check_ingest_key(scope, campaign.id, header)
        if wait := self._rates.take(campaign.id):
            raise too_many_requests("Too many submissions to this campaign.", wait)

    def _needs_key(self, campaign: LiveCampaign) -> bool:
        return not campaign.open_intake

    async def _agreed(self, campaign: LiveCampaign, digest: bytes | None) -> LiveCampaign:
        """Return the campaign if the sender answers its document in force."""
        if digest is None or not DIGEST.fullmatch(digest):
            raise RefusedError(
                "malformed-request",
                "Shoal-Campaign must be the digest of the campaign's document: 64 hexadecimal "
                "digits.",
            )
        found = await self._campaigns.find(campaign.id, digest)
        if found is None or found.digest != digest:
            raise RefusedError(
                "campaign-changed",
                "Shoal-Campaign is not the digest of the document in force; nothing was stored.",
            )
        return found


class Intake(CampaignRoute):
    """Route to which devices send reports: ``POST /v1/campaigns/{campaign}/reports``.

    Examples
    --------
    >>> from shoal.service import BucketTable, ClientAddresses, Gatekeeper, Intake, ServiceSettings
    >>> class Nobody:
    ...     def find_token(self, text):
    ...         return None
    ...     def ingest_key_ok(self, campaign, text):
    ...         return False
    >>> class NoCampaigns:
    ...     def get(self, campaign):
    ...         return None
    ...     async def find(self, campaign, digest=None):
    ...         return None
    >>> gatekeeper = Gatekeeper(Nobody(), ClientAddresses(0), ServiceSettings())
    >>> rates = BucketTable(rate=100.0, burst=200.0)
    >>> intake = Intake(NoCampaigns(), gatekeeper, rates, lambda *counted: None, 65_536)
    >>> callable(intake)
    True
    """

    path = PATH
    pattern = re.compile(PATH.replace("{campaign}", "(?P<campaign>[^/]+)"))
    writer: GroupCommit | None = None  # while the application runs

    async def _take(self, campaign: LiveCampaign, scope: Scope, receive: Receive) -> Taken:
        """Check and store one submission."""
        headers = read_headers(scope["headers"])
        await self._check_key(campaign, scope, headers)
        campaign = await self._agreed(campaign, headers.get(b"shoal-campaign"))
        if not campaign.is_open:
            raise RefusedError("closed", "The closing time of the campaign is over.")
        key = headers.get(b"idempotency-key")
        if key is None or not KEY.fullmatch(key):
            raise RefusedError(
                "malformed-request",
                "Idempotency-Key must be 16 to 64 letters, digits, hyphens or underscores.",
            )
        device = _read_device(campaign, headers.get(b"shoal-device"))
        as_json = is_json(headers)
        body = await read_body(receive)
        if as_json:
            body, count = campaign.check.encode_json(body)
        else:
            count = campaign.check.check_bytes(body)
        if self.writer is None:
            raise RuntimeError("the application was not started: its lifespan makes the writer")
        outcome = await self.writer.submit(Submission(campaign.id, key, body, count, device))
        if outcome is Outcome.CONFLICT:
            raise RefusedError(
                "key-reused", "This idempotency key belongs to a submission with other reports."
            )
        if outcome is Outcome.OVER_LIMIT:
            raise RefusedError(
                "device-limit", "These are more reports than the campaign asks of a device."
            )
        new = outcome is Outcome.STORED
        answer = b'{"stored": %d, "duplicate": %b}' % (count, b"false" if new else b"true")
        return Taken(outcome.value, count if new else 0, 201 if new else 200, answer)


def read_headers(headers: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return the headers that the intake reads; refuse repeated ones.

    Examples
    --------
    >>> from shoal.service import read_headers
    >>> read_headers([(b"content-type", b"application/json"), (b"user-agent", b"a device")])
    {b'content-type': b'application/json'}
    """
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in HEADERS:
            if name in found:
                raise RefusedError(
                    "malformed-request", f"{name.decode('ascii').title()} must be sent once."
                )
            found[name] = value
    return found


def _read_device(campaign: LiveCampaign, header: bytes | None) -> bytes | None:
    """Return the identifier of the device where the campaign asks for it, and only there."""
    if not campaign.device_ids:
        if header is not None:
            raise RefusedError(
                "malformed-request", "Shoal-Device must not be sent: the campaign does not ask."
            )
        return None
    if header is None or not KEY.fullmatch(header):
        raise RefusedError(
            "malformed-request",
            "Shoal-Device must be 16 to 64 letters, digits, hyphens or underscores.",
        )
    return header


def is_json(headers: dict[bytes, bytes]) -> bool:
    """Return whether the content type is JSON or plain bytes; refuse any other type.

    Examples
    --------
    >>> from shoal.service import is_json
    >>> is_json({b"content-type": b"application/json"})
    True
    >>> is_json({b"content-type": b"application/octet-stream"})
    False
    """
    content_type = headers.get(b"content-type", b"")
    encoding = headers.get(b"content-encoding", b"identity")
    if encoding.strip().lower() == b"identity":
        if content_type == OCTETS:
            return False
        kind, _, rest = content_type.lower().partition(b";")
        if kind.strip() == OCTETS:
            return False
        charset = rest.replace(b" ", b"").replace(b'"', b"")
        if kind.strip() == JSON and charset in {b"", b"charset=utf-8"}:
            return True
    raise RefusedError(
        "unsupported-media-type",
        "The body must be application/octet-stream or application/json in UTF-8, not compressed.",
    )


async def read_body(receive: Receive, limit: int | None = None) -> bytes:
    """Return the body of a request; if it exceeds `limit`, only a part that exceeds it too.

    Without `limit`, it is only limited by `receive`, such as that of :class:`LimitedBody`.

    Examples
    --------
    >>> import asyncio
    >>> from shoal.service import read_body
    >>> async def receive():
    ...     return {"type": "http.request", "body": b"a report", "more_body": False}
    >>> asyncio.run(read_body(receive))
    b'a report'
    """
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return body
    parts, length = [body], len(body)
    while message.get("more_body", False) and (limit is None or length <= limit):
        message = await receive()
        parts.append(message.get("body", b""))
        length += len(parts[-1])
    return b"".join(parts)
