"""What a curator says about a table: its schema, whose rows they are, who holds the records.

Nothing is read from the records: only names of columns and the curator's own words count. Once
something was released, the description stays as it is, because the release was made by it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from shoal.exceptions import ParameterError
from shoal.schema import Field, Schema, import_table_schema
from shoal.schema.questions import (
    ASKED,
    HELP,
    KINDS,
    QUESTIONS,
    WHY,
    answers_of,
    field_from_answers,
    kind_of,
    likely_kind,
)
from shoal.service import RefusedError
from shoal.studio.workspace import StudioTable, TrustModel

__all__ = [
    "change_settings",
    "describe_field",
    "field_forms",
    "question_words",
    "read_schema",
    "schema_file_name",
    "set_schema",
]

MAX_GUESS = 1_000_000_000
MAX_RECORDS_PER_USER = 1_000_000
SETTLED = (
    "Something was released with this description, so it can no longer change: open the file "
    "again to describe it differently."
)


def question_words() -> dict[str, Any]:
    """Return the questions about columns, their kinds and explanations, as pages read them."""
    return {"why": WHY, "kinds": KINDS, "asked": ASKED, "questions": QUESTIONS, "help": HELP}


def field_forms(table: StudioTable) -> list[dict[str, Any]]:
    """Return the answers that were given for each field, and the kind that its name suggests.

    Parameters
    ----------
    table : StudioTable
        With a schema, perhaps of names alone.

    Returns
    -------
    forms : list of dict
        In the order of the fields.
    """
    schema = table.described
    forms: list[dict[str, Any]] = []
    for field in schema:
        kind, known = kind_of(field), _is_known(schema, field)
        # One column at most is suggested to say whose row it is: the first.
        likely = known or any("u" in (form["kind"], form["suggested"]) for form in forms)
        forms.append(
            {
                "name": field.name,
                "kind": kind,
                "suggested": kind or likely_kind(field.name, user_known=likely),
                "answers": answers_of(field),
                "role": field.role,
                "title": field.title,
                "lacking": field.lacking,
                "may_be_user": not known,
            }
        )
    return forms


def read_schema(plain: Any, table: str | None = None) -> Schema:
    """Return the schema of a document, ours or of Frictionless.

    Parameters
    ----------
    plain : object
        What a JSON file holds.
    table : str, default=None
        File name of the table, where the document describes several.

    Returns
    -------
    schema : Schema
        It may still lack something.
    """
    if not isinstance(plain, Mapping):
        raise ParameterError("a schema must be a JSON object with a list of fields")
    try:
        return Schema.from_dict(import_table_schema(plain, table=table))
    except (TypeError, AttributeError, LookupError, RecursionError):
        raise ParameterError(
            "a schema must be a document of Table Schema, got JSON of another shape"
        ) from None


def set_schema(table: StudioTable, schema: Schema) -> None:
    """Describe a table by a schema that somebody made before.

    Parameters
    ----------
    table : StudioTable
        Whose columns must hold all fields.
    schema : Schema
        Perhaps not complete yet.
    """
    with _changing(table):
        if table.unnamed:
            raise ParameterError("first answer whether the first line holds the column names")
        absent = [name for name in schema.all_columns if name not in table.columns]
        if table.columns and absent:
            raise ParameterError(
                f"every field must have its column in the table, got none named {absent[0]!r}"
            )
        _set_schema(table, schema, "file")


def describe_field(table: StudioTable, name: str, kind: str, answers: Mapping[str, str]) -> None:
    """Describe one column by answers.

    Parameters
    ----------
    table : StudioTable
        With a schema, perhaps of names alone.
    name : str
        Of the field.
    kind : str
        Key of the questions' kinds.
    answers : mapping of str
        As they were typed.
    """
    with _changing(table):
        schema = table.described
        before = _field(schema, name)
        if kind == "u" and _is_known(schema, before):
            raise ParameterError(
                "another column already says whose row it is: change that one first"
            )
        field = field_from_answers(name, kind, answers, before)
        _replace_fields(table, {name: field})


def change_settings(
    table: StudioTable,
    *,
    trust_model: TrustModel | None = None,
    records_per_user: int | None = None,
    n_guess: int | None = None,
    user: str | None = None,
) -> None:
    """Say who holds the records, whose rows they are, and about how many there are.

    Parameters
    ----------
    table : StudioTable
        Of which this is said.
    trust_model : {"central", "local", "shuffled"}, default=None
        Who holds the records; None leaves it as it is, here and below.
    records_per_user : int, default=None
        Rows of each person that count.
    n_guess : int, default=None
        Public guess of the number of records.
    user : str, default=None
        Column that says whose row it is; empty where each row is another person.
    """
    with _changing(table):
        if n_guess is not None and not 1 <= n_guess <= MAX_GUESS:
            raise ParameterError(f"the guess must be between 1 and {MAX_GUESS:,}, got {n_guess}")
        if records_per_user is not None and not 1 <= records_per_user <= MAX_RECORDS_PER_USER:
            raise ParameterError(
                f"rows counted per person must be between 1 and {MAX_RECORDS_PER_USER:,}, got "
                f"{records_per_user}"
            )
        if user is not None:
            _set_user(table, user)
        if records_per_user is not None and records_per_user != table.records_per_user:
            if table.has_bought:
                raise RefusedError("invalid-parameter", SETTLED)
            _keep_ledger(table, changed=table.described.user is not None)
            table.records_per_user = records_per_user
        if trust_model is not None and trust_model != table.trust_model:
            table.trust_model = trust_model
        if n_guess is not None and n_guess != table.n_guess:
            table.n_guess = n_guess
        table.cache.clear()


def schema_file_name(table: StudioTable) -> str:
    """Return the name under which the schema of a table is saved.

    Parameters
    ----------
    table : StudioTable
        Its name is that of a file or data set.

    Returns
    -------
    name : str
        As ``shoal schema`` has it: people.csv.gz gives people.schema.json.
    """
    stem = table.name.removesuffix(".gz")
    return f"{stem.rpartition('.')[0] or stem}.schema.json"


def _set_user(table: StudioTable, user: str) -> None:
    """Give one column, or none, the role of saying whose row it is."""
    schema = table.described
    current = schema.user
    if (current.name if current else "") == user:
        return
    changed: dict[str, Field] = {}
    if current is not None:
        changed[current.name] = Field(current.name, role="ignore")
    if user:
        chosen = _field(schema, user)
        changed[user] = Field(user, role="user", title=chosen.title, description=chosen.description)
    _replace_fields(table, changed)


def _replace_fields(table: StudioTable, changed: Mapping[str, Field]) -> None:
    schema = table.described
    fields = [changed.get(field.name, field) for field in schema]
    _set_schema(table, replace(schema, fields=fields), "curator")


def _set_schema(table: StudioTable, schema: Schema, by: Literal["file", "curator"]) -> None:
    if schema == table.schema:
        return
    if table.has_bought:
        raise RefusedError("invalid-parameter", SETTLED)
    earlier, before = table.privacy_unit, table.schema
    table.schema = schema
    try:
        _keep_ledger(table, changed=table.privacy_unit != earlier)
    except RefusedError:
        table.schema = before
        raise
    table.schema_from = by
    table.cache.clear()


@contextmanager
def _changing(table: StudioTable) -> Iterator[None]:
    """Change what is said about a table while nothing is bought by it."""
    with table.purchases.halted(), table.lock:
        yield


def _field(schema: Schema, name: str) -> Field:
    try:
        return schema[name]
    except KeyError:
        raise ParameterError("the table must have a field of that name, got none") from None


def _is_known(schema: Schema, field: Field) -> bool:
    """Return whether another column says whose row it is."""
    return schema.user is not None and schema.user.name != field.name


def _keep_ledger(table: StudioTable, *, changed: bool) -> None:
    """Drop an unused ledger in memory whose promise was to others; refuse where it is in use."""
    ledger = table.ledger
    if not changed or ledger is None:
        return
    if ledger.path is not None or len(ledger.entries):
        raise RefusedError(
            "invalid-parameter",
            "This table's ledger was made for rows or for people, and that can no longer change: "
            "open the file again, and say whose row each row is before you set a limit.",
        )
    table.ledger = None
