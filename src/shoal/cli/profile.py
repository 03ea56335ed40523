"""``shoal profile``: what distinguishes each cluster of an earlier release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from shoal.cli._options import LedgerFile, NamedColumns, NoHeader, NoLedger, TableName, Who
from shoal.cli._screen import progress_bar
from shoal.exceptions import MissingPackageError, ParameterError

if TYPE_CHECKING:
    from shoal.cluster import ClusterProfile
    from shoal.privacy import Release
    from shoal.schema import Schema

__all__ = ["profile_command"]

CLUSTERS = "release.json"
RELEASE, TABLE, PICTURE, PAGE = "profile.json", "profile.csv", "profile.png", "profile.html"
FILES = (RELEASE, TABLE, PICTURE, PAGE)


def profile_command(
    data: Annotated[
        Path,
        typer.Argument(help="CSV, Parquet or Feather file of raw records, or a folder of them."),
    ],
    *,
    release: Annotated[
        Path, typer.Option(help="The release.json of `shoal cluster`, or its folder.")
    ],
    schema: Annotated[
        Path | None,
        typer.Option(
            help="JSON file that describes the columns. Default: the schema of the release."
        ),
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Budget of this profile.")] = 1.0,
    delta: Annotated[
        float, typer.Option(help="Above 0 for Gaussian noise; keywords from text need it.")
    ] = 0.0,
    columns: NamedColumns = None,
    no_header: NoHeader = False,
    user_column: Annotated[
        str | None,
        typer.Option(
            help="Column that says whose record each row is: the promise is then per person "
            "instead of per row."
        ),
    ] = None,
    records_per_user: Annotated[
        int | None,
        typer.Option(min=1, help="Rows counted per person. Default: 1."),
    ] = None,
    ledger: LedgerFile = None,
    no_ledger: NoLedger = False,
    table: TableName = None,
    who: Who = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the profile; the clusters in it are kept.")
    ] = Path("shoal-profile"),
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed that makes the profile repeatable; voids the guarantee."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Describe the clusters of an earlier release in sentences: whatever stands out from the noise.

    Fields with the role "describe" are described too. Writes a page, a picture, a table and the
    release of the profile, all of which may be published.

    Example: shoal profile people.csv --release shoal-cluster --schema people.json --epsilon 0.5
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    from shoal.cli._counting import count_spends, finish
    from shoal.cli._input import check_outside, open_records, parse_columns
    from shoal.cli._output import after_the_spend, staged
    from shoal.cluster import ClusterProfile
    from shoal.privacy import Release

    clusters = Release.load(release / CLUSTERS if release.is_dir() else release)
    described = _schema(schema, clusters, user_column)
    chosen = parse_columns(columns, no_header=no_header, schema=described)
    user = None if described.user is None else described.user.name
    if user is None and records_per_user is not None:
        raise ParameterError(
            f"--records-per-user must come with --user-column NAME, got {records_per_user} "
            "without it"
        )
    check_outside("--out", out, data)
    if data.resolve() in [(out / name).resolve() for name in FILES]:
        raise ParameterError(f"--out must not replace the data, got {str(out)!r}")
    counting = count_spends(ledger, data, out, table=table, who=who, no_ledger=no_ledger)
    model = ClusterProfile(
        clusters,
        schema=described,
        epsilon=epsilon,
        delta=delta,
        records_per_user=records_per_user or 1,
        user_column=user or "",
        ledger=counting.ledger,
        random_state=seed,
    )
    records = open_records(data, chosen, schema=model.table_schema())
    with staged(out, FILES, mark=RELEASE) as stage:
        with progress_bar("describing"):
            model.fit(records)
        with after_the_spend(
            f"the profile cannot be written to {str(out)!r}", "and nothing was released"
        ):
            model.release_.save(stage.path / RELEASE)
            model.to_csv(stage.path / TABLE)
            stage.show()
        with after_the_spend("the page cannot be drawn", f"and the profile is in {out}"):
            notes = [*_promise_notes(model, user), *_drawn(model, stage.path)]
            stage.show()
    if not as_json:
        _print(model, stage.shown, notes)
    finish(counting, _plain(model, stage.shown, notes) if as_json else None)


def _schema(path: Path | None, clusters: "Release", user_column: str | None) -> "Schema":
    """Return the schema of ``--schema``, or else that of the release."""
    from shoal.cli._input import read_schema, with_user
    from shoal.schema import Schema

    described = read_schema(path, user=user_column)
    if described is not None:
        return described
    if "schema" not in clusters.values:
        raise ParameterError(
            "--schema must be given for a release that was made without one: write it with "
            "`shoal schema`"
        )
    return with_user(Schema.from_dict(clusters.values["schema"]), user_column)


def _promise_notes(model: "ClusterProfile", user: str | None) -> list[str]:
    notes = list(model.release_.values["notes"])
    if model.random_state is not None:
        notes.append("no promise: anyone who knows --seed can remove the noise")
    if user is None:
        notes.append(
            "the promise is per row: a person with several rows is protected "
            "less; use --user-column"
        )
    return notes


def _drawn(model: "ClusterProfile", folder: Path) -> list[str]:
    """Draw the page and the picture; return a note where there are none."""
    from shoal.plotting import draw_profile, profile_page

    try:
        draw_profile(model, path=folder / PICTURE)
        (folder / PAGE).write_text(profile_page(model), encoding="utf-8")
    except MissingPackageError as missing:
        return [f"no page and no picture: {missing}"]
    return []


def _print(model: "ClusterProfile", files: list[Path], notes: list[str]) -> None:
    # Names of columns are the user's: square brackets in them are no markup.
    screen = Console(markup=False, highlight=False)
    for sentence in model.describe():
        screen.print(sentence, soft_wrap=True)
    screen.print(f"\n{model.guarantee_}\n", soft_wrap=True)
    if model.release_.ledger is not None:
        screen.print(f"ledger: {model.release_.ledger}")
    for note in notes:
        screen.print(note, soft_wrap=True)
    state = "may be published" if model.guarantee_.holds else "not to be published"
    for file in files:
        screen.print(f"{state}: {file.resolve()}", soft_wrap=True)


def _plain(model: "ClusterProfile", files: list[Path], notes: list[str]) -> dict[str, Any]:
    release = model.release_
    return {
        "sentences": model.describe(),
        "rows": [row._asdict() for row in model.rows()],
        "guarantee": {**release.guarantee.to_dict(), "text": str(release.guarantee)},
        "may_be_published": release.guarantee.holds,
        "ledger": None if release.ledger is None else release.ledger.to_dict(),
        "files": [str(file) for file in files],
        "notes": notes,
    }
