"""What the studio holds now, for the frame of all pages."""

from typing import Any

from fastapi import FastAPI

from shoal import __version__
from shoal.studio.workspace import Workspace

__all__ = ["add_session_routes"]


def add_session_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let pages list tables, read one, and drop it."""

    @app.get("/api/session", tags=["session"], summary="What the studio holds")
    def session() -> dict[str, Any]:
        return {
            "version": __version__,
            "tables": [table.to_dict() for table in workspace.tables],
            "ledger_in_file": workspace.settings.ledger is not None,
        }

    @app.get("/api/tables/{identifier}", tags=["tables"], summary="One table, without its records")
    def table(identifier: str) -> dict[str, Any]:
        return workspace.get(identifier).to_dict()

    @app.delete("/api/tables/{identifier}", tags=["tables"], summary="Forget a table")
    def forget(identifier: str) -> dict[str, Any]:
        workspace.get(identifier)
        workspace.forget(identifier)
        return {"forgotten": identifier}
