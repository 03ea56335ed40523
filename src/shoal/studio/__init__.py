"""The studio: web pages on which a curator sees what privacy costs on the own table.

:func:`serve_studio` runs it on the own machine, :func:`create_studio` makes its HTTP application,
:class:`StudioSettings` says where it listens, and :func:`open_file` puts a table into its
:class:`Workspace`. Records are kept in the memory of the process and
nowhere else; nothing is sent to another machine. The collector never mounts or imports it.
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
