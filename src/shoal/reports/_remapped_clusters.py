"""K-means on remapped reports: centers where reports lie after they were moved to the domain."""

from typing import Any, Self

import numpy as np

from shoal._bounds import public_box
from shoal._records import validate_records
from shoal._report_channel import channel_bounds, promise_of_reports, record_names, schema_value
from shoal._typing import Floats
from shoal.privacy import Release
from shoal.remap import BayesRemap, GridRemap
from shoal.reports.clustering import cluster_reports

__all__ = ["RemappedKMeans"]


class RemappedKMeans:
    """Move reports to where their records are expected, or to a grid, and cluster them there.

    Parameters
    ----------
    mechanism : Mechanism
        What made the reports.
    remap : {"bayes", "grid"}
        How they are moved.
    n_clusters : int or None
        None lets the elbow of the cost choose, from 2 to 9.
    cells : int
        Of the grid, in each column; the Bayes remap has cells of its own.
    random_state : int
        For k-means; nothing private depends on it.
    """

    def __init__(
        self, *, mechanism: Any, remap: str, n_clusters: int | None, cells: int, random_state: int
    ) -> None:
        self.mechanism = mechanism
        self.remap = remap
        self.n_clusters = n_clusters
        self.cells = cells
        self.random_state = random_state

    def fit(self, Z: Any) -> Self:
        """Find the centers of remapped reports, and make the release."""
        reports = validate_records(Z)
        box = public_box(channel_bounds(self.mechanism), reports.shape[1])
        remap = (
            BayesRemap(self.mechanism)
            if self.remap == "bayes"
            else GridRemap((box.low, box.high), cells=self.cells)
        )
        points: Floats = remap.fit_transform(reports)
        # Not standardized: distance is that of the records, as labels on a device take it.
        found = cluster_reports(
            points,
            n_clusters=self.n_clusters,
            standardize=False,
            random_state=self.random_state,
        )
        sizes = np.bincount(found.labels, minlength=found.n_clusters)
        sums = [np.bincount(found.labels, column, found.n_clusters) for column in points.T]
        self.release_ = Release(
            kind="RemappedKMeans",
            values={
                "centers": np.column_stack(sums) / sizes[:, None],
                "metric": "euclidean",
                "columns": record_names(self.mechanism),
                "weights": sizes / len(points),
                "center_radius": np.full(found.n_clusters, np.inf),  # nobody knows
                "remap": self.remap,
                "low": box.low,
                "high": box.high,
                **schema_value(self.mechanism),
            },
            guarantee=promise_of_reports(self.mechanism, len(box.low)),
        )
        return self
