"""The page Trade-off: comparisons as jobs, and their files."""

from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from shoal.plotting import Picture
from shoal.service import RefusedError
from shoal.studio.killable import warm_processes
from shoal.studio.nobodys_records import Source, explored_records
from shoal.studio.trade_off import TradeOff
from shoal.studio.trade_off_settings import TradeOffSettings, choices
from shoal.studio.trade_off_texts import records_csv, rows_csv
from shoal.studio.workspace import Workspace

__all__ = ["add_trade_off_routes"]

KIND = "trade-off"
MAX_METHODS, MAX_EPSILONS, MAX_RUNS, MAX_CLUSTERS = 24, 12, 100, 20
MAX_EPSILON = 1000.0
Epsilon = Annotated[float, Field(gt=0, le=MAX_EPSILON, allow_inf_nan=False)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z-]{0,40}$")]


class Asked(BaseModel):
    """What is compared."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: Source = "made-up"
    methods: list[Name] = Field(min_length=1, max_length=MAX_METHODS)
    epsilons: list[Epsilon] = Field(min_length=1, max_length=MAX_EPSILONS)
    clusters: int = Field(ge=1, le=MAX_CLUSTERS)
    runs: int = Field(ge=1, le=MAX_RUNS)
    seed: int = Field(default=0, ge=0, lt=2**32)


def add_trade_off_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let pages compare methods on records that are nobody's."""
    base = "/api/tables/{identifier}/trade-off"

    @app.get(base, tags=["trade-off"], summary="What can be compared")
    def options(identifier: str) -> dict[str, Any]:
        table = workspace.get(identifier)
        warm_processes()
        return choices(table)

    @app.post(base, tags=["trade-off"], summary="Start a comparison")
    def start(identifier: str, asked: Asked) -> dict[str, Any]:
        settings = TradeOffSettings(
            tuple(dict.fromkeys(asked.methods)),
            tuple(sorted(set(asked.epsilons))),
            asked.clusters,
            asked.runs,
            asked.seed,
            asked.source,
        )
        comparison = TradeOff(workspace.get(identifier), settings)
        return workspace.jobs.start(KIND, comparison.work).to_dict()

    @app.get(base + "/records.csv", tags=["trade-off"], summary="The explored records")
    def records(identifier: str, source: Annotated[Source, Query()] = "made-up") -> Response:
        table = workspace.get(identifier)
        kept = explored_records(table, source)
        return Response(records_csv(table.described, kept), media_type="text/csv")

    @app.get(base + "/{job}/rows.csv", tags=["trade-off"], summary="Rows of a comparison")
    def rows(identifier: str, job: str) -> Response:
        return Response(rows_csv(_result(identifier, job)["rows"]), media_type="text/csv")

    @app.get(base + "/{job}/picture.png", tags=["trade-off"], summary="Its picture, in pixels")
    def png(identifier: str, job: str) -> Response:
        picture = Picture(_result(identifier, job)["picture"])
        return Response(picture.to_png(), media_type="image/png")

    @app.get(base + "/{job}/picture.svg", tags=["trade-off"], summary="Its picture, in lines")
    def svg(identifier: str, job: str) -> Response:
        picture = Picture(_result(identifier, job)["picture"])
        return Response(picture.to_svg(), media_type="image/svg+xml")

    def _result(identifier: str, job: str) -> dict[str, Any]:
        table, kept = workspace.get(identifier), workspace.jobs.get(job)
        if kept.kind != KIND or kept.result is None or kept.result["table"] != table.id:
            raise RefusedError("not-found", "There is no such finished comparison of this table.")
        result: dict[str, Any] = kept.result
        return result
