"""The collector: an HTTP server that stores reports of devices, finds clusters, publishes them.

:func:`serve` runs a collector, :func:`create_app` makes its HTTP application, :class:`Settings`
holds its settings, and :class:`Store` is its database. :func:`queue_analysis` requests an analysis,
which a :class:`Worker` runs, and :func:`export_table` writes reports to files. A collector sees
reports only: nothing here reads a record.
"""

from typing import TYPE_CHECKING

from shoal._optional import load_server_names

if TYPE_CHECKING:
    from shoal.collector.analysis import queue_analysis
    from shoal.collector.app import create_app
    from shoal.collector.export import export_table
    from shoal.collector.server import serve
    from shoal.collector.settings import Settings
    from shoal.collector.store import Store
    from shoal.collector.worker import Worker

__all__ = ["Settings", "Store", "Worker", "create_app", "export_table", "queue_analysis", "serve"]

# Loaded when first asked for: a worker needs no HTTP, and a server no estimators.
_MODULES = {
    "Settings": "settings",
    "Store": "store",
    "Worker": "worker",
    "create_app": "app",
    "export_table": "export",
    "queue_analysis": "analysis",
    "serve": "server",
}

if not TYPE_CHECKING:
    __getattr__ = load_server_names(__name__, _MODULES)
