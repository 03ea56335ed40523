"""Ledgers and reports: limits, what was spent by whom on what, and pages of other commands."""

from typing import Any

from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import HTMLResponse, Response

from shoal.studio.ledgers import describe_ledger, file_ledger, set_limit
from shoal.studio.report_pages import FRAME, PAGE_POLICY, find_pages, read_page
from shoal.studio.workspace import Workspace

__all__ = ["add_ledger_routes"]


class LimitRequest(BaseModel):
    """The limit of a new ledger, or a raised one with a reason; of a file, its name alone."""

    model_config = ConfigDict(extra="forbid", strict=True)

    epsilon: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    delta: float = Field(default=0.0, ge=0, lt=1, allow_inf_nan=False)
    name: str = Field(default="", max_length=200)
    reason: str = Field(default="", max_length=1000)


def add_ledger_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let pages set the limit of a table, and read what was spent."""

    @app.get("/api/ledger", tags=["ledger"], summary="The ledger in the studio's file, if any")
    def in_file() -> dict[str, Any]:
        ledger = file_ledger(workspace.settings)
        return {
            "file": None if workspace.settings.ledger is None else workspace.settings.ledger.name,
            "ledger": None if ledger is None else describe_ledger(ledger),
        }

    @app.get("/api/tables/{identifier}/ledger", tags=["ledger"], summary="What was spent")
    def spent(identifier: str) -> dict[str, Any]:
        ledger = workspace.get(identifier).ledger
        return {"ledger": None if ledger is None else describe_ledger(ledger)}

    @app.post("/api/tables/{identifier}/ledger", tags=["ledger"], summary="Set the limit")
    def limit(identifier: str, asked: LimitRequest) -> dict[str, Any]:
        table = workspace.get(identifier)
        named = {"name": asked.name, "reason": asked.reason}
        set_limit(workspace, table, asked.epsilon, asked.delta, **named)
        return {"ledger": describe_ledger(table.charged)}

    @app.get("/api/reports", tags=["reports"], summary="Pages of other commands")
    def reports() -> dict[str, Any]:
        folders = [folder.name for folder in workspace.folders]
        return {
            "folders": folders,
            "pages": [page.to_dict() for page in find_pages(workspace.folders)],
        }

    @app.get("/reports/{page}", include_in_schema=False)
    def report(page: str, request: Request) -> Response:
        content = read_page(workspace.folders, page)
        if request.headers.get("sec-fetch-dest") == "document":
            return HTMLResponse(FRAME.format(page=page))
        headers = {"Content-Security-Policy": PAGE_POLICY}
        return Response(content, media_type="text/html; charset=utf-8", headers=headers)
