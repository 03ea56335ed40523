"""The budget of a fit: how it is divided, how that reads in a ledger, and when it is charged.

A budget is epsilon, or mu^2 of Gaussian differential privacy; both add up over releases. Everything
here is a function of public numbers. Units of the divisions between counts and sums: the box is
[-1, 1]^d.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from shoal import _numbers
from shoal.engines import MAX_COLUMNS
from shoal.exceptions import DataError, ParameterError
from shoal.noise import RandomSource
from shoal.privacy import Event, Guarantee, Ledger, Receipt
from shoal.schema import Schema
from shoal.tables import Table

if TYPE_CHECKING:
    from shoal.cluster._noise import BudgetedNoise

__all__ = [
    "COUNT_PART",
    "MAX_EPSILON",
    "SPLITS",
    "BudgetSplit",
    "CountSum",
    "Split",
    "charge",
    "check_columns",
    "check_epsilon",
    "check_ledger",
    "count_weight",
    "drawn_by_seed",
    "split_gaussian",
    "split_pure",
]

Split = Literal["joint", "analytic", "equal"]
SPLITS = ("joint", "analytic", "equal")

MAX_EPSILON = 1e9  # beyond, quotients and squares of scales leave the doubles
COUNT_PART = 0.02  # for the noisy number of records where none is declared and one is needed
SPREAD = 0.225  # typical distance of a record from its center, in half box widths (Su et al. 2016)


class CountSum(NamedTuple):
    """A number for the counts of a release of pairs, and one for its sums."""

    counts: float
    sums: float


@dataclass(frozen=True)
class BudgetSplit:
    """Budgets of the steps of a fit, by their names; what is not asked for costs nothing."""

    def __str__(self) -> str:
        """Format the part of each step in per cent, as a ledger prints it."""
        budgets = asdict(self)
        total = sum(budgets.values())
        parts = ((name.replace("_", " "), part / total) for name, part in budgets.items() if part)
        return ", ".join(f"{name} {part:.0%}" for name, part in parts)


def split_pure(epsilon: float, columns: int, split: Split) -> CountSum:
    """Divide the epsilon of a round between counts and all columns of the sums together.

    ``"equal"``: all columns and the count alike, as DP-KCCM; otherwise the division of Su, Cao, Li,
    Bertino & Jin (2016), which makes the centers' error least.
    """
    weight = 1.0 if split == "equal" else count_weight(columns)
    return CountSum(
        counts=epsilon * weight / (columns + weight),
        sums=epsilon * columns / (columns + weight),
    )


def split_gaussian(budget: float, columns: int, split: Split) -> CountSum:
    """Divide the mu^2 of a round between counts and all columns of the sums together.

    ``"equal"``: all columns and the count alike, as DP-KCCM; otherwise the ratio of FastLloyd (Diaa
    et al. 2024).
    """
    weight = columns if split == "equal" else math.sqrt(4 * columns)
    return CountSum(counts=budget / (1 + weight), sums=budget * weight / (1 + weight))


def count_weight(columns: int) -> float:
    """Return the best budget of the counts, where that of each column of the sums is 1."""
    return math.cbrt(4 * columns * SPREAD**2)


def check_epsilon(value: Any, *, remedy: str = ", and its noise is nothing either") -> float:
    """Return epsilon as a float, if it is above 0 and at most ``MAX_EPSILON``."""
    epsilon = _numbers.positive("epsilon", value)
    if epsilon > MAX_EPSILON:
        raise ParameterError(
            f"epsilon must be at most {MAX_EPSILON:g}, got {value!r}: so much promises "
            f"nothing{remedy}",
            parameter="epsilon",
            code="range",
        )
    return epsilon


def check_ledger(ledger: Any) -> None:
    """Refuse what is neither a ledger nor None."""
    if not (ledger is None or isinstance(ledger, Ledger)):
        raise ParameterError(
            f"ledger must be a Ledger or None, got {ledger!r}", parameter="ledger", code="type"
        )


def check_columns(columns: int) -> None:
    """Refuse more columns than engines take."""
    if columns > MAX_COLUMNS:
        raise DataError(f"X must have at most {MAX_COLUMNS} columns, got {columns}", code="columns")


def drawn_by_seed(source: RandomSource, schema: Schema | None) -> bool:
    """Return whether a seed tells the noise of a release, or that of the bounds of its schema."""
    return source.seeded or (schema is not None and schema.seeded)


def charge(
    ledger: Ledger | None,
    table: Table,
    noise: "BudgetedNoise",
    budgets: BudgetSplit,
    *,
    what: str,
    promise: Guarantee,
    columns: Iterable[str] = (),
    event: Event | None = None,
) -> Receipt | None:
    """Check the records, then charge the ledger: the last step before anything is released.

    The steps of a fit divide a fixed total, so all of it is spent before any is released. Where a
    record is not finite, a file is damaged or the ledger cannot pay, nothing is spent.
    """
    if ledger is None:
        table.check()
        return None
    event = event or noise.event(str(budgets))
    if not table.in_memory:
        # Reading may take long, and would be in vain.
        ledger.check(event, privacy_unit=promise.privacy_unit)
    table.check()
    return ledger.spend(
        event,
        purpose=f"{what}: {budgets}",
        privacy_unit=promise.privacy_unit,
        seeded=promise.seeded,
        columns=columns,
    ).receipt
