"""What DPKMeans was asked for, checked before anything is read from the records or spent."""

import math
from typing import Any, NamedTuple

from shoal import _numbers
from shoal._bounds import Box, public_box
from shoal.cluster._budget import MAX_ROUNDS, SPLITS
from shoal.cluster._noise import Noise, PureNoise, ZCDPNoise, noise_for
from shoal.cluster._shares import shares_text
from shoal.cluster.kmeans._choice import METHODS, Choice, choose
from shoal.cluster.kmeans._kccm import KCCM_NOISE, ROUNDS
from shoal.engines import HALF, MAX_COLUMNS
from shoal.exceptions import DataError, ParameterError
from shoal.noise import MAX_SCALE
from shoal.privacy import Ledger, epsilon_to_zcdp

__all__ = ["Settings", "Shares", "check_settings"]

PRIVATE = "private"
BOUNDS_SHARE = 0.1  # for bounds="private"
COUNT_SHARE = 0.02  # for the noisy number of records where none is declared and one is needed
K_SHARE = 0.2  # for n_clusters="private" where the method releases no synopsis of its own
SYNOPSIS = ("grid", "lsh")  # methods that release one
MAX_GRID_COLUMNS = 32  # a table of cells with more axes cannot be
MAX_EPSILON = 1e9  # beyond, quotients and squares of scales leave the doubles
LSH_SMALLEST = 0.1  # share of the smallest release of a tree


class Shares(NamedTuple):
    """How the budget is divided, in its privacy measure; what is not asked for costs nothing."""

    bounds: float
    records: float
    n_clusters: float
    clusters: float

    def __str__(self) -> str:
        return shares_text(self._asdict())


class Settings(NamedTuple):
    """Checked parameters, and what follows from them and from the number of columns."""

    box: Box | None
    choice: Choice
    shares: Shares


def check_settings(model: Any, columns: int, unit: int) -> Settings:
    """Check the parameters of a DPKMeans.

    Parameters
    ----------
    model : DPKMeans
        Whose parameters.
    columns : int
        Number of columns of the records.
    unit : int
        What one person can add to a count.

    Returns
    -------
    settings : Settings
        Method, privacy_measure and shares; the box is None where it is to be learned.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.
    """
    check_parameters(model)
    if columns > MAX_COLUMNS:
        raise DataError(f"X must have at most {MAX_COLUMNS} columns, got {columns}")
    if model.method == "grid" and columns > MAX_GRID_COLUMNS:
        raise ParameterError(
            f'method must not be "grid" for more than {MAX_GRID_COLUMNS} columns, '
            f'got {columns}: take "auto" or "lsh"'
        )
    private = isinstance(model.bounds, str) and model.bounds == PRIVATE
    box = None if private else public_box(model.bounds, columns)
    choice = _choice(model, columns)
    shares = _shares(model, choice)
    _check_scales(model, choice, shares, columns, unit)
    return Settings(box, choice, shares)


def check_parameters(model: Any) -> None:
    """Check what can be checked without a table.

    Parameters
    ----------
    model : DPKMeans
        Whose parameters.

    Raises
    ------
    ParameterError
        If one breaks its rule.
    """
    if not (isinstance(model.n_clusters, str) and model.n_clusters == PRIVATE):
        if isinstance(model.n_clusters, str):
            raise ParameterError(
                f'n_clusters must be a number or "private", got {model.n_clusters!r}'
            )
        _numbers.count("n_clusters", model.n_clusters)
    if _numbers.positive("epsilon", model.epsilon) > MAX_EPSILON:
        raise ParameterError(
            f"epsilon must be at most {MAX_EPSILON:g}, got {model.epsilon!r}: so much promises "
            "nothing, and its noise is nothing either"
        )
    _numbers.probability("delta", model.delta)
    _numbers.positive("weight_limit", model.weight_limit)
    _numbers.text("user_column", model.user_column)
    for name in ("overcluster", "max_clusters", "records_per_user"):
        _numbers.count(name, getattr(model, name))
    for name in ("n_public", "max_iter"):
        if getattr(model, name) is not None:
            _numbers.count(name, getattr(model, name))
    for name, allowed in (("method", METHODS), ("split", SPLITS), ("noise", KCCM_NOISE)):
        if getattr(model, name) not in allowed:
            raise ParameterError(f"{name} must be one of {allowed}, got {getattr(model, name)!r}")
    if model.method == "kccm" and model.noise == "gaussian" and not model.delta > 0:
        raise ParameterError(
            f'delta must be > 0 for noise "gaussian", got {model.delta!r}: '
            "choose one far below 1 / n, or another noise"
        )
    if not (model.ledger is None or isinstance(model.ledger, Ledger)):
        raise ParameterError(f"ledger must be a Ledger or None, got {model.ledger!r}")


def _choice(model: Any, columns: int) -> Choice:
    epsilon, delta = float(model.epsilon), float(model.delta)
    if model.method == "auto":
        return choose(columns, epsilon, delta)
    noise: Noise
    if model.method == "kccm":
        if model.noise == "gaussian":
            noise = ZCDPNoise(epsilon_to_zcdp(epsilon, delta), "equal", cube=True)
        else:
            noise = PureNoise(epsilon, "equal")
    elif model.method == "lloyd":
        if delta > 0:
            noise = ZCDPNoise(epsilon_to_zcdp(epsilon, delta), model.split, cube=True)
        else:
            noise = PureNoise(epsilon, model.split)
    else:
        noise = noise_for(epsilon, delta)
    return Choice(model.method, noise, "asked for")


def _shares(model: Any, choice: Choice) -> Shares:
    budget = choice.noise.budget
    bounds = BOUNDS_SHARE * budget if isinstance(model.bounds, str) else 0.0
    chosen = isinstance(model.n_clusters, str) and choice.method not in SYNOPSIS
    rounds = choice.method == "lloyd" and model.max_iter is None
    unknown = model.n_public is None and (choice.method in SYNOPSIS or rounds or chosen)
    count = COUNT_SHARE * budget if unknown else 0.0
    n_clusters = K_SHARE * budget if chosen else 0.0
    return Shares(bounds, count, n_clusters, budget - bounds - count - n_clusters)


def _check_scales(model: Any, choice: Choice, shares: Shares, columns: int, unit: int) -> None:
    """Refuse an epsilon so small that no lattice holds its noise, before it is spent."""
    noise = choice.noise
    if choice.method == "kccm":
        rounds = model.max_iter or ROUNDS
        parts = rounds * (rounds + 1) / 2 if model.noise == "allocation" else rounds
        smallest = shares.clusters / parts
    elif choice.method == "lloyd":
        smallest = shares.clusters / (model.max_iter or MAX_ROUNDS)
    else:
        smallest = LSH_SMALLEST * shares.clusters
    if shares.n_clusters:  # from a tree, at its widest
        smallest = min(smallest, LSH_SMALLEST * shares.n_clusters)
    reach = math.ceil(HALF * math.sqrt(columns)) if noise.shape == "ball" else HALF
    wanted = [share for share in (shares.records, shares.bounds / columns) if share > 0]
    if min([smallest, *wanted]) < MAX_SCALE**-2:  # its square root or inverse may not exist
        largest = math.inf
    else:
        widest = noise.scales(smallest, columns=columns, reach=reach, unit=unit)
        counts = [noise.count_deviation(share, unit=unit) for share in wanted]
        largest = max(*widest, *counts)
    if largest > MAX_SCALE:
        raise ParameterError(
            f"epsilon must be larger for {columns} columns and this method, got "
            f"{model.epsilon!r}: its noise would be wider than the integers it is added to"
        )
