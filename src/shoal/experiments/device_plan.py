"""How many devices must report for k clusters at an epsilon, before anything is collected.

Campaigns of :class:`shoal.mechanisms.PartitionResponse` are tried on records that are made up from
the schema alone, with more and more devices, until the clusters are good enough. The real devices
are not asked, so this is a forecast for records of this shape, not a statement about some.
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
from shoal.experiments._campaigns import (
    Campaigns,
    Outcome,
    check_smallest,
    first_enough,
    seen_text,
)
from shoal.experiments.plan_table import PlanTable
from shoal.mechanisms import PartitionResponse
from shoal.plotting import Picture, draw_device_plan
from shoal.privacy import amplify
from shoal.reports import liars_weight
from shoal.schema import Schema

__all__ = ["LOCAL_EPSILONS", "DevicePlan", "DeviceRow", "plan_devices"]

#: Values of epsilon that :func:`plan_devices` tries by default.
LOCAL_EPSILONS = (0.5, 1.0, 2.0, 4.0)
LADDER = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
SEARCHES = 5  # numbers of devices tried for an epsilon, more or less
SEEN_IN = 0.5  # of the populations: the smallest cluster must be seen in more
LIARS = 0.01  # share of the devices
FORECAST = "A forecast from made-up records of this schema; no device was asked, nothing was spent."
HEADINGS = (
    "epsilon",
    "for cost",
    "for smallest",
    "cost",
    "range",
    "seen",
    "shuffled",
)


@dataclass(frozen=True)
class DeviceRow:
    """How many devices one local epsilon needs, and the quality with a given number.

    Parameters
    ----------
    epsilon : float
        Local epsilon of each report.
    for_cost : float
        Number of devices needed for the mean cost wanted; infinite if a million are not enough.
    for_smallest : float
        Number of devices needed to find the smallest cluster in most populations; NaN if k-means
        without privacy finds it in none.
    n : int
        Number of devices that the values below are for: the given one, or the one needed.
    cost_ratio, low, high : float
        Mean and range of the cost divided by that of k-means without privacy.
    seen : float
        Share of the populations in which the smallest cluster is found.
    shuffled_epsilon : float
        Epsilon of a shuffled batch of n reports.
    tried : tuple of tuple
        Numbers of devices that were tried, each with mean and range of the cost.

    Examples
    --------
    >>> from shoal.experiments import DeviceRow
    >>> row = DeviceRow(4.0, 900.0, 1200.0, 1200, 1.1, 1.0, 1.2, 1.0, 0.5, ())
    >>> max(row.for_cost, row.for_smallest)
    1200.0
    """

    epsilon: float
    for_cost: float
    for_smallest: float
    n: int
    cost_ratio: float
    low: float
    high: float
    seen: float
    shuffled_epsilon: float
    tried: tuple[tuple[int, float, float, float], ...]

    @property
    def cells(self) -> list[str]:
        """The row as text."""
        return [
            rounded_up(self.epsilon),
            _devices(self.for_cost),
            _devices(self.for_smallest),
            f"{self.cost_ratio:.2f}",
            f"{self.low:.2f} - {self.high:.2f}",
            seen_text(self.seen),
            rounded_up(self.shuffled_epsilon, 3),
        ]


@dataclass(frozen=True)
class DevicePlan(PlanTable):
    """How many devices each local epsilon needs: a table that prints as text.

    Parameters
    ----------
    rows : tuple of DeviceRow
        One row for each epsilon, the smallest first.
    n : int or None
        Number of devices, if it is known.
    k : int
        Number of clusters.
    smallest : float
        Share of the records that the smallest cluster has.
    cost : float
        The cost wanted, divided by that of k-means without privacy.
    delta : float
        Delta of the shuffled guarantees.
    columns : int
        Number of columns of the encoded records.
    populations : int
        Number of synthetic populations behind each value.
    seen_without_noise : int
        Number of populations in which k-means without privacy finds the smallest cluster.

    Examples
    --------
    >>> from shoal.experiments import DevicePlan, DeviceRow
    >>> row = DeviceRow(4.0, 900.0, 1200.0, 1200, 1.1, 1.0, 1.2, 1.0, 0.5, ())
    >>> plan = DevicePlan((row,), None, 2, 0.2, 1.2, 1e-6, 1, populations=3, seen_without_noise=3)
    >>> plan.rows[0].for_smallest
    1200.0
    """

    rows: tuple[DeviceRow, ...]
    n: int | None
    k: int
    smallest: float
    cost: float
    delta: float
    columns: int
    populations: int
    seen_without_noise: int

    question: ClassVar[str] = "How many devices are needed"

    @property
    def title(self) -> str:
        """What the plan is for, as a title."""
        return (
            f"How many devices: {self.k} clusters, the smallest of {self.smallest:.1%}, "
            f"{self.columns} encoded columns"
        )

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of the columns."""
        return HEADINGS

    @property
    def notes(self) -> tuple[str, ...]:
        """Explanations of the columns."""
        devices = "as many devices as needed" if self.n is None else f"{self.n:,} devices"
        return (
            FORECAST,
            "Each device reports once, with PartitionResponse at this local epsilon; tried were "
            f"{LADDER[0]:,} to {LADDER[-1]:,} devices, in steps of 1 and 3.",
            f"For cost: devices from which the mean cost is at most {self.cost:g} times that of "
            f"k-means without privacy, in {self.populations} made-up populations.",
            f"For smallest: devices from which a center stands for the cluster of "
            f"{self.smallest:.1%} in most of them, of the {self.seen_without_noise} where one does "
            "without privacy.",
            f"Cost, range, seen: of {devices}: mean and range of the cost, and in which part of "
            "the populations the smallest cluster is seen.",
            f"Shuffled: epsilon of one shuffled batch of {devices}, if all of them are honest, at "
            f"delta = {rounded_up(self.delta)}.",
            f"Lies: {LIARS:.0%} of the devices can make up a cluster of {self._made_up()} of the "
            "records, one number for each epsilon.",
        )

    def _made_up(self) -> str:
        """Write what share of the records a few liars can make up at each epsilon."""
        mechanisms = [PartitionResponse(row.epsilon) for row in self.rows]
        shares = [LIARS * liars_weight(mechanism, self.columns) for mechanism in mechanisms]
        return ", ".join(f"{share:.1%}" for share in shares)

    def draw(self, path: Path | None = None) -> Picture:
        """Draw cost against devices, devices against epsilon, and the shuffled epsilon.

        Parameters
        ----------
        path : Path, default=None
            File to write the chart to as well.

        Returns
        -------
        picture : Picture
            The chart.
        """
        return draw_device_plan(self, path=path)


