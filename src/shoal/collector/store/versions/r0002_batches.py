"""Batches of shuffled campaigns, and the seals of their reports.

Revision ID: r0002
"""

import sqlalchemy as sa
from alembic import op

revision = "r0002"
down_revision = "r0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create both tables; nothing of what is stored changes."""
    op.create_table(
        "batches",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("n_reports", sa.Integer(), nullable=False),
        sa.Column("n_unopened", sa.Integer(), nullable=False),
        sa.Column("n_invalid", sa.Integer(), nullable=False),
        sa.Column("n_repeated", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "number", name="pk_batches"),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.number"], name="fk_batches_campaign"),
    )
    op.create_table(
        "seals",
        sa.Column("campaign", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("seal", sa.LargeBinary(16), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "seal", name="pk_seals"),
        sqlite_with_rowid=False,
    )
