"""Plans, comparisons, audits and attacks whose result is a table, a chart and an HTML report."""

from shoal.experiments.attack_results import AttackRow, AttackSuite, attack_report
from shoal.experiments.attacks import ATTACKS, attack_suite
from shoal.experiments.browser_device import (
    BrowserDevice,
    PageVisit,
    find_browser,
    serve_page,
)
from shoal.experiments.collector_demo import CollectorDemo, PageDevice, run_collector_demo
from shoal.experiments.collector_page import (
    CENTER_HEADINGS,
    PROMISE_HEADINGS,
    ROW_HEADINGS,
    batch_lines,
    center_cells,
    collector_report,
    demo_verdict,
    page_lines,
    promise_cells,
    row_cells,
    stored_lines,
)
from shoal.experiments.collector_rows import EpsilonRow
from shoal.experiments.demo import (
    CENTRAL_EPSILONS,
    METRIC_EPSILONS,
    DemoRow,
    Example,
    demo_report,
    demo_rows,
    example,
)
from shoal.experiments.device_fleet import DeviceFleet
from shoal.experiments.device_plan import (
    LOCAL_EPSILONS,
    DevicePlan,
    DeviceRow,
    plan_devices,
)
from shoal.experiments.estimate import Estimate, rounded
from shoal.experiments.made_up_records import MadeUpRecords, make_up_records
from shoal.experiments.plan import (
    PLANNED_EPSILONS,
    PlanRow,
    ReleasePlan,
    plan_release,
)
from shoal.experiments.plan_table import PlanTable, plan_report
from shoal.experiments.poisoning import (
    LIES,
    PoisonRow,
    Scene,
    lying_reports,
    measure_poisoning,
)
from shoal.experiments.promise_audit import PromiseAudit, audit_promise, audit_report, draw_promise
from shoal.experiments.provenance import Provenance, typed_command
from shoal.experiments.record_store import Record, RecordStore
from shoal.experiments.report import Report
from shoal.experiments.runner import Progress, Work, offset_progress, run_spec
from shoal.experiments.shuffled_part import DemoRelay, ShuffledPart
from shoal.experiments.shuffled_plan import ShuffledPlan, ShuffledRow, plan_shuffled
from shoal.experiments.spec import ExperimentSpec
from shoal.experiments.trial import Component, Trial

__all__ = [
    "ATTACKS",
    "CENTER_HEADINGS",
    "CENTRAL_EPSILONS",
    "LIES",
    "LOCAL_EPSILONS",
    "METRIC_EPSILONS",
    "PLANNED_EPSILONS",
    "PROMISE_HEADINGS",
    "ROW_HEADINGS",
    "AttackRow",
    "AttackSuite",
    "BrowserDevice",
    "CollectorDemo",
    "Component",
    "DemoRelay",
    "DemoRow",
    "DeviceFleet",
    "DevicePlan",
    "DeviceRow",
    "EpsilonRow",
    "Estimate",
    "Example",
    "ExperimentSpec",
    "MadeUpRecords",
    "PageDevice",
    "PageVisit",
    "PlanRow",
    "PlanTable",
    "PoisonRow",
    "Progress",
    "PromiseAudit",
    "Provenance",
    "Record",
    "RecordStore",
    "ReleasePlan",
    "Report",
    "Scene",
    "ShuffledPart",
    "ShuffledPlan",
    "ShuffledRow",
    "Trial",
    "Work",
    "attack_report",
    "attack_suite",
    "audit_promise",
    "audit_report",
    "batch_lines",
    "center_cells",
    "collector_report",
    "demo_report",
    "demo_rows",
    "demo_verdict",
    "draw_promise",
    "example",
    "find_browser",
    "lying_reports",
    "make_up_records",
    "measure_poisoning",
    "offset_progress",
    "page_lines",
    "plan_devices",
    "plan_release",
    "plan_report",
    "plan_shuffled",
    "promise_cells",
    "rounded",
    "row_cells",
    "run_collector_demo",
    "run_spec",
    "serve_page",
    "stored_lines",
    "typed_command",
]
