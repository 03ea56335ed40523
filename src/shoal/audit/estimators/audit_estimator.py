"""Audit of a central estimator: fit it many times on neighbouring tables and compare the releases.

What is compared is the release of a fit, whole: everything in it that varies is a column, and the
event that tells the two tables apart best is chosen on one half of the fits and counted on the
other (:func:`shoal.audit.epsilon_lower_bound`). Each pair of tables may be wrong with its share of
1 - confidence, so the audit as a whole is wrong with at most that.
"""

import numbers
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from shoal.audit.bounds._claim import claimed_epsilon
from shoal.audit.bounds.epsilon import MIN_SAMPLES, check_parameters, epsilon_lower_bound
from shoal.audit.bounds.result import AuditResult
from shoal.audit.estimators._combination import NAMES, combinations
from shoal.audit.estimators._releases import FloatArray, Statistic, Table, as_tables, fit_many
from shoal.audit.estimators.estimator_result import EstimatorAudit
from shoal.audit.estimators.neighbours import Neighbours, neighbouring_datasets
from shoal.exceptions import ParameterError
from shoal.privacy import Adjacency

__all__ = ["audit_estimator"]

PIECE = 250  # Fits that a process is handed at a time; what they find does not depend on it.
MOST_COLUMNS = 256  # More columns make the search slow; the search half chooses among them.


def audit_estimator(
    estimator: Any,
    pairs: Iterable[Neighbours] | None = None,
    *,
    runs: int = 10_000,
    confidence: float = 0.999,
    statistic: Statistic | None = None,
    n_jobs: int | None = 1,
    random_state: int | None = None,
) -> EstimatorAudit:
    """Find a lower bound of the epsilon of a central estimator from fits on neighbouring tables.

    An audit reads what differs between fits with and without a record, and no budget pays for that:
    run it on made-up records only. It spends nothing: a ledger on the estimator is left out.

    Parameters
    ----------
    estimator : estimator
        With ``fit`` that sets ``release_`` and ``guarantee_``, such as
        :class:`shoal.cluster.DPKMeans`. It is cloned, and left as it is.
    pairs : iterable of Neighbours, optional
        Neighbouring tables. By default :func:`neighbouring_datasets` in the estimator's ``bounds``,
        with as many columns as those have, or two.
    runs : int, default=10_000
        Number of fits on each table, at least 100. No bound can pass about ``ln(runs / 20)``.
    confidence : float, default=0.999
        Probability with which the bounds of all pairs must be true together; its complement is
        shared equally among the pairs.
    statistic : callable, optional
        ``statistic(release, pair)`` gives a number or a vector for each fit, and events are looked
        for in these alone. By default: all released values, and distances, extremes, sizes and sums
        that do not depend on the order of the centres.
    n_jobs : int, default=1
        Number of processes; -1 takes one for each core. The result does not depend on it when
        `random_state` is given.
    random_state : int, optional
        Fixes the ``random_state`` of every fit, all different. None leaves it to the estimator's
        secure randomness, which is the code that real releases run.

    Returns
    -------
    audit : EstimatorAudit
        The bound on each pair, and the event that gave it.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule, or the estimator's promise is about other neighbours.

    Examples
    --------
    >>> from shoal.audit import Neighbours, audit_estimator
    >>> from shoal.cluster import DPKMeans
    >>> model = DPKMeans(1, epsilon=1.0, bounds=(-1.0, 1.0), n_public=1, max_iter=1)
    >>> pair = Neighbours("corner", records=[[-1.0]], added=[1.0])
    >>> audit = audit_estimator(model, [pair], runs=500, random_state=0)
    >>> audit.claimed, audit.exceeds()
    (1.0, False)
    """
    check_parameters(samples=MIN_SAMPLES, delta=0.0, confidence=confidence, score=None)
    _check(runs, statistic, random_state)
    model = _detached(estimator, seeded=random_state is not None)
    chosen = _default_pairs(estimator) if pairs is None else _check_pairs(pairs)
    seeds = _seeds(random_state, len(chosen), runs)
    delta, claimed = _promise(model, chosen[0], seeds[0][0][0])
    share = (1.0 - confidence) / len(chosen)
    results = {}
    with Parallel(n_jobs=n_jobs) as parallel:
        for pair, (seeds_without, seeds_with) in zip(chosen, seeds, strict=True):
            tasks = [(pair.records, piece) for piece in _pieces(seeds_without)]
            half = len(tasks)
            tasks += [(pair.with_added, piece) for piece in _pieces(seeds_with)]
            released = parallel(
                delayed(fit_many)(model, records, piece, pair, statistic)
                for records, piece in tasks
            )
            tables = as_tables(released[:half], released[half:], pair.added)
            found = _compare(*tables, delta=delta, confidence=1.0 - share)
            results[pair.name] = replace(found, claimed=claimed)
    return EstimatorAudit(results, confidence=float(confidence), delta=delta, claimed=claimed)


def _compare(without: Table, with_added: Table, *, delta: float, confidence: float) -> AuditResult:
    runs = len(without.values)
    # As in epsilon_lower_bound: the other half is counted, and must not decide what is looked at.
    search = runs // 2
    columns = _worth_a_look(without.values[:search], with_added.values[:search])
    names = [without.names[column] for column in columns]
    tables = without.values[:, columns], with_added.values[:, columns]
    if len(columns) > 1:
        learned = combinations(*tables, search=search)
        tables = np.hstack([tables[0], learned[0]]), np.hstack([tables[1], learned[1]])
        names += NAMES
    found = epsilon_lower_bound(
        lambda side, count: tables[side], 0, 1, samples=runs, delta=delta, confidence=confidence
    )
    return replace(found, event=_in_words(found.event, names))