def plan_devices(
    schema: Schema,
    *,
    k: int,
    epsilons: Sequence[float] = LOCAL_EPSILONS,
    n: int | None = None,
    smallest: float | None = None,
    cost: float = 1.2,
    delta: float = 1e-6,
    populations: int = 3,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> DevicePlan:
    """Forecast how many devices must report to find k clusters, from public numbers alone.

    Campaigns of :class:`shoal.mechanisms.PartitionResponse` are simulated on synthetic records: no
    real device is asked, and nothing is spent.

    Parameters
    ----------
    schema : Schema
        Public description of a record.
    k : int
        Number of clusters.
    epsilons : sequence of float, default=(0.5, 1, 2, 4)
        Local epsilons to compare.
    n : int, default=None
        Number of devices, if it is known: the cost is then that with n devices, otherwise that with
        the number needed.
    smallest : float, default=None
        Share of the records that the smallest cluster has; None takes half of 1 / k.
    cost : float, default=1.2
        The cost wanted, divided by that of k-means without privacy.
    delta : float, default=1e-6
        Delta of the shuffled guarantee.
    populations : int, default=3
        Number of synthetic populations behind each value.
    random_state : int, default=0
        Seed of the synthetic records and reports.
    progress : callable, default=None
        Called as ``progress(done, total)``.

    Returns
    -------
    plan : DevicePlan
        One row for each epsilon, the smallest first.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the schema lacks bounds or categories.

    Examples
    --------
    >>> from shoal.experiments import plan_devices
    >>> from shoal.schema import Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120, missing="refuse")])
    >>> plan = plan_devices(schema, k=2, epsilons=[4.0], populations=1)
    >>> plan.rows[0].cost_ratio < 1.2
    True
    """
    if not isinstance(schema, Schema):
        raise ParameterError(f"schema must be a Schema, got {type(schema).__name__}")
    for name, value in {"k": k, "populations": populations}.items():
        _numbers.count(name, value)
    if n is not None:
        _numbers.count("n", n)
    if not cost > 1.0:
        raise ParameterError(f"cost must be above 1, that of k-means without privacy, got {cost!r}")
    _numbers.positive_probability("delta", delta)
    wanted = sorted({_numbers.positive("epsilons", epsilon) for epsilon in epsilons})
    if not wanted:
        raise ParameterError("epsilons must be one or more numbers > 0, got none")
    share = check_smallest(smallest, k)
    with threadpool_limits(1):  # campaigns are short: threads would mostly wait for each other
        campaigns = Campaigns(schema, k, smallest=share, populations=populations, seed=random_state)
        search = _Search(campaigns, n, cost, delta, progress=progress, epsilons=len(wanted))
        rows = [search.row(epsilon) for epsilon in reversed(wanted)]
    return DevicePlan(
        tuple(reversed(rows)),
        n,
        k,
        share,
        float(cost),
        float(delta),
        schema.space.columns,
        populations,
        campaigns.seen_without_noise,
    )


class _Search:
    """Look for the fewest devices at each epsilon, the largest epsilon first.

    A smaller one needs no fewer, so that its search begins where the last one ended.
    """

    def __init__(
        self,
        campaigns: Campaigns,
        n: int | None,
        cost: float,
        delta: float,
        *,
        progress: Callable[[int, int], None] | None,
        epsilons: int,
    ) -> None:
        self._campaigns, self._n, self._cost, self._delta = campaigns, n, cost, delta
        self._from_cost = self._from_smallest = 0
        self._done, self._rows = 0, 0
        self._steps = SEARCHES * len(campaigns.populations)
        self._progress, self._total = progress, epsilons * self._steps
        campaigns.step = self._step

    def row(self, epsilon: float) -> DeviceRow:
        """Return what one epsilon needs."""
        mechanism = self._campaigns.mechanism(epsilon)
        tried: dict[int, Outcome] = {}

        def outcome(devices: int) -> Outcome:
            return tried.setdefault(devices, self._campaigns.run(mechanism, devices))

        at = first_enough(
            LADDER, lambda one: outcome(one).cost_ratio <= self._cost, self._from_cost
        )
        self._from_cost, for_cost = at, _rung(at)
        for_smallest = math.nan
        if self._campaigns.seen_without_noise:
            at = first_enough(LADDER, lambda one: outcome(one).seen > SEEN_IN, self._from_smallest)
            self._from_smallest, for_smallest = at, _rung(at)
        needed = max(one for one in (for_cost, for_smallest) if not math.isnan(one))
        n = self._n or int(min(needed, LADDER[-1]))
        found = outcome(n)
        self._end_of_row()
        promise = amplify(mechanism.guarantee_, n, self._delta, n_colors=mechanism.n_colors)
        shown = [(devices, *one[:3]) for devices, one in sorted(tried.items())]
        return DeviceRow(epsilon, for_cost, for_smallest, n, *found, promise.epsilon, tuple(shown))

    def _step(self) -> None:
        self._done = min(self._done + 1, (self._rows + 1) * self._steps - 1)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _end_of_row(self) -> None:
        self._rows += 1
        self._done = self._rows * self._steps
        if self._progress is not None:
            self._progress(self._done, self._total)


def _rung(index: int) -> float:
    return float(LADDER[index]) if index < len(LADDER) else math.inf


def _devices(number: float) -> str:
    if math.isnan(number):
        return ""
    return f"{number:,.0f}" if math.isfinite(number) else f"> {LADDER[-1]:,}"
