"""The database of the collector: SQLite in WAL mode, or PostgreSQL.

:class:`Store` holds campaigns, submissions, credentials and analyses; :class:`GroupCommit` stores
the submissions of many requests with one flush of the disk. What is kept of a submission, and what
is not, is said in :mod:`shoal.collector.store.models`.
"""

from shoal.collector.store.analyses import Analysis, AnalysisState, Publication
from shoal.collector.store.batches import (
    BatchOutcome,
    BatchTotals,
    OpenedBatch,
    StoredBatch,
)
from shoal.collector.store.reading import Snapshot
from shoal.collector.store.store import Store
from shoal.collector.store.tokens import SCOPES, IngestKey, Token
from shoal.exceptions import StoreError, StoreUnavailableError
from shoal.service import GroupCommit, Outcome, Submission

__all__ = [
    "SCOPES",
    "Analysis",
    "AnalysisState",
    "BatchOutcome",
    "BatchTotals",
    "GroupCommit",
    "IngestKey",
    "OpenedBatch",
    "Outcome",
    "Publication",
    "Snapshot",
    "Store",
    "StoreError",
    "StoreUnavailableError",
    "StoredBatch",
    "Submission",
    "Token",
]
