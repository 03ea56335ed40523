"""Reports of records in files: drawn out of sight, paid for, then handed out.

The order keeps the promise whatever fails. Reports that could not be drawn or written cost nothing
and are gone; a crash after the spend has released nothing; and no report is seen before it was paid
for. Every partition draws from a source of its own, and is drawn once.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal import tables
from shoal._numbers import raise_alone
from shoal._typing import Floats
from shoal.exceptions import DataTypeError, ParameterError, ReleaseError
from shoal.noise import RandomSource, SecureSource, SeededSource
from shoal.privacy import Guarantee
from shoal.tables import ArrayTable, Block

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.mechanisms._base import Mechanism
    from shoal.tables import ArrowTable, SparkTable

__all__ = ["check_out", "refuse_spark", "release_reports"]


KEY_WORDS = 2


@dataclass(frozen=True, eq=False)
class Draw:
    """What draws the reports of a partition, in any thread.

    Parameters
    ----------
    mechanism : Mechanism
        Without its ledger and its source, which stay at home.
    key : bytes or None
        Of a seeded source; None lets every partition draw a key from the operating system.
    """

    mechanism: "Mechanism"
    key: bytes | None

    def __call__(self, partition: int) -> "Callable[[Block], Floats]":
        """Begin with a partition."""
        source: RandomSource = SecureSource()
        if self.key is not None:
            source = SeededSource(self.key + partition.to_bytes(8, "little"))

        def reports(block: Block) -> Floats:
            return self.mechanism._perturb(np.stack(block).T, source)

        return reports


def refuse_spark(table: "ArrayTable | ArrowTable | SparkTable") -> "ArrayTable | ArrowTable":
    """Return a table in memory or in files, and refuse one in Spark.

    Spark runs tasks again, and two reports of one record reveal more than one.
    """
    # Looked at in this order: a device has no reader of files.
    if not isinstance(table, ArrayTable) and not isinstance(table, tables.ArrowTable):
        raise DataTypeError(
            "X must be in memory or in files where records are perturbed, got a Spark DataFrame: "
            "write it to files and pass their folder",
            parameter="X",
            in_python="use transform(ArrowTable(folder, columns=...), out=...)",
        )
    return table


def check_out(table: "ArrayTable | ArrowTable", out: Any) -> None:
    """Refuse a folder for reports where none is needed, or that lies among the records."""
    if isinstance(table, ArrayTable):
        if out is not None:
            raise ParameterError(
                f"out must be None where reports are returned, got {out!r}: only those of files "
                "go to files",
                parameter="out",
                code="unexpected",
            )
        return
    if out is None:
        raise ParameterError(
            "out must name a new folder for the reports of files, got none",
            parameter="out",
            code="missing",
            in_python="use fit(X).transform(X, out=...)",
        )
    if table.path is not None and _is_inside(out, table.path):
        raise ParameterError(
            f"out must lie outside the folder of the records, got {str(out)!r}: reports among "
            "them would be read as records",
            parameter="out",
            code="conflict",
        )


def release_reports(
    mechanism: "Mechanism",
    table: "ArrowTable",
    source: RandomSource,
    out: Any,
    *,
    promise: Guarantee,
) -> Any:
    """Draw a report of every record, charge the ledger, and hand the reports out."""
    mechanism._spend(source, promise, only_check=True)
    kwargs = {**mechanism.get_params(deep=False), "ledger": None, "random_state": None}
    key = source.words(KEY_WORDS).tobytes() if source.seeded else None
    draw = Draw(type(mechanism)(**kwargs), key)
    staged = table.stage(draw, out, names=mechanism._report_names)
    try:
        mechanism._spend(source, promise)
        return _handed_out(staged, paid=mechanism.ledger is not None)
    except BaseException:
        staged.discard()
        raise


def _handed_out(staged: Any, *, paid: bool) -> Any:
    try:
        return staged.publish()
    except ReleaseError as failure:
        spent = "the budget was spent all the same" if paid else "no ledger was charged"
        raise_alone(ReleaseError(f"{failure}; {spent}, and no report was released"))


def _is_inside(out: Any, folder: Path) -> bool:
    try:
        return folder.is_dir() and Path(out).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, TypeError, ValueError):
        return False  # no path at all, which the table refuses
