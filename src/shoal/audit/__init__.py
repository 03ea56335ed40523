"""Empirical lower bounds on epsilon, to check that the code keeps its guarantee.

An audit runs a mechanism many times on two records, looks for an event that tells them apart, and
states, at a confidence the caller chooses, the smallest epsilon that could explain what it saw. A
bound above the claimed epsilon shows that the claim is wrong; a bound below it proves nothing.
"""

from shoal.audit.epsilon import epsilon_lower_bound
from shoal.audit.metric_epsilon import metric_epsilon_lower_bound
from shoal.audit.result import AuditResult, Frequency

__all__ = [
    "AuditResult",
    "Frequency",
    "epsilon_lower_bound",
    "metric_epsilon_lower_bound",
]
