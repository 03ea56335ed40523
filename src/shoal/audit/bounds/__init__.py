"""Statistical lower bounds on epsilon, from outputs of a mechanism on two records."""

from shoal.audit.bounds.lower_bounds import epsilon_lower_bound, metric_epsilon_lower_bound
from shoal.audit.bounds.result import AuditResult, Evidence, Frequency

__all__ = [
    "AuditResult",
    "Evidence",
    "Frequency",
    "epsilon_lower_bound",
    "metric_epsilon_lower_bound",
]
