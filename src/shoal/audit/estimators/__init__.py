"""Audits of whole estimators: compare the releases of many fits on neighboring tables."""

from shoal.audit.estimators.estimator_audit import EstimatorAudit, audit_estimator
from shoal.audit.estimators.neighbors import Neighbors, neighboring_datasets

__all__ = ["EstimatorAudit", "Neighbors", "audit_estimator", "neighboring_datasets"]
