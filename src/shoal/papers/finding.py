"""A claim of a source, and what became of it when its experiment was run again."""

from dataclasses import dataclass
from typing import Literal

from shoal.papers.judgment import Judgment

__all__ = ["OUTCOMES", "Finding", "Outcome", "outcome"]

Outcome = Literal[
    "reproduced", "not reproduced", "undecided", "only as published", "cannot be private"
]
# What each verdict means, in the order in which they are counted.
OUTCOMES: dict[Outcome, str] = {
    "reproduced": "it holds for the methods as published and for those that keep their promise",
    "not reproduced": "it does not hold for the methods as published",
    "undecided": "an interval contains the limit, so that these runs cannot tell",
    "only as published": "it does not hold for methods that keep their promise, for a reason other "
    "than the leak that was mended",
    "cannot be private": "it praises what only the leak of the published methods achieves",
}


@dataclass(frozen=True)
class Finding:
    """One claim and its verdict; prints as one line.

    Parameters
    ----------
    claim : str
        What the source calls it, such as ``"H1"``.
    words : str
        What the source says, in our words.
    outcome : str
        One of ``OUTCOMES``, see :func:`outcome`.
    evidence : str
        The numbers behind it, with intervals, as published and corrected.

    Examples
    --------
    >>> print(Finding("H1", "more noise hides more", "reproduced", "0.1 against 0.3"))
    H1: reproduced. More noise hides more. 0.1 against 0.3
    """

    claim: str
    words: str
    outcome: Outcome
    evidence: str

    def __str__(self) -> str:
        words = self.words[:1].upper() + self.words[1:]
        end = "" if words.endswith("?") else "."
        return f"{self.claim}: {self.outcome}. {words}{end} {self.evidence}"


def outcome(*, as_published: Judgment, corrected: Judgment, needs_leak: bool = False) -> Outcome:
    """Name the verdict on a claim.

    Parameters
    ----------
    as_published, corrected : {"holds", "does not hold", "undecided"}
        What the intervals say of the methods as published, and of those that keep their promise.
    needs_leak : bool, default=False
        Whether the claim is about privacy, or praises something that the published methods reach
        by breaking their promise; never true of a claim that something does poorly.

    Returns
    -------
    outcome : {"reproduced", "not reproduced", "undecided", "only as published", \
"cannot be private"}
        The last two are for claims that surely hold as published and surely do not otherwise.

    Examples
    --------
    >>> outcome(as_published="holds", corrected="does not hold", needs_leak=True)
    'cannot be private'
    >>> outcome(as_published="undecided", corrected="does not hold")
    'undecided'
    """
    if as_published == "does not hold":
        return "not reproduced"
    if "undecided" in (as_published, corrected):
        return "undecided"
    if corrected == "holds":
        return "reproduced"
    return "cannot be private" if needs_leak else "only as published"
