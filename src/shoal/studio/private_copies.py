"""A private copy of a table, bought once, so that pages can try things on something like it."""

from typing import Any

from shoal.cluster import PrivateCopy
from shoal.exceptions import ShoalError
from shoal.privacy import Guarantee, Ledger, PureEvent
from shoal.service import RefusedError
from shoal.studio.jobs import Job, JobProgress, Jobs
from shoal.studio.prices import trial_ledger
from shoal.studio.purchases import OTHER_ORDER
from shoal.studio.workspace import StudioTable

__all__ = ["copy_price", "copy_refusal", "ledger_after", "order_copy"]

WHAT = "private copy"
SEVERAL_ROWS = (
    "The promise of a private copy is per row, and this table has several rows per person: "
    "explore made-up records instead."
)
NO_CURATOR = "No one holds the records in this trust model: explore made-up records instead."
NO_RECORDS = "This table has a schema but no records: there is nothing to copy."
HAS_ONE = "This table already has its private copy: explore it as often as you like."


def copy_refusal(table: StudioTable) -> str:
    """Return why a table can have no private copy, from public values alone; empty if it can."""
    if table.trust_model != "central":
        return NO_CURATOR
    if table.described.user is not None:
        return SEVERAL_ROWS
    return "" if table.to_dict()["has_records"] else NO_RECORDS


def copy_price(table: StudioTable, epsilon: float) -> dict[str, Any]:
    """Return what a private copy costs, and the ledger before and after; nothing is spent."""
    ledger = _checked(table)
    price = table.purchases.price(ledger, WHAT, _settings(table, ledger, epsilon), 0)
    if not price.ordered and table.copy is not None:
        raise RefusedError("invalid-parameter", HAS_ONE)
    return {
        **price.to_dict(),
        "epsilon": epsilon,
        **ledger_after(ledger, Guarantee("central", epsilon=epsilon)),
    }


def order_copy(jobs: Jobs, table: StudioTable, epsilon: float, *, key: str, entries: int) -> Job:
    """Charge the ledger and make the copy as a job, once for the price that was shown."""
    ledger = _checked(table)
    schema, columns = table.described, table.columns

    def release(_progress: JobProgress) -> dict[str, Any]:
        if table.copy is not None:
            raise RefusedError("invalid-parameter", HAS_ONE)
        if (_checked(table), table.described) != (ledger, schema):  # since the order was read
            raise RefusedError("ledger-changed", OTHER_ORDER)
        table.copy = PrivateCopy(epsilon, schema=schema, ledger=ledger).fit(columns)
        return {"epsilon": epsilon, "guarantee": str(table.copy.guarantee_)}

    settings = _settings(table, ledger, epsilon)
    return table.purchases.order(
        jobs, ledger, WHAT, settings, 0, key=key, entries=entries, release=release
    )


def ledger_after(ledger: Ledger, promise: Guarantee) -> dict[str, Any]:
    """Return what is left of a limit, and what a release would leave; nothing is spent.

    Parameters
    ----------
    ledger : Ledger
        Not charged.
    promise : Guarantee
        Pure and central, of the release.

    Returns
    -------
    told : dict
        With ``after`` None where the ledger would refuse.
    """
    trial = trial_ledger(ledger)
    told: dict[str, Any] = {"remaining": ledger.remaining, "limit": ledger.limits.epsilon}
    try:
        trial.spend(
            PureEvent(epsilon=promise.epsilon),
            purpose="a price",
            adjacency=promise.adjacency,
            privacy_unit=promise.privacy_unit,
        )
    except ShoalError:
        return {**told, "after": None}
    return {**told, "after": trial.remaining}


def _checked(table: StudioTable) -> Ledger:
    table.described.check_complete()
    if refusal := copy_refusal(table):
        raise RefusedError("invalid-parameter", refusal)
    return table.charged


def _settings(table: StudioTable, ledger: Ledger, epsilon: float) -> dict[str, Any]:
    """Return all that a price is about: with another schema or limit, it is another price."""
    return {
        "epsilon": epsilon,
        "schema": table.described.to_dict(),
        "limits": ledger.limits.to_dict(),
    }
