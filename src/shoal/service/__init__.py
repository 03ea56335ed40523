"""Parts of shoal's HTTP servers: limits, error answers, logs, commits in groups, intake of reports.

A server makes its application with ``create_service``, adds its own routes and those of
``add_service_routes``, wraps them in ``RequestFrame``, and runs them with ``run_app``
on the socket of :func:`listen`. A server that accepts reports of devices has an ``Intake``,
whose ``GroupCommit`` acknowledges a report after it is committed. Nothing here depends on what
a report contains.
"""

from typing import TYPE_CHECKING

from shoal._optional import load_server_names

if TYPE_CHECKING:
    from shoal.service.app import Readiness, add_service_routes, create_service
    from shoal.service.auth import Gatekeeper
    from shoal.service.campaigns import (
        ENVELOPE_EXAMPLE,
        LiveCampaign,
        LiveCampaigns,
        add_document_route,
        campaign_finder,
        tagged_response,
    )
    from shoal.service.cors import CrossOrigin
    from shoal.service.credentials import (
        KEY_PREFIX,
        TOKEN_PREFIX,
        credential_id,
        hash_credential,
        new_credential,
    )
    from shoal.service.database import Database
    from shoal.service.group_commit import GroupCommit, Outcome, Submission
    from shoal.service.intake import CampaignRoute, Intake, Taken, is_json, read_body, read_headers
    from shoal.service.limits import BucketTable, ClientAddresses
    from shoal.service.logs import EventLog, log_loop_errors, log_stray_errors, take_over_logging
    from shoal.service.metrics import Metrics
    from shoal.service.middleware import LimitedBody, RequestFrame
    from shoal.service.openapi import (
        CAMPAIGN,
        DIGEST_EXAMPLE,
        intake_operation,
        json_example,
        parameter,
        refusals,
        service_document,
    )
    from shoal.service.problems import (
        PROBLEMS,
        RefusedError,
        problem_response,
        store_refusal,
        unavailable,
    )
    from shoal.service.processes import ServerProcess
    from shoal.service.server import end_on_signals, listen, run_app, server_config, start_log
    from shoal.service.settings import ServiceSettings

__all__ = [
    "CAMPAIGN",
    "DIGEST_EXAMPLE",
    "ENVELOPE_EXAMPLE",
    "KEY_PREFIX",
    "PROBLEMS",
    "TOKEN_PREFIX",
    "BucketTable",
    "CampaignRoute",
    "ClientAddresses",
    "CrossOrigin",
    "Database",
    "EventLog",
    "Gatekeeper",
    "GroupCommit",
    "Intake",
    "LimitedBody",
    "LiveCampaign",
    "LiveCampaigns",
    "Metrics",
    "Outcome",
    "Readiness",
    "RefusedError",
    "RequestFrame",
    "ServerProcess",
    "ServiceSettings",
    "Submission",
    "Taken",
    "add_document_route",
    "add_service_routes",
    "campaign_finder",
    "create_service",
    "credential_id",
    "end_on_signals",
    "hash_credential",
    "intake_operation",
    "is_json",
    "json_example",
    "listen",
    "log_loop_errors",
    "log_stray_errors",
    "new_credential",
    "parameter",
    "problem_response",
    "read_body",
    "read_headers",
    "refusals",
    "run_app",
    "server_config",
    "service_document",
    "start_log",
    "store_refusal",
    "tagged_response",
    "take_over_logging",
    "unavailable",
]

# Loaded when first asked for: a worker process needs logs and the database, and no HTTP.
_NAMES = {
    "app": "Readiness add_service_routes create_service",
    "auth": "Gatekeeper",
    "campaigns": "ENVELOPE_EXAMPLE LiveCampaign LiveCampaigns add_document_route "
    "campaign_finder tagged_response",
    "cors": "CrossOrigin",
    "credentials": "KEY_PREFIX TOKEN_PREFIX credential_id hash_credential new_credential",
    "database": "Database",
    "group_commit": "GroupCommit Outcome Submission",
    "intake": "CampaignRoute Intake Taken is_json read_body read_headers",
    "limits": "BucketTable ClientAddresses",
    "logs": "EventLog log_loop_errors log_stray_errors take_over_logging",
    "metrics": "Metrics",
    "middleware": "LimitedBody RequestFrame",
    "openapi": "CAMPAIGN DIGEST_EXAMPLE intake_operation json_example parameter refusals "
    "service_document",
    "problems": "PROBLEMS RefusedError problem_response store_refusal unavailable",
    "processes": "ServerProcess",
    "server": "end_on_signals listen run_app server_config start_log",
    "settings": "ServiceSettings",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

if not TYPE_CHECKING:
    __getattr__ = load_server_names(__name__, _MODULES)
