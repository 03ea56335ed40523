"""A comparison as text to copy and as files: the command, the snippet, its rows, its records.

Command and snippet give the same rows as the page, bit for bit: the same records, seeds and order.
"""

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from shoal.schema import Date, Schema
from shoal.studio.describing import schema_file_name
from shoal.studio.nobodys_records import SEED, SEGMENTS, ExploredRecords, Source
from shoal.studio.trade_off_settings import TradeOffSettings
from shoal.studio.workspace import StudioTable

__all__ = [
    "FileNames",
    "compare_command",
    "file_names",
    "python_snippet",
    "records_csv",
    "rows_csv",
]

ENDINGS: dict[Source, str] = {"made-up": "made-up.csv", "copy": "private-copy.csv"}
ESTIMATES = ("cost", "ami")
PLAIN = (
    *("method", "contender", "model", "epsilon", "own_epsilon"),
    *("seconds", "equal", "shuffled_epsilon", "better_than_blind", "guarantee"),
)

SNIPPET = """\
from pathlib import Path

{imports}

schema = Schema.load({schema!r})
{records}
table = ComparedTable.from_table(
    {points},
    file=Path({file!r}),
    bounds=schema.space.bounds,
    n_clusters={clusters},
)
chosen = choose_contenders(schema.space.columns, {methods!r})
comparison = compare_methods(
    table, chosen, epsilons={epsilons!r}, runs={runs}, seed={seed}, attacks=False
)
for row in comparison.rows:
    print(row.method, row.epsilon, row.cost)
print(recommend(comparison))
"""


class FileNames(NamedTuple):
    """Names under which a page offers the schema and the explored records."""

    schema: str
    records: str


def file_names(table: StudioTable, source: Source) -> FileNames:
    """Return the names of the files that command and snippet read."""
    schema = schema_file_name(table)
    return FileNames(schema, f"{schema.removesuffix('.schema.json')}.{ENDINGS[source]}")


def compare_command(settings: TradeOffSettings, names: FileNames) -> str:
    """Return the ``shoal compare`` command that gives the same rows."""
    words = ["shoal", "compare", names.records, "--schema", names.schema]
    words += ["--epsilon", ",".join(f"{epsilon!r}" for epsilon in settings.epsilons)]
    words += ["--clusters", str(settings.clusters), "--only", ",".join(settings.methods)]
    words += ["--runs", str(settings.runs), "--seed", str(settings.seed), "--no-attacks"]
    return shlex.join(words)


def python_snippet(settings: TradeOffSettings, names: FileNames, rows: int) -> str:
    """Return the lines of Python that give the same rows."""
    made_up = settings.source == "made-up"
    imports = [
        "from shoal.experiments.compare import (",
        "    ComparedTable, choose_contenders, compare_methods, recommend",
        ")",
        "from shoal.schema import Schema",
        f"from shoal.tables import {'ArrayTable' if made_up else 'read_table'}",
    ]
    records = f"records = read_table({names.records!r}, schema=schema)"
    points = "records"
    if made_up:
        imports.insert(0, "from shoal.experiments import make_up_records")
        records = f"records = make_up_records(schema, {rows}, n_clusters={SEGMENTS}, seed={SEED})"
        points = "ArrayTable(records.encoded, schema.space.names)"
    return SNIPPET.format(
        imports="\n".join(imports),
        schema=names.schema,
        records=records,
        points=points,
        file=names.records,
        clusters=settings.clusters,
        methods=list(settings.methods),
        epsilons=list(settings.epsilons),
        runs=settings.runs,
        seed=settings.seed,
    )


def rows_csv(rows: list[dict[str, Any]]) -> str:
    """Return the rows of a comparison, numbers to every digit."""
    heads = [*PLAIN[:5], *(f"{one}_{end}" for one in ESTIMATES for end in ("mean", "low", "high"))]
    lines = [
        [
            *(row[name] for name in PLAIN[:5]),
            *(
                None if row[one] is None else row[one][end]
                for one in ESTIMATES
                for end in ("mean", "low", "high")
            ),
            *(row[name] for name in PLAIN[5:]),
        ]
        for row in rows
    ]
    return _csv([*heads, *PLAIN[5:]], lines)


def records_csv(schema: Schema, records: ExploredRecords) -> str:
    """Return the explored records, which are nobody's, as a file that the schema describes."""
    patterns = {one.name: one.format for one in schema.features if isinstance(one, Date)}
    columns = [_written(records.columns[name], patterns.get(name, "")) for name in schema.columns]
    return _csv(schema.columns, zip(*columns, strict=True))


def _written(values: Any, pattern: str) -> Any:
    """Write dates as the schema reads them."""
    if not pattern:
        return values
    return [None if value is None else value.strftime(pattern) for value in values]


def _csv(heads: Sequence[str], lines: Iterable[Iterable[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(lines)
    return out.getvalue()
