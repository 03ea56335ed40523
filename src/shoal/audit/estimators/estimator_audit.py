"""Audit of a central estimator: fit it many times on neighboring tables and compare the releases.

What is compared is the release of a fit, whole: everything in it that varies is a column, and the
event that separates the two tables best is chosen on one half of the fits and counted on the other
(:func:`shoal.audit.epsilon_lower_bound`). The pair of tables is searched for with fits of its own.
Where several pairs are counted, each may be wrong with its part of 1 - confidence, so that the
audit as a whole is wrong with at most that.
"""

import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel

from shoal import _numbers
from shoal._build import detached
from shoal._numbers import rounded_up
from shoal.audit.bounds._measure import Measured
from shoal.audit.bounds.lower_bounds import MIN_SAMPLES, check_parameters
from shoal.audit.bounds.result import AuditResult, Evidence
from shoal.audit.estimators._compare import compare
from shoal.audit.estimators._fits import PIECE, Fits, PieceStore, Progress, Seeds, Wanted, audit_key
from shoal.audit.estimators._halving import SearchResult, find_worst, plan
from shoal.audit.estimators._releases import Statistic, as_tables, released
from shoal.audit.estimators.neighbors import Neighbors, check_pairs, default_pairs
from shoal.exceptions import ParameterError
from shoal.privacy import Adjacency, Guarantee

__all__ = ["EstimatorAudit", "audit_estimator"]

SHOWN = 3  # Pairs of the search that the text names.


