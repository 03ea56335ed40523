"""Where the file of a data set was made from."""

from dataclasses import dataclass

__all__ = ["Origin", "github"]


@dataclass(frozen=True)
class Origin:
    """Pinned places of the upstream files, and how the file of the registry is made of them.

    Parameters
    ----------
    urls : tuple of str
        Addresses that never change what they serve.
    recipe : str or None
        Name of the recipe of :func:`shoal.datasets.rebuild.rebuild` that gives the registry's file
        byte by byte; None where there is none, so that the file must be got by hand.

    Examples
    --------
    >>> origin = github("owner/name", "0123abc", "data/points.txt", recipe="numbers")
    >>> origin.urls
    ('https://raw.githubusercontent.com/owner/name/0123abc/data/points.txt',)
    """

    urls: tuple[str, ...]
    recipe: str | None = None


def github(repository: str, commit: str, *paths: str, recipe: str | None = None) -> Origin:
    """Name files of a public repository as they are at one commit.

    Parameters
    ----------
    repository : str
        As ``owner/name``.
    commit : str
        Its full name, so that the files cannot change.
    *paths : str
        Files.
    recipe : str, optional
        As in :class:`Origin`.

    Returns
    -------
    origin : Origin
    """
    place = f"https://raw.githubusercontent.com/{repository}/{commit}"
    return Origin(tuple(f"{place}/{path}" for path in paths), recipe)
