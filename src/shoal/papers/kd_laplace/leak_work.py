"""One cell of the leaks: what a report as published tells, measured beside what it claims."""

from collections.abc import Iterator
from typing import Any

from shoal.experiments.cell import Cell
from shoal.papers.kd_laplace.remap_gain import leak_at_the_rim
from shoal.papers.kd_laplace.utility_work import table_of

__all__ = ["LEAK_EPSILONS", "leak_work"]

LEAK_EPSILONS = (0.5, 1.0, 2.0)
SAMPLES = 4_000  # no bound can pass about ln(SAMPLES / 15) = 5.6


def leak_work(cell: Cell) -> Iterator[dict[str, Any]]:
    """Audit the method as published on two tables that differ in one record.

    Parameters
    ----------
    cell : Cell
        With a table, a number of columns, a mechanism of the thesis and an epsilon.

    Yields
    ------
    record : dict
        Claim, lower bound of the loss (confidence 99.9%), and whether that is above the claim.
    """
    assert cell.columns is not None
    leak = leak_at_the_rim(
        cell.mechanism.name,
        cell.epsilon,
        table_of(cell.dataset, cell.columns),
        samples=SAMPLES,
        random_state=cell.seed,
    )
    yield {"claim": leak.claim, "bound": leak.bound, "caught": leak.caught}
