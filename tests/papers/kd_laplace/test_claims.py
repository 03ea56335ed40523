"""Verdicts on the thesis follow the measurements."""

import numpy as np
import pytest

from helpers.kd_laplace_measurements import REAL, SHAPES, made_up
from shoal.papers.kd_laplace.claims import judge_claims


def verdicts(**effects):
    return {verdict.claim.name: verdict.outcome for verdict in judge_claims(made_up(**effects))}


def where(**wanted):
    """Make an effect of 0.1 on the rows that have these values."""

    def effect(row):
        same = (row.get(key) in value for key, value in wanted.items())
        return 0.1 if all(same) else 0.0

    return effect


def plus(*effects):
    return lambda row: sum(effect(row) for effect in effects)


def minus(effect):
    return lambda row: -effect(row)


PUBLISHED = ("as published",)
PLAIN = ("nd-Laplace",)


def test_all_claims_are_judged():
    assert list(verdicts()) == [
        "RQ1",
        "RQ2",
        "RQ3",
        "RQ4",
        "H1",
        "H2",
        "H3",
        "question 1",
        "question 2",
        "question 3",
    ]


def test_without_effects_nothing_is_decided_but_the_search_and_what_is_counted():
    """Differences of nothing have intervals that contain 0: neither the claim nor its contrary."""
    found = verdicts()
    assert found.pop("RQ3") == "reproduced"
    assert found.pop("RQ2") == "not reproduced", "no report lies outside: nothing is brought back"
    assert found.pop("RQ4") == "not reproduced", "tables differ by far less than what counts"
    assert set(found.values()) == {"undecided"}


SIGNS = {"as published": 1.0, "corrected": -1.0}
LEAKY = ("RQ1", "H1", "H2")  # praise of what the published noise achieves


@pytest.mark.parametrize(
    ("claim", "effects"),
    [
        (
            "RQ1",
            {
                "ami": plus(
                    where(mechanism=PLAIN, epsilon=(0.5, 3.0)),
                    where(mechanism=("piecewise",), epsilon=(9.0,)),
                ),
                "advantage": where(mechanism=("piecewise",)),
            },
        ),
        ("RQ2", {"outside": where(mechanism=PLAIN)}),
        ("RQ4", {"ami": lambda row: 0.4 * (row["dataset"] == "heart")}),
        ("H1", {"ami": where(mechanism=("density-nd-Laplace",))}),
        (
            "H2",
            {
                "ami": lambda row: 0.05 * row["columns"],
                "advantage": lambda row: 0.05 * row["columns"],
            },
        ),
        ("H3", {"ami": where(dataset=REAL), "advantage": where(mechanism=PLAIN, dataset=SHAPES)}),
        ("question 1", {"ami": where(dataset=REAL)}),
        ("question 2", {"ami": where(clusterer=("KMeans", "AgglomerativeClustering"))}),
        ("question 3", {"ami": where(dataset=("heart",))}),
    ],
)
def test_verdicts_follow_the_effects(claim, effects):
    assert verdicts(**effects)[claim] == "reproduced"
    only = {
        measure: (lambda row, effect=effect: effect(row) * SIGNS[row["version"]])
        for measure, effect in effects.items()
    }
    if claim not in ("RQ2", "RQ4"):  # a table that is worse decides as well
        expected = "cannot be private" if claim in LEAKY else "only as published"
        assert verdicts(**only)[claim] == expected
    contrary = {measure: minus(effect) for measure, effect in effects.items()}
    if claim != "RQ4":  # a table that is worse decides as well
        assert verdicts(**contrary)[claim] == "not reproduced"


def test_h1_needs_an_advantage_that_does_not_grow():
    density = where(mechanism=("density-nd-Laplace",))
    both = verdicts(ami=density, advantage=density)
    assert both["H1"] == "not reproduced"


def test_a_search_that_grows_like_a_root_is_not_logarithmic():
    assert verdicts(nodes=np.sqrt)["RQ3"] == "not reproduced"
