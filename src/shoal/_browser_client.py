"""The modules of the browser client, where they are: in the wheel, or in the source tree."""

from pathlib import Path

from shoal.exceptions import MissingPackageError

__all__ = ["browser_client", "browser_modules"]

COMPONENT = "shoal-report.js"  # the module that a page loads
PACKAGED = "browser_client"  # as pyproject.toml puts them into the wheel
SOURCES = "clients/js/src"


def browser_client() -> Path:
    """Return the folder of the modules.

    >>> (browser_client() / "shoal-report.js").is_file()
    True
    """
    here = Path(__file__).resolve().parent
    for folder in (here / PACKAGED, here.parents[1] / SOURCES):
        if (folder / COMPONENT).is_file():
            return folder
    raise MissingPackageError(
        "the browser client is not installed: this distribution has no part of it; run "
        "`pip install .` in a clone of shoal"
    )


def browser_modules() -> tuple[Path, ...]:
    """Return all modules that a page needs, by their names."""
    return tuple(sorted(browser_client().glob("*.js")))
