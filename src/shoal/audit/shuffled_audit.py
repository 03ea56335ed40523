"""Audit of a shuffled batch: what the analyst's view tells of one device, against what is promised.

Batches are drawn for two records of the victim, while all others hold a third record, which is the
worst they can do at small epsilon (``proofs/shuffling.md``, section 2). The evidence of a batch is
its exact likelihood ratio: a report y of record z that was the victim's weighs R_x(y) / R_z(y), and
after shuffling each of them may have been. The places of the first and of the last report are
looked at too: a shuffler that keeps the order shows itself there. The promise is about any others,
and the audit is of one choice: a bound below the promise proves nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from shoal import _numbers
from shoal._build import detached
from shoal._numbers import rounded_up
from shoal._report_channel import PartitionChannel
from shoal._typing import Floats
from shoal.audit.bounds._measure import as_vector, bound_event
from shoal.audit.bounds._scores import Score
from shoal.audit.bounds.lower_bounds import check_parameters
from shoal.audit.bounds.result import AuditResult
from shoal.exceptions import ParameterError
from shoal.privacy import Guarantee, amplify

__all__ = ["ShuffledAudit", "audit_shuffled"]

MAX_EXACT = 40  # reports of a batch whose histograms are enumerated

Shuffler = Callable[[Floats, np.random.Generator], Floats]


@dataclass(frozen=True)
class ShuffledAudit:
    """A lower bound on the epsilon of a shuffled batch of reports; prints as two sentences.

    Parameters
    ----------
    result : AuditResult
        The bound, from random batches.
    claim : Guarantee
        The guarantee of a batch of this size.
    exact : float or None
        The exact epsilon of these inputs, by enumeration; None if there are too many histograms or
        the mechanism is not plain randomized response.

    Examples
    --------
    >>> from shoal.audit import audit_shuffled
    >>> audit = audit_shuffled((1.5, 4), n=8, delta=0.02, samples=20_000, random_state=0)
    >>> audit.epsilon <= audit.exact <= audit.claim.epsilon
    True
    """

    result: AuditResult
    claim: Guarantee
    exact: float | None

    @property
    def epsilon(self) -> float:
        """The lower bound on epsilon."""
        return self.result.epsilon

    def exceeds(self) -> bool:
        """Return whether the bound is above the epsilon of the guarantee."""
        return self.result.exceeds()

    def __str__(self) -> str:
        verdict = ": more than claimed" if self.exceeds() else ""
        exact = "" if self.exact is None else f"; exactly {self.exact:.4g} for these inputs"
        return "\n".join(
            [
                f"{self.result}{verdict}",
                f"batches of {self.claim.n_reports:,} reports, delta = "
                f"{rounded_up(self.claim.delta)}, local epsilon "
                f"{rounded_up(self.claim.local_epsilon or 0.0)}{exact} ({self.result.event})",
            ]
        )


def audit_shuffled(
    mechanism: Any,
    n: int,
    delta: float,
    *,
    records: tuple[Any, Any, Any] | None = None,
    shuffler: Shuffler | None = None,
    samples: int = 50_000,
    confidence: float = 0.999,
    random_state: int | None = None,
) -> ShuffledAudit:
    """Return a statistical lower bound on the epsilon of a small shuffled batch of reports.

    One device, the victim, holds one of two records, and all others hold a third one. A ledger of
    the mechanism is not charged.

    Parameters
    ----------
    mechanism : tuple (epsilon, n_colors) or local mechanism
        Epsilon and number of colors of a randomized response; or a mechanism with ``transform`` and
        ``log_density``, such as :class:`shoal.mechanisms.PartitionResponse`, which needs `records`.
    n : int
        Number of reports in a batch. Keep it small: n times ``samples`` reports are drawn twice.
    delta : float
        The delta of the guarantee; large enough to be seen in ``samples`` batches.
    records : tuple (first, second, others), optional
        The two records of the victim, and the one that all others hold. For randomized response
        they are colors, by default 0, 1 and 2 (1 if there are only two).
    shuffler : callable, optional
        The shuffler to audit: ``shuffler(batches, rng)`` receives reports of shape
        (samples, n, columns), the victim's first, and returns each batch in the order in which the
        analyst sees it. None shuffles at random.
    samples : int, default=50_000
        Number of batches for each of the victim's two records, at least 100.
    confidence : float, default=0.999
        Probability that the bound is true.
    random_state : int, optional
        Seed of the reports and of the order.

    Returns
    -------
    audit : ShuffledAudit
        The bound, the guarantee, and the exact epsilon if it can be enumerated.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    A "shuffler" that passes reports on as they come is found out:

    >>> from shoal.audit import audit_shuffled
    >>> audit = audit_shuffled(
    ...     (2.0, 4), n=10, delta=0.01, shuffler=lambda batches, rng: batches, random_state=0
    ... )
    >>> audit.exceeds()
    True
    """
    check_parameters(samples=samples, delta=delta, confidence=confidence, score=None)
    n = _numbers.count("n", n)
    rng = np.random.default_rng(_numbers.seed("random_state", random_state))
    model: _Response | _Mechanism
    if isinstance(mechanism, tuple):
        model = _Response.of(mechanism, records, rng)
    else:
        model = _Mechanism(mechanism, records, random_state)
    claim = amplify(model.guarantee, n, delta, n_colors=model.n_colors)
    first, second = (
        _evidence(model, _seen(model.batches(victim, n, samples), shuffler, rng))
        for victim in (0, 1)
    )
    half = samples // 2
    measured = bound_event(
        [Score(_NAMES, lambda outputs: outputs)],
        (first[:half], second[:half]),
        (first[half:], second[half:]),
        delta=claim.delta,
        confidence=confidence,
    )
    exact = None
    if isinstance(model, _Response) and n <= MAX_EXACT:
        exact = _exact_epsilon(model, n, delta)
    return ShuffledAudit(replace(measured.result, claimed=claim.epsilon), claim, exact)


_NAMES = tuple(
    f"log-likelihood ratio of the {part}" for part in ("batch", "first report", "last report")
)


class _Response:
    """Randomized response of g colors, in floats: what is audited is the batch."""

    def __init__(
        self, epsilon: float, n_colors: int, colors: tuple[int, int, int], rng: np.random.Generator
    ) -> None:
        self.n_colors = n_colors
        self.guarantee = Guarantee("local", epsilon)
        self.colors = colors
        self.keep = float(np.expm1(epsilon) / (np.expm1(epsilon) + n_colors))
        self._rng = rng

    @classmethod
    def of(
        cls,
        parameters: tuple[Any, ...],
        colors: tuple[Any, Any, Any] | None,
        rng: np.random.Generator,
    ) -> "_Response":
        if len(parameters) != 2:
            raise ParameterError(
                f"mechanism must be a mechanism or (epsilon, n_colors), got {parameters!r}"
            )
        epsilon = _numbers.positive("epsilon", parameters[0])
        n_colors = _numbers.count("n_colors", parameters[1])
        if colors is None:
            colors = (0, 1, min(2, n_colors - 1))
        if len(colors) != 3 or not all(color in range(n_colors) for color in colors):
            raise ParameterError(f"records must be three colors below {n_colors}, got {colors!r}")
        return cls(epsilon, n_colors, colors, rng)

    def batches(self, victim: int, n: int, samples: int) -> Floats:
        true = np.full((samples, n, 1), self.colors[2])
        true[:, 0] = self.colors[victim]
        drawn = self._rng.integers(self.n_colors, size=true.shape)
        kept = self._rng.random(true.shape) < self.keep
        return np.where(kept, true, drawn).astype(np.float64)

    def log_masses(self, reports: Floats, record: int) -> Floats:
        """Return log-probabilities (samples, n), up to a constant."""
        same = reports[:, :, 0] == self.colors[record]
        return np.where(same, self.guarantee.epsilon, 0.0)


class _Mechanism:
    """A local mechanism of shoal, without its ledger."""

    def __init__(
        self, mechanism: Any, records: tuple[Any, Any, Any] | None, random_state: int | None
    ) -> None:
        if not (hasattr(mechanism, "transform") and hasattr(mechanism, "log_density")):
            raise ParameterError(
                "mechanism must be (epsilon, n_colors), or have transform and log_density, "
                f"got {type(mechanism).__name__}"
            )
        if records is None or len(records) != 3:
            raise ParameterError(
                "records must be the victim's two records and that of all others, got "
                f"{'None' if records is None else len(records)}"
            )
        self._records = np.stack([as_vector(record, name="records") for record in records])
        self._model = detached(mechanism, seed=random_state).fit(self._records)
        self.guarantee: Guarantee = self._model.guarantee_
        # Colors of anything else are no proof of a randomized response.
        response = isinstance(self._model, PartitionChannel)
        self.n_colors: int | None = self._model.n_colors if response else None

    def batches(self, victim: int, n: int, samples: int) -> Floats:
        rows = np.broadcast_to(self._records[2], (samples, n, self._records.shape[1])).copy()
        rows[:, 0] = self._records[victim]
        reports = self._model.transform(rows.reshape(samples * n, -1))
        return np.asarray(reports, dtype=np.float64).reshape(samples, n, -1)

    def log_masses(self, reports: Floats, record: int) -> Floats:
        """Return log-densities (samples, n)."""
        samples, n, columns = reports.shape
        flat = reports.reshape(samples * n, columns)
        densities = np.asarray(self._model.log_density(flat, self._records[record]))
        totals: Floats = densities.reshape(samples, n, -1).sum(axis=2)
        return totals


def _seen(batches: Floats, shuffler: Shuffler | None, rng: np.random.Generator) -> Floats:
    if shuffler is None:
        order = rng.permuted(np.tile(np.arange(batches.shape[1]), (len(batches), 1)), axis=1)
        return np.take_along_axis(batches, order[:, :, None], axis=1)
    seen = np.asarray(shuffler(batches, rng), dtype=np.float64)
    if seen.ndim != 3 or len(seen) != len(batches) or seen.shape[2] != batches.shape[2]:
        raise ParameterError(
            f"shuffler must give batches of shape {(len(batches), 'm', batches.shape[2])}, got "
            f"{seen.shape}"
        )
    return seen


def _evidence(model: _Response | _Mechanism, seen: Floats) -> Floats:
    """Return the log-likelihood ratio of each batch, and of its first and its last report."""
    first, second, other = (model.log_masses(seen, record) for record in range(3))
    single = first - second
    batch = logsumexp(first - other, axis=1) - logsumexp(second - other, axis=1)
    return np.column_stack([batch, single[:, 0], single[:, -1]])


def _exact_epsilon(model: _Response, n: int, delta: float) -> float:
    """Return the least epsilon of these inputs at this delta, over all histograms."""
    epsilon, colors = model.guarantee.epsilon, sorted(set(model.colors))
    rest = model.n_colors - len(colors)
    weights = [[np.exp(epsilon) if color == own else 1.0 for color in colors] for own in colors]
    table = np.array([[*row, float(rest)] for row in weights])
    table /= np.exp(epsilon) + model.n_colors - 1
    first, second, other = (table[colors.index(color)] for color in model.colors)
    axes = [np.arange(n + 1)] * len(colors)
    counts = np.stack([*np.meshgrid(*axes, indexing="ij")])
    left = n - 1 - counts.sum(axis=0)
    every = np.concatenate([counts, left[None]])
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = every * np.log(other).reshape(-1, *[1] * len(colors))
        logs = np.where(every == 0, 0.0, logs).sum(axis=0)
    logs = logs + gammaln(n) - gammaln(np.maximum(every, 0) + 1.0).sum(axis=0)
    beside = np.where(left >= 0, np.exp(logs), 0.0)
    p, q = (_with_victim(beside, victim) for victim in (first, second))
    return max(_least_epsilon(p, q, delta), _least_epsilon(q, p, delta))


def _with_victim(beside: Floats, masses: Floats) -> Floats:
    """Return the probabilities of histograms with one more report, from those without it."""
    total: Floats = masses[-1] * beside
    for axis, mass in enumerate(masses[:-1]):
        total = total + mass * np.roll(beside, 1, axis=axis)  # never wraps: there are n reports
    return total


def _least_epsilon(likely: Floats, unlikely: Floats, delta: float) -> float:
    """Return the epsilon at which the hockey-stick divergence of two distributions is delta."""
    with np.errstate(divide="ignore", invalid="ignore"):
        top = float(np.nanmax(np.log(likely / unlikely)))
    low, high = 0.0, max(top, 0.0)
    for _ in range(60):
        middle = (low + high) / 2
        reached = float(np.maximum(likely - np.exp(middle) * unlikely, 0.0).sum())
        low, high = (low, middle) if reached <= delta else (middle, high)
    return high
