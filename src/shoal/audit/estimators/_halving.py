"""The search for the worst pair: some fits on every candidate, more on those that look worse.

Successive halving (Karnin, Koren & Somekh, ICML 2013): each round drops the half that shows less
and doubles the fits of the others. What it finds is an estimate, the largest of many, and no bound:
the pair that it chooses gets fresh fits, and only those are counted.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.audit.bounds._scores import fixed_scores, learned_scores
from shoal.audit.bounds._search import best_event, log_ratio_bound
from shoal.audit.estimators._compare import informative_columns, linear_combination
from shoal.audit.estimators._fits import Fits, Seeds, Sides, Wanted
from shoal.audit.estimators._releases import Table, as_tables
from shoal.audit.estimators.neighbors import Neighbors

MAX_ROUNDS = 3
MAX_COLUMNS = 32  # A search looks at few columns, many times.
CHOICE_ERROR = 0.1  # A wide interval keeps rare events from being chosen by chance ...
ESTIMATE_ERROR = 0.5  # ... and a narrow one, from the other half, tells candidates apart.
CEILING = 20.0  # Stands for infinity.


class Round(NamedTuple):
    """How many candidates there are, and how many new fits on each table they get."""

    candidates: int
    fits: int


class SearchResult(NamedTuple):
    """Index of the worst pair in the list, and the last estimate of each by name."""

    worst: int
    estimates: Mapping[str, float]


def plan(candidates: int, search_runs: int) -> list[Round]:
    """Lay out the rounds, which depend on no result.

    >>> [tuple(one) for one in plan(20, 100)]
    [(20, 100), (10, 100), (5, 200)]
    """
    rounds: list[Round] = []
    fits = search_runs
    while candidates > 1 and len(rounds) < MAX_ROUNDS:
        rounds.append(Round(candidates, fits))
        fits = search_runs * 2 ** (len(rounds) - 1)
        candidates = -(-candidates // 2)
    return rounds


def find_worst(
    fits: Fits,
    pairs: Sequence[Neighbors],
    seeds: Sequence[tuple[Seeds, Seeds]],
    *,
    search_runs: int,
    delta: float,
) -> SearchResult:
    """Search for the pair with the largest estimate."""
    left = list(range(len(pairs)))
    estimates = dict.fromkeys(left, 0.0)
    pieces = [Sides([], []) for _ in pairs]
    start = 0
    for number, one in enumerate(plan(len(pairs), search_runs)):
        new = slice(start, start + one.fits)
        start += one.fits
        wanted = [
            Wanted(f"search{number}-{c}", pairs[c], seeds[c][0][new], seeds[c][1][new])
            for c in left
        ]
        for candidate, sides in zip(left, fits.run(wanted), strict=True):
            pieces[candidate].without.extend(sides.without)
            pieces[candidate].with_added.extend(sides.with_added)
            tables = as_tables(*pieces[candidate], pairs[candidate].added)
            estimates[candidate] = _estimate(*tables, delta=delta)
        # Stable: of equal estimates the first, so that the search can be repeated.
        left = sorted(left, key=lambda c: -estimates[c])[: -(-len(left) // 2)]
    return SearchResult(left[0], {pairs[c].name: max(value, 0.0) for c, value in estimates.items()})


def _estimate(without: Table, with_added: Table, *, delta: float) -> float:
    """Return the mean of what each half shows of an event that was chosen on the other."""
    tables = without.values, with_added.values
    half = len(tables[0]) // 2
    swapped = np.roll(tables[0], -half, axis=0), np.roll(tables[1], -half, axis=0)
    return (_one_way(*tables, delta=delta) + _one_way(*swapped, delta=delta)) / 2


def _one_way(without: Floats, with_added: Floats, *, delta: float) -> float:
    search = len(without) // 2
    columns = informative_columns(without[:search], with_added[:search], limit=MAX_COLUMNS)
    tables = without[:, columns], with_added[:, columns]
    if len(columns) > 1:
        learned = linear_combination(*tables, search=search)
        tables = np.hstack([tables[0], learned[0]]), np.hstack([tables[1], learned[1]])
    event = best_event(
        fixed_scores(None, None, None, tables[0].shape[1])
        + learned_scores(tables[0][: search // 2], tables[1][: search // 2]),
        tables[0][:search],
        tables[1][:search],
        delta=delta,
        error=CHOICE_ERROR,
    )
    hits = event.hits(tables[0][search:]), event.hits(tables[1][search:])
    likely, unlikely = hits if event.toward_first else hits[::-1]
    trials = len(without) - search
    # Below 0 where the other half shows nothing of it, which still tells candidates apart.
    bound = log_ratio_bound(likely, unlikely, trials, delta=delta, error=ESTIMATE_ERROR)
    return max(float(bound), -CEILING)
