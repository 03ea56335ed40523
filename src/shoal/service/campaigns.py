"""Campaigns as a server sees them, wherever their signed documents come from."""

import time
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import Annotated, Protocol

from fastapi import Depends, FastAPI, Path, Request
from starlette.responses import Response

from shoal.service.openapi import CAMPAIGN, json_example, refusals
from shoal.service.problems import RefusedError

__all__ = [
    "CampaignId",
    "LiveCampaign",
    "LiveCampaigns",
    "add_document_route",
    "campaign_finder",
    "tagged_response",
]

ROOT = "/v1/campaigns/{campaign}"
#: Signed document of a campaign, for examples in the API documentation.
ENVELOPE_EXAMPLE = {
    "payload": "eyJ2ZXJzaW9uIjogMX0=",
    "payloadType": "application/vnd.shoal.campaign+json",
    "signatures": [{"keyid": "ed25519:...", "sig": "..."}],
}
CampaignId = Annotated[
    str, Path(pattern=f"^{CAMPAIGN}$", description="Id of the campaign.", examples=["homes"])
]


class _Document(Protocol):
    """What a server reads of a campaign's document."""

    @property
    def id(self) -> str: ...
    @property
    def closes(self) -> datetime: ...
    @property
    def device_ids(self) -> bool: ...
    @property
    def open_intake(self) -> bool: ...
    @property
    def origins(self) -> Collection[str]: ...


class _SignedDocument(Protocol):
    """A document whose signature was checked."""

    @property
    def campaign(self) -> _Document: ...
    @property
    def digest(self) -> str: ...
    @property
    def envelope(self) -> bytes: ...


class BodyCheck(Protocol):
    """Refuses bodies that hold no reports of a campaign."""

    def check_bytes(self, body: bytes) -> int:
        """Return the number of reports in a body of bytes; RefusedError if it is none."""

    def encode_json(self, body: bytes) -> tuple[bytes, int]:
        """Return the reports of a JSON text as bytes, and their number."""


class LiveCampaign:
    """A campaign on a server, with what requests need of its document.

    Parameters
    ----------
    signed : SignedCampaign
        The current document.
    check : BodyCheck
        Refuses bodies that cannot be reports.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from datetime import UTC, datetime
    >>> from shoal.service import LiveCampaign
    >>> campaign = SimpleNamespace(
    ...     id="homes",
    ...     device_ids=False,
    ...     open_intake=True,
    ...     origins=(),
    ...     closes=datetime(2099, 1, 1, tzinfo=UTC),
    ... )
    >>> signed = SimpleNamespace(campaign=campaign, digest="ab" * 32)
    >>> LiveCampaign(signed, check=SimpleNamespace()).is_open
    True
    """

    def __init__(self, signed: _SignedDocument, check: BodyCheck) -> None:
        campaign = signed.campaign
        self.id = campaign.id
        self.signed = signed
        self.digest = signed.digest.encode("ascii")
        self.check = check
        self.device_ids = campaign.device_ids
        self.open_intake = campaign.open_intake
        self.origins = frozenset(origin.encode("latin-1", "replace") for origin in campaign.origins)
        self._closes = campaign.closes.timestamp()

    @property
    def is_open(self) -> bool:
        """Whether reports are still accepted."""
        return time.time() < self._closes


class LiveCampaigns(Protocol):
    """Protocol of the campaigns of a server.

    Examples
    --------
    >>> import asyncio
    >>> from shoal.service import LiveCampaigns
    >>> class NoCampaigns:
    ...     def get(self, campaign):
    ...         return None
    ...     async def find(self, campaign, digest=None):
    ...         return None
    >>> campaigns: LiveCampaigns = NoCampaigns()
    >>> asyncio.run(campaigns.find("homes")) is None
    True
    """

    def get(self, campaign: str) -> LiveCampaign | None:
        """Return a campaign by its identifier, if it is known."""

    async def find(self, campaign: str, digest: bytes | None = None) -> LiveCampaign | None:
        """Return a campaign; read it again if it is unknown or has another digest."""


def campaign_finder(campaigns: LiveCampaigns) -> Callable[..., Awaitable[LiveCampaign]]:
    """Return a FastAPI dependency that finds the campaign named in a path.

    Examples
    --------
    >>> import asyncio
    >>> from shoal.service import RefusedError, campaign_finder
    >>> class NoCampaigns:
    ...     def get(self, campaign):
    ...         return None
    ...     async def find(self, campaign, digest=None):
    ...         return None
    >>> try:
    ...     asyncio.run(campaign_finder(NoCampaigns())("homes"))
    ... except RefusedError as refused:
    ...     print(refused.problem.status)
    404
    """

    async def known(campaign: CampaignId) -> LiveCampaign:
        found = await campaigns.find(campaign)
        if found is None:
            raise unknown_campaign()
        return found

    return known


def unknown_campaign() -> RefusedError:
    """Return the refusal of a request to a campaign that is not here."""
    return RefusedError("unknown-campaign", "This server has no campaign of this id.")


def add_document_route(app: FastAPI, known: Callable[..., Awaitable[LiveCampaign]]) -> None:
    """Add the route that serves the signed document of a campaign.

    Examples
    --------
    >>> from fastapi import FastAPI
    >>> from shoal.service import add_document_route, campaign_finder
    >>> class NoCampaigns:
    ...     def get(self, campaign):
    ...         return None
    ...     async def find(self, campaign, digest=None):
    ...         return None
    >>> app = FastAPI()
    >>> before = len(app.routes)
    >>> add_document_route(app, campaign_finder(NoCampaigns()))
    >>> len(app.routes) - before
    1
    """

    @app.get(
        ROOT,
        tags=["devices"],
        summary="Fetch the signed document of a campaign",
        response_class=Response,
        responses={
            200: json_example("The DSSE envelope, unchanged.", ENVELOPE_EXAMPLE, ["ETag"]),
            304: {"description": "The document is the one of If-None-Match."},
            **refusals("unknown-campaign", "invalid-parameter"),
        },
    )
    async def campaign_document(
        campaign: Annotated[LiveCampaign, Depends(known)], request: Request
    ) -> Response:
        signed = campaign.signed
        return tagged_response(request, signed.envelope, f'"{signed.digest}"')


def tagged_response(request: Request, content: bytes, tag: str) -> Response:
    """Return a response that clients may cache, and revalidate by its ETag.

    Examples
    --------
    >>> from starlette.requests import Request
    >>> from shoal.service import tagged_response
    >>> request = Request({"type": "http", "headers": [(b"if-none-match", b'"abc"')]})
    >>> tagged_response(request, b"{}", '"abc"').status_code
    304
    """
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    asked = request.headers.get("if-none-match", "")
    if tag in [one.strip().removeprefix("W/") for one in asked.split(",")]:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type="application/json")
