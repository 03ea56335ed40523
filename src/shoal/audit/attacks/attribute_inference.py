"""Guess one column of a record from the others and a report or a release.

What a release teaches about a population helps to guess records that were never in it: that is what
it is for, and no breach. So for releases of a curator the same guess is made for records that were
not in, and what counts is how much better the members are guessed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from shoal import _numbers
from shoal._bounds import given_bounds, public_box
from shoal._build import detached
from shoal._numbers import readable
from shoal._records import validate_records
from shoal._statistics import mean_interval
from shoal._typing import Floats
from shoal.audit.attacks._posterior import (
    ColumnErrors,
    ColumnTask,
    channel_of,
    log_densities_of_column,
    log_weights_from_centers,
    log_weights_from_table,
    public_table,
    released_points,
)
from shoal.audit.attacks._shadow_releases import released_values
from shoal.exceptions import DataError, ParameterError

__all__ = ["AttributeInference", "infer_attribute"]


MIN_RECORDS = 16  # so that the coins leave members and others


@dataclass(frozen=True, eq=False)
class AttributeInference:
    """Errors of an attacker's best guesses of one column; prints as sentences.

    The result is computed from raw records and has no privacy guarantee: it is for the curator.

    Parameters
    ----------
    column : str
        Name of the column.
    error, error_without : float
        Mean absolute error, in the unit of the column, with the report or release and without it.
        For a release, that of members: records that were in the data.
    tolerance : float
        Largest error of a guess that counts as near, in the unit of the column.
    near, near_without : float
        Share of records guessed within ``tolerance``, with the report or release and without it, by
        the guess that maximizes this share.
    error_others, near_others : float or None
        ``error`` and ``near`` for records that were not in the data; None for reports.
    gaps : tuple of float
        In each run, the error for the others minus the error for the members; empty for reports.

    Examples
    --------
    >>> result = AttributeInference("age", 3.0, 9.0, tolerance=2.0, near=0.4, near_without=0.1)
    >>> print(result)  # doctest: +NORMALIZE_WHITESPACE
    an attacker who knows the other columns and sees a report is off by 3 in age on average; without
    it, by 9
    they come within 2 for 40 of 100 records; without it, 10
    """

    column: str
    error: float
    error_without: float
    tolerance: float
    near: float
    near_without: float
    error_others: float | None = None
    near_others: float | None = None
    gaps: tuple[float, ...] = ()

    @property
    def difference(self) -> float | None:
        """Error for the others minus that for members: what being in the data reveals."""
        return None if self.error_others is None else self.error_others - self.error

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return a confidence interval of the mean difference, by Student's t over the runs.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability that the interval holds the mean over all random halves and noise.

        Returns
        -------
        limits : tuple (low, high)
            Ends of the interval, in the unit of the column.

        Raises
        ------
        ParameterError
            If the result is about reports, or about a single run.
        """
        error = 1.0 - _numbers.positive_probability("confidence", confidence)
        if len(self.gaps) < 2:
            raise ParameterError(
                f"runs must be at least 2 and of a release for an interval, got {len(self.gaps)}"
            )
        return mean_interval(self.gaps, error=error)

    def __str__(self) -> str:
        seen = "a report" if self.error_others is None else "the release"
        off, off_without = readable(self.error), readable(self.error_without)
        lines = [
            f"an attacker who knows the other columns and sees {seen} is off by {off} in "
            f"{self.column} on average; without it, by {off_without}",
            f"they come within {readable(self.tolerance)} for {100 * self.near:.3g} of 100 "
            f"records; without it, {100 * self.near_without:.3g}",
        ]
        if self.error_others is not None:
            lines.append(
                f"for records that were not in the data the release leaves them off by "
                f"{readable(self.error_others)}: being in it costs a record "
                f"{readable(self.error_others - self.error)}"
            )
        return "\n".join(lines)


