"""The OpenAPI document of a server: refusals with examples for every route, and its parts."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from shoal.service.problems import MEDIA_TYPE, PROBLEMS

__all__ = [
    "CAMPAIGN",
    "DIGEST_EXAMPLE",
    "intake_operation",
    "json_example",
    "parameter",
    "refusals",
    "service_document",
]

ANYWHERE = (
    "malformed-request",
    "timeout",
    "too-large",
    "too-many-requests",
    "header-too-large",
    "internal-error",
    "unavailable",
)
#: Digest of a campaign, for examples in the API documentation.
DIGEST_EXAMPLE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
#: Regular expression of a campaign's identifier.
CAMPAIGN = "[a-z0-9][a-z0-9-]{0,63}"
KEY = "^[A-Za-z0-9_-]{16,64}$"

RETRY_AFTER = {
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
}
PROBLEM_SCHEMA = {
    "type": "object",
    "title": "Problem",
    "description": "A problem document (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "additionalProperties": False,
    "properties": {
        "type": {"type": "string", "enum": [problem.type for problem in PROBLEMS.values()]},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
    },
}
ACCEPTED_SCHEMA = {
    "type": "object",
    "title": "Accepted",
    "required": ["stored", "duplicate"],
    "additionalProperties": False,
    "properties": {
        "stored": {"type": "integer", "minimum": 1, "description": "Reports of the submission."},
        "duplicate": {"type": "boolean", "description": "Whether they were stored before."},
    },
}


def refusals(*names: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses for given reasons of refusal, and for those of any route.

    Examples
    --------
    >>> from shoal.service import refusals
    >>> 404 in refusals("unknown-campaign")
    True
    """
    responses: dict[int | str, dict[str, Any]] = {}
    for name in sorted({*names, *ANYWHERE}, key=lambda name: PROBLEMS[name].status):
        problem = PROBLEMS[name]
        response = responses.setdefault(
            problem.status,
            {
                "description": problem.title + ".",
                "content": {
                    MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": {}}
                },
            },
        )
        response["content"][MEDIA_TYPE]["examples"][name] = {
            "summary": problem.remedy,
            "value": problem.document(problem.title + "."),
        }
        if problem.status in {429, 503}:
            response["headers"] = RETRY_AFTER
        if problem.status == 401:
            response["headers"] = {
                "WWW-Authenticate": {"schema": {"type": "string"}, "description": "Bearer."}
            }
    return responses


def service_document(app: FastAPI, description: str) -> dict[str, Any]:
    """Return the OpenAPI document of the routes of an application.

    Examples
    --------
    >>> from fastapi import FastAPI, Security
    >>> from fastapi.security import HTTPBearer
    >>> from shoal.service import service_document
    >>> app = FastAPI(title="a server")
    >>> @app.get("/v1/status")
    ... def status(token=Security(HTTPBearer())):
    ...     return {}
    >>> document = service_document(app, "A test.")
    >>> document["info"]["title"], sorted(document["components"]["securitySchemes"])
    ('a server', ['HTTPBearer', 'ingestKey'])
    """
    plain = get_openapi(
        title=app.title, version=app.version, description=description, routes=app.routes
    )
    schemas = plain["components"].setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = PROBLEM_SCHEMA
    schemas["Accepted"] = ACCEPTED_SCHEMA
    plain["components"]["securitySchemes"]["ingestKey"] = {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "shoal_key_<id>_<secret>",
        "description": "An ingest key of the campaign.",
    }
    return plain


def intake_operation(
    description: str,
    content: dict[str, Any],
    names: Sequence[str],
    parameters: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the OpenAPI operation of a route that accepts reports.

    Parameters
    ----------
    description : str
        What the server does with reports.
    content : dict
        Content types of bodies, with their schemas.
    names : sequence of str
        Names of problems, in addition to those of every intake.
    parameters : sequence of dict, default=()
        Headers, in addition to those of every intake.

    Examples
    --------
    >>> from shoal.service import intake_operation
    >>> operation = intake_operation("Stores reports.", {"application/json": {}}, [])
    >>> "responses" in operation
    True
    """
    responses = refusals(
        "unauthorized",
        "unknown-campaign",
        "key-reused",
        "closed",
        "campaign-changed",
        "unsupported-media-type",
        *names,
    )
    return {
        "tags": ["devices"],
        "summary": "Send reports",
        "description": f"{description} The same reports with the same Idempotency-Key may be sent "
        "again at any time. Campaigns with open intake need no key.",
        "operationId": "send_reports",
        "security": [{"ingestKey": []}, {}],
        "parameters": [
            parameter("campaign", "path", f"^{CAMPAIGN}$", "homes", "Id of the campaign."),
            parameter(
                "Idempotency-Key",
                "header",
                KEY,
                "Zq3hTn0vX8mLr2Ws",
                "A random key of this submission.",
            ),
            parameter(
                "Shoal-Campaign",
                "header",
                "^[0-9a-f]{64}$",
                DIGEST_EXAMPLE,
                "Digest of the document that the reports answer.",
            ),
            *parameters,
        ],
        "requestBody": {"required": True, "content": content},
        "responses": {
            "201": _accepted("The reports were stored.", duplicate=False),
            "200": _accepted("The same reports were stored before.", duplicate=True),
            **{str(status): response for status, response in responses.items()},
        },
    }


def _accepted(description: str, *, duplicate: bool) -> dict[str, Any]:
    example = {"value": {"stored": 1, "duplicate": duplicate}}
    return {
        "description": description,
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/Accepted"},
                "examples": {"one report": example},
            }
        },
    }


def parameter(
    name: str,
    place: str,
    pattern: str,
    example: str | None,
    description: str,
    *,
    required: bool = True,
) -> dict[str, Any]:
    """Return the OpenAPI description of a text parameter with a pattern.

    Examples
    --------
    >>> from shoal.service import parameter
    >>> parameter("campaign", "path", "^[a-z]+$", "homes", "Which campaign.")["schema"]["pattern"]
    '^[a-z]+$'
    """
    described = {
        "name": name,
        "in": place,
        "required": required,
        "description": description,
        "schema": {"type": "string", "pattern": pattern},
    }
    return described if example is None else {**described, "example": example}


def json_example(description: str, example: Any, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the OpenAPI description of a response, with an example of its JSON.

    Examples
    --------
    >>> from shoal.service import json_example
    >>> json_example("How many.", {"reports": 3})["description"]
    'How many.'
    """
    response: dict[str, Any] = {
        "description": description,
        "content": {"application/json": {"example": example}},
    }
    if names:
        response["headers"] = {name: {"schema": {"type": "string"}} for name in names}
    return response
