"""Which local epsilon a shuffled batch allows each report, and what clusters that buys.

The inverse of amplification by shuffling: the analyst is promised a small epsilon, so each device
may report with a larger one, the more of them there are.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from threadpoolctl import threadpool_limits

from shoal import _numbers
from shoal._numbers import rounded_up
from shoal.exceptions import ParameterError
from shoal.experiments._campaigns import Campaigns, Outcome, check_smallest, seen_text
from shoal.experiments.plan_table import PlanTable
from shoal.partitions import default_colors
from shoal.plotting import Picture, draw_shuffled_plan
from shoal.privacy import LocalBudget, local_epsilon_for
from shoal.schema import Schema

__all__ = ["ShuffledPlan", "ShuffledRow", "plan_shuffled"]

UNKNOWN = Outcome(math.nan, math.nan, math.nan, math.nan)
HEADINGS = ("epsilon", "local epsilon", "colors", "cost", "range", "seen")
SHORT = 3  # of them, where there is no schema
MAX_BITS = 12  # of a color


@dataclass(frozen=True)
class ShuffledRow:
    """The local epsilon that one epsilon of a shuffled batch allows, and its expected quality.

    Parameters
    ----------
    epsilon : float
        Epsilon of the batch.
    local_epsilon : float
        Local epsilon of each report.
    colors : int
        Number of colors of PartitionResponse at this local epsilon.
    cost_ratio, low, high : float
        Mean and range of the cost divided by that of k-means without privacy; NaN without a schema.
    seen : float
        Share of the populations in which the smallest cluster is found.
    sentence : str
        The guarantee with its conditions, as a sentence.

    Examples
    --------
    >>> from shoal.experiments import plan_shuffled
    >>> row = plan_shuffled(n=100_000, epsilons=[1.0]).rows[0]
    >>> row.local_epsilon > row.epsilon
    True
    """

    epsilon: float
    local_epsilon: float
    colors: int
    cost_ratio: float
    low: float
    high: float
    seen: float
    sentence: str

    @property
    def cells(self) -> list[str]:
        """The row as text."""
        cells = [
            rounded_up(self.epsilon),
            rounded_up(self.local_epsilon, 3),
            f"{self.colors:,}",
        ]
        if math.isnan(self.cost_ratio):
            return cells
        spread = f"{self.low:.2f} - {self.high:.2f}"
        return [*cells, f"{self.cost_ratio:.2f}", spread, seen_text(self.seen)]


@dataclass(frozen=True)
class ShuffledPlan(PlanTable):
    """The local epsilon that each epsilon of a shuffled batch allows: a table, prints as text.

    Parameters
    ----------
    rows : tuple of ShuffledRow
        One row for each epsilon, the smallest first.
    n : int
        Number of honest devices in the batch.
    k : int
        Number of clusters.
    smallest : float
        Share of the records that the smallest cluster has.
    delta : float
        Delta of the shuffled guarantee.
    columns : int
        Number of columns of the encoded records; 0 without a schema.
    populations : int
        Number of synthetic populations behind each value.

    Examples
    --------
    >>> from shoal.experiments import plan_shuffled
    >>> plan = plan_shuffled(n=100_000, epsilons=[0.5, 1.0])
    >>> [row.epsilon for row in plan.rows]
    [0.5, 1.0]
    """

    rows: tuple[ShuffledRow, ...]
    n: int
    k: int
    smallest: float
    delta: float
    columns: int
    populations: int

    question: ClassVar[str] = "What a shuffled batch allows"

    @property
    def title(self) -> str:
        """What the plan is for, as a title."""
        what = f"What a shuffled batch of {self.n:,} devices allows"
        if not self.columns:
            return what
        return f"{what}: {self.k} clusters, {self.columns} encoded columns"

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of the columns."""
        return HEADINGS if self.columns else HEADINGS[:SHORT]

    @property
    def notes(self) -> tuple[str, ...]:
        """Explanations of the columns."""
        largest = self.rows[-1]
        simulated = (
            (
                f"Cost: mean and range of {self.populations} made-up populations of this schema; 1 "
                "is k-means without privacy. No device was asked.",
                f"Seen: share of them in which a center stands for the cluster of "
                f"{self.smallest:.1%}, where one does without privacy.",
            )
            if self.columns
            else ("With --schema or --bounds, also what the clusters would cost.",)
        )
        return (
            "Nothing was spent. Local epsilon: the largest that each device may report with by "
            "PartitionResponse, which then has so many colors, if the batch is to keep epsilon at "
            f"delta = {rounded_up(self.delta)}.",
            *simulated,
            f"At {rounded_up(largest.epsilon)}: {largest.sentence}.",
        )

    def draw(self, path: Path | None = None) -> Picture:
        """Draw the local epsilon, and the cost if it is known, against the epsilon of the batch.

        Parameters
        ----------
        path : Path, default=None
            File to write the chart to as well.

        Returns
        -------
        picture : Picture
            The chart.
        """
        return draw_shuffled_plan(self, path=path)


