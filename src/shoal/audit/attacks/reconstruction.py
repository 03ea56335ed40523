"""How far off the best guess of a record is, given its report.

The attacker knows the mechanism, and a public table (or only the public box) of what records may
be. From the report they compute the posterior over these candidates: with the right prior no attack
on a single report can do better, so this is a measurement of the report, not of an attack's skill.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal import _numbers
from shoal._numbers import readable
from shoal._records import validate_records
from shoal._typing import Floats
from shoal.audit.attacks._posterior import (
    Guesses,
    Prior,
    best_guesses,
    channel_of,
    even_candidates,
    log_densities,
    normalized,
    public_table,
    row_blocks,
)
from shoal.exceptions import ParameterError

__all__ = ["Reconstruction", "reconstruct"]


CANDIDATES = 1024
NEAR = 0.05  # of the diameter of the box
SCALE = 0.01  # of the diameter: a length that matters


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Errors of the best guesses of records, with and without their reports; prints as sentences.

    The result is computed from raw records and has no privacy guarantee: it is for their holder.

    Parameters
    ----------
    guesses : ndarray of shape (n, d)
        Posterior medians: the guesses with the least expected Euclidean distance.
    distances, distances_without : ndarray of shape (n,)
        Distance of each record from its best guess, given the report and given the prior alone.
    squared, squared_without : float
        Mean squared distance from the posterior mean and from the prior mean, which are the best
        guesses for squared distance.
    expected, expected_squared : float
        Mean distance and squared distance that the posterior predicts: close to the measured ones
        if the records are really drawn from the prior.
    radius : float
        Largest distance of a guess that counts as near.
    near, near_without : float
        Share of the records guessed within ``radius``, by the guess that maximizes this share.
    exact, exact_without : float or None
        Share of the records guessed exactly; None without a table of candidates.

    Examples
    --------
    >>> from shoal.audit.attacks.reconstruction import reconstruct
    >>> from shoal.mechanisms import Laplace
    >>> result = reconstruct(Laplace(8.0, bounds=(-1, 1)), [[0.5, 0.5]] * 100, random_state=0)
    >>> result.error < result.error_without
    True
    """

    guesses: Floats
    distances: Floats
    distances_without: Floats
    squared: float
    squared_without: float
    expected: float
    expected_squared: float
    radius: float
    near: float
    near_without: float
    exact: float | None = None
    exact_without: float | None = None

    @property
    def error(self) -> float:
        """Mean distance of the records from their best guesses, given the reports."""
        return float(self.distances.mean())

    @property
    def error_without(self) -> float:
        """Mean distance of the records from their best guesses, without the reports."""
        return float(self.distances_without.mean())

    @property
    def median(self) -> float:
        """Median distance of the records from their best guesses, given the reports."""
        return float(np.median(self.distances))

    @property
    def median_without(self) -> float:
        """Median distance of the records from their best guesses, without the reports."""
        return float(np.median(self.distances_without))

    def __str__(self) -> str:
        off, off_without = readable(self.error), readable(self.error_without)
        lines = [
            f"an attacker who sees a report is off by {off} on average; without it, by "
            f"{off_without}",
            f"they come within {readable(self.radius)} of the record for {100 * self.near:.3g} of "
            f"100 reports; without them, {100 * self.near_without:.3g}",
        ]
        if self.exact is not None and self.exact_without is not None:
            lines.append(
                f"they name the record itself for {100 * self.exact:.3g} of 100 reports; without "
                f"them, {100 * self.exact_without:.3g}"
            )
        return "\n".join(lines)


def reconstruct(
    mechanism: Any,
    X: Any,
    *,
    prior: Any = None,
    candidates: int = CANDIDATES,
    near: float = NEAR,
    random_state: int | None = None,
) -> Reconstruction:
    """Draw a report of each record, and reconstruct the record from it by the best possible guess.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism with ``log_density``, such as :class:`shoal.mechanisms.Laplace`. It is cloned
        without its ledger and not changed.
    X : array-like of shape (n, d)
        Raw records.
    prior : array-like of shape (m, d), or "records", optional
        What the attacker thinks possible: the rows of a public table, repeated ones being more
        likely. ``"records"``: the attacker knows all records, but not which of them sent the
        report; each report is attacked by itself, without using that a record sends only one.
        None: any point within the public bounds.
    candidates : int, default=1024
        Without a prior: the approximate number of points within the bounds that are tried.
    near : float, default=0.05
        Largest distance of a guess that counts as near, as a fraction of the diameter of the
        public bounds.
    random_state : int, optional
        Seed of the reports. None draws them with secure randomness, as real ones.

    Returns
    -------
    result : Reconstruction
        Errors with and without the reports.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Notes
    -----
    The log-density of every report is computed for every candidate, in blocks; finding the guess
    that is most often near takes time in proportion to reports times candidates squared.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.audit.attacks.reconstruction import reconstruct
    >>> from shoal.mechanisms import Laplace
    >>> X = np.repeat([[-1.0], [1.0]], 500, axis=0)
    >>> result = reconstruct(Laplace(2.0, bounds=(-1, 1)), X, prior=[[-1.0], [1.0]], random_state=0)
    >>> round(1.0 - result.exact, 2), round(float(np.exp(-2.0)) / 2, 2)  # wrong, and by theory
    (0.07, 0.07)
    """
    records = validate_records(X)
    _numbers.seed("random_state", random_state)
    channel, box = channel_of(mechanism, records.shape[1], random_state=random_state)
    believed = _prior(prior, records, _numbers.count("candidates", candidates), box)
    diameter = float(np.linalg.norm(box.high - box.low))
    lengths = {
        "radius": _numbers.positive_probability("near", near) * diameter,
        "scale": SCALE * diameter,
    }
    reports = np.asarray(channel.fit(records).transform(records))
    parts = []
    for block in row_blocks(len(records), len(believed.points)):
        logs = log_densities(channel, reports[block], believed.points, box)
        weights = normalized(logs, believed.log_weights)
        parts.append(best_guesses(weights, believed.points, **lengths))
    seen = Guesses(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    blind = best_guesses(np.exp(believed.log_weights)[None, :], believed.points, **lengths)
    radius = lengths["radius"]
    return Reconstruction(
        guesses=seen.medians,
        distances=_distances(records, seen.medians),
        distances_without=_distances(records, blind.medians),
        squared=float((_distances(records, seen.means) ** 2).mean()),
        squared_without=float((_distances(records, blind.means) ** 2).mean()),
        expected=float(seen.expected_distances.mean()),
        expected_squared=float(seen.expected_squares.mean()),
        radius=radius,
        near=float((_distances(records, seen.nearby) <= radius).mean()),
        near_without=float((_distances(records, blind.nearby) <= radius).mean()),
        exact=None if prior is None else _exact(records, seen.likeliest),
        exact_without=None if prior is None else _exact(records, blind.likeliest),
    )


def _prior(prior: Any, records: Floats, candidates: int, box: Any) -> Prior:
    if prior is None:
        return even_candidates(box, candidates)
    if isinstance(prior, str):
        if prior != "records":
            raise ParameterError(f"prior must be a table, 'records' or None, got {prior!r}")
        return Prior.of_table(records)
    return Prior.of_table(public_table(prior, records.shape[1]))


def _distances(records: Floats, guesses: Floats) -> Floats:
    distances: Floats = np.linalg.norm(records - guesses, axis=1)
    return distances


def _exact(records: Floats, guesses: Floats) -> float:
    return float((records == guesses).all(axis=1).mean())
