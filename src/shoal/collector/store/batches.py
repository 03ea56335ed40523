"""Batches of shuffled reports: in order, each once, in one transaction with what they hold."""

import enum
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, insert, select

from shoal.collector.store._base import CampaignKey, StoreBase
from shoal.collector.store._rows import open_rows
from shoal.collector.store.models import batches
from shoal.collector.store.reading import Snapshot
from shoal.exceptions import ParameterError

__all__ = ["BatchOutcome", "BatchStore", "BatchTotals", "OpenedBatch", "StoredBatch"]


class OpenedBatch(NamedTuple):
    r"""A batch after its reports were opened.

    Parameters
    ----------
    digest : str
        SHA-256 of the sealed bytes, in hexadecimal.
    reports : sequence of (bytes, bytes)
        One-time key and report of each that opened and is a report of the mechanism.
    n_unopened : int, default=0
        How many did not open.
    n_invalid : int, default=0
        How many opened and are no reports.

    Examples
    --------
    >>> OpenedBatch("0" * 64, [(b"one-time key", b"\x07\x01")], n_unopened=1).size
    2
    """

    digest: str
    reports: Sequence[tuple[bytes, bytes]]
    n_unopened: int = 0
    n_invalid: int = 0

    @property
    def size(self) -> int:
        """How many sealed reports it had."""
        return len(self.reports) + self.n_unopened + self.n_invalid


class StoredBatch(NamedTuple):
    """What is kept of a batch, beside its reports.

    Parameters
    ----------
    number : int
        1 for the first of the campaign.
    digest : str
        SHA-256 of the sealed bytes, in hexadecimal.
    n_reports : int
        How many of its reports were kept.
    n_unopened, n_invalid, n_repeated : int
        How many were dropped: sealed for something else, no reports of the mechanism, or opened
        before.

    Examples
    --------
    >>> StoredBatch(1, "0" * 64, 998, 1, 0, 1).n_dropped
    2
    """

    number: int
    digest: str
    n_reports: int
    n_unopened: int
    n_invalid: int
    n_repeated: int

    @property
    def n_dropped(self) -> int:
        """How many of its reports were not kept."""
        return self.n_unopened + self.n_invalid + self.n_repeated


class BatchOutcome(enum.Enum):
    """What became of a batch.

    ``STORED`` now; ``DUPLICATE``: the same number with the same bytes is there already;
    ``CONFLICT``: the number with other bytes; ``GAP``: one before it is missing. The last two are
    not stored.

    Examples
    --------
    >>> BatchOutcome("gap").is_stored
    False
    """

    STORED = "stored"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    GAP = "gap"

    @property
    def is_stored(self) -> bool:
        """Whether the batch is in the database, from this time or an earlier one."""
        return self in {BatchOutcome.STORED, BatchOutcome.DUPLICATE}


class BatchTotals(NamedTuple):
    """All batches of a campaign, in numbers.

    Parameters
    ----------
    n_batches : int
        How many there are.
    n_reports : int
        Reports that were kept.
    n_unopened, n_invalid, n_repeated : int
        Reports that were dropped, as of :class:`StoredBatch`.
    fewest : int
        Reports that were kept of the batch with the fewest, of those with any; 0 if there is none.

    Examples
    --------
    >>> BatchTotals(2, 1990, 4, 5, 1, 993).n_dropped
    10
    """

    n_batches: int
    n_reports: int
    n_unopened: int
    n_invalid: int
    n_repeated: int
    fewest: int

    @property
    def n_dropped(self) -> int:
        """How many reports were not kept."""
        return self.n_unopened + self.n_invalid + self.n_repeated


