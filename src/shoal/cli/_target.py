"""What runs on the records of a file: its name, its promise's parameters, and its ledger."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli._input import parse_bounds
from shoal.exceptions import LedgerFileError, ParameterError

if TYPE_CHECKING:
    from shoal._bounds import Ball
    from shoal.privacy import Ledger
    from shoal.schema import Schema

__all__ = [
    "build_target",
    "ledger_to_charge",
    "open_ledger",
]

LEARNED, BALL = "private", "ball"
# Parameters that have an option of their own, which checks more than --set does.
OPTIONS = {"records_per_user": "--records-per-user", "user_column": "--user-column"}


def build_target(
    name: str,
    known: Sequence[str],
    *,
    epsilon: float | None,
    bounds: str | None,
    names: Sequence[str],
    settings: Sequence[str],
    ledger: "Ledger | None",
    seed: int | None,
    schema: "Schema | None" = None,
) -> Any:
    """Build one of the known estimators or mechanisms from its options, not fitted."""
    from shoal._build import build_estimator, parse_settings

    if name.lower() not in map(str.lower, known):
        raise ParameterError(f"--target must be one of {', '.join(known)}, got {name!r}")
    kwargs = parse_settings(settings)
    if schema is not None:
        if bounds is not None:
            raise ParameterError(f"--bounds must be left out with --schema, got {bounds!r}")
        kwargs["schema"] = schema
    for parameter, option in OPTIONS.items():
        if parameter in kwargs:
            raise ParameterError(f"--set must not name {parameter}, got it: use {option}")
    box = bounds if bounds == LEARNED else _ball(bounds) or parse_bounds(bounds, names)
    target = build_estimator(name, epsilon=epsilon, bounds=box, kwargs=kwargs)
    return target.set_params(ledger=ledger, random_state=seed)


def _ball(bounds: str | None) -> "Ball | None":
    """Parse ball:RADIUS, a public ball around zero; None where it is something else."""
    from shoal._bounds import Ball

    word, _, radius = (bounds or "").partition(":")
    if word.strip().lower() != BALL:
        return None
    try:
        return Ball(0.0, float(radius))
    except ValueError:
        raise ParameterError(
            f"--bounds must be ball:RADIUS for a ball around zero, got {bounds!r}"
        ) from None


def ledger_to_charge(
    path: Path | None, data: Path, out: Path, *, table: str | None, who: str | None
) -> "Ledger | None":
    """Open the ledger to charge; its entries say who spent, on what, for what."""
    if path is None:
        for option, given in (("--table", table), ("--who", who)):
            if given is not None:
                raise ParameterError(
                    f"{option} must come with --ledger FILE, got {given!r} without it"
                )
        return None
    if path.resolve() == out.resolve():
        raise ParameterError(f"--out must not replace the ledger, got {str(out)!r} for both")
    name = (data.stem or data.resolve().name) if table is None else table
    counted = open_ledger(path).table
    if counted and counted != name:
        raise ParameterError(
            f"--table must be {counted!r}, the table that {str(path)!r} is for, got {name!r}: "
            "keep one ledger per table, or give both the same name if they are about the same "
            "people"
        )
    return open_ledger(path, table=name, who=who, output=out.name or out.resolve().name)


def open_ledger(path: Path, **limits: Any) -> "Ledger":
    """Open the ledger in a file that exists, or make one where an epsilon is given."""
    from shoal.privacy import Ledger

    try:
        if "epsilon" not in limits and not path.exists():
            raise LedgerFileError(
                f"there is no ledger at {str(path)!r}: make one with `shoal ledger {path} "
                "--epsilon LIMIT`"
            )
        return Ledger(path, **limits)
    except OSError as failure:
        raise LedgerFileError(
            f"a ledger must be a file that can be used, got {str(path)!r}: {failure.strerror}"
        ) from None
