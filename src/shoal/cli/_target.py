"""What runs on the records of a file: its name and its promise's parameters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shoal.cli._input import parse_bounds
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal._bounds import Ball
    from shoal.privacy import Ledger
    from shoal.schema import Schema

__all__ = ["build_target"]

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
