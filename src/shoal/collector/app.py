"""The HTTP application of a collector, put together from its parts."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from fastapi import FastAPI
from starlette.routing import Route

from shoal.campaigns import SealingKey
from shoal.collector import openapi
from shoal.collector.batch_intake import BatchIntake
from shoal.collector.live_campaigns import StoredCampaigns
from shoal.collector.metrics import CollectorMetrics
from shoal.collector.routes import add_analyst_routes, add_public_routes
from shoal.collector.settings import Settings
from shoal.collector.store import Store
from shoal.service import (
    BucketTable,
    ClientAddresses,
    CrossOrigin,
    EventLog,
    Gatekeeper,
    GroupCommit,
    Intake,
    Readiness,
    RequestFrame,
    add_document_route,
    add_service_routes,
    campaign_finder,
    create_service,
    log_loop_errors,
)

__all__ = ["create_app"]

CAMPAIGN_BURST = 2.0  # seconds at the rate of a campaign


def create_app(
    store: Store,
    settings: Settings,
    *,
    log: EventLog | None = None,
    sealing_keys: Sequence[SealingKey] = (),
) -> FastAPI:
    """Make the HTTP application of a collector.

    Parameters
    ----------
    store : Store
        Open database; the application does not close it.
    settings : Settings
        Limits; the database and address in it are not used here.
    log : EventLog, default=None
        Receives a line for each request; None is the standard error.
    sealing_keys : sequence of SealingKey, default=()
        Secret keys of shuffled campaigns, to decrypt their batches here.

    Returns
    -------
    app : FastAPI
        The application. Its lifespan starts the writer of reports, and stores all waiting reports
        before it ends.

    Examples
    --------
    >>> import tempfile
    >>> from shoal.collector import Settings, Store, create_app
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/reports.db"
    ...     with Store.open(url) as store:
    ...         print(create_app(store, Settings(url)).title)
    shoal collector
    """
    log = EventLog() if log is None else log
    metrics = CollectorMetrics()
    clients = ClientAddresses(settings.trusted_proxies)
    campaigns = StoredCampaigns(store, settings, log)
    gatekeeper = Gatekeeper(store, clients, settings)
    rates = BucketTable(settings.campaign_rate, CAMPAIGN_BURST * settings.campaign_rate)
    reports = Intake(
        campaigns, gatekeeper, rates, metrics.count_submission, settings.max_body_bytes
    )

    batches = BatchIntake(
        store,
        sealing_keys,
        campaigns=campaigns,
        gatekeeper=gatekeeper,
        rates=rates,
        count=metrics.count_submission,
    )

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        log_loop_errors(log)
        async with GroupCommit(store, observe=metrics.count_commit) as writer:
            reports.writer = writer
            metrics.follow_writer(lambda: writer.n_waiting)
            watcher = asyncio.create_task(campaigns.watch())
            try:
                yield
            finally:
                campaigns.stop()
                await watcher
        reports.writer = None

    def observe(identifier: str, method: str, route: str, status: int, seconds: float) -> None:
        log.write_request(identifier, method, route, status, seconds)
        metrics.count_request(method, route, status, seconds)

    app = create_service("shoal collector", lifespan, lambda app: openapi.document(app, settings))
    # A plain route: machinery for arguments and models would cost more than all the rest.
    for shortcut in (reports, batches):
        app.router.routes.append(Route(shortcut.path, shortcut, methods=["POST"]))
    known = campaign_finder(campaigns)
    add_document_route(app, known)
    add_public_routes(app, store, known)
    add_analyst_routes(app, store, gatekeeper, known)
    add_service_routes(app, gatekeeper, metrics, Readiness(store, reports))
    app.add_middleware(
        RequestFrame,
        shortcuts=(reports, batches),
        settings=settings,
        clients=clients,
        cross_origin=CrossOrigin(campaigns),
        observe=observe,
        follow=metrics.follow_requests,
    )
    return app
