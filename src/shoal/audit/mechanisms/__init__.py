"""Audits of local mechanisms: many reports of two records, wherever the two show most."""

from shoal.audit.mechanisms.audit_mechanism import audit_mechanism
from shoal.audit.mechanisms.mechanism_result import MechanismAudit
from shoal.audit.mechanisms.record_pair import RecordPair

__all__ = ["MechanismAudit", "RecordPair", "audit_mechanism"]
