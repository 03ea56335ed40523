"""Campaigns of local reports, tried on made-up records: what so many devices would show.

A population is made up from the schema alone. Devices are drawn from it, each reports once, and
the clusters behind the reports are compared with k-means on the population itself.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal import _numbers
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.experiments._made_up_tables import (
    MAX_ROWS,
    MIN_SEGMENT,
    MadeUpTable,
    made_up_table,
    plain_centers,
    stands_for,
)
from shoal.mechanisms import PartitionResponse
from shoal.metrics import cost_ratio
from shoal.reports import NoiseAwareKMeans
from shoal.schema import Schema

__all__ = ["Campaigns", "Outcome", "check_smallest", "first_enough", "seen_text"]

RESTARTS = 5  # of k-means on what reports show: enough for a forecast


class Population(NamedTuple):
    """Made-up records, their best centers, and whether these show the smallest segment."""

    table: MadeUpTable
    centers: Floats
    seen: bool


class Outcome(NamedTuple):
    """What campaigns of so many devices cost, one for each population.

    Parameters
    ----------
    cost_ratio, low, high : float
        Mean and range of the cost over that of k-means without privacy.
    seen : float
        Share of the populations in which a center stands for the smallest cluster, of those where
        one does without privacy; NaN if there are none.
    """

    cost_ratio: float
    low: float
    high: float
    seen: float


class Campaigns:
    """Populations of one schema, and what campaigns of local reports show of them."""

    def __init__(
        self, schema: Schema, k: int, *, smallest: float, populations: int, seed: int
    ) -> None:
        self._schema, self._k, self._seed = schema, k, seed
        self._outcomes: dict[tuple[float, int], Outcome] = {}
        self.step: Callable[[], None] = lambda: None  # called after each campaign
        odd = max(round(smallest * MAX_ROWS), MIN_SEGMENT)
        seeds = np.random.SeedSequence(seed).generate_state(populations).tolist()
        self.populations = [self._population(odd, smallest, one) for one in seeds]

    @property
    def seen_without_noise(self) -> int:
        """Populations in which k-means without privacy has a center for the smallest cluster."""
        return sum(population.seen for population in self.populations)

    def run(self, mechanism: PartitionResponse, n: int) -> Outcome:
        """Let n devices of each population report; the same question is answered once."""
        key = float(mechanism.epsilon), n
        if key not in self._outcomes:
            self._outcomes[key] = self._run(mechanism.of_encoded(), n)
        return self._outcomes[key]

    def mechanism(self, epsilon: float, **kwargs: Any) -> PartitionResponse:
        """Return the mechanism of a campaign, for this schema and number of clusters."""
        return PartitionResponse(epsilon, schema=self._schema, n_clusters=self._k, **kwargs)

    def _run(self, mechanism: PartitionResponse, n: int) -> Outcome:
        costs, seen = [], []
        for index, (table, best, visible) in enumerate(self.populations):
            rng = np.random.default_rng([self._seed, index, n])
            devices = table.encoded[rng.integers(len(table.encoded), size=n)]
            mechanism.set_params(random_state=self._seed + index)
            reports = mechanism.fit_transform(devices)
            model = NoiseAwareKMeans(
                self._k, mechanism=mechanism, n_init=RESTARTS, random_state=self._seed
            )
            centers = model.fit(reports).cluster_centers_
            costs.append(cost_ratio(table.encoded, centers, reference=best))
            if visible:
                seen.append(_stands_for_smallest(table, centers))
            self.step()
        share = float(np.mean(seen)) if seen else math.nan
        return Outcome(float(np.mean(costs)), min(costs), max(costs), share)

    def _population(self, odd: int, smallest: float, seed: int) -> Population:
        space = self._schema.space
        table = made_up_table(space, MAX_ROWS, self._k, seed, odd=odd, least=smallest)
        centers = plain_centers(self._k, table).centers
        return Population(table, centers, _stands_for_smallest(table, centers))


def check_smallest(smallest: float | None, k: int) -> float:
    """Check the share of the smallest cluster; None is half of an even share."""
    if smallest is None:
        return 0.5 / k
    share = _numbers.positive_probability("smallest", smallest)
    if share * k > 1.0:
        raise ParameterError(
            f"smallest must be at most 1 / k = {1 / k:.3g}, the share of {k} equal clusters, got "
            f"{smallest!r}"
        )
    return share


def seen_text(seen: float) -> str:
    """Write in how many populations the smallest cluster is seen."""
    return "" if math.isnan(seen) else f"{seen:.0%}"


def first_enough(ladder: Sequence[int], enough: Callable[[int], bool], low: int = 0) -> int:
    """Return the index of the first step that is enough, or how many steps there are."""
    high = len(ladder)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(ladder[middle]) else (middle + 1, high)
    return low


def _stands_for_smallest(table: MadeUpTable, centers: Floats) -> bool:
    certain = np.ones(len(centers), dtype=np.bool_)
    return stands_for(table, centers, certain, int(table.segments.max()))
