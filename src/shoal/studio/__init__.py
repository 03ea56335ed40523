"""The studio: local web pages on which a curator sees what privacy costs on their own table.

:func:`serve_studio` runs the studio on this machine, :func:`create_studio` makes its HTTP
application, :class:`StudioSettings` holds its settings, and :func:`open_file` adds a table to its
:class:`Workspace`. Records are kept only in the memory of the process; nothing is sent to another
machine. The collector never mounts or imports the studio.
"""

from typing import TYPE_CHECKING

from shoal._optional import load_server_names

if TYPE_CHECKING:
    from shoal.studio.app import create_studio
    from shoal.studio.opening import open_file
    from shoal.studio.server import serve_studio
    from shoal.studio.settings import StudioSettings
    from shoal.studio.workspace import Workspace

__all__ = ["StudioSettings", "Workspace", "create_studio", "open_file", "serve_studio"]

# Loaded when first asked for: settings are checked before anything slow is imported.
_MODULES = {
    "StudioSettings": "settings",
    "Workspace": "workspace",
    "create_studio": "app",
    "open_file": "opening",
    "serve_studio": "server",
}

if not TYPE_CHECKING:
    __getattr__ = load_server_names(__name__, _MODULES)
