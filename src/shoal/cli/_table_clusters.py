"""A release as a table of clusters: computed from the release alone, so nothing more is spent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from shoal.privacy import Release

__all__ = ["Clusters", "released_clusters"]

Floats = npt.NDArray[np.float64]


class Clusters(NamedTuple):
    """One row a cluster, in the order of the release, which is the order of labels."""

    file: str
    names: tuple[str, ...]
    values: Floats


def released_clusters(release: "Release", columns: Sequence[str]) -> Clusters:
    """List what a release says about each cluster.

    Parameters
    ----------
    release : Release
        Of a DPKMeans, with centres, or of a DPWaveCluster, with cells.
    columns : sequence of str
        Names of the columns of the records.

    Returns
    -------
    clusters : Clusters
        Centres with their noisy sizes and 95% radii, or the extent of each cluster's cells; and
        the name of a file for them.
    """
    if "centres" in release.values:
        names = (*columns, *_apart(("noisy_size", "radius"), columns))
        parts = [release.values[name] for name in ("centres", "sizes", "radii")]
        return Clusters("centres.csv", names, np.column_stack(parts).astype(np.float64))
    sides = tuple(f"{column} {side}" for column in columns for side in ("from", "to"))
    return Clusters("clusters.csv", (*_apart(("cells",), sides), *sides), _extents(release))


def _extents(release: "Release") -> Floats:
    """Count the cells of each cluster, and box them in."""
    values = release.values
    shape = tuple(values["shape"])
    places = np.column_stack(np.unravel_index(values["cells"], shape))
    width = (values["high"] - values["low"]) / shape
    rows = []
    for cluster in range(int(values["clusters"].max(initial=-1)) + 1):
        cells = places[values["clusters"] == cluster]
        low = values["low"] + cells.min(axis=0) * width
        high = values["low"] + (cells.max(axis=0) + 1) * width
        rows.append([len(cells), *np.column_stack([low, high]).ravel()])
    return np.array(rows, dtype=np.float64).reshape(len(rows), 1 + 2 * len(shape))


def _apart(words: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Change words of ours until no column of the user's has the same name."""
    found: list[str] = []
    for word in words:
        free = word
        while free in taken:
            free += "_"
        found.append(free)
    return tuple(found)
