"""Statements that every group runs, written for the drivers: whole groups at a time."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import Connection, Row

from shoal.collector.store._base import CampaignKey

__all__ = ["CampaignRows", "open_rows"]

SEALS = 400  # of one statement of SQLite, which takes 999 values where it is old


class CampaignRows(Protocol):
    """The rows of one campaign, inside a transaction that writes."""

    def tally(self, n_submissions: int, n_reports: int) -> tuple[int, int | None]:
        """Lock the campaign, count what is added, and return its epoch and device limit.

        Until the transaction ends, other writers of the campaign wait.
        """

    def insert(self, epoch: int, keys: Sequence[bytes], bodies: Sequence[bytes]) -> int:
        """Insert submissions that are not there, and return how many were not."""

    def find(self, keys: Sequence[bytes], lengths: Sequence[int]) -> dict[int, bytes | None]:
        """Return the bodies of keys that are there, by their index in `keys`.

        A body of another length than the given one is None: it need not be read to be another.
        """

    def insert_seals(self, seals: Sequence[bytes]) -> set[bytes]:
        """Insert seals, each given once, and return those that were not there."""

    def device_counts(self, devices: Sequence[bytes]) -> dict[bytes, int]:
        """Return how many reports devices have sent, of those that have sent any."""

    def set_device_counts(self, counts: Mapping[bytes, int]) -> None:
        """Store how many reports devices have sent."""


def open_rows(connection: Connection, campaign: CampaignKey) -> CampaignRows:
    """Return the rows of a campaign in the database of this connection."""
    kind = _SQLiteRows if connection.dialect.name == "sqlite" else _PostgresRows
    return kind(connection, campaign.number)


class _Rows:
    """What both databases do alike."""

    _value: str  # how the driver writes a parameter

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._number = number

    def tally(self, n_submissions: int, n_reports: int) -> tuple[int, int | None]:
        value = self._value
        statement = f"""
            UPDATE tallies
            SET n_submissions = n_submissions + {value}, n_reports = n_reports + {value}
            WHERE campaign = {value} RETURNING epoch, device_limit
        """
        values = (n_submissions, n_reports, self._number)
        epoch, device_limit = self._connection.exec_driver_sql(statement, values).one()
        return epoch, device_limit


class _SQLiteRows(_Rows):
    """Rows in SQLite: many small statements, since none has far to go."""

    _value = "?"

    def insert(self, epoch: int, keys: Sequence[bytes], bodies: Sequence[bytes]) -> int:
        statement = """
            INSERT INTO submissions (campaign, epoch, key, body) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
        """
        rows = [(self._number, epoch, key, body) for key, body in zip(keys, bodies, strict=True)]
        return self._connection.exec_driver_sql(statement, rows).rowcount

    def find(self, keys: Sequence[bytes], lengths: Sequence[int]) -> dict[int, bytes | None]:
        statement = """
            SELECT CASE WHEN length(body) = ? THEN body END FROM submissions
            WHERE campaign = ? AND key = ?
        """
        found = {}
        for index, (key, length) in enumerate(zip(keys, lengths, strict=True)):
            row = self._one(statement, (length, self._number, key))
            if row is not None:
                found[index] = row[0]
        return found

    def insert_seals(self, seals: Sequence[bytes]) -> set[bytes]:
        new: set[bytes] = set()
        for start in range(0, len(seals), SEALS):
            part = seals[start : start + SEALS]
            statement = f"""
                INSERT INTO seals (campaign, seal) VALUES {", ".join(["(?, ?)"] * len(part))}
                ON CONFLICT DO NOTHING RETURNING seal
            """
            values = tuple(value for seal in part for value in (self._number, seal))
            rows = self._connection.exec_driver_sql(statement, values)
            new.update(row[0] for row in rows)
        return new

    def device_counts(self, devices: Sequence[bytes]) -> dict[bytes, int]:
        statement = "SELECT n_reports FROM devices WHERE campaign = ? AND device = ?"
        rows = ((device, self._one(statement, (self._number, device))) for device in devices)
        return {device: row[0] for device, row in rows if row is not None}

    def set_device_counts(self, counts: Mapping[bytes, int]) -> None:
        statement = """
            INSERT INTO devices (campaign, device, n_reports) VALUES (?, ?, ?)
            ON CONFLICT (campaign, device) DO UPDATE SET n_reports = excluded.n_reports
        """
        rows = [(self._number, device, count) for device, count in counts.items()]
        if rows:
            self._connection.exec_driver_sql(statement, rows)

    def _one(self, statement: str, values: tuple[object, ...]) -> Row[Any] | None:
        return self._connection.exec_driver_sql(statement, values).one_or_none()


class _PostgresRows(_Rows):
    """Rows in PostgreSQL: one statement for a group, since each travels there and back."""

    _value = "%s"

    def insert(self, epoch: int, keys: Sequence[bytes], bodies: Sequence[bytes]) -> int:
        statement = """
            INSERT INTO submissions (campaign, epoch, key, body)
            SELECT %s, %s, key, body FROM unnest(%s::bytea[], %s::bytea[]) AS new (key, body)
            ON CONFLICT DO NOTHING
        """
        values = (self._number, epoch, list(keys), list(bodies))
        return self._connection.exec_driver_sql(statement, values).rowcount

    def find(self, keys: Sequence[bytes], lengths: Sequence[int]) -> dict[int, bytes | None]:
        # OFFSET 0: every key is looked up in the index, whatever the planner thinks of the table.
        statement = """
            SELECT wanted.place - 1,
                CASE WHEN octet_length(stored.body) = wanted.length THEN stored.body END
            FROM unnest(%s::bytea[], %s::integer[])
                WITH ORDINALITY AS wanted (key, length, place),
            LATERAL (
                SELECT body FROM submissions WHERE campaign = %s AND key = wanted.key OFFSET 0
            ) AS stored
        """
        values = (list(keys), list(lengths), self._number)
        rows = self._connection.exec_driver_sql(statement, values)
        return {row[0]: row[1] for row in rows}

    def insert_seals(self, seals: Sequence[bytes]) -> set[bytes]:
        statement = """
            INSERT INTO seals (campaign, seal)
            SELECT %s, seal FROM unnest(%s::bytea[]) AS new (seal)
            ON CONFLICT DO NOTHING RETURNING seal
        """
        rows = self._connection.exec_driver_sql(statement, (self._number, list(seals)))
        return {bytes(row[0]) for row in rows}

    def device_counts(self, devices: Sequence[bytes]) -> dict[bytes, int]:
        statement = """
            SELECT wanted.device, stored.n_reports FROM unnest(%s::bytea[]) AS wanted (device),
            LATERAL (
                SELECT n_reports FROM devices
                WHERE campaign = %s AND device = wanted.device OFFSET 0
            ) AS stored
        """
        rows = self._connection.exec_driver_sql(statement, (list(devices), self._number))
        return {row[0]: row[1] for row in rows}

    def set_device_counts(self, counts: Mapping[bytes, int]) -> None:
        statement = """
            INSERT INTO devices (campaign, device, n_reports)
            SELECT %s, device, n FROM unnest(%s::bytea[], %s::integer[]) AS new (device, n)
            ON CONFLICT (campaign, device) DO UPDATE SET n_reports = excluded.n_reports
        """
        if counts:
            values = (self._number, list(counts), list(counts.values()))
            self._connection.exec_driver_sql(statement, values)
