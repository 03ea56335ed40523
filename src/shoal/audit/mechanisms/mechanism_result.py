"""What the audit of a local mechanism found."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from shoal.audit.bounds.evidence import Evidence
from shoal.audit.bounds.result import AuditResult
from shoal.audit.mechanisms.record_pair import RecordPair

__all__ = ["MechanismAudit"]


@dataclass(frozen=True, eq=False)
class MechanismAudit:
    """A lower bound of epsilon on the worst two records found; prints as three sentences.

    Parameters
    ----------
    result : AuditResult
        What was found on the worst pair; per unit of distance for a metric mechanism.
    pair : RecordPair
        The worst pair.
    evidence : Evidence
        The numbers behind the bound, for a picture.
    searched : mapping of str to AuditResult
        What the search saw on each pair, by its name, with the distance for a metric mechanism.
        Each bound has its confidence alone, and the best of them has less.
    notion : str
        ``"metric"`` or ``"local"``: what epsilon is about.

    Examples
    --------
    >>> from shoal.audit import audit_mechanism
    >>> from shoal.mechanisms import Duchi
    >>> audit = audit_mechanism(Duchi(2.0, bounds=(-1.0, 1.0)), samples=20_000, random_state=0)
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
        """The bound."""
        return self.result.epsilon

    @property
    def claimed(self) -> float | None:
        """Epsilon the mechanism claims, in the unit of the bound; None where it claims none."""
        return self.result.claimed

    @property
    def confidence(self) -> float:
        """Probability with which the bound is true."""
        return self.result.confidence

    @property
    def worst(self) -> str:
        """Name of the worst pair."""
        return self.pair.name

    @property
    def curve(self) -> list[tuple[float, float]]:
        """The largest bound that the search saw at each distance, in order; metric only."""
        largest: dict[float, float] = {}
        for found in self.searched.values():
            if found.distance is not None:
                # Lattice points: the same distance may differ in its last bits.
                distance = float(f"{found.distance:.3g}")
                largest[distance] = max(found.epsilon, largest.get(distance, 0.0))
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
