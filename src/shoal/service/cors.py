"""Cross-origin requests: pages of the origins that a campaign names may take part in it.

A page may fetch the document, send reports and read results of its own campaign, and nothing else.
No cookie is read or set, and no credential of a browser is allowed.
"""

import re

from starlette.responses import Response
from starlette.types import ASGIApp, Scope

from shoal.service.campaigns import LiveCampaigns
from shoal.service.problems import RefusedError, problem_response

__all__ = ["CrossOrigin"]

PAGES = re.compile(r"/v1/campaigns/([a-z0-9-]{1,64})(/reports|/results(?:/[0-9]{1,9})?)?")
METHODS = {"/reports": "POST"}
ALLOWED_HEADERS = "Authorization, Content-Type, Idempotency-Key, Shoal-Campaign, Shoal-Device"
EXPOSED_HEADERS = b"ETag, Retry-After, X-Request-Id"
PREFLIGHT_SECONDS = "600"


class CrossOrigin:
    """Cross-origin (CORS) answers to web pages, by the origins in a campaign's document.

    Parameters
    ----------
    campaigns : LiveCampaigns
        Campaigns of the server.

    Examples
    --------
    >>> from shoal.service import CrossOrigin
    >>> class NoCampaigns:
    ...     def get(self, campaign):
    ...         return None
    ...     async def find(self, campaign, digest=None):
    ...         return None
    >>> cross_origin = CrossOrigin(NoCampaigns())
    >>> scope = {"method": "GET", "path": "/v1/campaigns/homes", "headers": []}
    >>> cross_origin.headers(scope)
    []
    """

    def __init__(self, campaigns: LiveCampaigns) -> None:
        self._campaigns = campaigns

    def headers(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """Return the headers that allow a page to read the answer; none if it may not."""
        origin = _find(scope, b"origin")
        if origin is None:
            return []
        headers = [(b"vary", b"Origin")]
        if self._is_allowed(scope, origin):
            headers.append((b"access-control-allow-origin", origin))
            headers.append((b"access-control-expose-headers", EXPOSED_HEADERS))
        return headers

    def preflight(self, scope: Scope) -> ASGIApp | None:
        """Return the answer to a preflight request of a browser; None for other requests."""
        if scope["method"] != "OPTIONS":
            return None
        origin = _find(scope, b"origin")
        method = _find(scope, b"access-control-request-method")
        if origin is None or method is None:
            return None
        page = PAGES.fullmatch(scope["path"])
        allowed = METHODS.get(page[2] or "", "GET") if page else ""
        if method.decode("latin-1") != allowed or not self._is_allowed(scope, origin):
            return problem_response(
                RefusedError(
                    "origin-not-allowed", "The campaign's document does not name this web origin."
                )
            )
        return Response(
            status_code=204,
            headers={
                "Access-Control-Allow-Methods": allowed,
                "Access-Control-Allow-Headers": ALLOWED_HEADERS,
                "Access-Control-Max-Age": PREFLIGHT_SECONDS,
            },
        )

    def _is_allowed(self, scope: Scope, origin: bytes) -> bool:
        """Return whether the campaign of a request names an origin, and pages may use its path."""
        page = PAGES.fullmatch(scope["path"])
        campaign = self._campaigns.get(page[1]) if page else None
        if campaign is None or page is None or origin not in campaign.origins:
            return False
        return scope["method"] in {"OPTIONS", METHODS.get(page[2] or "", "GET")}


def _find(scope: Scope, name: bytes) -> bytes | None:
    """Return the header of a name, if it is there."""
    for found, value in scope["headers"]:
        if found == name:
            return bytes(value)
    return None
