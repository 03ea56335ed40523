"""Audits of whole estimators: many fits on neighboring tables, and their releases compared."""

from shoal.audit.estimators.estimator_audit import EstimatorAudit, audit_estimator
from shoal.audit.estimators.neighbors import Neighbors, neighboring_datasets

__all__ = ["EstimatorAudit", "Neighbors", "audit_estimator", "neighboring_datasets"]
