"""What is audited: the promise of an estimator, and the tables it is fitted to."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from shoal._bounds import bounded_columns
from shoal.audit._detached import released
from shoal.audit.bounds._claim import claimed_epsilon
from shoal.audit.estimators.neighbors import Neighbors, neighboring_datasets
from shoal.exceptions import ParameterError
from shoal.privacy import Adjacency


class Promise(NamedTuple):
    """What a fitted estimator claims; an epsilon of None is no claim."""

    delta: float
    epsilon: float | None


def promise(model: Any, pair: Neighbors, seed: int | None) -> Promise:
    """Read the guarantee, which a fit on one of the pairs shows.

    Parameters
    ----------
    model : estimator
        Fitted once.
    pair : Neighbors
        To fit to.
    seed : int or None
        Seed of that fit.

    Returns
    -------
    promise : Promise

    Raises
    ------
    ParameterError
        If there is no release, or the promise is about other neighbors.
    """
    if seed is not None:
        model.random_state = seed
    model.fit(pair.records)
    released(model)
    guarantee = getattr(model, "guarantee_", None)
    if guarantee is None or guarantee.notion == "none":
        return Promise(0.0, None)
    if guarantee.notion != "central" or guarantee.adjacency is not Adjacency.ADD_REMOVE:
        raise ParameterError(
            "estimator must promise central privacy under add/remove to be audited with one record "
            f"more, got {guarantee.notion} under {guarantee.adjacency.value}"
        )
    delta = float(guarantee.delta)
    return Promise(delta, claimed_epsilon(model, pair.records, pair.with_added, delta=delta))


def check_pairs(pairs: Iterable[Neighbors]) -> list[Neighbors]:
    """Check the pairs that the caller passed.

    Parameters
    ----------
    pairs : iterable of Neighbors
        What the caller passed.

    Returns
    -------
    pairs : list of Neighbors
        At least one, with different names.

    Raises
    ------
    ParameterError
        If they are no such list.
    """
    chosen = list(pairs)
    if not chosen or not all(isinstance(pair, Neighbors) for pair in chosen):
        raise ParameterError("pairs must be Neighbors, at least one: see neighboring_datasets")
    if len({pair.name for pair in chosen}) < len(chosen):
        raise ParameterError("pairs must have different names, got one twice")
    return chosen


def default_pairs(estimator: Any) -> list[Neighbors]:
    """Take the default pairs in the estimator's bounds.

    Parameters
    ----------
    estimator : estimator
        With ``bounds``.

    Returns
    -------
    pairs : list of Neighbors
        With as many columns as the bounds have, or two.

    Raises
    ------
    ParameterError
        If it has no bounds.
    """
    bounds = getattr(estimator, "bounds", None)
    if bounds is None:
        raise ParameterError(
            "an estimator must have public bounds to be audited, got none",
            parameter="bounds",
            in_python="pass pairs, a list of Neighbors",
        )
    return list(neighboring_datasets(bounds, columns=bounded_columns(bounds, default=2)))
