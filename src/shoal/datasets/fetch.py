"""Get the file of a data set, checked against its digest."""

import hashlib
import logging
import os
from collections.abc import Callable
from pathlib import Path

from shoal._whole_file import whole_file
from shoal.datasets.download import download
from shoal.datasets.folders import cache_folder, named_folder
from shoal.datasets.info import DatasetInfo
from shoal.datasets.rebuild import rebuild
from shoal.datasets.registry import find
from shoal.exceptions import DataError, ParameterError

__all__ = ["fetch"]

_log = logging.getLogger("shoal.datasets")


def fetch(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    tell: Callable[[str], object] | None = None,
) -> Path:
    """Download the file of a data set, unless it is there.

    The upstream files are taken from pinned addresses over https, and the file is made of them and
    kept only if its sha256 is the registry's.

    Parameters
    ----------
    name : str
        A name of :func:`shoal.datasets.list_datasets` that is ``downloadable``.
    folder : path-like, optional
        Folder for the file; by default the one that the environment variable ``SHOAL_DATA`` names,
        or else ``shoal`` in the cache folder of the user, where :func:`shoal.datasets.load` looks.
    tell : callable, optional
        Gets the license and the source in one line before anything is downloaded; by default they
        go to the log ``shoal.datasets``.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    ParameterError
        If no data set has this name, or it needs no file, or the folder cannot be written to.
    DataError
        If the file cannot be had, or is not the one the registry describes. Nothing is kept then.

    Examples
    --------
    >>> from shoal.datasets import list_datasets
    >>> [info.name for info in list_datasets() if info.downloadable][:3]
    ['seeds', 'transfusion', 'adult']
    """
    info = find(name)
    if info.file is None:
        raise ParameterError(
            f"name must be a data set with a file to download, got {name!r}, which comes with "
            "scikit-learn"
        )
    if info.origin is None or not info.downloadable:
        raise DataError(f"{info.name} cannot be downloaded: {info.way}")
    path = _place(folder) / info.file
    if _there(info, path):
        return path
    urls = info.origin.urls
    (tell or _log.info)(
        f"{info.name}: license {info.license}; source {info.source}; from {' and '.join(urls)}"
    )
    content = rebuild(info, [download(url) for url in urls])
    digest = hashlib.sha256(content).hexdigest()
    if digest != info.sha256:
        raise DataError(
            f"{info.file} must have sha256 {info.sha256}, got {digest} from {' and '.join(urls)}: "
            "what is served there was changed; nothing was kept"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as part:
            part.write_bytes(content)
    except OSError as failure:
        raise _unwritable(path, failure) from None
    return path


def _place(folder: str | os.PathLike[str] | None) -> Path:
    return Path(folder) if folder is not None else named_folder() or cache_folder()


def _there(info: DatasetInfo, path: Path) -> bool:
    """Return whether the file is there; another file of this name is left alone."""
    try:
        if not path.exists():
            return False
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as failure:
        raise _unwritable(path, failure) from None
    if digest != info.sha256:
        raise DataError(
            f"{str(path)!r} must have sha256 {info.sha256} or not be there, got another file: "
            "move it away to download"
        )
    return True


def _unwritable(path: Path, failure: OSError) -> ParameterError:
    return ParameterError(
        f"folder must be one that can be written, got {str(path.parent)!r}: {failure.strerror}"
    )
