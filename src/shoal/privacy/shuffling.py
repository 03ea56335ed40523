"""The shuffled trust model: what a batch of anonymous reports promises beyond its local epsilon.

Devices send one report each to a shuffler that knows no records, takes off all metadata and passes
the reports on in random order. Whoever sees the batch learns less of one record than from its
report alone. Two bounds of that, both for substitution of one record: the *privacy blanket* of
randomized response with g colors (Balle, Bell, Gascón and Nissim 2019), and the *clones* that every
randomizer has (Feldman, McMillan and Talwar 2021). ``proofs/shuffling.md`` derives both, and says
why the pair with Bin(n - 1, 2r) clones that is often quoted for randomized response is no bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from shoal import _numbers
from shoal._numbers import rounded_up
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.privacy.guarantee import Guarantee
from shoal.privacy.privacy_unit import Adjacency

if TYPE_CHECKING:
    from shoal.privacy._shuffle_divergence import ShuffledView

__all__ = ["LocalBudget", "amplify", "amplify_drawn", "local_epsilon_for", "smallest_batch"]

_LEAST_DELTA = 1e-100
_LARGEST_N = 10**11  # a batch of more reports is counted as one of so many, which rounds up
_LEAST_EPSILON = 1e-12
_LARGEST_EPSILON = 100.0  # beyond it no batch hides anything
_MAX_COLORS = 2**16
_MAX_BEST = 2**12  # with 256 partitions a report of three bytes
_TAILS = 2.0**-24  # part of delta that each truncated tail may have
_WORTH_A_DELTA = 0.999  # a pure promise is worth more than the last tenth of a percent of epsilon
# Part of delta for a batch that is drawn too small. Around it epsilon is flat: from 1/8 to 1/32 it
# changes by less than 0.3% for 500 to 100,000 devices (epsilon 4, share 0.4, delta 1e-6).
_DRAWN_TOO_SMALL = 1 / 16
_TOLERANCE = 1e-6  # of epsilon, which is rounded up by at most this


def amplify(
    guarantee: Guarantee,
    n: int,
    delta: float,
    *,
    n_colors: int | None = None,
    reports_per_device: int = 1,
) -> Guarantee:
    """Return the guarantee of local reports that a shuffler mixes in batches of n.

    A shuffler removes all metadata and passes reports on in random order, so those who see the
    batch learn less about one record than from its report alone (privacy amplification).

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of each report; it must be local, with delta = 0. All reports come from the
        same mechanism.
    n : int
        Smallest number of honest reports in a batch, the person's own included. Reports that are
        made up, sent twice or computed with another mechanism do not count. If the guarantee
        protects users: the smallest number of users, each with all their reports in this batch.
    delta : float
        The delta for all reports of a device together, in [1e-100, 1).
    n_colors : int, optional
        Number g of colors, if a report is a g-ary randomized response, alone or with a public
        partition that was drawn without looking at the record (local hashing), such as
        :class:`shoal.mechanisms.PartitionResponse`; the bound is then that of the privacy blanket.
        None takes the bound of clones, which holds for any mechanism and is weaker.
    reports_per_device : int, default=1
        Number of different reports that a device may send, all to one batch or to several.

    Returns
    -------
    guarantee : Guarantee
        A guarantee of notion ``"shuffled"``, for substitution, for all reports of a device
        together. Its epsilon is the smallest that is proven at this delta, rounded up. If shuffling
        gains nothing, it is the local epsilon with delta = 0.

    Raises
    ------
    GuaranteeError
        If the guarantee is not local and pure.
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> report = Guarantee("local", epsilon=4.0)
    >>> round(amplify(report, 100_000, 1e-6, n_colors=64).epsilon, 3)
    0.079
    >>> round(amplify(report, 100_000, 1e-6).epsilon, 3)  # any mechanism
    0.17
    >>> round(amplify(report, 100_000, 1e-6, n_colors=64, reports_per_device=2).epsilon, 3)
    0.173
    """
    n = _numbers.count("n", n)
    delta = _checked_delta(delta)
    if not isinstance(guarantee, Guarantee):
        raise ParameterError(
            f"guarantee must be a Guarantee, got {type(guarantee).__name__}",
            parameter="guarantee",
            code="type",
        )
    if guarantee.notion != "local" or guarantee.delta > 0:
        what = "metric" if guarantee.notion == "metric" else f"{guarantee.notion!r}"
        raise GuaranteeError(
            "only a pure local promise is amplified by shuffling, this one is "
            f"{what} with delta = {rounded_up(guarantee.delta)}",
            in_python="pass Guarantee('local', epsilon=...), or to_local(diameter) of a metric one",
        )
    if n_colors is not None:
        n_colors = _checked_colors(n_colors)
        if guarantee.privacy_unit.kind == "user":
            raise GuaranteeError(
                "the reports of a user are no randomized response together: leave out n_colors"
            )
    reports = _numbers.count("reports_per_device", reports_per_device)
    if reports > 1:
        if guarantee.privacy_unit.kind == "user":
            raise GuaranteeError(
                "the promise to a user is of all their reports: leave out reports_per_device"
            )
        return _of_several(guarantee, n, delta, n_colors, reports)
    local_epsilon = guarantee.epsilon
    epsilon = _amplified(local_epsilon, n, delta, n_colors)
    gains = epsilon < _WORTH_A_DELTA * local_epsilon
    loss = (epsilon, delta) if gains else (local_epsilon, 0.0)
    return _shuffled(guarantee, n, *loss)


def _shuffled(guarantee: Guarantee, n: int, epsilon: float, delta: float) -> Guarantee:
    """Return the shuffled promise of a local one, with these parameters."""
    return replace(
        guarantee,
        notion="shuffled",
        epsilon=epsilon,
        delta=delta,
        adjacency=Adjacency.SUBSTITUTE,
        mu=None,
        local_epsilon=guarantee.epsilon,
        n_reports=n,
    )


def _of_several(
    guarantee: Guarantee, n: int, delta: float, n_colors: int | None, reports: int
) -> Guarantee:
    """Return the promise of several reports of a device, in whichever batches (section 7)."""
    note = f"for all {reports} reports of a device together, in one batch or in several"
    for_one = delta / reports
    while for_one >= _LEAST_DELTA:
        one = amplify(guarantee, n, for_one, n_colors=n_colors)
        # A smaller delta has a larger epsilon, so none above this one can do.
        largest = delta * math.exp(-(reports - 1) * one.epsilon) if one.delta else math.inf
        if one.delta <= largest:
            every = one.for_group(reports)
            if every.delta <= delta:
                return replace(every, delta=delta if every.delta else 0.0, reason=note)
        for_one = min(for_one / 2, largest)  # half of delta is next to nothing of epsilon
    local = _shuffled(guarantee, n, guarantee.epsilon, 0.0)
    return replace(local.for_group(reports), reason=note)


def amplify_drawn(
    guarantee: Guarantee, n: int, delta: float, *, share: float, n_colors: int | None = None
) -> Guarantee:
    """Return the guarantee of local reports before it is drawn which batch each of them joins.

    The size of a batch is then random, and may be less than ``share * n``. Part of delta pays for
    the draws in which it is less than the size that epsilon is computed with (section 6 of
    ``proofs/shuffling.md``). Once the batches are drawn and their sizes published, :func:`amplify`
    with the size of the smallest one holds as well, and is less than this in most draws.

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of each report, as for :func:`amplify`.
    n : int
        Smallest number of honest devices that report, in all batches together.
    delta : float
        The delta of the guarantee, in [1.6e-99, 1).
    share : float
        Smallest probability, over the batches, with which a device joins a batch. Each device is
        drawn independently of the others, of all records, and of who reports.
    n_colors : int, optional
        As for :func:`amplify`.

    Returns
    -------
    guarantee : Guarantee
        A guarantee of notion ``"shuffled"``; its number of reports is a size that a person's batch
        is below with a probability that delta includes.

    Examples
    --------
    >>> report = Guarantee("local", epsilon=4.0)
    >>> promise = amplify_drawn(report, 100_000, 1e-6, share=0.4, n_colors=64)
    >>> round(promise.epsilon, 3), promise.n_reports, promise.delta
    (0.131, 39183, 1e-06)
    """
    delta = _checked_delta(delta, least=_LEAST_DELTA / _DRAWN_TOO_SMALL)
    failure = delta * _DRAWN_TOO_SMALL
    fewest = smallest_batch(n, share, failure)
    left = math.nextafter(delta - failure, 0.0)
    promise = amplify(guarantee, fewest, left, n_colors=n_colors)
    return replace(promise, delta=delta) if promise.delta else promise


def smallest_batch(n: int, share: float, failure: float) -> int:
    """Return a size that the drawn batch of a person is below with at most this probability.

    Parameters
    ----------
    n : int
        Number of devices, the person's own included.
    share : float
        Probability with which each other device joins the person's batch, independently of the
        others, in [0, 1); a lower bound of it will do.
    failure : float
        Upper bound of the probability of a smaller batch, in [1e-100, 1).

    Returns
    -------
    size : int
        The largest size with that probability, from 1 to n; a smaller one where rounding leaves it
        open.

    Examples
    --------
    >>> from shoal.privacy.shuffling import smallest_batch
    >>> smallest_batch(500, 0.4, 1e-6)
    149
    """
    from shoal.privacy._shuffle_divergence import fewest_successes  # noqa: PLC0415 (it needs numpy)

    n = min(_numbers.count("n", n), _LARGEST_N)
    share = _numbers.probability("share", share)
    failure = _checked_delta(failure, name="failure")
    return 1 + (fewest_successes(n - 1, share, failure) if share else 0)


@dataclass(frozen=True)
class LocalBudget:
    """The local epsilon that each report of a shuffled batch may have.

    Parameters
    ----------
    epsilon : float
        The local epsilon.
    n_colors : int or None
        Number of colors of the randomized response; None for any mechanism.
    guarantee : Guarantee
        The shuffled guarantee that follows.

    Examples
    --------
    >>> budget = local_epsilon_for(1.0, 10_000, 1e-6, n_colors=64)
    >>> round(budget.epsilon, 2), budget.guarantee.epsilon <= 1.0
    (5.7, True)
    """

    epsilon: float
    n_colors: int | None
    guarantee: Guarantee


def local_epsilon_for(
    epsilon: float, n: int, delta: float, *, n_colors: int | Literal["best"] | None = None
) -> LocalBudget:
    """Return the largest local epsilon with which a shuffled batch stays within (epsilon, delta).

    Parameters
    ----------
    epsilon : float
        Upper limit on the epsilon of the shuffled batch, > 0.
    n : int
        Smallest number of honest reports in the batch.
    delta : float
        The delta of the shuffled batch, in [1e-100, 1).
    n_colors : int, "best" or None, default=None
        As for :func:`amplify`. ``"best"`` chooses, among the powers of two from 2 to 4,096, the
        number of colors g whose frequency estimates have the least variance, each at its largest
        local epsilon. That variance is in proportion to ``1 / (lam^2 (g - 1))``, where ``lam`` is
        the probability of keeping the true color (Wang, Blocki, Li and Jha 2017). (The largest
        epsilon would not do as a criterion: more colors always allow a larger one.)

    Returns
    -------
    budget : LocalBudget
        The local epsilon, rounded down, with its number of colors and the guarantee that follows.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> budget = local_epsilon_for(1.0, 100_000, 1e-6)  # whatever the mechanism
    >>> round(budget.epsilon, 2)
    7.07
    """
    epsilon = _numbers.positive("epsilon", epsilon)
    n = _numbers.count("n", n)
    delta = _checked_delta(delta)
    if n_colors == "best":
        return _best_colors(epsilon, n, delta)
    colors = None if n_colors is None else _checked_colors(n_colors)
    return _largest(epsilon, n, delta, colors)


def _checked_delta(delta: float, *, name: str = "delta", least: float = _LEAST_DELTA) -> float:
    delta = _numbers.positive_probability(name, delta)
    if delta < least:
        raise ParameterError(
            f"{name} must be at least {least:g}, got {delta!r}", parameter=name, code="range"
        )
    return delta


def _checked_colors(n_colors: int) -> int:
    n_colors = _numbers.count("n_colors", n_colors)
    if not 2 <= n_colors <= _MAX_COLORS:
        raise ParameterError(
            f"n_colors must be from 2 to {_MAX_COLORS}, got {n_colors!r}",
            parameter="n_colors",
            code="range",
        )
    return n_colors


def _view(local_epsilon: float, n: int, delta: float, n_colors: int | None) -> ShuffledView:
    from shoal.privacy._shuffle_divergence import ShuffledView  # noqa: PLC0415 (it needs numpy)

    return ShuffledView(local_epsilon, min(n, _LARGEST_N), n_colors, delta * _TAILS)


@lru_cache(maxsize=256)
def _amplified(local_epsilon: float, n: int, delta: float, n_colors: int | None) -> float:
    """Return an epsilon whose bound of delta is at most the one asked for."""
    if not _LEAST_EPSILON < local_epsilon <= _LARGEST_EPSILON:
        return local_epsilon
    view = _view(local_epsilon, n, delta, n_colors)

    def shortage(epsilon: float) -> float:
        return -_log_ratio(view.delta(epsilon), delta)

    return _crossing(shortage, 0.0, local_epsilon)[1] if shortage(0.0) < 0 else _LEAST_EPSILON


def _largest(epsilon: float, n: int, delta: float, n_colors: int | None) -> LocalBudget:
    """Return the end of the local epsilons that fit: at fixed colors the bound grows with them."""

    def excess(local_epsilon: float) -> float:
        return _log_ratio(_view(local_epsilon, n, delta, n_colors).delta(epsilon), delta)

    # A report within the limit needs no shuffler; a batch of n takes at most about ln n off.
    high = min(epsilon + math.log(n) - math.log(delta), _LARGEST_EPSILON)
    low = _crossing(excess, epsilon, high)[0] if high > epsilon > _LEAST_EPSILON else epsilon
    promise = amplify(Guarantee("local", low), n, delta, n_colors=n_colors)
    if promise.epsilon > epsilon:  # by the rounding up of amplify; the bound itself was checked
        promise = replace(promise, epsilon=epsilon, delta=delta)
    return LocalBudget(low, n_colors, promise)


def _log_ratio(reached: float, delta: float) -> float:
    return math.log(max(reached, _LEAST_DELTA)) - math.log(delta)


def _crossing(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return two near points, the function at most 0 at one and above 0 at the other (Illinois).

    It must be at most 0 at ``low``; where it is so at ``high`` too, both are that point.
    """
    below, above = excess(low), excess(high)
    if above <= 0:
        return high, high
    if below > 0:  # by rounding alone, at epsilons beyond use
        return low, low
    kept = 0  # how often one end stayed; its value is halved then, so that it moves too
    while high - low > _TOLERANCE * high:
        guess = (low * above - high * below) / (above - below)
        guess = min(max(guess, low + 0.01 * (high - low)), high - 0.01 * (high - low))
        value = excess(guess)
        if value <= 0:
            low, below, above = guess, value, above / 2 if kept > 0 else above
            kept = max(kept, 0) + 1
        else:
            high, above, below = guess, value, below / 2 if kept < 0 else below
            kept = min(kept, 0) - 1
    return low, high


def _best_colors(epsilon: float, n: int, delta: float) -> LocalBudget:
    best, least = None, math.inf
    n_colors = 2
    while n_colors <= _MAX_BEST:
        budget = _largest(epsilon, n, delta, n_colors)
        variance = _variance(budget.epsilon, n_colors)
        if variance > 2 * least:  # it has one minimum, and this is far beyond it
            break
        if variance < least:
            best, least = budget, variance
        n_colors *= 2
    assert best is not None
    return best


def _variance(epsilon: float, n_colors: int) -> float:
    """Return the variance of an estimated frequency, up to a factor that all colors share."""
    keep = math.expm1(epsilon) / (math.expm1(epsilon) + n_colors)
    return 1 / (keep * keep * (n_colors - 1))
