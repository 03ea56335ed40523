"""What every server answers beside its own routes: problems, readiness, metrics, OpenAPI."""

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Any, Protocol, cast

from fastapi import Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Lifespan

from shoal.exceptions import ParameterError, StoreError
from shoal.service.auth import Gatekeeper
from shoal.service.intake import Intake
from shoal.service.metrics import MetricsPage
from shoal.service.middleware import SECURITY_HEADERS
from shoal.service.openapi import json_example, refusals
from shoal.service.problems import (
    PROBLEMS,
    RefusedError,
    framework_refusal,
    problem_response,
    store_refusal,
    unavailable,
)

__all__ = ["Readiness", "add_service_routes", "create_service"]

VERSION = "1"
READY_SECONDS = 2.0
READY_KEPT_SECONDS = 1.0
OK = {"status": "ok"}


def create_service(
    title: str, lifespan: Lifespan[FastAPI], document: Callable[[FastAPI], dict[str, Any]]
) -> FastAPI:
    """Make an application without routes, whose errors are answered with problem documents.

    Parameters
    ----------
    title : str
        Name of the server.
    lifespan : callable
        Context manager that runs around all requests.
    document : callable
        Makes the OpenAPI document, when it is first requested.

    Returns
    -------
    app : FastAPI
        The application; add :class:`RequestFrame` as its outermost layer.

    Examples
    --------
    >>> import contextlib
    >>> from shoal.service import create_service, service_document
    >>> @contextlib.asynccontextmanager
    ... async def lifespan(app):
    ...     yield
    >>> create_service("a server", lifespan, lambda app: service_document(app, "A test.")).title
    'a server'
    """
    app = FastAPI(
        title=title,
        version=VERSION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    _add_refusals(app)

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    return app


def add_service_routes(
    app: FastAPI, gatekeeper: Gatekeeper, metrics: MetricsPage, readiness: "Readiness"
) -> None:
    """Add the routes for operators: liveness, readiness and metrics.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from fastapi import FastAPI
    >>> from shoal.service import (
    ...     ClientAddresses,
    ...     Gatekeeper,
    ...     Metrics,
    ...     Readiness,
    ...     ServiceSettings,
    ...     add_service_routes,
    ... )
    >>> class Nobody:
    ...     def find_token(self, text):
    ...         return None
    ...     def ingest_key_ok(self, campaign, text):
    ...         return False
    >>> gatekeeper = Gatekeeper(Nobody(), ClientAddresses(0), ServiceSettings())
    >>> readiness = Readiness(SimpleNamespace(ping=lambda: None), SimpleNamespace())
    >>> app = FastAPI(openapi_url=None)
    >>> add_service_routes(app, gatekeeper, Metrics(), readiness)
    >>> sorted(route.path for route in app.routes)
    ['/healthz', '/metrics', '/problems/{name}', '/readyz']
    """

    @app.get(
        "/healthz",
        tags=["service"],
        summary="Say that the process is alive",
        responses={200: json_example("It is.", OK), **refusals()},
    )
    async def alive() -> dict[str, str]:
        return OK

    @app.get(
        "/readyz",
        tags=["service"],
        summary="Say whether reports can be stored now",
        responses={200: json_example("They can.", OK), **refusals()},
    )
    async def ready() -> dict[str, str]:
        refused = await readiness.find()
        if refused is not None:
            raise refused
        return OK

    @app.get(
        "/metrics",
        tags=["service"],
        summary="Metrics for Prometheus",
        dependencies=[Depends(gatekeeper.requires("metrics"))],
        response_class=Response,
        responses={
            200: {
                "description": "The text format of Prometheus.",
                "content": {"text/plain": {"example": 'shoal_reports_total{campaign="homes"} 9.0'}},
            },
            **refusals("unauthorized", "wrong-scope"),
        },
    )
    async def read_metrics() -> Response:
        return Response(metrics.render(), media_type=metrics.content_type)

    @app.get(
        "/problems/{name}",
        tags=["service"],
        summary="Explain a kind of problem",
        responses={
            200: json_example("What it is, and what to do.", PROBLEMS["closed"]._asdict()),
            **refusals("not-found", "invalid-parameter"),
        },
    )
    async def problem(name: Annotated[str, Path(examples=["closed"])]) -> dict[str, str | int]:
        found = PROBLEMS.get(name)
        if found is None:
            raise RefusedError("not-found", "There is no problem of this name.")
        return found._asdict()


class _Pinged(Protocol):
    def ping(self) -> None:
        """Raise StoreError if nothing can be stored now."""


class Readiness:
    """Check of whether reports can be stored; the database is asked at most once a second.

    Parameters
    ----------
    store : Store
        Store whose `ping` raises StoreError if nothing can be stored now.
    reports : Intake
        Intake whose writer must be running.

    Examples
    --------
    >>> import asyncio
    >>> from types import SimpleNamespace
    >>> from shoal.service import Readiness
    >>> store = SimpleNamespace(ping=lambda: None)
    >>> writer = SimpleNamespace(is_running=True)
    >>> reports = SimpleNamespace(writer=writer)  # an Intake whose writer runs
    >>> asyncio.run(Readiness(store, reports).find()) is None
    True
    """

    def __init__(self, store: _Pinged, reports: Intake) -> None:
        self._store = store
        self._reports = reports
        self._asking = asyncio.Lock()
        self._asked = float("-inf")
        self._refused: RefusedError | None = None

    async def find(self) -> RefusedError | None:
        """Return the reason why reports cannot be stored, or None if they can."""
        async with self._asking:
            if time.monotonic() - self._asked >= READY_KEPT_SECONDS:
                self._refused = await self._ask()
                self._asked = time.monotonic()
        return self._refused

    async def _ask(self) -> RefusedError | None:
        writer = self._reports.writer
        if writer is None or not writer.is_running:
            return unavailable("The writer of reports has ended: start the server again.")
        try:
            async with asyncio.timeout(READY_SECONDS):
                await asyncio.to_thread(self._store.ping)  # left alone if it takes longer
        except TimeoutError:
            return unavailable("The database does not answer in time.")
        except StoreError as error:
            return store_refusal(error)
        return None


def _add_refusals(app: FastAPI) -> None:
    """Answer every error with a problem document."""

    @app.exception_handler(HTTPException)
    async def refuse(request: Request, error: Exception) -> Response:
        refused = framework_refusal(cast("HTTPException", error))
        response = problem_response(refused)
        if refused.status_code == 405:
            response.headers["Allow"] = _allowed(app, request)
        return response

    @app.exception_handler(RequestValidationError)
    async def refuse_parameters(_request: Request, error: Exception) -> Response:
        first = cast("RequestValidationError", error).errors()[0]
        place = ".".join(str(part) for part in first["loc"][:2])
        return problem_response(RefusedError("invalid-parameter", f"{place}: {first['msg']}."))

    @app.exception_handler(ParameterError)
    async def refuse_rule(_request: Request, error: Exception) -> Response:
        return problem_response(RefusedError("invalid-parameter", str(error)))

    @app.exception_handler(StoreError)
    async def try_again(_request: Request, error: Exception) -> Response:
        return problem_response(store_refusal(cast("StoreError", error)))

    @app.exception_handler(Exception)
    async def fail(request: Request, _error: Exception) -> Response:
        # Outside of all other parts: its headers are added here.
        detail = "The server met an error that it did not expect; nothing was acknowledged."
        response = problem_response(RefusedError("internal-error", detail))
        response.raw_headers.extend(SECURITY_HEADERS)
        response.headers["X-Request-Id"] = request.scope["request_id"]
        return response


def _allowed(app: FastAPI, request: Request) -> str:
    """Return the methods of all routes of a path."""
    methods: set[str] = set()
    for route in app.router.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    return ", ".join(sorted(methods))
