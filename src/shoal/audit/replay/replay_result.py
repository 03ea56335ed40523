"""What a replay found."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from shoal.exceptions import ParameterError
from shoal.noise import PrivacyMeasure

__all__ = ["ReplayAudit", "ReplayedPair", "ReplayedRelease"]


@dataclass(frozen=True)
class ReplayedRelease:
    """One release of a fit: what it was meant to cost, and what it told about one record.

    Parameters
    ----------
    law : str
        Law of the noise, with its scale.
    declared : float
        What the estimator says that one record costs here.
    loss : float
        What the release can tell between the two tables: never more than the declared cost, if the
        declared sensitivity is right. Both in the audit's privacy_measure.
    """

    law: str
    declared: float
    loss: float


@dataclass(frozen=True)
class ReplayedPair:
    """Both tables of a pair, fitted with the same noisy values.

    Parameters
    ----------
    releases : tuple of ReplayedRelease
        In their order; of several replays, those that told most.
    findings : tuple of str
        What no promise allows, one sentence each; empty if all is well.
    """

    releases: tuple[ReplayedRelease, ...]
    findings: tuple[str, ...]

    @property
    def loss(self) -> float:
        """What all releases together can tell between the two tables."""
        return math.fsum(release.loss for release in self.releases)


@dataclass(frozen=True, eq=False)
class ReplayAudit:
    """What the replays of an estimator found on all pairs; prints as a few lines.

    Parameters
    ----------
    pairs : mapping of str to ReplayedPair
        By the names of the pairs; at least one.
    claimed : float or None
        Epsilon of the promise; None where nothing is promised.
    delta : float
        Its delta.
    budget : float or None
        The promise in the privacy measure of the releases: epsilon, or the rho of (epsilon, delta).
    privacy_measure : {"epsilon", "rho"}
        That privacy_measure.

    Examples
    --------
    >>> release = ReplayedRelease("discrete Laplace noise, scale 1", declared=0.5, loss=1.0)
    >>> finding = f"release 1 costs 1, declared 0.5 ({release.law})"
    >>> pairs = {"corner": ReplayedPair((release,), (finding,))}
    >>> audit = ReplayAudit(pairs, claimed=1.0, delta=0.0, budget=1.0, privacy_measure="epsilon")
    >>> audit.broken, audit.loss
    (True, 1.0)
    >>> print(audit)
    replayed on 1 pair: one record costs up to epsilon 1 of 1 claimed; 1 finding
    corner: release 1 costs 1, declared 0.5 (discrete Laplace noise, scale 1)
    """

    pairs: Mapping[str, ReplayedPair]
    claimed: float | None
    delta: float
    budget: float | None
    privacy_measure: PrivacyMeasure

    def __post_init__(self) -> None:
        """Refuse a replay of nothing, and freeze the pairs."""
        if not self.pairs:
            raise ParameterError("pairs must hold at least one pair, got none")
        object.__setattr__(self, "pairs", MappingProxyType(dict(self.pairs)))

    @property
    def worst(self) -> str:
        """Name of the pair whose releases told most."""
        return max(self.pairs, key=lambda name: self.pairs[name].loss)

    @property
    def loss(self) -> float:
        """The most that the releases told about a record, in the audit's privacy_measure."""
        return self.pairs[self.worst].loss

    @property
    def findings(self) -> tuple[str, ...]:
        """All findings, with the names of their pairs."""
        return tuple(
            f"{name}: {finding}" for name, pair in self.pairs.items() for finding in pair.findings
        )

    @property
    def broken(self) -> bool:
        """Return whether anything was found that no promise allows."""
        return bool(self.findings)

    def __str__(self) -> str:
        count = len(self.pairs)
        claim = "nothing claimed" if self.budget is None else f"{self.budget:.4g} claimed"
        found = len(self.findings)
        head = (
            f"replayed on {count} pair{'s' * (count > 1)}: one record costs up to "
            f"{self.privacy_measure} {self.loss:.4g} of {claim}; "
            + (f"{found} finding{'s' * (found > 1)}" if found else "nothing found")
        )
        return "\n".join([head, *self.findings])

    def __reduce__(self) -> tuple[type["ReplayAudit"], tuple[object, ...]]:
        # The read-only view of the pairs cannot be pickled itself.
        return type(self), (
            dict(self.pairs),
            self.claimed,
            self.delta,
            self.budget,
            self.privacy_measure,
        )
