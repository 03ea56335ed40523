"""The last step before anything is released: records are all right, and the ledger is charged."""

from shoal.cluster._noise import Noise
from shoal.privacy import Ledger
from shoal.tables import Table

__all__ = ["pay"]


def pay(ledger: Ledger | None, table: Table, noise: Noise, shares: object, *, what: str) -> None:
    """Look at the records, then spend.

    The shares of a fit divide a fixed total, so all of it is spent before any is released.

    Parameters
    ----------
    ledger : Ledger or None
        None records nothing.
    table : Table
        The records: where one of them is not finite, or a file is damaged, nothing is spent.
    noise : Noise
        The currency, and how much of it the whole fit costs.
    shares : object
        How it is divided, in words.
    what : str
        Who spends.

    Raises
    ------
    DataError
        If the records cannot be used.
    BudgetExceededError
        If the ledger cannot pay.
    """
    if ledger is None:
        table.check()
        return
    event = noise.event(str(shares))
    if not table.in_memory:
        ledger.check(event)  # reading may take long, and would be in vain
    table.check()
    ledger.spend(event, purpose=f"{what}: {shares}")
