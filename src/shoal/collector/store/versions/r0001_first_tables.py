"""First tables of the collector: campaigns, submissions, tokens, analyses.

Revision ID: r0001
"""

import sqlalchemy as sa
from alembic import op

revision = "r0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    _campaigns()
    _submissions()
    _credentials()
    _analyses()


def _campaigns() -> None:
    """Create campaigns, their documents and what every commit counts."""
    op.create_table(
        "campaigns",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("secret", sa.LargeBinary(32), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_campaigns"),
        sa.UniqueConstraint("id", name="uq_campaigns_id"),
    )
    op.create_table(
        "documents",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("envelope", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "revision", name="pk_documents"),
        _belongs_to_campaign("documents"),
    )
    op.create_table(
        "tallies",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("n_submissions", sa.BigInteger(), nullable=False),
        sa.Column("n_reports", sa.BigInteger(), nullable=False),
        sa.Column("device_limit", sa.Integer()),
        sa.PrimaryKeyConstraint("campaign", name="pk_tallies"),
        _belongs_to_campaign("tallies"),
        postgresql_with={"fillfactor": 50},
    )
    op.create_table(
        "snapshots",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("n_reports", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(64)),
        sa.PrimaryKeyConstraint("campaign", "epoch", name="pk_snapshots"),
        _belongs_to_campaign("snapshots"),
    )


def _submissions() -> None:
    """Create the reports, and the counts of devices."""
    op.create_table(
        "submissions",
        sa.Column("campaign", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("key", sa.LargeBinary(16), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "key", name="pk_submissions"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "devices",
        sa.Column("campaign", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("device", sa.LargeBinary(16), nullable=False),
        sa.Column("n_reports", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "device", name="pk_devices"),
        sqlite_with_rowid=False,
    )


def _credentials() -> None:
    """Create tokens of analysts and ingest keys of campaigns."""
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.Column("revoked", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
    )
    op.create_table(
        "ingest_keys",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("revoked", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("id", name="pk_ingest_keys"),
        _belongs_to_campaign("ingest_keys"),
    )


def _analyses() -> None:
    """Create the jobs, their results and what was published of them."""
    op.create_table(
        "analyses",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger()),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("finished", sa.BigInteger()),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease", sa.String(32)),
        sa.Column("lease_ends", sa.BigInteger()),
        sa.Column("release", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("number", name="pk_analyses"),
        sa.UniqueConstraint("campaign", "version", name="uq_analyses_campaign_version"),
        _belongs_to_campaign("analyses"),
    )
    op.create_index("ix_analyses_state", "analyses", ["state"])
    op.create_table(
        "publications",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("published", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_publications"),
        _belongs_to_campaign("publications"),
    )


def _belongs_to_campaign(table: str) -> sa.ForeignKeyConstraint:
    """Return the foreign key of a table to its campaign."""
    return sa.ForeignKeyConstraint(["campaign"], ["campaigns.number"], name=f"fk_{table}_campaign")