@dataclass(frozen=True, eq=False)
class EstimatorAudit:
    """Lower bounds on the epsilon of an estimator, from pairs of tables; prints as sentences.

    Parameters
    ----------
    results : mapping of str to AuditResult
        The bound of each pair that was counted, by the name of the pair; its confidence is about
        this bound alone.
    confidence : float
        Probability that all bounds are true.
    delta : float
        The delta of the claim, which each bound takes into account.
    claimed : float or None
        Epsilon of the estimator's guarantee; None if it has none.
    searched : mapping of str to float
        Rough estimates of epsilon from the search for the worst pair, by the name of the pair. They
        come from few fits and have no confidence; empty without a search.
    pair : Neighbors or None
        The pair with the largest bound.
    evidence : Evidence or None
        The scores behind its bound, for a chart.

    Examples
    --------
    >>> from shoal.audit import Frequency
    >>> often = Frequency(value=0.5, low=0.48, high=0.52)
    >>> seldom = Frequency(value=0.1, low=0.08, high=0.12)
    >>> result = AuditResult(1.386, 0.9995, 10_000, "total size >= 1", often, seldom)
    >>> nothing = AuditResult(0.0, 0.9995, 10_000, "total size >= 1", often, often)
    >>> pairs = {"corner": result, "empty cell": nothing}
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
        """Refuse an audit of nothing, and freeze the results."""
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
        """The largest of the bounds: a lower bound on the estimator's epsilon."""
        return self.results[self.worst].epsilon

    def exceeds(self, claimed: float | None = None) -> bool:
        """Return whether the bound is above a claim, as :meth:`AuditResult.exceeds` does."""
        return self.results[self.worst].exceeds(self.claimed if claimed is None else claimed)

    def __str__(self) -> str:
        claim = "nothing claimed"
        if self.claimed is not None:
            claim = (
                f"claimed: epsilon {rounded_up(self.claimed, 4)}, delta {rounded_up(self.delta, 4)}"
            )
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
            listed = "; ".join(f"{name} (about {self.searched[name]:.2g})" for name in looked)
            lines.append(
                f"found among {len(self.searched)} pairs with few fits on each; these showed most: "
                f"{listed}"
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


MIN_SEARCH_RUNS = 20  # Classifiers are trained crosswise on quarters of half of them.


def audit_estimator(
    estimator: Any,
    pairs: Iterable[Neighbors] | None = None,
    *,
    claim: Guarantee | None = None,
    runs: int = 5_000,
    search: bool = True,
    search_runs: int = 80,
    confidence: float = 0.999,
    statistic: Statistic | None = None,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> EstimatorAudit:
    """Return a statistical lower bound on the epsilon of a central estimator, from many fits.

    The estimator is fitted on pairs of neighboring tables. A search with few fits finds the pair
    whose releases differ most; new fits on this pair give the bound. With the default pairs that is
    6,400 fits for the search and 10,000 for the bound. A bound above the claimed epsilon shows that
    the claim is wrong; one below it proves nothing.

    An audit shows how fits with and without a record differ, and no budget is charged for that: run
    it on synthetic records only. A ledger of the estimator is not charged.

    Parameters
    ----------
    estimator : estimator
        An estimator whose ``fit`` sets ``release_`` and ``guarantee_``, such as
        :class:`shoal.cluster.DPKMeans`. It is cloned and not changed.
    pairs : iterable of Neighbors, optional
        Pairs of neighboring tables. By default those of :func:`neighboring_datasets` within the
        estimator's ``bounds``, with as many columns as these have, or two.
    claim : Guarantee, optional
        The claimed guarantee, if it is not ``guarantee_`` of the fitted estimator; central.
    runs : int, default=5_000
        Number of fits on each table of a pair that is counted, at least 100. The bound cannot
        exceed about ``ln(runs / 15)``.
    search : bool, default=True
        True searches for the worst pair and counts this one alone. False counts every pair, and
        divides 1 - confidence among them.
    search_runs : int, default=80
        Number of fits on each table of each pair in the first round of the search, at least 20. The
        half of the pairs that differ more get as many again; of these, the better half twice as
        many again.
    confidence : float, default=0.999
        Probability that all bounds are true.
    statistic : callable, optional
        ``statistic(release, pair)`` returns a number or a vector for each fit, and events are
        searched for in these alone. By default: all released values, and distances, extremes, sizes
        and sums that do not depend on the order of the centers.
    n_jobs : int, default=1
        Number of processes; -1 takes one for each core. The result does not depend on it when
        `random_state` is given.
    random_state : int, optional
        Seed from which every fit gets another ``random_state``. None lets the estimator use its
        secure randomness, as in real releases.
    progress : callable, optional
        Called as ``progress(done, total)`` with the numbers of fits.
    resume : str or path, optional
        Folder for finished fits. An audit that was stopped continues from there if it is called
        again with the same arguments; `confidence` and `n_jobs` may differ. A `statistic` is
        recognized by its name.

    Returns
    -------
    audit : EstimatorAudit
        The bound, the event that it comes from, the worst pair, and estimates for the others.

    Raises
    ------
    ParameterError
        If a parameter is out of range, the estimator's guarantee is about other neighbors, or the
        folder belongs to another audit.

    Examples
    --------
    >>> from shoal.audit import Neighbors, audit_estimator
    >>> from shoal.cluster import DPKMeans
    >>> model = DPKMeans(1, epsilon=1.0, bounds=(-1.0, 1.0), n_public=1, max_iter=1)
    >>> pairs = [
    ...     Neighbors("corner", records=[[-1.0]], added=[1.0]),
    ...     Neighbors("middle", records=[[-1.0]], added=[0.0]),
    ... ]
    >>> audit = audit_estimator(model, pairs, runs=100, search_runs=20, random_state=0)
    >>> audit.claimed, audit.exceeds()
    (1.0, False)
    >>> sorted(audit.searched)
    ['corner', 'middle']
    """
    check_parameters(samples=MIN_SAMPLES, delta=0.0, confidence=confidence, score=None)
    _check_runs(runs, search, search_runs)
    _check(statistic, random_state, progress)
    model = detached(estimator, seed=random_state)
    chosen = default_pairs(estimator) if pairs is None else check_pairs(pairs)
    rounds = plan(len(chosen), search_runs) if search else []
    counted = 1 if search else len(chosen)
    seeds = _seeds(
        random_state, len(chosen), sum(one.fits for one in rounds), counted=counted, runs=runs
    )
    store = None
    if resume is not None:
        key = audit_key(
            model,
            pairs=[(pair.name, pair.records, pair.added) for pair in chosen],
            runs=(runs, search, search_runs, PIECE),
            statistic=getattr(statistic, "__qualname__", type(statistic).__name__),
            random_state=random_state,
        )
        store = PieceStore(resume, key)
    delta, claimed = _promise(model, chosen[0], seeds.counted[0][0][0], claim)
    search_result = SearchResult(0, {})
    fits = Fits(
        model,
        statistic,
        # Records of the pairs are sent through pipes: joblib would write larger tables to files.
        parallel=Parallel(n_jobs=n_jobs, return_as="generator", max_nbytes=None),
        total=2 * (sum(one.candidates * one.fits for one in rounds) + counted * runs),
        progress=progress,
        store=store,
    )
    if rounds:
        search_result = find_worst(fits, chosen, seeds.search, search_runs=search_runs, delta=delta)
    final = [chosen[search_result.worst]] if search else chosen
    share = (1.0 - confidence) / counted
    measured = _count(fits, final, seeds.counted, delta=delta, confidence=1.0 - share)
    worst = max(measured, key=lambda name: measured[name].result.epsilon)
    return EstimatorAudit(
        {name: replace(one.result, claimed=claimed) for name, one in measured.items()},
        confidence=float(confidence),
        delta=delta,
        claimed=claimed,
        searched=search_result.estimates,
        pair=next(pair for pair in final if pair.name == worst),
        evidence=measured[worst].evidence,
    )


class _Promise(NamedTuple):
    """What a fitted estimator claims; an epsilon of None is no claim."""

    delta: float
    epsilon: float | None


def _promise(model: Any, pair: Neighbors, seed: int | None, claim: Guarantee | None) -> _Promise:
    """Read the guarantee, which a fit on one of the pairs shows, unless another is claimed."""
    if seed is not None:
        model.random_state = seed
    model.fit(pair.records)
    released(model)
    guarantee = getattr(model, "guarantee_", None) if claim is None else claim
    if guarantee is None or guarantee.notion == "none":
        return _Promise(0.0, None)
    if guarantee.notion != "central" or guarantee.adjacency is not Adjacency.ADD_REMOVE:
        raise ParameterError(
            "estimator must promise central privacy under add/remove to be audited with one record "
            f"more, got {guarantee.notion} under {guarantee.adjacency.value}"
        )
    return _Promise(float(guarantee.delta), float(guarantee.epsilon))


def _count(
    fits: Fits,
    pairs: list[Neighbors],
    seeds: Sequence[tuple[Seeds, Seeds]],
    *,
    delta: float,
    confidence: float,
) -> dict[str, Measured]:
    """Fit each pair and bound epsilon on it, one after the other: releases may be large."""
    measured = {}
    for number, (pair, (without, with_added)) in enumerate(zip(pairs, seeds, strict=True)):
        [sides] = fits.run([Wanted(f"count-{number}", pair, without, with_added)])
        tables = as_tables(*sides, pair.added)
        measured[pair.name] = compare(*tables, delta=delta, confidence=confidence)
    return measured


class _Seeds(NamedTuple):
    """By pair and table; those of the search and those of what is counted."""

    search: Sequence[tuple[Seeds, Seeds]]
    counted: Sequence[tuple[Seeds, Seeds]]


def _seeds(
    random_state: int | None, pairs: int, search_fits: int, *, counted: int, runs: int
) -> _Seeds:
    """Return each fit a seed; none occurs twice, or two fits would be one."""
    if random_state is None:
        nothing: Seeds = [None] * search_fits
        unseeded: Seeds = [None] * runs
        return _Seeds([(nothing, nothing)] * pairs, [(unseeded, unseeded)] * counted)
    # 32 bits are what numpy's RandomState takes.
    rng = np.random.default_rng(random_state)
    total = 2 * (pairs * search_fits + counted * runs)
    drawn = rng.choice(1 << 32, size=total, replace=False)
    of_search, of_counted = np.split(drawn, [2 * pairs * search_fits])
    return _Seeds(
        [(one, two) for one, two in of_search.reshape(pairs, 2, search_fits).tolist()],
        [(one, two) for one, two in of_counted.reshape(counted, 2, runs).tolist()],
    )


def _check_runs(runs: Any, search: Any, search_runs: Any) -> None:
    for name, value, fewest in (
        ("runs", runs, MIN_SAMPLES),
        ("search_runs", search_runs, MIN_SEARCH_RUNS),
    ):
        if not _is_whole(value) or value < fewest:
            raise ParameterError(f"{name} must be an integer >= {fewest}, got {value!r}")
    _numbers.flag("search", search)


def _check(statistic: Any, random_state: Any, progress: Any) -> None:
    for name, value in (("statistic", statistic), ("progress", progress)):
        if value is not None and not callable(value):
            raise ParameterError(f"{name} must be a callable or None, got {value!r}")
    _numbers.seed("random_state", random_state)


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