def infer_attribute(
    target: Any,
    X: Any,
    column: int | str,
    *,
    prior: Any = None,
    bounds: Any = None,
    tolerance: float = 0.05,
    runs: int = 10,
    random_state: int | None = None,
) -> AttributeInference:
    """Attack one column of each record, given its other columns and a report or a release.

    Parameters
    ----------
    target : Mechanism or estimator
        What is attacked. With a local mechanism that has ``log_density``, the attacker sees the
        report of each record; with a central estimator, as in :func:`attack_centers`, the release
        of a random half of the records. It is cloned without its ledger and not changed.
    X : array-like of shape (n, d)
        Raw records, at least 16 for a release.
    column : int or str
        The column that the attacker does not know.
    prior : array-like of shape (m, d), optional
        Public records of other people. Without the release, the guess is the median of those most
        similar in the known columns; with a report, they are the prior of the value. None takes all
        values within the bounds as equally likely.
    bounds : tuple (low, high), optional
        Public bounds; by default those of the target.
    tolerance : float, default=0.05
        Largest error of a guess that counts as near, as a fraction of the column's public range.
    runs : int, default=10
        Number of times that reports are drawn, or random halves are released.
    random_state : int, optional
        Seed of the halves, reports and fits.

    Returns
    -------
    result : AttributeInference
        Errors with and without the report or release; for a release, also those for records that
        were not in the data.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Notes
    -----
    From a release the attacker assumes round clusters around its centers or cells, all of the width
    that fits the known columns of the records best; the prior is not used. For each record, 200
    candidate values are held in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.audit.attacks.attribute_inference import infer_attribute
    >>> from shoal.mechanisms import Laplace
    >>> X = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 2))
    >>> result = infer_attribute(Laplace(8.0, bounds=(-1.0, 1.0)), X, 0, runs=2, random_state=0)
    >>> result.error < result.error_without / 2
    True
    """
    probe = BaseEstimator()
    records = validate_records(X, estimator=probe)
    names = [str(name) for name in getattr(probe, "feature_names_in_", [])]
    unknown = _column(column, records.shape[1], names)
    times = _numbers.count("runs", runs)
    share = _numbers.positive_probability("tolerance", tolerance)
    given = given_bounds(target) if bounds is None else bounds
    task = ColumnTask.within(records, unknown, public_box(given, records.shape[1]), share)
    blind = np.zeros((len(records), len(task.values)))
    if prior is not None:
        table = public_table(prior, records.shape[1])
        blind = log_weights_from_table(table, records, unknown, task.values)
    without = task.errors(blind)
    label = names[unknown] if names else f"column {unknown}"
    before: dict[str, Any] = {
        "error_without": without.mean_error(),
        "near_without": without.share_near(),
    }
    seeds = _seeds(random_state, times)
    if hasattr(target, "log_density"):
        result = _from_reports(target, task, blind, seeds)
    else:
        rng = np.random.default_rng(random_state)
        result = _from_releases(target, task, rng, seeds)
    return AttributeInference(label, tolerance=task.tolerance, **before, **result)


def _from_reports(
    target: Any, task: ColumnTask, blind: Floats, seeds: list[int | None]
) -> dict[str, Any]:
    rounds = []
    for seed in seeds:
        channel, box = channel_of(target, task.records.shape[1], random_state=seed)
        reports = np.asarray(channel.fit(task.records).transform(task.records))
        logs = log_densities_of_column(
            channel, reports, task.records, column=task.column, values=task.values, box=box
        )
        rounds.append(task.errors(logs + blind))
    result = ColumnErrors.together(rounds)
    return {"error": result.mean_error(), "near": result.share_near()}


def _from_releases(
    target: Any, task: ColumnTask, rng: np.random.Generator, seeds: list[int | None]
) -> dict[str, Any]:
    if len(task.records) < MIN_RECORDS:
        raise DataError(
            f"X must hold at least {MIN_RECORDS} records for a release, got {len(task.records)}"
        )
    model = detached(target, seed=seeds[0])
    inside, outside = [], []
    for seed in seeds:
        members = rng.permutation(len(task.records)) < len(task.records) // 2
        if seed is not None:
            model.random_state = seed
        values = released_values(model.fit(task.records[members]))
        points, sizes = released_points(values, task.records.shape[1])
        log_weights = log_weights_from_centers(
            points, sizes, task.records, column=task.column, values=task.values, box=task.box
        )
        result = task.errors(log_weights)
        inside.append(result.of(members))
        outside.append(result.of(~members))
    seen, unseen = ColumnErrors.together(inside), ColumnErrors.together(outside)
    gaps = (o.mean_error() - m.mean_error() for m, o in zip(inside, outside, strict=True))
    return {
        "error": seen.mean_error(),
        "near": seen.share_near(),
        "error_others": unseen.mean_error(),
        "near_others": unseen.share_near(),
        "gaps": tuple(gaps),
    }


def _column(column: Any, columns: int, names: list[str]) -> int:
    if isinstance(column, str) and column in names:
        return names.index(column)
    whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if not whole or not 0 <= column < columns:
        rule = f"an integer from 0 to {columns - 1}" + (" or a name" if names else "")
        raise ParameterError(f"column must be {rule}, got {column!r}")
    return int(column)


def _seeds(random_state: Any, runs: int) -> list[int | None]:
    _numbers.seed("random_state", random_state)
    if random_state is None:
        return [None] * runs
    # Another stream than the coins'.
    rng = np.random.default_rng([random_state, 1])
    seeds: list[int | None] = rng.choice(1 << 32, size=runs, replace=False).tolist()
    return seeds
