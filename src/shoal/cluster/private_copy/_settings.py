"""What PrivateCopy was asked for, checked before anything is read from the records or spent."""

from typing import Any, NamedTuple

from shoal import _numbers
from shoal._bounds import Box, public_box
from shoal.cluster._shares import shares_text
from shoal.cluster.kmeans._settings import MAX_EPSILON
from shoal.engines import MAX_COLUMNS
from shoal.exceptions import DataError, ParameterError
from shoal.noise import MAX_SCALE
from shoal.privacy import Ledger

__all__ = ["CopySettings", "CopyShares", "check_copy_settings"]

COUNT_SHARE = 0.02  # for the noisy number of records where none is declared
COLUMNS_SHARE = 0.38  # for the histograms of single columns, all together


class CopyShares(NamedTuple):
    """How epsilon is divided; what is not asked for costs nothing."""

    records: float
    columns: float
    cells: float

    def __str__(self) -> str:
        return shares_text(self._asdict())


class CopySettings(NamedTuple):
    """Checked parameters, and what follows from them and from the number of columns."""

    box: Box
    shares: CopyShares


def check_copy_settings(model: Any, columns: int) -> CopySettings:
    """Check the parameters of a PrivateCopy.

    Parameters
    ----------
    model : PrivateCopy
        Whose parameters.
    columns : int
        Number of columns of the records.

    Returns
    -------
    settings : CopySettings
        The public box and the shares.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.
    """
    epsilon = _numbers.positive("epsilon", model.epsilon)
    if epsilon > MAX_EPSILON:
        raise ParameterError(
            f"epsilon must be at most {MAX_EPSILON:g}, got {model.epsilon!r}: so much promises "
            "nothing, and its noise is nothing either"
        )
    if model.n_public is not None:
        _numbers.count("n_public", model.n_public)
    if not (model.ledger is None or isinstance(model.ledger, Ledger)):
        raise ParameterError(f"ledger must be a Ledger or None, got {model.ledger!r}")
    if columns > MAX_COLUMNS:
        raise DataError(f"X must have at most {MAX_COLUMNS} columns, got {columns}")
    box = public_box(model.bounds, columns)
    records = COUNT_SHARE * epsilon if model.n_public is None else 0.0
    single = COLUMNS_SHARE * epsilon
    shares = CopyShares(records, single, epsilon - records - single)
    if min(shares.cells, single / columns, *([records] if records else [])) * MAX_SCALE < 1:
        raise ParameterError(
            f"epsilon must be larger for {columns} columns, got {model.epsilon!r}: its noise would "
            "be wider than the integers it is added to"
        )
    return CopySettings(box, shares)
