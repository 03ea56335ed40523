"""What a ledger would be after a spend, computed on a copy: nothing is spent."""

from shoal.privacy import Entry, Ledger, LimitChange

__all__ = ["trial_ledger"]


def trial_ledger(ledger: Ledger) -> Ledger:
    """Return a ledger in memory with the same limits and entries, to try spends on.

    Parameters
    ----------
    ledger : Ledger
        Which is not charged.

    Returns
    -------
    trial : Ledger
        For a price, never for a release: what is charged to it is forgotten with it.

    Examples
    --------
    >>> from shoal.privacy import Ledger, PureEvent
    >>> from shoal.studio.prices import trial_ledger
    >>> ledger = Ledger(epsilon=1.0)
    >>> _ = trial_ledger(ledger).spend(PureEvent(epsilon=0.75))
    >>> ledger.remaining
    1.0
    """
    changes = list(ledger.limit_changes)
    limits = changes[0].before if changes else ledger.limits
    trial = Ledger(
        who="trial",
        epsilon=limits.epsilon,
        delta=limits.delta,
        metric_epsilon=limits.metric_epsilon,
        metric_unit=limits.metric_unit,
        adjacency=limits.adjacency,
        approximate_delta=limits.approximate_delta,
        gdp_delta=limits.gdp_delta,
        privacy_unit=limits.privacy_unit,
    )
    for entry in ledger.entries:
        while changes and _number(changes[0]) < _number(entry):
            _repeat(trial, changes.pop(0))
        trial.spend(
            entry.event,
            purpose=entry.purpose,
            adjacency=entry.adjacency,
            notion=entry.notion,
            privacy_unit=entry.privacy_unit,
            seeded=entry.seeded,
            columns=entry.columns,
        )
    for change in changes:
        _repeat(trial, change)
    return trial


def _number(line: Entry | LimitChange) -> int:
    return 0 if line.receipt is None else line.receipt.count


def _repeat(trial: Ledger, change: LimitChange) -> None:
    """Change the limits of a trial as those of its ledger were."""
    names = ("epsilon", "delta", "metric_epsilon", "metric_unit")
    trial.set_limit(reason=change.reason, **{name: getattr(change.limits, name) for name in names})
