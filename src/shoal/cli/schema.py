"""``shoal schema``: the public description of a table, by questions, from a file, or learned."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from shoal.cli._options import LedgerFile, NoLedger, TableName, Who
from shoal.cli._screen import progress_bar
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.cluster import LearnedSchema
    from shoal.privacy import Ledger
    from shoal.schema import Field, Schema

__all__ = ["schema_command"]

ENDING = ".schema.json"
NAMES_NEEDED = (
    "the column names must be known: pass --header if the first line of the file holds them, or "
    "--columns a,b,c"
)
LEFT_OUT = "-"


def schema_command(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file of raw records to describe.")],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            help="JSON file for the schema. Default: NAME.schema.json in the current folder."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing schema.")] = False,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of the file holds the column names. Default: ask on a "
            "terminal.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Names of the columns to describe, separated by commas; with --no-header, names "
            "of all columns in order, with - for those to leave out."
        ),
    ] = None,
    from_frictionless: Annotated[
        Path | None,
        typer.Option(
            help="Start from a Frictionless Table Schema or Data Package, or an unfinished schema."
        ),
    ] = None,
    private: Annotated[
        float | None,
        typer.Option(help="Learn the bounds and categories that are left open, with this epsilon."),
    ] = None,
    delta: Annotated[
        float, typer.Option(help="Delta of --private; categories need one above 0, such as 1e-6.")
    ] = 0.0,
    user_column: Annotated[
        str | None,
        typer.Option(
            help="Column that says whose record each row is: the promise is then per person."
        ),
    ] = None,
    records_per_user: Annotated[
        int | None, typer.Option(min=1, help="Rows counted per person. Default: 1.")
    ] = None,
    ledger: LedgerFile = None,
    no_ledger: NoLedger = False,
    table: TableName = None,
    who: Who = None,
    check: Annotated[
        Path | None,
        typer.Option(help="Only check a schema against the column names of the file."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed that makes the learned values repeatable; voids the guarantee."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Describe the columns of your table by answering questions; the schema may be published.

    Without a terminal, it writes a template and says what is still to be filled in.

    Example: shoal schema people.csv --header
    """
    from shoal.cli._counting import count_spends, finish
    from shoal.cli._input import with_user
    from shoal.cli._interview import ask_fields
    from shoal.schema import Schema

    if check is not None:
        _check_columns(check, data, as_json=as_json)
        return
    options = {"--delta": delta or None, "--records-per-user": records_per_user, "--seed": seed}
    charged = {"--ledger": ledger, "--no-ledger": no_ledger or None, "--table": table, "--who": who}
    for option, given in {**options, **charged}.items():
        if private is None and given is not None:
            raise ParameterError(f"{option} must come with --private EPS, got {given} without it")
    target = _target(data, out, force=force)
    schema = _imported(data, from_frictionless)
    names = _Names([])
    if schema is None:
        asked = on_terminal() and not as_json
        names = _named(data, header, columns, asked=asked)
        if len(set(names.described)) < len(names.described) or not all(names.described):
            raise ParameterError("the columns must have different names, none of them empty")
        if asked:
            schema = Schema(ask_fields(names.described, learn=private is not None))
        else:
            schema = Schema.from_names(names.described)
    elif header is not None or columns is not None:
        raise ParameterError(
            "--header and --columns must be left out if a schema file names the columns"
        )
    schema = with_user(schema, user_column)
    learned = counting = None
    if private is not None:
        counting = count_spends(ledger, data, target, table=table, who=who, no_ledger=no_ledger)
        learned = _learn(
            data,
            schema,
            names,
            epsilon=private,
            delta=delta,
            ledger=counting.ledger,
            records_per_user=records_per_user or 1,
            seed=seed,
        )
        schema = learned.schema
    schema.save(target)
    if not as_json:
        _print(schema, target, data, learned, names)
    finish(counting, _plain(schema, target, learned) if as_json else None)


