"""The page of campaigns: documents, a collector on this machine, reports, analyses, devices."""

from typing import Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from shoal.campaigns import SignedCampaign, campaign_words
from shoal.service import RefusedError
from shoal.studio.campaign_desk import CampaignDesk, describe_campaign
from shoal.studio.campaign_questions import (
    AskedCampaign,
    build_campaign,
    campaign_schema,
    fitting_analyses,
    fitting_mechanisms,
)
from shoal.studio.campaign_results import compare_analyses, describe_analysis, list_analysis
from shoal.studio.workspace import Workspace

__all__ = ["add_campaign_routes"]

PATH = "/api/campaigns"
TAGS: list[Any] = ["campaigns"]
SHUFFLED = (
    "Reports of this campaign are sealed and go through a relay: take part on a separate page."
)


class AskedCollector(BaseModel):
    """Where a collector keeps reports, and on which port it listens."""

    model_config = ConfigDict(extra="forbid", strict=True)

    folder: str = Field(default="", max_length=1000)
    port: int = Field(default=0, ge=0, le=65535)


class AskedDevices(BaseModel):
    """How many made-up devices report."""

    model_config = ConfigDict(extra="forbid", strict=True)

    devices: int = Field(default=500, ge=1, le=20_000)


class AskedAnalysis(BaseModel):
    """What ``shoal collect analyze`` asks for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    method: Literal["noise-aware", "density", "remap"] = "noise-aware"
    clusters: int | None = Field(default=None, ge=1, le=1000)
    honest_share: float | None = Field(default=None, ge=0, le=1)
    delta: float | None = Field(default=None, gt=0, lt=1)
    seed: int | None = Field(default=None, ge=0)


def add_campaign_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let pages make campaigns, collect reports on this machine, and analyze them."""
    desk = CampaignDesk(workspace)

    @app.get(PATH, tags=TAGS, summary="Campaigns, and the collector of this studio")
    def campaigns() -> dict[str, Any]:
        collector = desk.collector
        return {
            "collector": None if collector is None else collector.to_dict(),
            "database": bool(workspace.settings.database),
            "campaigns": [_summary(desk, signed) for signed in desk.campaigns()],
        }

    @app.post(f"{PATH}/collector", tags=TAGS, summary="Start a collector on this machine")
    def start_collector(asked: AskedCollector) -> dict[str, Any]:
        job = workspace.jobs.start(
            "collector",
            lambda _progress: desk.start_collector(asked.folder, asked.port).to_dict(),
        )
        return job.to_dict()

    @app.delete(f"{PATH}/collector", tags=TAGS, summary="End the collector of this studio")
    def stop_collector() -> dict[str, Any]:
        desk.stop_collector()
        return {"stopped": True}

    @app.post(f"{PATH}/preview", tags=TAGS, summary="What a document would say; nothing is made")
    def preview(asked: AskedCampaign) -> dict[str, Any]:
        schema = desk.schema_of(asked)
        fits = fitting_mechanisms(asked, schema)
        names = [one["name"] for one in fits]
        chosen = asked.mechanism if asked.mechanism in names else (names or [asked.mechanism])[0]
        filled = {
            "id": asked.id or "preview",
            "title": asked.title or "…",
            "purpose": asked.purpose or "…",
            "mechanism": chosen,
        }
        campaign = build_campaign(asked.model_copy(update=filled), schema)
        return {
            "mechanisms": fits,
            "mechanism": chosen,
            "words": campaign_words(campaign),
            "document": campaign.to_dict(),
        }

    @app.post(PATH, tags=TAGS, summary="Make and sign a campaign; a new key is told this once")
    def create(asked: AskedCampaign) -> dict[str, Any]:
        return desk.create(asked)

    @app.get(f"{PATH}/{{name}}", tags=TAGS, summary="A campaign, its reports and its analyses")
    def campaign(name: str) -> dict[str, Any]:
        signed = desk.campaign(name)
        return {
            **describe_campaign(signed),
            **_state(desk, signed),
            "methods": fitting_analyses(signed.campaign.mechanism),
            "clusters": getattr(signed.campaign.mechanism, "n_clusters", None),
        }

    @app.get(f"{PATH}/{{name}}/state", tags=TAGS, summary="Reports and analyses, for a live page")
    def state(name: str) -> dict[str, Any]:
        return _state(desk, desk.campaign(name))

    @app.get(f"{PATH}/{{name}}/document", tags=TAGS, summary="The signed document as a file")
    def document(name: str) -> Response:
        shown = f'attachment; filename="{desk.campaign(name).campaign.id}.campaign.json"'
        return Response(
            desk.campaign(name).envelope,
            media_type="application/json",
            headers={"Content-Disposition": shown},
        )

    @app.post(f"{PATH}/{{name}}/devices", tags=TAGS, summary="Let made-up devices report")
    def simulate(name: str, asked: AskedDevices) -> dict[str, Any]:
        desk.campaign(name)
        job = workspace.jobs.start(
            "devices", lambda progress: desk.simulate(name, asked.devices, progress)
        )
        return job.to_dict()

    @app.post(f"{PATH}/{{name}}/device", tags=TAGS, summary="What this browser needs as a device")
    def device(name: str) -> dict[str, Any]:
        signed = desk.campaign(name)
        if signed.campaign.shuffler is not None:
            raise RefusedError("invalid-parameter", SHUFFLED)
        desk.reachable(signed)
        key = "" if signed.campaign.open_intake else desk.ingest_key(name)
        told = describe_campaign(signed)
        return {"link": told["link"], "public_key": told["public_key"], "ingest_key": key}

    _add_analysis_routes(app, desk)


