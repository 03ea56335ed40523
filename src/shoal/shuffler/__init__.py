"""The relay: collects encrypted reports until a batch is full, shuffles and forwards the batch.

:func:`serve` runs a relay, ``create_app`` makes its HTTP application, ``RelayStore`` is
its database. Its operator must not be the analyst. It cannot decrypt reports and stores neither
times nor addresses; the receiver of a batch cannot tell which report came from which device.
``docs/shuffling.md`` explains who must be trusted for that, and what it cannot prevent.
"""

from typing import TYPE_CHECKING

from shoal._optional import load_server_names

if TYPE_CHECKING:
    from shoal.shuffler.app import create_app, open_store
    from shoal.shuffler.credentials import FileCredentials
    from shoal.shuffler.document import RelayedCampaign, fetch_document
    from shoal.shuffler.server import serve
    from shoal.shuffler.settings import Settings
    from shoal.shuffler.store import Batch, RelayCounts, RelayStore

__all__ = [
    "Batch",
    "FileCredentials",
    "RelayCounts",
    "RelayStore",
    "RelayedCampaign",
    "Settings",
    "create_app",
    "fetch_document",
    "open_store",
    "serve",
]

# Loaded when first asked for: what is missing is then named with the extra that brings it.
_MODULES = {
    "Batch": "store",
    "FileCredentials": "credentials",
    "RelayCounts": "store",
    "RelayStore": "store",
    "RelayedCampaign": "document",
    "Settings": "settings",
    "create_app": "app",
    "fetch_document": "document",
    "open_store": "app",
    "serve": "server",
}

if not TYPE_CHECKING:
    __getattr__ = load_server_names(__name__, _MODULES)
