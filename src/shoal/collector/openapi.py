"""The OpenAPI document of a collector: intake is described by hand."""

from typing import Any

from fastapi import FastAPI

from shoal.collector.batch_intake import MAX_BATCH_BYTES, MAX_NUMBER, BatchIntake
from shoal.collector.settings import Settings
from shoal.service import (
    CAMPAIGN,
    DIGEST_EXAMPLE,
    Intake,
    intake_operation,
    json_example,
    parameter,
    refusals,
    service_document,
)

__all__ = ["document"]

DESCRIPTION = """Takes reports of devices, never records. Campaigns, tokens and ingest keys are made
on the machine of the server; there is no endpoint for them, and none for records."""

ACCEPTED_BATCH = {
    "type": "object",
    "title": "AcceptedBatch",
    "required": ["batch", "stored", "dropped", "duplicate"],
    "additionalProperties": False,
    "properties": {
        "batch": {"type": "integer", "minimum": 1, "description": "Its number."},
        "stored": {"type": "integer", "minimum": 0, "description": "Reports that were kept."},
        "dropped": {"type": "integer", "minimum": 0, "description": "Reports that were not."},
        "duplicate": {"type": "boolean", "description": "Whether it was stored before."},
    },
}


def document(app: FastAPI, settings: Settings) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    plain = service_document(app, DESCRIPTION)
    plain["paths"].setdefault(Intake.path, {})["post"] = intake_operation(
        "Stores one or more reports, and answers after they are on the disk.",
        _content(settings),
        (
            "device-limit",
            "relay-only",
            "malformed-reports",
            "wrong-shape",
            "out-of-range",
            "off-lattice",
        ),
        [
            parameter(
                "Shoal-Device",
                "header",
                "^[A-Za-z0-9_-]{16,64}$",
                None,
                "Random identifier of the device, if the campaign asks for it, and only then.",
                required=False,
            )
        ],
    )
    schemes = plain["components"]["securitySchemes"]
    schemes["relayKey"] = {**schemes["ingestKey"], "description": "A key of the campaign's relay."}
    plain["components"]["schemas"]["AcceptedBatch"] = ACCEPTED_BATCH
    plain["paths"].setdefault(BatchIntake.path, {})["post"] = _batch_operation()
    return plain


def _batch_operation() -> dict[str, Any]:
    """Return the operation that takes batches."""
    number = {"type": "integer", "minimum": 1, "maximum": MAX_NUMBER}
    digest = "Digest of the campaign's document in force."
    return {
        "tags": ["relay"],
        "summary": "Forward a batch of sealed reports",
        "description": "For the relay of a shuffled campaign. The body is exactly as many sealed "
        "reports as the document says, in the relay's order. Numbers count up from 1. The same "
        "bytes may be sent again at any time. Reports that do not open, are none of the mechanism "
        "or were opened before are dropped and counted.",
        "operationId": "send_batch",
        "security": [{"relayKey": []}],
        "parameters": [
            parameter("campaign", "path", f"^{CAMPAIGN}$", "homes", "Id of the campaign."),
            {
                "name": "number",
                "in": "path",
                "required": True,
                "description": "Of the batch.",
                "schema": number,
                "example": 1,
            },
            parameter("Shoal-Campaign", "header", "^[0-9a-f]{64}$", DIGEST_EXAMPLE, digest),
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {
                    "schema": {
                        "type": "string",
                        "format": "binary",
                        "minLength": 1,
                        "maxLength": MAX_BATCH_BYTES,
                    }
                }
            },
        },
        "responses": {
            "201": _accepted_batch("The batch was stored.", duplicate=False),
            "200": _accepted_batch("The same batch was stored before.", duplicate=True),
            **{
                str(status): response
                for status, response in refusals(
                    "unauthorized",
                    "not-shuffled",
                    "unknown-campaign",
                    "batch-differs",
                    "batch-missing",
                    "closed",
                    "campaign-changed",
                    "unsupported-media-type",
                    "wrong-shape",
                    "invalid-parameter",
                ).items()
            },
        },
    }


def _accepted_batch(description: str, *, duplicate: bool) -> dict[str, Any]:
    example = {"batch": 1, "stored": 998, "dropped": 2, "duplicate": duplicate}
    response = json_example(description, example)
    schema = {"$ref": "#/components/schemas/AcceptedBatch"}
    response["content"]["application/json"]["schema"] = schema
    return response


def _content(settings: Settings) -> dict[str, Any]:
    """Return the kinds of bodies that hold reports."""
    return {
        "application/octet-stream": {
            "schema": {
                "type": "string",
                "format": "binary",
                "minLength": 1,
                "maxLength": settings.max_body_bytes,
            },
        },
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["reports"],
                "additionalProperties": False,
                "properties": {
                    "reports": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": settings.max_batch,
                        "items": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "number"},
                        },
                    }
                },
            },
            "examples": {"one report": {"value": {"reports": [[3.0, 1.0]]}}},
        },
    }
