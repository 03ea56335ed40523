"""Does a step of a pipeline learn from records? Fit it on made-up tables and compare.

Two copies of the step are fitted on two made-up tables with the same columns and other records. If
anything that the fits set differs, the step reads records. If nothing does, a third table is
transformed whole and in part: a row that comes out different in other company shows a step that
reads records in ``transform``. The records are made up here, from fixed seeds: none of the user's
are looked at.

The probe can show that a step reads records. That it shows nothing proves nothing, unless the code
of the step is known.
"""

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import joblib
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone

__all__ = ["Probe", "probe_step"]

ROWS = (48, 65)  # of the two tables: the number of records is private too
WIDTHS = (6, 40)  # columns of numbers; some steps ask for many
TOLERANCE = 1e-9  # rows of a matrix product may differ in their last bits
SHOWN = 3  # attributes that a sentence names
WORDS = ("red", "blue", "green", "old", "new", "small", "large", "round")
# What code of others may raise on a table that it was not written for.
ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)

Target = npt.NDArray[np.int64]


class Probe(NamedTuple):
    """What the made-up tables showed of a step.

    Parameters
    ----------
    tried : bool
        Whether the step took any of the tables.
    evidence : str
        What differed, in words; empty where nothing did.
    """

    tried: bool
    evidence: str


class _Tables(NamedTuple):
    """Two tables to fit, and a third to transform; all with the same columns."""

    first: Any
    second: Any
    third: Any


def probe_step(step: Any) -> Probe:
    """Fit copies of a step on made-up tables until one shows that it reads records.

    Parameters
    ----------
    step : estimator
        With ``fit``; it is cloned, and left as it is.

    Returns
    -------
    probe : Probe
        Tables that the step refuses show nothing.
    """
    tried = False
    if not (hasattr(step, "fit") and hasattr(step, "get_params")):
        return Probe(False, "")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for tables in _made_up_tables(step):
            try:
                evidence = _compare(step, tables)
            except ERRORS:
                continue
            tried = True
            if evidence:
                return Probe(True, evidence)
    return Probe(tried, "")


def _compare(step: Any, tables: _Tables) -> str:
    """Return what differs between fits on two tables, and between rows alone and in company."""
    first, second = _fitted(step, tables.first), _fitted(step, tables.second)
    changed = _changed(first, second)
    if changed:
        listed = ", ".join(changed[:SHOWN]) + (", ..." if len(changed) > SHOWN else "")
        return f"fits on two made-up tables differ in {listed}"
    if hasattr(first, "transform"):
        whole, part = first.transform(tables.third), first.transform(tables.third[: ROWS[0] // 2])
        if not _same_rows(whole, part):
            return "a made-up row becomes another one when further rows come with it"
    return ""


def _fitted(step: Any, table: Any) -> Any:
    copy = clone(step)
    seeds = [name for name in copy.get_params() if name.split("__")[-1] == "random_state"]
    copy.set_params(**dict.fromkeys(seeds, 0))
    return copy.fit(table, _classes(len(table)))


def _changed(first: Any, second: Any) -> list[str]:
    """Return the attributes that the two fits set to different values."""
    one, other = vars(first), vars(second)
    names = [
        name
        for name in {**one, **other}.keys() - first.get_params(deep=False).keys()
        if name not in one or name not in other or not _same(one[name], other[name])
    ]
    learned = [name for name in names if name.endswith("_")]
    return sorted(learned) or ["what fit stores"] * bool(names)


def _same(first: Any, second: Any) -> bool:
    """Compare by content, however deep."""
    try:
        return bool(joblib.hash(first) == joblib.hash(second))
    except pickle.PicklingError:
        raise TypeError("what fit stores cannot be compared") from None


def _same_rows(whole: Any, part: Any) -> bool:
    """Return whether the first rows of a table came out as they do alone."""
    if sparse.issparse(whole) and sparse.issparse(part):
        if whole.shape[1] != part.shape[1] or part.shape[0] > whole.shape[0]:
            return False
        difference = sparse.csr_array(whole)[: part.shape[0]] - sparse.csr_array(part)
        return bool(abs(difference).max() <= TOLERANCE)
    whole, part = np.asarray(whole), np.asarray(part)
    if whole.shape[1:] != part.shape[1:] or len(part) > len(whole):
        return False
    first = whole[: len(part)]
    if first.dtype.kind in "fc" and part.dtype.kind in "fc":
        return bool(np.allclose(first, part, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))
    return bool(np.array_equal(first, part))


def _made_up_tables(step: Any) -> Iterator[_Tables]:
    """Yield tables of the kinds that steps are written for."""
    for columns in WIDTHS:
        yield _three(partial(_amounts, columns=columns))
        yield _three(partial(_counts, columns=columns))
    for make in (_with_gaps, _words, _sentences, _dicts):
        yield _three(make)
    categories = getattr(step, "categories", None)
    if isinstance(categories, Sequence) and not isinstance(categories, str):
        yield _three(partial(_of_categories, categories=categories))


def _three(make: Callable[[np.random.Generator, int], Any]) -> _Tables:
    rows = (*ROWS, ROWS[0])
    return _Tables(*(make(np.random.default_rng(seed), n) for seed, n in enumerate(rows)))


def _classes(rows: int) -> Target:
    return np.arange(rows) % 2


def _amounts(rng: np.random.Generator, rows: int, *, columns: int) -> Any:
    return rng.lognormal(rng.normal(), 1.0, (rows, columns))


def _counts(rng: np.random.Generator, rows: int, *, columns: int) -> Any:
    return rng.poisson(rng.uniform(1, 4), (rows, columns))


def _with_gaps(rng: np.random.Generator, rows: int) -> Any:
    """Return numbers with gaps; in tables of an even number of rows one column is missing."""
    table = rng.normal(rng.normal(), 1.0, (rows, WIDTHS[0]))
    table[rng.random(table.shape) < 0.2] = np.nan
    if rows % 2 == 0:
        table[:, 0] = np.nan
    else:
        table[:, 1] = 1.0
    return table


def _draw(rng: np.random.Generator, rows: int) -> list[str]:
    """Return words, of which each table has others."""
    kept = rng.choice(WORDS, 4, replace=False)
    return [str(word) for word in rng.choice(kept, rows)]


def _words(rng: np.random.Generator, rows: int) -> Any:
    return np.array([_draw(rng, rows) for _ in range(3)], dtype=object).T


def _sentences(rng: np.random.Generator, rows: int) -> Any:
    lengths = rng.integers(2, 5, rows)
    return np.array([" ".join(rng.choice(WORDS, length)) for length in lengths], dtype=object)


def _dicts(rng: np.random.Generator, rows: int) -> Any:
    return np.array([{"size": rng.normal(), word: 1.0} for word in _draw(rng, rows)], dtype=object)


def _of_categories(rng: np.random.Generator, rows: int, *, categories: Sequence[Any]) -> Any:
    """Return rows of the values that a step was told, each table with shares of its own."""
    columns = []
    for values in categories:
        shares = rng.dirichlet(np.full(len(values), 0.5))
        columns.append([values[index] for index in rng.choice(len(values), rows, p=shares)])
    return np.array(columns, dtype=object).T
