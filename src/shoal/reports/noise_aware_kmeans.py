"""K-means centers of records that nobody but their holders has seen, from reports alone.

The noise of the reports is known exactly, so it can be taken out of their distribution, if not out
of any one of them. Post-processing: the centers promise what the reports promise, and cost nothing
more.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from shoal import _numbers
from shoal._bounds import given_bounds, public_box
from shoal._cluster_table import ShownWithClusters
from shoal._frozen import leaves_last_fit
from shoal._records import fitted_names, validate_records
from shoal._report_channel import (
    PartitionChannel,
    ReportChannel,
    channel_bounds,
    is_more_than_noise,
    promise_of_reports,
    record_names,
    schema_value,
)
from shoal._typing import Bounds, RandomState, TableLike
from shoal.exceptions import ParameterError
from shoal.labels import nearest_centers
from shoal.partitions import one_grid_divides
from shoal.privacy import Release
from shoal.reports._additive_clusters import additive_clusters
from shoal.reports._channel_clusters import channel_clusters
from shoal.reports._drawn_atoms import partition_axes
from shoal.reports._drawn_clusters import drawn_clusters
from shoal.reports._found_clusters import FindClusters, Settings
from shoal.reports._partition_clusters import partition_clusters
from shoal.reports._report_noise import report_noise
from shoal.reports._unexplained import explained_reports
from shoal.reports.counted_reports import counted_rows
from shoal.reports.gaussian_channel import GaussianChannel
from shoal.reports.lies import liars_weight

__all__ = ["NoiseAwareKMeans"]


class NoiseAwareKMeans(ShownWithClusters, ClusterMixin, BaseEstimator):
    """Find k-means centers of the records behind reports whose noise is known.

    The distribution of the records is estimated from the reports, and the centers are those with
    the least k-means cost under it. In up to three columns it is deconvolved on a grid over the
    public box (by the iterative Bayesian update, stopped by cross-validation on reports). In more
    columns, or if the noise is finer than a grid, it consists of draws of the record behind each
    report, with a mixture of Gaussians fitted through the noise as the prior; as the noise
    vanishes, the draws become the reports. Reports that are not just record plus noise
    (SquareWave, Hybrid, Duchi, sampled columns) are deconvolved by their exact distribution, in
    many columns at random points (Notes). So are the colors of
    :class:`shoal.mechanisms.PartitionResponse`, on cells that are finer where the records are.

    Plain k-means on clipped reports gives other centers. To choose, each half of the reports
    judges the centers found from the other half by both methods: by the cost on the records behind
    it, paired report by report. The plain centers are returned unless the others cost less by more
    than a standard error and 0.2% of the cost. They are also returned if a grid shows that the
    noise is not as declared: if a half, as it is, explains the reports of the other half better
    than its deconvolved distribution with the noise does. A mixture of Gaussians that starts from
    the clusters gives shares, covariances and radii.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; it may exceed the number of reports.
    mechanism : Mechanism or GaussianChannel
        The mechanism that made the reports: any kind of Laplace without truncation, Piecewise,
        SquareWave, Hybrid, Duchi, PartitionResponse, or a description of Gaussian noise.
    bounds : tuple (low, high), default=None
        Public box of the records; None takes that of the mechanism.
    n_init : int, default=20
        Number of restarts of k-means.
    max_iter : int, default=None
        Largest number of updates of the mixture; None takes 10 in up to three columns, else 100.
    confidence : float, default=0.95
        Confidence level of ``center_radius_``.
    contamination : float, default=None
        Share of the devices that may lie, such as 0.01, to make it hard for them to move the
        centers. With 0, only reports that are too many for any records to explain are left out.
        With more, one cluster that so many liars can fake may be dropped too, if the others are
        found far better without it (Notes). None trusts every device.
    random_state : None, int or RandomState, default=None
        Seed of the halves, restarts and draws; privacy does not depend on it.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Centers of the records: those with the least k-means cost under the estimated distribution.
    weights_ : ndarray of shape (n_clusters,)
        Shares of the records, from the mixture, or from the distribution if no mixture is fitted.
    covariances_ : ndarray of shape (n_clusters, d, d)
        Covariances of the records without the noise, from the same source.
    center_radius_ : ndarray of shape (n_clusters,)
        Radius of a ball around each center that holds the mean of its component with probability
        ``confidence``. It is the radius of a ball around the component's estimated mean, from the
        observed information of the mixture, plus the distance to that mean. It is valid for
        clusters that the reports can tell apart. It is at most the diameter of the box, its value
        where the reports say nothing.
    labels_ : ndarray of shape (n,)
        Nearest center of each report; for reports that are not just record plus noise, the most
        probable cluster of the record. -1 for reports left out.
    left_out_ : int
        Number of reports that were left out because no records can explain so many of them.
    better_than_blind_ : bool
        Whether held-out reports show that the centers are better than points spread evenly over
        the box, which need no data (Notes).
    guarantee_ : Guarantee
        Guarantee of the mechanism.
    release_ : Release
        Centers, weights, covariances and radii, for :func:`label_on_device`; and
        ``better_than_blind_``.
    start_ : {"grid", "mixture", "reports", "channel", "partitions", "blind"}
        Source of the centers, from which the mixture started. ``"grid"``: distribution on a grid.
        ``"mixture"``: draws with a mixture as the prior. ``"reports"``: plain k-means on clipped
        reports. ``"channel"``, ``"partitions"``: exact distribution of the reports. ``"blind"``:
        points spread over the box, if no estimate explains held-out reports better.
    log_likelihood_ : ndarray
        Penalized log-likelihood of the reports before each update of the mixture; empty if no
        mixture is fitted.
    n_iter_ : int
        Number of updates of the mixture.
    n_features_in_ : int
        Number of columns of a record.
    feature_names_in_ : ndarray of str
        Their names, if the table has them; for PartitionResponse, if its records had them.

    See Also
    --------
    cluster_reports : Run one of scikit-learn's clusterers on reports as they are.
    label_on_device : Label true records by the published centers.
    spread_over_box : Centers that need no reports.
    liars_weight : Weight of one lie in an estimate.

    Notes
    -----
    ``better_than_blind_`` is True if two conditions hold. Reports of one half are 20 times as
    probable, in a mean of likelihood ratios, under the distribution estimated from the other half
    as under records spread evenly over the box. And summed over both halves, the centers found from
    the other half cost less than points spread over the box. If records are spread evenly, the
    first holds with probability at most 5%, for any mechanism and number of reports: by Markov's
    inequality, as far as the distribution of the reports is computed exactly. If it is False, the
    centers may be noise.

    Reports of sampled columns show how each column is distributed, but dependence between columns
    only as far as single reports contain more than one; otherwise columns are taken as independent.
    Reports of ``Duchi`` show only means and means of products, however many there are. In more
    than three columns the exact distributions are evaluated at 512 to 2,048 points, drawn column by
    column, which find groups but do not resolve small ones.

    With ``contamination``, honest reports are left out with probability at most 1e-9. A device that
    lies weighs as much as several honest ones (:func:`liars_weight`). Of k + 1 clusters, one with a
    share below ``contamination`` times that weight may be dropped, even a true one. Nothing
    distinguishes made-up records from true ones, and more liars than assumed move centers as
    without ``contamination``.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import Laplace
    >>> from shoal.reports import NoiseAwareKMeans
    >>> X = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 2000, axis=0)
    >>> mechanism = Laplace(epsilon=4.0, bounds=(-1.0, 1.0), random_state=0)
    >>> reports = mechanism.fit_transform(X)
    >>> model = NoiseAwareKMeans(2, mechanism=mechanism, random_state=0).fit(reports)
    >>> sorted(model.cluster_centers_[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    labels_: npt.NDArray[np.int32]
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        mechanism: Any = None,
        bounds: Bounds | None = None,
        n_init: int = 20,
        max_iter: int | None = None,
        confidence: float = 0.95,
        contamination: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.mechanism = mechanism
        self.bounds = bounds
        self.n_init = n_init
        self.max_iter = max_iter
        self.confidence = confidence
        self.contamination = contamination
        self.random_state = random_state

    @leaves_last_fit
    def fit(self, Z: Any, y: Any = None) -> Self:
        """Find the centers of the records behind the reports.

        Parameters
        ----------
        Z : array-like of shape (n, d)
            Reports as the mechanism made them: not clipped, not remapped, not standardized. From
            PartitionResponse, two columns for any number of columns of the records, or
            :class:`CountedReports`.
        y : None
            Ignored.

        Returns
        -------
        self : NoiseAwareKMeans
            The fitted estimator.
        """
        settings = self._settings()
        find_clusters = _choose(self.mechanism)
        if isinstance(self.mechanism, PartitionChannel):
            reports, counts = counted_rows(Z, one_by_one=self.contamination is not None)
            settings = settings._replace(counts=counts)
            self._take_columns_of_records()
        else:
            reports = validate_records(Z, estimator=self)
        bounds = channel_bounds(self.mechanism) if self.bounds is None else given_bounds(self)
        box = public_box(bounds, self.n_features_in_)
        rng = check_random_state(self.random_state)
        kept = np.ones(len(reports), dtype=np.bool_)
        if self.contamination is not None:
            kept = explained_reports(reports, self.mechanism, box, rng)
            weight = liars_weight(self.mechanism, self.n_features_in_)
            settings = settings._replace(trim=weight * float(self.contamination))
        found = find_clusters(reports[kept], self.mechanism, box, settings, rng)
        self.cluster_centers_ = found.centers
        self.weights_ = found.weights
        self.covariances_ = found.covariances
        self.center_radius_ = found.radii
        self.start_ = found.start
        self.log_likelihood_ = found.log_likelihood
        self.n_iter_ = len(found.log_likelihood)
        self.labels_ = np.full(len(reports), -1, dtype=np.int32)
        self.labels_[kept] = found.labels
        self.left_out_ = int(np.count_nonzero(~kept))
        self.better_than_blind_ = found.better_than_blind
        self.guarantee_ = promise_of_reports(self.mechanism, reports.shape[1])
        self.release_ = Release(
            kind="NoiseAwareKMeans",
            values={
                "centers": self.cluster_centers_,
                "metric": "euclidean",  # of the reports, whose noise is measured in it
                "columns": fitted_names(self) or record_names(self.mechanism),
                "weights": self.weights_,
                "covariances": self.covariances_,
                "center_radius": self.center_radius_,
                "confidence": float(self.confidence),
                "better_than_blind": self.better_than_blind_,
                "low": box.low,
                "high": box.high,
                **schema_value(self.mechanism),
            },
            guarantee=self.guarantee_,
        )
        return self

    def predict(self, X: TableLike) -> npt.NDArray[np.int32]:
        """Find the nearest center of each row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Reports; or, only on the device that holds them, true records. With PartitionResponse
            only records; labels of its reports are in ``labels_``.

        Returns
        -------
        labels : ndarray of shape (n,)
            Index of the nearest center. Labels of true records are private: keep them on the
            device.
        """
        check_is_fitted(self)
        rows = validate_records(X, estimator=self, reset=False)
        return nearest_centers(rows, self.cluster_centers_)

    def _take_columns_of_records(self) -> None:
        """Take the number of columns of a record and their names from the mechanism."""
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of a table that was fitted before
        self.n_features_in_ = self.mechanism.make_partitions().columns
        names = record_names(self.mechanism)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _settings(self) -> Settings:
        """Check the parameters that have nothing to do with the mechanism."""
        _numbers.count("n_clusters", self.n_clusters, most=_numbers.MAX_CENTERS)
        _numbers.count("n_init", self.n_init)
        if self.max_iter is not None:
            _numbers.count("max_iter", self.max_iter)
        _numbers.positive_probability("confidence", self.confidence)
        if self.contamination is not None:
            _numbers.probability("contamination", self.contamination)
        try:
            check_random_state(self.random_state)
        except ValueError:
            raise ParameterError(
                "random_state must be None, an int or a RandomState, "
                f"got {type(self.random_state).__name__}",
                parameter="random_state",
                code="type",
            ) from None
        return Settings(self.n_clusters, self.n_init, self.max_iter, float(self.confidence))


def _choose(mechanism: Any) -> FindClusters:
    """Return how clusters are found behind reports of a mechanism: the one place that decides."""
    if isinstance(mechanism, PartitionChannel):
        axes = partition_axes(mechanism.make_partitions())
        return partition_clusters if one_grid_divides(axes) else drawn_clusters
    if is_more_than_noise(mechanism):
        return channel_clusters
    if not isinstance(mechanism, ReportChannel | GaussianChannel):
        report_noise(mechanism, 1)  # refuses it, before it is asked for bounds
    return additive_clusters
