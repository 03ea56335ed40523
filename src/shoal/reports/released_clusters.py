"""Clusters from a release alone: labels, distances, a table and a picture, on any machine.

A release carries all that is needed: centers or cells, the metric, the lattice, and the schema of
the table. So new records are assigned later, elsewhere, without the estimator and without a further
spend. Labels of private records are as private as the records.
"""

import os
from typing import Any

import numpy as np

from shoal import _html
from shoal._cluster_table import cluster_table
from shoal._optional import require
from shoal._outlines import release_geojson
from shoal._typing import Floats, Labels
from shoal.exceptions import ParameterError, ReleaseError
from shoal.labels import center_distances, label_encoded, label_on_device
from shoal.plotting import Picture, draw_release
from shoal.privacy import Guarantee, Release
from shoal.schema import Schema

__all__ = ["ReleasedClusters", "load_release"]

PROFILE = "ClusterProfile"  # its release says what clusters are like, not where they are


def load_release(source: "Release | str | os.PathLike[str]") -> "ReleasedClusters":
    """Open a release of clusters; nothing else is needed to use them.

    Parameters
    ----------
    source : Release, or path of a file
        Of ``DPKMeans``, ``DPDensity``, ``DPWaveCluster``, ``NoiseAwareKMeans`` or
        ``NoiseAwareDensity``; a file that ``Release.save`` or ``shoal cluster`` wrote.

    Returns
    -------
    clusters : ReleasedClusters
        With ``predict``, ``transform``, ``to_frame`` and ``plot``.

    Raises
    ------
    ReleaseError
        If the file is no release, or holds no clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal import DPKMeans, load_release
    >>> X = np.repeat([[25.0, 30_000.0], [60.0, 90_000.0]], 500, axis=0)
    >>> model = DPKMeans(2, bounds=([18.0, 0.0], [100.0, 500_000.0]), random_state=0).fit(X)
    >>> clusters = load_release(model.release_)
    >>> (clusters.predict(X) == model.predict(X)).all()
    np.True_
    """
    release = source if isinstance(source, Release) else Release.load(source)
    return ReleasedClusters(release)


class ReleasedClusters:
    """Clusters that were released, and how to use them.

    Parameters
    ----------
    release : Release
        The release.

    Attributes
    ----------
    release : Release
        The same.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import DPKMeans
    >>> from shoal.reports import ReleasedClusters
    >>> X = np.repeat([[0.2], [0.8]], 500, axis=0)
    >>> ReleasedClusters(DPKMeans(2, bounds=(0.0, 1.0)).fit(X).release_)
    ReleasedClusters(DPKMeans, n_clusters=2)
    """

    def __init__(self, release: Release) -> None:
        held = any(name in release.values for name in ("centers", "clusters", "strata"))
        if not held or release.kind == PROFILE:
            raise ReleaseError(
                f"release must hold clusters, got one of {release.kind}: pass that of DPKMeans, "
                "DPDensity or the like"
            )
        self.release = release

    @property
    def guarantee(self) -> Guarantee:
        """What the release promises."""
        return self.release.guarantee

    @property
    def schema(self) -> Schema | None:
        """The public description of the table; None where it had bounds instead."""
        plain = self.release.values.get("schema")
        return None if plain is None else Schema.from_dict(plain)

    @property
    def n_clusters(self) -> int:
        """Number of clusters, those that may be noise alone included."""
        values = self.release.values
        for name in ("centers", "sizes"):
            if name in values:
                return len(values[name])
        return int(np.max(values["clusters"], initial=-1)) + 1

    def predict(self, X: Any) -> Labels:
        """Find the cluster of each record: private, as the records are.

        Parameters
        ----------
        X : data frame, dict of columns, or array-like of shape (n, d)
            Records, as the schema describes them, or numbers in the order of the release.

        Returns
        -------
        labels : ndarray of shape (n,)
            What the estimator's ``predict`` gives, bit for bit; -1 for records in no cluster.
        """
        return np.atleast_1d(label_on_device(self.release, X)).astype(np.int32, copy=False)

    def predict_encoded(self, X: Floats) -> Labels:
        """Find the cluster of records that tables have encoded by the schema already.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Columns of ``schema.space``; without a schema, those of the release.

        Returns
        -------
        labels : ndarray of shape (n,)
            As :meth:`predict`.
        """
        return label_encoded(self.release, X)

    def transform(self, X: Any) -> Floats:
        """Measure the distance of each record to each center: private, as the records are.

        Parameters
        ----------
        X : data frame, dict of columns, or array-like of shape (n, d)
            As for :meth:`predict`.

        Returns
        -------
        distances : ndarray of shape (n, n_clusters)
            In the metric of the release: that of the schema, units of the bounds (1 is a column's
            width), or the unit of the records.

        Raises
        ------
        ParameterError
            If the release holds cells, which have no distance.
        """
        return np.atleast_2d(center_distances(self.release, X))

    def to_frame(self) -> Any:
        """Return one row a cluster, in the units of the table.

        Returns
        -------
        frame : pandas.DataFrame
            Of centers: numbers, most common levels and their shares, shares of missing values,
            noisy sizes, and whether a center is certain or may be noise alone; numbers on a
            logarithmic scale are means of logarithms, below the mean. Of cells: where each cluster
            lies.
        """
        pandas = require("pandas", extra="frame")
        table = cluster_table(self.release)
        columns = dict(zip(table.names, table.values.T, strict=True))
        if "certain" in self.release.values:
            columns[table.names[-1]] = table.certain
        frame = pandas.DataFrame(columns).infer_objects()
        frame.index.name = "cluster"
        return frame

    def to_geojson(self) -> dict[str, Any]:
        """Return where clusters of places are, in degrees.

        Returns
        -------
        collection : dict
            A FeatureCollection of GeoJSON: centers as points, clusters of cells as polygons.

        Raises
        ------
        ParameterError
            If the release has no schema with a place, or other numbers beside it.
        """
        return release_geojson(self.release.values)

    def plot(self, path: "str | os.PathLike[str] | None" = None) -> Picture:
        """Draw the release.

        Parameters
        ----------
        path : path-like, default=None
            File to write as well: PNG; of a release with a promise SVG, PDF, HTML or JSON too.

        Returns
        -------
        picture : Picture
            The chart, which a notebook shows.

        Raises
        ------
        ParameterError
            If the release has nothing that can be drawn.
        """
        picture = draw_release(self.release, path=path)
        if picture is None:
            raise ParameterError(
                "plot must be of a release that can be drawn, got cells of several strata, or "
                "significant cells of a sparse grid alone: use to_frame"
            )
        return picture

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.release.kind}, n_clusters={self.n_clusters})"

    def _repr_html_(self) -> str:
        promise = _html.promise(str(self.guarantee), holds=self.guarantee.holds)
        return _html.block(
            _html.paragraph(
                f"{self.n_clusters} clusters", strong=f"Release of {self.release.kind}"
            ),
            promise,
            cluster_table(self.release).to_html(),
        )
