"""The tables of a collector's database, and what they do not hold.

A submission is one row: the reports of one request as one blob, the keyed hash of its idempotency
key, and the epoch it was stored in. There is no time of receipt, no address, no device.

**What the order of rows reveals.** Row numbers given out in order of arrival would be times of
receipt in disguise: whoever polls the count of a campaign knows when number 41,207 came. So rows
have no number. Their primary key is the idempotency key, hashed with a random key of the campaign,
and reports are read back in order of that hash: a random permutation that says nothing about
arrival. All that is kept of time is the epoch, the number of snapshots taken before; who can read
this database can tell reports before a snapshot from reports after it, and whoever has both
snapshots could tell that anyway.

A campaign that asks for device identifiers gets a table of its own for them: keyed hash of the
device, and how many reports it has sent. No row says which reports these were.

A batch of a shuffled campaign is one row of submissions, its reports sorted: what is kept of it is
a multiset, whatever order it came in. Its row of ``batches`` has its number, the digest of the
sealed bytes and counts, and ``seals`` a keyed hash of the one-time key of every report that was
kept, so that none counts twice. No row says which seal belongs to which report, or to which batch.

Below the tables, a database knows more: the write-ahead log, free pages and (in PostgreSQL) the
physical order of rows and their transaction numbers follow arrival, and so do differences between
two backups; with ``track_commit_timestamp``, which is off by default, PostgreSQL even keeps times.
Who must be kept from that must be kept from the files of the database.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

__all__ = [
    "METADATA",
    "analyses",
    "batches",
    "campaigns",
    "devices",
    "documents",
    "ingest_keys",
    "publications",
    "seals",
    "snapshots",
    "submissions",
    "tallies",
    "tokens",
]

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _campaign(*, primary_key: bool = False) -> Column[int]:
    """Return the column that says which campaign a row belongs to."""
    known = ForeignKey("campaigns.number")
    return Column("campaign", Integer, known, primary_key=primary_key, nullable=False)


# What never changes of a campaign. `secret` keys the hashes of idempotency keys and devices.
campaigns = Table(
    "campaigns",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("secret", LargeBinary(32), nullable=False),
    Column("width", Integer, nullable=False),
)

# Every revision of a campaign's signed document; the last one is in force.
documents = Table(
    "documents",
    METADATA,
    _campaign(primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("public_key", Text, nullable=False),
    Column("envelope", LargeBinary, nullable=False),
)

# What every commit changes: small rows, which a writer locks first. `device_limit` is null where
# the campaign does not ask for device identifiers.
tallies = Table(
    "tallies",
    METADATA,
    _campaign(primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("n_submissions", BigInteger, nullable=False),
    Column("n_reports", BigInteger, nullable=False),
    Column("device_limit", Integer),
    postgresql_with={"fillfactor": 50},
)

# No foreign key: a writer has locked the campaign's row of `tallies`, and PostgreSQL would look the
# campaign up again for every row.
submissions = Table(
    "submissions",
    METADATA,
    Column("campaign", Integer, primary_key=True),
    Column("key", LargeBinary(16), primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

devices = Table(
    "devices",
    METADATA,
    Column("campaign", Integer, primary_key=True),
    Column("device", LargeBinary(16), primary_key=True),
    Column("n_reports", Integer, nullable=False),
    sqlite_with_rowid=False,
)

# Batches that a relay has forwarded, from number 1 on without a gap.
batches = Table(
    "batches",
    METADATA,
    _campaign(primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("n_reports", Integer, nullable=False),
    Column("n_unopened", Integer, nullable=False),
    Column("n_invalid", Integer, nullable=False),
    Column("n_repeated", Integer, nullable=False),
)

# No foreign key, as of submissions.
seals = Table(
    "seals",
    METADATA,
    Column("campaign", Integer, primary_key=True),
    Column("seal", LargeBinary(16), primary_key=True),
    sqlite_with_rowid=False,
)

# Submissions of epochs up to `epoch`; the digest is null until somebody has read them once.
snapshots = Table(
    "snapshots",
    METADATA,
    _campaign(primary_key=True),
    Column("epoch", Integer, primary_key=True),
    Column("n_reports", BigInteger, nullable=False),
    Column("digest", String(64)),
)

# Times are seconds since 1970, so that both databases mean the same.
tokens = Table(
    "tokens",
    METADATA,
    Column("id", String(12), primary_key=True),
    Column("digest", LargeBinary(32), nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("revoked", Boolean, nullable=False, server_default=false()),
)

ingest_keys = Table(
    "ingest_keys",
    METADATA,
    Column("id", String(12), primary_key=True),
    _campaign(),
    Column("digest", LargeBinary(32), nullable=False),
    Column("revoked", Boolean, nullable=False, server_default=false()),
)

analyses = Table(
    "analyses",
    METADATA,
    Column("number", Integer, primary_key=True),
    _campaign(),
    Column("version", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("method", Text, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("seed", BigInteger),
    Column("epoch", Integer, nullable=False),
    Column("state", String(8), nullable=False, index=True),
    Column("created", BigInteger, nullable=False),
    Column("finished", BigInteger),
    Column("attempts", Integer, nullable=False),
    Column("lease", String(32)),
    Column("lease_ends", BigInteger),
    Column("release", Text),
    Column("error", Text),
    UniqueConstraint("campaign", "version"),
)

# History: the last row of a campaign is what is published now.
publications = Table(
    "publications",
    METADATA,
    Column("number", Integer, primary_key=True),
    _campaign(),
    Column("version", Integer, nullable=False),
    Column("published", BigInteger, nullable=False),
)
