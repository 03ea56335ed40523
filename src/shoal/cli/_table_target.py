"""What runs on the records of a file: its name, its promise's parameters, and its ledger."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli._arguments import parse_bounds
from shoal.exceptions import LedgerFileError, ParameterError

if TYPE_CHECKING:
    from shoal.privacy import Ledger

__all__ = ["open_ledger", "private_target"]

LEARNED = "private"


def private_target(
    name: str,
    known: Sequence[str],
    *,
    epsilon: float | None,
    bounds: str | None,
    names: Sequence[str],
    settings: Sequence[str],
    ledger: Path | None,
    seed: int | None,
) -> Any:
    """Make an estimator or a mechanism of shoal's, ready to run.

    Parameters
    ----------
    name : str
        As given by ``--target``.
    known : sequence of str
        What the command can run.
    epsilon, bounds, settings, ledger, seed
        As given by the options of these names and ``--set``.
    names : sequence of str
        Names of the columns.

    Returns
    -------
    target : estimator or mechanism
        Not fitted, nothing spent.

    Raises
    ------
    ParameterError
        If the command cannot run it, or it has no such parameter.
    LedgerFileError
        If the ledger's file cannot be used.
    """
    from shoal.experiments import build_target, parse_words  # noqa: PLC0415

    if name.lower() not in map(str.lower, known):
        raise ParameterError(f"--target must be one of {', '.join(known)}, got {name!r}")
    words = parse_words(settings)
    for word, option in (("ledger", "--ledger"), ("random_state", "--seed")):
        if word in words:
            raise ParameterError(f"--set must leave {word} to {option}, got {word} in it")
    box = bounds if bounds == LEARNED else parse_bounds(bounds, names)
    target = build_target(name, epsilon=epsilon, bounds=box, words=words)
    return target.set_params(
        ledger=None if ledger is None else open_ledger(ledger), random_state=seed
    )


def open_ledger(path: Path, **limits: Any) -> "Ledger":
    """Open the ledger in a file that exists, or make one where limits are given.

    Parameters
    ----------
    path : Path
        As given.
    **limits
        Of a new ledger, as for :class:`shoal.privacy.Ledger`.

    Returns
    -------
    ledger : Ledger
        With the limits that the file declares; those given must be the same.

    Raises
    ------
    LedgerFileError
        If there is none, it is damaged, or its limits are others.
    """
    from shoal.privacy import Ledger  # noqa: PLC0415

    try:
        if not limits and not path.exists():
            raise LedgerFileError(
                f"there is no ledger at {str(path)!r}: make one with `shoal ledger {path} "
                "--epsilon LIMIT`"
            )
        return Ledger(path, **limits)
    except OSError as failure:
        raise LedgerFileError(
            f"a ledger must be a file that can be used, got {str(path)!r}: {failure.strerror}"
        ) from None
