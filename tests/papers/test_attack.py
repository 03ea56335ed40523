"""The published attack comes out again: advantage of shadow models on the author's files.

Seeds are fixed, so a run passes or fails for good; what was seen is in the docstrings.
"""

from dataclasses import astuple

import numpy as np
import pytest

from helpers.attack_data import needs_toolbox
from helpers.paper_data import needs_files, needs_targets
from shoal.papers.kd_laplace import Comparison, reproduce_attack

pytestmark = [needs_files, needs_targets, needs_toolbox]

MECHANISMS = ("nd-Laplace", "grid-nd-Laplace", "density-nd-Laplace", "piecewise")


def means(comparisons):
    """Published, as published and corrected, as means over the comparisons."""
    names = ("published", "as_published", "corrected")
    return [np.mean([getattr(c, name) for c in comparisons]) for name in names]


def test_heart_quick():
    """Six attacks on 265 members each; the mean has a standard deviation of about 0.02.

    At no advantage at all it would be 0.10 below the published mean.
    """
    rows = reproduce_attack(datasets=["heart"], epsilons=[0.5, 3.0, 9.0], runs=2)
    assert [row.epsilon for row in rows] == [0.5, 3.0, 9.0]
    published, again, corrected = means(rows)
    assert again == pytest.approx(published, abs=0.06)
    assert corrected == pytest.approx(published, abs=0.06)


def test_records_are_tidy_and_do_not_depend_on_processes():
    settings = {"datasets": ["seeds"], "mechanisms": ["piecewise", "nd-Laplace"], "runs": 1}
    rows = reproduce_attack(**settings, epsilons=[2.0, 9.0])
    # In the order of the figures, though attackers are shared across mechanisms.
    assert [(row.mechanism, row.epsilon) for row in rows] == [
        ("nd-Laplace", 2.0),
        ("nd-Laplace", 9.0),
        ("piecewise", 2.0),
        ("piecewise", 9.0),
    ]
    assert all(isinstance(row, Comparison) for row in rows)
    assert astuple(rows[1])[:7] == ("seeds", "nd-Laplace", 2, "", 9.0, "advantage", 0.0846)
    # 26 members and 26 others: advantages are multiples of 1/26.
    assert all(26 * row.as_published == pytest.approx(round(26 * row.as_published)) for row in rows)
    assert "as published, no guarantee" in str(rows[0])
    assert rows == reproduce_attack(**settings, epsilons=[2.0, 9.0], n_jobs=2)


@pytest.mark.full
def test_advantage_in_two_columns():
    """Ten runs, means over ten epsilons. Seen: at most 0.033 from the published ones.

    Single values scatter: with 26 members a run, the mean of ten runs has a standard deviation of
    0.04, and so has the published value, which is why only means are held to the tolerance.
    """
    rows = reproduce_attack(mechanisms=MECHANISMS, runs=10, n_jobs=2)
    kinds = sorted({(row.dataset, row.mechanism) for row in rows})
    assert len(kinds) == 6
    for kind in kinds:
        some = [row for row in rows if (row.dataset, row.mechanism) == kind]
        assert len(some) == 10
        published, again, corrected = means(some)
        off = np.mean([abs(row.as_published - row.published) for row in some])
        print(  # noqa: T201
            f"{' '.join(kind):<26} published {published:.4f}   as published, no guarantee "
            f"{again:.4f}   corrected {corrected:.4f}   mean absolute difference {off:.4f}"
        )
        assert again == pytest.approx(published, abs=0.06)
        if kind[1] == "nd-Laplace":  # in two columns the corrected law is the published one
            assert corrected == pytest.approx(published, abs=0.06)
