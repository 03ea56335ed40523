"""Lower bounds of epsilon from the outputs of a mechanism on two records."""

from shoal.audit.bounds.epsilon import epsilon_lower_bound
from shoal.audit.bounds.evidence import Evidence
from shoal.audit.bounds.metric_epsilon import metric_epsilon_lower_bound
from shoal.audit.bounds.result import AuditResult, Frequency

__all__ = [
    "AuditResult",
    "Evidence",
    "Frequency",
    "epsilon_lower_bound",
    "metric_epsilon_lower_bound",
]
