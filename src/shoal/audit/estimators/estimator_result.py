"""What the audit of an estimator found: on the pairs it counted, and on those it searched."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from shoal.audit.bounds.evidence import Evidence
from shoal.audit.bounds.result import AuditResult
from shoal.audit.estimators.neighbors import Neighbors
from shoal.exceptions import ParameterError

__all__ = ["EstimatorAudit"]

SHOWN = 3  # Pairs of the search that the text names.


@dataclass(frozen=True, eq=False)
class EstimatorAudit:
    """Lower bounds of epsilon on one or more pairs of tables; prints as a sentence for each.

    Parameters
    ----------
    results : mapping of str to AuditResult
        What was found on each pair that was counted, by its name. Each has the confidence of its
        pair alone.
    confidence : float
        Probability with which all bounds are true together.
    delta : float
        The delta of the claim, taken off before each bound.
    claimed : float or None
        Epsilon the estimator claims in its guarantee; None where it claims none.
    searched : mapping of str to float
        Estimates of epsilon on every pair among which the worst was searched for, by its name. They
        come from few fits and have no confidence; empty where nothing was searched.
    pair : Neighbors or None
        The worst pair.
    evidence : Evidence or None
        The numbers behind its bound, for a picture.

    Examples
    --------
    >>> from shoal.audit import Frequency
    >>> often = Frequency(value=0.5, low=0.48, high=0.52)
    >>> seldom = Frequency(value=0.1, low=0.08, high=0.12)
    >>> found = AuditResult(1.386, 0.9995, 10_000, "total size >= 1", often, seldom)
    >>> nothing = AuditResult(0.0, 0.9995, 10_000, "total size >= 1", often, often)
    >>> pairs = {"corner": found, "empty cell": nothing}
    >>> audit = EstimatorAudit(pairs, confidence=0.999, delta=0.0, claimed=1.0)
    >>> audit.epsilon, audit.worst, audit.exceeds()
    (1.386, 'corner', True)
    >>> print(audit)
    at 99.9% confidence for all pairs together (claimed: epsilon 1, delta 0)
    corner: epsilon is at least 1.386, more than claimed (total size >= 1)
    empty cell: epsilon is at least 0 (total size >= 1)
    """

    results: Mapping[str, AuditResult]
    confidence: float
    delta: float = 0.0
    claimed: float | None = None
    searched: Mapping[str, float] = field(default_factory=dict)
    pair: Neighbors | None = None
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        """Refuse an audit of nothing, and freeze what was found."""
        if not self.results:
            raise ParameterError("results must hold at least one pair, got none")
        for name in ("results", "searched"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def worst(self) -> str:
        """Name of the pair with the largest bound."""
        return max(self.results, key=lambda name: self.results[name].epsilon)

    @property
    def epsilon(self) -> float:
        """The largest of the bounds, which is a bound of the estimator's epsilon."""
        return self.results[self.worst].epsilon

    def exceeds(self, claimed: float | None = None) -> bool:
        """Return whether the bound is above a claim, as :meth:`AuditResult.exceeds` does."""
        return self.results[self.worst].exceeds(self.claimed if claimed is None else claimed)

    def __str__(self) -> str:
        claim = "nothing claimed"
        if self.claimed is not None:
            claim = f"claimed: epsilon {self.claimed:.4g}, delta {self.delta:.4g}"
        together = " for all pairs together" if len(self.results) > 1 else ""
        lines = [f"at {100 * self.confidence:.10g}% confidence{together} ({claim})"]
        for name, result in self.results.items():
            broken = self.claimed is not None and result.exceeds(self.claimed)
            verdict = ", more than claimed" if broken else ""
            lines.append(
                f"{name}: epsilon is at least {result.epsilon:.4g}{verdict} ({result.event})"
            )
        if self.searched:
            looked = sorted(self.searched, key=lambda name: -self.searched[name])[:SHOWN]
            shown = "; ".join(f"{name} (about {self.searched[name]:.2g})" for name in looked)
            lines.append(
                f"found among {len(self.searched)} pairs with few fits on each; these showed most: "
                f"{shown}"
            )
        return "\n".join(lines)

    def __reduce__(self) -> tuple[type["EstimatorAudit"], tuple[object, ...]]:
        # The read-only views cannot be pickled themselves.
        return type(self), (
            dict(self.results),
            self.confidence,
            self.delta,
            self.claimed,
            dict(self.searched),
            self.pair,
            self.evidence,
        )
