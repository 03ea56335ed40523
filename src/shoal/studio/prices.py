"""What a ledger would be after a spend, computed on a copy: nothing is spent."""

from shoal.privacy import Ledger

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
    limits = ledger.limits
    trial = Ledger(
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
        trial.spend(
            entry.event,
            purpose=entry.purpose,
            adjacency=entry.adjacency,
            notion=entry.notion,
            privacy_unit=entry.privacy_unit,
            seeded=entry.seeded,
            columns=entry.columns,
        )
    return trial
