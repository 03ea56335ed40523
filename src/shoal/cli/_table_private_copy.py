"""A private copy that a comparison runs on: released once, and kept beside the report."""

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.exceptions import ParameterError, ReleaseError, ShoalError

if TYPE_CHECKING:
    from shoal.datasets import Table
    from shoal.privacy import Guarantee, Ledger

__all__ = ["PrivateCopy", "check_private_copy", "opened_private_copy"]

RELEASE, COPY = "private-copy.json", "private-copy.csv"
MEASURES = "records-*.csv"  # of compare_methods
EARLIER = "It was paid for by an earlier run, and is of the records as they were then."


class PrivateCopy(NamedTuple):
    """A copy that is there: its table, its promise, and who paid."""

    file: Path
    guarantee: "Guarantee"
    paid: str


@dataclass(frozen=True, eq=False)
class Asked:
    """What a copy is to be made with; everything was checked, nothing was spent."""

    model: Any
    table: "Table"
    data: Path


def check_private_copy(
    table: "Table",
    bounds: Any,
    *,
    data: Path,
    out: Path,
    epsilon: float | None,
    ledger: "Ledger | None",
    seed: int | None,
) -> Asked | None:
    """Check what a private copy needs, before anything is written or spent.

    Parameters
    ----------
    table : Table
        Raw records.
    bounds : tuple (low, high)
        Public bounds.
    data : Path
        The file that they come from.
    out : Path
        Folder of the report.
    epsilon, seed
        As given by ``--private-copy`` and ``--seed``.
    ledger : Ledger or None
        Who pays.

    Returns
    -------
    asked : Asked or None
        None without ``--private-copy``.

    Raises
    ------
    ParameterError
        If one of them breaks its rule, or measures of raw records and those of a copy would come
        to lie in one folder.
    """
    from shoal import _numbers  # noqa: PLC0415
    from shoal._bounds import public_box  # noqa: PLC0415
    from shoal.cluster.private_copy import PrivateCopy  # noqa: PLC0415

    public_box(bounds, len(table.names))
    _check_apart(out, raw=epsilon is None)
    if epsilon is None:
        return None
    _numbers.positive("--private-copy", epsilon)
    model = PrivateCopy(epsilon, bounds=bounds, ledger=ledger, random_state=seed)
    return Asked(model, table, data)


def opened_private_copy(asked: Asked | None, folder: Path) -> PrivateCopy | None:
    """Take the copy that is in the folder, or release one and keep it there.

    Parameters
    ----------
    asked : Asked or None
        From :func:`check_private_copy`.
    folder : Path
        An existing folder.

    Returns
    -------
    private_copy : PrivateCopy or None
        None where none was asked for.

    Raises
    ------
    ParameterError
        If the folder holds a copy made with other settings, or of a file of another name.
    ReleaseError
        If the copy cannot be written.
    """
    if asked is None:
        return None
    file = folder / COPY
    if (folder / RELEASE).exists():
        return PrivateCopy(file, _kept(asked, folder), EARLIER)
    from shoal.datasets.write_table import write_table  # noqa: PLC0415

    names = asked.table.names
    asked.model.fit(asked.table.X)
    try:
        seed = asked.model.random_state
        write_table(file, names, asked.model.sample(random_state=seed))
        # The copy counts once its release is there too.
        release = asked.model.release_
        values = {**release.values, "table": asked.data.name}
        replace(release, values=values).save(folder / RELEASE)
    except (OSError, ShoalError) as failure:
        why = (failure.strerror if isinstance(failure, OSError) else None) or failure
        raise ReleaseError(
            f"the copy cannot be written to {str(folder)!r}: {why}; the budget was spent all the "
            "same, and nothing was released"
        ) from None
    paid = "No ledger was charged for it."
    if asked.model.ledger is not None:
        paid = (
            f"Its epsilon of {asked.model.epsilon:g} was charged to "
            f"{Path(asked.model.ledger.path).name}, then of {asked.model.release_.ledger}."
        )
    return PrivateCopy(file, asked.model.guarantee_, paid)


def _check_apart(out: Path, *, raw: bool) -> None:
    """Keep measures of raw records out of a folder whose report may be shared."""
    copied = (out / RELEASE).exists()
    if raw and copied:
        raise ParameterError(
            f"--out must be another folder without --private-copy, got "
            f"{str(out)!r} with a private copy"
        )
    if not (raw or copied) and any(out.glob(MEASURES)):
        raise ParameterError(
            f"--out must be another folder with --private-copy, got "
            f"{str(out)!r} with measures of raw "
            "records"
        )


def _kept(asked: Asked, folder: Path) -> "Guarantee":
    """Read the promise of the copy that is there; a run that goes on pays nothing again."""
    from shoal._bounds import public_box  # noqa: PLC0415
    from shoal.privacy import Release  # noqa: PLC0415

    release = Release.load(folder / RELEASE)
    # By its name, not by a digest of the records, which would leave with the copy.
    if release.values.get("table") != asked.data.name:
        raise ParameterError(
            f"--out must be a new folder for a copy of {asked.data.name!r}, got {str(folder)!r} "
            "with one of another file: choose another folder"
        )
    try:
        header = _header(folder / COPY)
    except OSError as failure:
        raise ReleaseError(
            f"the copy in {str(folder)!r} cannot be read: {failure.strerror}"
        ) from None
    names = asked.table.names
    box = public_box(asked.model.bounds, len(names))
    same = (
        release.guarantee.epsilon == asked.model.epsilon
        and release.guarantee.seeded == (asked.model.random_state is not None)
        and np.array_equal(release.values["low"], box.low)
        and np.array_equal(release.values["high"], box.high)
        and header == names
    )
    if not same:
        raise ParameterError(
            f"--out must be a new folder for another private copy, got {str(folder)!r} with one of "
            "other columns, bounds, epsilon or seed: choose another folder"
        )
    return release.guarantee


def _header(file: Path) -> tuple[str, ...]:
    """Read the names of a copy, which :func:`opened_private_copy` wrote."""
    with file.open(newline="", encoding="utf-8") as lines:
        return tuple(next(csv.reader(lines), ()))