class BatchStore(StoreBase):
    """The part of the store that holds batches of shuffled reports."""

    def find_batch(
        self, campaign: str, number: int, digest: str
    ) -> tuple[BatchOutcome, StoredBatch | None]:
        """Return what would happen to a batch, before it is decrypted.

        Parameters
        ----------
        campaign : str
            Identifier of the campaign.
        number : int
            Number of the batch.
        digest : str
            SHA-256 of its encrypted bytes.

        Returns
        -------
        outcome : BatchOutcome
            STORED if it is the next batch.
        stored : StoredBatch or None
            The batch of this number, if it is stored already.
        """
        known = self._campaign_key(campaign)
        with self._database.read() as connection:
            return _find(connection, known, number, digest)

    def append_batch(
        self, campaign: str, number: int, batch: OpenedBatch
    ) -> tuple[BatchOutcome, StoredBatch | None]:
        """Store a batch in one transaction, with its reports and their one-time keys.

        Reports with a one-time key that occurred before in the campaign are dropped and counted, so
        that a relay cannot add a report twice.

        Parameters
        ----------
        campaign : str
            Identifier of the campaign.
        number : int
            Number of the batch: 1, 2 and so on.
        batch : OpenedBatch
            The decrypted batch.

        Returns
        -------
        outcome : BatchOutcome
            What happened to the batch.
        stored : StoredBatch or None
            The batch of this number that is stored now.

        Raises
        ------
        ParameterError
            If a report has the wrong length.
        StoreUnavailableError
            If the database is locked, full or unreachable; send the same batch again.
        """
        known = self._campaign_key(campaign)
        if any(len(report) != known.width for _, report in batch.reports):
            raise ParameterError(f"batch must hold reports of {known.width} bytes, got another")
        with self._database.write() as connection:
            rows = open_rows(connection, known)
            epoch, _ = rows.tally(0, 0)  # other writers of the campaign wait from here on
            outcome, stored = _find(connection, known, number, batch.digest)
            if outcome is not BatchOutcome.STORED:
                return outcome, stored
            sealed = {known.hash_seal(key): report for key, report in batch.reports}
            new = rows.insert_seals(list(sealed))
            # Sorted: a multiset has no order that could tell anything.
            kept = sorted(report for seal, report in sealed.items() if seal in new)
            if kept:
                rows.insert(epoch, [known.hash_batch(number)], [b"".join(kept)])
                rows.tally(1, len(kept))
            repeated = len(batch.reports) - len(kept)
            stored = StoredBatch(
                number, batch.digest, len(kept), batch.n_unopened, batch.n_invalid, repeated
            )
            row = {"campaign": known.number, "epoch": epoch, **stored._asdict()}
            connection.execute(insert(batches), row)
        return outcome, stored

    def batch_totals(self, campaign: str, up_to: Snapshot | None = None) -> BatchTotals:
        """Return totals over the batches of a campaign, all or those of a snapshot.

        Parameters
        ----------
        campaign : str
            Identifier of the campaign.
        up_to : Snapshot or None, default=None
            Snapshot whose batches are counted; None counts all.

        Returns
        -------
        totals : BatchTotals
            Totals, 0 if there are no batches.
        """
        known, columns = self._campaign_key(campaign), batches.c
        counts = (columns.n_reports, columns.n_unopened, columns.n_invalid, columns.n_repeated)
        sums = [func.coalesce(func.sum(count), 0) for count in counts]
        fewest = func.min(func.nullif(columns.n_reports, 0))
        chosen = select(func.count(), *sums, func.coalesce(fewest, 0))
        chosen = chosen.where(columns.campaign == known.number)
        if up_to is not None:
            chosen = chosen.where(columns.epoch <= up_to.last)
        with self._database.read() as connection:
            row = connection.execute(chosen).one()
        return BatchTotals(*map(int, row))


def _find(
    connection: Connection, campaign: CampaignKey, number: int, digest: str
) -> tuple[BatchOutcome, StoredBatch | None]:
    """Compare a batch with the one of its number, or with the last one."""
    own = batches.c.campaign == campaign.number
    columns = [batches.c[name] for name in StoredBatch._fields]
    row = connection.execute(select(*columns).where(own, batches.c.number == number)).one_or_none()
    if row is not None:
        stored = StoredBatch(*row)
        same = stored.digest == digest
        return (BatchOutcome.DUPLICATE if same else BatchOutcome.CONFLICT), stored
    last = connection.scalar(select(func.coalesce(func.max(batches.c.number), 0)).where(own))
    return (BatchOutcome.STORED if number == (last or 0) + 1 else BatchOutcome.GAP), None
