"""Everything that tells whether a promise is kept: the replay, the samples, and one verdict."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from shoal._bounds import bounded_columns
from shoal.audit import (
    EstimatorAudit,
    MechanismAudit,
    ReplayAudit,
    audit_estimator,
    audit_mechanism,
    neighboring_datasets,
    replay_estimator,
)
from shoal.audit._detached import detached
from shoal.exceptions import MissingBoundsError, ParameterError
from shoal.privacy import Guarantee

__all__ = ["PromiseAudit", "audit_promise", "promise_of", "promise_of_fitted"]

NO_GUARANTEE = "it has no guarantee_, so nothing is promised"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class PromiseAudit:
    """What was promised, what was measured, and whether they agree.

    Parameters
    ----------
    target : str
        What was audited, with its parameters.
    guarantee : str
        Its promise in a sentence.
    sampling : EstimatorAudit or MechanismAudit
        Lower bounds from many releases.
    replay : ReplayAudit or None
        What a replay of fits found; None for mechanisms, which have no fits.
    """

    target: str
    guarantee: str
    sampling: EstimatorAudit | MechanismAudit
    replay: ReplayAudit | None

    @property
    def claimed(self) -> float | None:
        """Epsilon that is promised, per unit of distance for a metric promise."""
        return self.sampling.claimed

    @property
    def unit(self) -> str:
        """What the epsilons are per, if anything."""
        metric = isinstance(self.sampling, MechanismAudit) and self.sampling.notion == "metric"
        return " per unit of distance" if metric else ""

    @property
    def event(self) -> str:
        """The event that tells the worst pair apart."""
        if isinstance(self.sampling, MechanismAudit):
            return self.sampling.result.event
        return self.sampling.results[self.sampling.worst].event

    @property
    def searched(self) -> dict[str, float]:
        """Estimates of epsilon on all pairs that were tried."""
        if isinstance(self.sampling, MechanismAudit):
            return {name: found.epsilon for name, found in self.sampling.searched.items()}
        return dict(self.sampling.searched)

    @property
    def broken(self) -> bool:
        """Return whether the promise was seen to be broken."""
        over = self.claimed is not None and self.sampling.exceeds()
        return over or (self.replay is not None and self.replay.broken)

    @property
    def verdict(self) -> str:
        """The verdict in a sentence or two."""
        if self.claimed is None:
            found = self.sampling.epsilon
            return f"Nothing is promised; at least epsilon {found:.3g}{self.unit} was measured."
        claim = f"epsilon {self.claimed:.4g}{self.unit}"
        if not self.broken:
            replayed = (
                ""
                if self.replay is None
                else f" One record cost at most {self.replay.privacy_measure} "
                f"{self.replay.loss:.4g} of "
                f"{self.replay.budget:.4g} in replayed fits."
            )
            return (
                f"The promise of {claim} was not seen to be broken: at least "
                f"{self.sampling.epsilon:.3g} was measured.{replayed}"
            )
        reasons = []
        if self.sampling.exceeds():
            reasons.append(
                f"at least {self.sampling.epsilon:.3g} was measured, with confidence "
                f"{100 * self.sampling.confidence:.10g}%"
            )
        if self.replay is not None and self.replay.broken:
            count = len(self.replay.findings)
            reasons.append(f"replayed fits show {count} thing{'s' * (count > 1)} no promise allows")
        return f"The promise of {claim} is BROKEN: {'; '.join(reasons)}."


def audit_promise(
    target: Any,
    *,
    columns: int = 2,
    runs: int | None = None,
    samples: int | None = None,
    confidence: float = 0.999,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    resume: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> PromiseAudit:
    """Audit an estimator by replay and by sampling, or a mechanism by sampling.

    Parameters
    ----------
    target : estimator or mechanism
        What to audit; it is cloned, and nothing is spent.
    columns : int, default=2
        Number of columns of the made-up records, where the bounds do not say it.
    runs : int, optional
        Fits on each table of the worst pair, for an estimator.
    samples : int, optional
        Reports of each record of the worst pair, for a mechanism.
    confidence : float, default=0.999
        Probability with which the bound is true.
    n_jobs : int, default=1
        Number of processes for fits.
    random_state : int, optional
        Repeats the audit; None audits the secure randomness of real releases.
    resume : path-like, optional
        Folder for what is finished, for an estimator.
    progress : callable, optional
        ``progress(done, total)`` as the work goes on.

    Returns
    -------
    audit : PromiseAudit
        Prints through its :attr:`~PromiseAudit.verdict`.

    Examples
    --------
    >>> from shoal.experiments import audit_promise
    >>> from shoal.mechanisms import Laplace
    >>> audit = audit_promise(Laplace(2.0, bounds=(-1.0, 1.0)), samples=20_000, random_state=0)
    >>> audit.broken
    False
    """
    words: dict[str, Any] = {
        "confidence": confidence,
        "random_state": random_state,
        "progress": progress,
    }
    if getattr(target, "bounds", None) is None:
        raise MissingBoundsError(
            "the target must have public bounds to be audited: made-up records are put inside them",
            parameter="bounds",
            in_python="give it bounds",
        )
    wide = bounded_columns(target.bounds, default=columns)
    guarantee = str(promise_of(target, wide))
    if hasattr(target, "transform"):
        if runs is not None or resume is not None:
            raise ParameterError(
                "runs and resume must be left out for a mechanism",
                parameter="samples",
                in_python="pass samples",
            )
        if samples is not None:
            words["samples"] = samples
        reports = audit_mechanism(target, columns=wide, **words)
        return PromiseAudit(repr(target), guarantee, reports, None)
    if samples is not None:
        raise ParameterError(
            "samples must be left out for an estimator", parameter="runs", in_python="pass runs"
        )
    pairs = list(neighboring_datasets(target.bounds, columns=wide))
    if runs is not None:
        words["runs"] = runs
    replay = replay_estimator(target, pairs)
    fits = audit_estimator(target, pairs, n_jobs=n_jobs, resume=resume, **words)
    return PromiseAudit(repr(target), guarantee, fits, replay)


def promise_of(target: Any, columns: int) -> Guarantee:
    """Read the promise of a target off a fit to one made-up record: it depends on no record.

    Parameters
    ----------
    target : estimator or mechanism
        Cloned without its ledger.
    columns : int
        Number of columns of the record.

    Returns
    -------
    guarantee : Guarantee
        As it would be for real records, secure randomness included.
    """
    return promise_of_fitted(detached(target).fit(np.zeros((1, columns))))


def promise_of_fitted(model: Any) -> Guarantee:
    """Read the promise of a fitted object.

    Parameters
    ----------
    model : estimator or mechanism
        Fitted; perhaps of the user's own.

    Returns
    -------
    guarantee : Guarantee
        Of notion "none" where it has no ``guarantee_``.
    """
    promise = getattr(model, "guarantee_", None)
    return promise if isinstance(promise, Guarantee) else Guarantee.none(NO_GUARANTEE)
