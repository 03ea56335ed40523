"""The last step before anything is released: records are all right, and the ledger is charged."""

from collections.abc import Iterable

from shoal.cluster._noise import Noise
from shoal.privacy import Guarantee, Ledger, Receipt
from shoal.tables import Table

__all__ = ["pay"]


def pay(
    ledger: Ledger | None,
    table: Table,
    noise: Noise,
    shares: object,
    *,
    what: str,
    promise: Guarantee,
    columns: Iterable[str] = (),
) -> Receipt | None:
    """Look at the records, then spend.

    The shares of a fit divide a fixed total, so all of it is spent before any is released.

    Parameters
    ----------
    ledger : Ledger or None
        None records nothing.
    table : Table
        The records: where one of them is not finite, or a file is damaged, nothing is spent.
    noise : Noise
        The privacy measure, and how much of it the whole fit costs.
    shares : object
        How it is divided, in words.
    what : str
        Who spends.
    promise : Guarantee
        What the release will promise: to whom, and whether the noise is seeded.
    columns : iterable of str, default=()
        Names of the columns that are used.

    Returns
    -------
    receipt : Receipt or None
        Of the spend, for the release.

    Raises
    ------
    DataError
        If the records cannot be used.
    BudgetExceededError
        If the ledger cannot pay.
    """
    if ledger is None:
        table.check()
        return None
    event = noise.event(str(shares))
    if not table.in_memory:
        # Reading may take long, and would be in vain.
        ledger.check(event, privacy_unit=promise.privacy_unit)
    table.check()
    return ledger.spend(
        event,
        purpose=f"{what}: {shares}",
        privacy_unit=promise.privacy_unit,
        seeded=promise.seeded,
        columns=columns,
    ).receipt
