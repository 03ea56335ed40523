"""The rule that gives a claim its outcome."""

from shoal.papers.claims import decide_outcome


def test_outcomes(subtests):
    """Only a claim that needs a leak can be called impossible with privacy."""
    for as_published, corrected, expected in [
        ("holds", "holds", "reproduced"),
        ("holds", "does not hold", "only as published"),
        ("holds", "undecided", "undecided"),
        ("undecided", "holds", "undecided"),
        ("undecided", "does not hold", "undecided"),
        ("does not hold", "holds", "not reproduced"),
        ("does not hold", "does not hold", "not reproduced"),
        ("does not hold", "undecided", "not reproduced"),
    ]:
        with subtests.test(as_published=as_published, corrected=corrected, expected=expected):
            judged = {"as_published": as_published, "corrected": corrected}
            assert decide_outcome(**judged) == expected
            leaky = expected.replace("only as published", "cannot be private")
            assert decide_outcome(**judged, needs_leak=True) == leaky
