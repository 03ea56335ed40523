"""The rule that gives a claim its outcome."""

import pytest

from shoal.papers.claims import decide_outcome


@pytest.mark.parametrize(
    ("as_published", "corrected", "expected"),
    [
        ("holds", "holds", "reproduced"),
        ("holds", "does not hold", "only as published"),
        ("holds", "undecided", "undecided"),
        ("undecided", "holds", "undecided"),
        ("undecided", "does not hold", "undecided"),
        ("does not hold", "holds", "not reproduced"),
        ("does not hold", "does not hold", "not reproduced"),
        ("does not hold", "undecided", "not reproduced"),
    ],
)
def test_outcomes(as_published, corrected, expected):
    """Only a claim that needs a leak can be called impossible with privacy."""
    judged = {"as_published": as_published, "corrected": corrected}
    assert decide_outcome(**judged) == expected
    leaky = expected.replace("only as published", "cannot be private")
    assert decide_outcome(**judged, needs_leak=True) == leaky
