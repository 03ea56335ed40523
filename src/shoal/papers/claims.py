"""Claims of a source, and the one rule by which they are judged.

An interval decides, or nothing is decided: a claim holds where the whole interval keeps to its
limits, does not hold where the whole interval breaks one of them, and is undecided where the
interval contains a limit. What the intervals say of the methods as published and of those that keep
their promise gives the outcome.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "OUTCOMES",
    "Claim",
    "Judgment",
    "Outcome",
    "Verdict",
    "all_hold",
    "any_holds",
    "decide_outcome",
    "judge_interval",
]

Judgment = Literal["holds", "does not hold", "undecided"]
Outcome = Literal[
    "reproduced", "not reproduced", "undecided", "only as published", "cannot be private"
]
# What each outcome means, in the order in which they are counted.
OUTCOMES: dict[Outcome, str] = {
    "reproduced": "it holds for the methods as published and for those that keep their promise",
    "not reproduced": "it does not hold for the methods as published",
    "undecided": "an interval contains the limit, so that these runs cannot tell",
    "only as published": "it does not hold for methods that keep their promise, for a reason other "
    "than the leak that was mended",
    "cannot be private": "it praises what only the leak of the published methods achieves",
}


@dataclass(frozen=True)
class Claim:
    """A statement that a source makes about its experiments.

    Parameters
    ----------
    name : str
        Name of the claim in the source, such as ``"H1"``.
    text : str
        The claim, in our words.

    Examples
    --------
    >>> Claim("H1", "more noise hides more").name
    'H1'
    """

    name: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim after its experiment was run again; prints as one line.

    Parameters
    ----------
    claim : Claim
        The claim.
    outcome : str
        The outcome, one of ``OUTCOMES``, see ``decide_outcome``.
    evidence : str
        The numbers behind it, with intervals, for the published and the corrected method.

    Examples
    --------
    >>> claim = Claim("H1", "more noise hides more")
    >>> print(Verdict(claim, "reproduced", "0.1 against 0.3"))
    H1: reproduced. More noise hides more. 0.1 against 0.3
    """

    claim: Claim
    outcome: Outcome
    evidence: str

    def __str__(self) -> str:
        text = self.claim.text[:1].upper() + self.claim.text[1:]
        end = "" if text.endswith("?") else "."
        return f"{self.claim.name}: {self.outcome}. {text}{end} {self.evidence}"


def decide_outcome(
    *, as_published: Judgment, corrected: Judgment, needs_leak: bool = False
) -> Outcome:
    """Return the outcome of a claim."""
    if as_published == "does not hold":
        return "not reproduced"
    if "undecided" in (as_published, corrected):
        return "undecided"
    if corrected == "holds":
        return "reproduced"
    return "cannot be private" if needs_leak else "only as published"


def judge_interval(
    low: float, high: float, *, above: float = -math.inf, below: float = math.inf
) -> Judgment:
    """Judge whether a value surely lies between two limits."""
    if math.isnan(low) or math.isnan(high):
        return "undecided"
    if low > above and high < below:
        return "holds"
    return "does not hold" if high <= above or low >= below else "undecided"


def all_hold(judgments: Iterable[Judgment]) -> Judgment:
    """Judge a claim that is made of several."""
    judged = set(judgments)
    if "does not hold" in judged:
        return "does not hold"
    return "holds" if judged == {"holds"} else "undecided"


def any_holds(judgments: Iterable[Judgment]) -> Judgment:
    """Judge a claim that may be read in several ways."""
    judged = set(judgments)
    if "holds" in judged:
        return "holds"
    return "does not hold" if judged == {"does not hold"} else "undecided"
