"""Comparisons, audits and attacks that end in a table, a picture and a report."""

from shoal.experiments.attack_report import attack_report
from shoal.experiments.attack_suite import ATTACKS, AttackRow, AttackSuite, attack_suite
from shoal.experiments.audit_report import audit_report, draw_promise
from shoal.experiments.cell import Cell
from shoal.experiments.choice import Choice
from shoal.experiments.demo import DemoRow, Example, demo_rows, example
from shoal.experiments.demo_report import demo_report
from shoal.experiments.promise_audit import PromiseAudit, audit_promise
from shoal.experiments.record_store import RecordStore
from shoal.experiments.run_spec import run_spec
from shoal.experiments.spec import ExperimentSpec

__all__ = [
    "ATTACKS",
    "AttackRow",
    "AttackSuite",
    "Cell",
    "Choice",
    "DemoRow",
    "Example",
    "ExperimentSpec",
    "PromiseAudit",
    "RecordStore",
    "attack_report",
    "attack_suite",
    "audit_promise",
    "audit_report",
    "demo_report",
    "demo_rows",
    "draw_promise",
    "example",
    "run_spec",
]
