"""Record a fit, and replay it on a neighboring table with the same noisy values.

A private estimator may know the records through its noisy values alone. So fit it on a table and
record every release (:func:`shoal.noise.privatize`); then fit it on the table with one record
more, and release the same values whatever its exact ones are. If it keeps its promise,

* it makes the same releases with the same noise: neither the control flow nor the noise depends on
  the records;
* each exact value differs by no more than its noise covers at the declared cost, and all costs add
  up to no more than the promise;
* what is published is the same, bit for bit, and so are the guarantee, the ledger's entries and
  warnings;
* the ledger is charged what is promised, before the first release.

No confidence is involved: one replay shows a broken promise with certainty, where sampling would
need a number of fits that grows as e^epsilon (proofs/replay.md). What it cannot see is a sampler
that draws from another distribution than it declares, or noise that does not pass
:func:`shoal.noise.privatize`: sampling audits see those.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
from sklearn.base import clone

from shoal import _numbers
from shoal._numbers import rounded_up
from shoal.audit._recorder import Recording, Step, record
from shoal.audit.estimators._releases import leaves, released
from shoal.audit.estimators.neighbors import Neighbors, check_pairs, default_pairs
from shoal.exceptions import ParameterError
from shoal.noise import ApproximateNoise, PrivacyMeasure
from shoal.privacy import Composed, Ledger, cost, epsilon_to_gdp, gdp_to_epsilon, pure_to_gdp
from shoal.privacy.conversions import zcdp_to_epsilon

__all__ = ["ReplayAudit", "ReplayedPair", "ReplayedRelease", "replay_estimator"]


@dataclass(frozen=True)
class ReplayedRelease:
    """One noisy release within a fit: its declared cost and its measured privacy loss.

    Parameters
    ----------
    noise : str
        Name and scale of the noise.
    declared : float
        Privacy loss of one record that the estimator declares for this release.
    loss : float
        Privacy loss between the two tables, in the same privacy measure: at most the declared one,
        if the declared sensitivity is right.
    part : str, default=""
        Name of the part of the table, if the release is about one of several disjoint parts.

    Examples
    --------
    >>> from shoal.audit import ReplayedRelease
    >>> release = ReplayedRelease("discrete Laplace noise, scale 2", declared=0.5, loss=0.5)
    >>> release.loss <= release.declared
    True
    """

    noise: str
    declared: float
    loss: float
    part: str = ""


@dataclass(frozen=True)
class ReplayedPair:
    """The fits of two neighboring tables, replayed with the same noisy values.

    Parameters
    ----------
    releases : tuple of ReplayedRelease
        The releases in order; of several replays, those of the one with the largest loss.
    findings : tuple of str
        What breaks the guarantee, one sentence each; empty if nothing does.

    Examples
    --------
    >>> from shoal.audit import ReplayedPair, ReplayedRelease
    >>> release = ReplayedRelease("discrete Laplace noise, scale 1", declared=1.0, loss=2.0)
    >>> pair = ReplayedPair((release,), ("release 1 costs 2, declared 1",))
    >>> len(pair.findings)
    1
    """

    releases: tuple[ReplayedRelease, ...]
    findings: tuple[str, ...]

    @property
    def loss(self) -> float:
        """Total privacy loss of all releases between the two tables."""
        return math.fsum(release.loss for release in self.releases)


@dataclass(frozen=True, eq=False)
class ReplayAudit:
    """The result of replaying an estimator on pairs of tables; prints as a few lines.

    Parameters
    ----------
    pairs : mapping of str to ReplayedPair
        The replays of each pair, by its name; at least one.
    claimed : float or None
        Epsilon of the guarantee; None if there is none.
    delta : float
        Delta of the guarantee.
    budget : float or None
        The guarantee in the privacy measure of the releases: epsilon, or the mu^2 that
        (epsilon, delta) allows.
    privacy_measure : {"epsilon", "mu^2"}
        The privacy measure of the releases.

    Examples
    --------
    >>> release = ReplayedRelease("discrete Laplace noise, scale 1", declared=0.5, loss=1.0)
    >>> finding = f"release 1 costs 1, declared 0.5 ({release.noise})"
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
        """Name of the pair whose releases have the largest loss."""
        return max(self.pairs, key=lambda name: self.pairs[name].loss)

    @property
    def loss(self) -> float:
        """Largest total privacy loss of a record, in the audit's privacy measure."""
        return self.pairs[self.worst].loss

    @property
    def findings(self) -> tuple[str, ...]:
        """All findings, each with the name of its pair."""
        return tuple(
            f"{name}: {finding}" for name, pair in self.pairs.items() for finding in pair.findings
        )

    @property
    def broken(self) -> bool:
        """Return whether anything was found that breaks the guarantee."""
        return bool(self.findings)

    def __str__(self) -> str:
        count = len(self.pairs)
        claim = "nothing claimed" if self.budget is None else f"{self.budget:.4g} claimed"
        number = len(self.findings)
        head = (
            f"replayed on {count} pair{'s' * (count > 1)}: one record costs up to "
            f"{self.privacy_measure} {self.loss:.4g} of {claim}; "
            + (f"{number} finding{'s' * (number > 1)}" if number else "nothing found")
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


SLACK = 1e-9  # sums of costs are rounded; a broken promise is broken by far more


def replay_estimator(
    estimator: Any,
    pairs: Iterable[Neighbors] | None = None,
    *,
    repeats: int = 5,
    claimed: float | None = None,
    delta: float = 0.0,
    published: Callable[[Any], Any] | None = None,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ReplayAudit:
    """Look for broken guarantees by replaying fits of a central estimator on neighboring tables.

    The estimator is fitted on a table, and then on one with one record more, where every release
    returns the same noisy values as before. All that still differs comes from the record, and the
    privacy loss of each release is known exactly: no confidence is involved. Like
    :func:`shoal.audit.audit_estimator`, it is for synthetic records only, and charges no ledger.

    Parameters
    ----------
    estimator : estimator
        An estimator with ``fit``, ``guarantee_`` and ``random_state`` that adds its noise through
        :func:`shoal.noise.privatize`. It is cloned and not changed.
    pairs : iterable of Neighbors, optional
        Pairs of neighboring tables; by default as in :func:`shoal.audit.audit_estimator`.
    repeats : int, default=5
        Number of replays of each pair, each with new noise.
    claimed : float, optional
        The epsilon to check; by default that of the estimator's guarantee.
    delta : float, default=0.0
        The delta that goes with `claimed`.
    published : callable, optional
        Function that returns what leaves the curator of a fitted estimator; by default
        ``release_.values``.
    random_state : int, default=0
        Seed of the fits.
    progress : callable, optional
        Called as ``progress(done, total)`` with the numbers of pairs.

    Returns
    -------
    audit : ReplayAudit
        The privacy loss of one record in each release, and what was found to be wrong.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> from shoal.audit import Neighbors, replay_estimator
    >>> from shoal.cluster import DPKMeans
    >>> model = DPKMeans(2, epsilon=1.0, bounds=(-1.0, 1.0), method="lloyd", n_public=2)
    >>> pair = Neighbors("corner", records=[[-1.0], [0.0]], added=[1.0])
    >>> print(replay_estimator(model, [pair]))
    replayed on 1 pair: one record costs up to epsilon 1 of 1 claimed; nothing found
    """
    _numbers.count("repeats", repeats)
    if not hasattr(estimator, "get_params") or "random_state" not in estimator.get_params():
        raise ParameterError(
            f"estimator must have a random_state to be replayed, got {type(estimator).__name__}"
        )
    chosen = default_pairs(estimator) if pairs is None else check_pairs(pairs)
    replay = _Replay(estimator, claimed, delta, published or released)
    replayed = {}
    for index, pair in enumerate(chosen):
        seeds = [
            int(np.random.SeedSequence([random_state, index, turn]).generate_state(1)[0])
            for turn in range(repeats)
        ]
        replayed[pair.name] = replay.pair(pair, seeds)
        if progress is not None:
            progress(index + 1, len(chosen))
    return ReplayAudit(
        replayed, replay.claimed, replay.delta, replay.budget, replay.privacy_measure
    )


class _Replay:
    """The promise that an estimator is held to, and the check of one pair."""

    def __init__(
        self,
        estimator: Any,
        claimed: float | None,
        delta: float,
        published: Callable[[Any], Any],
    ) -> None:
        self._estimator = estimator
        self._published = published
        self._own = claimed is None
        self.claimed = None if claimed is None else _numbers.positive("claimed", claimed)
        self.delta = _numbers.probability("delta", delta)
        self.privacy_measure: PrivacyMeasure = "epsilon"
        self.budget = self.claimed

    def pair(self, pair: Neighbors, seeds: list[int]) -> ReplayedPair:
        """Replay a pair with each seed, and keep the one with the largest loss."""
        worst: ReplayedPair | None = None
        findings: dict[str, None] = {}
        for seed in seeds:
            first = self._record(pair.records, seed)
            second = self._record(pair.with_added, seed, first.recorder.steps)
            self._read_promise(first)
            releases = self._releases(first, second)
            one = ReplayedPair(releases, tuple(self._findings(first, second, releases)))
            findings.update(dict.fromkeys(one.findings))
            if worst is None or one.loss > worst.loss:
                worst = one
        assert worst is not None
        return ReplayedPair(worst.releases, tuple(findings))

    def _record(self, records: Any, seed: int, script: Iterable[Step] = ()) -> Recording:
        def make() -> Any:
            return clone(self._estimator).set_params(random_state=seed)

        delta = max(self.delta, float(getattr(self._estimator, "delta", 0.0)))
        return record(make, records, delta=delta, script=tuple(script))

    def _read_promise(self, fitted: Recording) -> None:
        if self._own:
            guarantee = getattr(fitted.model, "guarantee_", None)
            if guarantee is None or guarantee.notion == "none":
                self.claimed, self.delta = None, 0.0
            elif guarantee.notion == "central":
                self.claimed, self.delta = float(guarantee.epsilon), float(guarantee.delta)
            else:
                raise ParameterError(
                    f"estimator must promise central privacy, got {guarantee.notion}",
                    parameter="estimator",
                    code="unsupported",
                    in_python="audit a mechanism with audit_mechanism",
                )
        measures = {step.noise.privacy_measure for step in fitted.recorder.steps}
        known = get_args(PrivacyMeasure)
        if unknown := measures.difference(known):
            raise ParameterError(
                f"estimator must use noise whose privacy_measure is one of {known}, got "
                f"{min(unknown)!r}: convert its loss to one of them",
                parameter="estimator",
                code="unsupported",
            )
        # Pure noise has a mu, but Gaussian noise has no finite epsilon without a delta.
        self.privacy_measure = "mu^2" if "mu^2" in measures else "epsilon"
        self.budget = self.claimed
        if self.privacy_measure == "mu^2" and self.claimed is not None:
            left = self.delta - _failures(fitted)
            self.budget = epsilon_to_gdp(self.claimed, left) ** 2 if left > 0 else 0.0

    def _findings(
        self, first: Recording, second: Recording, releases: tuple[ReplayedRelease, ...]
    ) -> Iterable[str]:
        one, two = first.recorder.steps, second.recorder.steps
        if not one:
            yield "nothing passed privatize: values were released without its noise"
        if len(one) != len(two):
            yield (
                f"{len(one)} releases, but {len(two)} with one record more: what is released "
                "depends on the records"
            )
        for index, (a, b) in enumerate(zip(one, two, strict=False), start=1):
            if a.noise != b.noise:
                yield (
                    f"release {index} has other noise with one record more: the noise depends on "
                    f"the records ({a.noise}, {b.noise})"
                )
            elif b.cost != a.cost:
                yield (
                    f"release {index} is declared to cost {a.cost:.4g}, and {b.cost:.4g} with one "
                    "record more"
                )
            elif (loss := _loss(a, b)) > a.cost * (1 + SLACK):
                yield f"release {index} costs {loss:.4g}, declared {a.cost:.4g} ({a.noise})"
        yield from self._sums(releases)
        if self.claimed is not None and (failures := _failures(first)) > self.delta * (1 + SLACK):
            yield (
                f"all releases may fail with probability {rounded_up(failures, 4)}, claimed delta "
                f"{rounded_up(self.delta, 4)}"
            )
        yield from self._charges(first)
        yield from self._published_differences(first, second)

    def _releases(self, first: Recording, second: Recording) -> tuple[ReplayedRelease, ...]:
        # A release that only one of the fits makes is a finding of its own.
        steps = zip(first.recorder.steps, second.recorder.steps, strict=False)
        return tuple(
            ReplayedRelease(
                noise=str(a.noise),
                declared=self._price(a.cost, a.noise.privacy_measure),
                loss=self._price(_loss(a, b), a.noise.privacy_measure),
                part=a.part,
            )
            for a, b in steps
        )

    def _price(self, amount: float, privacy_measure: PrivacyMeasure) -> float:
        """Convert to the audit's privacy measure."""
        if privacy_measure == self.privacy_measure or not 0 < amount < math.inf:
            return amount
        return pure_to_gdp(amount) ** 2

    def _sums(self, releases: tuple[ReplayedRelease, ...]) -> Iterable[str]:
        if self.budget is None:
            return
        for what, total in (
            ("cost", math.fsum(release.loss for release in releases)),
            ("are declared to cost", _declared(releases)),
        ):
            if total > self.budget * (1 + SLACK):
                measure = self.privacy_measure
                yield f"all releases {what} {measure} {total:.4g}, claimed {self.budget:.4g}"

    def _charges(self, fitted: Recording) -> Iterable[str]:
        if fitted.ledger is None or not self._own or self.claimed is None:
            return
        if len(fitted.ledger) == 0:
            yield "the ledger was not charged"
            return
        if fitted.recorder.releases_before_first_spend:
            yield "noise was drawn before the ledger was charged"
        charged, failures = _charged(fitted.ledger)
        if not math.isclose(charged, self.claimed, rel_tol=SLACK):
            paid, promised = rounded_up(charged, 4), rounded_up(self.claimed, 4)
            yield f"the ledger was charged epsilon {paid}, promised {promised}"
        if failures < _failures(fitted) * (1 - SLACK):
            paid, due = rounded_up(failures, 4), rounded_up(_failures(fitted), 4)
            yield f"the ledger was charged delta {paid} for {due}"

    def _published_differences(self, first: Recording, second: Recording) -> Iterable[str]:
        for name, text in first.texts.items():
            if text != second.texts[name]:
                yield f"{name} differs although all noisy values are the same"
        one = dict(leaves("", self._published(first.model)))
        two = dict(leaves("", self._published(second.model)))
        for name in dict.fromkeys([*one, *two]):
            if name not in one or name not in two or one[name].tobytes() != two[name].tobytes():
                yield f"{name} differs although all noisy values are the same"


def _charged(ledger: Ledger) -> tuple[float, float]:
    """Return epsilon and delta of the spends; a fit's schedule does not depend on its noise."""
    price = cost(Composed(events=tuple(entry.event for entry in ledger.entries)))
    if math.isfinite(price.epsilon):
        return price.epsilon, price.delta
    if math.isfinite(price.mu_squared):
        return gdp_to_epsilon(math.sqrt(price.mu_squared), ledger.limits.delta), price.delta
    return zcdp_to_epsilon(price.rho, ledger.limits.delta - price.delta), price.delta


def _failures(fitted: Recording) -> float:
    """Add up the probabilities with which losses may have no bound."""
    noises = (step.noise for step in fitted.recorder.steps)
    return math.fsum(noise.delta for noise in noises if isinstance(noise, ApproximateNoise))


def _declared(releases: Sequence[ReplayedRelease]) -> float:
    """Return what all releases cost one record: of disjoint parts, what the dearest one does."""
    parts: dict[str, list[float]] = {}
    for release in releases:
        parts.setdefault(release.part, []).append(release.declared)
    whole = parts.pop("", [])
    return math.fsum(whole) + max(map(math.fsum, parts.values()), default=0.0)


def _loss(one: Step, two: Step) -> float:
    return one.noise.privacy_loss(one.exact, two.exact) if one.noise == two.noise else math.inf
