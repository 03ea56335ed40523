"""The folders where files of data sets are looked for."""

import os
from pathlib import Path

__all__ = ["VARIABLE", "cache_folder", "named_folder"]

VARIABLE = "SHOAL_DATA"


def named_folder() -> Path | None:
    """Return the folder that the environment variable ``SHOAL_DATA`` names, if it does.

    Returns
    -------
    folder : Path or None
    """
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """Return the folder for files that can be had again.

    Returns
    -------
    folder : Path
        ``shoal`` below ``XDG_CACHE_HOME``, or below ``.cache`` in the home of the user.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    # By the convention, a path that is not absolute does not count.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "shoal"
