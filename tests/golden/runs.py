"""All runs: importing this module fills the table."""

from golden import (  # noqa: F401 - each adds its runs to the table
    audit_runs,
    central_runs,
    command_runs,
    device_runs,
    engine_runs,
    fit_runs,
    local_runs,
    paper_runs,
    privacy_runs,
    report_runs,
    spark_runs,
)
from golden.table import RUNS

__all__ = ["RUNS"]
