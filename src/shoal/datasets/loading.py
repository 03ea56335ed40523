"""Load a known data set, checked against its digest."""

import gzip
import hashlib
import io
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from shoal._optional import require
from shoal._typing import Floats, Ints
from shoal.datasets.dataset import Dataset, DatasetInfo, number_table
from shoal.datasets.fetching import cache_folder, fetch, named_folder
from shoal.datasets.registry import REGISTRY, find
from shoal.exceptions import DataError

__all__ = ["list_datasets", "load"]


def list_datasets(*, available: bool = False) -> tuple[DatasetInfo, ...]:
    """List the data sets that :func:`load` can load.

    Parameters
    ----------
    available : bool, default=False
        Whether to list only those that need no file or whose file :func:`load` can find.

    Returns
    -------
    entries : tuple of DatasetInfo
        Name, file, license, bounds and the reason for the bounds of each; ``bundled`` ones come
        with scikit-learn and need no file.

    Examples
    --------
    >>> [info.name for info in list_datasets() if info.bundled]
    ['iris', 'digits', 'wine', 'breast_cancer']
    """
    if not available:
        return REGISTRY
    return tuple(info for info in REGISTRY if info.bundled or _find_file(info) is not None)


def load(
    name: str, *, data_dir: str | os.PathLike[str] | None = None, download: bool = False
) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        Name of a data set, see :func:`list_datasets`.
    data_dir : path-like, optional
        Folder of the data files. By default the folder in the environment variable ``SHOAL_DATA``,
        then the cache folder of :func:`fetch`. Sets that come with scikit-learn need no folder.
    download : bool, default=False
        Whether to download a missing file with :func:`fetch`, which logs its license.

    Returns
    -------
    dataset : Dataset
        Records as stored, not clipped, with the public bounds of the registry.

    Raises
    ------
    ParameterError
        If no data set has this name.
    DataError
        If the file is missing, cannot be downloaded, or is not the one in the registry.

    Examples
    --------
    >>> print(load("iris"))
    iris: 150 records x 4 columns, 3 labels
    """
    info = find(name)
    return _load_bundled(info) if info.file is None else _load_file(info, data_dir, download)


def _load_bundled(info: DatasetInfo) -> Dataset:
    # Takes a second, which no other set needs.
    import sklearn.datasets  # noqa: PLC0415

    bunch = getattr(sklearn.datasets, f"load_{info.name}")()
    columns = tuple(str(column) for column in bunch.feature_names)
    return _dataset(info, bunch.data, bunch.target, columns)


def _load_file(
    info: DatasetInfo, data_dir: str | os.PathLike[str] | None, download: bool
) -> Dataset:
    content = _read(info, _path(info, data_dir, download))
    if info.table:
        return _dataset_of_table(info, content)
    if str(info.file).endswith(".gz"):
        content = gzip.decompress(content)
    header, _, rows = content.decode("utf-8").partition("\n")
    names = header.split(",")
    table = np.loadtxt(io.StringIO(rows), delimiter=",", ndmin=2)
    X = table[:, [names.index(column) for column in info.columns]]
    y = None if info.label is None else table[:, names.index(info.label)]
    return _dataset(info, X, y, info.columns)


def _dataset_of_table(info: DatasetInfo, content: bytes) -> Dataset:
    """Read the columns of a mixed table."""
    parquet = require("pyarrow.parquet", extra="arrow")
    columns = parquet.read_table(io.BytesIO(content), columns=list(info.table))
    table = {name: columns[name].to_numpy() for name in info.table}
    X = np.column_stack([table[name] for name in info.columns])
    return replace(_dataset(info, X, None, info.columns), table=table)


def _path(info: DatasetInfo, data_dir: str | os.PathLike[str] | None, download: bool) -> Path:
    found = _find_file(info, data_dir)
    if found is not None:
        return found
    if download:
        return fetch(info.name, data_dir)
    named = Path(data_dir) if data_dir is not None else named_folder()
    where = "" if named is None else f", which is not in {str(named)!r}"
    raise DataError(
        f"{info.name} needs the file {info.file}{where}: {info.way}", parameter="", code="file"
    )


def _find_file(info: DatasetInfo, data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the file of a set in the folder that is named, or in the cache; None if in neither."""
    named = Path(data_dir) if data_dir is not None else named_folder()
    folders = [] if named is None else [named]
    if data_dir is None:
        folders.append(cache_folder())
    files = (folder / str(info.file) for folder in folders)
    return next((file for file in files if file.is_file()), None)


def _read(info: DatasetInfo, path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as failure:
        raise DataError(
            f"{info.name} needs the file {str(path)!r}, which cannot be read: {failure.strerror}",
            parameter="",
            code="file",
        ) from None
    digest = hashlib.sha256(content).hexdigest()
    if digest != info.sha256:
        raise DataError(
            f"{info.file} must have sha256 {info.sha256}, got {digest}: "
            "it was changed or is another version, get it again",
            parameter="",
            code="file",
        )
    return content


def _dataset(
    info: DatasetInfo, X: Floats, y: Floats | Ints | None, columns: tuple[str, ...]
) -> Dataset:
    limits = np.array(info.limits)
    bounds = (limits[:, 0].copy(), limits[:, 1].copy())
    X = np.ascontiguousarray(X, dtype=np.float64)
    return Dataset(
        name=info.name,
        X=X,
        y=None if y is None else y.astype(np.int64),
        bounds=bounds,
        columns=columns,
        license=info.license,
        source=info.source,
        table=number_table(X, columns),
        table_schema=info.table_schema(columns),
    )
