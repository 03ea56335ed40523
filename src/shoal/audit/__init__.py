"""Empirical lower bounds on epsilon, to check that the code keeps its guarantee.

An audit runs a mechanism many times on two records, or fits an estimator many times on two tables
that differ in one record, looks for an event that tells them apart, and states, at a confidence the
caller chooses, the smallest epsilon that could explain what it saw. A bound above the claimed
epsilon shows that the claim is wrong; a bound below it proves nothing.
"""

from shoal.audit.bounds import (
    AuditResult,
    Frequency,
    epsilon_lower_bound,
    metric_epsilon_lower_bound,
)
from shoal.audit.estimators import (
    EstimatorAudit,
    Neighbours,
    audit_estimator,
    neighbouring_datasets,
)
from shoal.audit.replay import ReplayAudit, ReplayedPair, ReplayedRelease, replay_estimator

__all__ = [
    "AuditResult",
    "EstimatorAudit",
    "Frequency",
    "Neighbours",
    "ReplayAudit",
    "ReplayedPair",
    "ReplayedRelease",
    "audit_estimator",
    "epsilon_lower_bound",
    "metric_epsilon_lower_bound",
    "neighbouring_datasets",
    "replay_estimator",
]
