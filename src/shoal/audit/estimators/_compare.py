"""Two tables of releases, one event: which columns are looked at, and what they show."""

import re
from dataclasses import replace

import numpy as np

from shoal._typing import Floats
from shoal.audit.bounds._measure import Measured, measure
from shoal.audit.estimators._combination import NAMES, combinations
from shoal.audit.estimators._releases import Table

MAX_COLUMNS = 256  # More columns make the search slow; the search half chooses among them.


def compare(without: Table, with_added: Table, *, delta: float, confidence: float) -> Measured:
    """Bound epsilon from the releases of fits without and with a record.

    Parameters
    ----------
    without, with_added : Table
        Releases, the same number of each.
    delta : float
        The delta of the claim.
    confidence : float
        Probability with which the bound must be true.

    Returns
    -------
    measured : Measured
        With the names of the columns in its words.
    """
    runs = len(without.values)
    # As in epsilon_lower_bound: the other half is counted, and must not decide what is looked at.
    search = runs // 2
    columns = worth_a_look(without.values[:search], with_added.values[:search], most=MAX_COLUMNS)
    names = [without.names[column] for column in columns]
    tables = without.values[:, columns], with_added.values[:, columns]
    if len(columns) > 1:
        learned = combinations(*tables, search=search)
        tables = np.hstack([tables[0], learned[0]]), np.hstack([tables[1], learned[1]])
        names += NAMES
    result, evidence = measure(
        lambda side, count: tables[side], 0, 1, samples=runs, delta=delta, confidence=confidence
    )
    return Measured(
        replace(result, event=_in_words(result.event, names)),
        replace(evidence, score=_in_words(evidence.score, names)),
    )


def worth_a_look(without: Floats, with_added: Floats, *, most: int) -> list[int]:
    """Columns that vary, each once; those that differ most where there are too many.

    Parameters
    ----------
    without, with_added : ndarray of shape (runs, columns)
        Releases that the search may see.
    most : int
        Largest number of columns to keep.

    Returns
    -------
    columns : list of int
        At least one, in order.
    """
    both = np.vstack([without, with_added])
    # In bits: equal numbers have equal bits, nan included, and -0.0 may tell as well as 0.0.
    bits = np.ascontiguousarray(both.T).view(np.uint64)
    varying = np.flatnonzero((bits != bits[:, :1]).any(axis=1))
    _, first_seen = np.unique(bits[varying], axis=0, return_index=True)
    columns = varying[np.sort(first_seen)]
    if columns.size > most:
        ranks = both[:, columns].argsort(axis=0).argsort(axis=0)
        gaps = np.abs(ranks[: len(without)].mean(axis=0) - ranks[len(without) :].mean(axis=0))
        columns = np.sort(columns[np.argsort(-gaps, kind="stable")[:most]])
    # A release that never varies tells nothing, and any column of it says so.
    return [int(column) for column in columns] or [0]


def _in_words(event: str, names: list[str]) -> str:
    if len(names) == 1:
        event = event.replace("output", names[0])
    else:
        event = re.sub(r"(?:output of )?column (\d+)", lambda m: names[int(m[1])], event)
    event = event.replace("under the first record", "without the added record")
    return event.replace("under the second record", "with the added record")
