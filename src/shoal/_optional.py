"""The one door for optional packages."""

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from shoal.exceptions import MissingPackageError

WHOLE = (
    "shoal-device has no part of it; run `pip uninstall shoal-device`, then `pip install .` in a "
    "clone of shoal"
)
# Modules that the extra `serve` brings, and servers import by name.
SERVE = {
    *("alembic", "fastapi", "httptools", "prometheus_client", "psycopg"),
    *("pydantic", "sqlalchemy", "starlette", "uvicorn", "uvloop"),
}


def require(package: str, *, extra: str) -> ModuleType:
    """Import an optional package, or say which extra brings it.

    Parameters
    ----------
    package : str
        Dotted name of the module to import.
    extra : str
        Name of shoal's extra that installs it; ``""`` for what shoal itself brings, and the light
        distribution for devices, shoal-device, does not.

    Returns
    -------
    module : ModuleType
        The imported module.

    Raises
    ------
    MissingPackageError
        If the package is not installed.

    Examples
    --------
    >>> require("json", extra="none").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as missing:
        # A module that lacks a part of its own is a broken install, not a missing extra.
        if missing.name is None or not (
            package == missing.name or package.startswith(missing.name + ".")
        ):
            raise
        raise _not_installed(missing.name, extra) from None


def load_server_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package of servers, which loads a name when it is asked for.

    Parameters
    ----------
    package : str
        Dotted name of the package.
    modules : mapping
        The module of the package that has each public name.

    Returns
    -------
    load : callable
        Function from a name to its value. It raises MissingPackageError where a module of the
        extra ``serve`` is not installed.

    Examples
    --------
    >>> load = load_server_names("shoal.collector", {"Settings": "settings"})
    >>> load("Settings").__name__
    'Settings'
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)
        except ModuleNotFoundError as missing:
            module = (missing.name or "").partition(".")[0]
            if module not in SERVE:
                raise
            raise _not_installed(module, "serve") from None

    return load


def _not_installed(module: str, extra: str) -> MissingPackageError:
    way = f"run `pip install '.[{extra}]'` in a clone of shoal" if extra else WHOLE
    return MissingPackageError(f"{module} is not installed: {way}")
