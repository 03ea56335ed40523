"""Run a relay: one process that takes sealed reports and forwards them in batches."""

from collections.abc import Callable
from pathlib import Path

from shoal.exceptions import ParameterError
from shoal.service import end_on_signals, listen, log_stray_errors, run_app, start_log
from shoal.shuffler.app import create_app, open_store
from shoal.shuffler.credentials import FileCredentials
from shoal.shuffler.document import RelayedCampaign
from shoal.shuffler.settings import Settings

__all__ = ["serve"]


def serve(
    document: str,
    public_key: str,
    keys: Path,
    settings: Settings,
    *,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Run a relay until it receives a signal to stop (SIGINT or SIGTERM).

    Reports that are waiting at that time wait for the next start: an incomplete batch is never
    forwarded.

    Parameters
    ----------
    document : str
        Signed document of the campaign: a file, or its address at the collector.
    public_key : str
        Public key of the required signer.
    keys : Path
        File with ingest keys of devices and tokens of the operator; created if it does not exist.
    settings : Settings
        Database, addresses and limits.
    announce : callable, default=None
        Called once with the address, such as ``"http://127.0.0.1:8000"``, when the server is ready;
        None writes the line ``ready http://127.0.0.1:8000`` to the standard output.

    Raises
    ------
    ParameterError
        If the campaign has no shuffler, or the relay cannot listen on the address.
    CampaignError
        If the document is not signed by this key.
    StoreError
        If the database cannot be used.

    Examples
    --------
    It runs until Ctrl-C, which is sent here as soon as requests are taken.

    >>> import signal, tempfile
    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> from shoal.campaigns import Campaign, SealingKey, Shuffler, SigningKey, sign_campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.shuffler import Settings, serve
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
    >>> def stop(address):
    ...     print("takes requests")
    ...     signal.raise_signal(signal.SIGINT)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     document, keys = Path(folder, "homes.campaign.json"), Path(folder, "keys")
    ...     _ = document.write_bytes(sign_campaign(campaign, key))
    ...     settings = Settings(f"{folder}/relay.db", "https://collect.example.org", port=0)
    ...     serve(str(document), str(key.public), keys, settings, announce=stop)
    takes requests
    """
    log = start_log(settings)
    campaign = RelayedCampaign(document, public_key, log)
    credentials = FileCredentials(keys)
    if settings.key is not None and credentials.ingest_key_ok(campaign.live.id, settings.key):
        raise ParameterError(
            f"key must not be in {str(keys)!r}: devices have those keys, and whoever has the "
            "relay's own could send batches; ask whoever runs the collector for another one"
        )
    with (
        open_store(settings, campaign) as store,
        listen(settings) as listener,
        log_stray_errors(log),
        end_on_signals(),
    ):
        app = create_app(store, campaign, credentials, settings, log=log)
        run_app(app, settings, listener, announce)
