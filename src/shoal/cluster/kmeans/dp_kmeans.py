"""Private k-means for a curator who holds the records.

Central differential privacy under add/remove of one record, or of one user with all records, pure
for ``delta=0`` and counted in mu of Gaussian differential privacy otherwise. Records are rounded to
a public lattice, every released number gets exact discrete noise, and everything after the noise is
post-processing (proofs/kmeans.md). Distance is in units of the bounds: each column counts as a part
of its bounds' width, so a bound's width weighs its column unless ``column_weights`` do, in ``fit``,
``predict``, ``score``, ``center_radius_`` and in labels from the release. With a schema, distance
is that of its encoding, and noise has the shape of the columns.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from shoal._bounds import Ball
from shoal._docs import shared_docs
from shoal._frozen import leaves_last_fit
from shoal._table_input import validate_table
from shoal._typing import Bounds, RandomState, TableLike
from shoal.cluster._budget import Split, charge, drawn_by_seed
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
    """k-means with differential privacy: its centers may be published.

    Parameters
    ----------
    n_clusters : int or "private", default=8
        Number of clusters, at most 2^14; it may exceed the number of records. ``"private"`` chooses
        between 2 and ``max_clusters`` from noisy values: at no extra cost with methods that release
        a noisy grid or tree, and for 20% of the budget with ``"lloyd"`` and ``"kccm"``. If the
        noise is too large to tell any clusters apart, ``"centered"`` publishes a single center, the
        mean of all records, and ``advice_`` says so.
    {epsilon}
    delta : float, default=0.0
        0 for pure differential privacy; above 0 Gaussian noise is allowed, which is smaller where
        there are many columns.
    {bounds}
        Distance is in units of the bounds: each column is divided by the width of its bounds, so a
        0-1 column with bounds 0 and 1 counts as much as the whole range of any other.
        ``bounds="private"`` learns bounds that are powers of two from the records, for 10% of the
        budget. ``Ball(center, radius)`` is for columns that share a unit, such as embeddings.
    schema : Schema, default=None
        Public description of a table with numbers, categories, dates and missing values, in place
        of ``bounds``. Each record is encoded by it, and distance is that of the encoding: the
        squared distance between the two ends of a number's range, or between two different
        categories, is the weight of the field. Fields with the roles "user" and "sample_weight"
        are used as ``user_ids`` and ``sample_weight``.
    column_weights : array-like of shape (d,), default=None
        Weight of each column in squared distances, where columns are in units of their bounds.
        None weighs all columns the same.
    metric : {"bounds", "cosine"}, default="bounds"
        ``"cosine"`` scales every record to length 1 first, in ``predict`` and on devices too; it
        needs no bounds, and a center is a mean of unit vectors.
    method : {"auto", "grid", "tree", "centered", "ball", "mixed", "lloyd", "kccm"}, default="auto"
        How the budget is spent; ``"auto"`` chooses among the first five below from public and noisy
        numbers, and ``reason_`` says why.

        * ``"grid"``: cluster the noisy counts of a grid, then improve the centers in one noisy
          step.
        * ``"tree"``: the same, but if most records lie in few cells of the grid, a tree of cells
          takes its place, with small cells where there are many records; up to 8 columns, pure
          noise only.
        * ``"centered"``: a grid around the noisy mean, then noisy rounds; from 5 columns on.
        * ``"ball"``: noisy rounds inside a ball that is learned first; for many columns.
        * ``"mixed"``: noisy rounds with noise fitted to numbers and categories, for schemas with
          categories; initial centers come from synthetic records with the noisy shares.
        * ``"lloyd"``: rounds of noisy counts and sums.
        * ``"kccm"``: DP-KCCM, which finds too many clusters and then merges them.
    {n_public}
    max_iter : int, default=None
        Number of noisy rounds of ``"lloyd"`` (None: 2 to 7, as many as epsilon can pay for) and of
        ``"kccm"`` (None: 12). The budget is divided among them.
    split : {"joint", "analytic", "equal"}, default="joint"
        How a round of ``"lloyd"`` divides its budget between counts and sums. ``"joint"`` does not
        divide it: one draw of noise covers both. ``"analytic"`` divides it as Su et al. (2016) do,
        ``"equal"`` gives the same to every released number.
    noise : {"allocation", "average", "gaussian"}, default="allocation"
        Noise of ``"kccm"``. ``"allocation"``: Laplace noise, with more of the budget in later
        rounds. ``"average"``: Laplace noise, the same budget in every round. ``"gaussian"``:
        Gaussian noise, the same budget in every round; needs ``delta > 0``.
    overcluster : int, default=3
        ``"kccm"`` starts with this many times ``n_clusters`` centers; 1 merges nothing.
    max_clusters : int, default=20
        Largest number of clusters that ``n_clusters="private"`` may choose.
    weight_limit : float, default=1.0
        Public upper limit of ``sample_weight``: larger weights are clipped to it, and noise grows
        with it.
    records_per_user : int, default=1
        If ``user_ids`` are given, how many records of each user count, at most: a public number,
        with which noise grows.
    user_column : str, default=""
        Name of the column that ``user_ids`` come from, for the guarantee and the ledger. Not needed
        for a pandas or polars column, which brings its name.
    {ledger}
    {random_state}

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Private centers.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy number of records (sum of weights) around each center, as the last noisy step counted
        them; none below 0.
    center_radius_ : ndarray of shape (n_clusters,)
        How far noise may have moved each center: with 95% confidence, the exact mean of the records
        that it was computed from is at most this far away, in units of the bounds (0.1: a tenth of
        a column's width) or of the schema's distance. Records outside the center's window (the
        noisy step clips them to it) count as if at its edge: if tails are long, the mean of the
        unclipped records is often further away. Infinite, that is unknown, if this would not rule
        out any place within the bounds.
    noise_probability_ : ndarray of shape (n_clusters,)
        Probability that noise alone shows a cluster of at least this size where there is no record,
        corrected for the number of centers (or cells) that were looked at (a p-value); 1 if a
        center of ``"lloyd"`` or ``"kccm"`` may lie anywhere.
    certain_ : ndarray of bool, shape (n_clusters,)
        Whether each center is more than noise: its ``noise_probability_`` is at most 0.1%. At most
        one fit in 1,000 calls any center certain that had no records around it before its last
        step; after that step, its records may be nearer to other centers.
    advice_ : str
        What to do about centers that may be noise alone, or about a single mean in place of the
        clusters asked for; empty if all centers are certain.
    {guarantee_}
    release_ : Release
        The only thing meant to leave the curator. It holds the names of the columns as they are.
    {labels_}
    bounds_ : tuple (low, high)
        The bounds, public or learned; with a schema, those of encoded records.
    method_, reason_ : str
        The method that ran, and why ``"auto"`` chose it.
    n_iter_ : int
        Number of passes that released centers.
    {features_in_}

    See Also
    --------
    shoal.mechanisms.Laplace : Noise in the local model, where only the device sees the record.

    Notes
    -----
    What the guarantee does not cover (proofs/kmeans.md): ``fit`` raises, before anything is spent,
    if there is no record, a number is NaN or infinite, all weights are zero, or an id is missing or
    of a refused type. Such an error costs no budget, can be repeated, and tells whether a subset of
    the records is empty: errors are for the curator's eyes. ``labels_``, ``predict`` and ``score``
    of private records are exact. The time and memory that a fit takes depend on the records and are
    not hidden.

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
            Weight of each record, from 0 to ``weight_limit``, rounded to 1/256 of it.
        user_ids : array-like of shape (n,), default=None
            User of each row, so that the guarantee protects users with all their rows instead of
            single records: the first ``records_per_user`` rows of each user count, further ones are
            ignored. Ids are whole numbers, text, bytes or UUIDs, none missing, in a list, an array,
            or a pandas, polars or Arrow column; only for records in memory. Ids of other types
            (floats, dates) are refused, and none are converted: 1 and "1" are two users. A pandas
            column must have the index of a pandas X.

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
            seeded=drawn_by_seed(source, self.schema),
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
        self.method_, self.reason_ = fitted.method, fitted.reason
        self.guarantee_ = replace(promise, uncounted=self.ledger is None)
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
        """Predict how much worse a private fit will be, before any budget is spent.

        Parameters
        ----------
        n, d, k : int
            Number of records, columns and clusters.
        epsilon : float
            Privacy budget of the fit.
        delta : float, default=0.0
            The delta of the fit; above 0, Gaussian noise is allowed.
        random_state : int, default=0
            Seed of the synthetic records that the prediction uses in place of yours.

        Returns
        -------
        advice : Advice
            The method that ``"auto"`` would choose, and its cost (sum of squared distances) divided
            by that of k-means without privacy, on round clusters as far apart as those of real
            tables usually are.

        Examples
        --------
        >>> from shoal.cluster import DPKMeans
        >>> advice = DPKMeans.advise(5000, 2, 15, epsilon=1.0)
        >>> advice.method, advice.cost_ratio < 1.1
        ('tree', True)
        """
        return predict_cost(DPKMeans, n, d, k, epsilon, delta=delta, random_state=random_state)

    def predict(self, X: TableLike) -> Any:
        """Find the nearest center of each record; labels of private records are private.

        Parameters
        ----------
        {X_of_predict}

        Returns
        -------
        labels : ndarray of shape (n,), or Spark DataFrame
            Index of the nearest center; a Spark DataFrame is returned with a column of them.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False, schema=self.schema)
        return self._nearest(table)

    def score(self, X: TableLike, y: Any = None) -> float:
        """Return minus the sum of squared distances to the nearest center; an exact, private value.

        Distance is in units of the bounds, or that of the schema, as in ``fit``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records.
        {y}

        Returns
        -------
        score : float
            Larger is better. Choosing among fits by this number has no privacy guarantee.
        """
        check_is_fitted(self)
        table = validate_table(X, estimator=self, reset=False, schema=self.schema)
        if not isinstance(table, ArrayTable):
            raise DataError(
                "X must be in memory for score: pass arrays, or use predict", code="unsupported"
            )
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
