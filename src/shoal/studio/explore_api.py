"""Explore: one position of the slider, the curator's own look at records, private copies."""

from typing import Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from shoal.plotting import draw_plane
from shoal.service import RefusedError
from shoal.studio.exploration import Asked, Exploration
from shoal.studio.explore_choices import choices
from shoal.studio.explore_planes import Plane
from shoal.studio.private_copies import copy_price, order_copy
from shoal.studio.workspace import StudioTable, Workspace

__all__ = ["add_explore_routes"]

MAX_CLUSTERS = 20
MAX_EPSILON = 1000.0


class ExploreRequest(BaseModel):
    """A position of the slider; `frame` asks for the charts themselves, not only for their rows."""

    model_config = ConfigDict(extra="forbid", strict=True)

    method: str = Field(max_length=60)
    epsilon: float = Field(gt=0, le=MAX_EPSILON, allow_inf_nan=False)
    clusters: int = Field(ge=1, le=MAX_CLUSTERS)
    source: Literal["made-up", "copy"] = "made-up"
    x: str = Field(default="", max_length=1000)
    y: str = Field(default="", max_length=1000)
    draw: int = Field(default=0, ge=0, le=1_000_000)
    frame: bool = False
    previous: str = Field(default="", max_length=40)


class CopyRequest(BaseModel):
    """An order of a private copy, at the price that was shown."""

    model_config = ConfigDict(extra="forbid", strict=True)

    epsilon: float = Field(gt=0, le=MAX_EPSILON, allow_inf_nan=False)
    key: str = Field(max_length=64)
    entries: int = Field(ge=0)


def add_explore_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let the page Explore try settings on records that are nobody's."""
    base = "/api/tables/{identifier}/explore"

    @app.get(base, tags=["explore"], summary="What can be chosen")
    def options(identifier: str) -> dict[str, Any]:
        return choices(workspace.get(identifier))

    @app.post(base, tags=["explore"], summary="One position of the slider")
    def explore(identifier: str, asked: ExploreRequest) -> Response:
        if asked.previous:
            _cancel(workspace, asked.previous)
        # Plain JSON already: to look through thousands of rows once more takes longer than the fit.
        return JSONResponse(_explore(workspace, workspace.get(identifier), asked))

    @app.get(base + "/records.png", tags=["explore"], summary="True records, as an image")
    def records(identifier: str, x: str = "", y: str = "") -> Response:
        return Response(_own_records(workspace.get(identifier), x, y), media_type="image/png")

    @app.get("/api/tables/{identifier}/copy", tags=["explore"], summary="Price of a private copy")
    def price(identifier: str, epsilon: float) -> dict[str, Any]:
        if not 0 < epsilon <= MAX_EPSILON:
            raise RefusedError("invalid-parameter", "Epsilon must be a number above 0.")
        return copy_price(workspace.get(identifier), epsilon)

    @app.post("/api/tables/{identifier}/copy", tags=["explore"], summary="Buy a private copy")
    def buy(identifier: str, order: CopyRequest) -> dict[str, Any]:
        table = workspace.get(identifier)
        ordered = order_copy(
            workspace.jobs, table, order.epsilon, key=order.key, entries=order.entries
        )
        return ordered.to_dict()


def _explore(workspace: Workspace, table: StudioTable, asked: ExploreRequest) -> dict[str, Any]:
    plain = asked.model_dump(exclude={"frame", "previous"})
    exploration = Exploration(table, Asked(**plain))
    if exploration.sends_reports:
        exploration.perturb()
    answer = exploration.told()
    if asked.frame:
        answer["shown"] = exploration.records_part(frame=True)
    if exploration.sends_reports:
        answer["leaves"] = exploration.reports_part(frame=asked.frame)
    if exploration.is_quick:
        return {**answer, **exploration.find_clusters(frame=asked.frame), "job": None}
    # Clusters that take longer follow as a job; their charts come with them.
    job = workspace.jobs.start("explore", lambda progress: exploration.work(progress, frame=True))
    return {**answer, "job": job.to_dict()}


def _own_records(table: StudioTable, x: str, y: str) -> bytes:
    """Draw the true records for the curator's own eyes: as an image, which holds no value.

    The only reader of a table's columns on this page.
    """
    plane = Plane(table.described, x, y)
    table.described.check_complete()
    if not plane.names:
        raise RefusedError("invalid-parameter", "There is no number or date to draw.")
    if not table.to_dict()["has_records"]:
        raise RefusedError("invalid-parameter", "This table has a schema but no records.")
    points = plane.of_records(table.columns)
    return draw_plane(points, axes=plane.axes, records=True).to_png()


def _cancel(workspace: Workspace, job: str) -> None:
    try:
        workspace.jobs.cancel(job)
    except RefusedError:
        return  # forgotten already
