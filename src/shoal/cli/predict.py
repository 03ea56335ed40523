"""``shoal predict``: labels of new records from a release alone, for the curator or on a device."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli._options import NamedColumns, NoHeader
from shoal.cli._screen import progress_bar
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal._typing import Labels
    from shoal.tables import Block

__all__ = ["predict_command"]

RELEASE, LABELS = "release.json", ("cluster",)
PRIVATE = "labels of private records are as private as the records: do not publish them"


def predict_command(
    release: Annotated[
        Path, typer.Argument(help="The release.json of `shoal cluster`, or its folder.")
    ],
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV, Parquet or Feather file of new records, a folder of such files, or a .npy "
            "or .npz file; a column of users is not needed."
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="CSV or Parquet file for each record's cluster."),
    ] = Path("labels.csv"),
    columns: NamedColumns = None,
    no_header: NoHeader = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Find the clusters of new records from the release alone; spends nothing.

    The columns are those of the release; --columns names them if the release does not.

    Example: shoal predict shoal-cluster/release.json people.csv -o labels.csv
    """
    # Loading these takes a second: after --help and wrong options have been dealt with.
    import numpy as np

    from shoal.cli._input import only_features, open_records, parse_columns
    from shoal.reports import load_release
    from shoal.tables import is_array_path, write_table

    file = release / RELEASE if release.is_dir() else release
    clusters = load_release(file)
    schema = only_features(clusters.schema)
    named = None if schema is not None else clusters.release.values.get("columns")
    if columns is None and named and not no_header and not is_array_path(data):
        columns = _listed(named)
    chosen = parse_columns(columns, no_header=no_header, array=is_array_path(data), schema=schema)
    _check_places(out, data, file)
    records = open_records(data, chosen, schema=schema)

    def label(block: "Block") -> "Labels":
        return clusters.predict_encoded(np.column_stack(block))

    with progress_bar("labels"):
        labels = records.collect(label)
    write_table(out, LABELS, labels[:, None])
    if as_json:
        plain = {
            "release": clusters.release.kind,
            "n_clusters": clusters.n_clusters,
            "labels_for_the_curator_only": str(out),
            "notes": [PRIVATE],
        }
        typer.echo(json.dumps(plain))
    else:
        typer.echo(f"for the curator only: {out.resolve()}")
        typer.echo(PRIVATE)


def _listed(names: list[str]) -> str:
    """Write names as ``--columns`` takes them."""
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)


def _check_places(out: Path, data: Path, release: Path) -> None:
    """Refuse to publish labels with the release, or to write over the records."""
    from shoal.cli._input import check_outside
    from shoal.tables import array_file, check_table_path

    folder = release.resolve().parent
    if out.resolve().parent == folder or out.resolve().is_relative_to(folder):
        raise ParameterError(
            f"--out must lie outside the release's folder {str(release.parent)!r}, got "
            f"{str(out)!r}: labels are for the curator only"
        )
    check_outside("--out", out, data)
    check_table_path(out, LABELS)
    records = array_file(data)
    if out.exists() and records.exists() and out.samefile(records):
        raise ParameterError(f"--out must not replace the data, got {str(out)!r}")
