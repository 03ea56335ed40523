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
from shoal.labels import center_distances, check_release, label_encoded, label_on_device
from shoal.plotting import Picture, draw_release
from shoal.privacy import Guarantee, Release
from shoal.schema import Schema

__all__ = ["ReleasedClusters", "load_release"]

PROFILE = "ClusterProfile"  # its release says what clusters are like, not where they are


def load_release(source: "Release | str | os.PathLike[str]") -> "ReleasedClusters":
    """Open a release of clusters; neither records nor the estimator are needed to use them.

    Parameters
    ----------
    source : Release, or path of a file
        A release of ``DPKMeans``, ``DPDensity``, ``DPWaveCluster``, ``NoiseAwareKMeans`` or
        ``NoiseAwareDensity``, or a file that ``Release.save`` or ``shoal cluster`` wrote.

    Returns
    -------
    clusters : ReleasedClusters
        Clusters with the methods ``predict``, ``transform``, ``to_frame`` and ``plot``.

    Raises
    ------
    ReleaseError
        If the file is not a release, contains no clusters, or values that make none.

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
    """Clusters of a release, with methods to label records, describe and draw them.

    Parameters
    ----------
    release : Release
        A release of clusters.

    Attributes
    ----------
    release : Release
        The release.

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
        check_release(release)
        self.release = release

    @property
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of the release."""
        return self.release.guarantee

    @property
    def schema(self) -> Schema | None:
        """Public description of the table; None if it had bounds instead."""
        plain = self.release.values.get("schema")
        return None if plain is None else Schema.from_dict(plain)

    @property
    def n_clusters(self) -> int:
        """Number of clusters, including those that may be pure noise."""
        values = self.release.values
        for name in ("centers", "sizes"):
            if name in values:
                return len(values[name])
        return int(np.max(values["clusters"], initial=-1)) + 1

    def predict(self, X: Any) -> Labels:
        """Find the cluster of each record; labels are as private as the records.

        Parameters
        ----------
        X : data frame, dict of columns, or array-like of shape (n, d)
            Records as the schema describes them; without a schema, numbers in the order of the
            columns of the release.

        Returns
        -------
        labels : ndarray of shape (n,)
            Exactly those of the estimator's ``predict``; -1 for records in no cluster.
        """
        return np.atleast_1d(label_on_device(self.release, X)).astype(np.int32, copy=False)

    def predict_encoded(self, X: Floats) -> Labels:
        """Find the cluster of records that have already been encoded by the schema.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Encoded records, in the columns of ``schema.space``; without a schema, those of the
            release.

        Returns
        -------
        labels : ndarray of shape (n,)
            As for :meth:`predict`.
        """
        return label_encoded(self.release, X)

    def transform(self, X: Any) -> Floats:
        """Return the distance of each record to each center; as private as the records.

        Parameters
        ----------
        X : data frame, dict of columns, or array-like of shape (n, d)
            As for :meth:`predict`.

        Returns
        -------
        distances : ndarray of shape (n, n_clusters)
            Distances in the metric of the release: in the encoded space of the schema, in widths
            of the bounds (1 is the width of a column), or in the unit of the records.

        Raises
        ------
        ParameterError
            If the release has cells instead of centers.
        """
        return np.atleast_2d(center_distances(self.release, X))

    def to_frame(self) -> Any:
        """Return a table of the clusters, one row each, in the units of the original table.

        Returns
        -------
        frame : pandas.DataFrame
            For centers: numbers, most common levels and their shares, shares of missing values,
            noisy sizes, and whether a center is certain or may be pure noise. Numbers on a
            logarithmic scale are means of logarithms, which lie below the mean. For cells: the
            location of each cluster.
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
        """Return the locations of clusters of places as GeoJSON, in degrees.

        Returns
        -------
        collection : dict
            A FeatureCollection of GeoJSON: centers as points, clusters of cells as polygons.

        Raises
        ------
        ParameterError
            If the schema of the release has no ``Place``, or other numbers beside it.
        """
        return release_geojson(self.release.values)

    def plot(self, path: "str | os.PathLike[str] | None" = None) -> Picture:
        """Draw the release.

        Parameters
        ----------
        path : path-like, default=None
            File to write as well: PNG; for a release with a guarantee also SVG, PDF, HTML or JSON.

        Returns
        -------
        picture : Picture
            The chart, which a notebook displays.

        Raises
        ------
        ParameterError
            If the release contains nothing that can be drawn.
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
