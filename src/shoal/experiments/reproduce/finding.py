"""A claim of a source, and what became of it when its experiment was run again."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["OUTCOMES", "Finding", "Outcome", "outcome"]

Outcome = Literal["reproduced", "not reproduced", "cannot be private"]
OUTCOMES: tuple[Outcome, ...] = ("reproduced", "not reproduced", "cannot be private")


@dataclass(frozen=True)
class Finding:
    """One claim and its verdict; prints as one line.

    Parameters
    ----------
    claim : str
        What the source calls it, such as ``"H1"``.
    words : str
        What the source says, in our words.
    outcome : {"reproduced", "not reproduced", "cannot be private"}
        See :func:`outcome`.
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


def outcome(*, as_published: bool, corrected: bool) -> Outcome:
    """Name the verdict on a claim.

    Parameters
    ----------
    as_published : bool
        Whether it holds for the methods as published.
    corrected : bool
        Whether it holds for methods that keep their promise.

    Returns
    -------
    outcome : {"reproduced", "not reproduced", "cannot be private"}
        The last one is for claims that hold only where the promise is broken.

    Examples
    --------
    >>> outcome(as_published=True, corrected=False)
    'cannot be private'
    """
    if not as_published:
        return "not reproduced"
    return "reproduced" if corrected else "cannot be private"
