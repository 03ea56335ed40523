"""What the registry says about a data set."""

from dataclasses import dataclass


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
    licence : str
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

    Examples
    --------
    >>> from shoal.datasets import list_datasets
    >>> iris = next(info for info in list_datasets() if info.name == "iris")
    >>> iris.limits[0], iris.bundled
    ((0.0, 10.0), True)
    """

    name: str
    limits: tuple[tuple[float, float], ...]
    reason: str
    licence: str
    source: str
    columns: tuple[str, ...] = ()
    label: str | None = None
    file: str | None = None
    sha256: str | None = None

    @property
    def bundled(self) -> bool:
        """Whether the set comes with scikit-learn and needs no file."""
        return self.file is None
