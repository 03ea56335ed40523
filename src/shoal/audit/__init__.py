"""Return whether code keeps its promise, and what an attacker learns.

* Sampling: :func:`epsilon_lower_bound` and its relatives run a mechanism many times on two records,
  or fit an estimator many times on two tables that differ in one record, look for an event that
  tells them apart, and state, at a confidence the caller chooses, the smallest epsilon that could
  explain what they saw. A bound above the claim shows that the claim is wrong; a bound below it
  proves nothing.
* Replay: :func:`replay_estimator` fits an estimator on both tables with the same noisy values; what
  differs is the record's own.
* Attacks: :func:`membership_inference`, :func:`attack_centers`, :func:`reconstruct` and
  :func:`infer_attribute` guess about the records of the user, and say how often they are right.
"""

from shoal.audit.attacks import (
    AttackResult,
    AttributeInference,
    Reconstruction,
    advantage_ceiling,
    attack_centers,
    infer_attribute,
    membership_inference,
    reconstruct,
)
from shoal.audit.bounds import (
    AuditResult,
    Evidence,
    Frequency,
    epsilon_lower_bound,
    metric_epsilon_lower_bound,
)
from shoal.audit.estimators import (
    EstimatorAudit,
    Neighbors,
    audit_estimator,
    neighboring_datasets,
)
from shoal.audit.mechanisms import MechanismAudit, RecordPair, audit_mechanism
from shoal.audit.replay import ReplayAudit, ReplayedPair, ReplayedRelease, replay_estimator

__all__ = [
    "AttackResult",
    "AttributeInference",
    "AuditResult",
    "EstimatorAudit",
    "Evidence",
    "Frequency",
    "MechanismAudit",
    "Neighbors",
    "Reconstruction",
    "RecordPair",
    "ReplayAudit",
    "ReplayedPair",
    "ReplayedRelease",
    "advantage_ceiling",
    "attack_centers",
    "audit_estimator",
    "audit_mechanism",
    "epsilon_lower_bound",
    "infer_attribute",
    "membership_inference",
    "metric_epsilon_lower_bound",
    "neighboring_datasets",
    "reconstruct",
    "replay_estimator",
]
