"""Audits that test a claimed guarantee, and attacks that measure what a release reveals.

* Sampling: :func:`epsilon_lower_bound`, :func:`audit_mechanism` and :func:`audit_estimator` run a
  mechanism many times on two records, or fit an estimator many times on two tables that differ in
  one record. They look for an event that tells the two apart and return, at a confidence that the
  caller chooses, the smallest epsilon that explains how often it happens. A bound above the claimed
  epsilon shows that the claim is wrong; a bound below it proves nothing.
* Shuffled batches: :func:`audit_shuffled` does the same with batches of reports, as an analyst
  sees them after a shuffler.
* Replay: :func:`replay_estimator` fits an estimator on both tables with the same noisy values; any
  difference in the results is due to the one record.
* Attacks: :func:`membership_inference`, :func:`attack_centers`, :func:`reconstruct` and
  :func:`infer_attribute` guess facts about the records, and report how often they are right.
  Other packages build their own attacks from ``Forest``, ``split_records`` and
  ``learn_shadow_attack``.
* Pipelines: :func:`check_pipeline` reports which steps of a scikit-learn pipeline read the records
  before the noise, where no guarantee covers them.
"""

from shoal.audit.attacks import (
    SHADOW_THRESHOLD,
    AttackResult,
    AttributeInference,
    ClassLabels,
    Forest,
    MembershipSplit,
    Reconstruction,
    Scorer,
    advantage_ceiling,
    attack_centers,
    infer_attribute,
    learn_shadow_attack,
    load_toolbox,
    membership_inference,
    number_classes,
    reconstruct,
    split_records,
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
from shoal.audit.mechanism_audit import MechanismAudit, audit_mechanism
from shoal.audit.pipelines import PipelineReport, StepReport, check_pipeline
from shoal.audit.record_pairs import RecordPair
from shoal.audit.replay import ReplayAudit, ReplayedPair, ReplayedRelease, replay_estimator
from shoal.audit.shuffled_audit import ShuffledAudit, audit_shuffled

__all__ = [
    "SHADOW_THRESHOLD",
    "AttackResult",
    "AttributeInference",
    "AuditResult",
    "ClassLabels",
    "EstimatorAudit",
    "Evidence",
    "Forest",
    "Frequency",
    "MechanismAudit",
    "MembershipSplit",
    "Neighbors",
    "PipelineReport",
    "Reconstruction",
    "RecordPair",
    "ReplayAudit",
    "ReplayedPair",
    "ReplayedRelease",
    "Scorer",
    "ShuffledAudit",
    "StepReport",
    "advantage_ceiling",
    "attack_centers",
    "audit_estimator",
    "audit_mechanism",
    "audit_shuffled",
    "check_pipeline",
    "epsilon_lower_bound",
    "infer_attribute",
    "learn_shadow_attack",
    "load_toolbox",
    "membership_inference",
    "metric_epsilon_lower_bound",
    "neighboring_datasets",
    "number_classes",
    "reconstruct",
    "replay_estimator",
    "split_records",
]
