"""Each promise with each subject that makes it."""

import pytest

from contracts.promises import pairs

PAIRS = [pytest.param(one.check, row, id=f"{one.check.__name__}-{row}") for one, row in pairs()]


@pytest.mark.parametrize(("check", "subject"), PAIRS)
def test_promise(check, subject):
    check(subject)