def _add_analysis_routes(app: FastAPI, desk: CampaignDesk) -> None:
    described: dict[tuple[str, int], dict[str, Any]] = {}  # a result never changes

    def find(name: str, version: int) -> Any:
        job = desk.store.analysis(desk.campaign(name).campaign.id, version)
        if job is None:
            raise RefusedError("not-found", f"There is no analysis {version} of {name!r}.")
        return job

    @app.post(f"{PATH}/{{name}}/analyses", tags=TAGS, summary="Queue an analysis")
    def analyze(name: str, asked: AskedAnalysis) -> dict[str, Any]:
        from shoal.collector import queue_analysis  # noqa: PLC0415 - takes a second to load

        signed = desk.campaign(name)
        given: dict[str, Any] = {
            "n_clusters": asked.clusters if asked.method == "noise-aware" else None
        }
        if signed.campaign.shuffler is not None:
            given |= {"honest_share": asked.honest_share, "delta": asked.delta}
        parameters = {key: value for key, value in given.items() if value is not None}
        version = queue_analysis(desk.store, name, asked.method, parameters, seed=asked.seed)
        return {"version": version}

    @app.get(f"{PATH}/{{name}}/analyses/{{version}}", tags=TAGS, summary="One analysis")
    def analysis(name: str, version: int) -> dict[str, Any]:
        job = find(name, version)
        if job.release is None:
            return list_analysis(job)
        key = desk.campaign(name).digest, version
        if key not in described:
            columns = list(campaign_schema(desk.campaign(name).campaign.mechanism).columns)
            described[key] = describe_analysis(job, columns)
        return described[key]

    @app.get(f"{PATH}/{{name}}/compare", tags=TAGS, summary="Two analyses, center by center")
    def compare(name: str, earlier: int, later: int) -> dict[str, Any]:
        return compare_analyses(find(name, earlier), find(name, later))

    @app.post(f"{PATH}/{{name}}/analyses/{{version}}/publish", tags=TAGS, summary="Publish it")
    def publish(name: str, version: int) -> dict[str, Any]:
        if find(name, version).release is None:
            raise RefusedError("invalid-parameter", f"Version {version} has no result to publish.")
        desk.store.publish(name, version)
        return {"published": version}


def _summary(desk: CampaignDesk, signed: SignedCampaign) -> dict[str, Any]:
    campaign = signed.campaign
    return {
        "id": campaign.id,
        "title": campaign.title,
        "open": campaign.is_open(),
        "closes": campaign.closes.isoformat(),
        "guarantee": str(campaign.guarantee),
        **_state(desk, signed),
    }


def _state(desk: CampaignDesk, signed: SignedCampaign) -> dict[str, Any]:
    """Return how many reports there are, and which analyses; None where there is no database."""
    name = signed.campaign.id
    if not desk.is_stored(name):
        return {"reports": None, "published": None, "analyses": [], "shuffled": None}
    store = desk.store
    public = store.published(name)
    batches = None
    if signed.campaign.shuffler is not None:
        batches = store.batch_totals(name)._asdict()
    return {
        "reports": store.count(name),
        "published": None if public is None else public.analysis.version,
        "analyses": [list_analysis(job) for job in store.analyses(name)],
        "shuffled": batches,
    }
