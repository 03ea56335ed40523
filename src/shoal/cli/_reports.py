"""Reports in files: whose they are, by the document beside them, and whether they can be that.

Reports are public; what is taken for them may be raw records all the same, so no message shows a
value.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.cli._input import (
    GivenColumns,
    only_features,
    open_records,
    parse_columns,
    read_schema,
)
from shoal.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from shoal._typing import Floats
    from shoal.privacy import Guarantee

__all__ = [
    "MechanismOptions",
    "are_partitions",
    "check_reports",
    "open_mechanism",
    "promises",
    "read_reports",
]

PERTURB = "turn raw records into reports with `shoal perturb`, each on its own device"
ENOUGH = 64  # reports that all lie on a coarser lattice by chance once in 2^63


class MechanismOptions(NamedTuple):
    """Where the mechanism of reports is described: in a document, or by the same options."""

    document: Path | None = None
    target: str | None = None
    epsilon: float | None = None
    bounds: str | None = None
    columns: str | None = None
    schema: Path | None = None


def open_mechanism(
    reports: Path, given: MechanismOptions, settings: Sequence[str]
) -> tuple[Any, dict[str, Any]]:
    """Return the mechanism that made reports, and the settings that are none of its parameters."""
    from shoal._build import parse_settings

    parsed = parse_settings(settings)
    if not reports.exists():
        raise ParameterError(f"--reports must be an existing file or folder, got {str(reports)!r}")
    if given.target is not None and given.document is None:
        mechanism = _from_options(given)
        own = set(parsed) & set(mechanism.get_params(deep=False))
        mechanism.set_params(**{name: parsed.pop(name) for name in sorted(own)})
        return mechanism, parsed
    for option, value in given._asdict().items():
        if option not in ("document", "columns") and value is not None:
            raise ParameterError(
                f"--{option} must come with --target MECHANISM and without --mechanism, got "
                f"{str(value)!r}: otherwise the document says what made the reports"
            )
    return _from_document(reports, given), parsed


def are_partitions(mechanism: Any) -> bool:
    """Return whether reports are pairs of a partition and a color."""
    from shoal._report_channel import PartitionChannel

    return isinstance(mechanism, PartitionChannel)


def read_reports(path: Path, names: Sequence[str], kind: str) -> "Floats":
    """Read reports of a file or a folder, in their order."""
    import numpy as np

    from shoal.tables import ArrayTable

    try:
        table = open_records(path, GivenColumns(tuple(names)))
        if isinstance(table, ArrayTable):
            return table.doubles()
        parts: dict[int, list[Floats]] = {}

        def work(pieces: Iterator[tuple[int, Iterator[Any]]]) -> None:
            for index, blocks in pieces:
                parts[index] = [np.column_stack(block) for block in blocks]

        table.on_threads(work)
    except DataError as failure:
        if failure.parameter != "names":
            raise
        raise DataError(
            f"{failure.message}: reports of {kind} have the columns {', '.join(names)}; {PERTURB}"
        ) from None
    if not any(parts.values()):
        raise DataError(f"{str(path)!r} must hold at least one report, got none")
    return np.concatenate([part for index in sorted(parts) for part in parts[index]])


def check_reports(reports: "Floats", mechanism: Any) -> None:
    """Refuse numbers that the mechanism cannot have reported: raw records, above all."""
    if are_partitions(mechanism):
        _check_colors(reports, mechanism)
    else:
        _check_lattice(reports, mechanism)


def promises(mechanism: Any) -> dict[str, "Guarantee"]:
    """Return what is promised, and for a metric promise what remains of it over the whole box."""
    promised = {"each report": mechanism.guarantee_}
    if mechanism.guarantee_.notion == "metric":
        # KdLaplace draws by a mechanism of its own.
        drawn = getattr(mechanism, "mechanism_", mechanism)
        promised["over the whole box"] = drawn.local_guarantee_
    return promised


def _from_document(reports: Path, given: MechanismOptions) -> Any:
    """Read a mechanism; names of columns that its document lacks are those of ``--columns``."""
    import numpy as np

    from shoal.mechanisms import document_beside, load_mechanism

    beside = document_beside(reports)
    if given.document is None and not beside.is_file():
        raise ParameterError(
            "--reports must come with the document of their mechanism, got none at "
            f"{str(beside)!r}: name it with --mechanism FILE, or pass --target, --epsilon, "
            "--columns and --bounds"
        )
    mechanism = load_mechanism(given.document or beside)
    if mechanism.schema is None and not hasattr(mechanism, "n_features_in_"):
        raise ParameterError(
            "a mechanism's document must say how many columns records have, got one without that "
            "number: save it after fit"
        )
    if given.columns is not None:
        names = parse_columns(given.columns).used
        if hasattr(mechanism, "feature_names_in_") or mechanism.schema is not None:
            raise ParameterError(
                "--columns must be left out where the document names the columns, got "
                f"{given.columns!r}"
            )
        if len(names) != mechanism.n_features_in_:
            raise ParameterError(
                f"--columns must name the {mechanism.n_features_in_} columns of the document, got "
                f"{len(names)} names"
            )
        mechanism.feature_names_in_ = np.array(names, dtype=object)
    return mechanism


def _from_options(given: MechanismOptions) -> Any:
    """Build a mechanism by the options of ``shoal perturb``; it knows the columns of records."""
    import numpy as np

    from shoal._build import LOCAL
    from shoal.cli._target import build_target
    from shoal.tables import ArrayTable

    schema = only_features(read_schema(given.schema))
    names = parse_columns(given.columns, bounds=given.bounds, schema=schema).used
    mechanism = build_target(
        str(given.target),
        LOCAL,
        epsilon=given.epsilon,
        bounds=given.bounds,
        names=names,
        settings=[],
        ledger=None,
        seed=None,
        schema=schema,
    )
    if schema is None:
        mechanism.fit(ArrayTable(np.zeros((1, len(names))), names))  # a record that nobody has
    return mechanism


def _check_colors(reports: "Floats", mechanism: Any) -> None:
    import numpy as np

    from shoal._report_channel import PARTITION_COLUMNS

    partitions = mechanism.partitions_
    if (reports != np.rint(reports)).any():
        raise DataError(
            f"reports of {type(mechanism).__name__} must be whole numbers, got others: {PERTURB}"
        )
    limits = (partitions.n_partitions, partitions.n_colors)
    for name, column, limit in zip(PARTITION_COLUMNS, reports.T, limits, strict=True):
        if (column < 0).any() or (column >= limit).any():
            raise DataError(
                f"column {name!r} must hold numbers from 0 to {limit - 1}, got others: the "
                "reports come from another mechanism, or are raw records; pass the document that "
                "was written with them"
            )


def _check_lattice(reports: "Floats", mechanism: Any) -> None:
    import numpy as np

    kind = type(mechanism).__name__
    if not hasattr(mechanism, "report_format"):  # whose reports the analysis refuses
        return
    try:
        mechanism.report_format().check(reports)
    except ParameterError:
        raise DataError(
            f"reports must be numbers that {kind} with these parameters can report, got others: "
            f"they come from another mechanism, are rounded, or are raw records; {PERTURB}"
        ) from None
    lattice = mechanism.lattice(reports.shape[1])
    indices = np.rint((reports - lattice.origin) / lattice.step)
    whole = mechanism.has_density and getattr(mechanism, "columns", "all") == "all"
    if whole and len(reports) >= ENOUGH:
        steps = np.gcd.reduce((indices - indices[0]).astype(np.int64), axis=0)
        if (steps != 1).any():
            raise DataError(
                f"reports of {kind} must have noise down to the last digit, got a column that has "
                f"none there: they are rounded, or raw records; {PERTURB}"
            )
