"""Audit of a local mechanism: search for the two records that their reports separate best.

A search with few reports of each pair covers corners, borders and the middle of the public box, and
for metric privacy several distances and directions; fresh reports of the worst pair give the bound
(:func:`shoal.audit.epsilon_lower_bound`). The search never sees those, so the bound has the
confidence it states, however many pairs were tried.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from shoal import _numbers
from shoal._bounds import Box, bounded_columns, public_box
from shoal._build import detached
from shoal.audit.bounds._measure import Measured, measure
from shoal.audit.bounds.lower_bounds import check_parameters, per_distance
from shoal.audit.bounds.result import AuditResult, Evidence
from shoal.audit.record_pairs import LEVELS, Lattice, RecordPair, local_pairs, metric_pairs
from shoal.exceptions import ParameterError
from shoal.privacy import Guarantee

__all__ = ["MechanismAudit", "audit_mechanism"]


@dataclass(frozen=True, eq=False)
class MechanismAudit:
    """A lower bound on the epsilon of a mechanism, from its worst pair of records.

    It prints as three sentences.

    Parameters
    ----------
    result : AuditResult
        The bound from the worst pair, per unit of distance for a metric mechanism.
    pair : RecordPair
        The two records whose reports differ most.
    evidence : Evidence
        The scores behind the bound, for a chart.
    searched : mapping of str to AuditResult
        The bound of each pair in the search, by its name, with the distance for a metric mechanism.
        The confidence of each is about this pair alone; the largest of them is less certain.
    notion : str
        Notion of the guarantee: ``"metric"`` or ``"local"``.

    Examples
    --------
    >>> from shoal.audit import audit_mechanism
    >>> from shoal.mechanisms import Duchi
    >>> mechanism = Duchi(2.0, bounds=(-1.0, 1.0))
    >>> audit = audit_mechanism(mechanism, samples=20_000, search_samples=1_000, random_state=0)
    >>> audit.notion, audit.claimed, audit.exceeds(), audit.epsilon > 1.5
    ('local', 2.0, False, True)
    """

    result: AuditResult
    pair: RecordPair
    evidence: Evidence
    searched: Mapping[str, AuditResult]
    notion: str

    def __post_init__(self) -> None:
        """Freeze what was searched."""
        object.__setattr__(self, "searched", MappingProxyType(dict(self.searched)))

    @property
    def epsilon(self) -> float:
        """The lower bound on epsilon."""
        return self.result.epsilon

    @property
    def claimed(self) -> float | None:
        """Epsilon that the mechanism claims, in the unit of the bound; None if it claims none."""
        return self.result.claimed

    @property
    def confidence(self) -> float:
        """Probability that the bound is true."""
        return self.result.confidence

    @property
    def worst(self) -> str:
        """Name of the worst pair."""
        return self.pair.name

    @property
    def curve(self) -> list[tuple[float, float]]:
        """Largest bound of the search at each distance, in order; for metric mechanisms only."""
        largest: dict[float, float] = {}
        for result in self.searched.values():
            if result.distance is not None:
                # Lattice points: the same distance may differ in its last bits.
                distance = float(f"{result.distance:.3g}")
                largest[distance] = max(result.epsilon, largest.get(distance, 0.0))
        return sorted(largest.items())

    def exceeds(self, claimed: float | None = None) -> bool:
        """Return whether the bound is above a claim, as :meth:`AuditResult.exceeds` does."""
        return self.result.exceeds(claimed)

    def __str__(self) -> str:
        broken = self.claimed is not None and self.exceeds()
        verdict = ": more than claimed" if broken else ""
        return "\n".join(
            [
                f"{self.result}{verdict}",
                f"{self.pair.name} ({self.result.event})",
                f"found among {len(self.searched)} pairs with fewer reports of each",
            ]
        )

    def __reduce__(self) -> tuple[type["MechanismAudit"], tuple[object, ...]]:
        # The read-only view cannot be pickled itself.
        return type(self), (
            self.result,
            self.pair,
            self.evidence,
            dict(self.searched),
            self.notion,
        )


SECOND_ROUND = 8  # Pairs that are looked at again ...
SECOND_SAMPLES = 4  # ... with so many times the reports.
MADE_UP = 1_000  # Records that a mechanism which learns from reports is fitted to.

Progress = Callable[[int, int], None]


def audit_mechanism(
    mechanism: Any,
    *,
    columns: int | None = None,
    bounds: Any = None,
    claim: Guarantee | None = None,
    samples: int = 400_000,
    search_samples: int = 10_000,
    confidence: float = 0.999,
    distances: Sequence[float] | None = None,
    progress: Progress | None = None,
    random_state: int | None = None,
) -> MechanismAudit:
    """Return a statistical lower bound on the epsilon of a local or metric mechanism.

    It searches for the two records whose reports differ most. A bound above the claimed epsilon
    shows that the claim is wrong; one below it proves nothing. A ledger of the mechanism is not
    charged.

    Parameters
    ----------
    mechanism : object with ``transform`` or callable
        A mechanism such as :class:`shoal.mechanisms.Laplace` or
        :class:`shoal.mechanisms.KdLaplace`; one with ``fit`` is cloned and fitted to synthetic
        records. Or a callable ``f(record, n)`` that returns n independent reports; it needs
        `bounds` and `claim`.
    columns : int, optional
        Number of columns; by default as many as the bounds have, or two.
    bounds : tuple (low, high), optional
        Public bounds of the records to try; by default those of the mechanism.
    claim : Guarantee, optional
        The claimed guarantee, if it is not ``mechanism.guarantee_``; metric or local.
    samples : int, default=400_000
        Number of reports that are counted for each of the two records, at least 100.
    search_samples : int, default=10_000
        Number of reports of each record in the search, at least 100; the eight pairs that differ
        most get four times as many new ones.
    confidence : float, default=0.999
        Probability that the bound is true.
    distances : sequence of float, optional
        Distances between records to try for a metric mechanism; by default those at which epsilon
        times distance is 0.25, 1, 2 and 3. Two neighboring lattice points and opposite ends of the
        bounds are always tried.
    progress : callable, optional
        Called as ``progress(done, total)`` with the numbers of reports.
    random_state : int, optional
        Seed of the mechanism. None uses secure randomness, as devices do.

    Returns
    -------
    audit : MechanismAudit
        The bound, the two records, the event that it comes from, and the bounds of the search.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or no local or metric guarantee is claimed.

    Examples
    --------
    >>> from shoal.audit import audit_mechanism
    >>> from shoal.mechanisms import PlanarLaplace
    >>> mechanism = PlanarLaplace(2.0, bounds=(-1.0, 1.0))
    >>> audit = audit_mechanism(mechanism, samples=50_000, search_samples=1_000, random_state=0)
    >>> audit.claimed, audit.exceeds(), audit.epsilon > 1.6
    (2.0, False, True)
    """
    for number in (samples, search_samples):
        check_parameters(samples=number, delta=0.0, confidence=confidence, score=None)
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress must be a callable or None, got {progress!r}")
    own = getattr(mechanism, "bounds", None)
    searched_bounds = own if bounds is None else bounds
    if columns is None:
        columns = 2 if searched_bounds is None else bounded_columns(searched_bounds, default=2)
    box = public_box(searched_bounds, _numbers.count("columns", columns))
    model = _prepared(mechanism, box, random_state)
    promised = _promised(model, claim)
    pairs = _pairs(model, box, promised, distances)
    rounds = [(len(pairs), search_samples), (SECOND_ROUND, SECOND_SAMPLES * search_samples)]
    total = 2 * (samples + sum(min(left, len(pairs)) * reports for left, reports in rounds))
    reports_of = _Reports(model, promised, confidence, progress=progress, total=total)
    searched: dict[str, AuditResult] = {}
    best = pairs
    for left, reports in rounds:
        searched |= {pair.name: reports_of(pair, reports).result for pair in best[:left]}
        # Stable: of equal bounds the first, so that the search can be repeated.
        best = sorted(best[:left], key=lambda pair: -searched[pair.name].epsilon)
    result, evidence = reports_of(best[0], samples)
    return MechanismAudit(result, best[0], evidence, searched, promised.notion)


class _Reports:
    """Compares reports of two records, and counts how many were drawn."""

    def __init__(
        self,
        model: Any,
        promised: Guarantee,
        confidence: float,
        *,
        progress: Progress | None,
        total: int,
    ) -> None:
        self._model = model
        self._promised = promised
        self._confidence = confidence
        self._progress = progress
        self._total = total
        self._done = 0

    def __call__(self, pair: RecordPair, samples: int) -> Measured:
        result, evidence = measure(
            self._model,
            pair.first,
            pair.second,
            samples=samples,
            delta=self._promised.delta,
            confidence=self._confidence,
        )
        if self._promised.notion == "metric":
            result = per_distance(result, pair.distance, slack=self._promised.slack)
        self._done += 2 * samples
        if self._progress is not None:
            self._progress(self._done, self._total)
        return Measured(replace(result, claimed=self._promised.epsilon), evidence)


def _prepared(mechanism: Any, box: Box, random_state: int | None) -> Any:
    """Clone a mechanism without its ledger, seed it, and fit it where it must be."""
    if not hasattr(mechanism, "transform"):
        if random_state is not None:
            raise ParameterError(
                "random_state must be None for a mechanism without random_state, "
                f"got {random_state!r}"
            )
        return mechanism
    if not (hasattr(mechanism, "get_params") and hasattr(mechanism, "fit")):
        return mechanism
    model = detached(mechanism, seed=random_state)
    # Evenly on the diagonal: remaps learn from the reports of all of them.
    positions = np.linspace(0.0, 1.0, MADE_UP)[:, None]
    return model.fit(box.low + positions * (box.high - box.low))


def _promised(model: Any, claim: Guarantee | None) -> Guarantee:
    guarantee = getattr(model, "guarantee_", None) if claim is None else claim
    if not isinstance(guarantee, Guarantee) or guarantee.notion not in ("metric", "local"):
        raise ParameterError(
            "a mechanism must promise metric or local privacy to be audited, got another promise "
            "or none",
            parameter="claim",
            code="missing",
            in_python="pass claim=Guarantee('metric', epsilon=...) or Guarantee('local', ...)",
        )
    return guarantee


def _pairs(
    model: Any, box: Box, promised: Guarantee, distances: Sequence[float] | None
) -> list[RecordPair]:
    if promised.notion == "local":
        if distances is not None:
            raise ParameterError(
                "distances must be None for a local promise, which is about any two records, "
                f"got {distances!r}"
            )
        return local_pairs(box)
    if distances is None:
        distances = [level / promised.epsilon for level in LEVELS]
    checked = [_numbers.positive("distances", distance) for distance in distances]
    return metric_pairs(box, checked, lattice=_lattice(model, box.low.size))


def _lattice(model: Any, columns: int) -> Lattice | None:
    """Find the lattice that a metric mechanism rounds records to, or the one inside a remap has."""
    holder = model if hasattr(model, "lattice") else getattr(model, "mechanism_", None)
    if holder is None or not hasattr(holder, "lattice"):
        return None
    lattice = holder.lattice(columns)
    return Lattice(lambda records: lattice.decode(lattice.encode(records)), float(lattice.step[0]))
