"""Private k-means for a curator who holds the records.

Central differential privacy under add/remove of one record, or of one user with all records, pure
for ``delta=0`` and counted in mu of Gaussian differential privacy otherwise. Records are rounded to
a public lattice, every released number gets exact discrete noise, and everything after the noise is
post-processing (proofs/kmeans.md). Distance is in units of the bounds: each column counts as a part
of its bounds' width, so a bound's width weighs its column unless ``column_weights`` do, in ``fit``,
``predict``, ``score``, ``center_radius_`` and in labels from the release. With a schema, distance
is that of its encoding, and noise has the shape of the columns.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from shoal._bounds import Ball
from shoal._docs import shared_docs
from shoal._records import leaves_last_fit
from shoal._table_input import validate_table
from shoal._typing import Bounds, RandomState, TableLike
from shoal.cluster._budget import Split, charge
from shoal.cluster._contributions import counted_rows, given_contributions
from shoal.cluster._curator import CuratorsClusterer
from shoal.cluster.kmeans._advice import Advice, noise_advice, predict_cost
from shoal.cluster.kmeans._fitting import Fitted, find_centers, records_engine
from shoal.cluster.kmeans._geometry import Geometry, measured_cost, released_lattice
from shoal.cluster.kmeans._kccm import KCCMNoise
from shoal.cluster.kmeans._methods import check_parameters, plan_fit
from shoal.engines import nearest_centers
from shoal.exceptions import DataError
from shoal.noise import as_source
from shoal.privacy import Adjacency, Guarantee, Ledger, Receipt, Release
from shoal.schema import Schema
from shoal.tables import ArrayTable, ArrowTable, SparkTable

__all__ = ["DPKMeans"]

FALSE_CERTAINTY = 0.001  # probability that a fit calls any empty cluster certain, at most


@shared_docs
class DPKMeans(CuratorsClusterer):
    """k-means whose centers may be published.

    Parameters
    ----------
    n_clusters : int or "private", default=8
        Number of clusters; it may exceed the number of records. ``"private"`` chooses 2 to
        ``max_clusters`` from released values: for nothing with methods that release a synopsis,
        for 20% of the budget with ``"lloyd"`` and ``"kccm"``. Where noise leaves the mean alone,
        ``"centered"`` publishes that one center, and ``advice_`` says so.
    {epsilon}
    delta : float, default=0.0
        0 for pure differential privacy, above 0 to allow Gaussian noise.
    {bounds}
        Distance is in units of the bounds, so a bound's width weighs its column: a column of 0 and
        1 with bounds 0 and 1 counts as much as the whole range of any other.
        ``bounds="private"`` learns powers of two from the records, for 10% of the budget.
        ``Ball(center, radius)`` is for columns that share a unit, such as embeddings.
    schema : Schema, default=None
        The public description of a table with numbers, categories, dates and gaps, in place of
        bounds. Records are encoded by it, one by one, and distance is that of the encoding: the
        full range of a number and two different categories are both their field's weight apart,
        squared. Its roles "user" and "sample_weight" give ``user_ids`` and ``sample_weight``.
    column_weights : array-like of shape (d,), default=None
        How much the square of each column counts, in units of its bounds; None: all alike.
    metric : {"bounds", "cosine"}, default="bounds"
        ``"cosine"``: records are brought to length 1 first, in ``predict`` and on devices too;
        no bounds are needed, and a center is a mean of unit vectors.
    method : {"auto", "grid", "tree", "centered", "ball", "mixed", "lloyd", "kccm"}, default="auto"
        ``"grid"``: a noisy grid, clustered, then one noisy step. ``"tree"``: the same, but where
        records crowd into few of its cells, a tree that is fine there and coarse elsewhere; up to
        8 columns, pure noise. ``"centered"``: a grid and rounds around the noisy mean, from 5
        columns on. ``"ball"``: noisy rounds in windows inside a learned ball, for many columns.
        ``"mixed"``: noisy rounds with noise in the shape of the columns, for schemas with
        categories; first centers are found among made-up records of the noisy shares.
        ``"lloyd"``: rounds of noisy counts and sums. ``"kccm"``: DP-KCCM, too many clusters and
        then merged. ``"auto"`` chooses among the first five by public or noisy numbers, and the
        smaller noise; ``reason_`` says why.
    {n_public}
    max_iter : int, default=None
        Number of rounds of ``"lloyd"`` (None: 2 to 7, as many as epsilon can pay for) and
        ``"kccm"`` (None: 12).
    split : {"joint", "analytic", "equal"}, default="joint"
        How a round of ``"lloyd"`` divides its budget between counts and sums: not at all (noise
        in the shape of a box), as Su et al. (2016), or the same for every number.
    noise : {"allocation", "average", "gaussian"}, default="allocation"
        Noise of ``"kccm"``: Laplace with more budget in later rounds, Laplace with equal budgets,
        or Gaussian with equal budgets, which needs ``delta > 0``.
    overcluster : int, default=3
        Centers that ``"kccm"`` starts with for each one wanted; 1 merges nothing.
    max_clusters : int, default=20
        Most clusters for ``n_clusters="private"``.
    weight_limit : float, default=1.0
        Public limit of ``sample_weight``; larger weights count as this, and noise is scaled to it.
    records_per_user : int, default=1
        Public number of records that count of each user where ``user_ids`` are given; noise is
        scaled to it.
    user_column : str, default=""
        Name of the column that ``user_ids`` come from, for the guarantee and the ledger. Not needed
        for a pandas or polars column, which has a name of its own.
    {ledger}
    {random_state}

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Private centers.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy sizes (sums of weights) around the centers of the last release, none below 0.
    center_radius_ : ndarray of shape (n_clusters,)
        With 95% confidence the exact mean of the records that a center was computed from is no
        further away, in units of the bounds (0.1: a tenth of a column's width) or of the schema's
        distance; from the known noise alone. Records outside the center's window count as if at its
        edge: where tails are long, the mean without windows is often further away. Infinite, which
        is to say unknown, where that would allow the whole box.
    noise_probability_ : ndarray of shape (n_clusters,)
        How likely noise alone is to show a cluster as full as this one where nobody is, corrected
        for the number of centers (or cells) that were looked at; 1 where a center of ``"lloyd"``
        or ``"kccm"`` may lie anywhere.
    certain_ : ndarray of bool, shape (n_clusters,)
        False where noise alone may explain the center: its ``noise_probability_`` is above 0.1%.
        At most one fit in 1,000 calls any center certain where nobody was counted, around the
        place from which it took its last step; that step may leave records to other centers.
    advice_ : str
        What to do about centers that may be noise alone, or where there is one mean in place of
        the clusters asked for; empty where all centers are certain.
    {guarantee_}
    release_ : Release
        The only thing meant to leave the curator; names of columns are in it as the table has them.
    {labels_}
    bounds_ : tuple (low, high)
        The box, public or learned; with a schema, of encoded records.
    method_, reason_ : str
        The method that ran, and why it was chosen.
    n_iter_ : int
        Number of passes that released centers.
    {features_in_}

    See Also
    --------
    shoal.mechanisms.Laplace : The local model, where no one but the device sees the record.

    Notes
    -----
    Where the promise ends (proofs/kmeans.md): ``fit`` raises before anything is spent where there
    is no record, a number is NaN or infinite, all weights are zero, or an id is missing or of a
    refused type. That costs nothing and can be repeated, and it tells whether a chosen subset is
    empty: errors are for the curator's eyes. ``labels_``, ``predict`` and ``score`` of private
    records are exact. How long a fit takes and how much memory it needs depends on the records, and
    is not hidden.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import DPKMeans
    >>> X = np.repeat([[-5.0, -5.0], [5.0, 5.0]], 5000, axis=0)
    >>> model = DPKMeans(2, epsilon=1.0, bounds=(-10.0, 10.0), random_state=0).fit(X)
    >>> sorted(np.rint(model.cluster_centers_[:, 0]).astype(int).tolist())
    [-5, 5]
    >>> model.guarantee_.epsilon, model.guarantee_.holds, model.method_
    (1.0, False, 'tree')
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        bounds: Bounds | Ball | str | None = None,
        schema: Schema | None = None,
        column_weights: npt.ArrayLike | None = None,
        metric: str = "bounds",
        method: str = "auto",
        n_public: int | None = None,
        max_iter: int | None = None,
        split: Split = "joint",
        noise: KCCMNoise = "allocation",
        overcluster: int = 3,
        max_clusters: int = 20,
        weight_limit: float = 1.0,
        records_per_user: int = 1,
        user_column: str = "",
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.schema = schema
        self.column_weights = column_weights
        self.metric = metric
        self.method = method
        self.n_public = n_public
        self.max_iter = max_iter
        self.split = split
        self.noise = noise
        self.overcluster = overcluster
        self.max_clusters = max_clusters
        self.weight_limit = weight_limit
        self.records_per_user = records_per_user
        self.user_column = user_column
        self.ledger = ledger
        self.random_state = random_state

    @leaves_last_fit
    def fit(
        self, X: TableLike, y: Any = None, *, sample_weight: Any = None, user_ids: Any = None
    ) -> Self:
        """Spend the budget and find the centers.

        Parameters
        ----------
        {X_of_fit}
        {y}
        sample_weight : array-like of shape (n,), default=None
            Weights from 0 to ``weight_limit``, rounded to 1/256 of it.
        user_ids : array-like of shape (n,), default=None
            Whose record each row is: whole numbers, text, bytes or UUIDs, none missing, in a list,
            an array, or a pandas, polars or Arrow column; only for records in memory. Ids of
            other types (floats, dates) are refused, and none are converted: 1 and "1" are two
            users. A pandas column must have the index of a pandas X. The promise is then made to
            users, for their first ``records_per_user`` rows together; further rows do not count.

        Returns
        -------
        self : DPKMeans
            The fitted estimator.
        """
        table = validate_table(X, estimator=self, user_ids=user_ids, schema=self.schema)
        check_parameters(self)
        given = given_contributions(
            X,
            table,
            self.schema,
            user_ids=user_ids,
            records_per_user=int(self.records_per_user),
            user_column=self.user_column,
            sample_weight=sample_weight,
            weight_limit=float(self.weight_limit),
        )
        plan = plan_fit(self, table.columns, given.max_contribution)
        source = as_source(self.random_state)
        promise = Guarantee(
            "central",
            epsilon=float(self.epsilon),
            delta=float(self.delta) if plan.noise.approximate else 0.0,
            adjacency=Adjacency.ADD_REMOVE,
            seeded=source.seeded,
            privacy_unit=given.privacy_unit,
            mu=plan.noise.mu,
        )
        receipt = charge(
            self.ledger,
            table,
            plan.noise,
            plan.budgets,
            what=f"DPKMeans({self.n_clusters}, {plan.method.name})",
            promise=promise,
            columns=getattr(self, "feature_names_in_", ()),
        )
        fitted = find_centers(self, counted_rows(table, given), given, plan, source)
        self.method_, self.reason_ = fitted.choice.method.name, fitted.choice.reason
        self.guarantee_ = promise
        self._keep_labels(None)  # those of an earlier fit are not of what is released now
        self._publish(fitted, plan.geometry, given.record, receipt)
        labels = None
        if table.in_memory:
            whole = fitted.engine
            if given.rows is not None:
                whole = records_engine(self, table, fitted.lattice)
            labels = nearest_centers(whole, fitted.result.centers)
        self._keep_labels(labels)
        return self

    @staticmethod
    def advise(
        n: int, d: int, k: int, epsilon: float, *, delta: float = 0.0, random_state: RandomState = 0
    ) -> Advice:
        """Predict what privacy will cost, before any budget is spent.

        Parameters
        ----------
        n, d, k : int
            Number of records, columns and clusters.
        epsilon : float
            Budget.
        delta : float, default=0.0
            The other part of the promise.
        random_state : int, default=0
            Seed of the made-up records; none of the user's are looked at.

        Returns
        -------
        advice : Advice
            The method that ``"auto"`` would take, and its cost over that of k-means without
            privacy, on round clusters as far apart as those of real tables usually are.

        Examples
        --------
        >>> from shoal.cluster import DPKMeans
        >>> advice = DPKMeans.advise(5000, 2, 15, epsilon=1.0)
        >>> advice.method, advice.cost_ratio < 1.1
        ('tree', True)
        """
        return predict_cost(DPKMeans, n, d, k, epsilon, delta=delta, random_state=random_state)

    def predict(self, X: TableLike) -> Any:
        """Find the nearest center of each record; of private records, private.

        Parameters
        ----------
        {X_of_predict}

        Returns
        -------
        labels : ndarray of shape (n,), or Spark DataFrame
            Index of the nearest center; a Spark DataFrame gets it as a further column.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False, schema=self.schema)
        return self._nearest(table)

    def score(self, X: TableLike, y: Any = None) -> float:
        """Return minus the cost: the sum of squared distances to the nearest center; private.

        Distance is in units of the bounds or of the schema, as everywhere.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records.
        {y}

        Returns
        -------
        score : float
            Larger is better. Choosing among fits by this number has no guarantee.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False, schema=self.schema)
        if not isinstance(table, ArrayTable):
            raise DataError("X must be in memory for score: pass arrays, or use predict")
        return -measured_cost(self.release_.values, table.X, self._nearest(table))

    def _nearest(self, table: ArrayTable | ArrowTable | SparkTable) -> Any:
        lattice = released_lattice(self.release_.values)
        centers = lattice.encode(self.cluster_centers_)
        return nearest_centers(records_engine(self, table, lattice), centers)

    def _publish(
        self, fitted: Fitted, geometry: Geometry, record: int, receipt: Receipt | None
    ) -> None:
        result = fitted.result
        self.bounds_ = fitted.box
        self.cluster_centers_ = fitted.lattice.decode(result.centers)
        sizes = np.maximum(result.counts, 0.0) / record
        self.cluster_sizes_ = np.rint(sizes).astype(np.int64) if record == 1 else sizes
        self.center_radius_ = result.radii * geometry.step
        self.noise_probability_ = result.noise_probability
        self.certain_ = result.noise_probability <= FALSE_CERTAINTY
        self.n_iter_ = result.rounds
        self.release_ = Release(
            kind="DPKMeans",
            values={
                "centers": self.cluster_centers_,
                "sizes": self.cluster_sizes_,
                "radii": self.center_radius_,
                "certain": self.certain_,
                "noise_probability": self.noise_probability_,
                **geometry.released(self, fitted.box),
                "method": self.method_,
                "rounds": self.n_iter_,
                **result.details,
            },
            guarantee=self.guarantee_,
            ledger=receipt,
        )
        self.advice_ = noise_advice(self.release_, learned=isinstance(self.bounds, str))
