"""The one rule by which claims are judged: an interval decides, or nothing is decided.

A claim holds where the whole interval keeps to its limits, does not hold where the whole interval
breaks one of them, and is undecided where the interval contains a limit.
"""

import math
from collections.abc import Iterable
from typing import Literal

__all__ = ["Judgment", "all_hold", "any_holds", "judge_interval"]

Judgment = Literal["holds", "does not hold", "undecided"]


def judge_interval(
    low: float, high: float, *, above: float = -math.inf, below: float = math.inf
) -> Judgment:
    """Judge whether a value surely lies between two limits.

    Parameters
    ----------
    low, high : float
        Interval of the value; NaN, of a single run, decides nothing.
    above, below : float
        The limits, both excluded.

    Returns
    -------
    judgment : {"holds", "does not hold", "undecided"}
        By the whole interval.

    Examples
    --------
    >>> judge_interval(0.2, 0.3, above=0.1), judge_interval(0.0, 0.3, above=0.1)
    ('holds', 'undecided')
    >>> judge_interval(0.2, 0.3, below=0.1)
    'does not hold'
    """
    if math.isnan(low) or math.isnan(high):
        return "undecided"
    if low > above and high < below:
        return "holds"
    return "does not hold" if high <= above or low >= below else "undecided"


def all_hold(judgments: Iterable[Judgment]) -> Judgment:
    """Judge a claim that is made of several.

    Parameters
    ----------
    judgments : iterable of str
        One for each; none of them decides nothing.

    Returns
    -------
    judgment : {"holds", "does not hold", "undecided"}
        It holds if all do, and does not if one surely does not.

    Examples
    --------
    >>> all_hold(["holds", "undecided"]), all_hold(["undecided", "does not hold"])
    ('undecided', 'does not hold')
    """
    judged = set(judgments)
    if "does not hold" in judged:
        return "does not hold"
    return "holds" if judged == {"holds"} else "undecided"


def any_holds(judgments: Iterable[Judgment]) -> Judgment:
    """Judge a claim that may be read in several ways.

    Parameters
    ----------
    judgments : iterable of str
        One for each; none of them decides nothing.

    Returns
    -------
    judgment : {"holds", "does not hold", "undecided"}
        It holds if one does, and does not if all surely do not.

    Examples
    --------
    >>> any_holds(["holds", "does not hold"]), any_holds(["undecided", "does not hold"])
    ('holds', 'undecided')
    """
    judged = set(judgments)
    if "holds" in judged:
        return "holds"
    return "does not hold" if judged == {"does not hold"} else "undecided"
