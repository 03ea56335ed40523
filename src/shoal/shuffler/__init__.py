"""The relay: takes sealed reports, waits for a full batch, shuffles it and forwards it.

:func:`serve` runs one, :func:`create_app` makes its HTTP application, :class:`RelayStore` is its
database. It is run by somebody else than the analyst. It cannot open a report; it keeps no time and
no address; whoever receives its batches cannot tell which report came from whom. What must be
trusted for that, and what this cannot prevent, is said in ``docs/shuffling.md``.
"""

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
