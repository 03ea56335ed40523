"""What the page Audit asks for: audits of a claim, attacks, and their files."""

import secrets
import threading
from typing import Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from shoal.service import RefusedError
from shoal.studio.jobs import JobProgress
from shoal.studio.nobodys_records import Source, explored_records
from shoal.studio.promise_audits import Audited, audit_settings
from shoal.studio.promise_settings import AUDITED, Effort, PromiseSettings
from shoal.studio.record_attacks import Attacked, attack_records, attacked_columns
from shoal.studio.workspace import Workspace

__all__ = ["add_audit_routes"]

MAX_KEPT = 16  # results whose files can still be had
FILES = {
    "report.html": "text/html; charset=utf-8",
    "picture.png": "image/png",
    "picture.svg": "image/svg+xml",
    "attacked-records.csv": "text/csv; charset=utf-8",
}
FileName = Literal["report.html", "picture.png", "picture.svg", "attacked-records.csv"]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    method: str = Field(max_length=60)
    epsilon: float = Field(gt=0, le=1000, allow_inf_nan=False)
    clusters: int = Field(default=5, ge=1, le=50)
    effort: Effort = "quick"


class AuditRequest(_Asked):
    """An audit of a claim; ``planted`` runs what has half of the noise."""

    columns: int = Field(default=2, ge=1, le=16)
    planted: bool = False


class AttackRequest(_Asked):
    """An attack on records that are nobody's."""

    source: Source = "made-up"
    rows: int = Field(default=60, ge=16, le=2_000)


class _Results:
    """The latest results, for their files; oldest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Audited | Attacked] = {}

    def keep(self, result: Audited | Attacked) -> dict[str, Any]:
        key = secrets.token_hex(8)
        with self._lock:
            while len(self._kept) >= MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = result
        return {**result.to_dict(), "files": key}

    def get(self, key: str) -> Audited | Attacked:
        with self._lock:
            result = self._kept.get(key)
        if result is None:
            raise RefusedError("not-found", "The studio no longer has this result: run it again.")
        return result

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


def add_audit_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let the page audit a claim, attack records that are nobody's, and fetch the files."""
    results = _Results()
    workspace.on_close(results.clear)

    @app.get("/api/audit/methods", tags=["audit"], summary="What can be audited")
    def methods() -> list[dict[str, Any]]:
        return [
            {
                "name": method.name,
                "notion": method.notion,
                "summary": method.summary,
                "min_columns": method.min_columns,
                "max_columns": method.max_columns,
            }
            for method in AUDITED.values()
        ]

    @app.post("/api/audit", tags=["audit"], summary="Audit a claim on made-up neighbors")
    def audit(asked: AuditRequest) -> dict[str, Any]:
        settings = PromiseSettings(**asked.model_dump())
        settings.check_columns(settings.columns)

        def work(progress: JobProgress) -> dict[str, Any]:
            phases = _Phases(progress, replayed=settings.declared.notion == "central")
            return results.keep(audit_settings(settings, phases))

        return workspace.jobs.start("audit", work).to_dict()

    @app.post(
        "/api/tables/{identifier}/audit/attack",
        tags=["audit"],
        summary="Attack made-up records, or a private copy",
    )
    def attack(identifier: str, asked: AttackRequest) -> dict[str, Any]:
        table = workspace.get(identifier)
        settings = PromiseSettings(
            asked.method, asked.epsilon, asked.clusters, 0, asked.effort, planted=False
        )
        schema = table.described
        schema.check_complete()
        attacked_columns(settings, schema.space)
        if asked.source == "copy" and table.copy is None:
            raise RefusedError(
                "invalid-parameter",
                "There is no private copy yet: buy one on the Explore page, or use made-up "
                "records.",
            )

        def work(progress: JobProgress) -> dict[str, Any]:
            records = explored_records(
                table, asked.source, clusters=asked.clusters, rows=asked.rows
            )
            return results.keep(attack_records(settings, records, schema.space, progress))

        return workspace.jobs.start("attack", work).to_dict()

    @app.get("/api/audit/files/{key}/{name}", tags=["audit"], summary="Report, picture or records")
    def file(key: str, name: FileName) -> Response:
        result = results.get(key)
        if name == "report.html":
            content: bytes | str = result.report()
        elif name == "picture.png":
            content = result.picture.to_png()
        elif name == "picture.svg":
            content = result.picture.to_svg()
        elif isinstance(result, Attacked):
            content = result.csv()
        else:
            raise RefusedError("not-found", "An audit of a claim has no file of records.")
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type=FILES[name], headers=disposition)


class _Phases:
    """Progress that names its phase: a replay first, then samples."""

    def __init__(self, progress: JobProgress, *, replayed: bool) -> None:
        self._progress = progress
        self._total = 0
        progress.show({"phase": "replay" if replayed else "samples"})

    def __call__(self, done: int, total: int) -> None:
        if self._total not in (0, total):  # the replay counts pairs, sampling counts fits
            self._progress.show({"phase": "samples"})
        self._total = total
        self._progress(done, total)
