"""Empirical lower bounds on epsilon, to check that the code keeps its guarantee.

An audit runs a mechanism many times on two records, or fits an estimator many times on two tables
that differ in one record, looks for an event that tells them apart, and states, at a confidence the
caller chooses, the smallest epsilon that could explain what it saw. A bound above the claimed
epsilon shows that the claim is wrong; a bound below it proves nothing.
"""

from shoal.audit.audit_estimator import audit_estimator
from shoal.audit.epsilon import epsilon_lower_bound
from shoal.audit.estimator_result import EstimatorAudit
from shoal.audit.metric_epsilon import metric_epsilon_lower_bound
from shoal.audit.neighbours import Neighbours, neighbouring_datasets
from shoal.audit.result import AuditResult, Frequency

__all__ = [
    "AuditResult",
    "EstimatorAudit",
    "Frequency",
    "Neighbours",
    "audit_estimator",
    "epsilon_lower_bound",
    "metric_epsilon_lower_bound",
    "neighbouring_datasets",
]
