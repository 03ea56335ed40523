"""Release: the one step that fits the true records, once, after its price was shown."""

from dataclasses import asdict
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from shoal._numbers import rounded_up
from shoal.privacy import Ledger
from shoal.service import RefusedError
from shoal.studio.downloads import release_files, write_file
from shoal.studio.jobs import JobProgress
from shoal.studio.prices import trial_ledger
from shoal.studio.purchases import OTHER_ORDER, Price
from shoal.studio.release_code import release_command, release_snippet
from shoal.studio.releases import (
    AskedRelease,
    ReleaseSettings,
    StudioRelease,
    rehearse,
    release_methods,
    release_once,
)
from shoal.studio.workspace import StudioTable, Workspace, ledger_summary

__all__ = ["add_release_routes"]

WHAT = "release"
MAX_CLUSTERS = 1000
NO_CURATOR = (
    "No one holds the records in this trust model, so there is nothing to release: devices report "
    "in a campaign, and clustering their reports costs nothing."
)
NO_RECORDS = "This table has a schema but no records: open a file to make a release."


class ReleaseRequest(BaseModel):
    """Settings of a release."""

    model_config = ConfigDict(extra="forbid", strict=True)

    method: str = Field(max_length=100)
    epsilon: float = Field(gt=0, le=1e9, allow_inf_nan=False)
    delta: float = Field(default=0.0, ge=0, lt=1, allow_inf_nan=False)
    k: int | None = Field(default=None, ge=1, le=MAX_CLUSTERS)
    profile: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    profile_delta: float = Field(default=0.0, ge=0, lt=1, allow_inf_nan=False)


class PriceRequest(BaseModel):
    """What is asked for, and how often the same was bought before, on purpose."""

    model_config = ConfigDict(extra="forbid", strict=True)

    settings: ReleaseRequest
    repeat: int = Field(default=0, ge=0, le=10_000)


class OrderRequest(PriceRequest):
    """The same, with the key and the entries of the price that was shown."""

    key: str = Field(max_length=64)
    entries: int = Field(ge=0)


def add_release_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let pages ask for a price, order a release, and read and download what was released."""

    @app.get("/api/release/methods", tags=["release"], summary="What can be asked for")
    def methods() -> dict[str, str]:
        return release_methods()

    @app.post("/api/tables/{identifier}/release/price", tags=["release"], summary="What it costs")
    def price(identifier: str, wanted: PriceRequest) -> dict[str, Any]:
        table = workspace.get(identifier)
        ledger, asked = _asked(table, wanted)
        offered = table.purchases.price(ledger, WHAT, _settings(asked, ledger), wanted.repeat)
        return _priced(table, ledger, asked, wanted.repeat, offered)

    @app.post("/api/tables/{identifier}/release", tags=["release"], summary="Spend and release")
    def order(identifier: str, wanted: OrderRequest) -> dict[str, Any]:
        table = workspace.get(identifier)
        ledger, asked = _asked(table, wanted)
        _check_repeat(table, asked, wanted.repeat)

        def release(progress: JobProgress) -> dict[str, Any]:
            if _asked(table, wanted) != (ledger, asked):  # described anew since the order was read
                raise RefusedError("ledger-changed", OTHER_ORDER)
            made = release_once(
                asked,
                table.columns,
                ledger,
                key=wanted.key,
                keep=table.releases,
                progress=progress,
            )
            return made.to_dict()

        return table.purchases.order(
            workspace.jobs,
            ledger,
            WHAT,
            _settings(asked, ledger),
            wanted.repeat,
            key=wanted.key,
            entries=wanted.entries,
            release=release,
        ).to_dict()

    @app.get("/api/tables/{identifier}/releases", tags=["release"], summary="What was released")
    def releases(identifier: str) -> list[dict[str, Any]]:
        return [one.to_dict() for one in workspace.get(identifier).releases]

    @app.get("/api/tables/{identifier}/releases/{key}", tags=["release"], summary="One release")
    def one(identifier: str, key: str) -> dict[str, Any]:
        table = workspace.get(identifier)
        released = _find(table, key)
        return {
            **released.describe(),
            "files": [file.to_dict() for file in release_files(released)],
            "command": release_command(table, released.asked),
            "snippet": release_snippet(table, released.asked, table.charged),
        }

    @app.get(
        "/api/tables/{identifier}/releases/{key}/files/{name}",
        tags=["release"],
        summary="A file of a release",
    )
    def download(identifier: str, key: str, name: str) -> Response:
        file, content = write_file(_find(workspace.get(identifier), key), name)
        headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
        return Response(content, media_type=file.media_type, headers=headers)


def _asked(table: StudioTable, wanted: PriceRequest) -> tuple[Ledger, AskedRelease]:
    """Return what is asked for, as the table is described now; refuse where nothing is released."""
    if table.trust_model != "central":
        raise RefusedError("invalid-parameter", NO_CURATOR)
    if not table.columns:
        raise RefusedError("invalid-parameter", NO_RECORDS)
    settings = ReleaseSettings(**wanted.settings.model_dump())
    return table.charged, AskedRelease(settings, table.described, table.records_per_user)


def _settings(asked: AskedRelease, ledger: Ledger) -> dict[str, Any]:
    """Return all that a price is about: with another schema or limit, it is another price."""
    return {**asked.to_dict(), "limits": ledger.limits.to_dict()}


def _priced(
    table: StudioTable, ledger: Ledger, asked: AskedRelease, repeat: int, offered: Price
) -> dict[str, Any]:
    """Return a price as pages read it; what was ordered already is not priced again."""
    earlier = _earlier(table, asked)
    told = {
        **offered.to_dict(),
        "repeat": repeat,
        "earlier": earlier,
        "settings": asdict(asked.settings),
        "before": ledger_summary(ledger),
        "command": release_command(table, asked),
        "snippet": release_snippet(table, asked, ledger),
    }
    if offered.ordered:
        return told
    _check_repeat(table, asked, repeat)
    kept, trial = len(ledger.entries), trial_ledger(ledger)
    rehearsed = rehearse(asked, trial)
    profile = rehearsed.profile
    promises = [rehearsed.release.guarantee, *([profile.guarantee_] if profile else [])]
    charged = trial.entries[kept:]
    settings = asked.settings
    total = settings.epsilon + (settings.profile or 0.0)
    limit = rounded_up(ledger.limits.epsilon)
    return {
        **told,
        "guarantees": [str(promise) for promise in promises],
        "spends": [{"purpose": entry.purpose, "price": entry.price} for entry in charged],
        "columns": list(charged[0].columns),
        "unit": str(charged[0].privacy_unit),
        "after": ledger_summary(trial),
        "total": total,
        "button": f"Spend epsilon {rounded_up(total)} of {limit} and release",
    }


def _earlier(table: StudioTable, asked: AskedRelease) -> int:
    """Return how often the same was released."""
    return sum(one.asked == asked for one in table.releases)


def _check_repeat(table: StudioTable, asked: AskedRelease, repeat: int) -> None:
    """Refuse to buy once more what was not bought before."""
    if repeat > _earlier(table, asked):
        raise RefusedError(
            "invalid-parameter",
            "These settings were not released that often before: begin with repeat 0.",
        )


def _find(table: StudioTable, key: str) -> StudioRelease:
    for released in table.releases:
        if released.key == key:
            return released
    raise RefusedError("not-found", "There is no such release: look at the list of releases.")
