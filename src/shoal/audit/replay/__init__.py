"""Record-and-replay: fit twice with the same noisy values, and every difference is the record's."""

from shoal.audit.replay.replay_estimator import replay_estimator
from shoal.audit.replay.replay_result import ReplayAudit, ReplayedPair, ReplayedRelease

__all__ = ["ReplayAudit", "ReplayedPair", "ReplayedRelease", "replay_estimator"]
