"""Progress and results of long work, for pages."""

from typing import Any

from fastapi import FastAPI

from shoal.studio.workspace import Workspace

__all__ = ["add_job_routes"]


def add_job_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let pages follow and cancel jobs."""

    @app.get("/api/jobs/{identifier}", tags=["jobs"], summary="How far a job is")
    def job(identifier: str) -> dict[str, Any]:
        return workspace.jobs.get(identifier).to_dict()

    @app.post("/api/jobs/{identifier}/cancel", tags=["jobs"], summary="End a job at its next step")
    def cancel(identifier: str) -> dict[str, Any]:
        return workspace.jobs.cancel(identifier).to_dict()
