"""Read reports back: counts, snapshots that intake does not change, blocks of constant size."""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Row, bindparam, insert, select, update

from shoal.collector.store._base import CampaignKey, StoreBase
from shoal.collector.store.models import snapshots, submissions, tallies
from shoal.exceptions import ParameterError, StoreError

__all__ = ["BLOCK_REPORTS", "ReportReader", "Snapshot"]

BLOCK_REPORTS = 65_536
MAX_PAGE = 16_384  # rows of one query

_TALLY = select(tallies).where(tallies.c.campaign == bindparam("number"))
_PAGE = (
    select(submissions.c.key, submissions.c.body)
    .where(
        submissions.c.campaign == bindparam("number"),
        submissions.c.key > bindparam("after"),
        submissions.c.epoch <= bindparam("epoch"),
    )
    .order_by(submissions.c.key)
    .limit(bindparam("page"))
)


class Snapshot(NamedTuple):
    """A fixed set of reports, whatever is stored later.

    Parameters
    ----------
    last : int
        The last epoch that belongs to it.
    n_reports : int
        How many reports it has.
    digest : str
        SHA-256 of their bytes in the order in which they are read, in hexadecimal.

    Examples
    --------
    >>> Snapshot(1, 0, hashlib.sha256(b"").hexdigest()).digest[:8]
    'e3b0c442'
    """

    last: int
    n_reports: int
    digest: str


class ReportReader(StoreBase):
    """The part of the store that reads reports."""

    def count(self, campaign: str) -> int:
        """Return how many reports of a campaign are stored, without reading them."""
        return int(self._tally(self._campaign_key(campaign)).n_reports)

    def snapshot(self, campaign: str) -> Snapshot:
        """Take a snapshot of the reports that are stored now, to find and verify them later.

        Parameters
        ----------
        campaign : str
            Identifier of the campaign.

        Returns
        -------
        snapshot : Snapshot
            The same one as before if nothing has been stored since. Computing its digest reads all
            reports once.
        """
        known = self._campaign_key(campaign)
        last, n_reports, digest = self._close_epoch(known)
        if digest is None:
            content = hashlib.sha256()
            for block in self._read(known, last, BLOCK_REPORTS):
                content.update(block)
            digest = content.hexdigest()
            with self._database.write() as connection:
                chosen = (snapshots.c.campaign == known.number, snapshots.c.epoch == last)
                connection.execute(update(snapshots).where(*chosen).values(digest=digest))
        return Snapshot(last, n_reports, digest)

    def blocks(
        self, campaign: str, up_to: Snapshot | None = None, rows: int = BLOCK_REPORTS
    ) -> Iterator[bytes]:
        """Yield the reports of a snapshot in blocks, not in the order of arrival.

        It needs memory for a few blocks, and no transaction stays open between two blocks.

        Parameters
        ----------
        campaign : str
            Identifier of the campaign.
        up_to : Snapshot or None, default=None
            Snapshot to read; None takes a new one.
        rows : int, default=65536
            Number of reports in a block; the last one may have fewer.

        Yields
        ------
        block : bytes
            Complete reports in the wire format.

        Raises
        ------
        StoreError
            At the end, if the reports are not those of the snapshot.
        """
        if rows < 1:
            raise ParameterError(f"rows must be at least 1, got {rows}")
        known = self._campaign_key(campaign)
        last = self._close_epoch(known)[0] if up_to is None else up_to.last
        content, length = hashlib.sha256(), 0
        for block in self._read(known, last, rows):
            content.update(block)
            length += len(block)
            yield block
        if up_to is not None:
            found = Snapshot(last, length // known.width, content.hexdigest())
            if found != up_to:
                raise StoreError(
                    f"the reports of {campaign!r} are not those of the snapshot: expected "
                    f"{up_to.n_reports} with digest {up_to.digest}, got {found.n_reports} with "
                    f"{found.digest}; the database was changed by other means"
                )

    def _tally(self, campaign: CampaignKey) -> Row[tuple[int, int, int, int]]:
        with self._database.read() as connection:
            return connection.execute(_TALLY, {"number": campaign.number}).one()

    def _close_epoch(self, campaign: CampaignKey) -> tuple[int, int, str | None]:
        """End the epoch of a campaign, so that later submissions belong to the next one.

        Writers lock the tally before they read the epoch and until they have committed, and so
        does this: once it has the lock, all submissions of the epoch are committed.
        """
        latest = (
            select(snapshots)
            .where(snapshots.c.campaign == campaign.number)
            .order_by(snapshots.c.epoch.desc())
            .limit(1)
        )
        with self._database.write() as connection:
            tally = connection.execute(_TALLY.with_for_update(), {"number": campaign.number}).one()
            before = connection.execute(latest).one_or_none()
            if before is not None and before.n_reports == tally.n_reports:
                return before.epoch, before.n_reports, before.digest
            row = {"campaign": campaign.number, "epoch": tally.epoch, "n_reports": tally.n_reports}
            connection.execute(insert(snapshots), row)
            connection.execute(
                update(tallies)
                .where(tallies.c.campaign == campaign.number)
                .values(epoch=tallies.c.epoch + 1)
            )
            return tally.epoch, tally.n_reports, None

    def _read(self, campaign: CampaignKey, last: int, reports: int) -> Iterator[bytes]:
        """Yield blocks of whole reports, each page of rows a transaction of its own.

        Rows come in the order of a keyed hash, so every page is a random sample of them: as many
        rows as make a block on average make about one block, also where few are large.
        """
        tally = self._tally(campaign)
        mean = max(tally.n_reports // max(tally.n_submissions, 1), 1)
        page = min(max(reports // mean, 1), MAX_PAGE)
        block, waiting, after = reports * campaign.width, bytearray(), b""
        while True:
            values = {"number": campaign.number, "after": after, "epoch": last, "page": page}
            with self._database.read() as connection:
                # The driver's own rows: a million of SQLAlchemy's take twice the time.
                cursor = connection.execute(_PAGE, values).cursor
                rows = [] if cursor is None else cursor.fetchall()
            waiting += b"".join([body for _, body in rows])
            whole = len(waiting) - len(waiting) % block
            for start in range(0, whole, block):
                yield bytes(waiting[start : start + block])
            del waiting[:whole]
            if len(rows) < page:
                break
            after = rows[-1][0]
        if waiting:
            yield bytes(waiting)
