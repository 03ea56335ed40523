"""Audits of whole estimators: many fits on neighbouring tables, and their releases compared."""

from shoal.audit.estimators.audit_estimator import audit_estimator
from shoal.audit.estimators.estimator_result import EstimatorAudit
from shoal.audit.estimators.neighbours import Neighbours, neighbouring_datasets

__all__ = ["EstimatorAudit", "Neighbours", "audit_estimator", "neighbouring_datasets"]
