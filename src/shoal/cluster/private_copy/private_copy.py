"""A private synthetic copy of a table: release once, then experiment as often as you like.

Central differential privacy, pure epsilon, under add/remove of one record (proofs/private_copy.md).
Noisy histograms of single columns say how finely each column is worth cutting and where; noisy
counts of all cells of that grid, empty ones included, say where records are. Records are drawn
from the cells, and in their cells by the histograms: everything after the noise is post-processing.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from shoal import _numbers
from shoal._bounds import Box
from shoal._table_input import leaves_last_fit, validate_table
from shoal._typing import Floats
from shoal.cluster._noise import PureNoise
from shoal.cluster._open_engine import open_engine
from shoal.cluster._pay import pay
from shoal.cluster.private_copy._draw import Law, draw_records, raked
from shoal.cluster.private_copy._fit import Released, release_copy
from shoal.cluster.private_copy._plan import Plan
from shoal.cluster.private_copy._settings import check_copy_settings
from shoal.engines import HALF
from shoal.noise import Lattice, as_source
from shoal.privacy import Adjacency, Guarantee, Ledger, Receipt, Release

__all__ = ["PrivateCopy"]


class PrivateCopy(BaseEstimator):
    """A table of made-up records that resembles the true one.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one ``fit``, at most 1e9.
    bounds : tuple (low, high)
        Public box, two numbers or one value per column in each. Records outside are clipped.
    n_public : int, default=None
        The number of records where it is public. None spends 2% of the budget on a noisy count.
    ledger : Ledger, default=None
        Charged with the whole budget before the first number is released.
    random_state : None, int, RandomState or Generator, default=None
        None draws from the operating system's entropy. A seed is for tests and experiments.

    Attributes
    ----------
    n_records_ : int
        Public or noisy number of records, at least 1: what ``sample`` draws by default.
    guarantee_ : Guarantee
        What ``release_`` and every sample promise.
    release_ : Release
        Noisy histograms and cells; all that samples are drawn from.
    bounds_ : tuple (low, high)
        The public box.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where the table has them.

    See Also
    --------
    DPKMeans : Clusters themselves, which at the same epsilon are better than those of a copy.

    Notes
    -----
    Columns are numbers: whole numbers come back with fractions, and each column's distribution is
    kept better than how columns go together, the more so the more columns there are.

    The promise is to records. For a person with up to m of them it is ``guarantee_.for_group(m)``;
    only ``DPKMeans`` takes ``user_ids``.

    Where the promise ends (proofs/private_copy.md): ``fit`` raises before
    anything is spent where there
    is no record, or a number is NaN or infinite. That costs nothing and can be repeated, and it
    tells whether a chosen subset is empty: errors are for the curator's eyes. How long a fit takes
    and how much memory it needs depends on the records, and is not hidden.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster.private_copy import PrivateCopy
    >>> X = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 2000, axis=0)
    >>> copy = PrivateCopy(epsilon=1.0, bounds=(-1.0, 1.0), random_state=0).fit(X)
    >>> sample = copy.sample(1000, random_state=0)
    >>> sample.shape, bool(np.mean((sample > 0).all(axis=1) | (sample < 0).all(axis=1)) > 0.9)
    ((1000, 2), True)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Any = None,
        n_public: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.n_public = n_public
        self.ledger = ledger
        self.random_state = random_state

    @leaves_last_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Spend the budget and release what samples are drawn from.

        Parameters
        ----------
        X : array-like of shape (n, d), ArrowTable, Arrow dataset or Spark DataFrame
            Records. Those that are not in memory are read once to see that they are all right, and
            then once for each pass.
        y : None
            Ignored.

        Returns
        -------
        self : PrivateCopy
            The fitted estimator.
        """
        table = validate_table(X, estimator=self)
        settings = check_copy_settings(self, table.columns)
        source = as_source(self.random_state)
        epsilon = float(self.epsilon)
        promise = Guarantee(
            "central", epsilon=epsilon, adjacency=Adjacency.ADD_REMOVE, seeded=source.seeded
        )
        receipt = pay(
            self.ledger,
            table,
            PureNoise(epsilon),
            settings.shares,
            what="PrivateCopy",
            promise=promise,
            columns=getattr(self, "feature_names_in_", ()),
        )
        engine = open_engine(table, Lattice.box(*settings.box, half=HALF))
        released = release_copy(engine, epsilon, settings.shares, self.n_public, source)
        self.guarantee_ = promise
        self._publish(released, settings.box, receipt)
        return self

    def sample(self, n: int | None = None, *, random_state: Any = None) -> Floats:
        """Draw made-up records; this costs nothing.

        Parameters
        ----------
        n : int, default=None
            How many; None draws ``n_records_``.
        random_state : None, int or Generator, default=None
            For the draws; nothing private depends on it.

        Returns
        -------
        records : ndarray of shape (n, d)
            Inside the public box.
        """
        check_is_fitted(self)
        rows = self.n_records_ if n is None else _numbers.count("n", n)
        seeded = isinstance(random_state, np.random.Generator)
        seed = random_state if seeded else _numbers.seed("random_state", random_state)
        values = self.release_.values
        plan = Plan(values["sides"], values["cell_of_bin"])
        law = Law(plan, values["cells"], values["columns"])
        return draw_records(law, rows, self.bounds_, np.random.default_rng(seed))

    def _publish(self, released: Released, box: Box, receipt: Receipt | None) -> None:
        self.bounds_ = box
        self.n_records_ = max(1, round(released.n))
        law = raked(released.estimate, released.shares, released.plan)
        self.release_ = Release(
            kind="PrivateCopy",
            values={
                "records": self.n_records_,
                "noisy_columns": released.columns,
                "noisy_cells": released.counts,
                "sides": released.plan.sides,
                "cell_of_bin": released.plan.cell_of_bin,
                "columns": law.columns,
                "cells": law.cells,
                "low": box.low,
                "high": box.high,
            },
            guarantee=self.guarantee_,
            ledger=receipt,
        )
