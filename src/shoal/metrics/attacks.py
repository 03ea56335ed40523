"""Measures of an attack: its advantage, and its ROC curve.

An attacker gives each record a score and says "member" from some score on. Each such cut has a true
positive rate (share of the members it finds) and a false positive rate (share of the others it
takes for members). Nothing is interpolated between cuts except for the area: an attacker has only
the cuts, and with few non-members a line between two of them would claim rates nobody measured.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._numbers import non_negative
from shoal._typing import Floats
from shoal.exceptions import ParameterError


@dataclass(frozen=True, eq=False)
class Roc:
    """ROC curve of a membership attack: its rates at every threshold on the score.

    A record is a member if it was in the data; the attacker calls records with a score at or above
    the threshold members.

    Attributes
    ----------
    fpr, tpr : ndarray of float64
        False and true positive rate at each threshold; both start at 0, end at 1 and never fall.
    thresholds : ndarray of float64
        Lowest score that counts as a member, in descending order. The first is NaN: nothing is >=
        NaN, so no record is called a member there, not even one with a score of +inf.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.metrics import Roc
    >>> cuts = np.array([np.nan, 0.7, 0.2])
    >>> roc = Roc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]), cuts)
    >>> roc.tpr.tolist()
    [0.0, 1.0, 1.0]
    """

    fpr: Floats
    tpr: Floats
    thresholds: Floats

    @property
    def auc(self) -> float:
        """Area under the curve: probability that a member outscores a non-member; ties are half."""
        return float(np.diff(self.fpr) @ (self.tpr[1:] + self.tpr[:-1])) / 2

    @property
    def advantage(self) -> float:
        """Largest TPR - FPR; with few records it is above 0 by chance."""
        return float((self.tpr - self.fpr).max())

    def tpr_at(self, fpr: float) -> float:
        """Return the largest TPR at any threshold whose FPR is at most `fpr`.

        Parameters
        ----------
        fpr : float
            Largest false positive rate, from 0 to 1. Below 1 / number of non-members, no false
            positive is allowed at all.

        Returns
        -------
        tpr : float

        Raises
        ------
        ParameterError
            If `fpr` is not a number from 0 to 1.

        Examples
        --------
        >>> roc([0.9, 0.8, 0.3], [0.7, 0.2, 0.1]).tpr_at(0.01)
        0.6666666666666666
        """
        if non_negative("fpr", fpr) > 1:
            raise ParameterError(f"fpr must be a number from 0 to 1, got {fpr!r}")
        return float(self.tpr[np.searchsorted(self.fpr, fpr, side="right") - 1])


def roc(scores_members: Any, scores_others: Any) -> Roc:
    """Compute the ROC curve of a membership attack from its scores.

    Thresholds lie between distinct scores only: records with equal scores are classified alike.

    Parameters
    ----------
    scores_members, scores_others : array-like of shape (n,)
        Scores of records that were in the data, and of records that were not; a larger score means
        more likely a member. -inf and +inf are allowed, NaN is not.

    Returns
    -------
    curve : Roc

    Raises
    ------
    ParameterError
        If the scores are not two arrays of one or more numbers without NaN.

    Examples
    --------
    >>> curve = roc([0.9, 0.8, 0.3], [0.7, 0.2, 0.1])
    >>> curve.tpr.round(2).tolist(), curve.fpr.round(2).tolist()
    ([0.0, 0.33, 0.67, 0.67, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.33, 0.33, 0.67, 1.0])
    >>> round(curve.auc, 3), round(curve.advantage, 3)
    (0.889, 0.667)
    """
    members = _as_scores("scores_members", scores_members)
    others = _as_scores("scores_others", scores_others)
    scores, index = np.unique(np.concatenate([members, others]), return_inverse=True)
    curve = Roc(
        fpr=_rates(index[len(members) :], len(scores)),
        tpr=_rates(index[: len(members)], len(scores)),
        thresholds=np.concatenate([[np.nan], scores[::-1]]),
    )
    for array in (curve.fpr, curve.tpr, curve.thresholds):
        array.setflags(write=False)
    return curve


def _as_scores(name: str, values: Any) -> Floats:
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError(f"{name} must be one number a record, got uneven lists") from None
    if array.ndim != 1 or array.size == 0:
        raise ParameterError(f"{name} must be one number a record, got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise ParameterError(f"{name} must be numbers, got {array.dtype}")
    scores = array.astype(np.float64)
    if np.isnan(scores).any():
        raise ParameterError(f"{name} must be free of NaN: give -inf to records without a score")
    return scores


def _rates(index: npt.NDArray[np.intp], cuts: int) -> Floats:
    """Return the share of the scores at or above each cut, largest cut first."""
    above = np.cumsum(np.bincount(index, minlength=cuts)[::-1])
    rates: Floats = np.concatenate([[0], above]) / len(index)
    return rates


def adversary_advantage(guesses_members: Any, guesses_others: Any) -> float:
    """Return the advantage of a membership attack: true minus false positive rate.

    TPR - FPR (Yeom et al. 2018). If half of the records are members, the guesses of an attacker
    with advantage a are right with probability (1 + a) / 2; without a release, the advantage is 0
    on average.

    Parameters
    ----------
    guesses_members, guesses_others : array-like of bool, or of 0 and 1, shape (n,)
        Whether the attacker calls a record a member: for records that were in the data, and for
        records that were not.

    Returns
    -------
    advantage : float
        From -1 (always wrong) to 1 (always right).

    Raises
    ------
    ParameterError
        If the guesses are not two arrays of one or more bools.

    Examples
    --------
    >>> adversary_advantage([True, True, True, False], [True, False, False, False])
    0.5
    """
    hits = _share_called("guesses_members", guesses_members)
    return hits - _share_called("guesses_others", guesses_others)


def _share_called(name: str, values: Any) -> float:
    guesses = _as_guesses(name, values)
    return int(np.count_nonzero(guesses)) / guesses.size


def _as_guesses(name: str, values: Any) -> npt.NDArray[np.bool_]:
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError(f"{name} must be one bool a record, got uneven lists") from None
    if array.ndim != 1 or array.size == 0:
        raise ParameterError(f"{name} must be one bool a record, got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise ParameterError(f"{name} must be bools, got {array.dtype}")
    guesses = array.astype(np.bool_)
    if not np.array_equal(guesses, array):
        raise ParameterError(f"{name} must be bools or 0 and 1: compare scores with a threshold")
    return guesses
