"""What each epsilon would buy, before anything is spent: from public numbers and made-up records.

Records are made up from the schema alone: k segments with random numbers and categories, of unequal
sizes, which overlap. The real table is not looked at, so this is a forecast for tables of this
size and shape, not a statement about one of them. What noise does depends on n times epsilon, so
large tables are stood in for by small ones with more epsilon.

* Cost: of private centers over k-means without privacy, on several made-up tables.
* Smallest cluster that is seen: one segment differs from all others in every field, and shrinks
  until no certain center stands for it any more. k-means without privacy has such a limit as well.
* Error of a profile: from the known noise of a share and of a median in a cluster of n / k records.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from shoal import _numbers
from shoal._numbers import rounded_up
from shoal.cluster import DPKMeans, profile_noise
from shoal.exceptions import ParameterError
from shoal.experiments._made_up_tables import (
    CentersFound,
    MadeUpTable,
    Trials,
    flat_schema,
    plain_centers,
)
from shoal.experiments.plan_table import PlanTable
from shoal.plotting import Picture, draw_plan
from shoal.schema import Date, Number, Schema

__all__ = ["PLANNED_EPSILONS", "PlanRow", "ReleasePlan", "plan_release"]

#: Values of epsilon that :func:`plan_release` tries by default.
PLANNED_EPSILONS = (0.1, 0.5, 1.0, 2.0)
LITTLE_NOISE = 1e6  # an epsilon at which noise no longer matters
FORECAST = "A forecast from made-up records of this schema; no record was read, nothing was spent."
HEADINGS = (
    "epsilon",
    "cost",
    "from",
    "to",
    "smallest cluster",
    "share",
    "median",
)


@dataclass(frozen=True)
class PlanRow:
    """The expected quality of a release at one epsilon.

    Parameters
    ----------
    epsilon : float
        Epsilon of the clusters; a profile is another release, at the same epsilon.
    method : str
        Method that ``DPKMeans`` chose.
    cost_ratio, low, high : float
        Mean and range of the cost divided by that of k-means without privacy; infinite if that is
        0.
    smallest_cluster : float
        Number of records of the smallest cluster that is found; infinite if none is.
    share_error : float
        Half the width of the 95% interval of a category's share, in a cluster of n / k records.
    median_error : float
        The same for a median, as a fraction of the width of its bounds.

    Examples
    --------
    >>> PlanRow(1.0, "ball", 1.05, 1.0, 1.1, 900.0, 0.02, 0.01).cells
    ['1', '1.05', '1.00', '1.10', '900', '± 2.0%', '± 1.0%']
    """

    epsilon: float
    method: str
    cost_ratio: float
    low: float
    high: float
    smallest_cluster: float
    share_error: float
    median_error: float

    @property
    def cells(self) -> list[str]:
        """The row as text."""
        return [
            rounded_up(self.epsilon),
            *(f"{cost:.2f}" for cost in (self.cost_ratio, self.low, self.high)),
            _records(self.smallest_cluster),
            _percent(self.share_error),
            _percent(self.median_error),
        ]


@dataclass(frozen=True)
class ReleasePlan(PlanTable):
    """The expected quality of a release at several epsilons: a table that prints as text.

    Parameters
    ----------
    rows : tuple of PlanRow
        One row for each epsilon.
    n, k : int
        Public guess of the number of records, and number of clusters.
    delta : float
        Delta of the guarantee.
    columns : int
        Number of columns of the encoded records.
    tables : int
        Number of synthetic tables behind each value.
    smallest_without_noise : float
        Number of records of the smallest cluster that k-means without privacy finds.

    Examples
    --------
    >>> from shoal.experiments import plan_release
    >>> from shoal.schema import Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120)])
    >>> plan = plan_release(schema, n=1000, k=2, epsilons=[1.0], tables=1)
    >>> plan.n, plan.k, len(plan.rows)
    (1000, 2, 1)
    """

    rows: tuple[PlanRow, ...]
    n: int
    k: int
    delta: float
    columns: int
    tables: int
    smallest_without_noise: float

    question: ClassVar[str] = "What epsilon would buy"

    @property
    def title(self) -> str:
        """What the plan is for, as a title."""
        return (
            f"What epsilon would buy: {self.k} clusters of {self.n:,} records, "
            f"{self.columns} encoded columns"
        )

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of the columns."""
        return HEADINGS

    @property
    def notes(self) -> tuple[str, ...]:
        """Explanations of the columns."""
        return (
            FORECAST,
            f"Cost: mean and range of {self.tables} made-up tables; 1 is k-means without privacy.",
            "Smallest cluster: records of the smallest that is seen, if it differs from all others "
            f"in every field; {_records(self.smallest_without_noise)} without privacy.",
            "Share, median: half of a 95% interval of a category's share, and of a number's "
            f"median in parts of its bounds, in a cluster of {self.n / self.k:,.0f} records, for a "
            "profile that spends the same epsilon once more.",
        )

    def draw(self, path: Path | None = None) -> Picture:
        """Draw cost, smallest cluster and error of a profile against epsilon.

        Parameters
        ----------
        path : Path, default=None
            File to write the chart to as well.

        Returns
        -------
        picture : Picture
            The chart.
        """
        return draw_plan(self, path=path)


