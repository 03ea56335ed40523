"""Refusals: every one is a problem document (RFC 9457) of a kind that is declared here.

All servers of shoal share these kinds. The type of a problem is a path of its server, where its
explanation can be read. Titles and details are fixed texts and numbers of the request: no content
of a report, no key, no token.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from fastapi import HTTPException
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import Response

from shoal.exceptions import StoreError, StoreUnavailableError

__all__ = ["MEDIA_TYPE", "PROBLEMS", "Problem", "RefusedError", "problem_response"]

MEDIA_TYPE = "application/problem+json"
PATH = "/problems/"
BROKEN_SECONDS = 60  # until somebody has looked after a database that was changed


class Problem(NamedTuple):
    """One kind of refusal: its name in the path, status, title, and what to do about it."""

    name: str
    status: int
    title: str
    remedy: str

    @property
    def type(self) -> str:
        """The path that names this kind."""
        return PATH + self.name

    def document(self, detail: str) -> dict[str, str | int]:
        """Return the problem document."""
        return {
            "type": self.type,
            "title": self.title,
            "status": self.status,
            "detail": detail,
        }


#: All problems for which a server refuses a request, by name, with status, title and remedy.
PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem(
            "malformed-request",
            400,
            "The request is malformed",
            "Send each header once, in the form that the OpenAPI document gives.",
        ),
        Problem(
            "unauthorized",
            401,
            "A valid key or token is needed",
            "Send Authorization: Bearer with an ingest key of the campaign, or with a token that "
            "has neither expired nor been revoked.",
        ),
        Problem(
            "wrong-scope",
            403,
            "The token does not allow this",
            "Ask whoever runs the server for a token with the scope that is named.",
        ),
        Problem(
            "device-limit",
            403,
            "The device has no reports left",
            "Send nothing more for this campaign.",
        ),
        Problem(
            "origin-not-allowed",
            403,
            "The campaign does not allow this web origin",
            "Send reports from a page whose origin is in the campaign's document.",
        ),
        Problem(
            "relay-only",
            403,
            "The campaign takes reports through its relay alone",
            "Seal reports, and send them to the address in the campaign's document.",
        ),
        Problem(
            "not-shuffled",
            403,
            "The campaign takes no batches",
            "Send reports one by one: nobody shuffles them.",
        ),
        Problem(
            "cross-origin",
            403,
            "The request comes from another site",
            "Use the pages of the studio itself.",
        ),
        Problem(
            "over-budget",
            403,
            "The ledger refuses this spend",
            "Ask for less, or for nothing more: the limit was set before anything was spent.",
        ),
        Problem("not-found", 404, "There is nothing here", "See the OpenAPI document."),
        Problem(
            "unknown-campaign",
            404,
            "There is no such campaign",
            "Use the addresses in the campaign's document.",
        ),
        Problem(
            "method-not-allowed",
            405,
            "This method is not allowed here",
            "Use a method that the header Allow names.",
        ),
        Problem(
            "timeout",
            408,
            "The request took too long to arrive",
            "Send it again, with the same idempotency key.",
        ),
        Problem(
            "key-reused",
            409,
            "The idempotency key was used with other reports",
            "Send a submission again with its own key and the same bytes; a new one needs a new "
            "key.",
        ),
        Problem(
            "batch-differs",
            409,
            "The batch of this number holds other reports",
            "Send each batch with its own number, and the same bytes each time.",
        ),
        Problem(
            "batch-missing",
            409,
            "A batch before this one is missing",
            "Send batches in the order of their numbers, from 1.",
        ),
        Problem(
            "not-finished",
            409,
            "The analysis is not done",
            "Ask for the analysis until its state is done. A failed one cannot be published.",
        ),
        Problem(
            "ledger-changed",
            409,
            "The ledger has changed since the price was shown",
            "Look at the price and the ledger again, then decide again.",
        ),
        Problem(
            "closed",
            410,
            "The campaign is closed",
            "Send nothing more: reports are taken until the closing time of the document.",
        ),
        Problem(
            "campaign-changed",
            412,
            "The campaign's document is another one",
            "Fetch the document, check its signature, and decide again whether to report.",
        ),
        Problem(
            "too-large",
            413,
            "The request is too large",
            "Send fewer reports in a request.",
        ),
        Problem(
            "unsupported-media-type",
            415,
            "The body is of a kind that is not taken",
            "Send application/octet-stream or application/json, without a content encoding.",
        ),
        Problem(
            "wrong-host",
            421,
            "The server is not known by this host name",
            "Open the address that the server printed when it started.",
        ),
        Problem(
            "malformed-reports",
            422,
            "The body holds no reports",
            "Send whole reports in the format of the campaign's document.",
        ),
        Problem(
            "wrong-shape",
            422,
            "The reports have another shape",
            "Send as many bytes or numbers a report as the campaign's document says.",
        ),
        Problem(
            "out-of-range",
            422,
            "A report is out of range",
            "Send what the campaign's mechanism drew, never a record.",
        ),
        Problem(
            "off-lattice",
            422,
            "A report is off the lattice",
            "Send what the campaign's mechanism drew, to the last bit, never a record.",
        ),
        Problem(
            "invalid-parameter",
            422,
            "A parameter breaks its rule",
            "Change what the detail names.",
        ),
        Problem(
            "too-many-requests",
            429,
            "Too many requests",
            "Send it again after the seconds of Retry-After.",
        ),
        Problem(
            "header-too-large",
            431,
            "The head of the request is too large",
            "Send fewer or shorter headers.",
        ),
        Problem(
            "internal-error",
            500,
            "The server failed",
            "Send it again, with the same idempotency key; tell whoever runs the server the "
            "X-Request-Id.",
        ),
        Problem(
            "unavailable",
            503,
            "The server cannot do this now",
            "Send it again after the seconds of Retry-After, with the same idempotency key.",
        ),
    )
}

BY_STATUS = {404: "not-found", 405: "method-not-allowed", 422: "invalid-parameter"}


class RefusedError(HTTPException):
    """Raised to refuse a request; the answer is a problem document.

    Parameters
    ----------
    name : str
        Key of `PROBLEMS`.
    detail : str
        What is wrong with this request, without any of its content.
    headers : mapping, default=None
        Headers of the answer.
    """

    def __init__(self, name: str, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        self.problem = PROBLEMS[name]
        super().__init__(self.problem.status, detail, dict(headers or {}))


def unavailable(detail: str, retry_after: int = 1) -> RefusedError:
    """Return the error for a request that may be sent again soon.

    Examples
    --------
    >>> from shoal.service import unavailable
    >>> unavailable("The database does not answer.").problem.status
    503
    """
    return RefusedError("unavailable", detail, headers={"Retry-After": str(retry_after)})


def too_many_requests(detail: str, wait: float) -> RefusedError:
    """Return the refusal of a request that came too soon."""
    seconds = str(max(1, round(wait + 0.5)))
    return RefusedError("too-many-requests", detail, headers={"Retry-After": seconds})


def store_refusal(error: StoreError) -> RefusedError:
    """Return the error for a request that the database could not serve.

    Examples
    --------
    >>> from shoal.exceptions import StoreError
    >>> from shoal.service import store_refusal
    >>> store_refusal(StoreError("the file is no database")).problem.status
    503
    """
    if isinstance(error, StoreUnavailableError):
        # What PostgreSQL says to people, in brackets, names users, hosts and databases.
        return unavailable(f"{str(error).partition(' (')[0]}.", error.retry_after)
    return unavailable("The database cannot be used as it is.", BROKEN_SECONDS)


def framework_refusal(error: StarletteHTTPException) -> RefusedError:
    """Return a refusal of the web framework as one of ours, without its text."""
    if isinstance(error, RefusedError):
        return error
    name = BY_STATUS.get(error.status_code, "malformed-request")
    return RefusedError(name, PROBLEMS[name].title + ".", headers=error.headers)


def problem_response(refused: RefusedError) -> Response:
    """Return the answer to a refused request.

    Examples
    --------
    >>> from shoal.service import problem_response, unavailable
    >>> problem_response(unavailable("The database does not answer.")).status_code
    503
    """
    return Response(
        problem_bytes(refused),
        status_code=refused.status_code,
        headers=dict(refused.headers or {}),
        media_type=MEDIA_TYPE,
    )


def problem_bytes(refused: RefusedError) -> bytes:
    """Return the problem document of a refusal as JSON text."""
    return json.dumps(refused.problem.document(refused.detail)).encode("ascii")