def on_terminal() -> bool:
    """Return whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class _Names(NamedTuple):
    """Names of the columns that are described."""

    described: list[str]
    # Of all columns, - for those that are left out, where the file has no header line.
    without_header: list[str] | None = None

    @property
    def header(self) -> list[str] | None:
        """Different names for all columns of a file without a header line."""
        if self.without_header is None:
            return None
        numbered = enumerate(self.without_header, 1)
        return [f"column {number}" if name == LEFT_OUT else name for number, name in numbered]


def _target(data: Path, out: Path | None, *, force: bool) -> Path:
    """Return where the schema goes; refuse to replace what is there."""
    stem = data.name.removesuffix(".gz")
    target = out or Path(f"{stem.rpartition('.')[0] or stem}{ENDING}")
    if not target.parent.is_dir():
        raise ParameterError(f"--out must be a file in a folder that exists, got {str(target)!r}")
    if target.is_dir():
        raise ParameterError(f"--out must be a file, got the folder {str(target)!r}")
    if target.exists() and data.exists() and target.samefile(data):
        raise ParameterError(f"--out must not replace the records, got {str(target)!r}")
    if target.exists() and not force:
        raise ParameterError(f"{str(target)!r} already exists: pass --force to replace it")
    return target


def _imported(data: Path, frictionless: Path | None) -> "Schema | None":
    """Read a description that exists, if one is named."""
    from shoal.schema import Schema, import_table_schema

    if frictionless is not None:
        return Schema.from_dict(import_table_schema(frictionless, table=data.name))
    return None


def _named(data: Path, header: bool | None, columns: str | None, *, asked: bool) -> _Names:
    """Find out the names of the columns: from the user, or from a line that holds names."""
    from shoal.cli._input import parse_list
    from shoal.cli._interview import ask_header, ask_names
    from shoal.tables import read_first_line

    given = parse_list(columns)
    if header is None and given is None and not asked:
        raise ParameterError(NAMES_NEEDED)
    if header is False and given is None and not asked:
        raise ParameterError("--no-header must come with --columns, the names of all columns")
    if header is not False and given is not None:
        return _Names(given)
    first = read_first_line(data)
    if header or (header is None and ask_header(data.name, first)):
        return _Names(first)
    names = given or ask_names(len(first))
    if len(names) != len(first):
        raise ParameterError(
            f"--columns must name all {len(first)} columns of a file without a header line, with "
            f"- for those to leave out, got {len(names)}"
        )
    return _Names([name for name in names if name != LEFT_OUT], names)


def _learn(
    data: Path,
    schema: "Schema",
    names: _Names,
    *,
    epsilon: float,
    delta: float,
    ledger: "Ledger | None",
    records_per_user: int,
    seed: int | None,
) -> "LearnedSchema":
    """Spend a budget on what is left open."""
    from shoal.cluster import learn_schema
    from shoal.tables import read_columns

    wanted = list(schema.lacking())
    wanted += [] if schema.user is None else [schema.user.name]
    with progress_bar("learning"):
        return learn_schema(
            read_columns(data, wanted, names=names.header) if schema.lacking() else {},
            schema,
            epsilon=epsilon,
            delta=delta,
            ledger=ledger,
            records_per_user=records_per_user,
            random_state=seed,
        )


def _check_columns(path: Path, data: Path, *, as_json: bool) -> None:
    """Compare a schema with the names of a file's columns; names that it lacks are not shown."""
    from shoal.schema import Schema
    from shoal.tables import read_first_line

    schema = Schema.load(path)
    found = read_first_line(data)
    absent = [name for name in schema.all_columns if name not in found]
    if as_json:
        typer.echo(json.dumps({"missing_columns": absent, "lacking": schema.lacking()}))
    for name in absent:
        typer.echo(f"{data.name} has no column {name!r} in its first line", err=as_json)
    for name, lacking in schema.lacking().items():
        typer.echo(f"field {name!r} lacks {lacking}", err=as_json)
    if absent or schema.lacking():
        raise typer.Exit(1)
    if not as_json:
        typer.echo(f"{path.name} is complete, and every field has its column in {data.name}")


def _print(
    schema: "Schema",
    target: Path,
    data: Path,
    learned: "LearnedSchema | None",
    names: _Names,
) -> None:
    from shoal.schema import Field

    # Names of columns are the user's: square brackets in them are no markup.
    screen = Console(markup=False, highlight=False)
    table = Table(title=f"Schema of {data.name}")
    for heading in ("column", "is", "from", "to", "missing", "weight"):
        table.add_column(heading)
    for field in schema:
        table.add_row(*_row(field))
    screen.print(table)
    if learned is not None:
        screen.print(f"{learned.guarantee_}\n", soft_wrap=True)
        if learned.release_.ledger is not None:
            screen.print(f"ledger: {learned.release_.ledger}")
        if learned.guarantee_.seeded:
            screen.print("no promise: anyone who knows --seed can remove the noise")
    for name, lacking in schema.lacking().items():
        screen.print(f"still to fill in: {lacking} of {name}", soft_wrap=True)
    screen.print(f"written: {target.resolve()}", soft_wrap=True)
    if any(schema[name].type == Field.type for name in schema.lacking()):
        screen.print(
            'give every column a type in that file, such as "type": "number", or the role '
            "'ignore', without looking at the records; bounds and categories can then be learned",
            soft_wrap=True,
        )
    elif schema.lacking():
        screen.print(
            f"fill in what is left, without looking at the records, or learn it: shoal schema "
            f"{data} --from-frictionless {target} --private 0.5 --delta 1e-6 --force",
            soft_wrap=True,
        )
    else:
        listed = names.without_header
        given = "" if listed is None else f" --no-header --columns {','.join(listed)}"
        screen.print(f"next: shoal cluster {data} --schema {target}{given}", soft_wrap=True)


def _row(field: "Field") -> tuple[str, ...]:
    from shoal._numbers import readable
    from shoal.schema import Category, Flag, Ordinal

    kind = type(field).__name__.lower() if type(field).__name__ != "Field" else "?"
    ends = (getattr(field, end, None) for end in ("minimum", "maximum"))
    bounds = [readable(end) if isinstance(end, float) else end or "" for end in ends]
    if isinstance(field, Category | Ordinal) and not isinstance(field, Flag):
        listed = ", ".join(field.categories)
        bounds = [listed if len(listed) < 40 else f"{len(field.categories)} categories", ""]
    if getattr(field, "unit", "") and bounds[1]:
        bounds[1] += f" {field.unit}"
    if field.role in ("user", "ignore", "describe", "sample_weight"):
        return field.name, kind if kind != "?" else "", *bounds, "", field.role
    return field.name, kind, *bounds, field.missing, f"{field.weight:g}"


def _plain(schema: "Schema", target: Path, learned: "LearnedSchema | None") -> dict[str, Any]:
    plain: dict[str, Any] = {
        "file": str(target),
        "fields": len(schema.fields),
        "lacking": schema.lacking(),
        "schema": schema.to_dict(),
    }
    if learned is not None:
        promise, paid = learned.guarantee_, learned.release_.ledger
        plain["guarantee"] = {**promise.to_dict(), "text": str(promise)}
        plain["ledger"] = None if paid is None else paid.to_dict()
    return plain
