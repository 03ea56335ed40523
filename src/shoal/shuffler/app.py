"""The HTTP application of a relay: to a device it looks as a collector does."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from starlette.routing import Route

from shoal.client import Transport
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
    intake_operation,
    log_loop_errors,
    service_document,
)
from shoal.shuffler.credentials import FileCredentials
from shoal.shuffler.document import RelayedCampaign
from shoal.shuffler.forwarding import Forwarder
from shoal.shuffler.metrics import RelayMetrics
from shoal.shuffler.settings import Settings
from shoal.shuffler.store import RelayStore

__all__ = ["create_app", "open_store"]

CAMPAIGN_BURST = 2.0  # seconds at the rate of a campaign
DESCRIPTION = """Takes sealed reports of devices, which it cannot open, and forwards them to the
collector in shuffled batches, without a time or an address. Only whole batches leave."""


def open_store(settings: Settings, campaign: RelayedCampaign) -> RelayStore:
    """Open or create the database of a relay for its campaign.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> from shoal.campaigns import Campaign, SealingKey, Shuffler, SigningKey, sign_campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.service import EventLog
    >>> from shoal.shuffler import RelayedCampaign, Settings, open_store
    >>> campaign = Campaign(
    ...     id="homes",
    ...     title="Where people live",
    ...     purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(4.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2099, 1, 1, tzinfo=UTC),
    ...     reports_url="https://relay.example.org/v1/campaigns/homes/reports",
    ...     results_url="https://collect.example.org/v1/campaigns/homes/results",
    ...     shuffler=Shuffler("a relay of our own", 500, str(SealingKey.new().public)),
    ... )
    >>> key = SigningKey.new()
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "homes.campaign.json"
    >>> _ = file.write_bytes(sign_campaign(campaign, key))
    >>> relayed = RelayedCampaign(str(file), str(key.public), EventLog())
    >>> settings = Settings(f"{folder.name}/relay.db", "https://collect.example.org")
    >>> store = open_store(settings, relayed)
    >>> type(store).__name__
    'RelayStore'
    >>> store.close()
    >>> folder.cleanup()
    """
    described = campaign.signed.campaign
    if described.shuffler is None:
        raise RuntimeError("a relayed campaign has a shuffler: `fetch_document` refuses others")
    return RelayStore.open(
        settings.database,
        described.id,
        width=described.body_bytes,
        batch_size=described.shuffler.batch_size,
    )


def create_app(
    store: RelayStore,
    campaign: RelayedCampaign,
    credentials: FileCredentials,
    settings: Settings,
    *,
    log: EventLog | None = None,
    transport: Transport | None = None,
) -> FastAPI:
    """Make the HTTP application of a relay.

    Parameters
    ----------
    store : RelayStore
        Open database; the application does not close it.
    campaign : RelayedCampaign
        The single campaign of the relay.
    credentials : FileCredentials
        Ingest keys of devices and tokens of the operator.
    settings : Settings
        Limits, and the address that batches are forwarded to.
    log : EventLog, default=None
        Receives a line for each batch; None is the standard error.
    transport : Transport, default=None
        Sends batches; None is ``UrlTransport(timeout=60)``.

    Returns
    -------
    app : FastAPI
        The application. Its lifespan starts the writer of reports and the forwarder of batches.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> from shoal.campaigns import Campaign, SealingKey, Shuffler, SigningKey, sign_campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.service import EventLog
    >>> from shoal.shuffler import (
    ...     FileCredentials,
    ...     RelayedCampaign,
    ...     Settings,
    ...     create_app,
    ...     open_store,
    ... )
    >>> campaign = Campaign(
    ...     id="homes",
    ...     title="Where people live",
    ...     purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(4.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2099, 1, 1, tzinfo=UTC),
    ...     reports_url="https://relay.example.org/v1/campaigns/homes/reports",
    ...     results_url="https://collect.example.org/v1/campaigns/homes/results",
    ...     shuffler=Shuffler("a relay of our own", 500, str(SealingKey.new().public)),
    ... )
    >>> key = SigningKey.new()
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "homes.campaign.json"
    >>> _ = file.write_bytes(sign_campaign(campaign, key))
    >>> relayed = RelayedCampaign(str(file), str(key.public), EventLog())
    >>> credentials = FileCredentials(Path(folder.name) / "keys")
    >>> settings = Settings(f"{folder.name}/relay.db", "https://collect.example.org")
    >>> store = open_store(settings, relayed)
    >>> create_app(store, relayed, credentials, settings).title
    'shoal relay'
    >>> store.close()
    >>> folder.cleanup()
    """
    log = EventLog() if log is None else log
    metrics = RelayMetrics()
    clients = ClientAddresses(settings.trusted_proxies)
    gatekeeper = Gatekeeper(credentials, clients, settings)
    rates = BucketTable(settings.campaign_rate, CAMPAIGN_BURST * settings.campaign_rate)
    reports = Intake(campaign, gatekeeper, rates, _count_nothing, settings.max_body_bytes)
    forwarder = Forwarder(
        store,
        campaign,
        settings.to,
        log,
        metrics,
        key=settings.key,
        transport=transport,
        retry_seconds=settings.retry_seconds,
    )

    def committed(_submissions: int, _seconds: float, done: bool) -> None:
        if done:
            forwarder.wake()
        else:
            metrics.count_failed_commit()

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        log_loop_errors(log)
        forwarder.start()
        try:
            async with GroupCommit(store, observe=committed) as writer:
                reports.writer = writer
                yield
            reports.writer = None
        finally:
            forwarder.close()

    app = create_service("shoal relay", lifespan, lambda app: _document(app, campaign))
    app.router.routes.append(Route(reports.path, reports, methods=["POST"]))
    known = campaign_finder(campaign)
    add_document_route(app, known)
    add_service_routes(app, gatekeeper, metrics, Readiness(store, reports))
    app.add_middleware(
        RequestFrame,
        shortcuts=(reports,),
        settings=settings,
        clients=clients,
        cross_origin=CrossOrigin(campaign),
        observe=_observe_nothing,
        follow=_follow_nothing,
    )
    return app


def _count_nothing(_campaign: str, _outcome: str, _stored: int) -> None:
    """Count no report: a count that is read often is a list of arrival times."""


def _observe_nothing(
    _identifier: str, _method: str, _route: str, _status: int, _seconds: float
) -> None:
    """Write no line for a request: it would be a time of arrival."""


def _follow_nothing(_active: object) -> None:
    """Show nobody how many requests are being answered."""


def _document(app: FastAPI, campaign: RelayedCampaign) -> dict[str, Any]:
    """Return the OpenAPI document."""
    plain = service_document(app, DESCRIPTION)
    width = campaign.signed.campaign.body_bytes
    body = {"type": "string", "format": "binary", "minLength": width, "maxLength": width}
    plain["paths"].setdefault(Intake.path, {})["post"] = intake_operation(
        "Stores one sealed report until a batch is full, and answers after it is on the disk.",
        {"application/octet-stream": {"schema": body}},
        ("wrong-shape",),
    )
    return plain