def plan_shuffled(
    schema: Schema | None = None,
    *,
    n: int,
    epsilons: Sequence[float],
    k: int = 5,
    smallest: float | None = None,
    delta: float = 1e-6,
    populations: int = 3,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ShuffledPlan:
    """Forecast the local epsilon and the clusters that shuffled batches allow, from public numbers.

    The larger the batch, the larger the local epsilon at the same epsilon of the batch. Campaigns
    are simulated on synthetic records: no real device is asked, and nothing is spent.

    Parameters
    ----------
    schema : Schema, default=None
        Public description of a record, for the cost of clusters; None leaves out the cost.
    n : int
        Smallest number of honest devices in the batch.
    epsilons : sequence of float
        Epsilons of the shuffled batch to compare.
    k : int, default=5
        Number of clusters.
    smallest : float, default=None
        Share of the records that the smallest cluster has; None takes half of 1 / k.
    delta : float, default=1e-6
        Delta of the shuffled guarantee.
    populations : int, default=3
        Number of synthetic populations behind each cost.
    random_state : int, default=0
        Seed of the synthetic records and reports.
    progress : callable, default=None
        Called as ``progress(done, total)``.

    Returns
    -------
    plan : ShuffledPlan
        One row for each epsilon, the smallest first.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> from shoal.experiments import plan_shuffled
    >>> plan = plan_shuffled(n=100_000, epsilons=[1.0])
    >>> plan.rows[0].local_epsilon > 7
    True
    """
    for name, value in {"n": n, "k": k, "populations": populations}.items():
        _numbers.count(name, value)
    wanted = sorted({_numbers.positive("epsilons", epsilon) for epsilon in epsilons})
    if not wanted:
        raise ParameterError("epsilons must be one or more numbers > 0, got none")
    share = check_smallest(smallest, k)
    budgets = [_budget(one, n, delta) for one in wanted]
    outcomes = [UNKNOWN] * len(wanted)
    if schema is not None:
        with threadpool_limits(1):
            campaigns = Campaigns(
                schema, k, smallest=share, populations=populations, seed=random_state
            )
            steps = iter(range(1, len(budgets) * populations + 1))
            if progress is not None:
                campaigns.step = lambda: progress(next(steps), len(budgets) * populations)
            outcomes = [campaigns.run(campaigns.mechanism(one.epsilon), n) for one in budgets]
    rows = [
        ShuffledRow(epsilon, budget.epsilon, budget.n_colors or 0, *outcome, str(budget.guarantee))
        for epsilon, budget, outcome in zip(wanted, budgets, outcomes, strict=True)
    ]
    columns = 0 if schema is None else schema.space.columns
    return ShuffledPlan(tuple(rows), n, k, share, float(delta), columns, populations)


def _budget(epsilon: float, n: int, delta: float) -> LocalBudget:
    """Return the largest local epsilon that is allowed with the colors that it has by default.

    More colors allow more epsilon, but divide the box into more cells than so many devices can
    tell apart: of those, reports say less.
    """
    best = local_epsilon_for(epsilon, n, delta, n_colors=2)
    for bits in range(2, MAX_BITS + 1):
        budget = local_epsilon_for(epsilon, n, delta, n_colors=2**bits)
        if default_colors(budget.epsilon) < 2**bits:
            break
        best = budget
    return best
