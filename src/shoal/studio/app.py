"""The HTTP application of the studio: pages, and what they ask for."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

from fastapi import FastAPI, Request
from starlette.responses import Response

from shoal.exceptions import BudgetExceededError, ShoalError
from shoal.service import RefusedError, create_service, problem_response
from shoal.studio.audit_api import add_audit_routes
from shoal.studio.campaigns_api import add_campaign_routes
from shoal.studio.explore_api import add_explore_routes
from shoal.studio.guard import Guard
from shoal.studio.jobs_api import add_job_routes
from shoal.studio.ledger_api import add_ledger_routes
from shoal.studio.release_api import add_release_routes
from shoal.studio.session_api import add_session_routes
from shoal.studio.shapes_api import add_shapes_routes
from shoal.studio.static_files import add_pages, warm_chart_library
from shoal.studio.table_api import add_table_routes
from shoal.studio.trade_off_api import add_trade_off_routes
from shoal.studio.workspace import Workspace

__all__ = ["create_studio"]

TITLE = "shoal studio"


def create_studio(workspace: Workspace) -> FastAPI:
    """Make the HTTP application of a studio.

    Parameters
    ----------
    workspace : Workspace
        Tables and work of the studio; emptied when the application ends.

    Returns
    -------
    app : FastAPI
        The application, for one person on their own machine.

    Examples
    --------
    >>> from shoal.studio import StudioSettings, Workspace, create_studio
    >>> app = create_studio(Workspace(StudioSettings()))
    >>> app.title
    'shoal studio'
    """
    settings = workspace.settings

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        stop_warming = warm_chart_library()
        try:
            yield
        finally:
            stop_warming()
            workspace.close()

    app = create_service(TITLE, lifespan, _document)
    _add_refusals(app)
    routes = (
        add_session_routes,
        add_job_routes,
        add_table_routes,
        add_ledger_routes,
        add_shapes_routes,
        add_release_routes,
        add_audit_routes,
        add_explore_routes,
        add_campaign_routes,
        add_trade_off_routes,
    )
    for add_routes in routes:
        add_routes(app, workspace)
    add_pages(app)
    app.add_middleware(Guard, settings=settings, connect=lambda: workspace.connect_origins)
    return app


def _document(app: FastAPI) -> dict[str, Any]:
    from fastapi.openapi.utils import get_openapi  # noqa: PLC0415 - asked for once, if at all

    return get_openapi(title=TITLE, version="1", routes=app.routes)


def _add_refusals(app: FastAPI) -> None:
    """Answer our own errors with a problem document: one line, no value of a record."""

    @app.exception_handler(ShoalError)
    async def refuse(_request: Request, error: Exception) -> Response:
        name = "over-budget" if isinstance(error, BudgetExceededError) else "invalid-parameter"
        return problem_response(RefusedError(name, cast("ShoalError", error).message))
