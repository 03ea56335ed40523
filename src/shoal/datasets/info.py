"""What the registry says about a data set."""

from dataclasses import dataclass

from shoal.datasets.origin import Origin


@dataclass(frozen=True)
class DatasetInfo:
    """An entry of the registry.

    Parameters
    ----------
    name : str
        Name to pass to :func:`shoal.datasets.load`.
    limits : tuple of pairs of float
        Public bounds, one (low, high) a column.
    reason : str
        Why these bounds hold without looking at records.
    license : str
        Terms under which the records may be used.
    source : str
        Where they come from.
    columns : tuple of str
        Columns to load; empty for a set that comes with scikit-learn, which has its own names.
    label : str or None
        Column with the ground-truth label.
    file : str or None
        Path below the data folder; None for a set that comes with scikit-learn.
    sha256 : str or None
        Digest of that file.
    origin : Origin or None
        What that file was made from.

    Examples
    --------
    >>> from shoal.datasets import list_datasets
    >>> iris = next(info for info in list_datasets() if info.name == "iris")
    >>> iris.limits[0], iris.bundled, iris.downloadable
    ((0.0, 10.0), True, False)
    """

    name: str
    limits: tuple[tuple[float, float], ...]
    reason: str
    license: str
    source: str
    columns: tuple[str, ...] = ()
    label: str | None = None
    file: str | None = None
    sha256: str | None = None
    origin: Origin | None = None

    @property
    def bundled(self) -> bool:
        """Return whether the set comes with scikit-learn and needs no file."""
        return self.file is None

    @property
    def downloadable(self) -> bool:
        """Return whether :func:`shoal.datasets.fetch` can get the file."""
        return self.origin is not None and self.origin.recipe is not None

    @property
    def way(self) -> str:
        """What to do to have the file, in words that end a message."""
        here = "set SHOAL_DATA to the folder that holds it, or pass data_dir"
        if self.downloadable:
            return f"{here}, or run `shoal datasets {self.name} --download`"
        if self.origin is not None:
            return f"{here}; it was made from {' and '.join(self.origin.urls)}"
        return here