def plan_release(
    schema: Schema,
    *,
    n: int,
    k: int,
    epsilons: Sequence[float] = PLANNED_EPSILONS,
    delta: float = 0.0,
    records_per_user: int = 1,
    tables: int = 5,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ReleasePlan:
    """Forecast the quality of clusters and profiles at several epsilons, from public numbers alone.

    Releases are simulated on synthetic tables: the real one is not read, and nothing is spent.

    Parameters
    ----------
    schema : Schema
        Public description of the table.
    n : int
        Public guess of the number of records; the true number is private.
    k : int
        Number of clusters.
    epsilons : sequence of float, default=(0.1, 0.5, 1, 2)
        Privacy budgets to compare.
    delta : float, default=0.0
        Delta of the guarantee; above 0, Gaussian noise is allowed.
    records_per_user : int, default=1
        How many records of one user count, at most; n is the number of all records that count.
    tables : int, default=5
        Number of synthetic tables behind each cost.
    random_state : int, default=0
        Seed of the synthetic records and of the noise.
    progress : callable, default=None
        Called as ``progress(done, total)``.

    Returns
    -------
    plan : ReleasePlan
        One row for each epsilon, the smallest first.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the schema lacks bounds or categories.

    Examples
    --------
    >>> from shoal.schema import Category, Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    >>> plan = plan_release(schema, n=2000, k=3, epsilons=[0.1, 1.0], tables=1)
    >>> plan.rows[1].share_error < plan.rows[0].share_error
    True
    """
    if not isinstance(schema, Schema):
        raise ParameterError(f"schema must be a Schema, got {type(schema).__name__}")
    counts = {"n": n, "k": k, "tables": tables, "records_per_user": records_per_user}
    for name, value in counts.items():
        _numbers.count(name, value)
    _numbers.probability("delta", delta)
    wanted = sorted({_numbers.positive("epsilons", epsilon) for epsilon in epsilons})
    if not wanted:
        raise ParameterError("epsilons must be one or more numbers > 0, got none")
    # The tables are small: threads would mostly wait for each other.
    with threadpool_limits(1):
        trials = Trials(schema.space, n, k, tables, random_state)
        trials.report(progress, epsilons=len(wanted))
        without = trials.smallest_seen(partial(plain_centers, k))
        rows = []
        for epsilon in wanted:
            # What noise does depends on n times epsilon.
            model = DPKMeans(
                k,
                epsilon=min(epsilon * n / trials.rows, LITTLE_NOISE),
                delta=delta,
                schema=flat_schema(schema.space),
                records_per_user=records_per_user,
                random_state=random_state,
            )
            ratios = trials.cost_ratios(partial(_private_centers, model))
            profile = profile_noise(
                schema,
                epsilon=epsilon,
                delta=delta,
                cluster_size=n / k,
                records_per_user=records_per_user,
            )
            numbers = [one for one in profile if isinstance(schema[one.field], Number | Date)]
            rows.append(
                PlanRow(
                    epsilon,
                    model.method_,
                    float(np.mean(ratios)),
                    min(ratios),
                    max(ratios),
                    trials.smallest_seen(partial(_private_centers, model)),
                    max(one.share_error for one in profile),
                    max(
                        (_median_error(one.levels, one.share_error) for one in numbers),
                        default=math.nan,
                    ),
                )
            )
    return ReleasePlan(tuple(rows), n, k, delta, schema.space.columns, tables, without)


def _private_centers(model: DPKMeans, table: MadeUpTable) -> CentersFound:
    rows = np.arange(len(table.segments))
    model.fit(table.columns, user_ids=rows // int(model.records_per_user))
    return CentersFound(model.release_.values["centers"], model.certain_)


def _median_error(levels: int, share_error: float) -> float:
    """Return half of the interval of a median, in parts of the width of the bounds.

    A median is in doubt by half a bin, and by as many records as the noise of the bins below it: of
    half of b bins' counts, less half of all of them, that is sqrt(b) / 2 times the noise of one.
    Records are taken as spread evenly over the bounds; those of most clusters are nearer together.
    """
    return min(0.5, 0.5 / levels + share_error * math.sqrt(levels) / 2)


def _records(number: float) -> str:
    return f"{number:,.0f}" if math.isfinite(number) else "none"


def _percent(part: float) -> str:
    return "" if math.isnan(part) else f"± {part:.1%}"