def _worth_a_look(without: FloatArray, with_added: FloatArray) -> list[int]:
    """Columns that vary, each once; those that differ most where there are too many."""
    both = np.vstack([without, with_added])
    # In bits: equal numbers have equal bits, nan included, and -0.0 may tell as well as 0.0.
    bits = np.ascontiguousarray(both.T).view(np.uint64)
    varying = (bits != bits[:, :1]).any(axis=1)
    _, first_seen = np.unique(bits, axis=0, return_index=True)
    columns = np.array([c for c in np.sort(first_seen) if varying[c]], dtype=np.int64)
    if columns.size > MOST_COLUMNS:
        ranks = both[:, columns].argsort(axis=0).argsort(axis=0)
        gaps = np.abs(ranks[: len(without)].mean(axis=0) - ranks[len(without) :].mean(axis=0))
        columns = np.sort(columns[np.argsort(-gaps, kind="stable")[:MOST_COLUMNS]])
    # A release that never varies tells nothing, and any column of it says so.
    return [int(column) for column in columns] or [0]


def _in_words(event: str, names: list[str]) -> str:
    if len(names) == 1:
        event = event.replace("output", names[0])
    else:
        event = re.sub(r"(?:output of )?column (\d+)", lambda m: names[int(m[1])], event)
    event = event.replace("under the first record", "without the added record")
    return event.replace("under the second record", "with the added record")


def _promise(model: Any, pair: Neighbours, seed: int | None) -> tuple[float, float | None]:
    """Delta and epsilon of the guarantee, which a fit on one of the pairs shows."""
    if seed is not None:
        model.random_state = seed
    model.fit(pair.records)
    if not hasattr(getattr(model, "release_", None), "values"):
        raise ParameterError(
            f"estimator must have release_.values after fit, got {type(model).__name__} without: "
            "audit a function with epsilon_lower_bound"
        )
    guarantee = getattr(model, "guarantee_", None)
    if guarantee is None or guarantee.notion == "none":
        return 0.0, None
    if guarantee.notion != "central" or guarantee.adjacency is not Adjacency.ADD_REMOVE:
        raise ParameterError(
            "estimator must promise central privacy under add/remove to be audited with one record "
            f"more, got {guarantee.notion} under {guarantee.adjacency.value}"
        )
    delta = float(guarantee.delta)
    return delta, claimed_epsilon(model, pair.records, pair.with_added, delta=delta)


def _detached(estimator: Any, *, seeded: bool) -> Any:
    """Clone the estimator without its ledger and its seed."""
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ParameterError(
            f"estimator must have fit and get_params, got {type(estimator).__name__}"
        )
    names = estimator.get_params(deep=False)
    if seeded and "random_state" not in names:
        raise ParameterError(
            "random_state must be None for an estimator without random_state, "
            f"got a seed for {type(estimator).__name__}"
        )
    none = {name: None for name in ("ledger", "random_state") if name in names}
    return clone(estimator).set_params(**none)


def _default_pairs(estimator: Any) -> list[Neighbours]:
    bounds = getattr(estimator, "bounds", None)
    if bounds is None:
        raise ParameterError(
            "pairs must be given for an estimator without bounds, got None: pass a list of "
            "Neighbours"
        )
    try:
        columns = max((len(corner) for corner in bounds if np.ndim(corner)), default=2)
    except TypeError:
        raise ParameterError(f"bounds must be a pair (low, high), got {bounds!r}") from None
    return list(neighbouring_datasets(bounds, columns=columns))


def _check_pairs(pairs: Iterable[Neighbours]) -> list[Neighbours]:
    chosen = list(pairs)
    if not chosen or not all(isinstance(pair, Neighbours) for pair in chosen):
        raise ParameterError("pairs must be Neighbours, at least one: see neighbouring_datasets")
    if len({pair.name for pair in chosen}) < len(chosen):
        raise ParameterError("pairs must have different names, got one twice")
    return chosen


def _check(runs: Any, statistic: Any, random_state: Any) -> None:
    whole = isinstance(runs, numbers.Integral) and not isinstance(runs, bool)
    if not whole or runs < MIN_SAMPLES:
        raise ParameterError(f"runs must be an integer >= {MIN_SAMPLES}, got {runs!r}")
    if statistic is not None and not callable(statistic):
        raise ParameterError(f"statistic must be a callable or None, got {statistic!r}")
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    if random_state is not None and not (whole and random_state >= 0):
        raise ParameterError(
            f"random_state must be None (secure) or an integer >= 0, got {random_state!r}"
        )


def _seeds(random_state: int | None, pairs: int, runs: int) -> list[Any]:
    """Give each fit a seed, by pair and table; none occurs twice, or two fits would be one."""
    if random_state is None:
        return [[[None] * runs] * 2] * pairs
    # 32 bits are what numpy's RandomState takes.
    rng = np.random.default_rng(random_state)
    drawn = rng.choice(1 << 32, size=pairs * 2 * runs, replace=False)
    seeds: list[Any] = drawn.reshape(pairs, 2, runs).tolist()
    return seeds


def _pieces(seeds: list[int | None]) -> list[list[int | None]]:
    return [seeds[start : start + PIECE] for start in range(0, len(seeds), PIECE)]
