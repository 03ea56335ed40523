"""The one door for optional packages."""

import importlib
from types import ModuleType

from shoal.exceptions import MissingPackageError

WHOLE = "shoal-client has no part of it; run `pip uninstall shoal-client`, then `pip install shoal`"


def require(package: str, *, extra: str) -> ModuleType:
    """Import an optional package, or say which extra brings it.

    Parameters
    ----------
    package : str
        Dotted name of the module to import.
    extra : str
        Name of shoal's extra that installs it; ``""`` for what shoal itself brings, and the light
        distribution for devices, shoal-client, does not.

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
        way = f"run `pip install 'shoal[{extra}]'`" if extra else WHOLE
        raise MissingPackageError(f"{missing.name} is not installed: {way}") from None
