"""How much a published method tells about a record, even one that its report is not about.

Two tables differ in one record. The report of one record is drawn many times under both, rounded to
a fine lattice (so that the audit does not find low bits of doubles), and audited.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from shoal import _numbers
from shoal._records import validate_records
from shoal._typing import Floats
from shoal.audit import AuditResult, epsilon_lower_bound
from shoal.exceptions import ParameterError
from shoal.experiments import Trial
from shoal.papers.kd_laplace.settings import Table, load_table, published_method

__all__ = ["LEAK_EPSILONS", "Leak", "leak_near_side", "measure_leak", "measure_table_leak"]

LEAK_EPSILONS = (0.5, 1.0, 2.0)
SAMPLES = 4_000  # no bound can pass about ln(SAMPLES / 15) = 5.6
FINENESS = 2.0**-20  # lattice step of the audited reports, over the largest absolute value
NEAR_SIDE = 10  # the audited record is nearer to a side of the raw box than all but one in so many


@dataclass(frozen=True)
class Leak:
    """Result of an audit of a published method on two neighboring tables; prints as one sentence.

    Parameters
    ----------
    claim : float
        Privacy loss that the method claims: epsilon times the distance if the reported record is
        the one that moved, 0 if another one did, since a report should depend on its record only.
    distance : float
        Distance by which the record moved.
    audit : AuditResult
        The measured lower bound and its event.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.papers.kd_laplace import GridNdLaplace
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> leak = measure_leak(GridNdLaplace(0.5, source="code"), X, shift=(0.01, 0.0), samples=2000)
    >>> leak.claim, leak.caught
    (0.005, True)
    """

    claim: float
    distance: float
    audit: AuditResult

    @property
    def bound(self) -> float:
        """Lower bound on the privacy loss."""
        return self.audit.epsilon

    @property
    def caught(self) -> bool:
        """Return whether the bound is above the claim."""
        return self.audit.exceeds(self.claim)

    def __str__(self) -> str:
        verdict = "above" if self.caught else "not above"
        return (
            f"privacy loss at least {self.bound:.3g} for a move of {self.distance:.3g}, "
            f"{verdict} the claim of {self.claim:.3g}"
        )


def measure_leak(
    method: Any,
    X: Any,
    *,
    row: int = 0,
    shift: Any,
    moved: int | None = None,
    samples: int = 20_000,
    confidence: float = 0.999,
    random_state: int | None = 0,
) -> Leak:
    """Audit the report of one record under two tables that differ in one record.

    Parameters
    ----------
    method : published method
        A method with ``fit``, ``transform``, ``epsilon`` (or ``level``) and ``random_state``.
    X : array-like of shape (n, d)
        Raw table.
    row : int, default=0
        Row whose report is audited.
    shift : array-like of shape (d,)
        Vector that is added to the record that moves.
    moved : int, default=None
        Row of the record that moves; None for the audited one.
    samples : int, default=20_000
        Number of reports drawn under each table.
    confidence : float, default=0.999
        Probability that the bound is true.
    random_state : int or None, default=0
        Seed of the noise.

    Returns
    -------
    leak : Leak
        The claimed privacy loss and the measured lower bound.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.papers.kd_laplace import GridNdLaplace, measure_leak
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> leak = measure_leak(GridNdLaplace(0.5, source="code"), X, shift=(0.01, 0.0), samples=2000)
    >>> leak.caught
    True
    """
    first = validate_records(X)
    move = np.asarray(shift, dtype=np.float64)
    if move.shape != (first.shape[1],) or not np.isfinite(move).all() or not move.any():
        raise ParameterError("shift must have one finite value per column, not all 0")
    target = row if moved is None else moved
    for name, index in (("row", row), ("moved", target)):
        if not 0 <= index < len(first):
            raise ParameterError(f"{name} must be a row of X, got {index!r}")
    second = first.copy()
    second[target] += move
    generator = np.random.default_rng(random_state)
    step = FINENESS * max(float(np.abs(first).max()), 1.0)

    def reports(table: Floats, n: int) -> Floats:
        fitted = clone(method).set_params(random_state=generator).fit(table)
        drawn = fitted.transform(np.tile(table[row], (n, 1)))
        rounded: Floats = np.round(drawn / step) * step
        return rounded

    distance = float(np.linalg.norm(move))
    claim = distance * _numbers.positive("epsilon", method.epsilon) if target == row else 0.0
    audit = epsilon_lower_bound(reports, first, second, samples=samples, confidence=confidence)
    return Leak(claim=claim, distance=distance, audit=audit)


def measure_table_leak(trial: Trial) -> Iterator[dict[str, Any]]:
    """Audit the method as published on two tables that differ in one record.

    Yields the claim, a lower bound of the loss (confidence 99.9%), and whether that is above it.
    """
    assert trial.columns is not None
    leak = leak_near_side(
        trial.mechanism.name,
        trial.epsilon,
        load_table(trial.dataset, trial.columns),
        samples=SAMPLES,
        random_state=trial.seed,
    )
    yield {"claim": leak.claim, "bound": leak.bound, "caught": leak.caught}


def leak_near_side(
    mechanism: str, epsilon: float, table: Table, *, samples: int, random_state: int
) -> Leak:
    """Audit a published method on a record near a side of the raw table's box.

    The remaps move most reports there. The record moves inwards by a standard deviation of the
    first column; ``samples`` reports are drawn under each of the two tables.
    """
    X = table.X
    to_side = np.minimum(X - X.min(axis=0), X.max(axis=0) - X).min(axis=1)
    row = int(np.argsort(to_side)[len(X) // NEAR_SIDE])
    shift = np.zeros(X.shape[1])
    inwards = np.sign(np.median(X[:, 0]) - X[row, 0])
    shift[0] = inwards * float(X[:, 0].std())
    return measure_leak(
        published_method(mechanism, epsilon),
        X,
        row=row,
        shift=shift,
        samples=samples,
        random_state=random_state,
    )
