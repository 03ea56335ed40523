"""Comparisons, audits and attacks that end in a table, a picture and a report."""

from shoal.experiments.attack_results import AttackRow, AttackSuite, attack_report
from shoal.experiments.attacks import ATTACKS, attack_suite
from shoal.experiments.demo import (
    CENTRAL_EPSILONS,
    METRIC_EPSILONS,
    DemoRow,
    Example,
    demo_report,
    demo_rows,
    example,
)
from shoal.experiments.device_plan import (
    LOCAL_EPSILONS,
    DevicePlan,
    DeviceRow,
    plan_devices,
)
from shoal.experiments.estimate import Estimate, rounded
from shoal.experiments.plan import (
    PLANNED_EPSILONS,
    PlanRow,
    ReleasePlan,
    plan_release,
)
from shoal.experiments.plan_table import PlanTable, plan_report
from shoal.experiments.promise_audit import PromiseAudit, audit_promise, audit_report, draw_promise
from shoal.experiments.provenance import Provenance, typed_command
from shoal.experiments.record_store import Record, RecordStore
from shoal.experiments.report import Report
from shoal.experiments.runner import Progress, Work, offset_progress, run_spec
from shoal.experiments.shuffled_plan import ShuffledPlan, ShuffledRow, plan_shuffled
from shoal.experiments.spec import ExperimentSpec
from shoal.experiments.trial import Component, Trial

__all__ = [
    "ATTACKS",
    "CENTRAL_EPSILONS",
    "LOCAL_EPSILONS",
    "METRIC_EPSILONS",
    "PLANNED_EPSILONS",
    "AttackRow",
    "AttackSuite",
    "Component",
    "DemoRow",
    "DevicePlan",
    "DeviceRow",
    "Estimate",
    "Example",
    "ExperimentSpec",
    "PlanRow",
    "PlanTable",
    "Progress",
    "PromiseAudit",
    "Provenance",
    "Record",
    "RecordStore",
    "ReleasePlan",
    "Report",
    "ShuffledPlan",
    "ShuffledRow",
    "Trial",
    "Work",
    "attack_report",
    "attack_suite",
    "audit_promise",
    "audit_report",
    "demo_report",
    "demo_rows",
    "draw_promise",
    "example",
    "offset_progress",
    "plan_devices",
    "plan_release",
    "plan_report",
    "plan_shuffled",
    "rounded",
    "run_spec",
    "typed_command",
]
