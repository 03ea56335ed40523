"""Routes beside intake: documents and results for everybody, counts and analyses for analysts."""

import hashlib
import itertools
import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.responses import Response, StreamingResponse

from shoal.collector.analysis import queue_analysis, result_document
from shoal.collector.export import EXPORTS, MEDIA_TYPES
from shoal.collector.store import Analysis, AnalysisState, Publication, Store
from shoal.service import (
    DIGEST_EXAMPLE,
    ENVELOPE_EXAMPLE,
    Gatekeeper,
    LiveCampaign,
    RefusedError,
    json_example,
    refusals,
    tagged_response,
)

__all__ = ["add_analyst_routes", "add_public_routes"]

ROOT = "/v1/campaigns/{campaign}"
MAX_VERSION = 2**31 - 1
MAX_SEED = 2**31 - 1

Version = Annotated[
    int, Path(ge=1, le=MAX_VERSION, description="Version of the analysis.", examples=[1])
]


class Count(BaseModel):
    """How many reports are stored."""

    campaign: str
    reports: int = Field(ge=0)
    batches: int = Field(ge=0, description="Batches they came in; 0 where nobody shuffles.")
    dropped: int = Field(ge=0, description="Reports of batches that were not kept.")


class AnalysisRequest(BaseModel):
    """What to compute of the reports that are stored now."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [{"method": "noise-aware", "parameters": {"n_clusters": 4}, "seed": 7}]
        },
    )

    method: str = Field(min_length=1, max_length=64, pattern="^[a-z][a-z0-9_-]*$")
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED)


class AnalysisStatus(BaseModel):
    """An analysis: what was asked, and where it is."""

    campaign: str
    version: int = Field(ge=1)
    state: AnalysisState
    document: str = Field(description="Digest of the campaign's document.")
    method: str
    parameters: dict[str, JsonValue]
    seed: int | None
    reports: int = Field(ge=0, description="How many reports it reads.")
    reports_digest: str | None = Field(description="SHA-256 of these reports.")
    created: datetime
    finished: datetime | None
    error: str | None
    release: JsonValue = Field(description="The result; null until it is done.")


def _status(analysis: Analysis, *, whole: bool) -> AnalysisStatus:
    """Return an analysis as it is shown; `whole` with its release."""
    release = json.loads(analysis.release) if whole and analysis.release else None
    return AnalysisStatus(
        campaign=analysis.campaign,
        version=analysis.version,
        state=analysis.state,
        document=analysis.document,
        method=analysis.method,
        parameters=analysis.parameters,
        seed=analysis.seed,
        reports=analysis.snapshot.n_reports,
        reports_digest=analysis.snapshot.digest,
        created=analysis.created,
        finished=analysis.finished,
        error=analysis.error,
        release=release,
    )


def add_public_routes(
    app: FastAPI, store: Store, known: Callable[..., Awaitable[LiveCampaign]]
) -> None:
    """Add what anybody may read: results."""

    @app.get(
        ROOT + "/results",
        tags=["devices"],
        summary="Fetch the result that was published last",
        response_class=Response,
        responses=_result_responses(),
    )
    def latest_result(
        campaign: Annotated[LiveCampaign, Depends(known)], request: Request
    ) -> Response:
        return _result(request, store.published(campaign.id))

    @app.get(
        ROOT + "/results/{version}",
        tags=["devices"],
        summary="Fetch a result that was published",
        response_class=Response,
        responses=_result_responses(),
    )
    def one_result(
        campaign: Annotated[LiveCampaign, Depends(known)], version: Version, request: Request
    ) -> Response:
        return _result(request, store.published(campaign.id, version))


def add_analyst_routes(
    app: FastAPI,
    store: Store,
    gatekeeper: Gatekeeper,
    known: Callable[..., Awaitable[LiveCampaign]],
) -> None:
    """Add what needs a token: counts, analyses, and their publication."""
    may_read = [Depends(gatekeeper.requires("read"))]

    @app.get(
        ROOT + "/count",
        tags=["analysts"],
        summary="Count the reports that are stored",
        dependencies=may_read,
        responses={
            200: json_example("The number of reports.", COUNT_EXAMPLE),
            **_analyst_refusals(),
        },
    )
    def count(campaign: Annotated[LiveCampaign, Depends(known)]) -> Count:
        totals = store.batch_totals(campaign.id)
        return Count(
            campaign=campaign.id,
            reports=store.count(campaign.id),
            batches=totals.n_batches,
            dropped=totals.n_dropped,
        )

    @app.get(
        ROOT + "/reports",
        tags=["analysts"],
        summary="Export the reports that are stored now",
        description="A stream of all reports, in an order that is not that of arrival. Reports are "
        "noisy by design; there are no records here.",
        dependencies=may_read,
        response_class=StreamingResponse,
        responses={
            200: {
                "description": "The reports, as a table.",
                "content": {
                    MEDIA_TYPES["parquet"]: {"schema": {"type": "string", "format": "binary"}},
                    "text/csv": {
                        "schema": {"type": "string"},
                        "example": "partition,color\n3,1\n0,0\n",
                    },
                },
            },
            **_analyst_refusals(),
        },
    )
    def export(
        campaign: Annotated[LiveCampaign, Depends(known)],
        format: Annotated[Literal["parquet", "csv"], Query(examples=["csv"])] = "parquet",
    ) -> StreamingResponse:
        snapshot = store.snapshot(campaign.id)
        parts = EXPORTS[format](store, store.campaign(campaign.id), snapshot)
        first = next(parts, b"")  # what fails at once is refused, rather than cut off
        name = f'attachment; filename="{campaign.id}.{format}"'
        return StreamingResponse(
            itertools.chain([first], parts),
            media_type=MEDIA_TYPES[format],
            headers={"Content-Disposition": name},
        )

    @app.get(
        ROOT + "/analyses",
        tags=["analysts"],
        summary="List the analyses of a campaign, without their results",
        dependencies=may_read,
        responses={200: json_example("Oldest first.", [STATUS_EXAMPLE]), **_analyst_refusals()},
    )
    def list_analyses(campaign: Annotated[LiveCampaign, Depends(known)]) -> list[AnalysisStatus]:
        return [_status(one, whole=False) for one in store.analyses(campaign.id)]

    @app.get(
        ROOT + "/analyses/{version}",
        tags=["analysts"],
        summary="Fetch an analysis, with its result once it is done",
        dependencies=may_read,
        responses={
            200: json_example("The analysis.", STATUS_EXAMPLE),
            **_analyst_refusals("not-found"),
        },
    )
    def one_analysis(
        campaign: Annotated[LiveCampaign, Depends(known)], version: Version
    ) -> AnalysisStatus:
        return _status(_found(store, campaign, version), whole=True)

    @app.post(
        ROOT + "/analyses",
        status_code=202,
        tags=["analysts"],
        summary="Ask for an analysis of the reports that are stored now",
        dependencies=[Depends(gatekeeper.requires("analyze"))],
        responses={
            202: json_example("It waits for a worker.", STATUS_EXAMPLE, ["Location"]),
            **_analyst_refusals(),
        },
    )
    def ask_for_analysis(
        campaign: Annotated[LiveCampaign, Depends(known)],
        asked: AnalysisRequest,
        response: Response,
    ) -> AnalysisStatus:
        version = queue_analysis(
            store, campaign.id, asked.method, asked.parameters, seed=asked.seed
        )
        response.headers["Location"] = f"/v1/campaigns/{campaign.id}/analyses/{version}"
        return _status(_found(store, campaign, version), whole=False)

    @app.post(
        ROOT + "/analyses/{version}/publish",
        tags=["analysts"],
        summary="Publish the result of an analysis",
        dependencies=[Depends(gatekeeper.requires("publish"))],
        responses={
            200: json_example("It is published.", STATUS_EXAMPLE, ["Location"]),
            **_analyst_refusals("not-found", "not-finished"),
        },
    )
    def publish(
        campaign: Annotated[LiveCampaign, Depends(known)], version: Version, response: Response
    ) -> AnalysisStatus:
        found = _found(store, campaign, version)
        if found.state is not AnalysisState.DONE:
            raise RefusedError("not-finished", f"The analysis is {found.state.value}, not done.")
        store.publish(campaign.id, version)
        response.headers["Location"] = f"/v1/campaigns/{campaign.id}/results/{version}"
        return _status(found, whole=False)


def _found(store: Store, campaign: LiveCampaign, version: int) -> Analysis:
    """Return an analysis, or refuse."""
    found = store.analysis(campaign.id, version)
    if found is None:
        raise RefusedError("not-found", "The campaign has no analysis of this version.")
    return found


def _result(request: Request, published: Publication | None) -> Response:
    """Return a published result with the document that it answers."""
    if published is None or published.analysis.release is None:
        raise RefusedError("not-found", "The campaign has no such published result.")
    content = json.dumps(result_document(published)).encode("ascii")
    return tagged_response(request, content, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def _analyst_refusals(*names: str) -> dict[int | str, dict[str, Any]]:
    return refusals("unauthorized", "wrong-scope", "unknown-campaign", "invalid-parameter", *names)


def _result_responses() -> dict[int | str, dict[str, Any]]:
    return {
        200: json_example("The result, and the document it answers.", RESULT_EXAMPLE, ["ETag"]),
        304: {"description": "The result is the one of If-None-Match."},
        **refusals("unknown-campaign", "not-found", "invalid-parameter"),
    }


COUNT_EXAMPLE = {"campaign": "homes", "reports": 1998, "batches": 2, "dropped": 2}
STATUS_EXAMPLE = {
    "campaign": "homes",
    "version": 1,
    "state": "queued",
    "document": DIGEST_EXAMPLE,
    "method": "noise-aware",
    "parameters": {"n_clusters": 4},
    "seed": 7,
    "reports": 2000,
    "reports_digest": DIGEST_EXAMPLE,
    "created": "2030-01-01T12:00:00Z",
    "finished": None,
    "error": None,
    "release": None,
}
RESULT_EXAMPLE = {
    "campaign": "homes",
    "version": 1,
    "digest": DIGEST_EXAMPLE,
    "envelope": ENVELOPE_EXAMPLE,
    "analysis": {
        "method": "noise-aware",
        "parameters": {"n_clusters": 4},
        "seed": 7,
        "n_reports": 2000,
        "snapshot": DIGEST_EXAMPLE,
    },
    "release": {"centers": [[0.25, 0.5]]},
}
