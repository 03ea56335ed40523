"""The page Table: open one, describe it, say who holds the records."""

import io
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from shoal._json_text import read_json
from shoal.datasets import list_datasets
from shoal.exceptions import ParameterError
from shoal.schema import Schema
from shoal.schema.questions import split_names
from shoal.service import RefusedError
from shoal.studio.describing import (
    change_settings,
    describe_field,
    field_forms,
    question_words,
    read_schema,
    schema_file_name,
    set_schema,
)
from shoal.studio.opening import (
    GENERATED,
    first_line,
    name_columns,
    open_bytes,
    open_dataset,
    open_schema,
)
from shoal.studio.workspace import Workspace

__all__ = ["add_table_routes"]

MAX_SCHEMA_BYTES = 1 << 22
MAX_NAME = 200


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DatasetChoice(_Strict):
    """A data set, and how many records of a generated one."""

    name: str
    n: int | None = None


class SchemaAlone(_Strict):
    """A table without records: its schema, or the names of its columns by commas."""

    name: str = "made-up table"
    table_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    names: str | None = None


class ColumnNames(_Strict):
    """Whether the first line holds the names of the columns, or what they are."""

    header: bool
    names: str = ""


class FieldAnswers(_Strict):
    """Answers about one field, as they were typed."""

    name: str
    kind: str
    answers: dict[str, str] = {}


class TableSettings(_Strict):
    """What is said about a table beside its schema; what is left out stays."""

    trust_model: Literal["central", "local", "shuffled"] | None = None
    records_per_user: int | None = None
    n_guess: int | None = None
    user: str | None = None


def add_table_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let pages open a table and describe it."""
    _add_opening(app, workspace)
    _add_describing(app, workspace)


def _add_opening(app: FastAPI, workspace: Workspace) -> None:
    settings = workspace.settings

    @app.get("/api/start", tags=["tables"], summary="What can be opened")
    def start() -> dict[str, Any]:
        known = [_listed(info) for info in list_datasets(available=True)]
        made = [{"name": name, "words": words} for name, words in GENERATED.items()]
        return {"generated": made, "datasets": known, "max_bytes": settings.max_body_bytes}

    @app.post("/api/tables/upload", tags=["tables"], summary="Open the bytes of a file")
    async def upload(
        request: Request,
        name: Annotated[str, Query()],
        header: Annotated[bool | None, Query()] = None,
    ) -> dict[str, Any]:
        content = await _read_body(request, settings.max_body_bytes)

        def opened() -> dict[str, Any]:
            table = open_bytes(workspace, _file_name(name), content)
            if header and table.unnamed:
                try:
                    name_columns(table, None)
                except Exception:
                    workspace.forget(table.id)
                    raise
            return table.to_dict()

        return await run_in_threadpool(opened)

    @app.post("/api/tables/dataset", tags=["tables"], summary="Open a data set")
    def dataset(choice: DatasetChoice) -> dict[str, Any]:
        return open_dataset(workspace, choice.name, choice.n).to_dict()

    @app.post("/api/tables/schema", tags=["tables"], summary="Begin with a schema, without records")
    def schema_alone(given: SchemaAlone) -> dict[str, Any]:
        if (given.table_schema is None) == (given.names is None):
            raise ParameterError("either a schema or the names of columns must be given")
        if given.table_schema is not None:
            schema = read_schema(given.table_schema)
            return open_schema(workspace, _file_name(given.name), schema, by="file").to_dict()
        schema = _schema_of_names(given.names or "")
        return open_schema(workspace, _file_name(given.name), schema).to_dict()

    @app.get("/api/tables/{identifier}/first-line", tags=["tables"], summary="For the curator")
    def line(identifier: str) -> dict[str, Any]:
        return {"values": first_line(workspace.get(identifier))}

    @app.post("/api/tables/{identifier}/names", tags=["tables"], summary="Name the columns")
    def names(identifier: str, given: ColumnNames) -> dict[str, Any]:
        table = workspace.get(identifier)
        name_columns(table, None if given.header else given.names)
        return table.to_dict()


def _add_describing(app: FastAPI, workspace: Workspace) -> None:
    @app.get("/api/questions", tags=["tables"], summary="What is asked about a column")
    def questions() -> dict[str, Any]:
        return question_words()

    @app.get("/api/tables/{identifier}/fields", tags=["tables"], summary="Answers by field")
    def fields(identifier: str) -> dict[str, Any]:
        return {"fields": field_forms(workspace.get(identifier))}

    @app.post("/api/tables/{identifier}/fields", tags=["tables"], summary="Describe a field")
    def describe(identifier: str, given: FieldAnswers) -> dict[str, Any]:
        table = workspace.get(identifier)
        describe_field(table, given.name, given.kind, given.answers)
        return table.to_dict()

    @app.post("/api/tables/{identifier}/schema", tags=["tables"], summary="Take a whole schema")
    async def schema(identifier: str, request: Request) -> dict[str, Any]:
        table = workspace.get(identifier)
        content = await _read_body(request, MAX_SCHEMA_BYTES)

        def taken() -> dict[str, Any]:
            set_schema(table, read_schema(_read_document(content), table.name))
            return table.to_dict()

        return await run_in_threadpool(taken)

    @app.get("/api/tables/{identifier}/schema.json", tags=["tables"], summary="Save the schema")
    def saved(identifier: str) -> Response:
        table = workspace.get(identifier)
        quoted = _ascii_name(schema_file_name(table))
        return Response(
            table.described.to_bytes(),
            media_type="application/json",
            headers={"Content-Disposition": f'attachment; filename="{quoted}"'},
        )

    @app.post("/api/tables/{identifier}/settings", tags=["tables"], summary="Say who holds it")
    def change(identifier: str, given: TableSettings) -> dict[str, Any]:
        table = workspace.get(identifier)
        change_settings(table, **given.model_dump())
        return table.to_dict()


def _listed(info: Any) -> dict[str, Any]:
    return {
        "name": info.name,
        "columns": len(info.table or info.limits),
        "license": info.license,
        "source": info.source,
        "bundled": info.bundled,
    }


async def _read_body(request: Request, limit: int) -> bytes:
    """Return a raw body, in memory; refuse one that is too large before it is whole."""
    refused = RefusedError(
        "too-large", f"The file must have at most {limit:,} bytes, got more: nothing was kept."
    )
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise refused
    body = io.BytesIO()
    async for chunk in request.stream():
        if body.tell() + len(chunk) > limit:
            raise refused
        body.write(chunk)
    return body.getvalue()


def _read_document(content: bytes) -> Any:
    try:
        return read_json(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ParameterError("a schema must be a JSON file, got something else") from None


def _schema_of_names(text: str) -> Schema:
    try:
        names = split_names(text)
    except ValueError as wrong:
        raise ParameterError(f"columns must be {wrong}") from None
    if not names:
        raise ParameterError("columns must be one or more names separated by commas, got none")
    return Schema.from_names(names)


def _file_name(name: str) -> str:
    """Return the last part of a path, as text that can be shown."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(letter for letter in last if letter.isprintable()).strip()
    return shown[:MAX_NAME] or "table"


def _ascii_name(name: str) -> str:
    kept = (one if " " <= one <= "~" and one not in '"\\' else "_" for one in name)
    return "".join(kept)
